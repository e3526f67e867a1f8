/*
 * How a thread parks when there is nothing to poll: on one word, which also remembers a wake-up
 * that came before the wait. Any thread wakes, one waits.
 */
#include "driver/driver.h"

enum { EMPTY, PARKED, NOTIFIED };

/* Acquire: pairs with the release in edo_thread_park_wake(); what was done before it is seen. */
static bool take_notification(struct edo_thread_park *park)
{
	return edo_exchange(&park->state, EMPTY, acquire) == NOTIFIED;
}

/*
 * Comes back when notified, interrupted or late; who cares which looks at the clock (p28). The word is
 * PARKED only while its thread waits, so a wake-up in between makes the kernel refuse the wait.
 */
bool edo_thread_park_wait(struct edo_thread_park *park, uint64_t max_wait)
{
	uint32_t empty = EMPTY;

	if (max_wait == 0)
		return take_notification(park);
	/* Relaxed: nothing is read on the strength of it; what woke us is taken below. */
	if (edo_compare_exchange(&park->state, &empty, PARKED, relaxed, relaxed))
		(void)edo_sys_futex_wait(&park->state, PARKED, max_wait);
	return take_notification(park);
}

void edo_thread_park_wake(struct edo_thread_park *park)
{
	/* Release: what the caller has done is seen by the thread that takes the notification. */
	if (edo_exchange(&park->state, NOTIFIED, release) == PARKED)
		(void)edo_sys_futex_wake(&park->state, 1);
}
