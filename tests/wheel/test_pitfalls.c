/* How others' wheels broke (docs/pitfalls.md): each row is a test here. p21 is test_model.c. */
#include "wheel/rig.h"

/* p01: one lap ahead, a timer shares the top level's present slot; it must not hide nearer ones. */
static void pitfall_p01_a_timer_one_lap_away_does_not_hide_a_near_one(void **state)
{
	edo_wheel *wheel = wheel_at(0);
	edo_wheel_timer far = { 0 }, near = { 0 };
	(void)state;

	insert(wheel, &far, LAP);
	turn_to(wheel, (UINT64_C(1) << 30) - 10);
	insert(wheel, &near, (UINT64_C(1) << 30) + 10);
	assert_next(wheel, UINT64_C(1) << 30);
	assert_expires_at(wheel, (UINT64_C(1) << 30) + 10, &near);
	assert_expires_at(wheel, LAP, &far);
}

/* p01: likewise from every digit of the top dial, the other timer in every other slot. */
static void pitfall_p01_the_present_slot_of_the_top_level_is_taken_last(void **state)
{
	uint64_t span = UINT64_C(1) << 30;
	(void)state;

	for (uint64_t digit = 0; digit < 64; digit++)
		for (uint64_t ahead = 1; ahead < 64; ahead++) {
			edo_wheel *wheel = wheel_at(digit * span + 5);
			edo_wheel_timer far = { 0 }, near = { 0 };

			insert(wheel, &far, digit * span + LAP + 3);
			insert(wheel, &near, (digit + ahead) * span);
			assert_expires(wheel, 3 * LAP, &near);
			assert_expires(wheel, 3 * LAP, &far);
		}
}

/* p02 */
static void pitfall_p02_no_pair_of_ticks_has_a_level_past_the_top(void **state)
{
	(void)state;

	for (unsigned bit = 36; bit < 64; bit++) {
		uint64_t carry = UINT64_C(1) << bit;
		edo_wheel *wheel = wheel_at(carry - 1);
		edo_wheel_timer timer = { 0 };

		insert(wheel, &timer, carry);
		assert_lies_alone(wheel, 5, 0);
		assert_expires_at(wheel, carry, &timer);
	}
}

/* p03: removal finds the list the timer is in, at the moment when elapsed is the deadline, too. */
static void pitfall_p03_of_two_due_at_the_start_of_a_slot_one_can_be_removed(void **state)
{
	(void)state;

	for (unsigned level = 1; level < 11; level++) {
		uint64_t when = UINT64_C(1) << (6 * level);
		edo_wheel *wheel = wheel_at(0);
		edo_wheel_timer timers[3] = { 0 };
		edo_wheel_timer *first;

		for (unsigned i = 0; i < 3; i++)
			insert(wheel, &timers[i], when);
		first = edo_wheel_poll(wheel, when);
		assert_non_null(first);
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(edo_wheel_remove(wheel, &timers[i]), &timers[i] != first);
			assert_sound(wheel);
		}
		assert_null(edo_wheel_poll(wheel, when));
		assert_int_equal(edo_wheel_count(wheel), 0);
	}
}

/*
 * p05: timers of the next lap go back into the slot that is being emptied; it must come to an end.
 */
static void pitfall_p05_entries_may_go_back_into_the_slot_that_opens(void **state)
{
	edo_wheel_timer timers[20] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	for (unsigned i = 0; i < 20; i++)
		insert(wheel, &timers[i], (1 + i % 2) * LAP + i);
	for (unsigned i = 0; i < 20; i += 2)
		assert_expires(wheel, LAP + 50, &timers[i]);
	assert_null(edo_wheel_poll(wheel, LAP + 50));
	assert_int_equal(edo_wheel_occupancy(wheel, 5, NULL, NULL), 10);
	for (unsigned i = 1; i < 20; i += 2)
		assert_expires(wheel, 2 * LAP + 50, &timers[i]);
}

/* p05: the same with the work stopped in between, when new ones come into the slot as well. */
static void pitfall_p05_a_half_emptied_slot_and_its_next_lap_are_not_confused(void **state)
{
	(void)state;

	for (unsigned budget = 1; budget < 20; budget++) {
		edo_wheel_timer timers[20] = { 0 }, newcomer = { 0 };
		edo_wheel *wheel = wheel_at(0);
		unsigned left = budget;

		for (unsigned i = 0; i < 20; i++)
			insert(wheel, &timers[i], (1 + i % 2) * LAP + 30 + i);
		assert_null(edo_wheel_poll_budget(wheel, LAP, &left));
		insert(wheel, &newcomer, 3 * LAP);
		assert_next(wheel, LAP);
		for (unsigned i = 0; i < 20; i++)
			assert_true(edo_wheel_remove(wheel, &timers[i]));
		assert_sound(wheel);
		assert_int_equal(edo_wheel_count(wheel), 1);
		assert_expires_at(wheel, 3 * LAP, &newcomer);
	}
}

