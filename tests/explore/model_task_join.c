/*
 * K2: the joiner's side of a task. Whoever waits for it is woken when it ends, sees its result and all that its
 * future wrote, and its waker is dropped exactly once, by the one to whom the state word gave it.
 */
#include "base/sys.h"
#include "explore/errand.h"
#include <errno.h>

/* ---- the joiner ---- */

struct joiner {
	uint32_t wakes;  /* atomic: how often it was woken */
	uint32_t clones; /* atomic: wakers of it that are about */
	edo_waker waker;
};

static edo_waker clone_of(void *data);

static void wake_by_reference(void *data)
{
	struct joiner *joiner = data;

	(void)edo_fetch_add(&joiner->wakes, 1, acq_rel);
	(void)edo_sys_futex_wake(&joiner->wakes, 1);
}

static void drop(void *data)
{
	struct joiner *joiner = data;

	explore_check(edo_fetch_sub(&joiner->clones, 1, relaxed) > 0);
}

static void wake(void *data)
{
	wake_by_reference(data);
	drop(data);
}

static const edo_waker_ops joiner_ops = { clone_of, wake, wake_by_reference, drop };

static edo_waker clone_of(void *data)
{
	struct joiner *joiner = data;

	(void)edo_fetch_add(&joiner->clones, 1, relaxed);
	return (edo_waker){ joiner, &joiner_ops };
}

/* The second is where the joiner goes on to wait after its first poll, in some models. */
static struct joiner joiners[2] = {
	{ .waker = { &joiners[0], &joiner_ops } },
	{ .waker = { &joiners[1], &joiner_ops } },
};

static edo_task_wait_future join;

static edo_poll poll_for(struct joiner *joiner)
{
	edo_context cx = { .waker = &joiner->waker, .edo_budget_ = EDO_COOP_BUDGET };

	return edo_future_poll(&join.future, &cx);
}

static edo_poll wait_for_it(struct joiner *joiner)
{
	for (;;) {
		uint32_t wakes = edo_load(&joiner->wakes, acquire);
		edo_poll polled = poll_for(joiner);

		if (polled != EDO_PENDING)
			return polled;
		(void)edo_sys_futex_wait(&joiner->wakes, wakes, UINT64_MAX);
	}
}

/* Plain reads: all that the task did came before. */
static void check_that_it_ended(int result)
{
	const struct errand *output = edo_task_output(errand_task);

	explore_check(edo_task_is_finished(errand_task));
	explore_check(output->drops == 1 && errand_drops == 1);
	explore_check(result != ERRAND_RESULT || output->output == ERRAND_OUTPUT);
}

static void gives_the_handle_up(void)
{
	edo_future_drop(&join.future);
	edo_task_detach(errand_task);
}

static void end_joined(void)
{
	errand_end();
	explore_check(edo_load(&joiners[0].clones, relaxed) == 0);
	explore_check(edo_load(&joiners[1].clones, relaxed) == 0);
}

/* ---- who does what ---- */

static void joins(void *unused)
{
	(void)unused;
	explore_check(wait_for_it(&joiners[0]) == EDO_READY);
	explore_check(join.result == ERRAND_RESULT || join.result == -ECANCELED);
	check_that_it_ended(join.result);
	gives_the_handle_up();
}

static void joins_elsewhere_from_the_second_poll(void *unused)
{
	edo_poll polled = poll_for(&joiners[0]);

	(void)unused;
	if (polled == EDO_PENDING)
		polled = wait_for_it(&joiners[1]);
	explore_check(polled == EDO_READY && join.result == ERRAND_RESULT);
	check_that_it_ended(join.result);
	gives_the_handle_up();
}

/* Without giving up the handle, which others need too. */
static void joins_and_no_more(void *unused)
{
	(void)unused;
	explore_check(wait_for_it(&joiners[0]) == EDO_READY);
	explore_check(join.result == ERRAND_RESULT || join.result == -ECANCELED);
	check_that_it_ended(join.result);
}

static void waits_no_longer(void *unused)
{
	(void)unused;
	(void)poll_for(&joiners[0]);
	gives_the_handle_up();
}

/* The wait goes, and another one comes. */
static void waits_again(void *unused)
{
	(void)poll_for(&joiners[0]);
	edo_future_drop(&join.future);
	(void)edo_task_wait_start(&join, errand_task);
	joins(unused);
}

