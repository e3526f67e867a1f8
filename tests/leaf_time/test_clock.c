/* The clock that tests turn: pause, resume, advance, and the jump when nothing is ready. */
#include "driver/driver.h"
#include "rig.h"
#include "runtime/runtime.h"

static int advances(void *arg)
{
	static const edo_duration steps[] = { 1, 999999, 1000000, 1500000000, 3 };
	edo_instant expected = edo_now();
	edo_timer timer;

	(void)arg;
	edo_timer_init(&timer, EDO_FOREVER);
	for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		CHECK(edo_timeout(0, &timer.future) == -ETIMEDOUT); /* polled in between */
		CHECK(edo_advance(steps[i]) == 0);
		expected += steps[i];
		CHECK(edo_now() == expected);
	}
	return 0;
}

static void pitfall_p12_an_advance_moves_exactly_as_far_as_it_says(void **state)
{
	(void)state;
	in_paused_runtime(advances, NULL);
}

struct sleeper {
	edo_duration naps[3];
	int woken;
};

static int sleeps_thrice(void *arg)
{
	struct sleeper *sleeper = arg;

	for (int i = 0; i < 3; i++) {
		CHECK(edo_sleep(sleeper->naps[i]) == 0);
		sleeper->woken++;
	}
	return 0;
}

static int advances_over_others(void *arg)
{
	struct sleeper a = { { EDO_MS(10), 0, EDO_SEC(50) }, 0 };
	struct sleeper b = { { EDO_MS(20), EDO_MS(10), 0 }, 0 };
	edo_task *tasks[2];
	int result;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, sleeps_thrice, &a, 0, &tasks[0]) == 0);
	CHECK(edo_spawn_fiber(NULL, sleeps_thrice, &b, 0, &tasks[1]) == 0);
	CHECK(edo_yield() == 0);
	CHECK(edo_advance(EDO_MS(9)) == 0);
	CHECK(a.woken == 0 && b.woken == 0);
	CHECK(edo_advance(EDO_MS(11)) == 0);
	CHECK(a.woken == 2 && b.woken == 1);
	CHECK(edo_now() == EDO_MS(20));
	CHECK(edo_advance(EDO_MS(10)) == 0);
	CHECK(b.woken == 3);
	for (int i = 0; i < 2; i++)
		CHECK(edo_task_join(tasks[i], &result) == 0 && result == 0);
	CHECK(edo_now() == EDO_MS(20) + EDO_SEC(50));
	return 0;
}

static void pitfall_p13_after_an_advance_all_that_is_due_has_run(void **state)
{
	(void)state;
	in_paused_runtime(advances_over_others, NULL);
}

enum { CHAIN = 300 }; /* more than are run between two looks at the driver */

static int sleeps_or_follows(void *arg)
{
	edo_task *before = *(edo_task **)arg;

	return before ? edo_task_join(before, NULL) : edo_sleep(EDO_MS(10));
}

static int advances_along_a_chain(void *arg)
{
	edo_task *last = NULL;

	(void)arg;
	for (int i = 0; i < CHAIN; i++) {
		edo_task *next;

		CHECK(edo_spawn_fiber(NULL, sleeps_or_follows, &last, sizeof last, &next) == 0);
		last = next;
	}
	CHECK(edo_yield() ==
	      0); /* all wait, the first for its sleep, each other for the one before */
	CHECK(edo_advance(EDO_MS(9)) == 0);
	CHECK(!edo_task_is_finished(last));
	CHECK(edo_advance(EDO_MS(1)) == 0);
	CHECK(edo_task_is_finished(last));
	edo_task_detach(last);
	return 0;
}

static void pitfall_p13_an_advance_waits_for_what_the_due_ones_wake(void **state)
{
	(void)state;
	in_paused_runtime(advances_along_a_chain, NULL);
}

