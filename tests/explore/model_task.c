/*
 * K2, K3, K4: wakes, polls, aborts, handles and a shutdown meet at a task's state word. Whatever their order:
 * no wake is lost and each poll sees what came before its wake (p60); the task is in the queue at
 * most once and polled by one at a time; its future is dropped exactly once; and its cell is freed
 * by whoever lets go of it last.
 */
#include "explore/errand.h"
#include <errno.h>

/* ---- who does what ---- */

static unsigned number_of(const void *teller)
{
	return (unsigned)(uintptr_t)teller;
}

static void *teller(unsigned number)
{
	return (void *)(uintptr_t)number;
}

static void tells(void *teller)
{
	edo_store(&errand_is_told[number_of(teller)], 1, relaxed);
	edo_waker_wake(&errand_wakers[number_of(teller)]);
}

static void tells_by_reference(void *teller)
{
	edo_store(&errand_is_told[number_of(teller)], 1, relaxed);
	edo_waker_wake_by_ref(&errand_wakers[number_of(teller)]);
}

static void writes_a_note(void *teller)
{
	errand_note = 1;
	edo_waker_wake(&errand_wakers[number_of(teller)]);
}

static void writes_a_note_and_refers(void *teller)
{
	errand_note = 1;
	edo_waker_wake_by_ref(&errand_wakers[number_of(teller)]);
}

static void writes_a_note_and_aborts(void *unused)
{
	(void)unused;
	errand_note = 1;
	edo_task_abort(errand_task);
}

static void drops_its_waker(void *teller)
{
	edo_waker_drop(&errand_wakers[number_of(teller)]);
}

static void clones_and_drops(void *teller)
{
	edo_waker clone = edo_waker_clone(&errand_wakers[number_of(teller)]);

	edo_waker_drop(&errand_wakers[number_of(teller)]);
	edo_waker_drop(&clone);
}

static void aborts(void *unused)
{
	(void)unused;
	edo_task_abort(errand_task);
}

static void detaches(void *unused)
{
	(void)unused;
	edo_task_detach(errand_task);
}

static void ends_it_if_idle(void *unused)
{
	(void)unused;
	(void)edo_task_end_idle(errand_task);
}

static void shuts_down(void *unused)
{
	(void)unused;
	edo_owned_shut_down(&errand_scheduler()->owned);
}

static void gives_up(void *unused)
{
	(void)unused;
	(void)edo_owned_give_up(&errand_scheduler()->owned);
}

/* ---- wakes ---- */

static void one_wake(void)
{
	errand_begin_with(1, errand_reads_note);
	edo_task_detach(errand_task);
	explore_start(writes_a_note, teller(0));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	errand_end();
}

static void one_wake_by_reference(void)
{
	errand_begin_with(1, errand_reads_note);
	edo_task_detach(errand_task);
	explore_start(writes_a_note_and_refers, teller(0));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_waker_drop(&errand_wakers[0]);
	errand_end();
}

static void two_wakes(void)
{
	errand_begin(2);
	edo_task_detach(errand_task);
	explore_start(tells, teller(0));
	explore_start(tells, teller(1));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	errand_end();
}

static void two_wakes_by_reference(void)
{
	errand_begin(2);
	edo_task_detach(errand_task);
	explore_start(tells_by_reference, teller(0));
	explore_start(tells_by_reference, teller(1));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_waker_drop(&errand_wakers[0]);
	edo_waker_drop(&errand_wakers[1]);
	errand_end();
}

static void a_wake_and_one_by_reference(void)
{
	errand_begin(2);
	edo_task_detach(errand_task);
	explore_start(tells, teller(0));
	explore_start(tells_by_reference, teller(1));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_waker_drop(&errand_wakers[1]);
	errand_end();
}

static void three_wakes(void)
{
	errand_begin(3);
	edo_task_detach(errand_task);
	for (unsigned i = 0; i < 3; i++)
		explore_start(tells, teller(i));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	errand_end();
}

/* Gives way at its second poll, so that it is woken by itself and by the teller. */
static edo_poll yields_once(struct errand *errand, edo_context *cx)
{
	if (errand->polls == 2) {
		cx->edo_reserved_ = EDO_DEFER_YIELD;
		edo_waker_wake_by_ref(cx->waker);
		return EDO_PENDING;
	}
	return errand_needs_all(errand, cx);
}

static void a_yield(void)
{
	errand_begin_with(2, yields_once);
	edo_task_detach(errand_task);
	explore_start(tells, teller(0));
	explore_start(tells_by_reference, teller(1));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_waker_drop(&errand_wakers[1]);
	errand_end();
}

