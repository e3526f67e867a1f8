/* Inside the scheduler room: a queue of tasks. No lock of its own. */
#ifndef EDO_SCHEDULER_QUEUE_H
#define EDO_SCHEDULER_QUEUE_H

#include "scheduler.h"

static inline void edo_queue_push(struct edo_run_queue *queue, struct edo_task *task)
{
	task->queue_next = NULL;
	if (queue->last)
		queue->last->queue_next = task;
	else
		queue->first = task;
	queue->last = task;
}

static inline struct edo_task *edo_queue_pop(struct edo_run_queue *queue)
{
	struct edo_task *task = queue->first;

	if (task) {
		queue->first = task->queue_next;
		if (!queue->first)
			queue->last = NULL;
	}
	return task;
}

/* All of `from` goes behind `to`. */
static inline void edo_queue_append(struct edo_run_queue *to, struct edo_run_queue *from)
{
	if (!from->first)
		return;
	if (to->last)
		to->last->queue_next = from->first;
	else
		to->first = from->first;
	to->last = from->last;
	*from = (struct edo_run_queue){ 0 };
}

static inline bool edo_queue_is_empty(const struct edo_run_queue *queue)
{
	return queue->first == NULL;
}

#endif
