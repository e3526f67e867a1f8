/*
 * The first of two futures, and both of them: whichever is woken, and whenever the wait is dropped, the waiter
 * is woken once something is ready; a loser's wait is gone with the poll that decides; and what a loser was
 * told meanwhile is still there for the next wait.
 *
 * The branches are the smallest futures that others wake: a flag, and the place for one waker beside it.
 */
#include "base/atomic.h"
#include "base/sys.h"
#include "base/thread.h"
#include "explore/explore.h"
#include "task/task.h"
#include <edo/fiber.h>
#include <edo/select.h>

/* Linked with the functions that wait, which no model calls. */
int edo_await(edo_future *future)
{
	bool a_model_has_waited_by_itself = true;

	(void)future;
	explore_check(!a_model_has_waited_by_itself);
	return 0;
}

/* ---- the one who waits ---- */

static struct {
	uintptr_t thread; /* set before the others are started */
	uint32_t wakes;   /* atomic */
	uint32_t clones;  /* atomic: wakers of it that are about */
	bool is_refused; /* its own: a branch is just being woken, so it has been told to poll again */
} sleeper;

static edo_waker clone_of(void *data);

static void wake_by_reference(void *data)
{
	(void)data;
	if (edo_thread_self() == sleeper.thread)
		sleeper.is_refused = true;
	(void)edo_fetch_add(&sleeper.wakes, 1, acq_rel);
	(void)edo_sys_futex_wake(&sleeper.wakes, 1);
}

static void drop(void *data)
{
	(void)data;
	explore_check(edo_fetch_sub(&sleeper.clones, 1, relaxed) > 0);
}

static void wake(void *data)
{
	wake_by_reference(data);
	drop(data);
}

static const edo_waker_ops sleeper_ops = { clone_of, wake, wake_by_reference, drop };

static edo_waker clone_of(void *data)
{
	(void)edo_fetch_add(&sleeper.clones, 1, relaxed);
	return (edo_waker){ data, &sleeper_ops };
}

static edo_poll poll_once(edo_future *future)
{
	edo_waker waker = { &sleeper, &sleeper_ops };
	edo_context cx = { .waker = &waker, .edo_budget_ = EDO_COOP_BUDGET };

	return edo_future_poll(future, &cx);
}

/* As a task: each poll acquires what the wake before it has released; then asleep until the next one. */
static edo_poll wait_for(edo_future *future)
{
	for (;;) {
		uint32_t wakes = edo_fetch_add(&sleeper.wakes, 0, acq_rel);
		edo_poll polled = poll_once(future);

		if (polled != EDO_PENDING)
			return polled;
		if (sleeper.is_refused)
			explore_wait_a_moment();
		else
			(void)edo_sys_futex_wait(&sleeper.wakes, wakes, UINT64_MAX);
		sleeper.is_refused = false;
	}
}

/* ---- what it waits for ---- */

enum { BRANCHES = 2, SAID = 7 };

static struct branch {
	edo_future future;
	edo_atomic_waker place;
	uint32_t is_said; /* atomic, relaxed: by itself it orders nothing */
	/* plain: of the one who waits */
	unsigned drops;
	bool is_registered;
} branches[BRANCHES];

static edo_poll branch_poll(edo_future *future, edo_context *cx)
{
	struct branch *branch = edo_container_of(future, struct branch, future);

	branch->is_registered = true;
	edo_atomic_waker_register(&branch->place, cx);
	return edo_load(&branch->is_said, relaxed) ? SAID : EDO_PENDING;
}

static void branch_drop(edo_future *future)
{
	struct branch *branch = edo_container_of(future, struct branch, future);

	branch->drops++;
	branch->is_registered = false;
	edo_atomic_waker_clear(&branch->place);
}

EDO_FUTURE_OPS(branch_ops, struct branch, future, branch_poll, branch_drop);

/* A thread: what it waits for has come. */
static void says(void *branch)
{
	edo_store(&((struct branch *)branch)->is_said, 1, relaxed);
	edo_atomic_waker_wake(&((struct branch *)branch)->place);
}

/* ---- the select ---- */

static edo_select_future select_future;
static edo_join_all_future join;
static int results[BRANCHES];

static void get_branches(edo_future **both)
{
	if (sleeper.thread == 0)
		sleeper.thread = edo_thread_self();
	for (unsigned i = 0; i < BRANCHES; i++) {
		branches[i].future.ops = &branch_ops;
		both[i] = &branches[i].future;
	}
}

/* Each way round: in order it begins at the first, and the first draws outside of a runtime are the second. */
static edo_future *start_select(void)
{
	edo_future *both[BRANCHES];

	get_branches(both);
	return explore_choose(2) ? edo_select_start(&select_future, both, BRANCHES) :
				   edo_select_in_order_start(&select_future, both, BRANCHES);
}