/* Who polls it is not always the same thread; what one poll wrote the next one reads. */
static void two_pollers(void)
{
	errand_begin(2);
	edo_task_detach(errand_task);
	explore_start(tells, teller(0));
	explore_start(errand_runs_what_is_there, NULL);
	tells(teller(1));
	errand_runs_what_is_there(NULL);
	explore_join_all();
	errand_end();
}

/* ---- aborts ---- */

static void an_abort(void)
{
	errand_begin(0);
	explore_start(aborts, NULL);
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_task_detach(errand_task);
	errand_end();
}

static void an_abort_and_a_wake(void)
{
	errand_begin_with(1, errand_reads_note);
	explore_start(aborts, NULL);
	explore_start(writes_a_note, teller(0));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_task_detach(errand_task);
	errand_end();
}

static void two_aborts(void)
{
	errand_begin(1);
	explore_start(aborts, NULL);
	explore_start(aborts, NULL);
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_task_detach(errand_task);
	edo_waker_drop(&errand_wakers[0]);
	errand_end();
}

/* It waits for more than it is told, so that the abort may find it between two polls. */
static void an_abort_of_a_task_that_goes_on(void)
{
	errand_begin(2);
	explore_start(aborts, NULL);
	explore_start(tells, teller(0));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_task_detach(errand_task);
	edo_waker_drop(&errand_wakers[1]);
	errand_end();
}

static bool fiber_has_returned;

/* As a fiber: ends by itself, once it has seen that it should; it is never dropped before. */
static edo_poll ends_when_cancelled(struct errand *errand, edo_context *cx)
{
	(void)errand;
	(void)cx;
	if (!edo_task_is_cancelled(errand_task))
		return EDO_PENDING;
	explore_check(errand_note == 1);
	fiber_has_returned = true;
	return -ECANCELED;
}

static void an_abort_of_a_fiber(void)
{
	errand_begin_running_to_end(1, ends_when_cancelled);
	explore_start(writes_a_note_and_aborts, NULL);
	explore_start(tells, teller(0));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	edo_task_detach(errand_task);
	explore_check(fiber_has_returned);
	errand_end();
}

/* ---- the last reference ---- */

static void a_detach(void)
{
	errand_begin(1);
	explore_start(detaches, NULL);
	explore_start(tells, teller(0));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	errand_end();
}

static void a_late_waker(void)
{
	errand_begin(2);
	edo_store(&errand_is_told[0], 1, relaxed);
	edo_store(&errand_is_told[1], 1, relaxed);
	edo_waker_wake(&errand_wakers[0]);
	explore_start(detaches, NULL);
	explore_start(drops_its_waker, teller(1));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	errand_end();
}

static void a_late_wake(void)
{
	errand_begin(2);
	edo_store(&errand_is_told[1], 1, relaxed);
	tells(teller(0));
	explore_start(detaches, NULL);
	explore_start(tells, teller(1));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	errand_end();
}

static void a_clone(void)
{
	errand_begin(2);
	edo_store(&errand_is_told[1], 1, relaxed);
	tells(teller(0));
	explore_start(detaches, NULL);
	explore_start(clones_and_drops, teller(1));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	errand_end();
}

/* ---- a shutdown ---- */

/* Who ends it needs a reference of its own, here the handle's. */
static void an_end_while_idle(void)
{
	errand_begin(1);
	explore_start(ends_it_if_idle, NULL);
	explore_start(tells, teller(0));
	errand_runs_what_is_there(NULL);
	explore_join_all();
	edo_task_detach(errand_task);
	errand_end();
}

static void a_shutdown(void)
{
	errand_begin(1);
	edo_task_detach(errand_task);
	explore_start(shuts_down, NULL);
	explore_start(tells, teller(0));
	errand_runs_what_is_there(NULL);
	explore_join_all();
	errand_end();
}

/* The poll that the shutdown meets does not end the task: it waits for more than it is told. */
static void a_shutdown_and_a_poll_that_waits_on(void)
{
	errand_begin(2);
	edo_task_detach(errand_task);
	tells(teller(0));
	explore_start(shuts_down, NULL);
	errand_runs_what_is_there(NULL);
	explore_join_all();
	edo_waker_drop(&errand_wakers[1]);
	errand_end();
}

/* The wake is there already: the poll ends the task while the shutdown has it in hand. */
static void a_shutdown_and_the_last_poll(void)
{
	errand_begin(1);
	tells(teller(0));
	explore_start(shuts_down, NULL);
	explore_start(detaches, NULL);
	errand_runs_what_is_there(NULL);
	explore_join_all();
	errand_end();
}

