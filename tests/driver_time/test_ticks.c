/* Deadlines to ticks and back (T1): exact for all 64-bit values, at any resolution. */
#include "rig.h"
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

static struct edo_time_driver ticking(uint64_t resolution)
{
	return (struct edo_time_driver){ .resolution = resolution,
					 .reciprocal = UINT64_MAX / resolution };
}

static const uint64_t resolutions[] = {
	1,     2,     3,       7,       64,      1000,     1001,      1024,       4095,
	50000, 99991, 1000000, 1000003, 1 << 20, 16666667, 999999937, 1000000000,
};
enum { RESOLUTIONS = sizeof resolutions / sizeof resolutions[0] };

static void check(uint64_t resolution, uint64_t ns)
{
	struct edo_time_driver time = ticking(resolution);
	wide up = ((wide)ns + resolution - 1) / resolution;
	uint64_t expected = up < EDO_TICK_MAX ? (uint64_t)up : EDO_TICK_MAX;

	assert_int_equal(edo_time_tick_of(&time, ns), expected);
	assert_int_equal(edo_time_tick_at(&time, ns), ns / resolution);
}

static void a_deadline_is_rounded_up_and_the_present_down_exactly(void **state)
{
	uint64_t seed = rig_seed();

	(void)state;
	for (int r = 0; r < RESOLUTIONS; r++)
		for (int i = 0; i < 20000; i++) {
			uint64_t ns = rig_random(&seed) >> (rig_random(&seed) & 63);

			check(resolutions[r], ns);
			check(resolutions[r], UINT64_MAX - ns);
			check(1 + (ns & 0x3fffffff), rig_random(&seed));
		}
}

static void at_the_edges_of_a_tick_nothing_is_off_by_one(void **state)
{
	(void)state;
	for (int r = 0; r < RESOLUTIONS; r++)
		for (uint64_t k = 1; k < UINT64_C(1) << 62; k <<= 1) {
			wide edge = (wide)k * resolutions[r];

			for (unsigned around = 0; around < 3 && edge < UINT64_MAX; around++)
				check(resolutions[r], (uint64_t)edge - 1 + around);
		}
	for (int r = 0; r < RESOLUTIONS; r++)
		for (uint64_t ns = 0; ns < 3; ns++) {
			check(resolutions[r], ns);
			check(resolutions[r], UINT64_MAX - ns);
		}
}

/* p06: a deadline that saturates is clamped below all signals. */
static void pitfall_p06_the_latest_deadline_is_a_tick_and_no_signal(void **state)
{
	struct edo_time_driver finest = ticking(1), usual = ticking(MS);

	(void)state;
	for (uint64_t ns = UINT64_MAX - 5; ns != 0; ns++)
		assert_true(edo_time_tick_of(&finest, ns) <= EDO_TICK_MAX);
	assert_true(EDO_TICK_MAX < EDO_TICK_SHUTDOWN);
	assert_true(EDO_TICK_MAX <= EDO_WHEEL_MAX);
	assert_int_equal(edo_time_tick_of(&usual, EDO_FOREVER), EDO_FOREVER / MS + 1);
}

static void a_tick_begins_at_its_instant_or_never(void **state)
{
	struct edo_time_driver time = ticking(MS);

	(void)state;
	assert_int_equal(edo_time_instant_of(&time, 0), 0);
	assert_int_equal(edo_time_instant_of(&time, 3600000), EDO_HOUR(1));
	assert_int_equal(edo_time_instant_of(&time, UINT64_MAX / MS), UINT64_MAX / MS * MS);
	assert_int_equal(edo_time_instant_of(&time, UINT64_MAX / MS + 1), EDO_FOREVER);
	assert_int_equal(edo_time_instant_of(&time, EDO_TICK_MAX), EDO_FOREVER);
}

/* p22: both rounded down, a timer of 1.9 ms could fire after 1.1 ms. */
static void pitfall_p22_deadlines_go_up_and_the_present_goes_down(void **state)
{
	struct edo_time_driver time = ticking(MS);
	uint64_t armed_at = 900000, deadline = armed_at + 1 * MS;

	(void)state;
	assert_int_equal(edo_time_tick_of(&time, deadline), 2);
	assert_int_equal(edo_time_tick_at(&time, deadline), 1);
	assert_true(edo_time_instant_of(&time, edo_time_tick_of(&time, deadline)) >= deadline);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_deadline_is_rounded_up_and_the_present_down_exactly),
	cmocka_unit_test(at_the_edges_of_a_tick_nothing_is_off_by_one),
	cmocka_unit_test(pitfall_p06_the_latest_deadline_is_a_tick_and_no_signal),
	cmocka_unit_test(a_tick_begins_at_its_instant_or_never),
	cmocka_unit_test(pitfall_p22_deadlines_go_up_and_the_present_goes_down),
};

EDO_TEST_MAIN(tests)
