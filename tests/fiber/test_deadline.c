/* Deadlines over straight-line code, shields and checkpoints, on a clock that stands. */
#include "fiber/private.h"
#include "leaf_time/rig.h"
#include "support/allocations.h"

static size_t timers_armed(void)
{
	return edo_wheel_count(&edo_current_runtime()->driver.time.shards[0].wheel);
}

static int sleeps(void *arg)
{
	return edo_sleep(*(edo_duration *)arg);
}

static int sleeps_ten_seconds(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_SEC(10));
}

/* ---- one scope ---- */

static int is_cut_at_its_moment(void *arg)
{
	edo_instant start = edo_now();
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_MS(50)) == 0);
	CHECK(edo_deadline_current() == start + EDO_MS(50));
	CHECK(edo_deadline_left() == EDO_MS(50));
	CHECK(edo_sleep(EDO_MS(20)) == 0);
	CHECK(edo_deadline_left() == EDO_MS(30));
	CHECK(edo_sleep(EDO_SEC(10)) == -ETIMEDOUT);
	CHECK(edo_now() == start + EDO_MS(50));
	CHECK(edo_deadline_left() == 0);
	CHECK(edo_sleep(EDO_SEC(10)) == -ETIMEDOUT); /* and every one after it */
	CHECK(edo_yield() == -ETIMEDOUT);
	CHECK(edo_now() == start + EDO_MS(50));
	CHECK(edo_deadline_end(&scope) == -ETIMEDOUT);
	CHECK(edo_deadline_end(&scope) == 0);
	CHECK(edo_deadline_current() == EDO_FOREVER);
	CHECK(edo_deadline_left() == EDO_FOREVER);
	CHECK(edo_sleep(EDO_SEC(10)) == 0);
	return 0;
}

static void every_wait_is_cut_from_its_moment_on_and_none_after_its_end(void **state)
{
	(void)state;
	in_paused_runtime(is_cut_at_its_moment, NULL);
}

static int edges(void *arg)
{
	static const edo_duration far[] = { EDO_FOREVER, EDO_FOREVER - 1, EDO_FOREVER / 2 };
	edo_instant start;
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, 0) == 0);
	CHECK(edo_yield() == -ETIMEDOUT);
	CHECK(edo_deadline_end(&scope) == -ETIMEDOUT);
	for (unsigned i = 0; i < sizeof far / sizeof *far; i++) {
		CHECK(edo_deadline_begin(&scope, far[i]) == 0);
		CHECK(edo_sleep(EDO_HOUR(1)) == 0);
		CHECK(edo_deadline_end(&scope) == 0);
	}
	CHECK(edo_deadline_begin(&scope, 1) == 0); /* within a tick: never early, at the next one */
	start = edo_now();
	CHECK(edo_sleep(EDO_HOUR(1)) == -ETIMEDOUT);
	CHECK(edo_now() == start + EDO_MS(1));
	CHECK(edo_deadline_end(&scope) == -ETIMEDOUT);
	return 0;
}

static void none_a_nanosecond_and_for_ever_are_legal(void **state)
{
	(void)state;
	in_paused_runtime(edges, NULL);
}

static int nothing_waits(void *arg)
{
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_MS(50)) == 0);
	CHECK(timers_armed() == 0);
	CHECK(edo_deadline_end(&scope) == 0);
	CHECK(edo_sleep(EDO_MS(60)) == 0);
	return 0;
}

static void a_scope_in_which_nothing_waits_never_enters_the_wheel(void **state)
{
	(void)state;
	in_paused_runtime(nothing_waits, NULL);
}

static int sees_no_timer_of_an_ended_scope(void *arg)
{
	edo_yield_future yield;
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_HOUR(1)) == 0);
	CHECK(edo_sleep(EDO_MS(1)) == 0);
	CHECK(timers_armed() == 1); /* left alone, for the next scope to move */
	CHECK(edo_deadline_end(&scope) == 0);
	CHECK(edo_await(edo_yield_start(&yield)) == 0);
	CHECK(timers_armed() == 0);
	return 0;
}

static void waiting_without_a_deadline_disarms_the_last_one(void **state)
{
	(void)state;
	in_paused_runtime(sees_no_timer_of_an_ended_scope, NULL);
}

