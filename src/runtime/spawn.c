/* Spawning: a future becomes a task of a runtime. */
#include "runtime.h"
#include <errno.h>

void edo_runtime_submit(struct edo_runtime *runtime, struct edo_task *task, edo_task **handle)
{
	/* Before it is submitted: afterwards another thread may run and end it. */
	if (handle)
		*handle = task;
	else
		edo_task_detach(task);
	edo_scheduler_submit(&runtime->scheduler.scheduler, task);
}

int edo_spawn(edo_runtime *runtime, edo_future *future, edo_task **task)
{
	struct edo_task *created;
	int rc;

	runtime = edo_runtime_or_current(runtime);
	if (!runtime || !future || !future->ops)
		return -EINVAL;
	if (future->ops->size < sizeof *future || future->ops->align > 16)
		return -EINVAL;
	rc = edo_task_create(&runtime->scheduler.scheduler, future, future->ops->size, NULL, NULL,
			     &created);
	if (rc == 0)
		edo_runtime_submit(runtime, created, task);
	return rc;
}

int edo_spawn_detached(edo_future *future)
{
	return edo_spawn(NULL, future, NULL);
}
