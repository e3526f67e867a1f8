/* The end of a runtime (S3): tasks in every state, fibers that do not listen, handles and wakers left over. */
#include "fiber/fiber.h"
#include "scheduler/gate.h"
#include "support/allocations.h"
#include "task/task.h"

static edo_runtime *runtime;

static int begin(void **state)
{
	(void)state;
	runtime = runtime_new();
	return 0;
}

static int drops;

static void counts_drop(struct actor *actor)
{
	(void)actor;
	drops++;
}

static edo_task *spawn_counted(edo_poll (*act)(struct actor *, edo_context *))
{
	struct actor actor = actor_of(act, NULL);
	edo_task *task = NULL;

	actor.on_drop = counts_drop;
	assert_return_code(edo_spawn(runtime, &actor.future, &task), 0);
	return task;
}

static void tasks_that_were_never_polled_are_dropped(void **state)
{
	(void)state;
	drops = 0;
	for (int i = 0; i < 100; i++)
		edo_task_detach(spawn_counted(never_ready));
	runtime_end(runtime);
	assert_int_equal(drops, 100);
}

static void tasks_that_wait_are_dropped(void **state)
{
	(void)state;
	drops = 0;
	for (int i = 0; i < 100; i++)
		edo_task_detach(spawn_counted(never_ready));
	run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(drops, 0);
	runtime_end(runtime);
	assert_int_equal(drops, 100);
}

static edo_poll yields(struct actor *actor, edo_context *cx)
{
	edo_yield_future yield;

	(void)actor;
	return edo_future_poll(edo_yield_start(&yield), cx);
}

static edo_poll waits_for_quiet(struct actor *actor, edo_context *cx)
{
	(void)actor;
	edo_context_defer_until_quiet(cx);
	edo_waker_wake_by_ref(cx->waker);
	return EDO_PENDING;
}

/* They are in queues of their own, each with a reference. */
static void tasks_that_have_given_way_are_dropped(void **state)
{
	(void)state;
	drops = 0;
	edo_task_detach(spawn_counted(yields));
	edo_task_detach(spawn_counted(waits_for_quiet));
	run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(drops, 0);
	runtime_end(runtime);
	assert_int_equal(drops, 2);
}

static void handles_that_still_live_are_told_and_can_be_consumed_later(void **state)
{
	edo_task *tasks[3];
	int result = 1;

	(void)state;
	drops = 0;
	for (int i = 0; i < 3; i++)
		tasks[i] = spawn_counted(never_ready);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), 3);
	assert_int_equal(drops, 3);
	edo_task_abort(tasks[0]);
	assert_true(edo_task_is_finished(tasks[0]));
	assert_int_equal(edo_task_join(tasks[0], &result), 0);
	assert_int_equal(result, -ECANCELED);
	assert_int_equal(edo_task_wait(tasks[1], &result), 0);
	edo_task_detach(tasks[1]);
	edo_task_detach(tasks[2]);
}

/* A wait through the dead runtime would first of all ask it for memory. */
static void an_ended_task_is_joined_without_its_runtime(void **state)
{
	edo_task *task = spawn_counted(never_ready);
	int rc, result = 1;

	(void)state;
	assert_int_equal(edo_runtime_destroy(runtime), 1);
	edo_test_allocations_fail(0);
	rc = edo_task_join(task, &result);
	edo_test_allocations_fail(EDO_TEST_NEVER);
	assert_int_equal(rc, 0);
	assert_int_equal(result, -ECANCELED);
}

/* ---- wakers that come late ---- */

static edo_waker kept;

static edo_poll keeps_its_waker(struct actor *actor, edo_context *cx)
{
	(void)actor;
	edo_waker_drop(&kept);
	kept = edo_waker_clone(cx->waker);
	return EDO_PENDING;
}

static void a_waker_that_comes_after_the_end_does_nothing(void **state)
{
	edo_waker clone;

	(void)state;
	drops = 0;
	edo_task_detach(spawn_counted(keeps_its_waker));
	run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), 1);
	clone = edo_waker_clone(&kept);
	edo_waker_wake_by_ref(&kept);
	edo_waker_wake(&kept);
	edo_waker_wake(&clone);
	assert_int_equal(drops, 1);
}

static int stop; /* atomic */

static void *wakes_all_the_time(void *arg)
{
	edo_waker waker = *(edo_waker *)arg;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		edo_waker clone = edo_waker_clone(&waker);

		edo_waker_wake_by_ref(&waker);
		edo_waker_wake(&clone);
	}
	edo_waker_wake(&waker);
	return NULL;
}

