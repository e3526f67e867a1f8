/* T5: which calls to the system, the clock's reading among them, a timer costs. */
#include "rig.h"
#include "support/sys_fault.h"

static int arms_resets_and_drops(void *arg)
{
	struct counting_waker waker;
	edo_timer timer;
	edo_context cx;
	uint64_t made;

	(void)arg;
	counting_waker_init(&waker);
	edo_context_init(&cx, &waker.waker);
	made = edo_sys_calls_made();
	for (unsigned i = 0; i < 1000; i++) {
		edo_timer_init(&timer, EDO_SEC(1) + EDO_MS(i * 37 % 1000));
		CHECK(edo_future_poll(&timer.future, &cx) == EDO_PENDING);
		CHECK(edo_timer_reset(&timer, EDO_SEC(3)) == 0);
		CHECK(edo_timer_reset(&timer, EDO_SEC(2)) == 0);
		edo_timer_drop(&timer);
	}
	CHECK(edo_sys_calls_made() == made);
	return 0;
}

static void arming_moving_and_dropping_make_no_call_and_read_no_clock(void **state)
{
	(void)state;
	in_running_runtime(arms_resets_and_drops, NULL);
}

static int arms_after_long_work(void *arg)
{
	edo_instant start, woken;

	(void)arg;
	start = edo_now();
	while (edo_now() - start < EDO_MS(5)) /* a poll that takes its time */
		continue;
	start = edo_now();
	CHECK(edo_sleep(EDO_MS(2)) == 0);
	woken = edo_now();
	CHECK(woken - start >= EDO_MS(2));
	return 0;
}

/* p24: a clock cached when the poll began would let the sleep end at once. */
static void pitfall_p24_a_sleep_counts_from_a_fresh_reading(void **state)
{
	(void)state;
	in_running_runtime(arms_after_long_work, NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(arming_moving_and_dropping_make_no_call_and_read_no_clock),
	cmocka_unit_test(pitfall_p24_a_sleep_counts_from_a_fresh_reading),
};

EDO_TEST_MAIN(tests)