static int ends_inside_a_scope(void *arg)
{
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_HOUR(1)) == 0);
	CHECK(edo_yield() == 0);
	return edo_sleep(EDO_MS(1)) == 0 ? 7 : -1;
}

static int joins_who_end_inside(void *arg)
{
	edo_task *tasks[100];
	int result;

	(void)arg;
	for (int i = 0; i < 100; i++)
		CHECK(edo_spawn_fiber(NULL, ends_inside_a_scope, NULL, 0, &tasks[i]) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(edo_task_join(tasks[i], &result) == 0 && result == 7);
	CHECK(timers_armed() == 0);
	return 0;
}

static void a_fiber_that_ends_in_a_scope_leaves_no_timer(void **state)
{
	(void)state;
	in_paused_runtime(joins_who_end_inside, NULL);
}

static int always_ready(void *arg)
{
	edo_deadline scope;
	int n = 0;

	CHECK(edo_deadline_begin(&scope, EDO_MS(50)) == 0);
	while (edo_yield() == 0)
		n++;
	*(int *)arg = n;
	return edo_deadline_end(&scope) == -ETIMEDOUT ? 0 : __LINE__;
}

static int advances_meanwhile(void *arg)
{
	edo_task *task;
	int result = -1;
	int n = 0;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, always_ready, &n, 0, &task) == 0);
	CHECK(edo_yield() == 0);
	CHECK(edo_advance(EDO_MS(49)) == 0);
	CHECK(!edo_task_is_finished(task));
	CHECK(edo_advance(EDO_MS(1)) == 0);
	CHECK(edo_task_join(task, &result) == 0 && result == 0);
	CHECK(n > 0);
	return 0;
}

static void a_fiber_whose_waits_are_always_ready_is_cut_too(void **state)
{
	(void)state;
	in_paused_runtime(advances_meanwhile, NULL);
}

static int ready_at_once(void *arg)
{
	(void)arg;
	return 0;
}

static int under_a_passed_deadline(void *arg)
{
	edo_task_wait_future wait;
	edo_deadline scope;
	edo_task *task;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, ready_at_once, NULL, 0, &task) == 0);
	CHECK(edo_yield() == 0);
	CHECK(edo_deadline_begin(&scope, 0) == 0);
	CHECK(edo_task_is_finished(task));
	CHECK(edo_await(edo_task_wait_start(&wait, task)) == -ETIMEDOUT);
	CHECK(edo_deadline_end(&scope) == -ETIMEDOUT);
	CHECK(edo_task_join(task, NULL) == 0); /* nothing was lost */
	return 0;
}

static void past_it_not_even_what_is_ready_is_waited_for(void **state)
{
	(void)state;
	in_paused_runtime(under_a_passed_deadline, NULL);
}

static int counts_allocations(void *arg)
{
	edo_deadline outer, inner;
	uint64_t made;

	(void)arg;
	CHECK(edo_sleep(EDO_MS(1)) == 0);
	made = edo_test_allocations_made();
	CHECK(edo_deadline_begin(&outer, EDO_SEC(1)) == 0);
	CHECK(edo_deadline_begin(&inner, EDO_MS(10)) == 0);
	CHECK(edo_sleep(EDO_SEC(1)) == -ETIMEDOUT);
	CHECK(edo_deadline_end(&inner) == -ETIMEDOUT);
	CHECK(edo_sleep(EDO_SEC(1)) == -ETIMEDOUT);
	CHECK(edo_deadline_end(&outer) == -ETIMEDOUT);
	CHECK(edo_test_allocations_made() == made);
	return 0;
}

static void deadlines_allocate_nothing(void **state)
{
	(void)state;
	in_paused_runtime(counts_allocations, NULL);
}

static int is_ready_when_its_deadline_comes(void *arg)
{
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_MS(50)) == 0);
	CHECK(edo_sleep(EDO_MS(50)) == -ETIMEDOUT); /* as if it had not begun yet */
	CHECK(edo_deadline_end(&scope) == -ETIMEDOUT);
	return 0;
}

static void what_is_ready_in_the_same_tick_is_cut(void **state)
{
	(void)state;
	in_paused_runtime(is_ready_when_its_deadline_comes, NULL);
}

static edo_poll ready_poll(edo_future *future, edo_context *cx)
{
	(void)future;
	(void)cx;
	return 0;
}

