/*
 * Several plain threads wait on one runtime: one drives, and the core is handed over when its wait ends.
 * Nobody sleeps for ever while there is something to run, which would show as a deadlock; and what one driver
 * did with the runtime and its tasks is seen by the next, which would show as a data race.
 */
#include "scheduler/core.h"
#include "explore/explore.h"
#include "explore/rig_scheduler.h"

/* The numbers of the threads that are started, in their order. */
enum { FIRST = 2, SECOND, THIRD };

/* ---- taking, leaving, releasing by themselves ---- */

static edo_runtime *runtime;
static unsigned used; /* plain: the core's */

static struct edo_current_thread *core(void)
{
	return &runtime->scheduler;
}

static bool was_handed_core(struct edo_thread_waiter *waiter)
{
	if (!(edo_load(&waiter->signals, acquire) & EDO_WAITER_HAS_CORE))
		return false;
	edo_fetch_and(&waiter->signals, ~(uint32_t)EDO_WAITER_HAS_CORE, acq_rel);
	edo_core_begin(core());
	return true;
}

static void use_and_release(void)
{
	used++;
	edo_core_release(core());
}

/* Waits in line until the core is its own. */
static void uses_the_core(void *waiter)
{
	while (!was_handed_core(waiter) && !edo_core_take(core(), waiter))
		edo_waiter_park(waiter);
	use_and_release();
	edo_thread_waiter_drop(waiter);
}

/* Gets in line if it must, and does not wait. */
static void leaves_the_line(void *waiter)
{
	if (edo_core_take(core(), waiter))
		use_and_release();
	else
		edo_core_leave(core(), waiter);
	edo_thread_waiter_drop(waiter);
}

/* Looks twice whether it is its turn: it stands in line once. */
static void asks_twice_and_leaves(void *waiter)
{
	bool is_mine = edo_core_take(core(), waiter);

	if (!is_mine)
		is_mine = edo_core_take(core(), waiter);
	if (is_mine)
		use_and_release();
	else
		edo_core_leave(core(), waiter);
	edo_thread_waiter_drop(waiter);
}

static void tries_until_it_has_used_it(void *argument)
{
	(void)argument;
	while (!edo_core_try_take(core()))
		explore_wait_a_moment();
	use_and_release();
}

static struct edo_thread_waiter *waiter_in_line(unsigned thread)
{
	struct edo_thread_waiter *waiter = rig_waiter(thread);

	(void)edo_waiter_take_notified(waiter);
	return waiter;
}

static void begin(void)
{
	runtime = rig_runtime(RIG_WITHOUT_TIME);
}

/* The core is free at the end, or it could not be destroyed. */
static void end(void)
{
	explore_join_all();
	explore_check(core()->waiting == NULL && !core()->core_taken);
	rig_destroy(runtime);
}

static void two_in_line(void)
{
	begin();
	explore_start(uses_the_core, waiter_in_line(FIRST));
	explore_start(uses_the_core, waiter_in_line(SECOND));
	end();
	explore_check(used == 2);
}

static void three_in_line(void)
{
	begin();
	explore_start(uses_the_core, waiter_in_line(FIRST));
	explore_start(uses_the_core, waiter_in_line(SECOND));
	explore_start(uses_the_core, waiter_in_line(THIRD));
	end();
	explore_check(used == 3);
}

static void one_leaves_the_line(void)
{
	begin();
	explore_start(uses_the_core, waiter_in_line(FIRST));
	explore_start(leaves_the_line, waiter_in_line(SECOND));
	explore_start(uses_the_core, waiter_in_line(THIRD));
	end();
	explore_check(used >= 2);
}

static void two_leave_the_line(void)
{
	begin();
	explore_start(leaves_the_line, waiter_in_line(FIRST));
	explore_start(asks_twice_and_leaves, waiter_in_line(SECOND));
	explore_start(uses_the_core, waiter_in_line(THIRD));
	end();
	explore_check(used >= 1);
}

static void one_does_not_stand_in_line(void)
{
	begin();
	explore_start(uses_the_core, waiter_in_line(FIRST));
	explore_start(tries_until_it_has_used_it, NULL);
	explore_start(leaves_the_line, waiter_in_line(THIRD));
	end();
	explore_check(used >= 2);
}

