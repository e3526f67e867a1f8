/*
 * Several threads and one current-thread runtime: spawns and wakes from outside (S2), who drives, and the
 * hand-over of driving in every order.
 */
#include "scheduler/gate.h"

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

/* ---- nothing is lost while the driver falls asleep ---- */

enum { ROUNDS = 5000, THREADS = 3 };

static unsigned rounds(void)
{
	return ROUNDS / edo_test_slowdown();
}

/* Two places for one gate each, handed to the other thread by turns. */
static struct gate *handed; /* atomic */
static int stop;            /* atomic */

static void *opens_what_it_gets(void *arg)
{
	unsigned *opened = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		struct gate *gate = __atomic_exchange_n(&handed, NULL, __ATOMIC_ACQ_REL);

		if (!gate) {
			sched_yield();
			continue;
		}
		for (unsigned spin = 0; spin < *opened * 7 % 200; spin++)
			__asm__ volatile("");
		gate_open(gate);
		++*opened;
	}
	return NULL;
}

static int awaits_many_gates(void *arg)
{
	struct gate *gates = arg;

	for (unsigned i = 0; i < rounds(); i++) {
		gate_init(&gates[i]);
		__atomic_store_n(&handed, &gates[i], __ATOMIC_RELEASE);
		assert_int_equal(edo_await(&gates[i].future), 0);
	}
	return 0;
}

static void no_wake_from_another_thread_is_lost_while_the_driver_falls_asleep(void **state)
{
	struct gate *gates = calloc(ROUNDS, sizeof *gates);
	unsigned opened = 0;
	pthread_t thread;

	(void)state;
	stop = 0;
	assert_int_equal(pthread_create(&thread, NULL, opens_what_it_gets, &opened), 0);
	run_on(runtime, awaits_many_gates, gates);
	set(&stop);
	pthread_join(thread, NULL);
	assert_int_equal(opened, rounds());
	free(gates);
}

static void pitfall_p61_the_same_on_a_runtime_that_parks_on_a_futex(void **state)
{
	edo_config config = EDO_CONFIG_INIT;

	config.disable_io = true;
	runtime_end(runtime);
	runtime = runtime_with(&config);
	no_wake_from_another_thread_is_lost_while_the_driver_falls_asleep(state);
	runtime_end(runtime);
	config.disable_time = true;
	runtime = runtime_with(&config);
	no_wake_from_another_thread_is_lost_while_the_driver_falls_asleep(state);
}

static unsigned ran; /* atomic */
static struct gate all_ran;

static edo_poll counts(struct actor *actor, edo_context *cx)
{
	(void)cx;
	if (__atomic_add_fetch(&ran, 1, __ATOMIC_ACQ_REL) == THREADS * rounds())
		gate_open(&all_ran);
	return actor->n;
}

