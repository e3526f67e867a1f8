/*
 * What is known of a descriptor's readiness, and who waits for it: one word, one lock, two wakers.
 *
 * The word. For each direction: a plain bit (readable, writable; for reading also priority), a closed bit
 * and an error bit, and a tick that turns with every event that says something of the direction.
 *  - An event sets bits, never clears any. Closing and an error also set the plain bit: a system call
 *    would not wait any more. An error concerns both directions, each with a bit of its own, so
 *    that one direction's clear takes nothing from the other (p42).
 *  - A clear takes away plain, priority and error bits that were seen, and only while the direction's
 *    tick is the one that was seen (R2, p40, p41). Closed bits are facts and stay.
 *  - A direction is ready by its plain bit or an error. By a closed bit alone it is not: a stream
 *    whose end was reached never says EAGAIN, so its plain bit is never cleared; what does say EAGAIN
 *    although it once hung up (a socket registered before it was connected, a FIFO with a new
 *    writer) is waited for again instead of spinning (p43).
 *
 * No lost wake. The driver sets bits (a read-modify-write, release) and then takes the lock to take the
 * wakers. A poller that finds nothing takes the lock, looks again, and only then stores its waker. Of
 * the two critical sections one is first: if the driver's, the poller's second look sees the bits, which
 * were set before it; if the poller's, the driver finds the waker.
 *
 * Against deregistering. A generation is checked after the word was loaded (acquire): a word of a later
 * use of the slot was stored (release) after the generation had moved, so whoever sees it sees the
 * other generation too. Under the lock the generation stands still. A clear or an event that comes
 * late finds a tick that has moved on, or sets bits in a slot that is not in use: its next word
 * starts anew, and it is not given out before the holder has finished its turn.
 *
 * Calls. A call marks its direction by a compare-and-swap of the word it has judged, which fails if the slot
 * has been given to somebody else since (the ticks have moved). Then it looks at the generation; whoever
 * ends the registration moves the generation and then looks at the marks; all four sequentially
 * consistent, so that at least one of the two sees the other: the call is not made, or the
 * end waits for it. A mark set in vain is taken back, and a new use of the slot waits for that.
 */
#include "base/hot.h"
#include "driver/io/scheduled_io.h"
#include <errno.h>

#define SHUT_DOWN (UINT64_C(1) << 8)
#define ERROR_IN_WRITING (UINT64_C(1) << 63) /* beside EDO_IS_ERROR, which is reading's */
#define TICK_MASK ((UINT64_C(1) << 27) - 1)

#define CALL_READING (UINT64_C(1) << 6)
#define CALL_WRITING (UINT64_C(1) << 7)

struct direction_bits {
	uint64_t plain;
	uint64_t priority;
	uint64_t closed;
	uint64_t error;
	uint64_t call;
	unsigned tick_shift;
	uint32_t interests; /* of enum edo_interest, what belongs to this direction */
};

static const struct direction_bits directions[2] = {
	[EDO_READING] = { EDO_IS_READABLE, EDO_IS_PRIORITY, EDO_IS_READ_CLOSED, EDO_IS_ERROR,
			  CALL_READING, 9, EDO_READABLE | EDO_PRIORITY },
	[EDO_WRITING] = { EDO_IS_WRITABLE, 0, EDO_IS_WRITE_CLOSED, ERROR_IN_WRITING, CALL_WRITING,
			  36, EDO_WRITABLE },
};

static uint64_t tick_of(uint64_t word, const struct direction_bits *direction)
{
	return (word >> direction->tick_shift) & TICK_MASK;
}

static uint64_t with_next_tick(uint64_t word, const struct direction_bits *direction)
{
	uint64_t tick = (tick_of(word, direction) + 1) & TICK_MASK;

	return (word & ~(TICK_MASK << direction->tick_shift)) | tick << direction->tick_shift;
}

/* What an event says of one direction. */
static uint64_t bits_of_event(uint32_t readiness, const struct direction_bits *direction)
{
	uint64_t bits = readiness & (direction->plain | direction->priority | direction->closed);

	if (readiness & EDO_IS_ERROR)
		bits |= direction->error;
	if (bits & (direction->closed | direction->error))
		bits |= direction->plain;
	return bits;
}