static void pitfall_p51_another_thread_may_wake_while_the_runtime_is_destroyed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 300 / edo_test_slowdown(); i++) {
		pthread_t thread;
		edo_waker wakers[1];
		int left;

		drops = 0;
		stop = 0;
		edo_task_detach(spawn_counted(keeps_its_waker));
		run_on(runtime, fiber_does_nothing, NULL);
		wakers[0] = edo_waker_clone(&kept);
		assert_int_equal(pthread_create(&thread, NULL, wakes_all_the_time, wakers), 0);
		run_on(runtime, fiber_does_nothing, NULL);
		left = edo_runtime_destroy(runtime);
		assert_int_equal(left, 1);
		assert_int_equal(drops, 1);
		edo_waker_drop(&kept);
		set(&stop);
		pthread_join(thread, NULL);
		runtime = runtime_new();
	}
	runtime_end(runtime);
}

/* ---- fibers ---- */

static int fate;

static int awaits_until_told(void *arg)
{
	fate = edo_await(arg);
	return fate;
}

static void a_fiber_that_waits_gets_canceled_and_returns(void **state)
{
	struct gate gate;
	edo_task *task;
	int result;

	(void)state;
	gate_init(&gate);
	fate = 1;
	assert_return_code(edo_spawn_fiber(runtime, awaits_until_told, &gate.future, 0, &task), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), 1);
	assert_int_equal(fate, -ECANCELED);
	assert_true(gate.drops >= 1);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, -ECANCELED);
}

static void a_fiber_that_never_began_runs_with_failing_awaits(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	fate = 1;
	assert_return_code(edo_spawn_fiber(runtime, awaits_until_told, &gate.future, 0, NULL), 0);
	runtime_end(runtime);
	assert_int_equal(fate, -ECANCELED);
	assert_int_equal(gate.polls, 0);
}

static int ignores_for_some_time(void *arg)
{
	int *times = arg;

	while (*times > 0)
		if (edo_sleep(EDO_HOUR(1)) == -ECANCELED)
			--*times;
	return 3;
}

static void a_fiber_may_ignore_its_cancellation_for_some_time(void **state)
{
	int times = 5000;

	(void)state;
	assert_return_code(edo_spawn_fiber(runtime, ignores_for_some_time, &times, 0, NULL), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	runtime_end(runtime);
	assert_int_equal(times, 0);
}

/* A fiber's function returns an int; these do not return. */
#define NEVER __attribute__((noreturn))

NEVER static int never_returns(void *arg)
{
	for (;;)
		(void)edo_await(arg);
}

/* Stands on its stack and is linked from elsewhere: must be unlinked when the stack goes. */
NEVER static int never_returns_and_sleeps(void *arg)
{
	(void)arg;
	for (;;)
		(void)edo_sleep(EDO_HOUR(1));
}

NEVER static int never_returns_and_joins(void *arg)
{
	for (;;)
		if (edo_task_wait(arg, NULL) == 0)
			edo_yield();
}

static void fibers_that_never_return_are_given_up_at_the_limit(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_task *tasks[4], *joined;
	struct gate gate;

	(void)state;
	runtime_end(runtime);
	config.shutdown_timeout = EDO_MS(20);
	runtime = runtime_with(&config);
	gate_init(&gate);
	joined = spawn_counted(never_ready);
	assert_return_code(edo_spawn_fiber(runtime, never_returns, &gate.future, 0, &tasks[0]), 0);
	assert_return_code(edo_spawn_fiber(runtime, never_returns_and_sleeps, NULL, 0, &tasks[1]),
			   0);
	assert_return_code(edo_spawn_fiber(runtime, never_returns_and_joins, joined, 0, &tasks[2]),
			   0);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_return_code(edo_spawn_fiber(runtime, never_returns, &gate.future, 0, &tasks[3]), 0);
	assert_int_equal(edo_runtime_destroy(runtime), -ETIMEDOUT);
	gate_open(&gate); /* nobody is registered any more */
	for (int i = 0; i < 4; i++) {
		int result = 0;

		assert_true(edo_task_is_finished(tasks[i]));
		assert_int_equal(edo_task_join(tasks[i], &result), 0);
		assert_int_equal(result, -ECANCELED);
	}
	edo_task_detach(joined);
}

/* Told to end, it computes past the limit before it waits again. */
NEVER static int computes_past_the_limit(void *arg)
{
	edo_instant start;

	(void)edo_await(arg);
	start = edo_now();
	while (edo_now() - start < EDO_MS(5))
		;
	for (;;)
		edo_yield();
}

/* It never gets to see its cancellation: what is linked into its stack is unlinked before that goes. */
static void a_fiber_that_is_given_up_in_its_await_leaves_nothing_registered(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	struct gate gates[2];

	(void)state;
	runtime_end(runtime);
	config.shutdown_timeout = EDO_MS(1);
	config.event_interval = 1;
	runtime = runtime_with(&config);
	gate_init(&gates[0]);
	gate_init(&gates[1]);
	assert_return_code(edo_spawn_fiber(runtime, computes_past_the_limit, &gates[0].future, 0,
					   NULL),
			   0);
	assert_return_code(edo_spawn_fiber(runtime, never_returns, &gates[1].future, 0, NULL), 0);
	for (int i = 0; i < 4; i++)
		run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(gates[1].polls, 1);
	assert_int_equal(edo_runtime_destroy(runtime), -ETIMEDOUT);
	assert_int_equal(gates[1].polls, 1);
	assert_int_equal(gates[1].drops, 1);
	assert_false(edo_waker_is_set(&gates[1].waker.edo_waker_));
}

static void a_clock_that_stands_does_not_stop_the_limit(void **state)
{
	edo_config config = EDO_CONFIG_INIT;

	(void)state;
	runtime_end(runtime);
	config.shutdown_timeout = EDO_MS(5);
	config.start_paused = true;
	runtime = runtime_with(&config);
	assert_return_code(edo_spawn_fiber(runtime, never_returns_and_sleeps, NULL, 0, NULL), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), -ETIMEDOUT);
}