/* ---- threads that wait on one runtime ---- */

static struct rig_waiting waitings[3];

static void let_both_happen(void *argument)
{
	(void)argument;
	rig_happen(&waitings[0].event);
	rig_happen(&waitings[1].event);
}

static void begin_with_waits(unsigned waits)
{
	begin();
	for (unsigned i = 0; i < waits; i++)
		waitings[i] = rig_waiting(runtime, FIRST + i);
}

static void two_wait(void)
{
	begin_with_waits(2);
	explore_start(rig_waits, &waitings[0]);
	explore_start(rig_waits, &waitings[1]);
	explore_start(let_both_happen, NULL);
	end();
}

static void waits_and_then_lets_the_next_go(void *waiting)
{
	rig_waits(waiting);
	rig_happen(&((struct rig_waiting *)waiting + 1)->event);
}

/* Whoever drives, its own wait's end is the only thing that can end the other's. */
static void one_lets_the_other_go(void)
{
	begin_with_waits(2);
	explore_start(waits_and_then_lets_the_next_go, &waitings[0]);
	explore_start(rig_waits, &waitings[1]);
	explore_start(rig_happens, &waitings[0].event);
	end();
}

static void wakes(void *waker)
{
	edo_waker_wake(waker);
}

/* Handed the core just after it was woken for nothing, it has not slept in between. */
static void one_is_woken_in_vain(void)
{
	edo_waker in_vain;

	begin_with_waits(2);
	in_vain = edo_waker_clone(&waitings[1].event.waker);
	explore_start(waits_and_then_lets_the_next_go, &waitings[0]);
	explore_start(rig_waits, &waitings[1]);
	explore_start(wakes, &in_vain);
	rig_happen(&waitings[0].event);
	end();
}

/* The runtime's task lets both go: somebody must drive until it has run. */
static void a_task_lets_both_go(void)
{
	struct rig_work first = { .then = &waitings[0].event };
	struct rig_work second = { .then = &waitings[1].event };

	begin_with_waits(2);
	explore_check(rig_spawn(runtime, &first, NULL) == 0);
	explore_check(rig_spawn(runtime, &second, NULL) == 0);
	explore_start(rig_waits, &waitings[0]);
	explore_start(rig_waits, &waitings[1]);
	end();
	explore_check(first.polls == 1 && first.drops == 1);
	explore_check(second.polls == 1 && second.drops == 1);
}

static void spawns(void *work)
{
	explore_check(rig_spawn(runtime, work, NULL) == 0);
}

/* One's wait is over when it wants, and it may hold the core, or be handed it, just then. */
static void a_spawned_task_lets_the_other_go(void)
{
	struct rig_work work = { .then = &waitings[1].event };

	begin_with_waits(2);
	explore_start(rig_waits, &waitings[0]);
	explore_start(rig_waits, &waitings[1]);
	explore_start(spawns, &work);
	explore_start(rig_happens, &waitings[0].event);
	end();
	explore_check(work.polls == 1 && work.drops == 1);
}

static edo_task *handle;
static struct rig_work last = { .then = &waitings[1].event, .handle = &handle };

static void waits_and_spawns(void *waiting)
{
	rig_waits(waiting);
	explore_check(rig_spawn(runtime, &last, &handle) == 0);
	edo_task_detach(handle);
}

/* It may have driven until then, but does so no more. */
static void who_drove_spawns(void)
{
	begin_with_waits(2);
	explore_start(waits_and_spawns, &waitings[0]);
	explore_start(rig_waits, &waitings[1]);
	rig_happen(&waitings[0].event);
	end();
	explore_check(last.polls == 1 && last.drops == 1);
}

/* A task between two drivers: what the first has done with it is seen by the second. */
static void a_task_goes_from_driver_to_driver(void)
{
	struct rig_event until = { 0, { NULL, NULL } };
	struct rig_work work = { .until = &until, .then = &waitings[1].event };
	edo_task *task;

	begin_with_waits(2);
	explore_check(rig_spawn(runtime, &work, &task) == 0);
	until.waker = rig_waker_of(task);
	edo_task_detach(task);
	explore_start(rig_waits, &waitings[0]);
	explore_start(rig_waits, &waitings[1]);
	explore_start(rig_happens, &until);
	rig_happen(&waitings[0].event);
	end();
	explore_check(work.drops == 1);
}

