/*
 * An hour of timers tested in microseconds, the same on every run.
 */
#include <assert.h>
#include <edo/edo.h>

static int hour(void *arg)
{
	edo_instant start = edo_now();

	(void)arg;
	edo_sleep(EDO_HOUR(1)); /* nothing else is ready: the clock jumps there */
	assert(edo_now() - start == EDO_HOUR(1));

	edo_advance(EDO_MS(1500)); /* or by hand: exactly this far, and all that is due has run */
	assert(edo_now() - start == EDO_HOUR(1) + EDO_MS(1500));
	return 0;
}

int main(void)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *rt;
	int rc, result = 0;

	config.flavor = EDO_CURRENT_THREAD;
	config.start_paused = true;
	config.seed = 42; /* deterministic scheduling order */
	if (edo_runtime_create(&rt, &config) < 0)
		return 1;
	rc = edo_block_on(rt, hour, NULL, &result);
	edo_runtime_destroy(rt);
	return rc < 0 || result < 0;
}
