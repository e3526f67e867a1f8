/* Fibers: arguments, results, errno, alignment, abort in every state (K4), and what a wait leaves behind. */
#include "scheduler/gate.h"
#include "support/allocations.h"
#include <stdio.h>

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

/* ---- arguments and results ---- */

static int checks_bytes(void *arg)
{
	const unsigned char *bytes = arg;
	size_t size = bytes[0] | (size_t)bytes[1] << 8;

	edo_yield();
	for (size_t i = 2; i < size; i++)
		if (bytes[i] != (unsigned char)(i * 7))
			return -1;
	return (int)size;
}

static void the_argument_is_copied_whatever_its_size(void **state)
{
	static const size_t sizes[] = {
		2, 3, 15, 16, 17, 100, 1000, 1800, 1900, 2000, 4000, 60000
	};

	(void)state;
	for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
		unsigned char *bytes = malloc(sizes[n]);
		edo_task *task;
		int result;

		for (size_t i = 0; i < sizes[n]; i++)
			bytes[i] = (unsigned char)(i * 7);
		bytes[0] = (unsigned char)sizes[n];
		bytes[1] = (unsigned char)(sizes[n] >> 8);
		assert_return_code(edo_spawn_fiber(runtime, checks_bytes, bytes, sizes[n], &task),
				   0);
		memset(bytes, 0xff, sizes[n]);
		free(bytes);
		assert_int_equal(edo_task_join(task, &result), 0);
		assert_int_equal(result, sizes[n]);
	}
}

static int is_aligned(void *arg)
{
	return (uintptr_t)arg % 16 == 0;
}

static void the_copy_is_aligned_for_anything(void **state)
{
	edo_task *task;
	char byte = 1;
	int result;

	(void)state;
	assert_return_code(edo_spawn_fiber(runtime, is_aligned, &byte, 1, &task), 0);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, 1);
}

static int is_itself(void *arg)
{
	return arg == &runtime;
}

static int is_null(void *arg)
{
	return arg == NULL;
}

static void with_size_0_the_pointer_itself_is_handed_over(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, is_itself, &runtime), 1);
	assert_int_equal(run_on(runtime, is_null, NULL), 1);
}

static int returns_its_argument(void *arg)
{
	return *(int *)arg;
}

static void any_int_is_a_result_but_one(void **state)
{
	static const int results[] = { 0, 1, -1, INT_MAX, INT_MIN + 1, -ECANCELED };

	(void)state;
	for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
		int result = results[i];

		assert_int_equal(run_on(runtime, returns_its_argument, &result), result);
	}
	assert_int_equal(run_on(runtime, returns_its_argument, &(int){ INT_MIN }), -ERANGE);
}

static void a_size_that_cannot_be_had_is_no_memory(void **state)
{
	edo_task *task = NULL;

	(void)state;
	assert_int_equal(edo_spawn_fiber(runtime, is_null, "x", SIZE_MAX, &task), -ENOMEM);
	assert_int_equal(edo_spawn_fiber(runtime, is_null, "x", SIZE_MAX - 256, &task), -ENOMEM);
	assert_null(task);
}

/* ---- what belongs to each fiber ---- */

static int keeps_errno(void *arg)
{
	int mine = *(int *)arg;

	if (errno != 0)
		return -1;
	for (int i = 0; i < 100; i++) {
		errno = mine + i;
		if (edo_yield() != 0 || errno != mine + i)
			return -2;
		if (i % 10 == 0 && (edo_sleep(EDO_NS(1)) != 0 || errno != mine + i))
			return -3;
	}
	return 0;
}

static int joins_five_errno_keepers(void *arg)
{
	edo_task *tasks[5];
	int sum = 0;

	(void)arg;
	for (int i = 0; i < 5; i++) {
		int base = (i + 1) * 1000;

		assert_return_code(edo_spawn_fiber(NULL, keeps_errno, &base, sizeof base,
						   &tasks[i]),
				   0);
	}
	for (int i = 0; i < 5; i++) {
		int result = -9;

		edo_task_join(tasks[i], &result);
		sum += result;
	}
	return sum;
}

