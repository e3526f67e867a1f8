/* Who runs when: first come first served, yields, other threads' tasks, and looks at the driver (S1). */
#include "scheduler/gate.h"
#include "support/sys_fault.h"

static char trace[512];
static edo_runtime *runtime;

static int begin(void **state)
{
	(void)state;
	trace[0] = '\0';
	runtime = runtime_new();
	return 0;
}

static int finish(void **state)
{
	(void)state;
	runtime_end(runtime);
	return 0;
}

static void say(int letter)
{
	size_t end = strlen(trace);

	if (end + 1 < sizeof trace) {
		trace[end] = (char)letter;
		trace[end + 1] = '\0';
	}
}

static edo_poll says_its_letter(struct actor *actor, edo_context *cx)
{
	(void)cx;
	say(actor->n);
	return EDO_READY;
}

static void spawn_letter(int letter)
{
	struct actor actor = actor_of(says_its_letter, NULL);

	actor.n = letter;
	assert_return_code(edo_spawn(runtime, &actor.future, NULL), 0);
}

static int spawns_letters(void *arg)
{
	(void)arg;
	for (int letter = 'd'; letter <= 'f'; letter++)
		spawn_letter(letter);
	edo_yield();
	say('.');
	return 0;
}

static void tasks_run_in_the_order_in_which_they_were_spawned(void **state)
{
	(void)state;
	for (int letter = 'a'; letter <= 'c'; letter++)
		spawn_letter(letter);
	run_on(runtime, spawns_letters, NULL);
	assert_string_equal(trace, "abcdef.");
}

static int says_and_yields(void *arg)
{
	for (int i = 0; i < 3; i++) {
		say(*(char *)arg);
		edo_yield();
	}
	return 0;
}

static int spawns_three_yielders(void *arg)
{
	edo_task *tasks[3];

	(void)arg;
	for (int i = 0; i < 3; i++) {
		char letter = (char)('a' + i);

		assert_return_code(edo_spawn_fiber(NULL, says_and_yields, &letter, 1, &tasks[i]),
				   0);
	}
	for (int i = 0; i < 3; i++)
		edo_task_join(tasks[i], NULL);
	return 0;
}

static void in_a_yield_every_other_ready_task_runs_once(void **state)
{
	(void)state;
	run_on(runtime, spawns_three_yielders, NULL);
	assert_string_equal(trace, "abcabcabc");
}

/* The ready run before the yielded, also when they became ready later. */
static int yields_after_a_spawn(void *arg)
{
	(void)arg;
	spawn_letter('x');
	edo_yield();
	say('1');
	spawn_letter('y');
	spawn_letter('z');
	edo_yield();
	say('2');
	return 0;
}

static void a_yield_goes_behind_all_that_is_ready(void **state)
{
	(void)state;
	run_on(runtime, yields_after_a_spawn, NULL);
	assert_string_equal(trace, "x1yz2");
}

/* Each spawns the next when it runs, so there is always one more that is ready: up to 'd'. */
static edo_poll spawns_the_next_letter(struct actor *actor, edo_context *cx)
{
	struct actor next = *actor;

	(void)cx;
	say(actor->n);
	if (next.n++ < 'd')
		assert_return_code(edo_spawn(NULL, &next.future, NULL), 0);
	return EDO_READY;
}

static int yields_before_a_chain(void *arg)
{
	struct actor actor = actor_of(spawns_the_next_letter, NULL);

	(void)arg;
	actor.n = 'a';
	assert_return_code(edo_spawn(NULL, &actor.future, NULL), 0);
	edo_yield();
	say('.');
	return 0;
}

static void a_yield_also_goes_behind_what_becomes_ready_meanwhile(void **state)
{
	(void)state;
	run_on(runtime, yields_before_a_chain, NULL);
	assert_string_equal(trace, "abcd.");
}

static void the_same_program_runs_the_same_way_twice(void **state)
{
	char first[sizeof trace];

	(void)state;
	run_on(runtime, spawns_three_yielders, NULL);
	run_on(runtime, yields_after_a_spawn, NULL);
	strcpy(first, trace);
	trace[0] = '\0';
	run_on(runtime, spawns_three_yielders, NULL);
	run_on(runtime, yields_after_a_spawn, NULL);
	assert_string_equal(trace, first);
}

/* ---- looks at the driver ---- */

static uint64_t looks(void)
{
	return edo_sys_calls_of(EDO_CALL_epoll_wait_ns) + edo_sys_calls_of(EDO_CALL_epoll_wait_ms);
}

static int yields_610_times(void *arg)
{
	uint64_t *most = arg;
	uint64_t last = looks();
	unsigned since = 0;

	for (int i = 0; i < 610; i++) {
		edo_yield();
		since = looks() == last ? since + 1 : 0;
		last = looks();
		if (since > *most)
			*most = since;
	}
	return 0;
}