/* The system's clock is set back by so much (--wrap). */
static uint64_t set_back;

uint64_t __real_edo_sys_clock_now(enum edo_sys_clock clock);
uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock);
uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock)
{
	return __real_edo_sys_clock_now(clock) - set_back;
}

static int sets_the_clock_back_and_returns_later(void *arg)
{
	(void)arg;
	(void)edo_sleep(EDO_HOUR(1));
	set_back = EDO_SEC(1);
	for (int i = 0; i < 3 * EDO_COOP_BUDGET; i++)
		(void)edo_yield(); /* gives way when the budget is spent */
	return 7;
}

/* What had passed until then was taken for more than any limit. */
static void a_clock_that_is_set_back_does_not_pass_the_limit(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_task *task;
	int result = 0;
	int rc;

	(void)state;
	runtime_end(runtime);
	config.event_interval = 1;
	runtime = runtime_with(&config);
	assert_return_code(edo_spawn_fiber(runtime, sets_the_clock_back_and_returns_later, NULL, 0,
					   &task),
			   0);
	run_on(runtime, fiber_does_nothing, NULL);
	rc = edo_runtime_destroy(runtime);
	set_back = 0;
	assert_int_equal(rc, 1);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, 7);
}

/* ---- what user code does during the end ---- */

static int spawn_result, go_result;

static void spawns_in_drop(struct actor *actor)
{
	struct actor other = actor_of(never_ready, NULL);

	(void)actor;
	other.on_drop = counts_drop;
	spawn_result = edo_spawn(NULL, &other.future, NULL);
	go_result = edo_go(fiber_does_nothing, NULL, 0);
}

static void a_drop_function_that_spawns_keeps_what_it_would_have_spawned(void **state)
{
	struct actor actor = actor_of(never_ready, NULL);

	(void)state;
	drops = 0;
	actor.on_drop = spawns_in_drop;
	assert_return_code(edo_spawn(runtime, &actor.future, NULL), 0);
	runtime_end(runtime);
	assert_int_equal(spawn_result, -ESHUTDOWN);
	assert_int_equal(go_result, -ESHUTDOWN);
	assert_int_equal(drops, 0);
}

static void wakes_kept_in_drop(struct actor *actor)
{
	(void)actor;
	edo_waker_wake_by_ref(&kept);
	drops++;
}

static void a_drop_function_may_wake_what_ends_as_well(void **state)
{
	struct actor actor;

	(void)state;
	for (int order = 0; order < 2; order++) {
		drops = 0;
		actor = actor_of(never_ready, NULL);
		actor.on_drop = wakes_kept_in_drop;
		if (order)
			assert_return_code(edo_spawn(runtime, &actor.future, NULL), 0);
		edo_task_detach(spawn_counted(keeps_its_waker));
		if (!order)
			assert_return_code(edo_spawn(runtime, &actor.future, NULL), 0);
		run_on(runtime, fiber_does_nothing, NULL);
		assert_int_equal(edo_runtime_destroy(runtime), 1);
		assert_int_equal(drops, 2);
		edo_waker_drop(&kept);
		runtime = runtime_new();
	}
	runtime_end(runtime);
}

