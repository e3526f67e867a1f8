/*
 * The life of a task: created, polled, ended. What each step may do is said by the state word
 * (state.h); this file does it. No lock of the runtime is held while a future is polled or dropped,
 * a waker woken, or a reference dropped (T2).
 */
#include "task.h"
#include "cell.h"
#include "state.h"
#include "waker.h"
#include <errno.h>
#include <string.h>

static void free_task(struct edo_task *task)
{
	edo_cell_free(task->scheduler->pool, task);
}

void edo_task_drop_reference(struct edo_task *task)
{
	edo_lock_assert_none();
	if (edo_state_drop_reference(&task->state))
		free_task(task);
}

int edo_task_create(struct edo_scheduler *scheduler, const edo_future *future, size_t core_size,
		    edo_core_prepare *prepare, const void *context, struct edo_task **created)
{
	struct edo_task *task = edo_cell_allocate(scheduler->pool, core_size);
	uint16_t size_class;
	int rc;

	if (!task)
		return -ENOMEM;
	size_class = task->size_class;
	*task = (struct edo_task){ .state = EDO_STATE_INITIAL,
				   .scheduler = scheduler,
				   .size_class = size_class };
	memcpy(edo_task_core(task), future, future->ops->size);
	if (prepare)
		prepare(edo_task_core(task), context);
	rc = edo_owned_add(&scheduler->owned, task);
	if (rc < 0) {
		free_task(task); /* without dropping the future: it is still the caller's */
		return rc;
	}
	*created = task;
	return 0;
}

/* RUNNING is ours and the core is dropped: publishes the result and lets go of the task. */
static void complete(struct edo_task *task, int result)
{
	uint64_t before;

	task->result = result;
	before = edo_state_complete(&task->state);
	if (before & EDO_STATE_JOIN_WAKER) {
		edo_waker_wake_by_ref(&task->join_waker);
		if (!(edo_state_release_join_waker(&task->state) & EDO_STATE_JOIN_INTEREST))
			edo_waker_drop(&task->join_waker); /* the handle went meanwhile */
	}
	if (edo_owned_remove(&task->scheduler->owned, task))
		edo_task_drop_reference(task);
}

/* Ends a task that is RUNNING in our hands. K4: the core is dropped here and only here. */
static void end(struct edo_task *task, int result)
{
	edo_future *core = edo_task_core(task);

	edo_lock_assert_none();
	edo_future_drop(core);
	complete(task, result);
}

static bool runs_to_end(const struct edo_task *task)
{
	return edo_task_core(task)->ops->flags & EDO_FUTURE_RUNS_TO_END;
}

static void end_and_release(struct edo_task *task, int result)
{
	end(task, result);
	edo_task_drop_reference(task); /* the notification's */
}

static void hand_back(struct edo_task *task, enum edo_defer reason)
{
	struct edo_scheduler *scheduler = task->scheduler;

	if (reason == EDO_DEFER_NOT)
		scheduler->ops->schedule(scheduler, task);
	else
		scheduler->ops->defer(scheduler, task, reason);
}

static void poll_task(struct edo_task *task)
{
	edo_waker waker = edo_task_waker_borrowed(task);
	edo_context cx = { .waker = &waker,
			   .edo_driver_ = task->scheduler->driver,
			   .edo_budget_ = EDO_COOP_BUDGET };
	edo_poll polled = edo_future_poll(edo_task_core(task), &cx);

	if (polled != EDO_PENDING) {
		end_and_release(task, polled);
		return;
	}
	switch (edo_state_end_poll(&task->state, runs_to_end(task))) {
	case EDO_END_IDLE:
		return;
	case EDO_END_NOTIFIED:
		hand_back(task, (enum edo_defer)cx.edo_reserved_);
		return;
	case EDO_END_CANCELLED:
		end_and_release(task, -ECANCELED);
		return;
	case EDO_END_FREE:
		free_task(task);
		return;
	}
}

void edo_task_run(struct edo_task *task)
{
	switch (edo_state_start_poll(&task->state)) {
	case EDO_START_POLL:
		poll_task(task);
		return;
	case EDO_START_CANCELLED:
		if (runs_to_end(task))
			poll_task(task);
		else
			end_and_release(task, -ECANCELED);
		return;
	case EDO_START_FREE:
		free_task(task);
		return;
	case EDO_START_NOTHING:
		return;
	}
}

bool edo_task_end_idle(struct edo_task *task)
{
	if (!edo_state_shut_down(&task->state))
		return false;
	end(task, -ECANCELED);
	return true;
}

bool edo_task_is_cancelled(const struct edo_task *task)
{
	return edo_state_is_cancelled(&task->state);
}

void edo_task_abort(struct edo_task *task)
{
	if (edo_state_cancel(&task->state) == EDO_WAKE_SUBMIT)
		task->scheduler->ops->schedule(task->scheduler, task);
}

bool edo_task_is_finished(const struct edo_task *task)
{
	return edo_state_is_complete(&task->state);
}

void *edo_task_output(struct edo_task *task)
{
	return edo_task_core(task);
}

void edo_task_detach(struct edo_task *task)
{
	if (!task)
		return;
	if (edo_state_drop_join_interest(&task->state))
		edo_waker_drop(&task->join_waker);
	edo_task_drop_reference(task);
}
