#include "rig.h"

/* Ready with `result` at poll number `at`; or greedy: spends all of the budget at each poll. */
struct scripted {
	edo_future future;
	int at, result;
	bool is_greedy;
	int polls, drops;
};

static edo_poll scripted_poll(edo_future *future, edo_context *cx)
{
	struct scripted *scripted = edo_container_of(future, struct scripted, future);

	scripted->polls++;
	if (scripted->is_greedy) {
		while (edo_coop_spend(cx))
			continue;
		return EDO_PENDING;
	}
	return scripted->polls >= scripted->at ? scripted->result : EDO_PENDING;
}

static void scripted_drop(edo_future *future)
{
	edo_container_of(future, struct scripted, future)->drops++;
}

EDO_FUTURE_OPS(scripted_ops, struct scripted, future, scripted_poll, scripted_drop);

static struct scripted ready_at(int at, int result)
{
	return (struct scripted){ .future = { &scripted_ops }, .at = at, .result = result };
}

static int lets_the_inner_one_win(void *arg)
{
	struct scripted ready = ready_at(1, 42), failed = ready_at(1, -EPIPE);

	(void)arg;
	CHECK(edo_timeout(EDO_SEC(1), &ready.future) == 42);
	CHECK(edo_timeout(0, &ready.future) == 42); /* both are ready */
	CHECK(edo_timeout(EDO_FOREVER, &failed.future) == -EPIPE);
	CHECK(failed.drops > 0);
	CHECK(edo_now() == 0);
	return 0;
}

static void a_ready_inner_future_wins(void **state)
{
	(void)state;
	in_paused_runtime(lets_the_inner_one_win, NULL);
}

static int times_out(void *arg)
{
	struct scripted never = ready_at(1000, 0);

	(void)arg;
	CHECK(edo_timeout(EDO_MS(50), &never.future) == -ETIMEDOUT);
	CHECK(edo_now() == EDO_MS(50));
	CHECK(never.drops == 1);
	CHECK(never.polls == 2);
	CHECK(edo_timeout(0, &never.future) == -ETIMEDOUT);
	CHECK(edo_now() == EDO_MS(50)); /* not even a tick */
	return 0;
}

static void after_the_limit_the_inner_wait_is_dropped(void **state)
{
	(void)state;
	in_paused_runtime(times_out, NULL);
}

static int drops_in_any_state(void *arg)
{
	struct scripted inner = ready_at(1, 0);
	edo_timeout_future timeout;

	(void)arg;
	edo_timeout_start(&timeout, EDO_SEC(1), &inner.future);
	edo_future_drop(&timeout.future);
	edo_future_drop(&timeout.future);
	CHECK(inner.drops == 1 && inner.polls == 0);
	CHECK(edo_await(&timeout.future) == -EINVAL);
	edo_timeout_start(&timeout, EDO_SEC(1), &inner.future);
	CHECK(edo_await(&timeout.future) == 0);
	edo_future_drop(&timeout.future);
	return 0;
}

static void it_can_be_dropped_in_any_state(void **state)
{
	(void)state;
	in_paused_runtime(drops_in_any_state, NULL);
}

static int limits_a_greedy_one(void *arg)
{
	struct scripted greedy = { .future = { &scripted_ops }, .is_greedy = true };

	(void)arg;
	CHECK(edo_timeout(EDO_MS(3), &greedy.future) == -ETIMEDOUT);
	return 0;
}

static void an_inner_future_that_spends_all_budget_cannot_starve_it(void **state)
{
	(void)state;
	in_running_runtime(limits_a_greedy_one, NULL);
}

static int limits_for_ever(void *arg)
{
	edo_timer timer;

	(void)arg;
	CHECK(edo_sleep(EDO_MS(1)) == 0); /* from 0 on the sum would fit */
	edo_timer_init(&timer, EDO_HOUR(24 * 365));
	CHECK(edo_timeout(EDO_FOREVER, &timer.future) == 0);
	CHECK(edo_now() == EDO_HOUR(24 * 365));
	return 0;
}

static void pitfall_p07_the_longest_limit_never_passes(void **state)
{
	(void)state;
	in_paused_runtime(limits_for_ever, NULL);
}

