/*
 * Sleeps: a timer on the caller's stack. One that need not wait is armed for instant 0, which the wheel
 * refuses, so that it too fails where every wait does: without a runtime, cancelled, inside a poll.
 */
#include "leaf/time/time.h"
#include <edo/fiber.h>

static int await_deadline(edo_instant deadline)
{
	edo_timer timer;

	edo_timer_init(&timer, deadline);
	return edo_await(&timer.future);
}

int edo_sleep(edo_duration duration)
{
	return await_deadline(duration > 0 ? edo_instant_add(edo_now(), duration) : 0);
}

int edo_sleep_until(edo_instant deadline)
{
	return await_deadline(deadline > edo_now() ? deadline : 0);
}
