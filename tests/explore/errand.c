/* See errand.h. */
#include "explore/errand.h"
#include "base/sys.h"

static struct edo_scheduler scheduler;
/* Atomic: 1 while the task is in the only queue. */
static uint32_t is_queued;
static bool nobody_else_ends_it;

struct edo_task *errand_task;
edo_waker errand_wakers[ERRAND_TELLERS];
uint32_t errand_is_told[ERRAND_TELLERS];
int errand_note;
unsigned errand_drops;

struct edo_scheduler *errand_scheduler(void)
{
	return &scheduler;
}

struct errand *errand_core(void)
{
	return edo_container_of(edo_task_core(errand_task), struct errand, future);
}

/* ---- the scheduler ---- */

static void schedule(struct edo_scheduler *of, struct edo_task *task)
{
	explore_check(of == &scheduler && task == errand_task);
	explore_check(edo_exchange(&is_queued, 1, release) == 0);
	(void)edo_sys_futex_wake(&is_queued, 1);
}

static void defer(struct edo_scheduler *of, struct edo_task *task, enum edo_defer reason)
{
	explore_check(reason == EDO_DEFER_YIELD);
	schedule(of, task);
}

static const struct edo_scheduler_ops scheduler_ops = { schedule, defer };

static bool take(void)
{
	return edo_exchange(&is_queued, 0, acquire) == 1;
}

void errand_runs_what_is_there(void *unused)
{
	(void)unused;
	if (take())
		edo_task_run(errand_task);
}

void errand_runs_until_it_ends(void *unused)
{
	(void)unused;
	nobody_else_ends_it = true;
	while (errand_drops == 0) {
		if (take())
			edo_task_run(errand_task);
		else
			(void)edo_sys_futex_wait(&is_queued, 0, UINT64_MAX);
	}
}

/* ---- the future ---- */

static void hand_out_wakers(const struct errand *errand, const edo_context *cx)
{
	for (unsigned i = 0; i < errand->tellers; i++)
		errand_wakers[i] = edo_waker_clone(cx->waker);
}

edo_poll errand_needs_all(struct errand *errand, edo_context *cx)
{
	(void)cx;
	for (unsigned i = 0; i < errand->tellers; i++)
		if (edo_load(&errand_is_told[i], relaxed) == 0)
			return EDO_PENDING;
	return ERRAND_RESULT;
}

edo_poll errand_reads_note(struct errand *errand, edo_context *cx)
{
	(void)errand;
	(void)cx;
	explore_check(errand_note == 1);
	return ERRAND_RESULT;
}

static edo_poll errand_poll(edo_future *future, edo_context *cx)
{
	struct errand *errand = edo_container_of(future, struct errand, future);

	explore_check(errand->drops == 0);
	if (errand->polls++ == 0) {
		hand_out_wakers(errand, cx);
		return EDO_PENDING;
	}
	errand->output = ERRAND_OUTPUT;
	return errand->go_on(errand, cx);
}

static void errand_drop(edo_future *future)
{
	struct errand *errand = edo_container_of(future, struct errand, future);

	errand->drops++;
	errand_drops++;
}

EDO_FUTURE_OPS(errand_ops, struct errand, future, errand_poll, errand_drop);

/* ---- a model's beginning and end ---- */

static void begin(const edo_future_ops *ops, unsigned tellers,
		  edo_poll (*go_on)(struct errand *errand, edo_context *cx))
{
	const struct errand errand = { .future = { ops }, .go_on = go_on, .tellers = tellers };

	scheduler.ops = &scheduler_ops;
	scheduler.pool = edo_cell_pool_create(&edo_default_allocator);
	explore_check(edo_task_create(&scheduler, &errand.future, ERRAND_CORE, NULL, NULL,
				      &errand_task) == 0);
	edo_task_run(errand_task);
}

void errand_begin(unsigned tellers)
{
	begin(&errand_ops, tellers, errand_needs_all);
}

void errand_begin_with(unsigned tellers, edo_poll (*go_on)(struct errand *errand, edo_context *cx))
{
	begin(&errand_ops, tellers, go_on);
}

void errand_begin_running_to_end(unsigned tellers,
				 edo_poll (*go_on)(struct errand *errand, edo_context *cx))
{
	static edo_future_ops ops;

	ops = errand_ops;
	ops.flags = EDO_FUTURE_RUNS_TO_END;
	begin(&ops, tellers, go_on);
}

void errand_end(void)
{
	/* Whoever wakes a task that has ended by a poll finds out, and queues nothing. */
	explore_check(!nobody_else_ends_it || edo_load(&is_queued, relaxed) == 0);
	errand_runs_what_is_there(NULL);
	explore_check(errand_drops == 1);
	explore_check(edo_owned_count(&scheduler.owned) == 0);
	explore_check(edo_cell_pool_close(scheduler.pool, NULL, 0) == 0);
}
