/*
 * Running the tasks of a current-thread runtime. All here is done by the thread that holds the core.
 *
 * Fairness (S1): ready tasks run first come, first served; tasks from other threads are taken in every
 * inject_interval polls, the driver is looked at every event_interval polls; a task that yields goes
 * behind all that is ready, and one that asked for quiet (edo_advance()) waits until only yielding
 * tasks are left.
 */
#include "base/hot.h"
#include "base/thread.h"
#include "core.h"
#include "errand.h"
#include "inject.h"
#include "queue.h"
#include "round.h"
#include <errno.h>

static struct edo_current_thread *of(struct edo_scheduler *scheduler)
{
	return edo_container_of(scheduler, struct edo_current_thread, scheduler);
}

static bool is_driven_here(const struct edo_current_thread *rt)
{
	return edo_load(&rt->driven_by, relaxed) == edo_thread_self();
}

EDO_HOT static void schedule(struct edo_scheduler *scheduler, struct edo_task *task)
{
	struct edo_current_thread *rt = of(scheduler);

	if (is_driven_here(rt))
		edo_queue_push(&rt->ready, task);
	else
		edo_inject_push(rt, task);
}

static void defer(struct edo_scheduler *scheduler, struct edo_task *task, enum edo_defer reason)
{
	struct edo_current_thread *rt = of(scheduler);

	edo_queue_push(reason == EDO_DEFER_UNTIL_QUIET ? &rt->quiet : &rt->yielded, task);
}

static const struct edo_scheduler_ops current_thread_ops = { schedule, defer };

void edo_scheduler_submit(struct edo_scheduler *scheduler, struct edo_task *task)
{
	scheduler->ops->schedule(scheduler, task);
}

void edo_current_thread_init(struct edo_current_thread *rt, struct edo_driver *driver,
			     struct edo_cell_pool *pool, uint32_t event_interval,
			     uint32_t inject_interval)
{
	*rt = (struct edo_current_thread){
		.scheduler = { .ops = &current_thread_ops, .driver = driver, .pool = pool },
		.event_interval = event_interval,
		.inject_interval = inject_interval,
	};
}

static void look_at_driver(struct edo_current_thread *rt)
{
	rt->since_look = 0;
	edo_driver_turn(rt->scheduler.driver, 0, false);
	edo_errand_look(rt);
}

/* The next task to poll, or NULL when nothing but waiting, yielded or quiet tasks is left. */
static struct edo_task *next_task(struct edo_current_thread *rt)
{
	if (rt->tick % rt->inject_interval == 0 || edo_queue_is_empty(&rt->ready))
		edo_inject_take(rt);
	return edo_queue_pop(&rt->ready);
}

static void run(struct edo_current_thread *rt, struct edo_task *task)
{
	rt->tick++;
	rt->since_look++;
	edo_task_run(task);
}

/* Nothing is ready: those who waited for that. True: there are some. */
static bool release_deferred(struct edo_current_thread *rt)
{
	struct edo_run_queue *deferred = edo_queue_is_empty(&rt->quiet) ? &rt->yielded : &rt->quiet;

	if (edo_queue_is_empty(deferred))
		return false;
	edo_queue_append(&rt->ready, deferred);
	return true;
}

/* Runs one task, or lets the deferred be ready. False: there is neither. */
static bool advance(struct edo_current_thread *rt)
{
	struct edo_task *task = next_task(rt);

	if (!task)
		return release_deferred(rt);
	run(rt, task);
	return true;
}

/*
 * A task that is ready runs before anybody looks whether the round is over: so neither a thread whose
 * own future is always notified nor an event_interval of 1 keeps all others from running (S1). The
 * driver's turn comes before the round's end, or many short rounds would never see it (p66).
 */
EDO_HOT bool edo_round_run(struct edo_current_thread *rt, const struct edo_thread_waiter *until)
{
	while (advance(rt)) {
		if (rt->since_look >= rt->event_interval) {
			look_at_driver(rt);
			/* A queue that never runs empty must not hold the yielded back for ever. */
			edo_queue_append(&rt->ready, &rt->yielded);
			return true;
		}
		if (until && edo_waiter_is_notified(until))
			return true;
	}
	return false;
}

bool edo_round_run_until_quiet(struct edo_current_thread *rt)
{
	struct edo_task *task;

	while ((task = next_task(rt)) != NULL) {
		run(rt, task);
		if (rt->since_look >= rt->event_interval)
			look_at_driver(rt);
	}
	return release_deferred(rt);
}

void edo_round_sleep(struct edo_current_thread *rt, const struct edo_thread_waiter *until,
		     uint64_t limit)
{
	bool may_sleep = edo_inject_fall_asleep(rt);

	/*
	 * Who wakes `until` sets its signal first and then looks at `asleep` under the inject lock; we
	 * set `asleep` under that lock first and then look at the signal: one of us sees the other.
	 */
	if (until && edo_waiter_is_notified(until))
		may_sleep = false;
	rt->since_look = 0;
	edo_driver_turn(rt->scheduler.driver, may_sleep ? limit : 0, may_sleep);
	edo_inject_wake_up(rt);
	edo_errand_look(rt);
}
