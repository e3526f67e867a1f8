/*
 * Waiting, anywhere: a fiber leaves its stack, a plain thread drives or parks. On every way out the
 * wait is dropped. A fiber that is cancelled, or past its deadline, does not begin to wait; but a poll that
 * was ready wins over what cuts at the same time, so nothing that was handed over gets lost.
 */
#include "base/hot.h"
#include "private.h"
#include <errno.h>

static edo_poll poll_in_fiber(struct edo_fiber *fiber, edo_future *future)
{
	edo_poll polled;

	fiber->is_polling = true;
	polled = edo_future_poll(future, fiber->cx);
	fiber->is_polling = false;
	return polled;
}

/* A drop function runs on the fiber's stack, but may no more wait than a poll function. */
static void drop_in_fiber(struct edo_fiber *fiber, edo_future *future)
{
	fiber->is_polling = true;
	edo_future_drop(future);
	fiber->is_polling = false;
}

/*
 * S1: what spends no budget by itself must not let a fiber go on for ever. The deadline is watched here
 * too, or a fiber whose waits are always ready would never hear of it.
 */
static void spend(struct edo_fiber *fiber)
{
	if (edo_coop_spend(fiber->cx))
		return;
	(void)edo_fiber_watch(fiber);
	edo_fiber_suspend(fiber);
}

static void suspend_in(struct edo_fiber *fiber, edo_future *future)
{
	fiber->awaiting = future;
	edo_fiber_suspend(fiber);
	fiber->awaiting = NULL;
}

/* The future's result, or what cut the wait. *spent: whether the poll has spent budget. */
__attribute__((always_inline)) static inline int poll_until_ready(struct edo_fiber *fiber,
								  edo_future *future, bool *spent)
{
	for (;;) {
		uint32_t budget = fiber->cx->edo_budget_;
		int rc = edo_fiber_fate(fiber);

		*spent = false;
		if (rc < 0)
			return rc;
		rc = poll_in_fiber(fiber, future);
		*spent = fiber->cx->edo_budget_ != budget;
		if (rc != EDO_PENDING)
			return rc;
		if (edo_fiber_watch(fiber))
			suspend_in(fiber, future);
	}
}

/* Dropped before the budget is spent: that may suspend the fiber, and it may be given up there. */
__attribute__((always_inline)) static inline int await_in_fiber(struct edo_fiber *fiber,
								edo_future *future)
{
	bool spent;
	int rc = poll_until_ready(fiber, future, &spent);

	drop_in_fiber(fiber, future);
	if (!spent)
		spend(fiber);
	return rc;
}

void edo_await_uncut(struct edo_fiber *fiber, edo_future *future)
{
	struct edo_limit_outside outside = edo_limit_shield(&fiber->limit);

	(void)await_in_fiber(fiber, future);
	edo_limit_unshield(&fiber->limit, &outside);
}

int edo_checkpoint(void)
{
	struct edo_fiber *fiber = edo_fiber_current();
	int rc;

	if (!fiber || fiber->is_polling)
		return 0;
	edo_limit_look(fiber);
	rc = edo_fiber_fate(fiber);
	spend(fiber);
	return rc;
}

/* While it drives the thread counts as inside, so that nobody destroys the runtime under it. */
static int await_in_thread(struct edo_runtime *runtime, edo_future *future,
			   struct edo_thread_waiter *waiter)
{
	int rc;

	if (!runtime)
		return edo_thread_await(NULL, future, waiter);
	edo_fetch_add(&runtime->entered, 1, relaxed);
	rc = edo_thread_await(&runtime->scheduler, future, waiter);
	/* Release: pairs with destroy, which looks whether everybody has left. */
	edo_fetch_sub(&runtime->entered, 1, release);
	return rc;
}

static int await_in_new_thread_wait(struct edo_runtime *runtime, edo_future *future)
{
	struct edo_thread_waiter *waiter =
		edo_thread_waiter_create(runtime ? &runtime->allocator : &edo_default_allocator);

	if (!waiter) {
		edo_future_drop(future);
		return -ENOMEM;
	}
	return await_in_thread(runtime, future, waiter);
}

/* Inlined into each that waits: after a switch of stacks every return is mispredicted. */
__attribute__((always_inline)) static inline int await_here(struct edo_runtime *runtime,
							    edo_future *future)
{
	struct edo_fiber *fiber = edo_fiber_current();

	if (!future || !future->ops)
		return -EINVAL;
	if (fiber ? fiber->is_polling : edo_thread_is_driving()) {
		edo_misuse("a poll function, a drop function or a waker cannot wait");
		edo_future_drop(future);
		return -EDEADLK;
	}
	if (!fiber)
		return await_in_new_thread_wait(edo_runtime_or_current(runtime), future);
	return await_in_fiber(fiber, future);
}

int edo_await_on(struct edo_runtime *runtime, edo_future *future)
{
	return await_here(runtime, future);
}

EDO_HOT int edo_await(edo_future *future)
{
	return await_here(NULL, future);
}

int edo_yield(void)
{
	edo_yield_future yield;

	return await_here(NULL, edo_yield_start(&yield));
}

int edo_block_on(edo_runtime *runtime, edo_fiber_fn *fn, void *arg, int *result)
{
	struct edo_thread_waiter *waiter;
	edo_task_wait_future wait;
	edo_task *task;
	int rc;

	if (edo_thread_is_driving()) {
		edo_misuse("a task cannot block on a runtime");
		return -EDEADLK;
	}
	if (!runtime)
		return -EINVAL;
	/* Before the spawn: afterwards the wait must not fail, the argument is lent (K5). */
	waiter = edo_thread_waiter_create(&runtime->allocator);
	if (!waiter)
		return -ENOMEM;
	rc = edo_spawn_fiber(runtime, fn, arg, 0, &task);
	if (rc < 0) {
		edo_thread_waiter_drop(waiter);
		return rc;
	}
	rc = await_in_thread(runtime, edo_task_wait_start(&wait, task), waiter);
	if (result)
		*result = wait.result;
	edo_task_detach(task);
	return rc;
}

int edo_run(edo_fiber_fn *fn, void *arg)
{
	edo_runtime *runtime;
	int result = 0;
	int ended;
	int rc;

	if (edo_thread_is_driving()) {
		edo_misuse("a task cannot run a runtime");
		return -EDEADLK;
	}
	rc = edo_runtime_create(&runtime, NULL);
	if (rc < 0)
		return rc;
	rc = edo_block_on(runtime, fn, arg, &result);
	ended = edo_runtime_destroy(runtime);
	if (rc < 0)
		return rc;
	return result < 0 || ended >= 0 ? result : ended;
}
