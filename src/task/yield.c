/* The future that gives way once: it wakes its own task, which goes behind all that is ready. */
#include "task.h"

static edo_poll yield_poll(edo_future *future, edo_context *cx)
{
	edo_yield_future *yield = edo_container_of(future, edo_yield_future, future);

	if (yield->edo_yielded_)
		return EDO_READY;
	yield->edo_yielded_ = true;
	cx->edo_reserved_ = EDO_DEFER_YIELD;
	edo_waker_wake_by_ref(cx->waker);
	return EDO_PENDING;
}

static void yield_drop(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(yield_ops, edo_yield_future, future, yield_poll, yield_drop);

edo_future *edo_yield_start(edo_yield_future *yield)
{
	*yield = (edo_yield_future){ .future = { &yield_ops } };
	return &yield->future;
}
