/*
 * Receiving. A wait has nothing but its waker in the channel: items stay there until a poll copies them
 * out, so one that is dropped after its wake has lost nothing.
 */
#include "base/hot.h"
#include "mpsc.h"
#include "task/task.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Copies the first item out, and its place goes to the next in line. Under the lock. */
static inline void take_one(struct edo_mpsc *channel, void *item, void **emptied, edo_waker *next)
{
	edo_item_copy(item, edo_mpsc_front(channel, emptied), channel->item_size);
	edo_mpsc_remove_front(channel);
	edo_mpsc_give_place(channel, next);
}

/* Whether the caller may look: 0; -EBUSY: another wait goes on; -EPIPE; -EAGAIN: empty. Under the lock. */
static inline int look(const struct edo_mpsc *channel, const void *who)
{
	if (channel->receiver && channel->receiver != who)
		return -EBUSY;
	if (channel->len > 0)
		return 0;
	return edo_mpsc_has_ended(channel) ? -EPIPE : -EAGAIN;
}

/* What the look came to is known: the wait goes on, with the waker, or is over. Under the lock. */
static inline void settle_wait(struct edo_mpsc *channel, int rc, const void *who, edo_waker *waker)
{
	if (rc == -EAGAIN && waker) {
		edo_waker before = channel->receiver_waker;

		channel->receiver = who;
		channel->receiver_waker = *waker;
		*waker = before;
	} else if (rc != -EBUSY && rc != -EAGAIN) {
		EDO_ASSERT(!edo_waker_is_set(&channel->receiver_waker)); /* M4 */
		channel->receiver = NULL;
	}
}

/* One item. With a waker, who (a future) waits for it when there is none. */
EDO_HOT static int receive(struct edo_mpsc *channel, void *item, const void *who, edo_waker *waker)
{
	edo_waker next = { NULL, NULL };
	void *emptied = NULL;
	int rc;

	edo_mpsc_lock(channel);
	rc = look(channel, who);
	if (rc == 0)
		take_one(channel, item, &emptied, &next);
	settle_wait(channel, rc, who, waker);
	edo_mpsc_unlock(channel);
	edo_waker_wake(&next);
	if (emptied)
		free(emptied);
	return rc;
}

/* As many as one hold of the lock may take. How many, or as receive(). */
static int receive_batch(struct edo_mpsc *channel, char *items, size_t max, const void *who,
			 edo_waker *waker)
{
	struct edo_wake_batch batch = { .count = 0 };
	void *emptied[EDO_WAKE_BATCH];
	unsigned taken = 0;
	int rc;

	edo_mpsc_lock(channel);
	rc = look(channel, who);
	while (rc == 0 && channel->len > 0 && taken < max && taken < EDO_WAKE_BATCH) {
		edo_waker next = { NULL, NULL };

		take_one(channel, items, &emptied[taken++], &next);
		items = items ? items + channel->item_size : NULL;
		if (edo_waker_is_set(&next))
			batch.wakers[batch.count++] = next;
	}
	settle_wait(channel, rc, who, waker);
	edo_mpsc_unlock(channel);
	edo_wake_batch_wake(&batch);
	for (unsigned i = 0; i < taken; i++)
		free(emptied[i]);
	return rc < 0 ? rc : (int)taken;
}

/* The first hold of the lock may wait; what is there after it is taken as well. */
static int receive_many(struct edo_mpsc *channel, edo_mpsc_recv_future *recv, edo_waker *waker)
{
	char *items = recv->edo_items_;
	size_t max = recv->edo_max_ > INT_MAX ? INT_MAX : recv->edo_max_;
	int got = receive_batch(channel, items, max, recv, waker);
	int all = got;

	while (got == EDO_WAKE_BATCH && (size_t)all < max) {
		items = items ? items + EDO_WAKE_BATCH * channel->item_size : NULL;
		got = receive_batch(channel, items, max - (size_t)all, NULL, NULL);
		if (got > 0)
			all += got;
	}
	return all;
}