static uint64_t with_event(uint64_t word, uint32_t readiness)
{
	for (int i = 0; i < 2; i++) {
		uint64_t bits = bits_of_event(readiness, &directions[i]);

		if (bits)
			word = with_next_tick(word | bits, &directions[i]);
	}
	return word;
}

/* Both ticks go on, so that a clear from the slot's last use cannot match. */
uint64_t edo_readiness_first(uint64_t last, uint32_t readiness)
{
	uint64_t ticks = last & (TICK_MASK << directions[0].tick_shift |
				 TICK_MASK << directions[1].tick_shift);

	ticks = with_next_tick(with_next_tick(ticks, &directions[0]), &directions[1]);
	return with_event(ticks, readiness);
}

/* ---- the driver's side ---- */

void edo_io_batch_flush(struct edo_io_batch *batch)
{
	edo_lock_assert_none();
	for (unsigned i = 0; i < batch->count; i++)
		edo_waker_wake(&batch->wakers[i]);
	batch->count = 0;
}

static void add_to_batch(struct edo_io_batch *batch, const edo_waker *waker)
{
	if (!edo_waker_is_set(waker))
		return;
	if (batch->count == EDO_WAKE_BATCH)
		edo_io_batch_flush(batch);
	batch->wakers[batch->count++] = *waker;
}

void edo_readiness_take_wakers(struct edo_scheduled_io *sio, unsigned mask, edo_waker taken[2])
{
	for (int i = 0; i < 2; i++) {
		taken[i] = (edo_waker){ NULL, NULL };
		if (mask & (1u << i)) {
			taken[i] = sio->waiting[i];
			sio->waiting[i] = (edo_waker){ NULL, NULL };
		}
	}
}

static void batch_wakers(struct edo_scheduled_io *sio, unsigned mask, struct edo_io_batch *batch)
{
	edo_waker taken[2];

	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	edo_readiness_take_wakers(sio, mask, taken);
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	add_to_batch(batch, &taken[0]);
	add_to_batch(batch, &taken[1]);
}

static unsigned directions_of_event(uint32_t readiness)
{
	return (bits_of_event(readiness, &directions[0]) ? 1u : 0u) |
	       (bits_of_event(readiness, &directions[1]) ? 2u : 0u);
}

EDO_HOT void edo_readiness_set(struct edo_scheduled_io *sio, uint32_t readiness,
			       struct edo_io_batch *batch)
{
	uint64_t word = edo_load(&sio->readiness, relaxed);

	/*
	 * Release: what the driver knows is seen by the poll that sees the bits (acquire in judge()). It
	 * acquires nothing: the driver learns nothing from the word, and who waits it learns under the lock.
	 */
	while (!edo_compare_exchange(&sio->readiness, &word, with_event(word, readiness), release,
				     relaxed))
		;
	batch_wakers(sio, directions_of_event(readiness), batch);
}

void edo_readiness_shut_down(struct edo_scheduled_io *sio, struct edo_io_batch *batch)
{
	(void)edo_fetch_or(&sio->readiness, SHUT_DOWN, release); /* pairs with judge() */
	batch_wakers(sio, 3, batch);
}

/* ---- the waiters' side ---- */

static bool is_ready(uint64_t word, uint32_t interest, const struct direction_bits *direction)
{
	uint64_t wanted = direction->error;

	if (!(interest & direction->interests))
		return false;
	if (interest & (EDO_READABLE | EDO_WRITABLE))
		wanted |= direction->plain;
	if (interest & EDO_PRIORITY)
		wanted |= direction->priority;
	/* No out-of-band data will come any more. */
	if ((word & direction->closed) && (word & direction->plain))
		return true;
	return (word & wanted) != 0;
}

static uint32_t events_of(uint64_t word, uint32_t interest)
{
	uint32_t events = 0;

	if (word & EDO_IS_READABLE)
		events |= EDO_READABLE;
	if (word & EDO_IS_WRITABLE)
		events |= EDO_WRITABLE;
	if (word & EDO_IS_PRIORITY)
		events |= EDO_PRIORITY;
	return events & interest;
}

static bool has_in_any(uint64_t word, uint32_t interest, uint64_t reading, uint64_t writing)
{
	return ((interest & directions[0].interests) && (word & reading)) ||
	       ((interest & directions[1].interests) && (word & writing));
}

