/* All of several futures, and what can be read when not all came. */
#include "rig.h"
#include "support/allocations.h"

enum { MANY = 100 };

static edo_runtime *runtime;

static int begin(void **state)
{
	(void)state;
	runtime = paused_runtime(1);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	runtime_end(runtime);
	return 0;
}

/* Timers, the last of which is the first to fire. */
static int joins_timers(size_t n)
{
	edo_timer timers[MANY];
	edo_future *futures[MANY];
	int results[MANY];
	edo_instant start = edo_now();

	for (size_t i = 0; i < n; i++) {
		edo_timer_init(&timers[i], start + EDO_MS(n - i));
		futures[i] = &timers[i].future;
		results[i] = 1;
	}
	CHECK(edo_join_all(futures, n, results) == 0);
	CHECK(edo_now() == start + EDO_MS(n));
	for (size_t i = 0; i < n; i++)
		CHECK(results[i] == 0 && edo_timer_has_fired(&timers[i]));
	return 0;
}

static int joins_some_and_many(void *arg)
{
	static const size_t counts[] = { 1, 2, 4, 5, MANY };
	uint64_t made;

	(void)arg;
	CHECK(joins_timers(1) == 0);
	made = edo_test_allocations_made();
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		CHECK(joins_timers(counts[i]) == 0);
	CHECK(edo_test_allocations_made() == made);
	return 0;
}

static void it_waits_for_the_last_and_allocates_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, joins_some_and_many, NULL), 0);
}

static int polls_by_hand(void *arg)
{
	struct scripted first = ready_at(1, -EPIPE), third = ready_at(2, 7);
	edo_future *futures[] = { &first.future, NULL, &third.future };
	edo_context cx = context_of_nobody();
	edo_join_all_future join;
	int results[3] = { 1, 1, 1 };

	(void)arg;
	edo_join_all_start(&join, futures, 3, results);
	CHECK(results[0] == EDO_PENDING && results[1] == 0 && results[2] == EDO_PENDING);
	CHECK(edo_future_poll(&join.future, &cx) == EDO_PENDING);
	CHECK(results[0] == -EPIPE && results[2] == EDO_PENDING);
	CHECK(first.drops == 1 && third.drops == 0); /* it may be used again already */
	CHECK(edo_future_poll(&join.future, &cx) == 0);
	CHECK(join.result == 0 && results[2] == 7);
	CHECK(first.polls == 1 && third.polls == 2);
	edo_future_drop(&join.future);
	edo_future_drop(&join.future);
	CHECK(first.drops == 1 && third.drops == 1);
	return 0;
}

static void an_error_does_not_end_it_and_each_is_dropped_when_it_is_there(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, polls_by_hand, NULL), 0);
}

static int joins_one_twice(void *arg)
{
	struct scripted twice = ready_at(2, 7), other = ready_at(4, 8);
	edo_future *futures[] = { &twice.future, &other.future, &twice.future };
	edo_context cx = context_of_nobody();
	edo_join_all_future join;
	int results[3];

	(void)arg;
	edo_join_all_start(&join, futures, 3, results);
	for (int i = 0; i < 3; i++)
		CHECK(edo_future_poll(&join.future, &cx) == EDO_PENDING);
	CHECK(edo_future_poll(&join.future, &cx) == 0);
	CHECK(results[0] == 7 && results[1] == 8 && results[2] == 7);
	CHECK(twice.polls == 2); /* not after its result */

	twice = ready_at(
		2,
		7); /* in one poll of the join: pending at the first place, ready at the second */
	futures[1] = &twice.future;
	edo_join_all_start(&join, futures, 2, results);
	CHECK(edo_future_poll(&join.future, &cx) == 0);
	CHECK(results[0] == 7 && results[1] == 7);
	return 0;
}

static void a_future_that_is_there_twice_has_one_result_in_both_places(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, joins_one_twice, NULL), 0);
}

static int joins_nothing(void *arg)
{
	struct scripted ready = ready_at(1, 0), unstarted = { .future = { NULL } };
	edo_future *none[] = { NULL, NULL, NULL, NULL, NULL };
	edo_future *one[] = { &ready.future };
	edo_future *unsound[] = { &ready.future, &unstarted.future };
	edo_join_all_future join;
	int results[5];

	(void)arg;
	CHECK(edo_join_all(NULL, 0, results) == -EINVAL);
	CHECK(edo_join_all(NULL, 2, results) == -EINVAL);
	CHECK(edo_join_all(none, 0, results) == -EINVAL);
	CHECK(edo_join_all(none, 5, results) == -EINVAL);
	CHECK(edo_join_all(none, (size_t)INT_MAX + 1, results) == -EINVAL);
	CHECK(edo_join_all(unsound, 2, results) == -EINVAL);
	CHECK(ready.polls == 0 && ready.drops == 1);
	CHECK(edo_await(edo_join_all_start(&join, one, 1, NULL)) == -EINVAL);
	CHECK(join.result == -EINVAL);
	CHECK(ready.polls == 0 && ready.drops == 2);
	return 0;
}

static void nothing_to_wait_for_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, joins_nothing, NULL), 0);
}

