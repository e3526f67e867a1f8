/*
 * S3, K3, K4: the end of a runtime meets spawns, wakes, aborts, timers and threads that leave. Each stackless
 * future is dropped exactly once, or its spawn says -ESHUTDOWN; nothing leaks; and what comes late finds
 * memory that is still there, and no driver.
 */
#include "explore/explore.h"
#include "explore/rig_scheduler.h"
#include "scheduler/core.h"
#include "scheduler/round.h"
#include <errno.h>
#include <stdlib.h>

/* The numbers of the threads that are started, in their order. */
enum { FIRST = 2, SECOND };

static edo_runtime *runtime;

/* ---- the end ---- */

static void destroys(void *argument)
{
	int rc = edo_runtime_destroy(runtime);

	(void)argument;
	explore_check(rc >= 0); /* how many are still held by somebody */
}

static void destroys_in_time_or_not(void *argument)
{
	int rc = edo_runtime_destroy(runtime);

	(void)argument;
	explore_check(rc >= 0 || rc == -ETIMEDOUT);
}

static void destroys_when_nobody_drives(void *argument)
{
	int rc;

	(void)argument;
	while ((rc = edo_runtime_destroy(runtime)) == -EBUSY)
		explore_wait_a_moment();
	explore_check(rc >= 0);
}

/* The first half of destroy: what is left is freed when all have come to their end. */
static void shuts_down(void *argument)
{
	(void)argument;
	explore_check(edo_current_thread_shut_down(&runtime->scheduler, UINT64_MAX) == 0);
}

static void free_what_is_left(void)
{
	edo_driver_destroy(&runtime->driver);
	explore_check(edo_cell_pool_close(runtime->scheduler.scheduler.pool, runtime,
					  sizeof *runtime) == 0);
}

/* ---- spawns ---- */

struct spawning {
	struct rig_work work;
	int rc;
};

static struct spawning spawnings[2];

static void spawns_one(void *argument)
{
	struct spawning *spawning = argument;

	spawning->rc = rig_spawn(runtime, &spawning->work, NULL);
}

static void spawns_and_joins(void *argument)
{
	struct spawning *spawning = argument;
	edo_task *task = NULL;

	spawning->rc = rig_spawn(runtime, &spawning->work, &task);
	while (!edo_task_is_finished(task))
		explore_wait_a_moment();
	if (task)
		explore_check(task->result == -ECANCELED || spawning->work.polls == 1);
	edo_task_detach(task);
}

/* Taken, it was dropped; refused, it is still the caller's. */
static void check_spawn(const struct spawning *spawning)
{
	explore_check(spawning->rc == 0 || spawning->rc == -ESHUTDOWN);
	explore_check(spawning->work.drops == (spawning->rc == 0 ? 1 : 0));
	explore_check(spawning->work.polls <= spawning->work.drops);
}

static void a_spawn(void)
{
	runtime = rig_runtime(RIG_WITHOUT_TIME);
	explore_start(shuts_down, NULL);
	explore_start(spawns_one, &spawnings[0]);
	explore_join_all();
	free_what_is_left();
	check_spawn(&spawnings[0]);
}

static void a_spawn_and_a_join(void)
{
	runtime = rig_runtime(RIG_WITHOUT_TIME);
	explore_start(shuts_down, NULL);
	explore_start(spawns_and_joins, &spawnings[0]);
	explore_join_all();
	free_what_is_left();
	check_spawn(&spawnings[0]);
}

static void two_spawns(void)
{
	runtime = rig_runtime(RIG_WITHOUT_TIME);
	explore_start(shuts_down, NULL);
	explore_start(spawns_one, &spawnings[0]);
	explore_start(spawns_one, &spawnings[1]);
	explore_join_all();
	free_what_is_left();
	check_spawn(&spawnings[0]);
	check_spawn(&spawnings[1]);
}

/* ---- wakes and aborts ---- */

static struct rig_event until;
static struct rig_work work = { .until = &until };
static edo_task *handle;

/* A task that waits for `until`, polled once already if it is to be idle. */
static void begin_with_task(bool is_idle)
{
	runtime = rig_runtime(RIG_WITHOUT_TIME);
	explore_check(rig_spawn(runtime, &work, &handle) == 0);
	until.waker = rig_waker_of(handle);
	if (is_idle)
		rig_run_what_is_ready(runtime);
}

static void wakes_again_and_again(void *waker)
{
	edo_waker clone = edo_waker_clone(waker);

	edo_waker_wake_by_ref(waker);
	edo_waker_drop(waker);
	edo_waker_wake(&clone);
}

static void aborts(void *argument)
{
	(void)argument;
	edo_task_abort(handle);
	edo_task_detach(handle);
}

static void detaches(void *argument)
{
	(void)argument;
	edo_task_detach(handle);
}

