/* Entering, blocking, waiting in plain threads; every nesting that would deadlock is told (-EDEADLK). */
#include "scheduler/gate.h"
#include "support/allocations.h"
#include <sys/eventfd.h>
#include <unistd.h>

static edo_runtime *runtime;

static int begin(void **state)
{
	(void)state;
	runtime = runtime_new();
	return 0;
}

static int finish(void **state)
{
	(void)state;
	runtime_end(runtime);
	return 0;
}

/* ---- nesting ---- */

static unsigned tried;

/* From a task, a drop function, a waker: nothing that would wait for this thread. */
static void try_everything_that_blocks(void)
{
	edo_enter_guard guard;
	int result;

	assert_int_equal(edo_block_on(runtime, fiber_does_nothing, NULL, &result), -EDEADLK);
	assert_int_equal(edo_run(fiber_does_nothing, NULL), -EDEADLK);
	assert_int_equal(edo_runtime_destroy(runtime), -EDEADLK);
	assert_int_equal(edo_runtime_enter(runtime, &guard), -EDEADLK);
	edo_runtime_leave(&guard);
	tried++;
}

static void try_everything_that_waits(void)
{
	edo_yield_future yield;

	try_everything_that_blocks();
	assert_int_equal(edo_yield(), -EDEADLK);
	assert_int_equal(edo_await(edo_yield_start(&yield)), -EDEADLK);
	assert_int_equal(edo_sleep(EDO_MS(1)), -EDEADLK);
}

static int fiber_blocks(void *arg)
{
	(void)arg;
	try_everything_that_blocks();
	assert_int_equal(edo_yield(), 0); /* a fiber may wait */
	return 0;
}

static void a_fiber_cannot_block_its_thread(void **state)
{
	(void)state;
	tried = 0;
	assert_int_equal(run_on(runtime, fiber_blocks, NULL), 0);
	assert_int_equal(tried, 1);
}

static edo_poll poll_waits(struct actor *actor, edo_context *cx)
{
	(void)actor;
	(void)cx;
	try_everything_that_waits();
	return EDO_READY;
}

static void drop_waits(struct actor *actor)
{
	(void)actor;
	try_everything_that_waits();
}

static int spawns_one_that_waits(void *arg)
{
	struct actor actor = actor_of(poll_waits, NULL);
	edo_task *task;

	(void)arg;
	actor.on_drop = drop_waits;
	assert_return_code(edo_spawn(NULL, &actor.future, &task), 0);
	return edo_task_join(task, NULL);
}

static void a_stackless_poll_and_a_drop_function_cannot_wait(void **state)
{
	(void)state;
	tried = 0;
	assert_int_equal(run_on(runtime, spawns_one_that_waits, NULL), 0);
	assert_int_equal(tried, 2);
}

static int awaits_one_that_waits(void *arg)
{
	struct actor actor = actor_of(poll_waits, NULL);

	(void)arg;
	actor.on_drop = drop_waits;
	return edo_await(&actor.future);
}

static void a_poll_and_a_drop_inside_a_fibers_await_cannot_wait(void **state)
{
	(void)state;
	tried = 0;
	assert_int_equal(run_on(runtime, awaits_one_that_waits, NULL), 0);
	assert_int_equal(tried, 2);
}

static void a_poll_inside_a_threads_await_cannot_wait(void **state)
{
	struct actor actor = actor_of(poll_waits, NULL);

	(void)state;
	tried = 0;
	assert_int_equal(edo_await(&actor.future), 0);
	assert_int_equal(tried, 1);
}

static void waiting_wake(void *data)
{
	(void)data;
	try_everything_that_waits();
}

static const edo_waker_ops waiting_ops;

static edo_waker waiting_clone(void *data)
{
	return (edo_waker){ data, &waiting_ops };
}

static void waiting_drop(void *data)
{
	(void)data;
}

static const edo_waker_ops waiting_ops = { waiting_clone, waiting_wake, waiting_wake,
					   waiting_drop };

