/* Where a tick has its place, and how a timer travels from dial to dial (W3, W5). */
#include "wheel/rig.h"

/* The worked example of docs/facts.md. */
static void timers_travel_as_in_the_worked_example(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 50);
	assert_lies_alone(wheel, 0, 50);
	assert_next(wheel, 50);
	assert_expires_at(wheel, 50, &timer);

	wheel = wheel_at(0);
	insert(wheel, &timer, 800);
	assert_lies_alone(wheel, 1, 12);
	assert_next(wheel, 768);
	turn_to(wheel, 767);
	assert_lies_alone(wheel, 1, 12);
	turn_to(wheel, 768);
	assert_lies_alone(wheel, 0, 32);
	assert_next(wheel, 800);
	assert_expires_at(wheel, 800, &timer);
}

static void a_timer_cascades_through_every_dial_in_the_worked_example(void **state)
{
	static const struct {
		uint64_t at;
		unsigned level, slot;
	} stations[] = { { 262144, 2, 9 }, { 299008, 1, 15 }, { 299968, 0, 32 } };
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 300000);
	assert_lies_alone(wheel, 3, 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_next(wheel, stations[i].at);
		turn_to(wheel, stations[i].at - 1);
		assert_next(wheel, stations[i].at);
		turn_to(wheel, stations[i].at);
		assert_lies_alone(wheel, stations[i].level, stations[i].slot);
	}
	assert_next(wheel, 300000);
	assert_expires_at(wheel, 300000, &timer);
}

static void all_three_timers_of_the_worked_example_expire_in_one_wheel(void **state)
{
	edo_wheel_timer timers[3] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timers[0], 50);
	insert(wheel, &timers[1], 800);
	insert(wheel, &timers[2], 300000);
	assert_expires_at(wheel, 50, &timers[0]);
	assert_expires_at(wheel, 800, &timers[1]);
	assert_expires_at(wheel, 300000, &timers[2]);
}

static void levels_are_those_of_the_reference(void **state)
{
	static const uint64_t ticks[] = { 10, 100, 5000, 600000, 259200000, 2592000000 };
	(void)state;

	for (unsigned level = 0; level < 6; level++) {
		edo_wheel_timer timer = { 0 };
		edo_wheel *wheel = wheel_at(0);

		insert(wheel, &timer, ticks[level]);
		assert_lies_alone(wheel, level, (unsigned)(ticks[level] >> (6 * level)) & 63);
	}
}

/* The level is the dial that differs, not the distance: two ticks apart across a carry is far. */
static void a_level_is_the_highest_dial_that_differs(void **state)
{
	edo_wheel_timer timer = { 0 };
	(void)state;

	for (unsigned level = 1; level < 6; level++) {
		uint64_t carry = UINT64_C(1) << (6 * level);
		edo_wheel *wheel = wheel_at(carry - 1);

		insert(wheel, &timer, carry + 1);
		assert_lies_alone(wheel, level, 1);
		assert_next(wheel, carry);
		turn_to(wheel, carry);
		assert_lies_alone(wheel, 0, 1);
		assert_expires_at(wheel, carry + 1, &timer);
	}
}

static void expect_exact_expiry(uint64_t start, uint64_t when)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(start);
	uint64_t at = 0;

	if (when <= start || when > EDO_WHEEL_MAX)
		return;
	insert(wheel, &timer, when);
	assert_true(edo_wheel_next(wheel, &at));
	assert_in_range(at, start + 1, when);
	assert_expires_at(wheel, when, &timer);

	/* And not in one jump, but going where the wheel itself says. */
	wheel = wheel_at(start);
	insert(wheel, &timer, when);
	for (unsigned turns = 0; edo_wheel_next(wheel, &at) && at < when; turns++) {
		assert_true(turns < 7);
		turn_to(wheel, at);
	}
	assert_int_equal(at, when);
	assert_expires(wheel, when, &timer);
}

