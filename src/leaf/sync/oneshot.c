/*
 * A channel for one item, without a lock: one word says how far each end has come.
 *
 *   VALUE           the item is there; set by the sender, once. From then on it is the receiver's, who alone
 *                   copies it out or drops it
 *   CLOSED          the receiver takes nothing more. Never together with a VALUE that was set later
 *   SENDER_GONE     the sender was released; with no VALUE none will come
 *   RECEIVER_WAITS  a receive has put its waker into `receiver` before it set this. Never cleared: it saves who
 *                   sends the look when nobody ever waited
 *   SENDER_WAITS    the same for the wait for CLOSED, and `sender`
 *   TX_DONE, RX_DONE   the end touches the memory no more; who finds the other's set frees it
 *
 * Each side's own fields (was_sent; was_received and the drop function) are touched by that side alone, one thread
 * at a time. Every change of the word is acquire and release: whoever learns of it sees what came before it.
 *
 * No wake is lost: who waits puts its waker in, then sets its bit (or, later, looks again); who has news sets
 * its bit, then looks whether somebody waits. The word has one order, so one of the two sees the other. The wakers
 * themselves are the atomic waker's matter (task/atomic_waker.c).
 */
#include "sync.h"
#include "base/atomic.h"
#include "base/hot.h"
#include "task/task.h"
#include <errno.h>
#include <stdlib.h>

enum {
	VALUE = 1,
	CLOSED = 2,
	SENDER_GONE = 4,
	RECEIVER_WAITS = 8,
	SENDER_WAITS = 16,
	TX_DONE = 32,
	RX_DONE = 64,
};

struct oneshot {
	uint32_t state;
	bool was_sent;     /* the sender's */
	bool was_received; /* the receiver's */
	size_t size;       /* constant */
	/* Atomic, relaxed: the future that waits, so that a second one is refused. */
	const void *waiting_receiver, *waiting_sender;
	edo_atomic_waker receiver, sender;
	edo_item_drop_fn *drop; /* the receiver's, as the next */
	void *drop_context;
	_Alignas(EDO_ITEM_ALIGN) char item[];
};

static struct oneshot *of_tx(edo_oneshot_tx *tx)
{
	return (struct oneshot *)tx;
}

static struct oneshot *of_rx(edo_oneshot_rx *rx)
{
	return (struct oneshot *)rx;
}

int edo_oneshot_create(edo_oneshot_tx **tx, edo_oneshot_rx **rx, size_t size)
{
	struct oneshot *oneshot;

	*tx = NULL;
	*rx = NULL;
	if (size > PTRDIFF_MAX - sizeof *oneshot)
		return -EINVAL;
	oneshot = malloc(sizeof *oneshot + size);
	if (!oneshot)
		return -ENOMEM;
	*oneshot = (struct oneshot){ .size = size };
	*tx = (edo_oneshot_tx *)oneshot;
	*rx = (edo_oneshot_rx *)oneshot;
	return 0;
}

/* ---- the word ---- */

static uint32_t look(const struct oneshot *oneshot)
{
	/* Acquire: pairs with the release of whoever set what is seen: the item, or its last access. */
	return edo_load(&oneshot->state, acquire);
}

static uint32_t set(struct oneshot *oneshot, uint32_t bits)
{
	/* Release: what this end did before. Acquire: what the other end did before the bits that are seen. */
	return edo_fetch_or(&oneshot->state, bits, acq_rel);
}

/* False: the receiver has closed. */
static bool set_value(struct oneshot *oneshot, uint32_t *before)
{
	*before = edo_load(&oneshot->state, relaxed);
	do {
		if (*before & CLOSED)
			return false;
		/* Release: the item. Acquire: the look at the waker's place comes after its registration. */
	} while (!edo_compare_exchange(&oneshot->state, before, *before | VALUE, acq_rel, relaxed));
	return true;
}

/* This end touches it no more. */
static void leave(struct oneshot *oneshot, uint32_t own, uint32_t others)
{
	if (set(oneshot, own) & others)
		free(oneshot);
}

/*
 * ---- one wait at a time on each side ----
 *
 * Relaxed: an end is used by one thread at a time, so the program has ordered one wait after the other. The mark
 * only tells a second wait that there is one.
 */