/* p06: ticks that would read as a signal of whoever embeds the timer are refused. */
static void pitfall_p06_no_legal_tick_reads_as_a_signal(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	assert_int_equal(edo_wheel_insert(wheel, &timer, UINT64_MAX), -EINVAL);
	assert_int_equal(edo_wheel_insert(wheel, &timer, UINT64_MAX - 1), -EINVAL);
	assert_int_equal(edo_wheel_reset(wheel, &timer, UINT64_MAX - 1), -EINVAL);
	insert(wheel, &timer, UINT64_MAX - 2);
}

/* p09: a clock that steps back a tick between two threads. */
static void pitfall_p09_time_does_not_step_back(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	turn_to(wheel, 10);
	assert_null(edo_wheel_poll(wheel, 9));
	assert_int_equal(edo_wheel_elapsed(wheel), 10);
	assert_int_equal(edo_wheel_insert(wheel, &timer, 10), -ETIME);
	insert(wheel, &timer, 11);
	assert_null(edo_wheel_poll(wheel, 0));
	assert_expires(wheel, 11, &timer);
}

/* p09: also when the poll before did not finish: what was due then is due still. */
static void pitfall_p09_what_was_due_stays_due_when_the_clock_steps_back(void **state)
{
	edo_wheel_timer timers[2] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timers[0], 10);
	insert(wheel, &timers[1], 10);
	assert_expires(wheel, 10, &timers[0]);
	assert_expires(wheel, 9, &timers[1]);
}

/* p10: the caller is told at once; the timer does not stay behind for ever. */
static void pitfall_p10_a_reset_to_a_moment_past_is_told_at_once(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 500);
	turn_to(wheel, 100);
	assert_int_equal(edo_wheel_reset(wheel, &timer, 50), -ETIME);
	assert_false(edo_wheel_is_armed(&timer));
	assert_false(edo_wheel_next(wheel, &(uint64_t){ 0 }));
}

/* p21: the first timer moved later leaves a wake that is too early, never one that is missing. */
static void pitfall_p21_a_first_timer_moved_later_does_not_delay_the_second(void **state)
{
	edo_wheel_timer first = { 0 }, second = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &first, 10);
	insert(wheel, &second, 70);
	reset(wheel, &first, 100000);
	assert_next(wheel, 10);
	turn_to(wheel, 10);
	assert_next(wheel, 64);
	assert_expires_at(wheel, 70, &second);
	assert_expires_at(wheel, 100000, &first);
}

/* p23 */
static void pitfall_p23_a_timer_armed_again_for_now_does_not_keep_the_loop_going(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	edo_wheel_timer *expired;
	unsigned rounds = 0;
	(void)state;

	insert(wheel, &timer, 1);
	while ((expired = edo_wheel_poll(wheel, UINT64_C(1) << 40))) {
		assert_int_equal(edo_wheel_insert(wheel, expired, expired->when + 1), -ETIME);
		assert_int_equal(edo_wheel_insert(wheel, expired, UINT64_C(1) << 40), -ETIME);
		rounds++;
	}
	assert_int_equal(rounds, 1);
}

/* p29: a removed timer is out at once, and counted out once. */
static void pitfall_p29_a_cancelled_timer_is_gone_at_once_and_counted_once(void **state)
{
	edo_wheel_timer timers[3] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	for (unsigned i = 0; i < 3; i++)
		insert(wheel, &timers[i], 100);
	assert_true(edo_wheel_remove(wheel, &timers[0]));
	assert_false(edo_wheel_remove(wheel, &timers[0]));
	memset(&timers[0], 0xa5, sizeof(timers[0]));
	assert_int_equal(edo_wheel_count(wheel), 2);
	assert_expires(wheel, 100, &timers[1]);
	assert_false(edo_wheel_remove(wheel, &timers[1]));
	assert_int_equal(edo_wheel_count(wheel), 1);
	assert_int_equal(edo_wheel_insert(wheel, &timers[2], 100), -ETIME);
	assert_int_equal(edo_wheel_count(wheel), 0);
	assert_null(edo_wheel_poll(wheel, 100));
}