static void *spawns_many(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < rounds(); i++) {
		struct actor actor = actor_of(counts, NULL);
		edo_task *task;

		actor.n = (int)i;
		if (edo_spawn(runtime, &actor.future, i % 2 ? &task : NULL) < 0)
			abort();
		if (i % 2 && i % 4 == 1)
			edo_task_abort(task);
		if (i % 2)
			edo_task_detach(task);
		if (i % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void *spawns_many_fibers(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < rounds(); i++) {
		edo_task *task;
		int result = -1;

		if (edo_spawn_fiber(runtime, fiber_does_nothing, NULL, 0, &task) < 0)
			abort();
		if (edo_task_join(task, &result) != 0 || result != 0)
			abort();
	}
	return NULL;
}

static void *spawns_without_aborts(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < rounds(); i++) {
		struct actor actor = actor_of(counts, NULL);

		if (edo_spawn(runtime, &actor.future, NULL) < 0)
			abort();
		if (i % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void tasks_spawned_by_threads_all_run(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	ran = 0;
	gate_init(&all_ran);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, spawns_without_aborts, NULL), 0);
	assert_int_equal(run_on(runtime, fiber_awaits_gate, &all_ran), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(ran, THREADS * rounds());
}

/* p70: aborts and detaches from foreign threads while the driver runs the tasks. */
static void pitfall_p70_foreign_threads_may_abort_and_detach_at_any_moment(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	ran = 0;
	gate_init(&all_ran);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, spawns_many, NULL), 0);
	for (unsigned i = 0; i < 200; i++)
		run_on(runtime, fiber_does_nothing, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	run_on(runtime, fiber_does_nothing, NULL);
}

/* Nobody has entered; each join drives, or waits for who does, and takes over. */
static void threads_that_have_not_entered_join_their_tasks(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, spawns_many_fibers, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- the hand-over ---- */

struct guest {
	struct gate gate;
	int started; /* atomic */
	int result;
	pthread_t thread;
};

static int guest_fiber(void *arg)
{
	struct guest *guest = arg;

	set(&guest->started);
	return edo_await(&guest->gate.future) == 0 ? 5 : -1;
}

static void *guest_blocks(void *arg)
{
	struct guest *guest = arg;

	if (edo_block_on(runtime, guest_fiber, guest, &guest->result) != 0)
		abort();
	return NULL;
}

static void guest_enters(struct guest *guest)
{
	*guest = (struct guest){ .result = -2 };
	gate_init(&guest->gate);
	assert_int_equal(pthread_create(&guest->thread, NULL, guest_blocks, guest), 0);
	wait_until_set(&guest->started);
}

static void guest_leaves(struct guest *guest)
{
	gate_open(&guest->gate);
	pthread_join(guest->thread, NULL);
	assert_int_equal(guest->result, 5);
}

static void whoever_drives_may_leave_first(void **state)
{
	struct guest first, second;

	(void)state;
	guest_enters(&first);
	guest_enters(&second);
	guest_leaves(&first);
	guest_leaves(&second);
}

static void whoever_waits_for_the_core_may_leave_first(void **state)
{
	struct guest first, second;

	(void)state;
	guest_enters(&first);
	guest_enters(&second);
	guest_leaves(&second);
	guest_leaves(&first);
}

static void four_guests_may_leave_in_any_order(void **state)
{
	enum { GUESTS = 4 };
	struct guest guests[GUESTS];

	(void)state;
	for (int order = 0; order < 24; order++) {
		int left[GUESTS] = { 0, 1, 2, 3 };
		int code = order;

		for (int i = 0; i < GUESTS; i++)
			guest_enters(&guests[i]);
		for (int n = GUESTS; n > 0; n--) {
			int pick = code % n;

			code /= n;
			guest_leaves(&guests[left[pick]]);
			left[pick] = left[n - 1];
		}
	}
}

/*
 * The driver's fiber and the next one's end in one round: the next in line is handed the core when it has
 * no use for it any more, and must pass it on to the third.
 */
struct pair {
	struct gate *both[2];
};

static int opens_both(void *arg)
{
	struct pair *pair = arg;

	gate_open(pair->both[1]);
	gate_open(pair->both[0]);
	return 0;
}

static void a_hand_over_that_comes_too_late_is_passed_on(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 400 / edo_test_slowdown(); i++) {
		struct guest first, second, third;
		struct pair pair;

		guest_enters(&first);
		guest_enters(&second);
		guest_enters(&third);
		pair = (struct pair){ { &first.gate, &second.gate } };
		assert_return_code(edo_spawn_fiber(runtime, opens_both, &pair, 0, NULL), 0);
		pthread_join(first.thread, NULL);
		pthread_join(second.thread, NULL);
		guest_leaves(&third); /* somebody must drive it */
	}
}

/* Short waits of many threads at once: each takes, waits for, hands on and passes on the core. */
static void *blocks_often(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < rounds(); i++) {
		int result = -1;

		if (edo_block_on(runtime, fiber_does_nothing, NULL, &result) != 0 || result != 0)
			abort();
	}
	return NULL;
}

static void many_short_waits_at_once_leave_nobody_behind(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, blocks_often, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- a thread's own wait while another drives ---- */

static void *awaits_gate_inside(void *arg)
{
	edo_enter_guard guard;

	if (edo_runtime_enter(runtime, &guard) != 0 || edo_await(arg) != 0)
		abort();
	edo_runtime_leave(&guard);
	return NULL;
}

static void a_thread_that_waits_beside_the_driver_is_woken(void **state)
{
	struct guest driver;
	struct gate gates[2];
	pthread_t threads[2];

	(void)state;
	guest_enters(&driver);
	for (int i = 0; i < 2; i++) {
		gate_init(&gates[i]);
		assert_int_equal(pthread_create(&threads[i], NULL, awaits_gate_inside,
						&gates[i].future),
				 0);
	}
	gate_open(&gates[0]);
	pthread_join(threads[0], NULL);
	guest_leaves(&driver);
	gate_open(&gates[1]);
	pthread_join(threads[1], NULL);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(no_wake_from_another_thread_is_lost_while_the_driver_falls_asleep),
	WITH_RUNTIME(pitfall_p61_the_same_on_a_runtime_that_parks_on_a_futex),
	WITH_RUNTIME(tasks_spawned_by_threads_all_run),
	WITH_RUNTIME(pitfall_p70_foreign_threads_may_abort_and_detach_at_any_moment),
	WITH_RUNTIME(threads_that_have_not_entered_join_their_tasks),
	WITH_RUNTIME(whoever_drives_may_leave_first),
	WITH_RUNTIME(whoever_waits_for_the_core_may_leave_first),
	WITH_RUNTIME(four_guests_may_leave_in_any_order),
	WITH_RUNTIME(a_hand_over_that_comes_too_late_is_passed_on),
	WITH_RUNTIME(many_short_waits_at_once_leave_nobody_behind),
	WITH_RUNTIME(a_thread_that_waits_beside_the_driver_is_woken),
};

EDO_TEST_MAIN(tests)
