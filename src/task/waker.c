/*
 * A task's waker: its header, and one reference in the state word. Callable from any thread. The one in a
 * poll's context is borrowed: it counts as no reference and is never dropped or consumed.
 */
#include "base/hot.h"
#include "cell.h"
#include "state.h"
#include "task.h"

static void submit(struct edo_task *task)
{
	task->scheduler->ops->schedule(task->scheduler, task);
}

EDO_HOT static edo_waker clone_waker(void *data)
{
	struct edo_task *task = data;

	edo_state_add_reference(&task->state);
	return (edo_waker){ task, &edo_task_waker_ops };
}

EDO_HOT static void wake(void *data)
{
	struct edo_task *task = data;

	edo_lock_assert_none();
	switch (edo_state_wake(&task->state)) {
	case EDO_WAKE_SUBMIT:
		submit(task);
		return;
	case EDO_WAKE_FREE:
		edo_cell_free(task->scheduler->pool, task);
		return;
	case EDO_WAKE_NOTHING:
		return;
	}
}

static void wake_by_ref(void *data)
{
	struct edo_task *task = data;

	edo_lock_assert_none();
	if (edo_state_wake_by_ref(&task->state) == EDO_WAKE_SUBMIT)
		submit(task);
}

EDO_HOT static void drop(void *data)
{
	edo_task_drop_reference(data);
}

const edo_waker_ops edo_task_waker_ops = { clone_waker, wake, wake_by_ref, drop };

struct edo_task *edo_task_of_context(const edo_context *cx)
{
	return cx->waker->ops == &edo_task_waker_ops ? cx->waker->data : NULL;
}