static edo_future *start_join(void)
{
	edo_future *both[BRANCHES];

	get_branches(both);
	return edo_join_all_start(&join, both, BRANCHES, results);
}

static void check_that_nobody_is_registered(void)
{
	for (unsigned i = 0; i < BRANCHES; i++)
		explore_check(!branches[i].is_registered);
}

/* All threads have ended: no waker is left anywhere. */
static void end(void)
{
	explore_check(edo_load(&sleeper.clones, relaxed) == 0);
}

/* Whoever has been woken by a branch waits for it and for the other one: nothing was lost. */
static void each_can_be_waited_for(unsigned said)
{
	for (unsigned i = 0; i < said; i++) {
		explore_check(wait_for(&branches[i].future) == SAID);
		edo_future_drop(&branches[i].future);
	}
	check_that_nobody_is_registered();
}

/* ---- models ---- */

static void selects_while(unsigned said)
{
	edo_future *select = start_select();
	edo_poll winner;

	for (unsigned i = 0; i < said; i++)
		explore_start(says, &branches[i]);
	winner = wait_for(select);
	explore_check(winner >= 0 && winner < (int)said && winner == select_future.winner);
	explore_check(select_future.result == SAID);
	explore_check(branches[0].drops == 1 && branches[1].drops == 1);
	check_that_nobody_is_registered();
	edo_future_drop(select);
	each_can_be_waited_for(said);
	explore_join_all();
	end();
}

static void one_comes(void)
{
	selects_while(1);
}

static void both_come(void)
{
	selects_while(2);
}

/* The wait is cut after its first poll, wherever the others are by then. */
static void drops_while(unsigned said)
{
	edo_future *select = start_select();

	for (unsigned i = 0; i < said; i++)
		explore_start(says, &branches[i]);
	(void)poll_once(select);
	edo_future_drop(select);
	explore_check(branches[0].drops == 1 && branches[1].drops == 1);
	check_that_nobody_is_registered();
	explore_join_all();
	end();
	each_can_be_waited_for(said);
	end();
}

static void dropped_while_one_comes(void)
{
	drops_while(1);
}

static void dropped_while_both_come(void)
{
	drops_while(2);
}

/* A loop of selects takes both, one after the other, though either may come while it decides. */
static void selected_one_after_the_other(void)
{
	unsigned seen = 0;

	explore_start(says, &branches[0]);
	explore_start(says, &branches[1]);
	for (int turn = 0; turn < BRANCHES; turn++) {
		edo_future *both[BRANCHES];
		edo_poll winner;

		get_branches(both);
		for (unsigned i = 0; i < BRANCHES; i++)
			if (seen & (1u << i))
				both[i] = NULL;
		winner = wait_for(edo_select_start(&select_future, both, BRANCHES));
		explore_check(winner >= 0 && !(seen & (1u << winner)));
		seen |= 1u << winner;
		edo_future_drop(&select_future.future);
	}
	check_that_nobody_is_registered();
	explore_join_all();
	end();
}

static void joined(void)
{
	edo_future *all = start_join();

	explore_start(says, &branches[0]);
	explore_start(says, &branches[1]);
	explore_check(wait_for(all) == 0);
	explore_check(results[0] == SAID && results[1] == SAID);
	explore_check(branches[0].drops == 1 && branches[1].drops == 1);
	check_that_nobody_is_registered();
	edo_future_drop(all);
	explore_join_all();
	end();
}

/* What had come is among the results, what had not can be waited for again. */
static void join_dropped(void)
{
	edo_future *all = start_join();

	explore_start(says, &branches[0]);
	explore_start(says, &branches[1]);
	(void)poll_once(all);
	edo_future_drop(all);
	for (unsigned i = 0; i < BRANCHES; i++) {
		explore_check(results[i] == SAID || results[i] == EDO_PENDING);
		explore_check(branches[i].drops == 1);
	}
	explore_join_all();
	end();
	each_can_be_waited_for(BRANCHES);
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

#define SOME                                                                                       \
	{                                                                                          \
		3, 2                                                                               \
	}

static const struct explore_model models[] = {
	{ "one of two comes", one_comes, ALL, ALL },
	{ "both come", both_come, SOME, { 4, 3 } },
	{ "both come and are taken one after the other",
	  selected_one_after_the_other,
	  SOME,
	  { 4, 3 } },
	{ "a select is dropped while one comes", dropped_while_one_comes, ALL, ALL },
	{ "a select is dropped while both come", dropped_while_both_come, ALL, ALL },
	{ "both are joined", joined, SOME, { 4, 3 } },
	{ "a join is dropped while both come", join_dropped, ALL, ALL },
};

EXPLORE_MAIN(models)
