/* Timers under every failure: with the clock standing, running, without I/O, and on CLOCK_BOOTTIME. */
#include "sweep.h"
#include <edo/async.h>

/* How long the scenarios sleep; the clocks that run have ticks of 20 us. */
#define MOMENT EDO_US(50)

/* ---- steps: each 0, or what went wrong ---- */

static int sleeper(void *arg)
{
	struct sweep_life *life = *(struct sweep_life **)arg;

	return sweep_tell(life, edo_sleep(2 * MOMENT));
}

/* Two that sleep beside each other, and one that is told to stop. */
static int sleep_side_by_side(struct sweep_life *life)
{
	edo_task *one = NULL;
	edo_task *other = NULL;
	int rc = sweep_tell(life, edo_spawn_fiber(NULL, sleeper, &life, sizeof life, &one));

	if (rc == 0)
		rc = sweep_tell(life, edo_spawn_fiber(NULL, sleeper, &life, sizeof life, &other));
	if (one)
		(void)sweep_tell(life, edo_task_join(one, NULL));
	if (other)
		(void)sweep_tell(life, edo_task_join(other, NULL));
	return rc;
}

static int tick_three_times(struct sweep_life *life)
{
	edo_interval interval;
	int rc = edo_interval_init(&interval, edo_now(), MOMENT, EDO_MISSED_SKIP);

	for (int i = 0; rc == 0 && i < 3; i++)
		rc = edo_interval_tick(&interval, NULL);
	edo_interval_drop(&interval);
	return sweep_tell(life, rc);
}

/* A limit round a timer that never comes. */
static int run_out_of_time(struct sweep_life *life)
{
	edo_timer never;
	int rc;

	edo_timer_init(&never, EDO_FOREVER);
	rc = edo_timeout(MOMENT, &never.future);
	return sweep_tell(life, rc == -ETIMEDOUT ? 0 : rc == 0 ? -EPROTO : rc);
}

/* Armed far away, moved near; armed near, and dropped. */
static int move_and_drop(struct sweep_life *life)
{
	edo_timer timer;
	int rc;

	edo_timer_init(&timer, edo_instant_add(edo_now(), EDO_SEC(1000)));
	rc = edo_timeout(MOMENT, &timer.future);
	if (rc == -ETIMEDOUT)
		rc = edo_timer_reset(&timer, edo_instant_add(edo_now(), MOMENT));
	if (rc == 0)
		rc = edo_await(&timer.future);
	if (rc == 0)
		rc = edo_timer_reset(&timer, edo_instant_add(edo_now(), EDO_SEC(1)));
	edo_timer_drop(&timer);
	return sweep_tell(life, rc);
}

static int turn_the_clock(struct sweep_life *life)
{
	int rc;

	if (!life->scenario->config.start_paused)
		return 0;
	rc = edo_advance(EDO_SEC(10));
	if (rc == 0)
		rc = edo_resume();
	if (rc == 0)
		rc = edo_pause();
	return sweep_tell(life, rc);
}

static int use_timers(void *arg)
{
	struct sweep_life *life = arg;
	int rc = sweep_tell(life, edo_sleep(MOMENT));

	if (rc == 0)
		rc = sleep_side_by_side(life);
	if (rc == 0)
		rc = tick_three_times(life);
	if (rc == 0)
		rc = run_out_of_time(life);
	if (rc == 0)
		rc = move_and_drop(life);
	return rc == 0 ? turn_the_clock(life) : rc;
}

/* ---- the same as a stackless task, whose thread waits for it by hand ---- */

struct stackless {
	edo_async async;
	edo_timer timer;
	edo_timeout_future limit;
};

static edo_poll stackless_poll(edo_future *future, edo_context *cx)
{
	struct stackless *me = edo_container_of(future, struct stackless, async.future);

	EDO_BEGIN(me, cx);
	edo_timer_init(&me->timer, edo_instant_add(edo_now(), MOMENT));
	EDO_AWAIT(&me->timer.future);
	if (me->async.result < 0)
		EDO_RETURN(me->async.result);
	edo_timer_init(&me->timer, EDO_FOREVER);
	EDO_AWAIT(edo_timeout_start(&me->limit, MOMENT, &me->timer.future));
	EDO_END(me->async.result == -ETIMEDOUT ? 0 : me->async.result);
}

static void stackless_drop(edo_future *future)
{
	edo_async_drop(&edo_container_of(future, struct stackless, async.future)->async);
}

EDO_FUTURE_OPS(stackless_ops, struct stackless, async, stackless_poll, stackless_drop);

static void use_a_stackless_task(struct sweep_life *life)
{
	struct stackless stackless = { .async = EDO_ASYNC(stackless_ops) };
	edo_task *task;
	int result = 0;

	if (sweep_tell(life, edo_spawn(life->runtime, &stackless.async.future, &task)) < 0)
		return;
	if (sweep_tell(life, edo_task_join(task, &result)) < 0)
		edo_task_detach(task); /* it ends with the runtime */
	(void)sweep_tell(life, result);
}

static void live(struct sweep_life *life)
{
	edo_enter_guard guard;

	sweep_block_on(life, use_timers, life);
	if (sweep_tell(life, edo_runtime_enter(life->runtime, &guard)) < 0)
		return;
	use_a_stackless_task(life);
	edo_runtime_leave(&guard);
}

/* ---- the sweeps ---- */

static void timers_survive_or_tell_while_the_clock_stands(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "timers, paused",
		.config = { .start_paused = true },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static void timers_survive_or_tell_while_the_clock_runs(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "timers",
		.config = { .timer_resolution = 20000 },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static void timers_survive_or_tell_on_a_thread_that_parks_on_a_futex(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "timers, no I/O",
		.config = { .timer_resolution = 20000, .disable_io = true },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static void timers_survive_or_tell_on_the_clock_that_knows_of_suspension(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "timers, boottime",
		.config = { .timer_resolution = 20000, .clock = EDO_CLOCK_BOOTTIME },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(timers_survive_or_tell_while_the_clock_stands),
	cmocka_unit_test(timers_survive_or_tell_while_the_clock_runs),
	cmocka_unit_test(timers_survive_or_tell_on_a_thread_that_parks_on_a_futex),
	cmocka_unit_test(timers_survive_or_tell_on_the_clock_that_knows_of_suspension),
};

EDO_TEST_MAIN(tests)