static edo_poll wakes_one_that_waits(struct actor *actor, edo_context *cx)
{
	edo_waker waker = { actor, &waiting_ops };

	(void)cx;
	edo_waker_wake(&waker);
	return EDO_READY;
}

static int awaits_a_wake(void *arg)
{
	struct actor actor = actor_of(wakes_one_that_waits, NULL);

	(void)arg;
	return edo_await(&actor.future);
}

static void a_waker_cannot_wait(void **state)
{
	(void)state;
	tried = 0;
	assert_int_equal(run_on(runtime, awaits_a_wake, NULL), 0);
	assert_int_equal(tried, 1);
}

/* ---- arguments ---- */

static void what_is_missing_is_an_error(void **state)
{
	struct actor actor = actor_of(never_ready, NULL);
	edo_enter_guard guard;
	edo_task *task = NULL;
	edo_future no_ops = { NULL };

	(void)state;
	assert_int_equal(edo_block_on(NULL, fiber_does_nothing, NULL, NULL), -EINVAL);
	assert_int_equal(edo_block_on(runtime, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(edo_run(NULL, NULL), -EINVAL);
	assert_int_equal(edo_await(NULL), -EINVAL);
	assert_int_equal(edo_await(&no_ops), -EINVAL);
	assert_int_equal(edo_runtime_enter(NULL, &guard), -EINVAL);
	edo_runtime_leave(&guard);
	assert_int_equal(edo_spawn(NULL, &actor.future, &task), -EINVAL);
	assert_int_equal(edo_spawn_detached(&actor.future), -EINVAL);
	assert_int_equal(edo_spawn(runtime, NULL, &task), -EINVAL);
	assert_int_equal(edo_spawn(runtime, &no_ops, &task), -EINVAL);
	assert_int_equal(edo_go(fiber_does_nothing, NULL, 0), -EINVAL);
	assert_int_equal(edo_spawn_fiber(runtime, NULL, NULL, 0, &task), -EINVAL);
	assert_int_equal(edo_spawn_fiber(runtime, fiber_does_nothing, NULL, 8, &task), -EINVAL);
	assert_int_equal(edo_task_join(NULL, NULL), -EINVAL);
	assert_int_equal(edo_task_wait(NULL, NULL), -EINVAL);
	assert_null(task);
	assert_int_equal(edo_runtime_destroy(NULL), 0);
}

static void ops_that_say_nonsense_are_refused(void **state)
{
	edo_future_ops ops = actor_ops;
	struct actor actor = actor_of(never_ready, NULL);
	edo_task *task = NULL;

	(void)state;
	actor.future.ops = &ops;
	ops.align = 32;
	assert_int_equal(edo_spawn(runtime, &actor.future, &task), -EINVAL);
	ops.align = actor_ops.align;
	ops.size = sizeof(edo_future) - 1; /* a table whose size was forgotten */
	assert_int_equal(edo_spawn(runtime, &actor.future, &task), -EINVAL);
	assert_null(task);
}

/* ---- enter and leave ---- */

static edo_poll notes_that_it_ran(struct actor *actor, edo_context *cx)
{
	(void)cx;
	*(int *)actor->arg = 1;
	return EDO_READY;
}

static void entered_runtimes_nest_and_are_left_in_reverse(void **state)
{
	edo_runtime *other = runtime_new();
	edo_enter_guard outer, inner;
	int in_outer = 0, in_inner = 0, in_outer_again = 0;
	struct actor actors[3];

	(void)state;
	actors[0] = actor_of(notes_that_it_ran, &in_outer);
	actors[1] = actor_of(notes_that_it_ran, &in_inner);
	actors[2] = actor_of(notes_that_it_ran, &in_outer_again);
	assert_return_code(edo_runtime_enter(runtime, &outer), 0);
	assert_return_code(edo_spawn_detached(&actors[0].future), 0);
	assert_return_code(edo_runtime_enter(other, &inner), 0);
	assert_return_code(edo_spawn_detached(&actors[1].future), 0);
	assert_int_equal(edo_runtime_destroy(other), -EBUSY);
	assert_int_equal(edo_runtime_destroy(runtime), -EBUSY);
	edo_runtime_leave(&inner);
	edo_runtime_leave(&inner);
	assert_return_code(edo_spawn_detached(&actors[2].future), 0);
	edo_runtime_leave(&outer);
	assert_int_equal(edo_spawn_detached(&actors[2].future), -EINVAL);

	run_on(other, fiber_does_nothing, NULL);
	assert_true(in_inner && !in_outer && !in_outer_again);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_true(in_outer && in_outer_again);
	runtime_end(other);
}

static int spawns_on_its_own(void *arg)
{
	struct actor actor = actor_of(notes_that_it_ran, arg);
	edo_task *task;

	assert_return_code(edo_spawn(NULL, &actor.future, &task), 0);
	return edo_task_join(task, NULL);
}

static void inside_a_task_the_runtime_is_the_tasks_own(void **state)
{
	edo_runtime *other = runtime_new();
	edo_enter_guard guard;
	int ran = 0;

	(void)state;
	assert_return_code(edo_runtime_enter(other, &guard), 0);
	assert_int_equal(run_on(runtime, spawns_on_its_own, &ran), 0);
	assert_int_equal(ran, 1);
	edo_runtime_leave(&guard);
	runtime_end(other);
}

/* ---- plain threads that wait ---- */

static void *opens(void *arg)
{
	gate_open(arg);
	return NULL;
}

static void await_from_a_thread(void)
{
	pthread_t thread;
	struct gate gate;

	for (unsigned i = 0; i < 500 / edo_test_slowdown(); i++) {
		gate_init(&gate);
		assert_int_equal(pthread_create(&thread, NULL, opens, &gate), 0);
		assert_int_equal(edo_await(&gate.future), 0);
		pthread_join(thread, NULL);
		assert_true(gate.drops >= 1);
	}
}

static void a_thread_without_a_runtime_parks_until_it_is_woken(void **state)
{
	(void)state;
	await_from_a_thread();
	assert_int_equal(edo_yield(), 0);
}

static void a_thread_that_has_entered_waits_in_its_runtime(void **state)
{
	edo_enter_guard guard;

	(void)state;
	assert_return_code(edo_runtime_enter(runtime, &guard), 0);
	await_from_a_thread();
	assert_int_equal(edo_yield(), 0);
	assert_int_equal(edo_sleep(EDO_US(1)), 0);
	edo_runtime_leave(&guard);
}

static void without_memory_an_await_fails_and_drops_the_wait(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	edo_test_allocations_fail(0);
	assert_int_equal(edo_await(&gate.future), -ENOMEM);
	assert_true(edo_test_allocations_failed());
	assert_int_equal(gate.polls, 0);
	assert_int_equal(gate.drops, 1);
}

static void a_thread_that_waits_runs_the_tasks_of_its_runtime(void **state)
{
	struct actor actor;
	edo_enter_guard guard;
	int ran = 0;

	(void)state;
	actor = actor_of(notes_that_it_ran, &ran);
	assert_return_code(edo_runtime_enter(runtime, &guard), 0);
	assert_return_code(edo_spawn_detached(&actor.future), 0);
	assert_int_equal(ran, 0);
	assert_int_equal(edo_yield(), 0);
	assert_int_equal(ran, 1);
	edo_runtime_leave(&guard);
}

static int sleeps_and_sets(void *arg)
{
	int rc = edo_sleep(EDO_MS(1));

	*(int *)arg = 1;
	return rc;
}

/* Wakes itself in each poll, without a yield, until a task has run. */
static edo_poll awake_until_a_task_ran(struct actor *actor, edo_context *cx)
{
	if (*(int *)actor->arg)
		return actor->n;
	actor->n++;
	edo_waker_wake_by_ref(cx->waker);
	return EDO_PENDING;
}

static void a_thread_whose_own_future_is_always_awake_starves_nobody(void **state)
{
	struct actor actor, root;
	edo_enter_guard guard;
	int ran = 0, fired = 0;

	(void)state;
	actor = actor_of(notes_that_it_ran, &ran);
	root = actor_of(awake_until_a_task_ran, &ran);
	assert_return_code(edo_runtime_enter(runtime, &guard), 0);
	assert_return_code(edo_spawn_detached(&actor.future), 0);
	assert_in_range(edo_await(&root.future), 1, 2);
	assert_return_code(edo_go(sleeps_and_sets, &fired, 0), 0);
	root = actor_of(awake_until_a_task_ran, &fired);
	assert_true(edo_await(&root.future) > 0); /* the driver is seen too */
	edo_runtime_leave(&guard);
}

/* A waker of a thread's wait may outlive the wait, the thread, and the runtime. */
static edo_waker kept;

static edo_poll keeps_its_waker(struct actor *actor, edo_context *cx)
{
	(void)actor;
	kept = edo_waker_clone(cx->waker);
	return EDO_READY;
}

static void *awaits_and_ends(void *arg)
{
	struct actor actor = actor_of(keeps_its_waker, NULL);
	edo_enter_guard guard;

	if (edo_runtime_enter(arg, &guard) != 0 || edo_await(&actor.future) != 0)
		abort();
	edo_runtime_leave(&guard);
	return NULL;
}

static void a_threads_waker_may_be_woken_when_all_is_gone(void **state)
{
	edo_runtime *short_lived = runtime_new();
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, awaits_and_ends, short_lived), 0);
	pthread_join(thread, NULL);
	runtime_end(short_lived);
	edo_waker_wake_by_ref(&kept);
	edo_waker_wake(&kept);
}

