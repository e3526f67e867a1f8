/* What an owner does with its timers: arm, move, disarm, and what is refused (W1-W3). */
#include "wheel/rig.h"

static void sizes_are_as_promised(void **state)
{
	(void)state;
	assert_int_equal(sizeof(edo_wheel_timer), 32);
	assert_true(sizeof(edo_wheel) <= 7 * 1024);
}

static void a_timer_of_zeros_is_unarmed(void **state)
{
	edo_wheel_timer zeros = { 0 }, initialised;
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	memset(&initialised, 0xa5, sizeof(initialised));
	edo_wheel_timer_init(&initialised);
	assert_false(edo_wheel_is_armed(&zeros));
	assert_false(edo_wheel_is_armed(&initialised));
	assert_false(edo_wheel_remove(wheel, &zeros));
	insert(wheel, &zeros, 1);
	insert(wheel, &initialised, 1);
}

static void a_tick_at_or_before_the_present_is_refused(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(100);
	(void)state;

	assert_int_equal(edo_wheel_insert(wheel, &timer, 0), -ETIME);
	assert_int_equal(edo_wheel_insert(wheel, &timer, 99), -ETIME);
	assert_int_equal(edo_wheel_insert(wheel, &timer, 100), -ETIME);
	assert_int_equal(edo_wheel_reset(wheel, &timer, 100), -ETIME);
	assert_false(edo_wheel_is_armed(&timer));
	insert(wheel, &timer, 101);
	assert_expires_at(wheel, 101, &timer);
}

static void a_refused_tick_disarms_a_timer_that_was_armed(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(100);
	(void)state;

	insert(wheel, &timer, 200);
	assert_int_equal(edo_wheel_insert(wheel, &timer, 100), -ETIME);
	assert_false(edo_wheel_is_armed(&timer));
	assert_int_equal(edo_wheel_count(wheel), 0);
	insert(wheel, &timer, 200);
	assert_int_equal(edo_wheel_reset(wheel, &timer, 7), -ETIME);
	assert_false(edo_wheel_is_armed(&timer));
	assert_int_equal(edo_wheel_count(wheel), 0);
	turn_to(wheel, 300);
}

static void ticks_beyond_the_longest_change_nothing(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	assert_int_equal(edo_wheel_insert(wheel, &timer, EDO_WHEEL_MAX + 1), -EINVAL);
	assert_false(edo_wheel_is_armed(&timer));
	insert(wheel, &timer, 5);
	assert_int_equal(edo_wheel_insert(wheel, &timer, UINT64_MAX), -EINVAL);
	assert_int_equal(edo_wheel_reset(wheel, &timer, EDO_WHEEL_MAX + 1), -EINVAL);
	assert_expires_at(wheel, 5, &timer);
}

static void the_longest_tick_is_legal(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, EDO_WHEEL_MAX);
	assert_expires_at(wheel, EDO_WHEEL_MAX, &timer);
	assert_int_equal(edo_wheel_insert(wheel, &timer, EDO_WHEEL_MAX), -ETIME);
}

static void arming_again_replaces(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 50);
	insert(wheel, &timer, 5000);
	assert_int_equal(edo_wheel_count(wheel), 1);
	assert_lies_alone(wheel, 2, 1);
	insert(wheel, &timer, 20);
	assert_lies_alone(wheel, 0, 20);
	assert_expires_at(wheel, 20, &timer);
	turn_to(wheel, 10000);
}

static void removal_is_idempotent_and_says_what_was(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 50);
	assert_true(edo_wheel_remove(wheel, &timer));
	assert_false(edo_wheel_remove(wheel, &timer));
	assert_false(edo_wheel_next(wheel, &(uint64_t){ 0 }));
	turn_to(wheel, 100);
	assert_false(edo_wheel_remove(wheel, &timer));
}

/* W2 */
static void removal_leaves_the_neighbours_and_their_bit(void **state)
{
	edo_wheel_timer timers[3] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	uint64_t bits;
	(void)state;

	for (unsigned i = 0; i < 3; i++)
		insert(wheel, &timers[i], 700);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(edo_wheel_occupancy(wheel, 1, &bits, NULL), 3 - i);
		assert_int_equal(bits, 1 << 10);
		assert_true(edo_wheel_remove(wheel, &timers[(i + 1) % 3]));
		assert_sound(wheel);
	}
	assert_int_equal(edo_wheel_occupancy(wheel, 1, &bits, NULL), 0);
	assert_int_equal(bits, 0);
}

static void a_move_to_later_touches_no_list(void **state)
{
	edo_wheel_timer timers[3] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	edo_wheel before;
	(void)state;

	for (unsigned i = 0; i < 3; i++)
		insert(wheel, &timers[i], 40);
	before = *wheel;
	reset(wheel, &timers[1], 3000000);
	assert_memory_equal(wheel, &before, sizeof(before));
	assert_ptr_equal(timers[0].node.next, &timers[1].node);
	assert_ptr_equal(timers[2].node.prev, &timers[1].node);
	assert_expires(wheel, 40, &timers[0]);
	assert_expires(wheel, 40, &timers[2]);
}

