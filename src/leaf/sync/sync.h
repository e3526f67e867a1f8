/*
 * The door of channels and locks. Ground rules of every thing in this room:
 *
 *  - Each has one lock of rank EDO_RANK_CHANNEL, held for a few lines, under which nothing else is acquired
 *    and no memory is taken or given back.
 *  - No waker is cloned, woken or dropped under it, nor a user's function called (T2): a poll clones before it
 *    locks; who ends a wait copies the waker out under the lock and wakes it afterwards; many at once in
 *    batches (wait_queue.h), with the lock free in between.
 *  - Who waits is linked through its own future (edo_sync_wait): a wait allocates nothing, and the drop of the
 *    future is complete when it has returned.
 *  - What a wake hands over (a place, a permit) belongs to the waiter from then on; one that is dropped
 *    before it has looked passes it on.
 */
#ifndef EDO_LEAF_SYNC_SYNC_H
#define EDO_LEAF_SYNC_SYNC_H

#include "wait_queue.h"
#include <edo/sync.h>
#include <stdint.h>
#include <string.h>

/* What a channel's memory is aligned to, by malloc, and so the items in it. */
enum { EDO_ITEM_ALIGN = 16 };
_Static_assert(_Alignof(max_align_t) >= EDO_ITEM_ALIGN, "malloc aligns to less than items need");

/* Small items are the usual ones, and a call costs more than their copy. No address: they have no size. */
static inline void edo_item_copy(void *to, const void *from, size_t size)
{
	if (!to || !from)
		return;
	if (EDO_LIKELY(size == sizeof(uint64_t)))
		memcpy(to, from, sizeof(uint64_t));
	else if (size == sizeof(uint32_t))
		memcpy(to, from, sizeof(uint32_t));
	else
		memcpy(to, from, size);
}

#endif