/* ---- p66 ---- */

static void pitfall_p66_short_block_ons_fire_a_timer(void **state)
{
	int fired = 0;

	(void)state;
	assert_return_code(edo_spawn_fiber(runtime, sleeps_and_sets, &fired, 0, NULL), 0);
	while (!fired)
		run_on(runtime, fiber_does_nothing, NULL);
}

struct reader {
	int fd;
	int has_read;
};

static int reads_an_event(void *arg)
{
	struct reader *reader = arg;
	edo_async_fd descriptor;
	edo_ready ready;
	int rc = edo_async_fd_init(&descriptor, reader->fd, EDO_READABLE);

	if (rc < 0)
		return rc;
	rc = edo_async_fd_readable(&descriptor, &ready);
	edo_async_fd_drop(&descriptor);
	reader->has_read = rc == 0;
	return rc;
}

static void pitfall_p66_short_block_ons_serve_descriptors(void **state)
{
	struct reader reader = { .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };

	(void)state;
	assert_return_code(edo_spawn_fiber(runtime, reads_an_event, &reader, 0, NULL), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(eventfd_write(reader.fd, 1), 0);
	while (!reader.has_read)
		run_on(runtime, fiber_does_nothing, NULL);
	close(reader.fd);
}

static int yields_once(void *arg)
{
	(void)arg;
	return edo_yield();
}

static void pitfall_p66_so_do_short_awaits_and_yields(void **state)
{
	edo_enter_guard guard;
	int fired = 0;

	(void)state;
	assert_return_code(edo_spawn_fiber(runtime, sleeps_and_sets, &fired, 0, NULL), 0);
	while (!fired)
		run_on(runtime, yields_once, NULL);
	fired = 0;
	assert_return_code(edo_spawn_fiber(runtime, sleeps_and_sets, &fired, 0, NULL), 0);
	assert_return_code(edo_runtime_enter(runtime, &guard), 0);
	while (!fired)
		edo_yield();
	edo_runtime_leave(&guard);
}

/* ---- several ---- */

static void runtimes_do_not_know_of_each_other(void **state)
{
	enum { RUNTIMES = 8 };
	edo_runtime *runtimes[RUNTIMES];
	int ran[RUNTIMES] = { 0 };

	(void)state;
	for (int i = 0; i < RUNTIMES; i++) {
		struct actor actor = actor_of(notes_that_it_ran, &ran[i]);

		runtimes[i] = runtime_new();
		assert_return_code(edo_spawn(runtimes[i], &actor.future, NULL), 0);
	}
	for (int i = RUNTIMES - 1; i >= 0; i--) {
		run_on(runtimes[i], fiber_does_nothing, NULL);
		for (int other = 0; other < RUNTIMES; other++)
			assert_int_equal(ran[other], other >= i);
	}
	for (int i = 0; i < RUNTIMES; i++)
		runtime_end(runtimes[i]);
}

static int joins_a_task_of_another_runtime(void *arg)
{
	int result = -1;

	assert_int_equal(edo_task_join(arg, &result), 0);
	return result;
}

static int opens_after_a_yield(void *arg)
{
	edo_yield();
	(void)arg;
	return 77;
}

static void *drives(void *arg)
{
	struct gate *gate = arg;

	if (edo_block_on(runtime, fiber_awaits_gate, gate, NULL) != 0)
		abort();
	return NULL;
}

static void a_fiber_may_join_a_task_of_another_runtime(void **state)
{
	edo_runtime *other = runtime_new();
	struct gate gate;
	pthread_t thread;
	edo_task *task;

	(void)state;
	gate_init(&gate);
	assert_return_code(edo_spawn_fiber(runtime, opens_after_a_yield, NULL, 0, &task), 0);
	assert_int_equal(pthread_create(&thread, NULL, drives, &gate), 0);
	assert_int_equal(run_on(other, joins_a_task_of_another_runtime, task), 77);
	gate_open(&gate);
	pthread_join(thread, NULL);
	runtime_end(other);
}

static int returns_nine(void *arg)
{
	(void)arg;
	return 9;
}

static void run_is_a_runtime_from_beginning_to_end(void **state)
{
	(void)state;
	assert_int_equal(edo_run(returns_nine, NULL), 9);
	assert_int_equal(edo_run(fiber_blocks, NULL), 0);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(a_fiber_cannot_block_its_thread),
	WITH_RUNTIME(a_stackless_poll_and_a_drop_function_cannot_wait),
	WITH_RUNTIME(a_poll_and_a_drop_inside_a_fibers_await_cannot_wait),
	WITH_RUNTIME(a_poll_inside_a_threads_await_cannot_wait),
	WITH_RUNTIME(a_waker_cannot_wait),
	WITH_RUNTIME(what_is_missing_is_an_error),
	WITH_RUNTIME(ops_that_say_nonsense_are_refused),
	WITH_RUNTIME(entered_runtimes_nest_and_are_left_in_reverse),
	WITH_RUNTIME(inside_a_task_the_runtime_is_the_tasks_own),
	WITH_RUNTIME(a_thread_without_a_runtime_parks_until_it_is_woken),
	WITH_RUNTIME(a_thread_that_has_entered_waits_in_its_runtime),
	WITH_RUNTIME(without_memory_an_await_fails_and_drops_the_wait),
	WITH_RUNTIME(a_thread_that_waits_runs_the_tasks_of_its_runtime),
	WITH_RUNTIME(a_thread_whose_own_future_is_always_awake_starves_nobody),
	WITH_RUNTIME(a_threads_waker_may_be_woken_when_all_is_gone),
	WITH_RUNTIME(pitfall_p66_short_block_ons_fire_a_timer),
	WITH_RUNTIME(pitfall_p66_short_block_ons_serve_descriptors),
	WITH_RUNTIME(pitfall_p66_so_do_short_awaits_and_yields),
	WITH_RUNTIME(runtimes_do_not_know_of_each_other),
	WITH_RUNTIME(a_fiber_may_join_a_task_of_another_runtime),
	WITH_RUNTIME(run_is_a_runtime_from_beginning_to_end),
};

EDO_TEST_MAIN(tests)