static void errno_belongs_to_the_fiber_and_the_threads_is_not_harmed(void **state)
{
	(void)state;
	errno = 4711;
	assert_int_equal(run_on(runtime, joins_five_errno_keepers, NULL), 0);
	assert_int_equal(errno, 4711);
}

/*
 * More values than there are registers that a call keeps, on any machine we know: ten integers and eight
 * doubles on aarch64. Each step can be undone and leans on the one before, so that no harm is evened
 * out later and nothing is put side by side in a vector, which no call keeps.
 */
static int keeps_registers(void *arg)
{
	volatile unsigned seed = *(unsigned *)arg;
	unsigned a = seed, b = seed, c = seed, d = seed, e = seed, f = seed, g = seed, h = seed;
	unsigned i = seed, j = seed;
	double p = seed, q = seed, r = seed, s = seed, t = seed, u = seed, v = seed, w = seed;

	for (int round = 0; round < 50; round++) {
		edo_yield();
		a += 1, b += a, c ^= b, d += c, e ^= d, f += e, g ^= f, h += g, i ^= h, j += i;
		p += 1, q += p, r += q, s += r, t += s, u += t, v += u, w += v;
	}
	a ^= b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j;
	return (int)((a ^ (uint64_t)(p + q + r + s + t + u + v + w)) & 0xffff);
}

static int joins_register_keepers(void *arg)
{
	edo_task *tasks[8];
	int expected[8];

	(void)arg;
	for (int i = 0; i < 8; i++) {
		unsigned seed = (unsigned)i * 12345 + 1;

		expected[i] = keeps_registers(&seed);
		assert_return_code(edo_spawn_fiber(NULL, keeps_registers, &seed, sizeof seed,
						   &tasks[i]),
				   0);
	}
	for (int i = 0; i < 8; i++) {
		int result;

		edo_task_join(tasks[i], &result);
		if (result != expected[i])
			return -1;
	}
	return 0;
}

static void registers_are_kept_over_a_switch(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, joins_register_keepers, NULL), 0);
}

struct wide {
	_Alignas(16) double values[4];
};

__attribute__((noinline)) static int uses_aligned_locals(int depth)
{
	struct wide wide = { { depth, depth * 2.0, depth * 3.0, depth * 4.0 } };
	char text[64];
	volatile struct wide *seen = &wide;

	if ((uintptr_t)seen % 16 != 0)
		return -1;
	snprintf(text, sizeof text, "%.1f %.1f", seen->values[1], seen->values[3]);
	if (atof(text) != depth * 2.0)
		return -2;
	return depth ? uses_aligned_locals(depth - 1) : 0;
}

static int checks_alignment(void *arg)
{
	(void)arg;
	edo_yield();
	return uses_aligned_locals(9);
}

static void the_stack_is_aligned_as_the_compiler_expects(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, checks_alignment, NULL), 0);
}

/* ---- abort, in every state of a fiber ---- */

static int how_often_canceled(void *arg)
{
	int canceled = 0;

	for (int i = 0; i < 3; i++)
		canceled += edo_await(arg) == -ECANCELED;
	canceled += edo_yield() == -ECANCELED;
	canceled += edo_sleep(EDO_HOUR(1)) == -ECANCELED;
	return canceled;
}

static edo_task *spawn_canceled_counter(struct gate *gate)
{
	edo_task *task;

	gate_init(gate);
	assert_return_code(edo_spawn_fiber(runtime, how_often_canceled, gate, 0, &task), 0);
	return task;
}

static int join_result(edo_task *task)
{
	int result = -1000;

	assert_int_equal(edo_task_join(task, &result), 0);
	return result;
}

static void aborted_before_it_began_it_runs_and_every_await_fails(void **state)
{
	struct gate gate;
	edo_task *task = spawn_canceled_counter(&gate);

	(void)state;
	edo_task_abort(task);
	assert_int_equal(join_result(task), 5);
	assert_int_equal(gate.polls, 0);
	assert_int_equal(gate.drops, 3); /* the wait is dropped on every way out */
}