static void no_drop(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(ready_ops, edo_future, ops, ready_poll, no_drop);

static int awaits_what_costs_nothing(void *arg)
{
	edo_future ready = { &ready_ops };
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_MS(50)) == 0);
	while (edo_await(&ready) == 0)
		continue;
	return edo_deadline_end(&scope) == -ETIMEDOUT ? 0 : __LINE__;
}

static int advances_past_ready_waits(void *arg)
{
	edo_task *task;
	int result = -1;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, awaits_what_costs_nothing, NULL, 0, &task) == 0);
	CHECK(edo_yield() == 0);
	CHECK(edo_advance(EDO_MS(50)) == 0);
	CHECK(edo_task_join(task, &result) == 0);
	return result;
}

static void so_is_one_whose_waits_spend_no_budget(void **state)
{
	(void)state;
	in_paused_runtime(advances_past_ready_waits, NULL);
}

/* ---- nesting ---- */

static int nests(void *arg)
{
	edo_instant start = edo_now();
	edo_deadline outer, inner;

	(void)arg;
	CHECK(edo_deadline_begin(&outer, EDO_MS(50)) == 0);
	CHECK(edo_deadline_begin(&inner, EDO_SEC(10)) == 0); /* cannot loosen it */
	CHECK(edo_deadline_current() == start + EDO_MS(50));
	CHECK(edo_deadline_end(&inner) == 0);
	CHECK(edo_deadline_begin(&inner, EDO_MS(10)) == 0);
	CHECK(edo_sleep(EDO_SEC(10)) == -ETIMEDOUT);
	CHECK(edo_now() == start + EDO_MS(10));
	CHECK(edo_deadline_end(&inner) == -ETIMEDOUT);
	CHECK(edo_deadline_current() == start + EDO_MS(50));
	CHECK(edo_sleep(EDO_MS(10)) == 0);
	CHECK(edo_deadline_end(&outer) == 0); /* that was the inner one's affair */
	return 0;
}

static void the_strictest_counts_and_each_tells_only_what_it_cut(void **state)
{
	(void)state;
	in_paused_runtime(nests, NULL);
}

static int is_cut_by_the_outer_one(void *arg)
{
	edo_deadline outer, inner, innermost;

	(void)arg;
	CHECK(edo_deadline_begin(&outer, EDO_MS(50)) == 0);
	CHECK(edo_deadline_begin(&inner, EDO_SEC(10)) == 0);
	CHECK(edo_deadline_begin(&innermost, EDO_SEC(20)) == 0);
	CHECK(edo_sleep(EDO_SEC(10)) == -ETIMEDOUT);
	CHECK(edo_deadline_end(&innermost) == -ETIMEDOUT);
	CHECK(edo_deadline_end(&inner) == -ETIMEDOUT);
	CHECK(edo_deadline_end(&outer) == -ETIMEDOUT);
	CHECK(edo_deadline_begin(&outer, 0) == 0); /* the same instant again: another scope */
	CHECK(edo_deadline_end(&outer) == 0);
	return 0;
}

static void a_stricter_outer_one_counts_for_all_inside(void **state)
{
	(void)state;
	in_paused_runtime(is_cut_by_the_outer_one, NULL);
}

static int begins_after_the_cut(void *arg)
{
	edo_deadline outer, inner;

	(void)arg;
	CHECK(edo_deadline_begin(&outer, EDO_MS(50)) == 0);
	CHECK(edo_sleep(EDO_SEC(10)) == -ETIMEDOUT);
	CHECK(edo_deadline_begin(&inner, EDO_SEC(1)) == 0);
	CHECK(edo_deadline_end(&inner) == 0); /* nothing waited in it */
	CHECK(edo_deadline_end(&outer) == -ETIMEDOUT);
	return 0;
}

static void a_scope_in_which_nothing_waited_was_not_cut(void **state)
{
	(void)state;
	in_paused_runtime(begins_after_the_cut, NULL);
}

static int is_cut_by_one_of_its_own(void *arg)
{
	(void)arg;
	return edo_with_deadline(EDO_MS(5), sleeps_ten_seconds, NULL, NULL) == -ETIMEDOUT ?
		       0 :
		       __LINE__;
}

