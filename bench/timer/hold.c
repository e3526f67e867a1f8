/* See hold.h. */
#include "timer/hold.h"
#include <edo/wheel.h>
#include <string.h>
#include <time.h>

/* What turn.c begins a hold with, and how many wakers end it. */
enum { WHOLE_BUDGET = 32, WHOLE_BATCH = 32 };

/* Lengths in steps of 100 ns, the last for all beyond. */
enum { STEP_NS = 100, STEPS = 10000 };

static bool is_measuring;
static uint64_t began, longest, longest_turn, count;
static unsigned handed_out;
static uint64_t histogram[STEPS];

static uint64_t own_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void note(uint64_t length)
{
	uint64_t step = length / STEP_NS;

	histogram[step < STEPS ? step : STEPS - 1]++;
	count++;
	if (length > longest)
		longest = length;
}

edo_wheel_timer *__real_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget);
edo_wheel_timer *__wrap_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget);
edo_wheel_timer *__wrap_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget)
{
	edo_wheel_timer *timer;

	if (!is_measuring)
		return __real_edo_wheel_poll_budget(wheel, now, budget);
	if (*budget == WHOLE_BUDGET) {
		began = own_time();
		handed_out = 0;
	}
	timer = __real_edo_wheel_poll_budget(wheel, now, budget);
	if (!timer || ++handed_out == WHOLE_BATCH)
		note(own_time() - began);
	return timer;
}

/* One look at events and timers; the thread's own time excludes its wait. */
struct edo_driver;
void __real_edo_driver_turn(struct edo_driver *driver, uint64_t max_wait, bool may_jump);
void __wrap_edo_driver_turn(struct edo_driver *driver, uint64_t max_wait, bool may_jump);
void __wrap_edo_driver_turn(struct edo_driver *driver, uint64_t max_wait, bool may_jump)
{
	uint64_t start, length;

	if (!is_measuring) {
		__real_edo_driver_turn(driver, max_wait, may_jump);
		return;
	}
	start = own_time();
	__real_edo_driver_turn(driver, max_wait, may_jump);
	length = own_time() - start;
	if (length > longest_turn)
		longest_turn = length;
}

void hold_measure(bool on)
{
	is_measuring = on;
}

uint64_t hold_quantile(double share)
{
	uint64_t wanted = (uint64_t)((double)count * share), seen = 0;
	uint64_t step = 0;

	while (step < STEPS - 1 && (seen += histogram[step]) <= wanted)
		step++;
	return (step + 1) * STEP_NS;
}

uint64_t hold_longest(void)
{
	return longest;
}

uint64_t hold_longest_turn(void)
{
	return longest_turn;
}

void hold_forget(void)
{
	longest = longest_turn = count = 0;
	memset(histogram, 0, sizeof(histogram));
}