static int nests(void *arg)
{
	struct scripted never = ready_at(1000, 0);
	edo_timeout_future inner;

	(void)arg;
	edo_timeout_start(&inner, EDO_MS(70), &never.future);
	CHECK(edo_timeout(EDO_MS(20), &inner.future) == -ETIMEDOUT);
	CHECK(edo_now() == EDO_MS(20));
	edo_timeout_start(&inner, EDO_MS(10), &never.future);
	CHECK(edo_timeout(EDO_MS(90), &inner.future) == -ETIMEDOUT);
	CHECK(edo_now() == EDO_MS(30));
	return 0;
}

static void time_outs_nest(void **state)
{
	(void)state;
	in_paused_runtime(nests, NULL);
}

static int polls_by_hand(void *arg)
{
	struct scripted greedy = { .future = { &scripted_ops }, .is_greedy = true };
	struct scripted second = ready_at(2, 7), never = ready_at(1000, 0);
	struct counting_waker waker;
	edo_timeout_future timeout;
	edo_context cx;

	(void)arg;
	counting_waker_init(&waker);
	edo_context_init(&cx, &waker.waker);
	edo_timeout_start(&timeout, EDO_MS(5), &second.future);
	CHECK(edo_future_poll(&timeout.future, &cx) == EDO_PENDING);
	CHECK(waker.clones == 1);
	CHECK(edo_future_poll(&timeout.future, &cx) == 7);
	CHECK(waker.clones == 0); /* the timer is gone with the result */
	edo_future_drop(&timeout.future);

	edo_timeout_start(&timeout, EDO_MS(5), &greedy.future);
	CHECK(edo_future_poll(&timeout.future, &cx) == EDO_PENDING);
	CHECK(waker.clones == 1);   /* the timer was polled nevertheless, */
	CHECK(cx.edo_budget_ == 0); /* on a unit that was only lent */
	edo_future_drop(&timeout.future);

	edo_context_init(&cx, &waker.waker);
	edo_timeout_start(&timeout, EDO_MS(5), &never.future);
	CHECK(edo_future_poll(&timeout.future, &cx) == EDO_PENDING);
	CHECK(edo_sleep(EDO_MS(5)) == 0);
	CHECK(edo_future_poll(&timeout.future, &cx) == -ETIMEDOUT);
	CHECK(never.drops == 1);
	edo_future_drop(&timeout.future);
	CHECK(never.drops == 1);
	return 0;
}

static void what_is_over_is_dropped_with_the_result_and_not_later(void **state)
{
	(void)state;
	in_paused_runtime(polls_by_hand, NULL);
}

/* It would have been over by then: the runtime's clock had passed the limit as counted from 0 (T1). */
static void a_limit_begun_outside_of_a_runtime_counts_from_the_first_poll(void **state)
{
	struct scripted never = ready_at(1000, 0), ready = ready_at(1, 42);
	edo_config config = EDO_CONFIG_INIT;
	edo_timeout_future timeout, at_once;
	edo_enter_guard guard;
	edo_runtime *runtime;

	(void)state;
	config.start_paused = true;
	start_runtime(&runtime, config);
	edo_timeout_start(&timeout, EDO_MS(50), &never.future);
	edo_timeout_start(&at_once, EDO_MS(50), &ready.future);
	assert_int_equal(edo_runtime_enter(runtime, &guard), 0);
	assert_int_equal(edo_sleep(EDO_SEC(1)), 0);
	assert_int_equal(edo_await(&timeout.future), -ETIMEDOUT);
	assert_int_equal(edo_now(), EDO_SEC(1) + EDO_MS(50));
	assert_int_equal(edo_await(&at_once.future), 42);
	edo_timeout_start(&timeout, EDO_MS(50), &never.future); /* here it counts from now */
	assert_int_equal(edo_sleep(EDO_SEC(1)), 0);
	assert_int_equal(edo_await(&timeout.future), -ETIMEDOUT);
	assert_int_equal(edo_now(), EDO_SEC(2) + EDO_MS(50));
	edo_runtime_leave(&guard);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_ready_inner_future_wins),
	cmocka_unit_test(after_the_limit_the_inner_wait_is_dropped),
	cmocka_unit_test(it_can_be_dropped_in_any_state),
	cmocka_unit_test(an_inner_future_that_spends_all_budget_cannot_starve_it),
	cmocka_unit_test(pitfall_p07_the_longest_limit_never_passes),
	cmocka_unit_test(time_outs_nest),
	cmocka_unit_test(what_is_over_is_dropped_with_the_result_and_not_later),
	cmocka_unit_test(a_limit_begun_outside_of_a_runtime_counts_from_the_first_poll),
};

EDO_TEST_MAIN(tests)
