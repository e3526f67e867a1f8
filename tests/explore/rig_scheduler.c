/* See rig_scheduler.h. */
#include "explore/rig_scheduler.h"
#include "explore/explore.h"
#include "scheduler/core.h"
#include "scheduler/round.h"

/* ---- the runtime ---- */

edo_runtime *rig_runtime(enum rig_time time)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	config.disable_io = true;
	config.disable_time = time == RIG_WITHOUT_TIME;
	config.timer_resolution = RIG_TICK;
	explore_check(edo_runtime_create(&runtime, &config) == 0);
	if (time == RIG_WITH_TIME)
		runtime->driver.time.clock.start = 0;
	return runtime;
}

void rig_destroy(edo_runtime *runtime)
{
	explore_check(edo_runtime_destroy(runtime) == 0);
}

void rig_run_what_is_ready(edo_runtime *runtime)
{
	explore_check(edo_core_try_take(&runtime->scheduler));
	(void)edo_round_run(&runtime->scheduler, NULL);
	edo_core_release(&runtime->scheduler);
}

/* ---- events ---- */

bool rig_has_come(const struct rig_event *event)
{
	return edo_load(&event->has_come, relaxed);
}

void rig_happen(struct rig_event *event)
{
	edo_store(&event->has_come, 1, relaxed);
	edo_waker_wake(&event->waker);
}

void rig_happens(void *event)
{
	rig_happen(event);
}

static edo_poll wait_poll(edo_future *future, edo_context *cx)
{
	const struct rig_wait *wait = edo_container_of(future, struct rig_wait, future);

	(void)cx;
	return rig_has_come(wait->event) ? EDO_READY : EDO_PENDING;
}

static void wait_drop(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(wait_ops, struct rig_wait, future, wait_poll, wait_drop);

/* ---- plain threads that wait ---- */

struct edo_thread_waiter *rig_waiter(unsigned thread)
{
	struct edo_thread_waiter *waiter = edo_thread_waiter_create(&edo_default_allocator);

	waiter->thread = thread;
	return waiter;
}

struct rig_waiting rig_waiting(edo_runtime *runtime, unsigned thread)
{
	struct edo_thread_waiter *waiter = rig_waiter(thread);
	edo_waker waker = edo_waiter_waker_borrowed(waiter);

	return (struct rig_waiting){ runtime, waiter, { 0, edo_waker_clone(&waker) } };
}

static int await_inside(edo_runtime *runtime, edo_future *future, struct edo_thread_waiter *waiter)
{
	int rc;

	edo_fetch_add(&runtime->entered, 1, relaxed);
	rc = edo_thread_await(&runtime->scheduler, future, waiter);
	edo_fetch_sub(&runtime->entered, 1, release);
	return rc;
}

void rig_waits(void *argument)
{
	struct rig_waiting *waiting = argument;
	struct rig_wait wait = { { &wait_ops }, &waiting->event };
	int rc = waiting->runtime ? await_inside(waiting->runtime, &wait.future, waiting->waiter) :
				    edo_thread_await(NULL, &wait.future, waiting->waiter);

	explore_check(rc == 0);
}

/* ---- tasks ---- */

struct work_future {
	edo_future future;
	struct rig_work *work;
};

static struct rig_work *work_of(edo_future *future)
{
	return edo_container_of(future, struct work_future, future)->work;
}

static edo_poll work_poll(edo_future *future, edo_context *cx)
{
	struct rig_work *work = work_of(future);

	(void)cx;
	work->polls++;
	explore_check(work->drops == 0);
	explore_check(!work->handle || *work->handle);
	if (work->until && !rig_has_come(work->until))
		return EDO_PENDING;
	if (work->then)
		rig_happen(work->then);
	return EDO_READY;
}

static void work_drop(edo_future *future)
{
	work_of(future)->drops++;
}

EDO_FUTURE_OPS(work_ops, struct work_future, future, work_poll, work_drop);

static const edo_future_ops work_to_end_ops = {
	work_poll,
	work_drop,
	sizeof(struct work_future),
	_Alignof(struct work_future),
	EDO_FUTURE_RUNS_TO_END,
	"work that runs to its end",
};

static struct work_future new_work(struct rig_work *work)
{
	return (struct work_future){ { work->runs_to_end ? &work_to_end_ops : &work_ops }, work };
}

edo_waker rig_waker_of(edo_task *task)
{
	return edo_task_waker_ops.clone(task);
}

int rig_spawn(edo_runtime *runtime, struct rig_work *work, edo_task **handle)
{
	struct work_future core = new_work(work);

	return edo_spawn(runtime, &core.future, handle);
}