/* While a fiber holds the end up, another thread goes on spawning. */
static int refused; /* atomic */

static void *spawns_until_refused(void *arg)
{
	(void)arg;
	for (;;) {
		struct actor actor = actor_of(never_ready, NULL);
		int rc;

		actor.on_drop = counts_drop;
		rc = edo_spawn(runtime, &actor.future, NULL);
		if (rc == -ESHUTDOWN)
			break;
		if (rc < 0)
			abort();
		sched_yield();
	}
	if (edo_spawn_fiber(runtime, fiber_does_nothing, "abc", 4, NULL) != -ESHUTDOWN)
		abort();
	set(&refused);
	return NULL;
}

static int waits_for_the_refusal(void *arg)
{
	(void)arg;
	while (edo_yield() != -ECANCELED)
		;
	while (!__atomic_load_n(&refused, __ATOMIC_ACQUIRE))
		edo_yield();
	return 0;
}

static void another_thread_that_spawns_is_refused_once_the_end_has_begun(void **state)
{
	pthread_t thread;

	(void)state;
	refused = 0;
	assert_return_code(edo_spawn_fiber(runtime, waits_for_the_refusal, NULL, 0, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, spawns_until_refused, NULL), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	runtime_end(runtime);
	pthread_join(thread, NULL);
}

/* ---- who may ---- */

static int destroys(void *arg)
{
	(void)arg;
	return edo_runtime_destroy(runtime);
}

static void a_task_cannot_destroy_its_runtime(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, destroys, NULL), -EDEADLK);
	runtime_end(runtime);
}

static struct gate inside;
static int is_inside; /* atomic */

static int says_that_it_is_inside(void *arg)
{
	set(&is_inside);
	return edo_await(arg);
}

static void *stays_inside(void *arg)
{
	if (edo_block_on(runtime, says_that_it_is_inside, arg, NULL) != 0)
		abort();
	return NULL;
}

static void while_another_thread_is_inside_nothing_is_done(void **state)
{
	pthread_t thread;

	(void)state;
	is_inside = 0;
	gate_init(&inside);
	drops = 0;
	edo_task_detach(spawn_counted(never_ready));
	assert_int_equal(pthread_create(&thread, NULL, stays_inside, &inside.future), 0);
	wait_until_set(&is_inside);
	assert_int_equal(edo_runtime_destroy(runtime), -EBUSY);
	assert_int_equal(drops, 0);
	gate_open(&inside);
	pthread_join(thread, NULL);
	runtime_end(runtime);
	assert_int_equal(drops, 1);
}

/* ThreadSanitizer sees whether what a guest did comes before the end: nothing else travels with this. */
static int has_left; /* atomic */

static void *looks_at_the_clock(void *arg)
{
	edo_enter_guard guard;

	if (edo_runtime_enter(runtime, &guard) != 0)
		abort();
	(void)edo_now();
	edo_runtime_leave(&guard);
	__atomic_store_n(&has_left, 1, __ATOMIC_RELAXED);
	return arg;
}

static edo_poll is_ready(struct actor *actor, edo_context *cx)
{
	(void)actor;
	(void)cx;
	return EDO_READY;
}

static void *waits_for_what_is_ready(void *arg)
{
	struct actor actor = actor_of(is_ready, NULL);

	actor.on_drop = counts_drop;
	if (edo_await_on(runtime, &actor.future) != 0)
		abort();
	__atomic_store_n(&has_left, 1, __ATOMIC_RELAXED);
	return arg;
}

static void destroys_it_after(void *(*guest)(void *))
{
	pthread_t thread;

	has_left = 0;
	assert_int_equal(pthread_create(&thread, NULL, guest, NULL), 0);
	while (!__atomic_load_n(&has_left, __ATOMIC_RELAXED))
		sched_yield();
	runtime_end(runtime);
	drops++;
	pthread_join(thread, NULL);
}

static void what_a_guest_did_comes_before_the_end(void **state)
{
	(void)state;
	drops = 0;
	destroys_it_after(looks_at_the_clock);
	assert_int_equal(drops, 1);
}

static void so_does_what_a_waiting_thread_dropped(void **state)
{
	(void)state;
	drops = 0;
	destroys_it_after(waits_for_what_is_ready);
	assert_int_equal(drops, 2);
}

