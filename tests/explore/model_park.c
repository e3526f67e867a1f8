/*
 * A parked thread and those who wake it: a wake-up ends the present wait or the next one, is never lost, and
 * what was done before it is seen after.
 */
#include "driver/driver.h"
#include "explore/explore.h"

static struct edo_thread_park park;
static int note; /* plain: written before a wake, read after the wait that it ended */

static void notes_and_wakes(void *argument)
{
	(void)argument;
	note = 1;
	edo_thread_park_wake(&park);
}

static void wakes(void *argument)
{
	(void)argument;
	edo_thread_park_wake(&park);
}

/* Whatever ends a wait early, the notification comes in the end. */
static void waits_until_woken(void *argument)
{
	(void)argument;
	while (!edo_thread_park_wait(&park, UINT64_MAX))
		;
	explore_check(note == 1);
}

static void looks_until_woken(void *argument)
{
	(void)argument;
	while (!edo_thread_park_wait(&park, 0))
		explore_wait_a_moment();
	explore_check(note == 1);
}

static void one_wake(void)
{
	explore_start(waits_until_woken, NULL);
	explore_start(notes_and_wakes, NULL);
	explore_join_all();
	explore_check(park.state == 0);
}

static void one_wake_interrupted(void)
{
	explore_interruptions(2);
	one_wake();
}

static void one_wake_looked_for(void)
{
	explore_start(looks_until_woken, NULL);
	explore_start(notes_and_wakes, NULL);
	explore_join_all();
}

static void waits_twice(void *argument)
{
	(void)argument;
	(void)edo_thread_park_wait(&park, UINT64_MAX);
	(void)edo_thread_park_wait(&park, 100);
}

/* Two wakes end one wait or two; the second has an end of its own. */
static void two_wakes(void)
{
	explore_start(waits_twice, NULL);
	explore_start(wakes, NULL);
	explore_start(wakes, NULL);
	explore_join_all();
	explore_check(park.state != 1);
}

static void waits_for_a_while(void *argument)
{
	bool *was_woken = argument;

	*was_woken = edo_thread_park_wait(&park, 100);
	if (*was_woken)
		explore_check(note == 1);
}

/* A wake that comes too late for it is there for the next wait. */
static void a_wake_and_a_limit(void)
{
	bool was_woken = false;

	explore_start(waits_for_a_while, &was_woken);
	explore_start(notes_and_wakes, NULL);
	explore_join_all();
	if (!was_woken)
		explore_check(edo_thread_park_wait(&park, 0));
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "a wake ends a wait", one_wake, ALL, ALL },
	{ "a wake ends a wait that is interrupted", one_wake_interrupted, ALL, ALL },
	{ "a wake is found by looking", one_wake_looked_for, ALL, ALL },
	{ "two wakes end two waits", two_wakes, ALL, ALL },
	{ "a wake meets the end of a wait", a_wake_and_a_limit, ALL, ALL },
};

EXPLORE_MAIN(models)
