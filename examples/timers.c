/*
 * Sleep, reset, time-out, interval.
 */
#include <edo/edo.h>
#include <inttypes.h>
#include <stdio.h>

static int clockwork(void *arg)
{
	int rc;

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

	/* A limit round any future. */
	edo_timer slow_query;
	edo_timer_init(&slow_query, edo_instant_add(edo_now(), EDO_SEC(10)));
	rc = edo_timeout(EDO_MS(50), &slow_query.future);
	printf("query: %s\n", edo_strerror(rc)); /* -ETIMEDOUT, and the wait has been dropped */
	edo_timer_drop(&slow_query);

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
