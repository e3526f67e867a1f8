/* Sending: into a place of one's own, or in line for it. */
#include "base/hot.h"
#include "mpsc.h"
#include "task/task.h"
#include <errno.h>

static bool lacks_something(const edo_mpsc_tx *tx, const void *item)
{
	return !tx || (!item && edo_mpsc_of_tx(tx)->item_size > 0);
}

/*
 * 0; -EPIPE; -EAGAIN: no place, and with a waker the wait stands in line; -ENOMEM: a place, but no block.
 */
EDO_HOT static int offer(struct edo_mpsc *channel, const void *item, edo_sync_wait *wait,
			 edo_waker *waker)
{
	edo_waker receiver = { NULL, NULL };
	int rc;

	edo_mpsc_lock(channel);
	rc = edo_mpsc_take_place(channel, wait, waker);
	if (rc == 0 && !edo_mpsc_put(channel, item)) {
		channel->free++;
		rc = -ENOMEM;
	} else if (rc == 0) {
		receiver = edo_mpsc_take_receiver(channel);
	}
	edo_mpsc_unlock(channel);
	edo_waker_wake(&receiver);
	return rc;
}

/* Another sender may be faster and use the block that was brought. */
static int offer_with_new_block(struct edo_mpsc *channel, const void *item)
{
	int rc = -ENOMEM;

	while (rc == -ENOMEM && edo_mpsc_bring_block(channel))
		rc = offer(channel, item, NULL, NULL);
	return rc;
}

static int offer_in_line(struct edo_mpsc *channel, edo_mpsc_send_future *send,
			 const edo_context *cx)
{
	edo_waker waker = edo_waker_clone(cx->waker);
	int rc = offer(channel, send->edo_item_, &send->edo_wait_, &waker);

	edo_waker_drop(&waker);
	return rc;
}

EDO_HOT static edo_poll send_poll(edo_future *future, edo_context *cx)
{
	edo_mpsc_send_future *send = edo_container_of(future, edo_mpsc_send_future, future);
	struct edo_mpsc *channel = edo_mpsc_of_tx(send->edo_tx_);
	int rc;

	if (lacks_something(send->edo_tx_, send->edo_item_))
		return send->result = -EINVAL;
	if (!edo_coop_has_budget(cx))
		return send->result = EDO_PENDING;
	rc = offer(channel, send->edo_item_, &send->edo_wait_, NULL);
	if (rc == -EAGAIN)
		rc = offer_in_line(channel, send, cx);
	else if (rc == -ENOMEM)
		rc = offer_with_new_block(channel, send->edo_item_);
	if (rc == -EAGAIN)
		return send->result = EDO_PENDING;
	edo_coop_take(cx);
	return send->result = rc;
}

static void send_drop(edo_future *future)
{
	edo_mpsc_send_future *send = edo_container_of(future, edo_mpsc_send_future, future);

	edo_mpsc_drop_wait(edo_mpsc_of_tx(send->edo_tx_), &send->edo_wait_);
}

EDO_FUTURE_OPS(send_ops, edo_mpsc_send_future, future, send_poll, send_drop);

edo_future *edo_mpsc_send_start(edo_mpsc_send_future *send, edo_mpsc_tx *tx, const void *item)
{
	send->future.ops = &send_ops;
	send->result = EDO_PENDING;
	send->edo_tx_ = tx;
	send->edo_item_ = item;
	edo_wait_init(&send->edo_wait_);
	return &send->future;
}

int edo_mpsc_try_send(edo_mpsc_tx *tx, const void *item)
{
	struct edo_mpsc *channel = edo_mpsc_of_tx(tx);
	int rc;

	if (lacks_something(tx, item))
		return -EINVAL;
	rc = offer(channel, item, NULL, NULL);
	return rc == -ENOMEM ? offer_with_new_block(channel, item) : rc;
}