/* ---- memory ---- */

static struct {
	size_t blocks, bytes, calls;
} memory;

static void *allocate(void *context, size_t size, size_t align)
{
	void *block = NULL;

	(void)context;
	__atomic_fetch_add(&memory.calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&memory.blocks, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&memory.bytes, size, __ATOMIC_RELAXED);
	return posix_memalign(&block, align < 8 ? 8 : align, size) == 0 ? block : NULL;
}

static void release(void *context, void *block, size_t size)
{
	(void)context;
	__atomic_fetch_sub(&memory.blocks, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&memory.bytes, size, __ATOMIC_RELAXED);
	free(block);
}

static int spawns_and_joins(void *arg)
{
	for (int i = 0; i < 50; i++) {
		struct actor actor = actor_of(keeps_its_waker, NULL);
		edo_task *fiber, *task;

		assert_return_code(edo_spawn_fiber(NULL, fiber_does_nothing, arg, 0, &fiber), 0);
		assert_return_code(edo_spawn(NULL, &actor.future, &task), 0);
		edo_yield();
		edo_task_abort(task);
		assert_int_equal(edo_task_join(fiber, NULL), 0);
		assert_int_equal(edo_task_join(task, NULL), 0);
		edo_waker_drop(&kept);
	}
	return 0;
}

static int spawns_twice(void *arg)
{
	size_t warm;

	(void)spawns_and_joins(arg);
	warm = memory.calls;
	(void)spawns_and_joins(arg);
	return memory.calls == warm ? 0 : -1;
}

static void with_warm_caches_a_spawn_and_its_join_allocate_nothing(void **state)
{
	edo_allocator allocator = { allocate, release, NULL };
	edo_config config = EDO_CONFIG_INIT;
	edo_task *late;

	(void)state;
	runtime_end(runtime);
	config.allocator = &allocator;
	memset(&memory, 0, sizeof memory);
	runtime = runtime_with(&config);
	memset(&allocator, 0xff, sizeof allocator); /* it was copied */
	assert_int_equal(run_on(runtime, spawns_twice, NULL), 0);
	late = spawn_counted(never_ready);
	assert_int_equal(edo_runtime_destroy(runtime), 1);
	assert_true(memory.blocks > 0); /* the last handle holds it */
	edo_task_detach(late);
	assert_int_equal(memory.blocks, 0);
	assert_int_equal(memory.bytes, 0);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup(test, begin)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(tasks_that_were_never_polled_are_dropped),
	WITH_RUNTIME(tasks_that_wait_are_dropped),
	WITH_RUNTIME(tasks_that_have_given_way_are_dropped),
	WITH_RUNTIME(handles_that_still_live_are_told_and_can_be_consumed_later),
	WITH_RUNTIME(an_ended_task_is_joined_without_its_runtime),
	WITH_RUNTIME(a_waker_that_comes_after_the_end_does_nothing),
	WITH_RUNTIME(pitfall_p51_another_thread_may_wake_while_the_runtime_is_destroyed),
	WITH_RUNTIME(a_fiber_that_waits_gets_canceled_and_returns),
	WITH_RUNTIME(a_fiber_that_never_began_runs_with_failing_awaits),
	WITH_RUNTIME(a_fiber_may_ignore_its_cancellation_for_some_time),
	WITH_RUNTIME(fibers_that_never_return_are_given_up_at_the_limit),
	WITH_RUNTIME(a_fiber_that_is_given_up_in_its_await_leaves_nothing_registered),
	WITH_RUNTIME(a_clock_that_stands_does_not_stop_the_limit),
	WITH_RUNTIME(a_clock_that_is_set_back_does_not_pass_the_limit),
	WITH_RUNTIME(a_drop_function_that_spawns_keeps_what_it_would_have_spawned),
	WITH_RUNTIME(a_drop_function_may_wake_what_ends_as_well),
	WITH_RUNTIME(another_thread_that_spawns_is_refused_once_the_end_has_begun),
	WITH_RUNTIME(a_task_cannot_destroy_its_runtime),
	WITH_RUNTIME(while_another_thread_is_inside_nothing_is_done),
	WITH_RUNTIME(what_a_guest_did_comes_before_the_end),
	WITH_RUNTIME(so_does_what_a_waiting_thread_dropped),
	WITH_RUNTIME(with_warm_caches_a_spawn_and_its_join_allocate_nothing),
};

EDO_TEST_MAIN(tests)
