/*
 * Polling a task: part of the task room's door (task.h), inlined into the schedulers' loops. A poll may
 * switch to another stack and back, after which every return to a caller is mispredicted, so between
 * the loop and the switch there should be no call that could be left out.
 *
 * No lock of the runtime is held while a future is polled (T2).
 */
#ifndef EDO_TASK_RUN_H
#define EDO_TASK_RUN_H

#include "state.h"
#include <errno.h>

extern const edo_waker_ops edo_task_waker_ops;

/* Ends a task that is RUNNING in the caller's hands, and uses up its reference. */
void edo_task_end(struct edo_task *task, int result);
/* The last reference is gone. */
void edo_task_free(struct edo_task *task);

static inline bool edo_task_runs_to_end(const struct edo_task *task)
{
	return edo_task_core(task)->ops->flags & EDO_FUTURE_RUNS_TO_END;
}

/* A task that was woken while it ran goes back with the reference at hand. */
static inline void edo_task_hand_back(struct edo_task *task, enum edo_defer reason)
{
	struct edo_scheduler *scheduler = task->scheduler;

	if (reason == EDO_DEFER_NOT)
		scheduler->ops->schedule(scheduler, task);
	else
		scheduler->ops->defer(scheduler, task, reason);
}

static inline void edo_task_after_poll(struct edo_task *task, enum edo_defer reason)
{
	switch (edo_state_end_poll(&task->state, edo_task_runs_to_end(task))) {
	case EDO_END_IDLE:
		return;
	case EDO_END_NOTIFIED:
		edo_task_hand_back(task, reason);
		return;
	case EDO_END_CANCELLED:
		edo_task_end(task, -ECANCELED);
		return;
	case EDO_END_FREE:
		edo_task_free(task);
		return;
	}
}

static inline void edo_task_poll(struct edo_task *task)
{
	edo_waker waker = { task, &edo_task_waker_ops };
	edo_context cx = { .waker = &waker,
			   .edo_driver_ = task->scheduler->driver,
			   .edo_budget_ = EDO_COOP_BUDGET };
	edo_poll polled = edo_future_poll(edo_task_core(task), &cx);

	if (polled != EDO_PENDING)
		edo_task_end(task, polled);
	else
		edo_task_after_poll(task, (enum edo_defer)cx.edo_reserved_);
}

/* Polls a task taken from a queue; consumes the notification's reference. */
static inline void edo_task_run(struct edo_task *task)
{
	switch (edo_state_start_poll(&task->state)) {
	case EDO_START_POLL:
		edo_task_poll(task);
		return;
	case EDO_START_CANCELLED:
		if (edo_task_runs_to_end(task))
			edo_task_poll(task);
		else
			edo_task_end(task, -ECANCELED);
		return;
	case EDO_START_FREE:
		edo_task_free(task);
		return;
	case EDO_START_NOTHING:
		return;
	}
}

/* Whether it was told to end. For a fiber, between its polls. */
static inline bool edo_task_is_cancelled(const struct edo_task *task)
{
	return edo_state_is_cancelled(&task->state);
}

#endif