/* p30: no list of expired timers exists outside the wheel: the second can still be moved. */
static void pitfall_p30_what_is_due_but_not_handed_out_can_be_moved_and_removed(void **state)
{
	edo_wheel_timer timers[4] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	bool is_one_removed = false;
	(void)state;

	for (unsigned i = 0; i < 4; i++)
		insert(wheel, &timers[i], 5000);
	assert_non_null(edo_wheel_poll(wheel, 5000));
	for (unsigned i = 0; i < 4; i++) {
		if (!edo_wheel_is_armed(&timers[i]))
			continue;
		if (!is_one_removed)
			is_one_removed = edo_wheel_remove(wheel, &timers[i]);
		else
			reset(wheel, &timers[i], 6000 + i);
	}
	assert_true(is_one_removed);
	assert_null(edo_wheel_poll(wheel, 5000));
	assert_int_equal(edo_wheel_count(wheel), 2);
}

/* p32: a wheel is initialised where it lies, whatever was there, and needs no more than that. */
static void pitfall_p32_a_wheel_is_initialised_in_place(void **state)
{
	edo_wheel on_the_stack;
	edo_wheel_timer timer = { 0 };
	(void)state;

	memset(&on_the_stack, 0xff, sizeof(on_the_stack));
	edo_wheel_init(&on_the_stack, 1);
	assert_sound(&on_the_stack);
	insert(&on_the_stack, &timer, 70);
	assert_expires_at(&on_the_stack, 70, &timer);
}

enum { CROWD = 5000 };

/* p33: however many lie in one slot, one call moves no more than its budget. */
static void pitfall_p33_a_crowded_slot_is_emptied_in_small_pieces(void **state)
{
	static edo_wheel_timer timers[CROWD];
	edo_wheel *wheel = wheel_at(0);
	unsigned calls = 0, budget = 0, expired = 0;
	(void)state;

	memset(timers, 0, sizeof(timers));
	for (unsigned i = 0; i < CROWD; i++)
		assert_int_equal(edo_wheel_insert(wheel, &timers[i], 30000 + i % 1000), 0);
	while (budget == 0) {
		budget = 64;
		calls++;
		while (edo_wheel_poll_budget(wheel, 32000, &budget))
			expired++;
		assert_true(expired <= calls * 64);
		assert_sound(wheel);
	}
	assert_int_equal(expired, CROWD);
	assert_in_range(calls, CROWD * 2 / 64, CROWD * 3 / 64 + 1);
}

/* p34 */
static void pitfall_p34_shutting_down_does_not_turn_the_wheel(void **state)
{
	edo_wheel_timer timers[3] = { 0 };
	edo_wheel *wheel = wheel_at(9);
	(void)state;

	insert(wheel, &timers[0], 10);
	insert(wheel, &timers[1], 7 * LAP);
	insert(wheel, &timers[2], EDO_WHEEL_MAX);
	for (unsigned i = 0; i < 3; i++)
		assert_non_null(edo_wheel_drain(wheel));
	assert_null(edo_wheel_drain(wheel));
	assert_int_equal(edo_wheel_elapsed(wheel), 9);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pitfall_p01_a_timer_one_lap_away_does_not_hide_a_near_one),
	cmocka_unit_test(pitfall_p01_the_present_slot_of_the_top_level_is_taken_last),
	cmocka_unit_test(pitfall_p02_no_pair_of_ticks_has_a_level_past_the_top),
	cmocka_unit_test(pitfall_p03_of_two_due_at_the_start_of_a_slot_one_can_be_removed),
	cmocka_unit_test(pitfall_p05_entries_may_go_back_into_the_slot_that_opens),
	cmocka_unit_test(pitfall_p05_a_half_emptied_slot_and_its_next_lap_are_not_confused),
	cmocka_unit_test(pitfall_p06_no_legal_tick_reads_as_a_signal),
	cmocka_unit_test(pitfall_p09_time_does_not_step_back),
	cmocka_unit_test(pitfall_p09_what_was_due_stays_due_when_the_clock_steps_back),
	cmocka_unit_test(pitfall_p10_a_reset_to_a_moment_past_is_told_at_once),
	cmocka_unit_test(pitfall_p21_a_first_timer_moved_later_does_not_delay_the_second),
	cmocka_unit_test(pitfall_p23_a_timer_armed_again_for_now_does_not_keep_the_loop_going),
	cmocka_unit_test(pitfall_p29_a_cancelled_timer_is_gone_at_once_and_counted_once),
	cmocka_unit_test(pitfall_p30_what_is_due_but_not_handed_out_can_be_moved_and_removed),
	cmocka_unit_test(pitfall_p32_a_wheel_is_initialised_in_place),
	cmocka_unit_test(pitfall_p33_a_crowded_slot_is_emptied_in_small_pieces),
	cmocka_unit_test(pitfall_p34_shutting_down_does_not_turn_the_wheel),
};

EDO_TEST_MAIN(tests)
