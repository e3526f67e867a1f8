/*
 * The holder's turn: each shard's wheel goes to now, and what is due is fired.
 *
 * T2  Wakers are woken with no lock held: a waker may drop, move or arm any timer.
 * T4  To fire, under the lock: the wheel has unlinked the entry; its waker is copied out; the cell goes
 *     from the tick to FIRED (release) as the last access. From then on the storage is the owner's. If
 *     the swap is lost to a later reset, the entry goes back into the wheel, and the copied bytes
 *     are forgotten: the waker is still the entry's.
 * T7  No lock is held for more than EDO_TURN_BUDGET entries, fired or moved, nor for more than a batch.
 *
 * A turn ends whatever its wakers arm: `now` is read once, and the wheel refuses what is due by then.
 * And it ends soon: a slot of 137,000 entries takes 30 ms to cascade, during which this thread would look
 * at no event and run no task, so after EDO_TURN_HOLDS it leaves the rest to the next turn, which need
 * not wait, since what is left of a slot names its tick as the next (W6).
 */
#include "shard.h"
#include <limits.h>

unsigned edo_wake_batch_wake(struct edo_wake_batch *batch)
{
	unsigned count = batch->count;

	edo_lock_assert_none();
	for (unsigned i = 0; i < count; i++)
		edo_waker_wake(&batch->wakers[i]);
	batch->count = 0;
	return count;
}

/* Under the lock; the wheel has just handed the node out. */
static void fire(struct edo_time_shard *shard, edo_wheel_timer *node, uint64_t now,
		 struct edo_wake_batch *batch)
{
	/* Relaxed: only the value counts; the swap below decides. */
	uint64_t cell = edo_load(&node->when, relaxed);

	batch->wakers[batch->count] = edo_entry_of(node)->edo_waker_;
	/*
	 * Release: pairs with the owner's acquire load. The waker was read before the owner may
	 * write there again.
	 */
	if (cell <= now &&
	    edo_compare_exchange(&node->when, &cell, EDO_TICK_FIRED, release, relaxed))
		batch->count++;
	else
		edo_wheel_refile(&shard->wheel, node);
}

/* One hold of the lock. Returns whether there may be more to do. */
static bool turn_some(struct edo_time_shard *shard, uint64_t now, struct edo_wake_batch *batch)
{
	unsigned budget = EDO_TURN_BUDGET;
	edo_wheel_timer *node = NULL;

	edo_shard_lock(shard);
	while (!edo_wake_batch_is_full(batch) &&
	       (node = edo_wheel_poll_budget(&shard->wheel, now, &budget)) != NULL)
		fire(shard, node, now, batch);
	edo_shard_unlock(shard);
	return node || budget == 0;
}

/* Until nothing is due, or *holds are used up. */
static unsigned turn_shard(struct edo_time_shard *shard, uint64_t now, unsigned *holds)
{
	struct edo_wake_batch batch;
	unsigned fired = 0;
	bool is_more = true;

	batch.count = 0;
	while (is_more && *holds > 0) {
		--*holds;
		is_more = turn_some(shard, now, &batch);
		fired += edo_wake_batch_wake(&batch);
	}
	return fired;
}

static unsigned turn(struct edo_time_driver *time, unsigned holds)
{
	uint64_t now = edo_time_now(time);
	unsigned fired = 0;

	/* Before the wheels know of it (T1); relaxed: only the holder writes it. */
	edo_store(&time->clock.shown, now, relaxed);
	for (uint32_t i = 0; i < time->shard_count; i++)
		fired += turn_shard(&time->shards[i], edo_time_tick_at(time, now), &holds);
	return fired;
}

unsigned edo_time_process(struct edo_time_driver *time)
{
	return turn(time, EDO_TURN_HOLDS * time->shard_count);
}

unsigned edo_time_process_all(struct edo_time_driver *time)
{
	return turn(time, UINT_MAX);
}

/* Whether there is such a moment; the clock stands there, or later, afterwards. */
static bool turn_clock_to(struct edo_time_driver *time, uint64_t tick)
{
	uint64_t instant = edo_time_instant_of(time, tick);
	uint64_t now = edo_time_now(time);

	if (instant > EDO_CLOCK_END)
		return false;
	if (instant > now)
		(void)edo_time_advance(time, instant - now);
	return true;
}

/*
 * `next` may name the start of a coarse slot, or the place of a timer that has been moved on: the wheel
 * is turned there and asked again, until something has fired.
 */
bool edo_time_jump(struct edo_time_driver *time)
{
	uint64_t tick;

	while (edo_time_earliest(time, &tick) && turn_clock_to(time, tick))
		if (edo_time_process_all(time) > 0)
			return true;
	return false;
}
