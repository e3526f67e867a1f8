/* A limit round any future, on a clock that stands. */
#include "scheduler/gate.h"

static edo_runtime *runtime;

static int begin(void **state)
{
	edo_config config = EDO_CONFIG_INIT;

	(void)state;
	config.start_paused = true;
	runtime = runtime_with(&config);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	runtime_end(runtime);
	return 0;
}

static int limits_a_gate(void *arg)
{
	struct gate *gate = arg;
	edo_instant start = edo_now();
	int rc = edo_timeout(EDO_MS(10), &gate->future);

	assert_int_equal(edo_now() - start, rc == -ETIMEDOUT ? EDO_MS(10) : 0);
	return rc;
}

static void what_is_not_ready_in_time_times_out_and_is_dropped(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	assert_int_equal(run_on(runtime, limits_a_gate, &gate), -ETIMEDOUT);
	assert_true(gate.drops >= 1);
	gate_open(&gate);
}

static void what_is_ready_in_time_is_the_result(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	gate_open(&gate);
	assert_int_equal(run_on(runtime, limits_a_gate, &gate), 0);
	assert_true(gate.drops >= 1);
}

static int limit_of_nothing(void *arg)
{
	struct gate *gate = arg;

	return edo_timeout(0, &gate->future);
}

static void with_no_time_at_all_the_future_is_still_polled_first(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	assert_int_equal(run_on(runtime, limit_of_nothing, &gate), -ETIMEDOUT);
	gate_init(&gate);
	gate_open(&gate);
	assert_int_equal(run_on(runtime, limit_of_nothing, &gate), 0);
}

/* Between two ticks the next one would still be to come. */
static int takes_no_time(void *arg)
{
	struct gate *gate = arg;
	edo_timeout_future timeout;
	edo_waker none = { 0 };
	edo_context cx;
	edo_instant start;

	assert_int_equal(edo_advance(EDO_US(300)), 0);
	start = edo_now();
	assert_int_equal(edo_timeout(0, &gate->future), -ETIMEDOUT);
	assert_int_equal(edo_now(), start);

	gate_init(gate);
	edo_context_init(&cx, &none);
	edo_timeout_start(&timeout, 0, &gate->future);
	assert_int_equal(edo_future_poll(&timeout.future, &cx), -ETIMEDOUT);
	assert_int_equal(gate->drops, 1); /* with the result, not with the drop that follows */
	edo_future_drop(&timeout.future);
	return 0;
}

static void a_limit_of_nothing_has_passed_at_once_and_drops_the_wait(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	assert_int_equal(run_on(runtime, takes_no_time, &gate), 0);
}

/* Inner work that never ends and never lets go of the budget (p16's kin): the limit is seen all the same. */
static edo_poll spends_all(struct actor *actor, edo_context *cx)
{
	while (edo_coop_spend(cx))
		actor->n++;
	return EDO_PENDING;
}

static int limits_a_spender(void *arg)
{
	struct actor actor = actor_of(spends_all, arg);

	return edo_timeout(EDO_MS(1), &actor.future);
}

static void pitfall_p16_a_future_that_always_has_work_times_out_too(void **state)
{
	(void)state;
	/* A ready task keeps the standing clock from jumping, so this one runs. */
	runtime_end(runtime);
	runtime = runtime_new();
	assert_int_equal(run_on(runtime, limits_a_spender, NULL), -ETIMEDOUT);
}

static int nests_limits(void *arg)
{
	struct gate *gate = arg;
	edo_timeout_future inner, outer;
	edo_instant start = edo_now();
	int rc = edo_await(edo_timeout_start(&outer, EDO_MS(5),
					     edo_timeout_start(&inner, EDO_MS(50), &gate->future)));

	assert_int_equal(edo_now() - start, EDO_MS(5));
	return rc;
}

static void the_shorter_of_two_limits_counts(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	assert_int_equal(run_on(runtime, nests_limits, &gate), -ETIMEDOUT);
}

static int limits_nothing(void *arg)
{
	(void)arg;
	return edo_timeout(EDO_MS(1), NULL);
}

static void no_future_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, limits_nothing, NULL), -EINVAL);
}

static int reads_results(void *arg)
{
	struct gate *gate = arg;
	edo_timeout_future timeout;

	edo_await(edo_timeout_start(&timeout, EDO_MS(1), &gate->future));
	return timeout.result;
}

static void its_future_says_what_it_came_to(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	assert_int_equal(run_on(runtime, reads_results, &gate), -ETIMEDOUT);
	gate_open(&gate);
	assert_int_equal(run_on(runtime, reads_results, &gate), 0);
}

static int starts_and_drops(void *arg)
{
	struct gate *gate = arg;
	edo_timeout_future timeout;
	edo_waker none = { 0 };
	edo_context cx;

	edo_context_init(&cx, &none);
	edo_future_drop(edo_timeout_start(&timeout, EDO_MS(1), &gate->future));
	edo_future_drop(&timeout.future);
	edo_timeout_start(&timeout, EDO_MS(1), &gate->future);
	assert_int_equal(edo_future_poll(&timeout.future, &cx), EDO_PENDING);
	edo_future_drop(&timeout.future);
	edo_future_drop(&timeout.future);
	return 0;
}

static void dropped_in_any_state_it_drops_the_inner_wait(void **state)
{
	struct gate gate;

	(void)state;
	gate_init(&gate);
	assert_int_equal(run_on(runtime, starts_and_drops, &gate), 0);
	assert_int_equal(gate.drops, 2);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(what_is_not_ready_in_time_times_out_and_is_dropped),
	WITH_RUNTIME(what_is_ready_in_time_is_the_result),
	WITH_RUNTIME(with_no_time_at_all_the_future_is_still_polled_first),
	WITH_RUNTIME(a_limit_of_nothing_has_passed_at_once_and_drops_the_wait),
	WITH_RUNTIME(pitfall_p16_a_future_that_always_has_work_times_out_too),
	WITH_RUNTIME(the_shorter_of_two_limits_counts),
	WITH_RUNTIME(no_future_is_an_error),
	WITH_RUNTIME(its_future_says_what_it_came_to),
	WITH_RUNTIME(dropped_in_any_state_it_drops_the_inner_wait),
};

EDO_TEST_MAIN(tests)