static int is_cut_and_then_in_a_shield(void *arg)
{
	edo_deadline outer;
	int result = -1;

	(void)arg;
	CHECK(edo_deadline_begin(&outer, EDO_MS(50)) == 0);
	CHECK(edo_sleep(EDO_SEC(10)) == -ETIMEDOUT);
	CHECK(edo_shield(is_cut_by_one_of_its_own, NULL, &result) == 0 && result == 0);
	CHECK(edo_deadline_end(&outer) == -ETIMEDOUT);
	return 0;
}

static void a_cut_in_a_shield_does_not_hide_the_outer_one(void **state)
{
	(void)state;
	in_paused_runtime(is_cut_and_then_in_a_shield, NULL);
}

static int ends_in_any_order(void *arg)
{
	edo_instant start = edo_now();
	edo_deadline a, b, c;

	(void)arg;
	CHECK(edo_deadline_begin(&a, EDO_SEC(1)) == 0);
	CHECK(edo_deadline_begin(&b, EDO_SEC(10)) == 0);
	CHECK(edo_deadline_end(&a) == 0);
	CHECK(edo_deadline_current() == EDO_FOREVER);
	CHECK(edo_deadline_end(&b) == 0); /* over with a: restores nothing */
	CHECK(edo_deadline_current() == EDO_FOREVER);

	CHECK(edo_deadline_begin(&a, EDO_SEC(1)) == 0);
	CHECK(edo_deadline_begin(&b, EDO_SEC(10)) == 0);
	CHECK(edo_deadline_end(&a) == 0);
	CHECK(edo_deadline_begin(&c, EDO_SEC(20)) == 0);
	CHECK(edo_deadline_end(&b) == 0);
	CHECK(edo_deadline_current() == start + EDO_SEC(20));
	CHECK(edo_deadline_end(&c) == 0);
	CHECK(edo_deadline_current() == EDO_FOREVER);
	return 0;
}

static void ends_out_of_order_resurrect_no_deadline(void **state)
{
	(void)state;
	in_paused_runtime(ends_in_any_order, NULL);
}

static int forgets(void *arg)
{
	edo_deadline *lost = arg;

	return edo_deadline_begin(lost, EDO_MS(1));
}

static int forgets_inside(void *arg)
{
	edo_deadline lost;
	int result;

	(void)arg;
	CHECK(edo_with_deadline(EDO_SEC(1), forgets, &lost, &result) == 0 && result == 0);
	CHECK(edo_deadline_current() == EDO_FOREVER);
	CHECK(edo_shield(forgets, &lost, &result) == 0 && result == 0);
	CHECK(edo_deadline_current() == EDO_FOREVER);
	CHECK(edo_deadline_end(&lost) == 0);
	CHECK(edo_sleep(EDO_SEC(1)) == 0);
	return 0;
}

static void what_a_function_forgot_ends_with_what_it_ran_under(void **state)
{
	(void)state;
	in_paused_runtime(forgets_inside, NULL);
}

/* ---- a function under a deadline ---- */

static int copes(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_SEC(10)) == -ETIMEDOUT ? 5 : -1;
}

static int fails_for_another_reason(void *arg)
{
	(void)arg;
	return -ECONNREFUSED;
}

static int tries_a_short_one_then_fails(void *arg)
{
	(void)arg;
	if (edo_with_deadline(EDO_MS(10), sleeps_ten_seconds, NULL, NULL) != -ETIMEDOUT)
		return -1;
	return -ECONNREFUSED;
}

static int runs_functions(void *arg)
{
	int result;

	(void)arg;
	CHECK(edo_with_deadline(EDO_MS(50), sleeps_ten_seconds, NULL, &result) == -ETIMEDOUT);
	CHECK(result == -ETIMEDOUT);
	CHECK(edo_with_deadline(EDO_MS(50), sleeps, &(edo_duration){ EDO_MS(20) }, &result) == 0);
	CHECK(result == 0);
	CHECK(edo_with_deadline(EDO_MS(50), copes, NULL, &result) == 0 && result == 5);
	CHECK(edo_with_deadline(EDO_MS(50), fails_for_another_reason, NULL, &result) == 0);
	CHECK(result == -ECONNREFUSED);
	CHECK(edo_with_deadline(EDO_MIN(1), tries_a_short_one_then_fails, NULL, &result) == 0);
	CHECK(result == -ECONNREFUSED);
	CHECK(edo_with_deadline(0, sleeps_ten_seconds, NULL, NULL) == -ETIMEDOUT);
	CHECK(edo_with_deadline(EDO_FOREVER, sleeps_ten_seconds, NULL, &result) == 0);
	CHECK(edo_with_deadline(EDO_MS(50), NULL, NULL, &result) == -EINVAL && result == -EINVAL);
	CHECK(edo_deadline_current() == EDO_FOREVER);
	return 0;
}