/* Only what was asked for (p42). */
static void fill(edo_ready *ready, uint64_t word, uint32_t interest)
{
	*ready = (edo_ready){
		.events = events_of(word, interest),
		.read_closed = has_in_any(word, interest, EDO_IS_READ_CLOSED, 0),
		.write_closed = has_in_any(word, interest, 0, EDO_IS_WRITE_CLOSED),
		.error = has_in_any(word, interest, EDO_IS_ERROR, ERROR_IN_WRITING),
		.edo_seen_ = word,
	};
}

/* A claim is looked at without the lock first, where it is a hint: under the lock it is certain. */
static bool is_claimed_by_another(struct edo_scheduled_io *sio, uint32_t interest,
				  const struct edo_io_claim *claim)
{
	for (int i = 0; i < 2; i++) {
		if ((interest & directions[i].interests) && !claim->held[i] &&
		    edo_load(&sio->claimed[i], relaxed))
			return true;
	}
	return false;
}

/* What a poll can say without waiting; EDO_PENDING when nothing. */
static edo_poll judge(struct edo_scheduled_io *sio, uint32_t generation, uint32_t interest,
		      const struct edo_io_claim *claim, edo_ready *ready)
{
	/* Acquire: pairs with edo_readiness_set(), and with begin_use() for the generation. */
	uint64_t word = edo_load(&sio->readiness, acquire);

	if (edo_load(&sio->generation, relaxed) != generation)
		return -EBADF;
	if (word & SHUT_DOWN)
		return -ESHUTDOWN;
	if (is_claimed_by_another(sio, interest, claim))
		return -EBUSY;
	if (!is_ready(word, interest, &directions[0]) && !is_ready(word, interest, &directions[1]))
		return EDO_PENDING;
	fill(ready, word, interest);
	return EDO_READY;
}

/* Under the lock. The wakers go in; what was there comes out, to be dropped without the lock. */
static void store_wakers(struct edo_scheduled_io *sio, uint32_t interest,
			 struct edo_io_claim *claim, edo_waker wakers[2])
{
	for (int i = 0; i < 2; i++) {
		edo_waker old = sio->waiting[i];

		if (!(interest & directions[i].interests))
			continue;
		sio->waiting[i] = wakers[i];
		wakers[i] = old;
		edo_store(&sio->claimed[i], 1, relaxed); /* under the lock */
		claim->held[i] = true;
	}
}

static void clone_wakers(uint32_t interest, const edo_context *cx, edo_waker wakers[2])
{
	for (int i = 0; i < 2; i++) {
		wakers[i] = (edo_waker){ NULL, NULL };
		if (interest & directions[i].interests)
			wakers[i] = edo_waker_clone(cx->waker);
	}
}

/* Looks again under the lock, and waits if there is still nothing. */
static edo_poll wait_for(struct edo_scheduled_io *sio, uint32_t generation, uint32_t interest,
			 struct edo_io_claim *claim, const edo_context *cx, edo_ready *ready)
{
	edo_waker wakers[2];
	edo_poll polled;

	clone_wakers(interest, cx, wakers);
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	polled = judge(sio, generation, interest, claim, ready);
	if (polled == EDO_PENDING)
		store_wakers(sio, interest, claim, wakers);
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	edo_waker_drop(&wakers[0]);
	edo_waker_drop(&wakers[1]);
	return polled;
}

edo_poll edo_io_poll_interest(struct edo_scheduled_io *sio, uint32_t generation, uint32_t interest,
			      struct edo_io_claim *claim, edo_context *cx, edo_ready *ready)
{
	edo_poll polled = judge(sio, generation, interest, claim, ready);

	if (polled == EDO_PENDING)
		polled = wait_for(sio, generation, interest, claim, cx, ready);
	return polled;
}

EDO_HOT edo_poll edo_io_poll_ready(struct edo_scheduled_io *sio, uint32_t generation,
				   enum edo_direction direction, bool *claimed, edo_context *cx,
				   edo_ready *ready)
{
	struct edo_io_claim claim = { .held = { [EDO_READING] = false } };
	edo_poll polled;

	claim.held[direction] = *claimed;
	polled = edo_io_poll_interest(sio, generation,
				      direction == EDO_READING ? EDO_READABLE : EDO_WRITABLE,
				      &claim, cx, ready);
	*claimed = claim.held[direction];
	return polled;
}

