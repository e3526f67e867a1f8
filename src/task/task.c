/*
 * The life of a task: created and ended; polled in run.h. What each step may do is said by the state
 * word (state.h); this does it. No lock of the runtime is held while a future is polled or dropped,
 * a waker woken, or a reference dropped (T2).
 */
#include "task.h"
#include "cell.h"
#include "state.h"
#include <errno.h>
#include <string.h>

void edo_task_free(struct edo_task *task)
{
	edo_cell_free(task->scheduler->pool, task);
}

void edo_task_drop_references(struct edo_task *task, unsigned n)
{
	edo_lock_assert_none();
	if (edo_state_drop_references(&task->state, n))
		edo_task_free(task);
}

void edo_task_drop_reference(struct edo_task *task)
{
	edo_task_drop_references(task, 1);
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
		edo_task_free(task); /* without dropping the future: it is still the caller's */
		return rc;
	}
	*created = task;
	return 0;
}

static void wake_joiner(struct edo_task *task)
{
	edo_waker_wake_by_ref(&task->join_waker);
	if (!(edo_state_release_join_waker(&task->state) & EDO_STATE_JOIN_INTEREST))
		edo_waker_drop(&task->join_waker); /* the handle went meanwhile */
}

/*
 * Ends a task that is RUNNING in our hands: drops its core (K4: here and only here), publishes the result,
 * and gives up the list's reference and `references` of the caller's.
 */
static void end(struct edo_task *task, int result, unsigned references)
{
	edo_lock_assert_none();
	edo_future_drop(edo_task_core(task));
	task->result = result;
	if (edo_state_complete(&task->state) & EDO_STATE_JOIN_WAKER)
		wake_joiner(task);
	if (edo_owned_remove(&task->scheduler->owned, task))
		references++;
	if (references > 0)
		edo_task_drop_references(task, references);
}

void edo_task_end(struct edo_task *task, int result)
{
	end(task, result, 1);
}

bool edo_task_end_idle(struct edo_task *task)
{
	if (!edo_state_shut_down(&task->state))
		return false;
	end(task, -ECANCELED, 0);
	return true;
}

void edo_task_abort(struct edo_task *task)
{
	if (!task)
		return;
	if (edo_state_cancel(&task->state) == EDO_WAKE_SUBMIT)
		task->scheduler->ops->schedule(task->scheduler, task);
}

bool edo_task_is_finished(const struct edo_task *task)
{
	return !task || edo_state_is_complete(&task->state);
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
