/* Joining through the public face: from fibers and threads, the fate of the wait and of the task apart. */
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

static edo_task *spawn(edo_fiber_fn *fn, void *arg)
{
	edo_task *task = NULL;

	assert_return_code(edo_spawn_fiber(runtime, fn, arg, 0, &task), 0);
	return task;
}

static int returns_42(void *arg)
{
	(void)arg;
	return 42;
}

static int joins(void *arg)
{
	int result = -1;
	int rc = edo_task_join(arg, &result);

	return rc < 0 ? rc : result;
}

static void a_fiber_joins_before_and_after_the_end(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, joins, spawn(returns_42, NULL)), 42);
	edo_task *ended = spawn(returns_42, NULL);

	run_on(runtime, fiber_does_nothing, NULL);
	assert_true(edo_task_is_finished(ended));
	assert_int_equal(run_on(runtime, joins, ended), 42);
}

static void a_thread_joins_before_and_after_the_end(void **state)
{
	edo_task *ended;
	int result = 0;

	(void)state;
	assert_int_equal(edo_task_join(spawn(returns_42, NULL), &result), 0);
	assert_int_equal(result, 42);
	ended = spawn(returns_42, NULL);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_int_equal(edo_task_join(ended, NULL), 0);
}

static void a_wait_keeps_the_handle(void **state)
{
	edo_task *task = spawn(returns_42, NULL);
	int result = 0;

	(void)state;
	assert_int_equal(edo_task_wait(task, &result), 0);
	assert_int_equal(edo_task_wait(task, &result), 0);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, 42);
}

static void an_aborted_tasks_join_succeeds_and_says_so_in_the_result(void **state)
{
	struct actor actor = actor_of(never_ready, NULL);
	edo_task *task;
	int result = 0;

	(void)state;
	assert_return_code(edo_spawn(runtime, &actor.future, &task), 0);
	edo_task_abort(task);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, -ECANCELED);
}

static edo_task *own;

static int joins_itself(void *arg)
{
	(void)arg;
	return edo_task_join(own, NULL);
}

static void a_join_of_oneself_is_a_deadlock_told_and_keeps_the_handle(void **state)
{
	(void)state;
	own = spawn(joins_itself, NULL);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_true(edo_task_is_finished(own));
	assert_int_equal(run_on(runtime, joins, own), -EDEADLK);
}

static int joins_and_keeps(void *arg)
{
	int rc = edo_task_join(arg, NULL);

	return rc;
}

static void a_second_joiner_gets_busy_and_the_first_still_joins(void **state)
{
	struct gate gate;
	edo_task *joined, *first, *second;
	int result = 0;

	(void)state;
	gate_init(&gate);
	joined = spawn(fiber_awaits_gate, &gate);
	first = spawn(joins, joined);
	second = spawn(joins_and_keeps, joined);
	assert_int_equal(edo_task_join(second, &result), 0);
	assert_int_equal(result, -EBUSY);
	gate_open(&gate);
	assert_int_equal(edo_task_join(first, &result), 0);
	assert_int_equal(result, 0);
}

static void a_cancelled_joiner_keeps_the_handle(void **state)
{
	struct gate gate;
	edo_task *joined, *joiner;
	int result = 0;

	(void)state;
	gate_init(&gate);
	joined = spawn(fiber_awaits_gate, &gate);
	joiner = spawn(joins, joined);
	run_on(runtime, fiber_does_nothing, NULL);
	edo_task_abort(joiner);
	assert_int_equal(edo_task_join(joiner, &result), 0);
	assert_int_equal(result, -ECANCELED);
	assert_false(edo_task_is_finished(joined)); /* it was the joiner that was cancelled */
	gate_open(&gate);
	assert_int_equal(edo_task_join(joined, &result), 0);
	assert_int_equal(result, 0);
}

static int limited_join(void *arg)
{
	edo_task_wait_future wait;

	return edo_timeout(EDO_MS(1), edo_task_wait_start(&wait, arg));
}