static void loses_the_handle(void *unused)
{
	(void)unused;
	/* Its wait is registered, and nobody drops it: the waker goes with the handle. */
	edo_task_detach(errand_task);
}

static void looks_whether_it_has_ended(void *unused)
{
	(void)unused;
	if (edo_task_is_finished(errand_task))
		check_that_it_ended(ERRAND_RESULT);
	edo_task_detach(errand_task);
}

static void waits_a_second_time(void *unused)
{
	edo_task_wait_future second;
	edo_context cx = { .waker = &joiners[1].waker, .edo_budget_ = EDO_COOP_BUDGET };
	edo_poll polled = edo_future_poll(edo_task_wait_start(&second, errand_task), &cx);

	explore_check(polled == -EBUSY || polled == EDO_READY);
	if (polled == EDO_READY)
		check_that_it_ended(second.result);
	edo_future_drop(&second.future);
	joins(unused);
}

static void aborts(void *unused)
{
	(void)unused;
	edo_task_abort(errand_task);
}

static void shuts_down(void *unused)
{
	(void)unused;
	edo_owned_shut_down(&errand_scheduler()->owned);
}

/* ---- models ---- */

/* The task is ready to end at its next poll, which it has been woken for. */
static void begin_ending(void)
{
	errand_begin(1);
	edo_store(&errand_is_told[0], 1, relaxed);
	edo_waker_wake(&errand_wakers[0]);
	(void)edo_task_wait_start(&join, errand_task);
}

static void end_with(void (*joiner)(void *unused))
{
	begin_ending();
	explore_start(joiner, NULL);
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	end_joined();
}

static void a_join(void)
{
	end_with(joins);
}

static void a_join_elsewhere(void)
{
	end_with(joins_elsewhere_from_the_second_poll);
}

static void a_wait_dropped(void)
{
	end_with(waits_no_longer);
}

static void another_wait(void)
{
	end_with(waits_again);
}

static void a_look(void)
{
	end_with(looks_whether_it_has_ended);
}

/* As end_with(), with the first wait registered before anything else. */
static void end_registered_with(void (*joiner)(void *unused))
{
	begin_ending();
	explore_check(poll_for(&joiners[0]) == EDO_PENDING);
	explore_start(joiner, NULL);
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	end_joined();
}

static void a_join_begun(void)
{
	end_registered_with(joins);
}

static void a_join_moved(void)
{
	end_registered_with(joins_elsewhere_from_the_second_poll);
}

static void a_handle_lost(void)
{
	end_registered_with(loses_the_handle);
}

static void two_waits(void)
{
	end_registered_with(waits_a_second_time);
}

static void a_join_and_an_abort(void)
{
	begin_ending();
	explore_start(joins_and_no_more, NULL);
	explore_start(aborts, NULL);
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	gives_the_handle_up();
	end_joined();
}

static void a_join_and_a_shutdown(void)
{
	begin_ending();
	explore_start(joins, NULL);
	explore_start(shuts_down, NULL);
	errand_runs_what_is_there(NULL);
	explore_join_all();
	end_joined();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

#define SOME                                                                                       \
	{                                                                                          \
		3, 2                                                                               \
	}

/* Three threads at a join have too many interleavings to try them all. */
static const struct explore_model models[] = {
	{ "a join while the task ends", a_join, SOME, ALL },
	{ "a join that has begun", a_join_begun, ALL, ALL },
	{ "a join with another waker from the second poll", a_join_elsewhere, SOME, ALL },
	{ "a join that has begun goes on with another waker", a_join_moved, SOME, ALL },
	{ "a wait is dropped while the task ends", a_wait_dropped, ALL, ALL },
	{ "a wait is dropped and another one made", another_wait, SOME, ALL },
	{ "the handle goes while somebody waits", a_handle_lost, ALL, ALL },
	{ "a second wait is refused or sees the end", two_waits, SOME, ALL },
	{ "a look whether the task has ended", a_look, ALL, ALL },
	{ "a join meets an abort and a poll", a_join_and_an_abort, SOME, { 4, 3 } },
	{ "a join meets a shutdown and a poll", a_join_and_a_shutdown, { 2, 2 }, { 3, 3 } },
};

EXPLORE_MAIN(models)