/* p65, by our rule: a yield does not look at the driver, but no event waits for more than 61 polls. */
static void pitfall_p65_a_task_that_yields_lets_the_driver_be_seen_every_61_polls(void **state)
{
	uint64_t most = 0;

	(void)state;
	run_on(runtime, yields_610_times, &most);
	assert_in_range(most, 1, 61);
}

/* Two tasks that wake each other: the ready queue never runs empty. */
static edo_waker partner[2];
static unsigned ping_pongs;
static uint64_t longest_without_look, last_look;
static unsigned since_look;

static edo_poll ping_pong(struct actor *actor, edo_context *cx)
{
	edo_waker_drop(&partner[actor->n]);
	if (ping_pongs++ > 2000) {
		edo_waker_wake(&partner[!actor->n]);
		return EDO_READY;
	}
	since_look = looks() == last_look ? since_look + 1 : 0;
	last_look = looks();
	if (since_look > longest_without_look)
		longest_without_look = since_look;
	partner[actor->n] = edo_waker_clone(cx->waker);
	edo_waker_wake_by_ref(&partner[!actor->n]);
	return EDO_PENDING;
}

static int starts_ping_pong(void *arg)
{
	edo_task *tasks[2];

	(void)arg;
	ping_pongs = 0;
	longest_without_look = since_look = 0;
	for (int i = 0; i < 2; i++) {
		struct actor actor = actor_of(ping_pong, NULL);

		actor.n = i;
		assert_return_code(edo_spawn(NULL, &actor.future, &tasks[i]), 0);
	}
	edo_yield(); /* it comes back although they are always ready */
	say(ping_pongs < 200 ? 'y' : 'n');
	edo_task_join(tasks[0], NULL);
	edo_task_join(tasks[1], NULL);
	edo_waker_drop(&partner[0]);
	edo_waker_drop(&partner[1]);
	return 0;
}

static void pitfall_p62_two_that_wake_each_other_starve_neither_the_driver_nor_a_yielder(
	void **state)
{
	(void)state;
	run_on(runtime, starts_ping_pong, NULL);
	assert_string_equal(trace, "y");
	assert_in_range(longest_without_look, 1, 61);
}

/* The polls of a thread's own wait count as well: each of these has one besides its fiber's. */
static void pitfall_p66_short_block_ons_let_the_driver_be_seen_every_61_polls(void **state)
{
	uint64_t before = looks();

	(void)state;
	for (int i = 0; i < 610; i++)
		run_on(runtime, fiber_does_nothing, NULL);
	assert_true(looks() - before >= 2 * 610 / 62);
}

static void the_event_interval_can_be_chosen(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *eager;
	uint64_t most = 0;

	(void)state;
	config.event_interval = 3;
	eager = runtime_with(&config);
	run_on(eager, yields_610_times, &most);
	assert_in_range(most, 0, 3);
	runtime_end(eager);
}

/* ---- tasks from other threads ---- */

static unsigned polls_before_it_ran;
static bool injected_ran;

static edo_poll injected(struct actor *actor, edo_context *cx)
{
	(void)actor;
	(void)cx;
	injected_ran = true;
	return EDO_READY;
}

static void *spawns_from_outside(void *arg)
{
	struct actor actor = actor_of(injected, NULL);

	assert_return_code(edo_spawn(arg, &actor.future, NULL), 0);
	return NULL;
}

/* Wakes itself without yielding: always ready. */
static edo_poll spins_until_injected_ran(struct actor *actor, edo_context *cx)
{
	pthread_t thread;

	if (actor->n++ == 7) {
		assert_int_equal(pthread_create(&thread, NULL, spawns_from_outside, runtime), 0);
		pthread_join(thread, NULL);
		polls_before_it_ran = 0;
	}
	if (injected_ran)
		return EDO_READY;
	polls_before_it_ran++;
	edo_waker_wake_by_ref(cx->waker);
	return EDO_PENDING;
}

static int spins(void *arg)
{
	struct actor actor = actor_of(spins_until_injected_ran, NULL);

	(void)arg;
	return edo_await(&actor.future);
}

static void a_task_from_another_thread_runs_within_the_inject_interval(void **state)
{
	(void)state;
	injected_ran = false;
	run_on(runtime, spins, NULL);
	assert_in_range(polls_before_it_ran, 1, 32);
}

/* ---- what spends no budget by itself ---- */

static edo_poll ready_at_once(struct actor *actor, edo_context *cx)
{
	(void)actor;
	(void)cx;
	return EDO_READY;
}

static bool others_ran;

static int awaits_what_is_always_ready(void *arg)
{
	int rounds = 0;

	(void)arg;
	while (!others_ran) {
		struct actor actor = actor_of(ready_at_once, NULL);

		assert_int_equal(edo_await(&actor.future), 0);
		rounds++;
	}
	return rounds;
}

