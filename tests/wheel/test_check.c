/* The checker sees what is broken: each test breaks one thing behind the wheel's back. */
#include "wheel/rig.h"

static edo_wheel_timer timers[4];

/* Two in level 0 slot 40, one in level 2, one a lap away. */
static edo_wheel *wheel_to_break(void)
{
	edo_wheel *wheel = wheel_at(0);

	memset(timers, 0, sizeof(timers));
	insert(wheel, &timers[0], 40);
	insert(wheel, &timers[1], 40);
	insert(wheel, &timers[2], 5000);
	insert(wheel, &timers[3], LAP + 7);
	return wheel;
}

static void assert_broken(const edo_wheel *wheel)
{
	assert_true(edo_wheel_check(wheel) < 0);
}

static void the_checker_sees_a_wrong_place(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	(void)state;

	timers[0].slot++;
	assert_broken(wheel);
	timers[0].slot--;
	timers[2].level++;
	assert_broken(wheel);
}

static void the_checker_sees_a_bit_that_does_not_tell_the_truth(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	(void)state;

	wheel->occupied[0] = 0;
	assert_broken(wheel);
	wheel = wheel_to_break();
	wheel->occupied[3] |= 1;
	assert_broken(wheel);
}

static void the_checker_sees_a_timer_that_would_be_late(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	(void)state;

	timers[0].when = 39;
	assert_broken(wheel);
	wheel = wheel_to_break();
	timers[3].when = LAP - 1;
	assert_broken(wheel);
}

static void the_checker_sees_a_slot_that_was_passed(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	(void)state;

	wheel->present = wheel->dials = 41;
	assert_broken(wheel);
	wheel = wheel_to_break();
	wheel->present = wheel->dials = 4096;
	timers[0].when = timers[1].when = 5000;
	assert_broken(wheel);
}

static void the_checker_sees_a_present_behind_the_dials(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	(void)state;

	wheel->dials = 1;
	assert_broken(wheel);
}

static void the_checker_sees_links_that_do_not_agree(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	(void)state;

	timers[1].node.prev = &timers[2].node;
	assert_broken(wheel);
}

static void the_checker_sees_a_wrong_count(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	(void)state;

	wheel->count++;
	assert_broken(wheel);
}

static void the_checker_sees_a_lap_that_was_forgotten(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	(void)state;

	wheel->top_opens[0] = 2 * LAP;
	assert_broken(wheel);
	wheel->top_opens[0] = 0;
	assert_broken(wheel);
}

static void the_checker_sees_a_half_cascaded_timer_that_lost_its_origin(void **state)
{
	edo_wheel *wheel = wheel_to_break();
	unsigned budget = 2;
	(void)state;

	while (edo_wheel_poll_budget(wheel, 40, &budget))
		;
	budget = 1;
	insert(wheel, &timers[0], 5001);
	assert_null(edo_wheel_poll_budget(wheel, 4999, &budget));
	assert_false(edo_wheel_occupancy(wheel, 2, NULL, NULL) == 0);
	assert_sound(wheel);
	timers[0].slot++;
	timers[2].slot++;
	assert_broken(wheel);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_checker_sees_a_wrong_place),
	cmocka_unit_test(the_checker_sees_a_bit_that_does_not_tell_the_truth),
	cmocka_unit_test(the_checker_sees_a_timer_that_would_be_late),
	cmocka_unit_test(the_checker_sees_a_slot_that_was_passed),
	cmocka_unit_test(the_checker_sees_a_present_behind_the_dials),
	cmocka_unit_test(the_checker_sees_links_that_do_not_agree),
	cmocka_unit_test(the_checker_sees_a_wrong_count),
	cmocka_unit_test(the_checker_sees_a_lap_that_was_forgotten),
	cmocka_unit_test(the_checker_sees_a_half_cascaded_timer_that_lost_its_origin),
};

EDO_TEST_MAIN(tests)