static void a_shutdown_and_an_abort(void)
{
	errand_begin(1);
	explore_start(shuts_down, NULL);
	explore_start(aborts, NULL);
	errand_runs_what_is_there(NULL);
	explore_join_all();
	edo_task_detach(errand_task);
	edo_waker_drop(&errand_wakers[0]);
	errand_end();
}

static void a_shutdown_of_a_fiber(void)
{
	errand_note = 1;
	errand_begin_running_to_end(1, ends_when_cancelled);
	edo_task_detach(errand_task);
	explore_start(shuts_down, NULL);
	explore_start(tells, teller(0));
	errand_runs_until_it_ends(NULL);
	explore_join_all();
	explore_check(fiber_has_returned);
	errand_end();
}

static void a_task_given_up(void)
{
	errand_begin(1);
	edo_task_detach(errand_task);
	explore_start(gives_up, NULL);
	explore_start(tells, teller(0));
	explore_join_all();
	errand_end();
}

/* ---- a task that comes while the list is closed ---- */

static unsigned newcomer_drops;

static edo_poll newcomer_poll(edo_future *future, edo_context *cx)
{
	(void)future;
	(void)cx;
	return EDO_PENDING;
}

static void newcomer_drop(edo_future *future)
{
	(void)future;
	newcomer_drops++;
}

EDO_FUTURE_OPS(newcomer_ops, struct errand, future, newcomer_poll, newcomer_drop);

/* Refused, or told to end with the rest. The queue is closed too: the notification finds no place. */
static void spawns_a_newcomer(void *unused)
{
	const struct errand newcomer = { .future = { &newcomer_ops } };
	struct edo_task *task;
	int rc = edo_task_create(errand_scheduler(), &newcomer.future, ERRAND_CORE, NULL, NULL,
				 &task);

	(void)unused;
	if (rc < 0) {
		explore_check(rc == -ESHUTDOWN);
		newcomer_drops++; /* it is still the caller's */
		return;
	}
	edo_task_drop_reference(task);
	edo_task_detach(task);
}

static void a_shutdown_and_a_newcomer(void)
{
	errand_begin(0);
	edo_task_detach(errand_task);
	explore_start(shuts_down, NULL);
	explore_start(spawns_a_newcomer, NULL);
	explore_join_all();
	explore_check(newcomer_drops == 1);
	errand_end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}
#define SOME                                                                                       \
	{                                                                                          \
		3, 2                                                                               \
	}

/* Three wakes have too many interleavings to try them all, and so have three who may end a task last. */
static const struct explore_model models[] = {
	{ "a wake", one_wake, ALL, ALL },
	{ "a wake by reference", one_wake_by_reference, ALL, ALL },
	{ "two wakes", two_wakes, SOME, ALL },
	{ "two wakes by reference", two_wakes_by_reference, SOME, ALL },
	{ "a wake and one by reference", a_wake_and_one_by_reference, SOME, ALL },
	{ "three wakes", three_wakes, { 1, 1 }, SOME },
	{ "two wakes of a task that yields", a_yield, { 2, 1 }, ALL },
	{ "two wakes, and two that poll", two_pollers, ALL, ALL },
	{ "an abort", an_abort, ALL, ALL },
	{ "an abort meets a poll and a wake", an_abort_and_a_wake, ALL, ALL },
	{ "two aborts", two_aborts, ALL, ALL },
	{ "an abort of a task that goes on", an_abort_of_a_task_that_goes_on, ALL, ALL },
	{ "an abort of a fiber", an_abort_of_a_fiber, ALL, ALL },
	{ "the handle goes while the task ends", a_detach, ALL, ALL },
	{ "the handle and the last waker go", a_late_waker, ALL, ALL },
	{ "the handle goes and the last wake comes", a_late_wake, SOME, ALL },
	{ "the last waker is cloned", a_clone, SOME, ALL },
	{ "a task is ended while idle", an_end_while_idle, ALL, ALL },
	{ "a shutdown meets a poll and a wake", a_shutdown, ALL, ALL },
	{ "a shutdown meets a poll that waits on", a_shutdown_and_a_poll_that_waits_on, ALL, ALL },
	{ "a shutdown meets the last poll", a_shutdown_and_the_last_poll, SOME, { 4, 3 } },
	{ "a shutdown meets an abort", a_shutdown_and_an_abort, SOME, ALL },
	{ "a shutdown tells a fiber to end", a_shutdown_of_a_fiber, { 2, 1 }, ALL },
	{ "a task is given up while it is woken", a_task_given_up, SOME, ALL },
	{ "a task comes while the list is closed", a_shutdown_and_a_newcomer, SOME, ALL },
};

EXPLORE_MAIN(models)