static int sets_others_ran(void *arg)
{
	(void)arg;
	others_ran = true;
	return 0;
}

static int starts_a_greedy_one(void *arg)
{
	edo_task *greedy, *other;
	int rounds;

	(void)arg;
	others_ran = false;
	assert_return_code(edo_spawn_fiber(NULL, awaits_what_is_always_ready, NULL, 0, &greedy), 0);
	assert_return_code(edo_spawn_fiber(NULL, sets_others_ran, NULL, 0, &other), 0);
	edo_task_join(greedy, &rounds);
	edo_task_join(other, NULL);
	return rounds;
}

static void a_fiber_that_awaits_what_is_always_ready_is_cut_at_128(void **state)
{
	(void)state;
	assert_in_range(run_on(runtime, starts_a_greedy_one, NULL), 128, 129);
}

static int awaits_in_vain(void *arg)
{
	int rounds = 0;

	(void)arg;
	while (!others_ran) {
		struct actor actor = actor_of(never_ready, NULL);

		assert_int_equal(edo_await(&actor.future), -ECANCELED);
		rounds++;
	}
	return rounds;
}

static int aborts_a_stubborn_one(void *arg)
{
	edo_task *stubborn, *other;
	int rounds;

	(void)arg;
	others_ran = false;
	assert_return_code(edo_spawn_fiber(NULL, awaits_in_vain, NULL, 0, &stubborn), 0);
	edo_yield();
	edo_task_abort(stubborn);
	assert_return_code(edo_spawn_fiber(NULL, sets_others_ran, NULL, 0, &other), 0);
	edo_task_join(stubborn, &rounds);
	edo_task_join(other, NULL);
	return rounds;
}

static void a_cancelled_fiber_in_a_loop_of_awaits_lets_others_run(void **state)
{
	(void)state;
	assert_in_range(run_on(runtime, aborts_a_stubborn_one, NULL), 1, 130);
}

/* The same in a stackless task: the awaited future spends nothing, so the await must. */
struct greedy {
	edo_async async;
	struct actor inner;
	int rounds;
};

static edo_poll greedy_poll(edo_future *future, edo_context *cx)
{
	struct greedy *me = edo_container_of(future, struct greedy, async.future);

	EDO_BEGIN(me, cx);
	while (!others_ran && me->rounds < 100000) {
		me->inner = actor_of(ready_at_once, NULL);
		EDO_AWAIT(&me->inner.future);
		me->rounds++;
	}
	EDO_END(me->rounds);
}

static void greedy_drop(edo_future *future)
{
	edo_async_drop(&edo_container_of(future, struct greedy, async.future)->async);
}

EDO_FUTURE_OPS(greedy_ops, struct greedy, async.future, greedy_poll, greedy_drop);

static int starts_a_greedy_stackless_one(void *arg)
{
	struct greedy greedy = { .async = EDO_ASYNC(greedy_ops) };
	edo_task *task, *other;
	int rounds;

	(void)arg;
	others_ran = false;
	assert_return_code(edo_spawn(NULL, &greedy.async.future, &task), 0);
	assert_return_code(edo_spawn_fiber(NULL, sets_others_ran, NULL, 0, &other), 0);
	edo_task_join(task, &rounds);
	edo_task_join(other, NULL);
	return rounds;
}

static void a_stackless_task_that_awaits_what_is_always_ready_is_cut_at_128(void **state)
{
	(void)state;
	assert_in_range(run_on(runtime, starts_a_greedy_stackless_one, NULL), 128, 129);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(tasks_run_in_the_order_in_which_they_were_spawned),
	WITH_RUNTIME(in_a_yield_every_other_ready_task_runs_once),
	WITH_RUNTIME(a_yield_goes_behind_all_that_is_ready),
	WITH_RUNTIME(a_yield_also_goes_behind_what_becomes_ready_meanwhile),
	WITH_RUNTIME(the_same_program_runs_the_same_way_twice),
	WITH_RUNTIME(pitfall_p65_a_task_that_yields_lets_the_driver_be_seen_every_61_polls),
	WITH_RUNTIME(pitfall_p62_two_that_wake_each_other_starve_neither_the_driver_nor_a_yielder),
	WITH_RUNTIME(pitfall_p66_short_block_ons_let_the_driver_be_seen_every_61_polls),
	WITH_RUNTIME(the_event_interval_can_be_chosen),
	WITH_RUNTIME(a_task_from_another_thread_runs_within_the_inject_interval),
	WITH_RUNTIME(a_fiber_that_awaits_what_is_always_ready_is_cut_at_128),
	WITH_RUNTIME(a_cancelled_fiber_in_a_loop_of_awaits_lets_others_run),
	WITH_RUNTIME(a_stackless_task_that_awaits_what_is_always_ready_is_cut_at_128),
};

EDO_TEST_MAIN(tests)