static int pauses_and_resumes(void *arg)
{
	edo_instant before;

	(void)arg;
	CHECK(edo_advance(1) == -EINVAL);
	CHECK(edo_resume() == -EINVAL);
	CHECK(edo_pause() == 0);
	CHECK(edo_pause() == -EINVAL);
	before = edo_now();
	CHECK(edo_sleep(EDO_HOUR(1)) == 0);
	CHECK(edo_now() - before >= EDO_HOUR(1));
	CHECK(edo_now() - before <= EDO_HOUR(1) + EDO_MS(1)); /* it lands on a tick */
	CHECK(edo_resume() == 0);
	CHECK(edo_now() - before >= EDO_HOUR(1));
	before = edo_now();
	CHECK(edo_sleep(EDO_MS(2)) == 0);
	CHECK(edo_now() - before >= EDO_MS(2));
	CHECK(edo_pause() == 0);
	CHECK(edo_advance(EDO_FOREVER) == 0); /* to the end of time */
	CHECK(edo_resume() == 0);
	CHECK(edo_sleep(0) == 0);
	return 0;
}

static void a_clock_may_be_paused_and_resumed_on_the_way(void **state)
{
	(void)state;
	in_running_runtime(pauses_and_resumes, NULL);
}

static void outside_a_runtime_there_is_no_clock_to_turn(void **state)
{
	(void)state;
	assert_int_equal(edo_pause(), -EINVAL);
	assert_int_equal(edo_resume(), -EINVAL);
	assert_int_equal(edo_advance(5), -EINVAL);
}

static int meets_in_order(void *arg)
{
	int *order = arg;

	CHECK(edo_sleep(EDO_MS((unsigned)*order % 7) + 1) == 0);
	*order = (int)(edo_now() / EDO_MS(1));
	return 0;
}

static int jumps_from_timer_to_timer(void *arg)
{
	edo_task *tasks[20];
	int met[20], result;

	(void)arg;
	for (int i = 0; i < 20; i++) {
		met[i] = i;
		CHECK(edo_spawn_fiber(NULL, meets_in_order, &met[i], 0, &tasks[i]) == 0);
	}
	for (int i = 0; i < 20; i++) {
		CHECK(edo_task_join(tasks[i], &result) == 0 && result == 0);
		CHECK(met[i] == i % 7 + 1);
	}
	return 0;
}

static void when_nothing_is_ready_the_clock_jumps_to_the_next_timer(void **state)
{
	(void)state;
	in_paused_runtime(jumps_from_timer_to_timer, NULL);
}

static int arms_only(void *arg)
{
	edo_context cx;

	edo_context_init(&cx, &((struct counting_waker *)((void **)arg)[0])->waker);
	CHECK(edo_future_poll(&((edo_timer *)((void **)arg)[1])->future, &cx) == EDO_PENDING);
	return 0;
}

/* p14: somebody (a blocking pool, with its own thread) says that the clock may not jump now. */
static void pitfall_p14_the_clock_does_not_jump_when_told_not_to(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	struct counting_waker waker;
	edo_runtime *runtime;
	edo_timer timer;
	void *both[] = { &waker, &timer };

	(void)state;
	config.start_paused = true;
	counting_waker_init(&waker);
	edo_timer_init(&timer, EDO_MS(5));
	start_runtime(&runtime, config);
	run_on(runtime, arms_only, both);
	edo_driver_turn(&runtime->driver, EDO_MS(1), false);
	assert_int_equal(waker.wakes, 0);
	assert_int_equal(edo_time_now(&runtime->driver.time), 0);
	edo_driver_turn(&runtime->driver, EDO_MS(1), true);
	assert_int_equal(waker.wakes, 1);
	assert_int_equal(edo_time_now(&runtime->driver.time), EDO_MS(5));
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pitfall_p12_an_advance_moves_exactly_as_far_as_it_says),
	cmocka_unit_test(pitfall_p13_after_an_advance_all_that_is_due_has_run),
	cmocka_unit_test(pitfall_p13_an_advance_waits_for_what_the_due_ones_wake),
	cmocka_unit_test(a_clock_may_be_paused_and_resumed_on_the_way),
	cmocka_unit_test(outside_a_runtime_there_is_no_clock_to_turn),
	cmocka_unit_test(when_nothing_is_ready_the_clock_jumps_to_the_next_timer),
	cmocka_unit_test(pitfall_p14_the_clock_does_not_jump_when_told_not_to),
};

EDO_TEST_MAIN(tests)