static const uint64_t notable_ticks[] = {
	0,
	1,
	2,
	63,
	UINT64_C(1) << 6,
	UINT64_C(1) << 12,
	UINT64_C(1) << 18,
	UINT64_C(1) << 24,
	UINT64_C(1) << 30,
	LAP - 1,
	LAP,
	LAP + 1,
	UINT64_C(1) << 42,
	UINT64_C(1) << 63,
	(UINT64_C(1) << 63) - 1,
	UINT64_MAX - 2 * LAP,
	UINT64_MAX - LAP,
	UINT64_MAX - 5000,
	UINT64_MAX - 64,
	UINT64_MAX - 4,
	UINT64_MAX - 3,
};

/* k * 64^n - 1, k * 64^n, k * 64^n + 1: counted from zero and from the start. */
static void every_boundary_of_every_level_is_exact_from_every_start(void **state)
{
	static const uint64_t digits[] = { 1, 2, 31, 63, 64, 65 };
	(void)state;

	for (size_t s = 0; s < sizeof(notable_ticks) / sizeof(notable_ticks[0]); s++)
		for (unsigned level = 0; level < 11; level++)
			for (unsigned k = 0; k < 6; k++)
				for (uint64_t off = 0; off < 3; off++) {
					uint64_t tick = (digits[k] << (6 * level)) + off - 1;

					expect_exact_expiry(notable_ticks[s], tick);
					expect_exact_expiry(notable_ticks[s],
							    notable_ticks[s] + tick);
				}
}

static void every_notable_tick_is_exact_from_every_other(void **state)
{
	size_t count = sizeof(notable_ticks) / sizeof(notable_ticks[0]);
	(void)state;

	for (size_t from = 0; from < count; from++)
		for (size_t to = from + 1; to < count; to++)
			expect_exact_expiry(notable_ticks[from], notable_ticks[to]);
}

/* W5: a slot of the top level holds timers of several laps; each comes in its own. */
static void timers_of_several_laps_share_a_slot_and_come_in_their_own_lap(void **state)
{
	edo_wheel_timer laps[5] = { 0 };
	edo_wheel *wheel = wheel_at(7);
	(void)state;

	for (unsigned lap = 5; lap-- > 0;)
		insert(wheel, &laps[lap], (lap + 1) * LAP + 3);
	for (unsigned lap = 0; lap < 5; lap++)
		assert_expires_at(wheel, (lap + 1) * LAP + 3, &laps[lap]);
}

/* W5: when the nearest of a slot is gone the wheel may look too early, never too late. */
static void removing_the_nearest_lap_leaves_the_farther_exact(void **state)
{
	edo_wheel_timer near = { 0 }, far = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &near, LAP + 5);
	insert(wheel, &far, 3 * LAP + 5);
	assert_true(edo_wheel_remove(wheel, &near));
	assert_next(wheel, LAP);
	turn_to(wheel, LAP);
	assert_next(wheel, 3 * LAP);
	assert_expires_at(wheel, 3 * LAP + 5, &far);
}

/* A jump over 2^28 laps is one step, not so many. */
static void the_whole_of_time_can_be_jumped_over(void **state)
{
	edo_wheel_timer timers[64] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	for (unsigned i = 0; i < 64; i++)
		insert(wheel, &timers[i],
		       EDO_WHEEL_MAX - (uint64_t)i * (LAP + (UINT64_C(1) << 30)));
	for (unsigned i = 64; i-- > 0;)
		assert_expires(wheel, UINT64_MAX, &timers[i]);
	assert_null(edo_wheel_poll(wheel, UINT64_MAX));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(timers_travel_as_in_the_worked_example),
	cmocka_unit_test(a_timer_cascades_through_every_dial_in_the_worked_example),
	cmocka_unit_test(all_three_timers_of_the_worked_example_expire_in_one_wheel),
	cmocka_unit_test(levels_are_those_of_the_reference),
	cmocka_unit_test(a_level_is_the_highest_dial_that_differs),
	cmocka_unit_test(every_boundary_of_every_level_is_exact_from_every_start),
	cmocka_unit_test(every_notable_tick_is_exact_from_every_other),
	cmocka_unit_test(timers_of_several_laps_share_a_slot_and_come_in_their_own_lap),
	cmocka_unit_test(removing_the_nearest_lap_leaves_the_farther_exact),
	cmocka_unit_test(the_whole_of_time_can_be_jumped_over),
};

EDO_TEST_MAIN(tests)