struct cut {
	struct gate gates[6];
	int results[6];
	size_t n;
};

static int joins_gates(void *arg)
{
	struct cut *cut = arg;
	edo_future *futures[6];

	for (size_t i = 0; i < cut->n; i++)
		futures[i] = &cut->gates[i].future;
	return edo_join_all(futures, cut->n, cut->results);
}

static void cut_with(size_t n)
{
	struct cut cut = { .n = n };
	edo_task *task;
	int result = 0;

	for (size_t i = 0; i < n; i++)
		gate_init(&cut.gates[i]);
	assert_int_equal(edo_spawn_fiber(runtime, joins_gates, &cut, 0, &task), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	gate_open(&cut.gates[1]);
	run_on(runtime, fiber_does_nothing, NULL);
	edo_task_abort(task);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, -ECANCELED);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(cut.results[i], i == 1 ? 0 : EDO_PENDING);
		assert_int_equal(cut.gates[i].drops, 1);
	}
}

static void cut_it_has_the_results_that_were_there(void **state)
{
	(void)state;
	cut_with(3);
	cut_with(6);
}

static int limits_a_join(void *arg)
{
	struct scripted never = ready_at(0, 0), ready = ready_at(1, 7);
	edo_future *futures[] = { &never.future, &ready.future };
	edo_join_all_future join;
	edo_select_future select;
	edo_future *either[1];
	int results[2];

	(void)arg;
	CHECK(edo_timeout(EDO_MS(5), edo_join_all_start(&join, futures, 2, results)) == -ETIMEDOUT);
	CHECK(results[0] == EDO_PENDING && results[1] == 7);
	CHECK(never.drops == 1 && ready.drops == 1);

	never = ready_at(0, 0); /* a join is a future like others */
	ready = ready_at(1, 7);
	either[0] = edo_join_all_start(&join, futures, 2, results);
	edo_select_start(&select, either, 1);
	CHECK(edo_timeout(EDO_MS(5), &select.future) == -ETIMEDOUT);
	CHECK(results[0] == EDO_PENDING && results[1] == 7);
	CHECK(never.drops == 1 && ready.drops == 1);
	return 0;
}

static void a_join_can_be_limited_and_selected(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, limits_a_join, NULL), 0);
}

static int forgets_the_array(void *arg)
{
	struct scripted scripted[EDO_SELECT_COPIED];
	edo_future *futures[EDO_SELECT_COPIED];
	edo_context cx = context_of_nobody();
	edo_join_all_future original, moved;
	int results[EDO_SELECT_COPIED];

	(void)arg;
	never_ready_ones(scripted, futures, EDO_SELECT_COPIED);
	edo_join_all_start(&original, futures, EDO_SELECT_COPIED, results);
	memset(futures, 0xff, sizeof futures);
	moved = original;
	memset(&original, 0xff, sizeof original);
	CHECK(edo_future_poll(&moved.future, &cx) == EDO_PENDING);
	for (int i = 0; i < EDO_SELECT_COPIED; i++)
		scripted[i].at = 1;
	CHECK(edo_future_poll(&moved.future, &cx) == 0);
	return 0;
}

static void a_short_array_is_copied(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, forgets_the_array, NULL), 0);
}

struct opener {
	struct cut *cut;
	int is_waiting;
};

static edo_poll says_that_it_waits(struct actor *actor, edo_context *cx)
{
	(void)cx;
	set(actor->arg);
	return EDO_READY;
}

static void *opens_when_it_waits(void *arg)
{
	struct opener *opener = arg;

	wait_until_set(&opener->is_waiting);
	gate_open(&opener->cut->gates[1]);
	gate_open(&opener->cut->gates[0]);
	return NULL;
}

static void a_plain_thread_joins_what_another_one_does(void **state)
{
	struct cut cut = { .n = 2 };
	struct opener opener = { .cut = &cut };
	struct actor says = actor_of(says_that_it_waits, &opener.is_waiting);
	edo_future *futures[] = { &cut.gates[0].future, &cut.gates[1].future, &says.future };
	int results[3];
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 20; i++) {
		gate_init(&cut.gates[0]);
		gate_init(&cut.gates[1]);
		__atomic_store_n(&opener.is_waiting, 0, __ATOMIC_RELEASE);
		assert_int_equal(pthread_create(&thread, NULL, opens_when_it_waits, &opener), 0);
		assert_int_equal(edo_join_all(futures, 3, results), 0);
		pthread_join(thread, NULL);
		assert_int_equal(results[0] | results[1] | results[2], 0);
	}
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(it_waits_for_the_last_and_allocates_nothing),
	WITH_RUNTIME(an_error_does_not_end_it_and_each_is_dropped_when_it_is_there),
	WITH_RUNTIME(a_future_that_is_there_twice_has_one_result_in_both_places),
	WITH_RUNTIME(nothing_to_wait_for_is_an_error),
	WITH_RUNTIME(cut_it_has_the_results_that_were_there),
	WITH_RUNTIME(a_join_can_be_limited_and_selected),
	WITH_RUNTIME(a_short_array_is_copied),
	cmocka_unit_test(a_plain_thread_joins_what_another_one_does),
};

EDO_TEST_MAIN(tests)
