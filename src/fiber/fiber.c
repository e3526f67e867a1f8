/*
 * A fiber as a future: a poll switches to its stack, a wait switches back.
 *
 * K4: it runs to its end. Cancelled, it is polled like any other task, and every await in it fails; it
 * is dropped before its end only when it was given up at a shutdown's time limit: then the wait in which
 * it hangs is dropped, so that nothing points into its stack any more. The stack stays as it is until the
 * drivers have gone: what it was lent to by others, and timers that no wait had, may still be in them (S3).
 */
#include "base/hot.h"
#include "base/thread.h"
#include "private.h"
#include <errno.h>
#include <string.h>

static EDO_THREAD_LOCAL struct edo_fiber *current_fiber;

__attribute__((noinline)) struct edo_fiber *edo_fiber_current(void)
{
	__asm__ __volatile__("");
	return current_fiber;
}

edo_context *edo_fiber_context(void)
{
	struct edo_fiber *fiber = edo_fiber_current();

	return fiber ? fiber->cx : NULL;
}

static struct edo_fiber *of(edo_future *future)
{
	return edo_container_of(future, struct edo_fiber, future);
}

/* The bottom of every fiber's stack. */
static void run_to_end(void *argument)
{
	struct edo_fiber *fiber = argument;
	int result;

	edo_annotate_arrive(&fiber->side, fiber->thread_side);
	result = fiber->fn(fiber->arg);
	edo_groups_close(fiber);
	/* The one int that a task cannot end with: it would read as "not yet". */
	fiber->result = result == EDO_PENDING ? -ERANGE : result;
	fiber->has_ended = true;
	edo_annotate_leave(&fiber->side, fiber->thread_side, true);
	edo_switch(&fiber->sp, fiber->thread_sp);
}

/* errno is changed on the worker's side only, where no compiler has its address from another thread. */
static void switch_to(struct edo_fiber *fiber)
{
	struct edo_annotated_side thread_side = { 0 };
	int outer_errno = errno;

	/* cppcheck-suppress autoVariables; the fiber uses it only while this frame is there */
	fiber->thread_side = &thread_side;
	errno = fiber->saved_errno;
	current_fiber = fiber;
	edo_annotate_leave(&thread_side, &fiber->side, false);
	edo_switch(&fiber->thread_sp, fiber->sp);
	edo_annotate_arrive(&thread_side, &fiber->side);
	current_fiber = NULL;
	fiber->saved_errno = errno;
	errno = outer_errno;
}

EDO_HOT static edo_poll fiber_poll(edo_future *future, edo_context *cx)
{
	struct edo_fiber *fiber = of(future);

	fiber->cx = cx;
	switch_to(fiber);
	return fiber->has_ended ? fiber->result : EDO_PENDING;
}

/*
 * In this order, so that who waits for a group can rely on it: nothing of the child runs any more, its
 * stack is given back, then its argument, then it is no member.
 */
static void fiber_drop(edo_future *future)
{
	struct edo_fiber *fiber = of(future);
	struct edo_runtime *runtime = edo_runtime_of_scheduler(edo_task_of_core(future)->scheduler);

	if (fiber->awaiting)
		edo_future_drop(fiber->awaiting);
	edo_limit_drop(&fiber->limit);
	edo_groups_abandon(fiber);
	edo_annotate_destroy(&fiber->side);
	if (fiber->has_ended)
		edo_stack_release(runtime, &fiber->stack);
	else
		edo_stack_abandon(runtime, &fiber->stack);
	if (fiber->member.drop)
		fiber->member.drop(fiber->arg);
	edo_group_leave(&fiber->member, fiber->has_ended ? fiber->result : -ECANCELED);
}

static const edo_future *fiber_awaits(const edo_future *future, unsigned n)
{
	return n == 0 ? of((edo_future *)(uintptr_t)future)->awaiting : NULL;
}

static const edo_future_ops fiber_ops = {
	fiber_poll,
	fiber_drop,
	sizeof(struct edo_fiber),
	_Alignof(struct edo_fiber),
	EDO_FUTURE_RUNS_TO_END,
	"fiber",
	fiber_awaits,
};

/* In the cell: the argument moves in behind the fiber, the first frame points at both. */
static void prepare(edo_future *core, const void *context)
{
	struct edo_fiber *fiber = of(core);
	const struct edo_fiber_spawn *spawn = context;
	char *top = edo_stack_top(&fiber->stack);

	if (spawn->size > 0) {
		fiber->arg = fiber + 1;
		memcpy(fiber->arg, spawn->arg, spawn->size);
	}
	fiber->sp = edo_switch_prepare(top, run_to_end, fiber);
}

static int check(struct edo_runtime *runtime, const struct edo_fiber_spawn *spawn)
{
	if (!runtime || !spawn->fn || (spawn->size > 0 && !spawn->arg))
		return -EINVAL;
	return spawn->size > SIZE_MAX - sizeof(struct edo_fiber) ? -ENOMEM : 0;
}

int edo_fiber_create(struct edo_runtime *runtime, const struct edo_fiber_spawn *spawn,
		     struct edo_task **created)
{
	struct edo_fiber fiber = { .future = { &fiber_ops },
				   .fn = spawn->fn,
				   .arg = (void *)(uintptr_t)spawn->arg,
				   .member = { .group = spawn->group, .drop = spawn->drop } };
	int rc = check(runtime, spawn);

	if (rc < 0)
		return rc;
	/* At the spawn, not at the first poll: a fiber that was spawned must be able to run (K4). */
	rc = edo_stack_acquire(runtime, &fiber.stack);
	if (rc < 0)
		return rc;
	edo_limit_init(&fiber.limit);
	edo_annotate_create(&fiber.side, fiber.stack.base, fiber.stack.size);
	rc = edo_task_create(&runtime->scheduler.scheduler, &fiber.future,
			     sizeof fiber + spawn->size, prepare, spawn, created);
	if (rc < 0) {
		edo_annotate_destroy(&fiber.side);
		edo_stack_release(runtime, &fiber.stack);
	}
	return rc;
}

int edo_spawn_fiber(edo_runtime *runtime, edo_fiber_fn *fn, const void *arg, size_t size,
		    edo_task **task)
{
	struct edo_task *created;
	int rc;

	runtime = edo_runtime_or_current(runtime);
	rc = edo_fiber_create(runtime, &(struct edo_fiber_spawn){ fn, arg, size, NULL, NULL },
			      &created);
	if (rc == 0)
		edo_runtime_submit(runtime, created, task);
	return rc;
}

int edo_go(edo_fiber_fn *fn, const void *arg, size_t size)
{
	return edo_spawn_fiber(NULL, fn, arg, size, NULL);
}