static void a_function_is_told_apart_from_the_fate_of_its_waits(void **state)
{
	(void)state;
	in_paused_runtime(runs_functions, NULL);
}

static int is_aborted_under_a_deadline(void *arg)
{
	int result = 0;

	(void)arg;
	CHECK(edo_with_deadline(EDO_SEC(1), sleeps_ten_seconds, NULL, &result) == -ECANCELED);
	CHECK(result == -ECANCELED);
	CHECK(edo_with_deadline(0, sleeps_ten_seconds, NULL, &result) == -ECANCELED);
	CHECK(edo_with_deadline(EDO_SEC(1), fails_for_another_reason, NULL, &result) == 0);
	CHECK(edo_with_deadline(EDO_SEC(1), ready_at_once, NULL, &result) == 0);
	return 0;
}

static int aborts(void *arg)
{
	edo_task *task;
	int result = -1;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, is_aborted_under_a_deadline, NULL, 0, &task) == 0);
	CHECK(edo_sleep(EDO_MS(10)) == 0);
	edo_task_abort(task);
	CHECK(edo_task_join(task, &result) == 0);
	return result;
}

static void an_abort_is_told_first(void **state)
{
	(void)state;
	in_paused_runtime(aborts, NULL);
}

static int leaves_a_scope(void)
{
	EDO_DEADLINE_SCOPE(EDO_MS(10));

	CHECK(edo_deadline_left() == EDO_MS(10));
	if (edo_sleep(EDO_SEC(1)) == -ETIMEDOUT)
		return 0;
	return __LINE__;
}

static int uses_the_scope_macro(void *arg)
{
	int line = leaves_a_scope();

	(void)arg;
	CHECK(edo_deadline_current() == EDO_FOREVER);
	for (int i = 0; i < 3; i++) {
		EDO_DEADLINE_SCOPE(EDO_SEC(1));
		EDO_DEADLINE_SCOPE(EDO_SEC(2));
		if (i == 1)
			continue;
		CHECK(edo_deadline_left() == EDO_SEC(1));
	}
	CHECK(edo_deadline_current() == EDO_FOREVER);
	return line;
}

static void a_scope_of_the_compilers_ends_on_every_way_out(void **state)
{
	(void)state;
	in_paused_runtime(uses_the_scope_macro, NULL);
}

/* ---- misuse ---- */

static int runs_without_time(void *arg)
{
	edo_deadline scope;
	int result = 1;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_SEC(1)) == -EOPNOTSUPP);
	CHECK(edo_deadline_end(&scope) == 0);
	CHECK(edo_with_deadline(EDO_SEC(1), ready_at_once, NULL, &result) == -EOPNOTSUPP);
	CHECK(result == -EOPNOTSUPP);
	CHECK(edo_deadline_begin(&scope, EDO_FOREVER) == 0);
	CHECK(edo_yield() == 0);
	CHECK(edo_deadline_end(&scope) == 0);
	{
		EDO_DEADLINE_SCOPE(EDO_SEC(1));
		CHECK(edo_yield() == -ETIMEDOUT);
	}
	CHECK(edo_yield() == 0);
	return 0;
}