static bool claim(const void **waiting, const void *who)
{
	const void *before = NULL;

	return edo_compare_exchange(waiting, &before, who, relaxed, relaxed) || before == who;
}

static void give_up_claim(const void **waiting)
{
	edo_store(waiting, NULL, relaxed);
}

/*
 * Puts the waker in, then says so. What the word is then, with which the wait is over or goes on; wait is the
 * side's bit.
 */
static uint32_t wait_for(struct oneshot *oneshot, edo_atomic_waker *place, uint32_t wait,
			 const edo_context *cx)
{
	edo_atomic_waker_register(place, cx);
	return set(oneshot, wait);
}

/* ---- sending ---- */

EDO_HOT int edo_oneshot_send(edo_oneshot_tx *tx, const void *item)
{
	struct oneshot *oneshot = of_tx(tx);
	uint32_t before;

	if (!oneshot || (!item && oneshot->size > 0))
		return -EINVAL;
	if (oneshot->was_sent)
		return -EALREADY;
	edo_item_copy(oneshot->item, item, oneshot->size);
	if (!set_value(oneshot, &before))
		return -EPIPE;
	oneshot->was_sent = true;
	if (before & RECEIVER_WAITS)
		edo_atomic_waker_wake(&oneshot->receiver);
	return 0;
}

/*
 * Once the receiver is done nobody else has it. With an item sent the receiver knows already; without one it
 * must be woken, and the memory must stay until that is done.
 */
EDO_HOT void edo_oneshot_tx_release(edo_oneshot_tx *tx)
{
	struct oneshot *oneshot = of_tx(tx);

	if (!oneshot)
		return;
	if (look(oneshot) & RX_DONE) {
		free(oneshot);
		return;
	}
	if (!oneshot->was_sent && (set(oneshot, SENDER_GONE) & RECEIVER_WAITS))
		edo_atomic_waker_wake(&oneshot->receiver);
	leave(oneshot, SENDER_GONE | TX_DONE, RX_DONE);
}

/* ---- receiving ---- */

int edo_oneshot_set_drop(edo_oneshot_rx *rx, edo_item_drop_fn *drop, void *context)
{
	struct oneshot *oneshot = of_rx(rx);

	if (!oneshot)
		return -EINVAL;
	if (look(oneshot) & VALUE)
		return -EBUSY;
	oneshot->drop = drop;
	oneshot->drop_context = context;
	return 0;
}

/* What the word comes to for who receives. */
static int outcome(struct oneshot *oneshot, uint32_t state, void *item)
{
	if (oneshot->was_received)
		return -EPIPE;
	if (!(state & VALUE))
		return state & SENDER_GONE ? -EPIPE : -EAGAIN;
	edo_item_copy(item, oneshot->item, oneshot->size);
	oneshot->was_received = true;
	return 0;
}

static bool lacks_something(edo_oneshot_rx *rx, const void *item)
{
	return !rx || (!item && of_rx(rx)->size > 0);
}

/* Nobody else waits: another wait would have to see the item first. */
static bool is_others_wait(const struct oneshot *oneshot, const void *who)
{
	const void *waiting = edo_load(&oneshot->waiting_receiver, relaxed);

	return waiting && waiting != who;
}

int edo_oneshot_try_recv(edo_oneshot_rx *rx, void *item)
{
	if (lacks_something(rx, item))
		return -EINVAL;
	if (is_others_wait(of_rx(rx), NULL))
		return -EBUSY;
	return outcome(of_rx(rx), look(of_rx(rx)), item);
}

static void end_receive(edo_oneshot_recv_future *recv)
{
	if (!recv->edo_is_waiting_)
		return;
	recv->edo_is_waiting_ = false;
	edo_atomic_waker_clear(&of_rx(recv->edo_rx_)->receiver);
	give_up_claim(&of_rx(recv->edo_rx_)->waiting_receiver);
}

static int receive_or_wait(edo_oneshot_recv_future *recv, const edo_context *cx)
{
	struct oneshot *oneshot = of_rx(recv->edo_rx_);
	int rc;

	if (is_others_wait(oneshot, recv))
		return -EBUSY;
	rc = outcome(oneshot, look(oneshot), recv->edo_item_);
	if (rc != -EAGAIN)
		return rc;
	if (!claim(&oneshot->waiting_receiver, recv))
		return -EBUSY;
	recv->edo_is_waiting_ = true;
	return outcome(oneshot, wait_for(oneshot, &oneshot->receiver, RECEIVER_WAITS, cx),
		       recv->edo_item_);
}

