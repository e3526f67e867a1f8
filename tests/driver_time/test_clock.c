/* The clock: running, stepping back, standing, turned by hand. */
#include "rig.h"
#include <errno.h>

static void the_clock_counts_from_the_start(void **state)
{
	struct edo_time_driver time;

	(void)state;
	rig_set_clock(123456789);
	rig_start(&time, MS, false);
	assert_int_equal(edo_time_now(&time), 0);
	rig_set_clock(123456789 + 42);
	assert_int_equal(edo_time_now(&time), 42);
	rig_end(&time);
}

static void a_clock_that_stepped_back_to_before_the_start_shows_the_start(void **state)
{
	struct edo_time_driver time;

	(void)state;
	rig_set_clock(1000 * MS);
	rig_start(&time, MS, false);
	rig_set_clock(1000 * MS - 1);
	assert_int_equal(edo_time_now(&time), 0);
	rig_set_clock(0);
	assert_int_equal(edo_time_now(&time), 0);
	rig_end(&time);
}

/* p09: processed at 10, then at 9; what the wheel has acted on stays the present. */
static void pitfall_p09_a_clock_that_steps_back_fires_nothing_early(void **state)
{
	struct edo_time_driver time;
	struct rig_waker waker;
	edo_timer_entry entry;
	uint64_t deadline;

	(void)state;
	rig_set_clock(1000 * MS);
	rig_start(&time, MS, false);
	rig_waker_init(&waker);
	edo_entry_init(&entry);
	(void)rig_turn_to(&time, 10 * MS + MS / 2);
	assert_int_equal(rig_turn_to(&time, 9 * MS + MS / 5), 0);
	deadline = edo_time_now(&time) + MS / 2;

	assert_true(edo_time_now(&time) >= 10 * MS + MS / 2);
	assert_int_equal(rig_poll(&time, &entry, edo_time_tick_of(&time, deadline), &waker),
			 EDO_PENDING);
	(void)rig_turn_to(&time, 10 * MS + MS * 4 / 5);
	assert_false(edo_entry_has_fired(&entry));
	(void)rig_turn_to(&time, 11 * MS);
	assert_true(edo_entry_has_fired(&entry));
	rig_end(&time);
}

/* p12: exactly d, whatever was polled before, and below a tick. */
static void pitfall_p12_an_advance_moves_the_clock_by_exactly_its_duration(void **state)
{
	static const uint64_t steps[] = { 1, 999999, MS, 1500 * MS, 3, EDO_CLOCK_END / 3 };
	struct edo_time_driver time;
	uint64_t expected = 0;

	(void)state;
	rig_start(&time, MS, true);
	for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		assert_int_equal(edo_time_advance(&time, steps[i]), 0);
		(void)edo_time_process(&time);
		rig_set_clock(rig_clock() + 17 * MS); /* of no consequence */
		expected += steps[i];
		assert_int_equal(edo_time_now(&time), expected);
	}
	rig_end(&time);
}

static void an_advance_for_ever_ends_at_the_clocks_end(void **state)
{
	struct edo_time_driver time;

	(void)state;
	rig_start(&time, MS, true);
	assert_int_equal(edo_time_advance(&time, 5), 0);
	assert_int_equal(edo_time_advance(&time, EDO_FOREVER), 0);
	assert_int_equal(edo_time_now(&time), EDO_CLOCK_END);
	assert_int_equal(edo_time_advance(&time, 1), 0);
	assert_int_equal(edo_time_now(&time), EDO_CLOCK_END);
	rig_end(&time);
}

static void pausing_and_resuming_lose_and_gain_nothing(void **state)
{
	struct edo_time_driver time;

	(void)state;
	rig_set_clock(50 * MS);
	rig_start(&time, MS, false);
	rig_set_clock(53 * MS);
	assert_int_equal(edo_time_pause(&time), 0);
	rig_set_clock(60 * MS);
	assert_int_equal(edo_time_now(&time), 3 * MS);
	assert_int_equal(edo_time_advance(&time, EDO_HOUR(1)), 0);
	assert_int_equal(edo_time_resume(&time), 0);
	assert_int_equal(edo_time_now(&time), 3 * MS + EDO_HOUR(1));
	rig_set_clock(61 * MS);
	assert_int_equal(edo_time_now(&time), 4 * MS + EDO_HOUR(1));
	rig_end(&time);
}

static void what_is_not_paused_cannot_be_advanced_or_resumed_nor_paused_twice(void **state)
{
	struct edo_time_driver time;

	(void)state;
	rig_start(&time, MS, false);
	assert_int_equal(edo_time_advance(&time, MS), -EINVAL);
	assert_int_equal(edo_time_resume(&time), -EINVAL);
	assert_int_equal(edo_time_pause(&time), 0);
	assert_int_equal(edo_time_pause(&time), -EINVAL);
	assert_int_equal(edo_time_resume(&time), 0);
	assert_int_equal(edo_time_resume(&time), -EINVAL);
	rig_end(&time);
}

/* p16's price: one reading a task poll. */
static void the_present_of_a_poll_is_read_once(void **state)
{
	struct edo_time_driver time;
	struct rig_waker waker;
	edo_context cx, next;

	(void)state;
	rig_set_clock(7);
	rig_start(&time, MS, false);
	rig_waker_init(&waker);
	cx = rig_context(&waker);
	next = cx;
	rig_set_clock(10);
	assert_int_equal(edo_time_poll_now(&time, &cx), 3);
	rig_set_clock(20);
	assert_int_equal(edo_time_poll_now(&time, &cx), 3);
	assert_int_equal(edo_time_poll_now(&time, &next), 13);
	rig_end(&time);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_clock_counts_from_the_start),
	cmocka_unit_test(a_clock_that_stepped_back_to_before_the_start_shows_the_start),
	cmocka_unit_test(pitfall_p09_a_clock_that_steps_back_fires_nothing_early),
	cmocka_unit_test(pitfall_p12_an_advance_moves_the_clock_by_exactly_its_duration),
	cmocka_unit_test(an_advance_for_ever_ends_at_the_clocks_end),
	cmocka_unit_test(pausing_and_resuming_lose_and_gain_nothing),
	cmocka_unit_test(what_is_not_paused_cannot_be_advanced_or_resumed_nor_paused_twice),
	cmocka_unit_test(the_present_of_a_poll_is_read_once),
};

EDO_TEST_MAIN(tests)
