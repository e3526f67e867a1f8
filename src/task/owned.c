/*
 * All tasks of a runtime that have not ended: what shutdown goes through (S3). A ring; the list holds
 * one reference of each task in it. Nothing of a task is run or dropped under its lock (T2, p69).
 */
#include "task.h"
#include "state.h"
#include <errno.h>

static void link_last(struct edo_owned_tasks *owned, struct edo_task *task)
{
	struct edo_task *first = owned->first;

	if (!first) {
		task->owned_next = task->owned_prev = task;
		owned->first = task;
		return;
	}
	task->owned_next = first;
	task->owned_prev = first->owned_prev;
	first->owned_prev->owned_next = task;
	first->owned_prev = task;
}

static void unlink_task(struct edo_owned_tasks *owned, struct edo_task *task)
{
	if (owned->first == task)
		owned->first = task->owned_next == task ? NULL : task->owned_next;
	task->owned_next->owned_prev = task->owned_prev;
	task->owned_prev->owned_next = task->owned_next;
	task->owned_next = task->owned_prev = NULL;
}

int edo_owned_add(struct edo_owned_tasks *owned, struct edo_task *task)
{
	bool closed;

	edo_lock_acquire(&owned->lock, EDO_RANK_OWNED);
	closed = owned->closed;
	if (!closed) {
		link_last(owned, task);
		owned->count++;
	}
	edo_lock_release(&owned->lock, EDO_RANK_OWNED);
	return closed ? -ESHUTDOWN : 0;
}

bool edo_owned_remove(struct edo_owned_tasks *owned, struct edo_task *task)
{
	bool was_in;

	edo_lock_acquire(&owned->lock, EDO_RANK_OWNED);
	was_in = task->owned_next != NULL;
	if (was_in) {
		unlink_task(owned, task);
		owned->count--;
	}
	edo_lock_release(&owned->lock, EDO_RANK_OWNED);
	return was_in;
}

size_t edo_owned_count(struct edo_owned_tasks *owned)
{
	size_t count;

	edo_lock_acquire(&owned->lock, EDO_RANK_OWNED);
	count = owned->count;
	edo_lock_release(&owned->lock, EDO_RANK_OWNED);
	return count;
}

/* The first task, which becomes the last, with a reference of the caller's; NULL: none is left. */
static struct edo_task *rotate(struct edo_owned_tasks *owned)
{
	struct edo_task *task;

	edo_lock_acquire(&owned->lock, EDO_RANK_OWNED);
	task = owned->first;
	if (task) {
		owned->first = task->owned_next;
		edo_state_add_reference(&task->state);
	}
	edo_lock_release(&owned->lock, EDO_RANK_OWNED);
	return task;
}

/* Goes round once; what is spawned meanwhile comes behind. */
void edo_owned_visit(struct edo_owned_tasks *owned,
		     void (*visit)(struct edo_task *task, void *context), void *context)
{
	for (size_t left = edo_owned_count(owned); left > 0; left--) {
		struct edo_task *task = rotate(owned);

		if (!task)
			return;
		visit(task, context);
		edo_task_drop_reference(task);
	}
}

static size_t close_list(struct edo_owned_tasks *owned)
{
	size_t count;

	edo_lock_acquire(&owned->lock, EDO_RANK_OWNED);
	owned->closed = true;
	count = owned->count;
	edo_lock_release(&owned->lock, EDO_RANK_OWNED);
	return count;
}

void edo_owned_shut_down(struct edo_owned_tasks *owned)
{
	/* Ended tasks leave the ring, so one round of its first length meets each that stays. */
	for (size_t left = close_list(owned); left > 0; left--) {
		struct edo_task *task = rotate(owned);

		if (!task)
			return;
		if (edo_task_runs_to_end(task) || !edo_task_end_idle(task))
			edo_task_abort(task);
		edo_task_drop_reference(task);
	}
}

/* Links an ended task, which is in no list any more, with the caller's reference to it. */
static void keep(struct edo_task **kept, struct edo_task *task)
{
	task->owned_prev = *kept;
	*kept = task;
}

static void drop_kept(struct edo_task *kept)
{
	while (kept) {
		struct edo_task *task = kept;

		kept = task->owned_prev;
		task->owned_prev = NULL;
		edo_task_drop_reference(task);
	}
}

/* The cells stay until all waits are dropped: one task may wait for what lies in another's argument. */
size_t edo_owned_give_up(struct edo_owned_tasks *owned)
{
	struct edo_task *kept = NULL;
	size_t given_up = 0;

	for (size_t left = close_list(owned); left > 0; left--) {
		struct edo_task *task = rotate(owned);

		if (!task)
			break;
		if (edo_task_end_idle(task)) {
			keep(&kept, task);
			given_up++;
		} else {
			edo_task_drop_reference(task);
		}
	}
	drop_kept(kept);
	return given_up;
}