static void without_time_a_scope_does_not_begin_and_the_macro_fails_closed(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	(void)state;
	config.disable_time = true;
	start_runtime(&runtime, config);
	run_on(runtime, runs_without_time, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static void outside_of_a_fiber_there_are_no_deadlines(void **state)
{
	edo_deadline scope;
	int result = 1;

	(void)state;
	assert_int_equal(edo_deadline_begin(&scope, EDO_SEC(1)), -EINVAL);
	assert_int_equal(edo_deadline_end(&scope), 0);
	assert_int_equal(edo_with_deadline(EDO_SEC(1), ready_at_once, NULL, &result), -EINVAL);
	assert_int_equal(result, -EINVAL);
	assert_true(edo_deadline_current() == EDO_FOREVER);
	assert_true(edo_deadline_left() == EDO_FOREVER);
	assert_int_equal(edo_checkpoint(), 0);
	{
		EDO_DEADLINE_SCOPE(EDO_SEC(1));
	}
}

static int ends_anothers(void *arg)
{
	CHECK(edo_deadline_end(arg) == -EINVAL);
	return 0;
}

static int lends_its_scope(void *arg)
{
	edo_deadline scope;
	edo_task *task;
	int result = -1;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_SEC(1)) == 0);
	CHECK(edo_spawn_fiber(NULL, ends_anothers, &scope, 0, &task) == 0);
	CHECK(edo_task_join(task, &result) == 0);
	CHECK(edo_deadline_left() == EDO_SEC(1));
	CHECK(edo_deadline_end(&scope) == 0);
	return result;
}

static void another_fibers_scope_is_refused(void **state)
{
	(void)state;
	in_paused_runtime(lends_its_scope, NULL);
}

static edo_poll misuses_all(edo_future *future, edo_context *cx)
{
	edo_deadline scope;
	int result = 0;
	int expected = edo_fiber_current() ? -EDEADLK : -EINVAL;

	(void)future;
	(void)cx;
	CHECK(edo_deadline_begin(&scope, EDO_SEC(1)) == expected);
	CHECK(edo_with_deadline(EDO_SEC(1), ready_at_once, NULL, &result) == expected);
	CHECK(edo_shield(ready_at_once, NULL, &result) == -EDEADLK);
	return edo_checkpoint();
}

EDO_FUTURE_OPS(misuse_ops, edo_future, ops, misuses_all, no_drop);

static int polls_misuse(void *arg)
{
	edo_future future = { &misuse_ops };
	edo_task *task;
	int result = -1;

	(void)arg;
	CHECK(edo_await(&future) == 0);
	CHECK(edo_deadline_current() == EDO_FOREVER);
	CHECK(edo_spawn(NULL, &future, &task) == 0);
	CHECK(edo_task_join(task, &result) == 0 && result == 0);
	return 0;
}

static void a_poll_function_begins_no_deadline_and_shields_nothing(void **state)
{
	(void)state;
	in_paused_runtime(polls_misuse, NULL);
}

/* ---- shields ---- */

static int cleans_up(void *arg)
{
	edo_instant start = edo_now();
	int result;

	(void)arg;
	CHECK(edo_deadline_current() == EDO_FOREVER);
	CHECK(edo_sleep(EDO_SEC(1)) == 0);
	CHECK(edo_yield() == 0 && edo_checkpoint() == 0);
	CHECK(edo_now() == start + EDO_SEC(1));
	CHECK(edo_with_deadline(EDO_MS(5), sleeps_ten_seconds, NULL, &result) == -ETIMEDOUT);
	CHECK(edo_now() == start + EDO_SEC(1) + EDO_MS(5));
	CHECK(edo_shield(sleeps, &(edo_duration){ EDO_MS(5) }, &result) == 0 && result == 0);
	CHECK(edo_sleep(EDO_MS(5)) == 0);
	return 0;
}

static int is_aborted_and_cleans_up(void *arg)
{
	edo_deadline scope;
	int result = -1;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_MS(20)) == 0);
	CHECK(edo_sleep(EDO_SEC(10)) == -ECANCELED);
	CHECK(edo_shield(cleans_up, NULL, &result) == 0 && result == 0);
	CHECK(edo_sleep(EDO_SEC(1)) == -ECANCELED);
	CHECK(edo_deadline_end(&scope) == 0);
	return 0;
}

static int aborts_who_cleans_up(void *arg)
{
	edo_task *task;
	int result = -1;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, is_aborted_and_cleans_up, NULL, 0, &task) == 0);
	CHECK(edo_sleep(EDO_MS(10)) == 0);
	edo_task_abort(task);
	CHECK(edo_task_join(task, &result) == 0);
	return result;
}

static void in_a_shield_neither_abort_nor_outer_deadline_cuts(void **state)
{
	(void)state;
	in_paused_runtime(aborts_who_cleans_up, NULL);
}

