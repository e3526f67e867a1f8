/*
 * Inside: a channel of many senders and one receiver. Both ends are names for the same struct.
 *
 * The lock guards everything that is not said to be constant. What it keeps true:
 *
 *  M1  free + len + granted == capacity (SIZE_MAX without a bound). A place is free, holds an item, or has been
 *      granted: to a permit, or to a waiting sender that has not yet looked.
 *  M2  Somebody stands in line => free == 0. So who comes later cannot overtake: a place is free only with nobody
 *      in line, and given back it goes to the first in line. Nobody joins a line that is closed; who is in it then
 *      is refused, unless a place comes sooner.
 *  M3  The end: (closed, or no senders) and len == 0 and granted == 0. Whoever brings it about wakes the
 *      receiver. It stays: then nobody can put anything in any more.
 *  M4  The receiver's waker is set => len == 0, and the end has not come. So a channel that is not empty costs
 *      no wakes.
 *  M5  The memory goes with the last of: senders, granted places, the receiver's hold. A waiting sender has
 *      no hold of its own, for it waits by a sender that outlives its wait.
 *
 * Items lie in a ring (bounded) or in a chain of blocks; `put` and `take` are where the next item goes and comes
 * from, and only at the end of a ring or block does it matter which it is. An empty channel begins anew
 * at the start of its ring or block, so that few items use few cache lines.
 */
#ifndef EDO_LEAF_SYNC_MPSC_H
#define EDO_LEAF_SYNC_MPSC_H

#include "sync.h"

struct edo_mpsc_block;

struct edo_mpsc {
	struct edo_lock lock;
	bool is_closed;    /* nobody begins to send any more, or stands in line */
	bool has_receiver; /* false: nothing is put in, by permits neither */
	bool is_held_by_receiver;
	size_t item_size; /* constant */
	size_t len;       /* read without the lock too, as a hint */
	size_t free;
	size_t granted;
	char *put, *put_end;
	char *take, *take_end, *take_start;
	const void *receiver; /* the receive that waits */
	edo_waker receiver_waker;
	edo_list_node waiting;  /* senders in line for a place */
	edo_list_node watching; /* senders that wait for the receiver to go */
	size_t senders;
	size_t capacity; /* constant */
	edo_item_drop_fn *drop;
	void *drop_context;
	/* The chain, first to last, and blocks at hand; all NULL in a ring. */
	struct edo_mpsc_block *first, *last, *spare;
	unsigned spares;
	_Alignas(EDO_ITEM_ALIGN) char ring[];
};

static inline struct edo_mpsc *edo_mpsc_of_tx(const edo_mpsc_tx *tx)
{
	return (struct edo_mpsc *)(uintptr_t)tx;
}

static inline struct edo_mpsc *edo_mpsc_of_rx(const edo_mpsc_rx *rx)
{
	return (struct edo_mpsc *)(uintptr_t)rx;
}

static inline void edo_mpsc_lock(struct edo_mpsc *channel)
{
	edo_lock_acquire(&channel->lock, EDO_RANK_CHANNEL);
}

static inline void edo_mpsc_unlock(struct edo_mpsc *channel)
{
	EDO_ASSERT(channel->free + channel->len + channel->granted == channel->capacity); /* M1 */
	edo_lock_release(&channel->lock, EDO_RANK_CHANNEL);
}

/* A new channel with `ring_size` bytes behind it; NULL: no memory. */
struct edo_mpsc *edo_mpsc_new(size_t item_size, size_t capacity, size_t ring_size);
/* Its two ends. */
void edo_mpsc_hand_out(struct edo_mpsc *channel, edo_mpsc_tx **tx, edo_mpsc_rx **rx);
/* All that it has, items excepted. */
void edo_mpsc_free(struct edo_mpsc *channel);

/* ---- unbounded: blocks (mpsc_unbounded.c) ---- */

