/*
 * The place for one waker: whoever registers and then looks at what it waits for misses nothing that was
 * said before a wake, whatever the interleaving; and each clone is woken or dropped exactly once.
 *
 * The one who waits is a thread that polls as a task does: it registers, looks, and goes to sleep until
 * its waker is woken. A wake that was lost leaves it asleep.
 */
#include "base/atomic.h"
#include "base/sys.h"
#include "base/thread.h"
#include "explore/explore.h"
#include <edo/future.h>

static edo_atomic_waker place;

/* What is waited for; atomic, relaxed: by itself it orders nothing. */
static uint32_t is_said[2];

/* ---- who waits ---- */

struct sleeper {
	uint32_t wakes;  /* atomic */
	uint32_t clones; /* atomic: wakers of it that are about */
	bool is_refused; /* its own: somebody is just waking, so it has been told to poll again */
	edo_waker waker;
};

/* The first thread is the one that waits. */
static uintptr_t waiting_thread;

static edo_waker clone_of(void *data);

/* As a task's wake: what came before it is seen by the poll that follows. */
static void wake_up(struct sleeper *sleeper)
{
	(void)edo_fetch_add(&sleeper->wakes, 1, acq_rel);
	(void)edo_sys_futex_wake(&sleeper->wakes, 1);
}

/* Only a registration that finds a wake under way does this. */
static void wake_by_reference(void *data)
{
	struct sleeper *sleeper = data;

	if (edo_thread_self() == waiting_thread)
		sleeper->is_refused = true;
	wake_up(sleeper);
}

static void drop(void *data)
{
	struct sleeper *sleeper = data;

	explore_check(edo_fetch_sub(&sleeper->clones, 1, relaxed) > 0);
}

static void wake(void *data)
{
	wake_up(data);
	drop(data);
}

static const edo_waker_ops sleeper_ops = { clone_of, wake, wake_by_reference, drop };

static edo_waker clone_of(void *data)
{
	struct sleeper *sleeper = data;

	(void)edo_fetch_add(&sleeper->clones, 1, relaxed);
	return (edo_waker){ sleeper, &sleeper_ops };
}

static struct sleeper sleepers[2] = {
	{ .waker = { &sleepers[0], &sleeper_ops } },
	{ .waker = { &sleepers[1], &sleeper_ops } },
};

static void register_for(struct sleeper *sleeper)
{
	edo_context cx = { .waker = &sleeper->waker };

	edo_atomic_waker_register(&place, &cx);
}

static bool all_is_said(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (edo_load(&is_said[i], relaxed) == 0)
			return false;
	return true;
}

/*
 * Each round is a poll. It acquires what its wake has released, as the poll of a task does. One that was
 * refused comes again when the other has gone on.
 */
static void wait_as(struct sleeper *sleeper, unsigned count)
{
	waiting_thread = edo_thread_self();
	for (;;) {
		uint32_t wakes = edo_fetch_add(&sleeper->wakes, 0, acq_rel);

		register_for(sleeper);
		if (all_is_said(count))
			return;
		if (sleeper->is_refused)
			explore_wait_a_moment();
		else
			(void)edo_sys_futex_wait(&sleeper->wakes, wakes, UINT64_MAX);
		sleeper->is_refused = false;
	}
}

/* ---- who wakes ---- */

static unsigned number_of(const void *speaker)
{
	return (unsigned)(uintptr_t)speaker;
}

static void *speaker(unsigned number)
{
	return (void *)(uintptr_t)number;
}

static void says_and_wakes(void *speaker)
{
	edo_store(&is_said[number_of(speaker)], 1, relaxed);
	edo_atomic_waker_wake(&place);
}

static void wakes(void *unused)
{
	(void)unused;
	edo_atomic_waker_wake(&place);
}

static void says_and_takes(void *speaker)
{
	edo_waker taken;

	edo_store(&is_said[number_of(speaker)], 1, relaxed);
	taken = edo_atomic_waker_take(&place);
	edo_waker_wake(&taken);
}

static void clears(void *unused)
{
	(void)unused;
	edo_atomic_waker_clear(&place);
}

/* What is left in the place goes with it. */
static void end(void)
{
	edo_atomic_waker_clear(&place);
	explore_check(edo_load(&place.edo_state_, relaxed) == 0);
	explore_check(!edo_waker_is_set(&place.edo_waker_));
	explore_check(edo_load(&sleepers[0].clones, relaxed) == 0);
	explore_check(edo_load(&sleepers[1].clones, relaxed) == 0);
}

/* ---- models ---- */

static void a_wake(void)
{
	explore_start(says_and_wakes, speaker(0));
	wait_as(&sleepers[0], 1);
	explore_join_all();
	end();
}

static void two_wakes(void)
{
	explore_start(says_and_wakes, speaker(0));
	explore_start(says_and_wakes, speaker(1));
	wait_as(&sleepers[0], 2);
	explore_join_all();
	end();
}

static void two_wakes_of_who_waits_for_one(void)
{
	explore_start(says_and_wakes, speaker(0));
	explore_start(wakes, NULL);
	wait_as(&sleepers[0], 1);
	explore_join_all();
	end();
}

static void a_take(void)
{
	explore_start(says_and_takes, speaker(0));
	explore_start(wakes, NULL);
	wait_as(&sleepers[0], 1);
	explore_join_all();
	end();
}

/* The future has moved to another task, whose waker is another one. */
static void another_waker(void)
{
	register_for(&sleepers[0]);
	explore_start(says_and_wakes, speaker(0));
	wait_as(&sleepers[1], 1);
	explore_join_all();
	end();
}

static void another_waker_and_two_wakes(void)
{
	register_for(&sleepers[0]);
	explore_start(says_and_wakes, speaker(0));
	explore_start(says_and_wakes, speaker(1));
	wait_as(&sleepers[1], 2);
	explore_join_all();
	end();
}

static void a_clear_and_a_wake(void)
{
	register_for(&sleepers[0]);
	explore_start(says_and_wakes, speaker(0));
	explore_start(clears, NULL);
	explore_join_all();
	end();
}

/* Registers once and looks once: it is not asleep, and may be cleared any time. */
static void looks_once(void *unused)
{
	(void)unused;
	register_for(&sleepers[0]);
	(void)all_is_said(1);
}

static void a_clear_meets_a_registration(void)
{
	explore_start(looks_once, NULL);
	explore_start(clears, NULL);
	explore_join_all();
	end();
}

static void a_clear_a_wake_and_a_registration(void)
{
	explore_start(looks_once, NULL);
	explore_start(clears, NULL);
	explore_start(says_and_wakes, speaker(0));
	explore_join_all();
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "a wake meets a registration", a_wake, ALL, ALL },
	{ "two wakes, both are waited for", two_wakes, ALL, ALL },
	{ "two wakes, one is waited for", two_wakes_of_who_waits_for_one, ALL, ALL },
	{ "a waker is taken and woken", a_take, ALL, ALL },
	{ "another waker is registered", another_waker, ALL, ALL },
	{ "another waker, and two wakes", another_waker_and_two_wakes, ALL, ALL },
	{ "a clear meets a wake", a_clear_and_a_wake, ALL, ALL },
	{ "a clear meets a registration", a_clear_meets_a_registration, ALL, ALL },
	{ "a clear meets a registration and a wake", a_clear_a_wake_and_a_registration, ALL, ALL },
};

EXPLORE_MAIN(models)
