/* Waiting for a task's end, from anywhere. */
#include "fiber/fiber.h"
#include <errno.h>

/*
 * A plain thread drives the task's own runtime, entered or not: otherwise nobody might. A task that has
 * ended needs no runtime any more, which may be gone.
 */
int edo_task_wait(edo_task *task, int *result)
{
	edo_task_wait_future wait;
	int rc = 0;

	if (!task)
		return -EINVAL;
	edo_task_wait_start(&wait, task);
	if (!edo_fiber_context() && edo_task_is_finished(task))
		wait.result = task->result;
	else
		rc = edo_await_on(edo_runtime_of_scheduler(task->scheduler), &wait.future);
	if (rc == 0 && result)
		*result = wait.result;
	return rc;
}

int edo_task_join(edo_task *task, int *result)
{
	int rc = edo_task_wait(task, result);

	if (rc == 0)
		edo_task_detach(task);
	return rc;
}