static int outlasts_its_deadline_in_a_shield(void *arg)
{
	edo_instant start;
	edo_deadline scope;
	int result;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_MS(2)) == 0);
	CHECK(edo_shield(sleeps, &(edo_duration){ EDO_MS(50) }, &result) == 0 && result == 0);
	/* No timer was armed meanwhile: arming it now finds the tick passed, and nobody else would wake us. */
	start = edo_now();
	CHECK(edo_sleep(EDO_SEC(10)) == -ETIMEDOUT);
	CHECK(edo_now() == start);
	CHECK(edo_deadline_end(&scope) == -ETIMEDOUT);
	return 0;
}

static void a_deadline_that_passed_unwatched_cuts_the_next_wait(void **state)
{
	(void)state;
	in_paused_runtime(outlasts_its_deadline_in_a_shield, NULL);
}

static void outside_of_a_fiber_a_shield_just_runs_its_function(void **state)
{
	int result = -1;

	(void)state;
	assert_int_equal(edo_shield(ready_at_once, NULL, &result), 0);
	assert_int_equal(result, 0);
	assert_int_equal(edo_shield(NULL, NULL, &result), -EINVAL);
}

static int says_goodbye(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_MS(1));
}

static int waits_until_the_end(void *arg)
{
	int *goodbye = arg;
	int rc = edo_sleep(EDO_HOUR(1));
	int result = -1;

	(void)edo_shield(says_goodbye, NULL, &result);
	*goodbye = rc == -ECANCELED && result == 0;
	return 0;
}

static int spawns_who_waits(void *arg)
{
	CHECK(edo_go(waits_until_the_end, arg, 0) == 0);
	CHECK(edo_yield() == 0);
	return 0;
}

static void a_shutdown_waits_for_what_is_shielded(void **state)
{
	int goodbye = 0;

	(void)state;
	in_running_runtime(spawns_who_waits, &goodbye);
	assert_true(goodbye);
}

static int never_returns(void *arg)
{
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_HOUR(1)) == 0);
	for (;;)
		CHECK(edo_sleep(EDO_MIN(1)) == 0);
	return 0;
}

static int is_shielded_for_ever(void *arg)
{
	return edo_shield(never_returns, arg, NULL);
}

static int spawns_one_for_ever(void *arg)
{
	(void)arg;
	CHECK(edo_go(is_shielded_for_ever, NULL, 0) == 0);
	CHECK(edo_yield() == 0);
	return 0;
}

static void a_shielded_fiber_is_given_up_at_the_limit_with_its_timers(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	(void)state;
	config.shutdown_timeout = EDO_MS(1);
	start_runtime(&runtime, config);
	run_on(runtime, spawns_one_for_ever, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), -ETIMEDOUT);
}

/* ---- checkpoints ---- */

static int computes(void *arg)
{
	edo_deadline scope;

	(void)arg;
	CHECK(edo_checkpoint() == 0);
	CHECK(edo_deadline_begin(&scope, EDO_US(100)) == 0);
	while (edo_deadline_left() > 0)
		continue;
	CHECK(edo_checkpoint() == -ETIMEDOUT); /* though it has not waited since it began */
	CHECK(edo_checkpoint() == -ETIMEDOUT);
	CHECK(edo_deadline_left() == 0);
	CHECK(edo_deadline_end(&scope) == -ETIMEDOUT);
	return 0;
}

static void a_computation_can_ask_and_the_clock_is_read(void **state)
{
	(void)state;
	in_running_runtime(computes, NULL);
}

static int sets_its_flag(void *arg)
{
	*(bool *)arg = true;
	return 0;
}

static int asks_until_the_other_has_run(void *arg)
{
	bool other_has_run = false;

	(void)arg;
	CHECK(edo_go(sets_its_flag, &other_has_run, 0) == 0);
	while (!other_has_run)
		CHECK(edo_checkpoint() == 0);
	return 0;
}

static void whoever_asks_for_ever_lets_others_run(void **state)
{
	(void)state;
	in_paused_runtime(asks_until_the_other_has_run, NULL);
}

static int asks_until_it_is_aborted(void *arg)
{
	(void)arg;
	while (edo_checkpoint() == 0)
		continue;
	return edo_checkpoint();
}

