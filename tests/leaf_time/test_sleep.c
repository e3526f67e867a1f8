#include "rig.h"

static int sleeps_an_hour(void *arg)
{
	edo_instant start = edo_now();

	(void)arg;
	CHECK(edo_sleep(EDO_HOUR(1)) == 0);
	CHECK(edo_now() - start == EDO_HOUR(1));
	CHECK(edo_sleep(1) == 0);
	CHECK(edo_now() - start == EDO_HOUR(1) + EDO_MS(1)); /* up to the next tick */
	return 0;
}

static void a_sleep_takes_its_time_rounded_up_to_a_tick(void **state)
{
	(void)state;
	in_paused_runtime(sleeps_an_hour, NULL);
}

static int does_not_wait(void *arg)
{
	(void)arg;
	CHECK(edo_sleep(1500000) == 0);
	edo_instant now = edo_now();
	CHECK(edo_sleep(0) == 0);
	CHECK(edo_sleep_until(0) == 0);
	CHECK(edo_sleep_until(now) == 0);
	CHECK(edo_now() == now);
	CHECK(edo_advance(EDO_US(300)) == 0); /* into the middle of a tick */
	now = edo_now();
	CHECK(edo_sleep(0) == 0);
	CHECK(edo_sleep_until(now) == 0);
	CHECK(edo_sleep_until(now - EDO_US(100)) == 0);
	CHECK(edo_now() == now);
	return 0;
}

static void what_has_passed_does_not_wait(void **state)
{
	(void)state;
	in_paused_runtime(does_not_wait, NULL);
}

static int sleeps_really(void *arg)
{
	(void)arg;
	for (edo_duration d = EDO_US(1); d < EDO_MS(4); d *= 3) {
		edo_instant start = edo_now();

		CHECK(edo_sleep(d) == 0);
		CHECK(edo_now() - start >= d);
	}
	return 0;
}

static void no_sleep_is_short_on_the_real_clock(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	(void)state;
	in_running_runtime(sleeps_really, NULL);
	config.timer_resolution = EDO_US(1);
	start_runtime(&runtime, config);
	run_on(runtime, sleeps_really, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
	config.timer_resolution = 0;
	config.clock = EDO_CLOCK_BOOTTIME;
	start_runtime(&runtime, config);
	run_on(runtime, sleeps_really, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

/* p31: both clocks of the system can be had; how suspension moves them no test can see. */
static void pitfall_p31_the_clock_that_counts_suspension_is_an_option(void **state)
{
	edo_config config = EDO_CONFIG_INIT;

	(void)state;
	config.clock = EDO_CLOCK_BOOTTIME;
	assert_null(edo_config_bad_field(&config));
	config.clock = (edo_clock_source)7;
	assert_non_null(edo_config_bad_field(&config));
}

static int sleeps_for_ever(void *arg)
{
	int rc = edo_sleep(EDO_FOREVER);

	*(int *)arg = rc;
	return rc;
}

static int aborts_an_endless_sleep(void *arg)
{
	edo_task *task, *latest;
	int rc = 1, result = 0;

	(void)arg;
	CHECK(edo_sleep(EDO_MS(1)) == 0); /* from 0 on the sum would fit */
	CHECK(edo_spawn_fiber(NULL, sleeps_for_ever, &rc, 0, &task) == 0);
	CHECK(edo_spawn_fiber(NULL, sleeps_for_ever, &rc, 0, &latest) == 0);
	CHECK(edo_sleep(EDO_HOUR(1000000)) == 0); /* jumps there, and not to the end of time */
	CHECK(edo_now() == EDO_HOUR(1000000) + EDO_MS(1));
	CHECK(rc == 1);
	edo_task_abort(task);
	edo_task_abort(latest);
	CHECK(edo_task_join(task, &result) == 0);
	CHECK(result == -ECANCELED && rc == -ECANCELED);
	CHECK(edo_task_join(latest, &result) == 0);
	return 0;
}

/* p07: the largest duration saturates, and means never. */
static void pitfall_p07_the_longest_sleep_never_ends_by_itself(void **state)
{
	(void)state;
	in_paused_runtime(aborts_an_endless_sleep, NULL);
}

static void without_a_runtime_there_is_no_sleep(void **state)
{
	(void)state;
	assert_int_equal(edo_sleep(EDO_MS(1)), -EINVAL);
	assert_int_equal(edo_sleep(0), -EINVAL);
	assert_int_equal(edo_sleep_until(5), -EINVAL);
	assert_int_equal(edo_now(), 0);
}

static int has_no_time(void *arg)
{
	edo_interval interval;
	edo_timeout_future timeout;
	edo_yield_future yield;
	edo_timer timer;

	(void)arg;
	CHECK(edo_now() == 0);
	CHECK(edo_sleep(EDO_MS(1)) == -EOPNOTSUPP);
	CHECK(edo_pause() == -EOPNOTSUPP);
	CHECK(edo_resume() == -EINVAL);
	CHECK(edo_advance(1) == -EINVAL);
	edo_timer_init(&timer, 5);
	CHECK(edo_timer_reset(&timer, 6) == 0);
	CHECK(edo_timer_deadline(&timer) == 6);
	CHECK(edo_await(edo_timeout_start(&timeout, 5, &timer.future)) == -EOPNOTSUPP);
	CHECK(edo_timeout(5, edo_yield_start(&yield)) == -EOPNOTSUPP);
	CHECK(edo_interval_init(&interval, 0, 5, EDO_MISSED_BURST) == 0);
	CHECK(edo_interval_tick(&interval, NULL) == -EOPNOTSUPP);
	edo_interval_drop(&interval);
	edo_timer_drop(&timer);
	return 0;
}

static void a_runtime_without_time_says_so(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	(void)state;
	config.disable_time = true;
	start_runtime(&runtime, config);
	run_on(runtime, has_no_time, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static edo_poll poll_that_sleeps(edo_future *future, edo_context *cx)
{
	(void)future;
	(void)cx;
	return edo_sleep(EDO_MS(1));
}

static void drop_nothing(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(sleeper_ops, edo_future, ops, poll_that_sleeps, drop_nothing);

static int awaits_the_sleeper(void *arg)
{
	edo_future sleeper = { &sleeper_ops };

	(void)arg;
	CHECK(edo_await(&sleeper) == -EDEADLK);
	return 0;
}

static void a_poll_cannot_sleep(void **state)
{
	(void)state;
	in_paused_runtime(awaits_the_sleeper, NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_sleep_takes_its_time_rounded_up_to_a_tick),
	cmocka_unit_test(what_has_passed_does_not_wait),
	cmocka_unit_test(no_sleep_is_short_on_the_real_clock),
	cmocka_unit_test(pitfall_p31_the_clock_that_counts_suspension_is_an_option),
	cmocka_unit_test(pitfall_p07_the_longest_sleep_never_ends_by_itself),
	cmocka_unit_test(without_a_runtime_there_is_no_sleep),
	cmocka_unit_test(a_runtime_without_time_says_so),
	cmocka_unit_test(a_poll_cannot_sleep),
};

EDO_TEST_MAIN(tests)
