/*
 * The wheel against a plain array, over random operations from start ticks of every kind.
 *
 * EDO_TEST_SEED replays a run (a failure prints its seed), EDO_TEST_OPS sets how many operations.
 */
#include "support/runner.h"
#include "wheel/model.h"
#include <stdio.h>
#include <stdlib.h>

enum { STEPS_OF_A_LIFE = 1000 };

struct seeded {
	struct wheel_model_source source;
	uint64_t state;
};

/* splitmix64 */
static uint64_t draw(struct wheel_model_source *source, unsigned bytes)
{
	struct seeded *seeded = (struct seeded *)source;
	uint64_t mixed = seeded->state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	mixed ^= mixed >> 31;
	return mixed >> (64 - 8 * bytes);
}

static bool never(const struct wheel_model_source *source)
{
	(void)source;
	return false;
}

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

/* p21: re-armed first timers, coarse levels hiding finer ones, all levels, all boundaries. */
static void pitfall_p21_the_wheel_agrees_with_a_plain_array(void **state)
{
	unsigned long left = from_environment("EDO_TEST_OPS", 300000 / edo_test_slowdown());
	unsigned long seed = from_environment("EDO_TEST_SEED", 1);
	(void)state;

	while (left > 0) {
		unsigned long steps = left < STEPS_OF_A_LIFE ? left : STEPS_OF_A_LIFE;
		struct seeded seeded = { { draw, never }, seed };
		unsigned long step;
		const char *wrong = wheel_model_run(&seeded.source, steps, &step);

		if (wrong)
			fail_msg("step %lu: not so: %s\nreplay: EDO_TEST_SEED=%lu EDO_TEST_OPS=%u",
				 step, wrong, seed, STEPS_OF_A_LIFE);
		left -= steps;
		seed++;
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pitfall_p21_the_wheel_agrees_with_a_plain_array),
};

EDO_TEST_MAIN(tests)
