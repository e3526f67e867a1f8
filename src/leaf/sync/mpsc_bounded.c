/*
 * Bounded channels: places, the line for them, and permits.
 */
#include "base/hot.h"
#include "mpsc.h"
#include "task/task.h"
#include <errno.h>
#include <stdint.h>

/* Whether so many items are a legal object, and the channel before them too. */
static bool is_too_large(size_t item_size, size_t capacity)
{
	return item_size > 0 && capacity > (PTRDIFF_MAX - sizeof(struct edo_mpsc)) / item_size;
}

int edo_mpsc_create(edo_mpsc_tx **tx, edo_mpsc_rx **rx, size_t item_size, size_t capacity)
{
	struct edo_mpsc *channel;

	*tx = NULL;
	*rx = NULL;
	/* SIZE_MAX is how a capacity says that there is no bound. */
	if (capacity == 0 || capacity == SIZE_MAX || is_too_large(item_size, capacity))
		return -EINVAL;
	channel = edo_mpsc_new(item_size, capacity, item_size * capacity);
	if (!channel)
		return -ENOMEM;
	edo_mpsc_hand_out(channel, tx, rx);
	return 0;
}

/* ---- a place ---- */

/* What came of a wait that has begun. */
static int place_of_waiter(struct edo_mpsc *channel, edo_sync_wait *wait, edo_waker *waker)
{
	switch ((enum edo_wait_outcome)wait->edo_outcome_) {
	case EDO_WAIT_GRANTED:
		edo_wait_take_note(wait);
		channel->granted--;
		if (channel->has_receiver)
			return 0;
		channel->free++;
		return -EPIPE;
	case EDO_WAIT_QUEUED:
		if (waker)
			edo_wait_join(&channel->waiting, wait, waker);
		return -EAGAIN;
	default:
		edo_wait_take_note(wait);
		return -EPIPE;
	}
}

EDO_HOT int edo_mpsc_take_place(struct edo_mpsc *channel, edo_sync_wait *wait, edo_waker *waker)
{
	if (wait && wait->edo_is_begun_)
		return place_of_waiter(channel, wait, waker);
	if (channel->is_closed)
		return -EPIPE;
	if (channel->free == 0) {
		if (waker)
			edo_wait_join(&channel->waiting, wait, waker);
		return -EAGAIN;
	}
	EDO_ASSERT(edo_list_is_empty(&channel->waiting)); /* M2 */
	channel->free--;
	return 0;
}

/*
 * A granted place comes back unused. It may have been what held up the end (M3). Both wakers are to be
 * woken when the lock is free.
 */
static void give_back(struct edo_mpsc *channel, edo_waker *next, edo_waker *receiver)
{
	channel->granted--;
	edo_mpsc_give_place(channel, next);
	*receiver = edo_mpsc_receiver_at_end(channel);
}

void edo_mpsc_drop_wait(struct edo_mpsc *channel, edo_sync_wait *wait)
{
	edo_waker own, next = { NULL, NULL }, receiver = { NULL, NULL };

	if (!wait->edo_is_begun_)
		return;
	edo_mpsc_lock(channel);
	if (edo_wait_leave(wait, &own) == EDO_WAIT_GRANTED)
		give_back(channel, &next, &receiver);
	edo_mpsc_unlock(channel);
	edo_waker_drop(&own);
	edo_waker_wake(&next);
	edo_waker_wake(&receiver);
}

/* ---- permits ---- */

static int reserve(struct edo_mpsc *channel, edo_sync_wait *wait, edo_mpsc_permit *permit,
		   edo_waker *waker)
{
	int rc;

	edo_mpsc_lock(channel);
	rc = edo_mpsc_take_place(channel, wait, waker);
	if (rc == 0) {
		channel->granted++;
		permit->edo_channel_ = (edo_mpsc_tx *)channel;
	}
	edo_mpsc_unlock(channel);
	return rc;
}

