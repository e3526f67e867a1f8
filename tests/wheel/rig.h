/*
 * What the wheel's tests say again and again. Every step here also asks the wheel's own checker.
 */
#ifndef EDO_TESTS_WHEEL_RIG_H
#define EDO_TESTS_WHEEL_RIG_H

#include "support/runner.h"
#include "wheel/wheel.h"
#include <errno.h>
#include <string.h>

#define LAP (UINT64_C(1) << 36)

static edo_wheel rig_wheel;

static inline void assert_sound(const edo_wheel *wheel)
{
	assert_int_equal(edo_wheel_check(wheel), 0);
}

/* A wheel whose present is `start`; the same storage each time, full of rubbish before. */
static inline edo_wheel *wheel_at(uint64_t start)
{
	memset(&rig_wheel, 0xa5, sizeof(rig_wheel));
	edo_wheel_init(&rig_wheel, start);
	assert_sound(&rig_wheel);
	return &rig_wheel;
}

static inline void insert(edo_wheel *wheel, edo_wheel_timer *timer, uint64_t when)
{
	assert_int_equal(edo_wheel_insert(wheel, timer, when), 0);
	assert_true(edo_wheel_is_armed(timer));
	assert_sound(wheel);
}

static inline void reset(edo_wheel *wheel, edo_wheel_timer *timer, uint64_t when)
{
	assert_int_equal(edo_wheel_reset(wheel, timer, when), 0);
	assert_sound(wheel);
}

/* Nothing expires on the way to `now`. */
static inline void turn_to(edo_wheel *wheel, uint64_t now)
{
	assert_null(edo_wheel_poll(wheel, now));
	assert_int_equal(edo_wheel_elapsed(wheel), now);
	assert_sound(wheel);
}

static inline void assert_expires(edo_wheel *wheel, uint64_t now, edo_wheel_timer *timer)
{
	assert_ptr_equal(edo_wheel_poll(wheel, now), timer);
	assert_false(edo_wheel_is_armed(timer));
	assert_sound(wheel);
}

/* `timer` expires at its tick: not one before. */
static inline void assert_expires_at(edo_wheel *wheel, uint64_t when, edo_wheel_timer *timer)
{
	if (edo_wheel_elapsed(wheel) < when - 1)
		turn_to(wheel, when - 1);
	assert_expires(wheel, when, timer);
	assert_null(edo_wheel_poll(wheel, when));
}

static inline void assert_next(const edo_wheel *wheel, uint64_t expected)
{
	uint64_t at;

	assert_true(edo_wheel_next(wheel, &at));
	assert_int_equal(at, expected);
}

/* The wheel holds one timer, and it lies there. */
static inline void assert_lies_alone(const edo_wheel *wheel, unsigned level, unsigned slot)
{
	assert_int_equal(edo_wheel_count(wheel), 1);
	for (unsigned other = 0; other < EDO_WHEEL_LEVELS; other++) {
		size_t counts[EDO_WHEEL_SLOTS];
		uint64_t bits;
		int64_t found = edo_wheel_occupancy(wheel, other, &bits, counts);

		assert_int_equal(found, other == level);
		assert_int_equal(bits, other == level ? UINT64_C(1) << slot : 0);
		assert_int_equal(counts[slot], other == level);
	}
}

#endif
