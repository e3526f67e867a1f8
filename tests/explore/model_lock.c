/*
 * The lock, as it is: its word, its spinning, its futex. Two or three threads change what it guards. By default
 * a thread that spins waits until another has done something, and then gets the lock; where it spins in vain it
 * comes to the futex.
 */
#include "base/lock.h"
#include "explore/explore.h"

static struct edo_lock lock;
static unsigned guarded; /* plain: two at once would be a data race */

static void adds_one(void *argument)
{
	(void)argument;
	edo_lock_acquire(&lock, EDO_RANK_POOL);
	guarded++;
	edo_lock_release(&lock, EDO_RANK_POOL);
}

static void adds_one_if_free(void *argument)
{
	unsigned *added = argument;

	if (!edo_lock_try(&lock, EDO_RANK_POOL))
		return;
	guarded++;
	*added = 1;
	edo_lock_release(&lock, EDO_RANK_POOL);
}

static void check_free(unsigned expected)
{
	explore_check(guarded == expected);
	explore_check(lock.word == 0);
}

static void two_threads(void)
{
	explore_start(adds_one, NULL);
	explore_start(adds_one, NULL);
	explore_join_all();
	check_free(2);
}

static void two_threads_and_the_futex(void)
{
	explore_spin_in_vain();
	two_threads();
}

static void two_threads_interrupted(void)
{
	explore_spin_in_vain();
	explore_interruptions(1);
	two_threads();
}

static void one_tries(void)
{
	unsigned added = 0;

	explore_start(adds_one, NULL);
	explore_start(adds_one_if_free, &added);
	explore_join_all();
	check_free(1 + added);
}

static void three_add(void)
{
	explore_start(adds_one, NULL);
	explore_start(adds_one, NULL);
	explore_start(adds_one, NULL);
	explore_join_all();
	check_free(3);
}

/* Two may sleep, and one wake is made: who is woken must pass it on. */
static void three_add_and_the_futex(void)
{
	explore_spin_in_vain();
	three_add();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

/* Whoever spins in vain makes 64 rounds, each with a choice of values: those are bounded. */
static const struct explore_model models[] = {
	{ "two take it", two_threads, ALL, ALL },
	{ "two take it, one sleeps", two_threads_and_the_futex, { 3, 2 }, { EXPLORE_ALL, 3 } },
	{ "two take it, a sleep is interrupted",
	  two_threads_interrupted,
	  { 3, 2 },
	  { EXPLORE_ALL, 3 } },
	{ "one takes it, one tries", one_tries, ALL, ALL },
	{ "three take it", three_add, { 3, 2 }, ALL },
	{ "three take it, two sleep", three_add_and_the_futex, { 2, 1 }, { 3, 1 } },
};

EXPLORE_MAIN(models)
