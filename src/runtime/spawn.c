/* Spawning: a future becomes a task of a runtime. */
#include "runtime.h"
#include <errno.h>

static void hand_out(struct edo_task *task, edo_task **handle)
{
	if (handle)
		*handle = task;
	else
		edo_task_detach(task);
}

int edo_runtime_spawn(struct edo_runtime *runtime, const edo_future *future, size_t core_size,
		      edo_core_prepare *prepare, const void *context, edo_task **handle)
{
	struct edo_scheduler *scheduler = &runtime->scheduler.scheduler;
	struct edo_task *task;
	int rc = edo_task_create(scheduler, future, core_size, prepare, context, &task);

	if (rc < 0)
		return rc;
	/* Before it is submitted: afterwards another thread may run and end it. */
	hand_out(task, handle);
	edo_scheduler_submit(scheduler, task);
	return 0;
}

int edo_spawn(edo_runtime *runtime, edo_future *future, edo_task **task)
{
	runtime = edo_runtime_or_current(runtime);
	if (!runtime || !future || !future->ops)
		return -EINVAL;
	if (future->ops->size < sizeof *future || future->ops->align > 16)
		return -EINVAL;
	return edo_runtime_spawn(runtime, future, future->ops->size, NULL, NULL, task);
}

int edo_spawn_detached(edo_future *future)
{
	return edo_spawn(NULL, future, NULL);
}