static void end_with_task(void)
{
	explore_join_all();
	explore_check(work.drops == 1);
}

static void a_wake(void)
{
	begin_with_task(true);
	edo_task_detach(handle);
	explore_start(destroys, NULL);
	explore_start(rig_happens, &until);
	end_with_task();
}

static void a_wake_of_a_new_task(void)
{
	begin_with_task(false);
	edo_task_detach(handle);
	explore_start(destroys, NULL);
	explore_start(rig_happens, &until);
	end_with_task();
}

static void two_wakers(void)
{
	edo_waker other;

	begin_with_task(true);
	other = rig_waker_of(handle);
	edo_task_detach(handle);
	explore_start(destroys, NULL);
	explore_start(rig_happens, &until);
	explore_start(wakes_again_and_again, &other);
	end_with_task();
}

static void an_abort(void)
{
	begin_with_task(true);
	edo_waker_drop(&until.waker);
	explore_start(destroys, NULL);
	explore_start(aborts, NULL);
	end_with_task();
}

static void an_abort_of_a_new_task(void)
{
	begin_with_task(false);
	edo_waker_drop(&until.waker);
	explore_start(destroys, NULL);
	explore_start(aborts, NULL);
	end_with_task();
}

static void an_abort_and_a_wake(void)
{
	begin_with_task(true);
	explore_start(destroys, NULL);
	explore_start(aborts, NULL);
	explore_start(rig_happens, &until);
	end_with_task();
}

static void a_handle_and_a_waker_are_dropped(void)
{
	begin_with_task(true);
	explore_start(destroys, NULL);
	explore_start(detaches, NULL);
	explore_start(rig_happens, &until);
	end_with_task();
}

/* ---- tasks that run to their end ---- */

static void begin_with_task_to_end(void)
{
	work.runs_to_end = true;
	begin_with_task(true);
	edo_task_detach(handle);
}

/* Who shuts down sleeps until the wake; had it been lost, the time limit would come. */
static void it_runs_to_its_end(void)
{
	begin_with_task_to_end();
	explore_start(destroys, NULL);
	explore_start(rig_happens, &until);
	end_with_task();
}

static void lets_the_time_pass(void *limit)
{
	explore_clock_advance(*(const uint64_t *)limit);
	rig_happen(&until);
}

/* Given up, it is dropped where it stands; and its wake comes late. */
static void it_is_given_up(void)
{
	uint64_t limit;

	begin_with_task_to_end();
	limit = runtime->config.shutdown_timeout;
	explore_start(destroys_in_time_or_not, NULL);
	explore_start(lets_the_time_pass, &limit);
	end_with_task();
}

/* ---- threads ---- */

/* It belongs to no runtime, so it parks; the end of this one wakes it. */
static void joins_parked(void *waiter)
{
	edo_task_wait_future wait;
	edo_future *future = edo_task_wait_start(&wait, handle);

	explore_check(edo_thread_await(NULL, future, waiter) == 0);
	explore_check(wait.result == -ECANCELED);
	explore_check(work.drops == 1);
	edo_task_detach(handle);
}

static void a_join_from_outside(void)
{
	struct edo_thread_waiter *waiter = rig_waiter(SECOND);

	begin_with_task(true);
	edo_waker_drop(&until.waker);
	explore_start(destroys, NULL);
	explore_start(joins_parked, waiter);
	end_with_task();
}

static void drives_for_a_moment(void *argument)
{
	(void)argument;
	if (edo_core_try_take(&runtime->scheduler)) {
		(void)edo_round_run(&runtime->scheduler, NULL);
		edo_core_release(&runtime->scheduler);
	}
	edo_task_detach(handle); /* which kept the runtime's memory */
}

/* Not told by `entered`, which is for those who say so. */
static void somebody_drives(void)
{
	begin_with_task(false);
	edo_waker_drop(&until.waker);
	explore_start(destroys_when_nobody_drives, NULL);
	explore_start(drives_for_a_moment, NULL);
	end_with_task();
}

static uint32_t is_inside; /* atomic; ordered, or the count could still be read as 0 */
static unsigned note;      /* plain: written before leaving */

static void enters_and_leaves(void *argument)
{
	edo_enter_guard guard;

	(void)argument;
	explore_check(edo_runtime_enter(runtime, &guard) == 0);
	edo_store(&is_inside, 1, release);
	note = 1;
	edo_runtime_leave(&guard);
}

static void destroys_when_all_have_left(void *argument)
{
	while (!edo_load(&is_inside, acquire) || edo_load(&runtime->entered, relaxed) > 0)
		explore_wait_a_moment();
	destroys(argument);
	explore_check(note == 1); /* a race, if destroy has not seen the leaving */
}

