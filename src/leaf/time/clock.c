/*
 * The clock in users' hands: reading it, and stopping and turning it in tests.
 */
#include "leaf/time/time.h"
#include <edo/fiber.h>
#include <errno.h>

edo_instant edo_now(void)
{
	struct edo_time_driver *time = edo_time_of(edo_current_driver());

	return time ? edo_time_now(time) : 0;
}

int edo_pause(void)
{
	struct edo_driver *driver = edo_current_driver();

	if (!driver)
		return -EINVAL;
	return driver->has_time ? edo_time_pause(&driver->time) : -EOPNOTSUPP;
}

int edo_resume(void)
{
	struct edo_time_driver *time = edo_time_of(edo_current_driver());

	return time ? edo_time_resume(time) : -EINVAL;
}

/* p13: the clock moves and timers fire in the first poll; the second comes when all is quiet again. */
struct advance {
	edo_future future;
	edo_duration duration;
	bool has_moved;
};

static edo_poll advance_poll(edo_future *future, edo_context *cx)
{
	struct advance *advance = edo_container_of(future, struct advance, future);
	struct edo_time_driver *time = edo_time_of(cx->edo_driver_);
	int rc;

	if (advance->has_moved)
		return EDO_READY;
	rc = time ? edo_time_advance(time, advance->duration) : -EINVAL;
	if (rc < 0)
		return rc;
	advance->has_moved = true;
	(void)edo_time_process_all(time);
	edo_context_defer_until_quiet(cx);
	edo_waker_wake_by_ref(cx->waker);
	return EDO_PENDING;
}

static void advance_drop(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(advance_ops, struct advance, future, advance_poll, advance_drop);

int edo_advance(edo_duration duration)
{
	struct advance advance = { { &advance_ops }, duration, false };

	return edo_await(&advance.future);
}