/* W1: what it is removed from is where it lies, not where its tick would have it. */
static void a_timer_moved_later_is_removed_from_where_it_lies(void **state)
{
	edo_wheel_timer moved = { 0 }, other = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &other, 50);
	insert(wheel, &moved, 40);
	reset(wheel, &moved, 50);
	assert_true(edo_wheel_remove(wheel, &moved));
	assert_sound(wheel);
	assert_next(wheel, 50);
	assert_expires_at(wheel, 50, &other);
}

static void a_timer_moved_later_expires_later(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 40);
	reset(wheel, &timer, 41);
	reset(wheel, &timer, 5000);
	assert_next(wheel, 40);
	turn_to(wheel, 40);
	assert_expires_at(wheel, 5000, &timer);
}

static void a_timer_moved_earlier_expires_earlier(void **state)
{
	static const uint64_t from[] = { 41, 4000, 5000, 20000000, LAP, 9 * LAP, EDO_WHEEL_MAX };
	(void)state;

	for (unsigned i = 0; i < 7; i++) {
		edo_wheel_timer timer = { 0 };
		edo_wheel *wheel = wheel_at(0);

		insert(wheel, &timer, from[i]);
		reset(wheel, &timer, from[i] - 1);
		reset(wheel, &timer, 40);
		assert_expires_at(wheel, 40, &timer);
	}
}

/* Later and earlier again, within what its place allows: the tick that counts is the last. */
static void a_timer_may_be_moved_to_and_fro(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 4200);
	reset(wheel, &timer, 100000);
	reset(wheel, &timer, 4097);
	assert_lies_alone(wheel, 2, 1);
	assert_expires_at(wheel, 4097, &timer);
}

static void an_unarmed_timer_is_armed_by_a_reset(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	reset(wheel, &timer, 9);
	assert_int_equal(edo_wheel_count(wheel), 1);
	assert_expires_at(wheel, 9, &timer);
	reset(wheel, &timer, 12);
	assert_expires_at(wheel, 12, &timer);
}

static void the_spare_fields_are_never_touched(void **state)
{
	edo_wheel_timer timer = { .spare16 = 0xbeef, .spare32 = 0xdeadcafe };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	edo_wheel_timer_init(&timer);
	insert(wheel, &timer, 300000);
	reset(wheel, &timer, 400000);
	reset(wheel, &timer, 5);
	assert_expires_at(wheel, 5, &timer);
	insert(wheel, &timer, 6);
	assert_true(edo_wheel_remove(wheel, &timer));
	assert_int_equal(timer.spare16, 0xbeef);
	assert_int_equal(timer.spare32, 0xdeadcafe);
}

/*
 * Whoever embeds the timer keeps what it likes in the tick of an unarmed one (the driver: signals).
 */
static void an_unarmed_timer_s_tick_means_nothing(void **state)
{
	edo_wheel_timer timer = { .when = UINT64_MAX };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	assert_false(edo_wheel_is_armed(&timer));
	assert_false(edo_wheel_remove(wheel, &timer));
	reset(wheel, &timer, 3);
	assert_expires_at(wheel, 3, &timer);
	assert_int_equal(timer.when, 3);
}

static void draining_takes_everything_out_and_time_stands_still(void **state)
{
	static const uint64_t ticks[] = { 1001, 1500, 70000, LAP, 40 * LAP, EDO_WHEEL_MAX };
	edo_wheel_timer timers[6] = { 0 };
	edo_wheel *wheel = wheel_at(1000);
	edo_wheel_timer *timer;
	unsigned drained = 0;
	(void)state;

	for (unsigned i = 0; i < 6; i++)
		insert(wheel, &timers[i], ticks[i]);
	for (; (timer = edo_wheel_drain(wheel)); drained++) {
		assert_false(edo_wheel_is_armed(timer));
		assert_sound(wheel);
	}
	assert_int_equal(drained, 6);
	assert_int_equal(edo_wheel_count(wheel), 0);
	assert_int_equal(edo_wheel_elapsed(wheel), 1000);
	insert(wheel, &timers[0], 1001);
	assert_expires_at(wheel, 1001, &timers[0]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(sizes_are_as_promised),
	cmocka_unit_test(a_timer_of_zeros_is_unarmed),
	cmocka_unit_test(a_tick_at_or_before_the_present_is_refused),
	cmocka_unit_test(a_refused_tick_disarms_a_timer_that_was_armed),
	cmocka_unit_test(ticks_beyond_the_longest_change_nothing),
	cmocka_unit_test(the_longest_tick_is_legal),
	cmocka_unit_test(arming_again_replaces),
	cmocka_unit_test(removal_is_idempotent_and_says_what_was),
	cmocka_unit_test(removal_leaves_the_neighbours_and_their_bit),
	cmocka_unit_test(a_move_to_later_touches_no_list),
	cmocka_unit_test(a_timer_moved_later_is_removed_from_where_it_lies),
	cmocka_unit_test(a_timer_moved_later_expires_later),
	cmocka_unit_test(a_timer_moved_earlier_expires_earlier),
	cmocka_unit_test(a_timer_may_be_moved_to_and_fro),
	cmocka_unit_test(an_unarmed_timer_is_armed_by_a_reset),
	cmocka_unit_test(the_spare_fields_are_never_touched),
	cmocka_unit_test(an_unarmed_timer_s_tick_means_nothing),
	cmocka_unit_test(draining_takes_everything_out_and_time_stands_still),
};

EDO_TEST_MAIN(tests)