static void a_thread_that_leaves(void)
{
	runtime = rig_runtime(RIG_WITHOUT_TIME);
	explore_start(destroys_when_all_have_left, NULL);
	explore_start(enters_and_leaves, NULL);
	explore_join_all();
}

/* ---- timers ---- */

static edo_timer_entry *timers[2];

static edo_waker same_waker(void *data);

static void nothing(void *data)
{
	(void)data;
}

static void drop_and_free(edo_timer_entry *entry)
{
	edo_entry_drop(entry);
	free(entry);
}

static void drops_the_other_timer(void *data)
{
	(void)data;
	drop_and_free(timers[1]);
	timers[1] = NULL;
}

static const edo_waker_ops deaf_ops = { same_waker, nothing, nothing, nothing };
static const edo_waker_ops dropping_ops = { same_waker, drops_the_other_timer, nothing, nothing };

/* What is known of a waker is its functions. */
static edo_waker same_waker(void *data)
{
	return (edo_waker){ data, data };
}

static edo_timer_entry *armed(const edo_waker_ops *ops, uint64_t tick)
{
	edo_waker waker = { (void *)(uintptr_t)ops, ops };
	edo_context cx = { .waker = &waker, .edo_budget_ = EDO_COOP_BUDGET };
	edo_timer_entry *entry = malloc(sizeof *entry);

	edo_entry_init(entry);
	explore_check(edo_entry_poll(&runtime->driver.time, entry, tick, &cx) == EDO_PENDING);
	return entry;
}

static void drops_its_timer(void *entry)
{
	drop_and_free(entry);
}

static void a_timer(void)
{
	edo_timer_entry *one;

	runtime = rig_runtime(RIG_WITH_TIME);
	one = armed(&deaf_ops, 5);
	explore_start(destroys, NULL);
	explore_start(drops_its_timer, one);
	explore_join_all();
}

static void two_timers(void)
{
	edo_timer_entry *one, *other;

	runtime = rig_runtime(RIG_WITH_TIME);
	one = armed(&deaf_ops, 5);
	other = armed(&deaf_ops, 5);
	explore_start(destroys, NULL);
	explore_start(drops_its_timer, one);
	explore_start(drops_its_timer, other);
	explore_join_all();
}

/*
 * Its waker, on the thread that shuts down, drops one that is still in the wheel, for there are more than go in a
 * batch; and a stranger drops another.
 */
static void a_waker_that_drops_a_timer(void)
{
	edo_timer_entry *between[EDO_WAKE_BATCH];

	runtime = rig_runtime(RIG_WITH_TIME);
	timers[0] = armed(&dropping_ops, 5);
	for (unsigned i = 0; i < EDO_WAKE_BATCH; i++)
		between[i] = armed(&deaf_ops, 6);
	timers[1] = armed(&deaf_ops, 7);
	explore_start(destroys, NULL);
	explore_start(drops_its_timer, between[EDO_WAKE_BATCH - 1]);
	explore_join_all();
	explore_check(timers[1] == NULL);
	drop_and_free(timers[0]);
	for (unsigned i = 0; i < EDO_WAKE_BATCH - 1; i++)
		drop_and_free(between[i]);
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "a spawn", a_spawn, { 3, 2 }, ALL },
	{ "a spawn that is waited for", a_spawn_and_a_join, { 3, 2 }, ALL },
	{ "two spawns", two_spawns, { 2, 1 }, { 3, 2 } },
	{ "a wake of an idle task", a_wake, ALL, ALL },
	{ "a wake of a new task", a_wake_of_a_new_task, { 3, 2 }, ALL },
	{ "two wakers", two_wakers, { 2, 1 }, { 3, 2 } },
	{ "an abort of an idle task", an_abort, { 3, 2 }, ALL },
	{ "an abort of a new task", an_abort_of_a_new_task, { 3, 2 }, ALL },
	{ "an abort and a wake", an_abort_and_a_wake, { 2, 1 }, { 3, 2 } },
	{ "the last handle and the last waker",
	  a_handle_and_a_waker_are_dropped,
	  { 2, 1 },
	  { 3, 2 } },
	{ "a task that runs to its end", it_runs_to_its_end, { 3, 2 }, ALL },
	{ "a task that is given up", it_is_given_up, { 2, 1 }, { 3, 2 } },
	{ "a join from outside", a_join_from_outside, { 2, 1 }, { 3, 2 } },
	{ "a thread that drives", somebody_drives, { 3, 2 }, ALL },
	{ "a thread that leaves", a_thread_that_leaves, ALL, ALL },
	{ "a timer that is dropped", a_timer, ALL, ALL },
	{ "two timers that are dropped", two_timers, { 2, 1 }, { 4, 3 } },
	{ "a waker that drops a timer", a_waker_that_drops_a_timer, ALL, ALL },
};

EXPLORE_MAIN(models)
