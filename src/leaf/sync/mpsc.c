/* The ends of a channel: how they come, are counted, and go. See mpsc.h for what the lock guards. */
#include "mpsc.h"
#include <errno.h>
#include <stdlib.h>

/* ---- making and freeing ---- */

struct edo_mpsc *edo_mpsc_new(size_t item_size, size_t capacity, size_t ring_size)
{
	struct edo_mpsc *channel = malloc(sizeof *channel + ring_size);

	if (!channel)
		return NULL;
	*channel = (struct edo_mpsc){ .has_receiver = true,
				      .is_held_by_receiver = true,
				      .item_size = item_size,
				      .free = capacity,
				      .senders = 1,
				      .capacity = capacity };
	channel->put = channel->take = channel->take_start = channel->ring;
	channel->put_end = channel->take_end = channel->ring + ring_size;
	edo_list_init(&channel->waiting);
	edo_list_init(&channel->watching);
	return channel;
}

void edo_mpsc_hand_out(struct edo_mpsc *channel, edo_mpsc_tx **tx, edo_mpsc_rx **rx)
{
	*tx = (edo_mpsc_tx *)channel;
	*rx = (edo_mpsc_rx *)channel;
}

void edo_mpsc_free(struct edo_mpsc *channel)
{
	edo_mpsc_free_blocks(channel);
	free(channel);
}

void edo_mpsc_unlock_or_free(struct edo_mpsc *channel)
{
	bool is_held = channel->senders > 0 || channel->granted > 0 || channel->is_held_by_receiver;

	EDO_ASSERT(is_held || edo_list_is_empty(&channel->waiting));
	edo_mpsc_unlock(channel);
	if (!is_held)
		edo_mpsc_free(channel);
}

/* ---- senders ---- */

edo_mpsc_tx *edo_mpsc_tx_retain(edo_mpsc_tx *tx)
{
	struct edo_mpsc *channel = edo_mpsc_of_tx(tx);

	if (!channel)
		return NULL;
	edo_mpsc_lock(channel);
	EDO_ASSERT(channel->senders > 0);
	channel->senders++;
	edo_mpsc_unlock(channel);
	return tx;
}

void edo_mpsc_tx_release(edo_mpsc_tx *tx)
{
	struct edo_mpsc *channel = edo_mpsc_of_tx(tx);
	edo_waker receiver;

	if (!channel)
		return;
	edo_mpsc_lock(channel);
	EDO_ASSERT(channel->senders > 0);
	channel->senders--;
	receiver = edo_mpsc_receiver_at_end(channel);
	edo_mpsc_unlock_or_free(channel);
	edo_waker_wake(&receiver);
}

size_t edo_mpsc_tx_len(const edo_mpsc_tx *tx)
{
	/* Relaxed: a number that may have changed by the time it is looked at. */
	return edo_load(&edo_mpsc_of_tx(tx)->len, relaxed);
}

size_t edo_mpsc_rx_len(const edo_mpsc_rx *rx)
{
	/* Relaxed: as above. */
	return edo_load(&edo_mpsc_of_rx(rx)->len, relaxed);
}

size_t edo_mpsc_capacity(const edo_mpsc_tx *tx)
{
	return edo_mpsc_of_tx(tx)->capacity;
}

/* ---- the receiver ---- */

int edo_mpsc_set_drop(edo_mpsc_rx *rx, edo_item_drop_fn *drop, void *context)
{
	struct edo_mpsc *channel = edo_mpsc_of_rx(rx);
	int rc = 0;

	if (!channel)
		return -EINVAL;
	edo_mpsc_lock(channel);
	if (channel->len > 0) {
		rc = -EBUSY;
	} else {
		channel->drop = drop;
		channel->drop_context = context;
	}
	edo_mpsc_unlock(channel);
	return rc;
}

/* Whoever waits for something of a receiver that takes no more. The caller's hold keeps the channel. */
static void refuse_all(struct edo_mpsc *channel)
{
	struct edo_wake_batch batch = { .count = 0 };
	bool may_be_more;

	do {
		edo_mpsc_lock(channel);
		edo_wait_end_all(&channel->waiting, EDO_WAIT_REFUSED, &batch);
		edo_wait_end_all(&channel->watching, EDO_WAIT_REFUSED, &batch);
		edo_mpsc_unlock(channel);
		may_be_more = edo_wake_batch_is_full(&batch);
		edo_wake_batch_wake(&batch);
	} while (may_be_more);
}

