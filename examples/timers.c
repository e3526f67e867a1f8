/*
 * Sleep, reset, deadline, time-out, interval.
 */
#include <edo/edo.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int slow_query(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_SEC(10));
}

static int clockwork(void *arg)
{
	int rc, result;

	(void)arg;
	rc = edo_sleep(EDO_MS(100)); /* never returns early; -ECANCELED when told to stop */
	if (rc < 0)
		return rc;

	/* A sleep that can be moved: one entry in the wheel, no allocation. */
	edo_timer idle;
	edo_timer_init(&idle, edo_instant_add(edo_now(), EDO_SEC(5)));
	edo_timer_reset(&idle, edo_instant_add(edo_now(), EDO_MS(20)));
	rc = edo_await(&idle.future);
	edo_timer_drop(&idle);
	if (rc < 0)
		return rc;

	/* A deadline over any piece of straight-line code; deadlines nest. */
	rc = edo_with_deadline(EDO_MS(50), slow_query, NULL, &result);
	if (rc == -ECANCELED)
		return rc;
	printf("query: %s\n", edo_strerror(rc)); /* every await inside said -ETIMEDOUT */

	/* A limit round a single future; in stackless tasks and plain threads too. */
	edo_timer signal;
	edo_timer_init(&signal, edo_instant_add(edo_now(), EDO_SEC(10)));
	rc = edo_timeout(EDO_MS(50), &signal.future);
	printf("signal: %s\n", edo_strerror(rc)); /* -ETIMEDOUT, and the wait has been dropped */
	edo_timer_drop(&signal);

	/* A period that stays on its grid and drops the ticks it missed. */
	edo_interval beat;
	edo_instant at;
	rc = edo_interval_init(&beat, edo_now(), EDO_MS(10), EDO_MISSED_SKIP); /* _BURST, _DELAY */
	for (int i = 0; i < 5 && rc == 0; i++) {
		rc = edo_interval_tick(&beat, &at); /* the first tick is immediate */
		if (rc == 0)
			printf("tick %d scheduled at %" PRIu64 " ns\n", i, at);
	}
	edo_interval_drop(&beat);
	return rc;
}

int main(void)
{
	return edo_run(clockwork, NULL) < 0;
}