EDO_HOT static edo_poll recv_poll(edo_future *future, edo_context *cx)
{
	edo_oneshot_recv_future *recv = edo_container_of(future, edo_oneshot_recv_future, future);
	int rc;

	if (lacks_something(recv->edo_rx_, recv->edo_item_))
		return recv->result = -EINVAL;
	if (!edo_coop_has_budget(cx))
		return recv->result = EDO_PENDING;
	rc = receive_or_wait(recv, cx);
	if (rc == -EAGAIN)
		return recv->result = EDO_PENDING;
	end_receive(recv);
	edo_coop_take(cx);
	return recv->result = rc;
}

static void recv_drop(edo_future *future)
{
	end_receive(edo_container_of(future, edo_oneshot_recv_future, future));
}

EDO_FUTURE_OPS(recv_ops, edo_oneshot_recv_future, future, recv_poll, recv_drop);

edo_future *edo_oneshot_recv_start(edo_oneshot_recv_future *recv, edo_oneshot_rx *rx, void *item)
{
	*recv = (edo_oneshot_recv_future){ .future = { &recv_ops },
					   .result = EDO_PENDING,
					   .edo_rx_ = rx,
					   .edo_item_ = item };
	return &recv->future;
}

static void drop_item(struct oneshot *oneshot)
{
	if ((look(oneshot) & VALUE) && !oneshot->was_received && oneshot->drop)
		oneshot->drop(oneshot->size > 0 ? oneshot->item : NULL, oneshot->drop_context);
}

/*
 * An item may be, or have, the very sender: so the receiver leaves only when the item has been dropped. Nor may
 * the memory go before who waits for CLOSED has been woken.
 */
EDO_HOT void edo_oneshot_rx_release(edo_oneshot_rx *rx)
{
	struct oneshot *oneshot = of_rx(rx);

	if (!oneshot)
		return;
	if (look(oneshot) & TX_DONE) {
		drop_item(oneshot);
		free(oneshot);
		return;
	}
	if (set(oneshot, CLOSED) & SENDER_WAITS)
		edo_atomic_waker_wake(&oneshot->sender);
	drop_item(oneshot);
	leave(oneshot, RX_DONE, TX_DONE);
}

/* ---- the sender's wait for the receiver's end ---- */

static void end_watch(edo_oneshot_closed_future *closed)
{
	if (!closed->edo_is_waiting_)
		return;
	closed->edo_is_waiting_ = false;
	edo_atomic_waker_clear(&of_tx(closed->edo_tx_)->sender);
	give_up_claim(&of_tx(closed->edo_tx_)->waiting_sender);
}

static int watch(edo_oneshot_closed_future *closed, const edo_context *cx)
{
	struct oneshot *oneshot = of_tx(closed->edo_tx_);

	if (look(oneshot) & CLOSED)
		return 0;
	if (!claim(&oneshot->waiting_sender, closed))
		return -EBUSY;
	closed->edo_is_waiting_ = true;
	if (wait_for(oneshot, &oneshot->sender, SENDER_WAITS, cx) & CLOSED)
		return 0;
	return EDO_PENDING;
}

static edo_poll closed_poll(edo_future *future, edo_context *cx)
{
	edo_oneshot_closed_future *closed =
		edo_container_of(future, edo_oneshot_closed_future, future);

	closed->result = closed->edo_tx_ ? watch(closed, cx) : -EINVAL;
	if (closed->result != EDO_PENDING)
		end_watch(closed);
	return closed->result;
}

static void closed_drop(edo_future *future)
{
	end_watch(edo_container_of(future, edo_oneshot_closed_future, future));
}

EDO_FUTURE_OPS(closed_ops, edo_oneshot_closed_future, future, closed_poll, closed_drop);

edo_future *edo_oneshot_closed_start(edo_oneshot_closed_future *closed, edo_oneshot_tx *tx)
{
	*closed = (edo_oneshot_closed_future){ .future = { &closed_ops },
					       .result = EDO_PENDING,
					       .edo_tx_ = tx };
	return &closed->future;
}