/* ---- calls ---- */

/* Whether the direction could be marked: 0, or why not. *word is brought up to date when it could not. */
static int try_mark(struct edo_scheduled_io *sio, uint32_t generation, uint64_t mark,
		    uint64_t *word)
{
	if (edo_load(&sio->generation, relaxed) != generation)
		return -EBADF;
	if (*word & SHUT_DOWN)
		return -ESHUTDOWN;
	if (*word & mark)
		return -EBUSY;
	/* Sequentially consistent: see "Calls" above. */
	return edo_compare_exchange(&sio->readiness, word, *word | mark, seq_cst, acquire) ?
		       0 :
		       -EAGAIN;
}

EDO_HOT int edo_io_call_begin(struct edo_scheduled_io *sio, uint32_t generation,
			      enum edo_direction which)
{
	/* Acquire: a word of a later use is seen together with the generation's move. */
	uint64_t word = edo_load(&sio->readiness, acquire);
	int rc;

	do
		rc = try_mark(sio, generation, directions[which].call, &word);
	while (rc == -EAGAIN);
	/* Sequentially consistent: see "Calls" above. */
	if (rc == 0 && edo_load(&sio->generation, seq_cst) != generation) {
		edo_io_call_end(sio, which);
		rc = -EBADF;
	}
	return rc;
}

EDO_HOT void edo_io_call_end(struct edo_scheduled_io *sio, enum edo_direction which)
{
	/* Release: pairs with edo_readiness_await_calls(); the call comes before the close. */
	(void)edo_fetch_and(&sio->readiness, ~directions[which].call, release);
}

/* They are non-blocking, so they end. On one thread there are none. */
uint64_t edo_readiness_await_calls(struct edo_scheduled_io *sio)
{
	uint64_t word;

	/* Sequentially consistent: see "Calls" above. Also acquire: pairs with edo_io_call_end(). */
	while ((word = edo_load(&sio->readiness, seq_cst)) & (CALL_READING | CALL_WRITING))
		edo_sys_cpu_relax();
	return word;
}

/* ---- clearing ---- */

/* What a clear of this direction may take away: what was seen of it and can pass. */
static uint64_t clearable(const struct direction_bits *direction, const edo_ready *seen)
{
	uint64_t bits = 0;

	if (seen->events & direction->interests & (EDO_READABLE | EDO_WRITABLE))
		bits |= direction->plain;
	if (seen->events & direction->interests & EDO_PRIORITY)
		bits |= direction->priority;
	if (seen->error)
		bits |= direction->error;
	return bits & seen->edo_seen_;
}

EDO_HOT void edo_io_clear(struct edo_scheduled_io *sio, enum edo_direction which, edo_ready seen)
{
	const struct direction_bits *direction = &directions[which];
	uint64_t bits = clearable(direction, &seen);
	uint64_t word = edo_load(&sio->readiness, relaxed);

	/*
	 * Relaxed: the tick decides (R2). What has come after the call that said EAGAIN is told by an event
	 * after the word that was seen: it turns the tick, and this fails, or it follows, and its bits stay.
	 * Nobody learns anything from a bit that is gone. What the driver released with those that stay, a
	 * read-modify-write hands on.
	 */
	do {
		if (tick_of(word, direction) != tick_of(seen.edo_seen_, direction))
			return;
	} while (!edo_compare_exchange(&sio->readiness, &word, word & ~bits, relaxed, relaxed));
}

EDO_HOT void edo_io_unclaim(struct edo_scheduled_io *sio, uint32_t generation,
			    enum edo_direction direction, bool *claimed)
{
	edo_waker taken[2] = { { NULL, NULL }, { NULL, NULL } };

	if (!*claimed)
		return;
	*claimed = false;
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	if (edo_load(&sio->generation, relaxed) == generation) { /* under the lock */
		edo_store(&sio->claimed[direction], 0, relaxed); /* under the lock */
		edo_readiness_take_wakers(sio, 1u << direction, taken);
	}
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	edo_waker_drop(&taken[direction]);
}
