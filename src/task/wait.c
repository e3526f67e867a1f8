/*
 * Waiting for a task: the joiner's side of JOIN_WAKER. While the bit is clear join_waker is the
 * joiner's to write; once it is set it belongs to whoever completes the task.
 */
#include "state.h"
#include "task.h"
#include <errno.h>

/* Takes the waker back; false: the task has completed meanwhile. */
static bool unregister(edo_task_wait_future *wait)
{
	edo_task *task = wait->edo_task_;

	wait->edo_registered_ = false;
	if (!edo_state_unset_join_waker(&task->state))
		return false; /* who completed it uses the waker; it goes with the handle */
	edo_waker_drop(&task->join_waker);
	return true;
}

static bool register_waker(edo_task_wait_future *wait, const edo_context *cx)
{
	edo_task *task = wait->edo_task_;

	task->join_waker = edo_waker_clone(cx->waker);
	if (!edo_state_set_join_waker(&task->state)) {
		edo_waker_drop(&task->join_waker);
		return false;
	}
	wait->edo_registered_ = true;
	return true;
}

/*
 * Whether join_waker is there to be written: EDO_PENDING; -EBUSY: another wait has set it. Both flags by
 * one look: by a second one the task may have completed in between, and then join_waker is clear of
 * its flag but still has the other wait's waker, which goes with the handle.
 */
static edo_poll look(const edo_task *task)
{
	/* Acquire: the caller reads the result now, if it is there. */
	uint64_t word = edo_load(&task->state, acquire);

	if (edo_state_has(word, EDO_STATE_COMPLETE))
		return EDO_READY;
	return edo_state_has(word, EDO_STATE_JOIN_WAKER) ? -EBUSY : EDO_PENDING;
}

/* Registers the waker of cx, or finds out why not: EDO_READY: it has completed. */
static edo_poll register_or_see(edo_task_wait_future *wait, edo_context *cx)
{
	if (wait->edo_registered_) {
		if (edo_waker_will_wake(&wait->edo_task_->join_waker, cx->waker))
			return EDO_PENDING;
		if (!unregister(wait))
			return EDO_READY;
	} else {
		edo_poll seen = look(wait->edo_task_);

		if (seen != EDO_PENDING)
			return seen;
	}
	return register_waker(wait, cx) ? EDO_PENDING : EDO_READY;
}

static edo_poll poll_task(edo_task_wait_future *wait, edo_context *cx)
{
	edo_task *task = wait->edo_task_;

	if (!task)
		return -EINVAL;
	if (edo_task_of_context(cx) == task)
		return -EDEADLK;
	if (!edo_state_is_complete(&task->state)) {
		edo_poll polled = register_or_see(wait, cx);

		if (polled != EDO_READY)
			return polled;
	}
	if (!edo_coop_spend(cx))
		return EDO_PENDING;
	wait->result = task->result;
	return EDO_READY;
}

/* A wait that failed must not read as a task that ended with 0. */
static edo_poll wait_poll(edo_future *future, edo_context *cx)
{
	edo_task_wait_future *wait = edo_container_of(future, edo_task_wait_future, future);
	edo_poll polled = poll_task(wait, cx);

	if (polled < 0 && polled != EDO_PENDING)
		wait->fate = wait->result = polled;
	return polled;
}

static void wait_drop(edo_future *future)
{
	edo_task_wait_future *wait = edo_container_of(future, edo_task_wait_future, future);

	if (wait->edo_registered_)
		(void)unregister(wait);
}

EDO_FUTURE_OPS(wait_ops, edo_task_wait_future, future, wait_poll, wait_drop);

edo_future *edo_task_wait_start(edo_task_wait_future *wait, edo_task *task)
{
	*wait = (edo_task_wait_future){ .future = { &wait_ops }, .edo_task_ = task };
	return &wait->future;
}
