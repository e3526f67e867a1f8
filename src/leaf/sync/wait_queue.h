/*
 * A line of waiters, first come, first served; linked through the futures that wait. The lock of whatever
 * is waited for guards the line and all fields of those in it, but for one:
 *
 *   edo_is_begun_   the waiting task's own: it has stood in line and has not yet taken note of what came of it.
 *                   While it is false the line knows nothing of the waiter, and nobody needs the lock.
 *
 * A waiter goes through QUEUED once for each time that it joins. It leaves the line by an outcome that somebody
 * else gives it, with its waker taken out to be woken; or by its own drop.
 */
#ifndef EDO_LEAF_SYNC_WAIT_QUEUE_H
#define EDO_LEAF_SYNC_WAIT_QUEUE_H

#include "base/assert.h"
#include "base/list.h"
#include "base/lock.h"
#include <edo/sync.h>

enum edo_wait_outcome {
	EDO_WAIT_NONE,    /* has not stood in line, or has taken note */
	EDO_WAIT_QUEUED,  /* stands in line */
	EDO_WAIT_GRANTED, /* has been given what it waits for */
	EDO_WAIT_REFUSED, /* nobody will be given it any more */
};

static inline void edo_wait_init(edo_sync_wait *wait)
{
	*wait = (edo_sync_wait){ .edo_outcome_ = EDO_WAIT_NONE };
}

/*
 * Stands in line, at the end; one that does already stays where it is. *waker is moved in; what it holds
 * afterwards is to be dropped when the lock is free.
 */
static inline void edo_wait_join(edo_list_node *line, edo_sync_wait *wait, edo_waker *waker)
{
	edo_waker before = wait->edo_waker_;

	wait->edo_waker_ = *waker;
	*waker = before;
	if (wait->edo_outcome_ == EDO_WAIT_QUEUED)
		return;
	wait->edo_outcome_ = EDO_WAIT_QUEUED;
	wait->edo_is_begun_ = true;
	edo_list_push_back(line, &wait->edo_node_);
}

static inline edo_waker edo_wait_take_waker(edo_sync_wait *wait)
{
	edo_waker waker = wait->edo_waker_;

	wait->edo_waker_ = (edo_waker){ NULL, NULL };
	return waker;
}

/* Gives the first in line its outcome. Its waker, to be woken when the lock is free; false: nobody waits. */
static inline bool edo_wait_end_first(edo_list_node *line, enum edo_wait_outcome outcome,
				      edo_waker *waker)
{
	edo_list_node *node = edo_list_pop_front(line);
	edo_sync_wait *wait;

	if (!node)
		return false;
	wait = edo_container_of(node, edo_sync_wait, edo_node_);
	EDO_ASSERT(wait->edo_outcome_ == EDO_WAIT_QUEUED);
	wait->edo_outcome_ = outcome;
	*waker = edo_wait_take_waker(wait);
	return true;
}

/* The waiting task takes note of its outcome, QUEUED excepted. */
static inline void edo_wait_take_note(edo_sync_wait *wait)
{
	EDO_ASSERT(wait->edo_outcome_ != EDO_WAIT_QUEUED);
	wait->edo_outcome_ = EDO_WAIT_NONE;
	wait->edo_is_begun_ = false;
}

/*
 * For a drop, of one that has begun: leaves the line if it is in it. What came of the wait until then: GRANTED
 * must be passed on. *waker is to be dropped when the lock is free.
 */
static inline enum edo_wait_outcome edo_wait_leave(edo_sync_wait *wait, edo_waker *waker)
{
	enum edo_wait_outcome outcome = (enum edo_wait_outcome)wait->edo_outcome_;

	if (outcome == EDO_WAIT_QUEUED)
		edo_list_remove(&wait->edo_node_);
	*waker = edo_wait_take_waker(wait);
	wait->edo_outcome_ = EDO_WAIT_NONE;
	wait->edo_is_begun_ = false;
	return outcome;
}

/* ---- many at once ---- */

enum { EDO_WAKE_BATCH = 32 };

/* Wakers taken out under the lock, as many as fit; and woken without it. */
struct edo_wake_batch {
	unsigned count;
	edo_waker wakers[EDO_WAKE_BATCH];
};

static inline bool edo_wake_batch_is_full(const struct edo_wake_batch *batch)
{
	return batch->count == EDO_WAKE_BATCH;
}

/* Gives all in line the outcome, while there is room for their wakers. */
static inline void edo_wait_end_all(edo_list_node *line, enum edo_wait_outcome outcome,
				    struct edo_wake_batch *batch)
{
	while (!edo_wake_batch_is_full(batch) &&
	       edo_wait_end_first(line, outcome, &batch->wakers[batch->count]))
		batch->count++;
}

/* With no lock held. The batch is empty afterwards. */
static inline void edo_wake_batch_wake(struct edo_wake_batch *batch)
{
	for (unsigned i = 0; i < batch->count; i++)
		edo_waker_wake(&batch->wakers[i]);
	batch->count = 0;
}

#endif
