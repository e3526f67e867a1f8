/*
 * Threads under every failure: one that knows of no runtime waits for a fiber, spawns into the runtime, joins
 * what it has spawned and wakes a fiber; meanwhile another drives.
 *
 * Which thread makes call number n differs from life to life; what must hold does not.
 */
#include "sweep.h"
#include <pthread.h>

/* ---- a gate: a future that anybody opens ---- */

struct gate {
	bool is_open; /* atomic */
	edo_atomic_waker waiting;
};

struct gate_future {
	edo_future future;
	struct gate *gate;
};

static edo_poll gate_poll(edo_future *future, edo_context *cx)
{
	struct gate *gate = edo_container_of(future, struct gate_future, future)->gate;

	edo_atomic_waker_register(&gate->waiting, cx);
	return __atomic_load_n(&gate->is_open, __ATOMIC_ACQUIRE) ? EDO_READY : EDO_PENDING;
}

static void gate_drop(edo_future *future)
{
	edo_atomic_waker_clear(
		&edo_container_of(future, struct gate_future, future)->gate->waiting);
}

EDO_FUTURE_OPS(gate_ops, struct gate_future, future, gate_poll, gate_drop);

static edo_future *gate_start(struct gate_future *wait, struct gate *gate)
{
	*wait = (struct gate_future){ { &gate_ops }, gate };
	return &wait->future;
}

static void open_gate(struct gate *gate)
{
	__atomic_store_n(&gate->is_open, true, __ATOMIC_RELEASE);
	edo_atomic_waker_wake(&gate->waiting);
}

/* ---- the scenario ---- */

struct meeting {
	struct sweep_life *life;
	struct gate to_outside;
	struct gate to_inside;
};

static int inside(void *arg)
{
	struct meeting *meeting = arg;
	struct gate_future wait;

	open_gate(&meeting->to_outside);
	return sweep_tell(meeting->life,
			  edo_timeout(SWEEP_GUARD, gate_start(&wait, &meeting->to_inside)));
}

static int yields_a_little(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		if (edo_yield() < 0)
			return -ECANCELED;
	return 7;
}

static void spawn_and_join(struct sweep_life *life)
{
	edo_task *task;
	int result = 7;

	if (sweep_tell(life, edo_spawn_fiber(life->runtime, yields_a_little, NULL, 0, &task)) < 0)
		return;
	if (sweep_tell(life, edo_task_join(task, &result)) < 0)
		edo_task_detach(task); /* whoever drives runs it */
	(void)sweep_tell(life, result == 7 ? 0 : -EPROTO);
}

static void *outside(void *arg)
{
	struct meeting *meeting = arg;
	struct gate_future wait;

	(void)sweep_tell(meeting->life, edo_await(gate_start(&wait, &meeting->to_outside)));
	spawn_and_join(meeting->life);
	open_gate(&meeting->to_inside);
	return NULL;
}

/* If the fiber could not begin, nobody else lets the other thread in. */
static void live(struct sweep_life *life)
{
	struct meeting meeting = { .life = life };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, outside, &meeting), 0);
	sweep_block_on(life, inside, &meeting);
	open_gate(&meeting.to_outside);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void threads_survive_or_tell_every_failure(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "threads",
		.config = { .timer_resolution = 20000 },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static void threads_that_park_on_futexes_survive_or_tell_every_failure(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "threads, no I/O",
		.config = { .timer_resolution = 20000, .disable_io = true },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(threads_survive_or_tell_every_failure),
	cmocka_unit_test(threads_that_park_on_futexes_survive_or_tell_every_failure),
};

EDO_TEST_MAIN(tests)