static void three_wait(void)
{
	begin_with_waits(3);
	explore_start(waits_and_then_lets_the_next_go, &waitings[0]);
	explore_start(waits_and_then_lets_the_next_go, &waitings[1]);
	explore_start(rig_waits, &waitings[2]);
	rig_happen(&waitings[0].event);
	end();
}

/* ---- a plain thread joins a task, and drives ---- */

struct joining {
	edo_task *task;
	struct edo_thread_waiter *waiter;
};

static void joins(void *argument)
{
	struct joining *joining = argument;
	edo_task_wait_future wait;
	edo_future *future = edo_task_wait_start(&wait, joining->task);

	explore_check(edo_thread_await(core(), future, joining->waiter) == 0);
	explore_check(wait.result == 0);
	edo_task_detach(joining->task);
}

static struct joining joining(struct rig_work *work, unsigned thread)
{
	struct joining joining = { .waiter = rig_waiter(thread) };

	explore_check(rig_spawn(runtime, work, &joining.task) == 0);
	return joining;
}

static void a_join(void)
{
	struct rig_event until = { 0, { NULL, NULL } };
	struct rig_work work = { .until = &until };
	struct joining one;

	begin();
	one = joining(&work, FIRST);
	until.waker = rig_waker_of(one.task);
	explore_start(joins, &one);
	explore_start(rig_happens, &until);
	end();
	explore_check(work.drops == 1);
}

static void two_joins(void)
{
	struct rig_work first = { .until = NULL }, second = { .until = NULL };
	struct joining one, other;

	begin();
	one = joining(&first, FIRST);
	other = joining(&second, SECOND);
	explore_start(joins, &one);
	explore_start(joins, &other);
	end();
	explore_check(first.polls == 1 && second.polls == 1);
}

static void a_join_and_a_wait(void)
{
	struct rig_work work = { .until = NULL };
	struct joining one;

	begin();
	waitings[1] = rig_waiting(runtime, SECOND);
	one = joining(&work, FIRST);
	explore_start(joins, &one);
	explore_start(rig_waits, &waitings[1]);
	explore_start(rig_happens, &waitings[1].event);
	end();
	explore_check(work.polls == 1 && work.drops == 1);
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "two in line for the core", two_in_line, ALL, ALL },
	{ "three in line for the core", three_in_line, { 3, 2 }, ALL },
	{ "one leaves the line", one_leaves_the_line, { 3, 2 }, ALL },
	{ "two leave the line", two_leave_the_line, { 3, 2 }, ALL },
	{ "one does not stand in line", one_does_not_stand_in_line, { 3, 2 }, ALL },
	{ "two wait", two_wait, { 2, 1 }, { 2, 2 } },
	{ "one wait's end ends the other", one_lets_the_other_go, { 2, 1 }, { 2, 2 } },
	{ "one is woken in vain", one_is_woken_in_vain, { 2, 1 }, { 2, 2 } },
	{ "two tasks end two waits", a_task_lets_both_go, { 2, 1 }, { 2, 2 } },
	{ "a spawned task ends a wait", a_spawned_task_lets_the_other_go, { 1, 1 }, { 2, 1 } },
	{ "who drove before spawns", who_drove_spawns, { 2, 1 }, { 2, 2 } },
	{ "a task goes from driver to driver",
	  a_task_goes_from_driver_to_driver,
	  { 2, 1 },
	  { 3, 2 } },
	{ "three wait for each other", three_wait, { 2, 1 }, { 2, 2 } },
	{ "a join meets a wake", a_join, { 3, 2 }, ALL },
	{ "two joins", two_joins, { 2, 1 }, { 2, 2 } },
	{ "a join and a wait", a_join_and_a_wait, { 2, 1 }, { 2, 2 } },
};

EXPLORE_MAIN(models)