/* A word before the lock: an empty channel is what a wait is for, and its waker is cloned before. */
static bool seems_empty(const struct edo_mpsc *channel)
{
	/* Relaxed: looked at again under the lock. */
	return edo_load(&channel->len, relaxed) == 0;
}

typedef int receive_fn(struct edo_mpsc *channel, edo_mpsc_recv_future *recv, edo_waker *waker);

static inline int receive_single(struct edo_mpsc *channel, edo_mpsc_recv_future *recv,
				 edo_waker *waker)
{
	return receive(channel, recv->edo_items_, recv, waker);
}

static inline int receive_or_wait(struct edo_mpsc *channel, edo_mpsc_recv_future *recv,
				  const edo_context *cx, receive_fn *take)
{
	edo_waker waker;
	int rc;

	if (!seems_empty(channel)) {
		rc = take(channel, recv, NULL);
		if (EDO_LIKELY(rc != -EAGAIN))
			return rc;
	}
	waker = edo_waker_clone(cx->waker);
	rc = take(channel, recv, &waker);
	edo_waker_drop(&waker);
	return rc;
}

__attribute__((always_inline)) static inline edo_poll poll(edo_mpsc_recv_future *recv,
							   edo_context *cx, receive_fn *take)
{
	struct edo_mpsc *channel = edo_mpsc_of_rx(recv->edo_rx_);
	int rc;

	if (!channel || !recv->edo_max_ || (!recv->edo_items_ && channel->item_size > 0))
		return recv->result = -EINVAL;
	if (!edo_coop_has_budget(cx))
		return recv->result = EDO_PENDING;
	rc = receive_or_wait(channel, recv, cx, take);
	recv->edo_is_waiting_ = rc == -EAGAIN;
	if (rc == -EAGAIN)
		return recv->result = EDO_PENDING;
	edo_coop_take(cx);
	return recv->result = rc;
}

EDO_HOT static edo_poll recv_poll(edo_future *future, edo_context *cx)
{
	return poll(edo_container_of(future, edo_mpsc_recv_future, future), cx, receive_single);
}

static edo_poll recv_many_poll(edo_future *future, edo_context *cx)
{
	return poll(edo_container_of(future, edo_mpsc_recv_future, future), cx, receive_many);
}

static void recv_drop(edo_future *future)
{
	edo_mpsc_recv_future *recv = edo_container_of(future, edo_mpsc_recv_future, future);
	struct edo_mpsc *channel = edo_mpsc_of_rx(recv->edo_rx_);
	edo_waker waker;

	if (!recv->edo_is_waiting_)
		return;
	recv->edo_is_waiting_ = false;
	edo_mpsc_lock(channel);
	EDO_ASSERT(channel->receiver == recv);
	channel->receiver = NULL;
	waker = edo_mpsc_take_receiver(channel);
	edo_mpsc_unlock(channel);
	edo_waker_drop(&waker);
}

EDO_FUTURE_OPS(recv_ops, edo_mpsc_recv_future, future, recv_poll, recv_drop);
EDO_FUTURE_OPS(recv_many_ops, edo_mpsc_recv_future, future, recv_many_poll, recv_drop);

edo_future *edo_mpsc_recv_start(edo_mpsc_recv_future *recv, edo_mpsc_rx *rx, void *item)
{
	recv->future.ops = &recv_ops;
	recv->result = EDO_PENDING;
	recv->edo_is_waiting_ = false;
	recv->edo_rx_ = rx;
	recv->edo_items_ = item;
	recv->edo_max_ = 1;
	return &recv->future;
}

edo_future *edo_mpsc_recv_many_start(edo_mpsc_recv_future *recv, edo_mpsc_rx *rx, void *items,
				     size_t max)
{
	edo_mpsc_recv_start(recv, rx, items);
	recv->future.ops = &recv_many_ops;
	recv->edo_max_ = max;
	return &recv->future;
}

int edo_mpsc_try_recv(edo_mpsc_rx *rx, void *item)
{
	struct edo_mpsc *channel = edo_mpsc_of_rx(rx);

	if (!channel || (!item && channel->item_size > 0))
		return -EINVAL;
	return receive(channel, item, NULL, NULL);
}