void edo_mpsc_rx_close(edo_mpsc_rx *rx)
{
	struct edo_mpsc *channel = edo_mpsc_of_rx(rx);
	edo_waker receiver;

	if (!channel)
		return;
	edo_mpsc_lock(channel);
	channel->is_closed = true;
	receiver = edo_mpsc_receiver_at_end(channel);
	edo_mpsc_unlock(channel);
	edo_waker_wake(&receiver);
	refuse_all(channel);
}

/* Nobody else touches items any more: nothing is put in, nothing received. */
static void drop_items(struct edo_mpsc *channel, size_t count)
{
	for (; count > 0; count--) {
		void *emptied;
		void *item = edo_mpsc_front(channel, &emptied);

		channel->take += channel->item_size;
		free(emptied);
		channel->drop(channel->item_size > 0 ? item : NULL, channel->drop_context);
	}
}

/*
 * An item may be, or have, a sender of this very channel, so the memory stays the receiver's until all have
 * been dropped.
 */
void edo_mpsc_rx_release(edo_mpsc_rx *rx)
{
	struct edo_mpsc *channel = edo_mpsc_of_rx(rx);
	edo_waker receiver;
	size_t left;

	if (!channel)
		return;
	edo_mpsc_lock(channel);
	channel->is_closed = true;
	channel->has_receiver = false;
	left = channel->len;
	channel->free += left;
	edo_mpsc_set_len(channel, 0);
	channel->receiver = NULL;
	receiver = edo_mpsc_take_receiver(channel);
	edo_mpsc_unlock(channel);
	edo_waker_drop(&receiver);
	refuse_all(channel);
	if (channel->drop)
		drop_items(channel, left);
	edo_mpsc_lock(channel);
	channel->is_held_by_receiver = false;
	edo_mpsc_unlock_or_free(channel);
}

/* ---- the wait for its end ---- */

/* False: the receiver is there, and with a waker the wait stands in line. */
static bool is_closed_or_watch(struct edo_mpsc *channel, edo_sync_wait *wait, edo_waker *waker)
{
	bool is_closed;

	edo_mpsc_lock(channel);
	is_closed = channel->is_closed;
	if (!is_closed)
		edo_wait_join(&channel->watching, wait, waker);
	else if (wait->edo_outcome_ == EDO_WAIT_REFUSED)
		edo_wait_take_note(wait);
	edo_mpsc_unlock(channel);
	return is_closed;
}

static edo_poll closed_poll(edo_future *future, edo_context *cx)
{
	edo_mpsc_closed_future *closed = edo_container_of(future, edo_mpsc_closed_future, future);
	edo_waker waker;
	bool is_closed;

	if (!closed->edo_tx_)
		return closed->result = -EINVAL;
	waker = edo_waker_clone(cx->waker);
	is_closed = is_closed_or_watch(edo_mpsc_of_tx(closed->edo_tx_), &closed->edo_wait_, &waker);
	edo_waker_drop(&waker);
	return closed->result = is_closed ? 0 : EDO_PENDING;
}

static void closed_drop(edo_future *future)
{
	edo_mpsc_closed_future *closed = edo_container_of(future, edo_mpsc_closed_future, future);
	struct edo_mpsc *channel = edo_mpsc_of_tx(closed->edo_tx_);
	edo_waker waker;

	if (!closed->edo_wait_.edo_is_begun_)
		return;
	edo_mpsc_lock(channel);
	(void)edo_wait_leave(&closed->edo_wait_, &waker);
	edo_mpsc_unlock(channel);
	edo_waker_drop(&waker);
}

EDO_FUTURE_OPS(closed_ops, edo_mpsc_closed_future, future, closed_poll, closed_drop);

edo_future *edo_mpsc_closed_start(edo_mpsc_closed_future *closed, edo_mpsc_tx *tx)
{
	*closed = (edo_mpsc_closed_future){ .future = { &closed_ops },
					    .result = EDO_PENDING,
					    .edo_tx_ = tx };
	return &closed->future;
}