static void a_join_with_a_limit_can_be_tried_again(void **state)
{
	struct gate gate;
	edo_task *joined;

	(void)state;
	gate_init(&gate);
	joined = spawn(fiber_awaits_gate, &gate);
	assert_int_equal(run_on(runtime, limited_join, joined), -ETIMEDOUT);
	assert_int_equal(limited_join(joined),
			 -EINVAL); /* in a thread that has no runtime: no clock */
	gate_open(&gate);
	assert_int_equal(run_on(runtime, limited_join, joined), 0);
	edo_task_detach(joined);
}

struct with_output {
	edo_future future;
	char text[32];
};

static edo_poll output_poll(edo_future *future, edo_context *cx)
{
	(void)cx;
	strcpy(edo_container_of(future, struct with_output, future)->text, "more than an int");
	return 1;
}

static void output_drop(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(output_ops, struct with_output, future, output_poll, output_drop);

static void a_larger_result_is_read_from_the_tasks_struct(void **state)
{
	struct with_output output = { .future = { &output_ops } };
	edo_task *task;
	int result = 0;

	(void)state;
	assert_return_code(edo_spawn(runtime, &output.future, &task), 0);
	assert_int_equal(edo_task_wait(task, &result), 0);
	assert_int_equal(result, 1);
	assert_string_equal(((struct with_output *)edo_task_output(task))->text,
			    "more than an int");
	edo_task_detach(task);
}

/* A task that ended with an error, or a wait that failed: the future says which. */
static int tells_fates_apart(void *arg)
{
	edo_task_wait_future wait;

	edo_await(edo_task_wait_start(&wait, arg));
	if (wait.fate != 0 || wait.result != 42)
		return -1;
	edo_await(edo_task_wait_start(&wait, NULL));
	return wait.fate == -EINVAL && wait.result == -EINVAL ? 0 : -2;
}

static void a_waits_future_tells_its_fate_from_the_tasks(void **state)
{
	edo_task *task = spawn(returns_42, NULL);

	(void)state;
	assert_int_equal(run_on(runtime, tells_fates_apart, task), 0);
	edo_task_detach(task);
}

static edo_poll joins_in_a_poll(struct actor *actor, edo_context *cx)
{
	(void)cx;
	return edo_task_join(actor->arg, NULL);
}

static int awaits_a_poll_that_joins(void *arg)
{
	struct actor actor = actor_of(joins_in_a_poll, arg);

	return edo_await(&actor.future);
}

static void a_join_inside_a_poll_is_a_deadlock_told(void **state)
{
	struct gate gate;
	edo_task *joined;

	(void)state;
	gate_init(&gate);
	joined = spawn(fiber_awaits_gate, &gate);
	assert_int_equal(run_on(runtime, awaits_a_poll_that_joins, joined), -EDEADLK);
	gate_open(&gate);
	assert_int_equal(edo_task_join(joined, NULL), 0);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(a_fiber_joins_before_and_after_the_end),
	WITH_RUNTIME(a_thread_joins_before_and_after_the_end),
	WITH_RUNTIME(a_wait_keeps_the_handle),
	WITH_RUNTIME(an_aborted_tasks_join_succeeds_and_says_so_in_the_result),
	WITH_RUNTIME(a_join_of_oneself_is_a_deadlock_told_and_keeps_the_handle),
	WITH_RUNTIME(a_second_joiner_gets_busy_and_the_first_still_joins),
	WITH_RUNTIME(a_cancelled_joiner_keeps_the_handle),
	WITH_RUNTIME(a_join_with_a_limit_can_be_tried_again),
	WITH_RUNTIME(a_larger_result_is_read_from_the_tasks_struct),
	WITH_RUNTIME(a_waits_future_tells_its_fate_from_the_tasks),
	WITH_RUNTIME(a_join_inside_a_poll_is_a_deadlock_told),
};

EDO_TEST_MAIN(tests)