static int aborts_who_asks(void *arg)
{
	edo_task *task;
	int result = 0;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, asks_until_it_is_aborted, NULL, 0, &task) == 0);
	CHECK(edo_yield() == 0);
	edo_task_abort(task);
	CHECK(edo_task_join(task, &result) == 0 && result == -ECANCELED);
	return 0;
}

static void a_checkpoint_tells_of_an_abort(void **state)
{
	(void)state;
	in_paused_runtime(aborts_who_asks, NULL);
}

/* ---- S1 ---- */

static int retries_for_ever(void *arg)
{
	edo_deadline outer;
	int rc;

	(void)arg;
	CHECK(edo_deadline_begin(&outer, 0) == 0);
	do
		rc = edo_with_deadline(EDO_SEC(1), sleeps_ten_seconds, NULL, NULL);
	while (rc == -ETIMEDOUT);
	return rc == -ECANCELED ? 0 : __LINE__;
}

static int outlives_a_retry_loop(void *arg)
{
	edo_task *task;
	int result = -1;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, retries_for_ever, NULL, 0, &task) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(edo_yield() == 0);
	edo_task_abort(task);
	CHECK(edo_task_join(task, &result) == 0);
	return result;
}

static void retries_under_a_passed_outer_deadline_starve_nobody(void **state)
{
	(void)state;
	in_paused_runtime(outlives_a_retry_loop, NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_wait_is_cut_from_its_moment_on_and_none_after_its_end),
	cmocka_unit_test(none_a_nanosecond_and_for_ever_are_legal),
	cmocka_unit_test(a_scope_in_which_nothing_waits_never_enters_the_wheel),
	cmocka_unit_test(waiting_without_a_deadline_disarms_the_last_one),
	cmocka_unit_test(a_fiber_that_ends_in_a_scope_leaves_no_timer),
	cmocka_unit_test(a_fiber_whose_waits_are_always_ready_is_cut_too),
	cmocka_unit_test(past_it_not_even_what_is_ready_is_waited_for),
	cmocka_unit_test(what_is_ready_in_the_same_tick_is_cut),
	cmocka_unit_test(so_is_one_whose_waits_spend_no_budget),
	cmocka_unit_test(deadlines_allocate_nothing),
	cmocka_unit_test(the_strictest_counts_and_each_tells_only_what_it_cut),
	cmocka_unit_test(a_stricter_outer_one_counts_for_all_inside),
	cmocka_unit_test(a_scope_in_which_nothing_waited_was_not_cut),
	cmocka_unit_test(a_cut_in_a_shield_does_not_hide_the_outer_one),
	cmocka_unit_test(ends_out_of_order_resurrect_no_deadline),
	cmocka_unit_test(what_a_function_forgot_ends_with_what_it_ran_under),
	cmocka_unit_test(a_function_is_told_apart_from_the_fate_of_its_waits),
	cmocka_unit_test(an_abort_is_told_first),
	cmocka_unit_test(a_scope_of_the_compilers_ends_on_every_way_out),
	cmocka_unit_test(without_time_a_scope_does_not_begin_and_the_macro_fails_closed),
	cmocka_unit_test(outside_of_a_fiber_there_are_no_deadlines),
	cmocka_unit_test(another_fibers_scope_is_refused),
	cmocka_unit_test(a_poll_function_begins_no_deadline_and_shields_nothing),
	cmocka_unit_test(in_a_shield_neither_abort_nor_outer_deadline_cuts),
	cmocka_unit_test(a_deadline_that_passed_unwatched_cuts_the_next_wait),
	cmocka_unit_test(outside_of_a_fiber_a_shield_just_runs_its_function),
	cmocka_unit_test(a_shutdown_waits_for_what_is_shielded),
	cmocka_unit_test(a_shielded_fiber_is_given_up_at_the_limit_with_its_timers),
	cmocka_unit_test(a_computation_can_ask_and_the_clock_is_read),
	cmocka_unit_test(whoever_asks_for_ever_lets_others_run),
	cmocka_unit_test(a_checkpoint_tells_of_an_abort),
	cmocka_unit_test(retries_under_a_passed_outer_deadline_starve_nobody),
};

EDO_TEST_MAIN(tests)