static void aborted_while_it_waits_that_and_every_later_await_fails(void **state)
{
	struct gate gate;
	edo_task *task = spawn_canceled_counter(&gate);

	(void)state;
	run_on(runtime, fiber_does_nothing, NULL);
	assert_false(edo_task_is_finished(task));
	edo_task_abort(task);
	edo_task_abort(task);
	assert_int_equal(join_result(task), 5);
	assert_int_equal(gate.polls, 1);
}

static edo_task *itself;

static int aborts_itself_in_between(void *arg)
{
	int before = edo_yield();

	(void)arg;
	edo_task_abort(itself);
	return before == 0 && edo_yield() == -ECANCELED && edo_yield() == -ECANCELED;
}

static void aborted_by_itself_it_goes_on_with_failing_awaits(void **state)
{
	(void)state;
	assert_return_code(edo_spawn_fiber(runtime, aborts_itself_in_between, NULL, 0, &itself), 0);
	assert_int_equal(join_result(itself), 1);
}

static void aborted_after_its_end_it_keeps_its_result(void **state)
{
	struct gate gate;
	edo_task *task;

	(void)state;
	gate_init(&gate);
	gate_open(&gate);
	assert_return_code(edo_spawn_fiber(runtime, fiber_awaits_gate, &gate, 0, &task), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	edo_task_abort(task);
	assert_int_equal(join_result(task), 0);
}

/* Ready and cancelled at once: what was handed over is not lost. */
static edo_poll aborts_and_is_ready(struct actor *actor, edo_context *cx)
{
	(void)actor;
	(void)cx;
	edo_task_abort(itself);
	return 123;
}

static int awaits_its_own_abort(void *arg)
{
	struct actor actor = actor_of(aborts_and_is_ready, NULL);

	(void)arg;
	return edo_await(&actor.future);
}

static void a_ready_poll_wins_over_a_cancellation(void **state)
{
	(void)state;
	assert_return_code(edo_spawn_fiber(runtime, awaits_its_own_abort, NULL, 0, &itself), 0);
	assert_int_equal(join_result(itself), 123);
}

/* ---- failure ---- */

static void each_failed_allocation_leaves_the_argument_to_the_caller(void **state)
{
	edo_task *task = NULL;
	int value = 5;
	int n = 0;

	(void)state;
	for (;; n++) {
		int rc;

		edo_test_allocations_fail((uint64_t)n);
		rc = edo_spawn_fiber(runtime, returns_its_argument, &value, sizeof value, &task);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(task);
	}
	edo_test_allocations_fail(EDO_TEST_NEVER);
	assert_int_equal(n, 2); /* the cache of stacks, a chunk of cells */
	assert_int_equal(join_result(task), 5);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(the_argument_is_copied_whatever_its_size),
	WITH_RUNTIME(the_copy_is_aligned_for_anything),
	WITH_RUNTIME(with_size_0_the_pointer_itself_is_handed_over),
	WITH_RUNTIME(any_int_is_a_result_but_one),
	WITH_RUNTIME(a_size_that_cannot_be_had_is_no_memory),
	WITH_RUNTIME(errno_belongs_to_the_fiber_and_the_threads_is_not_harmed),
	WITH_RUNTIME(registers_are_kept_over_a_switch),
	WITH_RUNTIME(the_stack_is_aligned_as_the_compiler_expects),
	WITH_RUNTIME(aborted_before_it_began_it_runs_and_every_await_fails),
	WITH_RUNTIME(aborted_while_it_waits_that_and_every_later_await_fails),
	WITH_RUNTIME(aborted_by_itself_it_goes_on_with_failing_awaits),
	WITH_RUNTIME(aborted_after_its_end_it_keeps_its_result),
	WITH_RUNTIME(a_ready_poll_wins_over_a_cancellation),
	WITH_RUNTIME(each_failed_allocation_leaves_the_argument_to_the_caller),
};

EDO_TEST_MAIN(tests)