/* The chain's end grows by a spare block. False: there is none. Under the lock. */
bool edo_mpsc_grow(struct edo_mpsc *channel);
/* Takes a block from the heap, without the lock, and puts it at hand. False: no memory. */
bool edo_mpsc_bring_block(struct edo_mpsc *channel);
/* The first block has been emptied: on to the next one. A block that is to be freed, or NULL. */
void *edo_mpsc_leave_block(struct edo_mpsc *channel);
void edo_mpsc_free_blocks(struct edo_mpsc *channel);

/* ---- items; all under the lock ---- */

/* Relaxed: a hint for those without the lock, which whoever needs to be sure takes. */
static inline void edo_mpsc_set_len(struct edo_mpsc *channel, size_t len)
{
	edo_store(&channel->len, len, relaxed);
}

/* In a place that the caller has taken. False: a block is missing. */
static inline bool edo_mpsc_put(struct edo_mpsc *channel, const void *item)
{
	if (channel->put == channel->put_end) {
		if (!channel->first)
			channel->put = channel->ring;
		else if (!edo_mpsc_grow(channel))
			return false;
	}
	edo_item_copy(channel->put, item, channel->item_size);
	channel->put += channel->item_size;
	edo_mpsc_set_len(channel, channel->len + 1);
	return true;
}

/* The first item; there is one. *emptied is to be freed when the lock is free; NULL: nothing. */
static inline void *edo_mpsc_front(struct edo_mpsc *channel, void **emptied)
{
	*emptied = NULL;
	if (channel->take == channel->take_end) {
		if (!channel->first)
			channel->take = channel->ring;
		else
			*emptied = edo_mpsc_leave_block(channel);
	}
	return channel->take;
}

/* What edo_mpsc_front() gave has been copied. */
static inline void edo_mpsc_remove_front(struct edo_mpsc *channel)
{
	size_t left = channel->len - 1;

	channel->take += channel->item_size;
	edo_mpsc_set_len(channel, left);
	if (left == 0)
		channel->put = channel->take = channel->take_start;
}

/* ---- places; all under the lock ---- */

/* A place that somebody has had goes to the first in line, whose waker *next then is, or is free (M2). */
static inline void edo_mpsc_give_place(struct edo_mpsc *channel, edo_waker *next)
{
	if (edo_wait_end_first(&channel->waiting, EDO_WAIT_GRANTED, next))
		channel->granted++;
	else
		channel->free++;
}

/*
 * A place for somebody who wants to send: 0, it is the caller's to use; -EPIPE; -EAGAIN: there is none, and with
 * a waker the wait stands in line. `wait` is NULL for who would not wait.
 */
int edo_mpsc_take_place(struct edo_mpsc *channel, edo_sync_wait *wait, edo_waker *waker);
/* The drop of a wait for a place. Takes the lock. */
void edo_mpsc_drop_wait(struct edo_mpsc *channel, edo_sync_wait *wait);

/* ---- the end; all under the lock ---- */

static inline bool edo_mpsc_has_ended(const struct edo_mpsc *channel)
{
	return (channel->is_closed || channel->senders == 0) && channel->len == 0 &&
	       channel->granted == 0;
}

/* Whom to wake because there is an item, or the end has come. */
static inline edo_waker edo_mpsc_take_receiver(struct edo_mpsc *channel)
{
	edo_waker waker = channel->receiver_waker;

	channel->receiver_waker = (edo_waker){ NULL, NULL };
	return waker;
}

/* M3: something that held the end up has gone. */
static inline edo_waker edo_mpsc_receiver_at_end(struct edo_mpsc *channel)
{
	edo_waker none = { NULL, NULL };

	return edo_mpsc_has_ended(channel) ? edo_mpsc_take_receiver(channel) : none;
}

/* M5: something that held the memory has gone. Unlocks, and frees it if that was the last. */
void edo_mpsc_unlock_or_free(struct edo_mpsc *channel);

#endif