static int check_reserve(const edo_mpsc_tx *tx, const edo_mpsc_permit *permit)
{
	if (!tx || !permit)
		return -EINVAL;
	return edo_mpsc_of_tx(tx)->capacity == SIZE_MAX ? -EOPNOTSUPP : 0;
}

int edo_mpsc_try_reserve(edo_mpsc_tx *tx, edo_mpsc_permit *permit)
{
	int rc = check_reserve(tx, permit);

	if (permit)
		permit->edo_channel_ = NULL;
	return rc < 0 ? rc : reserve(edo_mpsc_of_tx(tx), NULL, permit, NULL);
}

static edo_poll reserve_poll(edo_future *future, edo_context *cx)
{
	edo_mpsc_reserve_future *me = edo_container_of(future, edo_mpsc_reserve_future, future);
	struct edo_mpsc *channel = edo_mpsc_of_tx(me->edo_tx_);
	edo_waker waker;

	me->result = check_reserve(me->edo_tx_, me->edo_permit_);
	if (me->result < 0)
		return me->result;
	if (!edo_coop_has_budget(cx))
		return me->result = EDO_PENDING;
	waker = edo_waker_clone(cx->waker);
	me->result = reserve(channel, &me->edo_wait_, me->edo_permit_, &waker);
	edo_waker_drop(&waker);
	if (me->result == -EAGAIN)
		return me->result = EDO_PENDING;
	edo_coop_take(cx);
	return me->result;
}

static void reserve_drop(edo_future *future)
{
	edo_mpsc_reserve_future *me = edo_container_of(future, edo_mpsc_reserve_future, future);

	edo_mpsc_drop_wait(edo_mpsc_of_tx(me->edo_tx_), &me->edo_wait_);
}

EDO_FUTURE_OPS(reserve_ops, edo_mpsc_reserve_future, future, reserve_poll, reserve_drop);

edo_future *edo_mpsc_reserve_start(edo_mpsc_reserve_future *reserve, edo_mpsc_tx *tx,
				   edo_mpsc_permit *permit)
{
	if (permit)
		permit->edo_channel_ = NULL;
	*reserve = (edo_mpsc_reserve_future){ .future = { &reserve_ops },
					      .result = EDO_PENDING,
					      .edo_tx_ = tx,
					      .edo_permit_ = permit };
	return &reserve->future;
}

static struct edo_mpsc *use_up(edo_mpsc_permit *permit)
{
	struct edo_mpsc *channel = edo_mpsc_of_tx(permit->edo_channel_);

	permit->edo_channel_ = NULL;
	return channel;
}

/* The place becomes the item's: nothing is given back, and the end waits for the item. */
int edo_mpsc_permit_send(edo_mpsc_permit *permit, const void *item)
{
	edo_waker receiver = { NULL, NULL };
	struct edo_mpsc *channel;
	int rc = 0;

	if (!permit || !permit->edo_channel_ ||
	    (!item && edo_mpsc_of_tx(permit->edo_channel_)->item_size > 0))
		return -EINVAL;
	channel = use_up(permit);
	edo_mpsc_lock(channel);
	channel->granted--;
	if (!channel->has_receiver) {
		channel->free++;
		rc = -EPIPE;
	} else {
		(void)edo_mpsc_put(channel, item);
		receiver = edo_mpsc_take_receiver(channel);
	}
	edo_mpsc_unlock_or_free(channel);
	edo_waker_wake(&receiver);
	return rc;
}

void edo_mpsc_permit_drop(edo_mpsc_permit *permit)
{
	edo_waker next = { NULL, NULL }, receiver = { NULL, NULL };
	struct edo_mpsc *channel;

	if (!permit || !permit->edo_channel_)
		return;
	channel = use_up(permit);
	edo_mpsc_lock(channel);
	give_back(channel, &next, &receiver);
	edo_mpsc_unlock_or_free(channel);
	edo_waker_wake(&next);
	edo_waker_wake(&receiver);
}
