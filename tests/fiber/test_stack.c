/* Stacks: guard, cache, failure, ten thousand at once, and what an idle fiber costs. */
#include "base/sys.h"
#include "scheduler/gate.h"
#include "support/allocations.h"
#include "support/sys_fault.h"
#include <alloca.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_native(void)
{
	return edo_test_slowdown() == 1;
}

/* ThreadSanitizer keeps more than a megabyte for each fiber. */
static int that_many(int n)
{
	return edo_test_slowdown() < 10 ? n : 300;
}

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

/* ---- depth ---- */

__attribute__((noinline)) static int fill_stack(size_t bytes)
{
	volatile char *block = alloca(bytes);

	for (size_t i = 0; i < bytes; i += 64)
		block[i] = (char)i;
	return block[0];
}

static int uses_most_of_its_stack(void *arg)
{
	for (int i = 0; i < 3; i++) {
		fill_stack(*(size_t *)arg);
		edo_yield();
	}
	return 0;
}

static void nine_tenths_of_a_stack_can_be_used(void **state)
{
	size_t bytes = 64 * 1024 / 10 * 9;

	(void)state;
	for (int i = 0; i < 3; i++) /* also of one from the cache */
		assert_int_equal(run_on(runtime, uses_most_of_its_stack, &bytes), 0);
}

static void the_stacks_size_can_be_chosen(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	size_t bytes = 900 * 1024;
	edo_runtime *large;

	(void)state;
	config.stack_size = 1000 * 1000; /* rounded up to pages */
	large = runtime_with(&config);
	assert_int_equal(run_on(large, uses_most_of_its_stack, &bytes), 0);
	runtime_end(large);
}

static volatile bool has_a_bottom; /* never */

__attribute__((noinline)) static int falls_without_end(volatile char *above)
{
	volatile char block[512];

	block[0] = (char)(above ? above[0] + 1 : 0);
	return has_a_bottom ? 0 : falls_without_end(block) + block[0];
}

static int overflows(void *arg)
{
	(void)arg;
	return falls_without_end(NULL);
}

/* In a child: the process must die of it, and not write on. */
static void an_overflow_hits_the_guard_and_ends_the_process(void **state)
{
	int status = 0;
	pid_t child;

	(void)state;
	if (!is_native())
		skip();
	child = fork();
	if (child == 0) {
		struct rlimit none = { 0, 0 };
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 2);
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		_exit(edo_run(overflows, NULL) & 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

/* Asked of the kernel, which says so instead of ending the process. */
static bool can_be_read(const char *address, int pipe_end)
{
	return write(pipe_end, address, 1) == 1;
}

static void below_a_stack_there_is_a_page_that_nobody_can_touch(void **state)
{
	size_t page = edo_sys_page_size();
	void *base;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(edo_sys_stack_map(4 * page, &base), 0);
	assert_true(can_be_read(base, ends[1]));
	assert_true(can_be_read((char *)base + 4 * page - 1, ends[1]));
	assert_false(can_be_read((char *)base - 1, ends[1]));
	assert_false(can_be_read((char *)base - page, ends[1]));
	edo_sys_stack_unmap(base, 4 * page);
	assert_false(can_be_read(base, ends[1]));
	close(ends[0]);
	close(ends[1]);
}

/* ---- the cache ---- */

static int spawns_at_once(void *arg)
{
	int n = *(int *)arg;
	edo_task **tasks = calloc((size_t)n, sizeof(edo_task *));

	for (int i = 0; i < n; i++)
		assert_return_code(edo_spawn_fiber(NULL, fiber_does_nothing, NULL, 0, &tasks[i]),
				   0);
	for (int i = 0; i < n; i++)
		assert_int_equal(edo_task_join(tasks[i], NULL), 0);
	free(tasks);
	return 0;
}

static uint64_t maps(void)
{
	return edo_sys_calls_of(EDO_CALL_stack_map);
}

static void ended_fibers_stacks_are_used_again(void **state)
{
	uint64_t before;
	int n = 100;

	(void)state;
	run_on(runtime, spawns_at_once, &n);
	before = maps();
	for (int i = 0; i < 10; i++)
		run_on(runtime, spawns_at_once, &n);
	assert_int_equal(maps(), before);
}

static void the_cache_keeps_as_many_as_it_was_told(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *small;
	uint64_t before;
	int n = 20;

	(void)state;
	config.stack_cache = 5;
	small = runtime_with(&config);
	run_on(small, spawns_at_once, &n); /* 21 stacks with the root's; 5 stay */
	before = maps();
	run_on(small, spawns_at_once, &n);
	assert_int_equal(maps() - before, 21 - 5);
	runtime_end(small);
}

/* ---- failure ---- */

static int returns_its_argument(void *arg)
{
	return *(int *)arg;
}

static void a_stack_that_cannot_be_had_is_no_memory_and_the_argument_stays(void **state)
{
	edo_task *task = NULL;
	int value = 5, result = 0;

	(void)state;
	edo_sys_fault_order(EDO_CALL_stack_map, ENOMEM, 0, 1);
	assert_int_equal(edo_spawn_fiber(runtime, returns_its_argument, &value, sizeof value,
					 &task),
			 -ENOMEM);
	assert_null(task);
	edo_sys_fault_order(EDO_CALL_stack_map, ENOMEM, 0, 1);
	assert_int_equal(edo_block_on(runtime, returns_its_argument, &value, &result), -ENOMEM);
	edo_sys_fault_clear();
	assert_return_code(edo_spawn_fiber(runtime, returns_its_argument, &value, sizeof value,
					   &task),
			   0);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, 5);
}

/* A stack is taken before the cell: without memory for that it goes back. */
static void a_spawn_that_fails_later_gives_its_stack_back(void **state)
{
	edo_task *task = NULL;
	uint64_t before = maps();

	(void)state;
	edo_test_allocations_fail(1); /* 0 is the cache itself */
	assert_int_equal(edo_spawn_fiber(runtime, fiber_does_nothing, NULL, 0, &task), -ENOMEM);
	assert_int_equal(maps() - before, 1);
	assert_return_code(edo_spawn_fiber(runtime, fiber_does_nothing, NULL, 0, &task), 0);
	assert_int_equal(maps() - before, 1);
	assert_int_equal(edo_task_join(task, NULL), 0);
}

/* ---- many ---- */

static int wait_together(void *arg)
{
	unsigned *here = arg;

	++*here;
	(void)edo_yield();
	(void)edo_yield();
	--*here;
	return 0;
}

static int spawns_ten_thousand(void *arg)
{
	unsigned here = 0, most = 0;

	for (int i = 0; i < that_many(10000); i++) {
		int rc = edo_spawn_fiber(NULL, wait_together, &here, 0, NULL);

		if (rc < 0)
			return rc;
	}
	do {
		most = here > most ? here : most;
		edo_yield();
	} while (here > 0);
	*(unsigned *)arg = most;
	return 0;
}

static void ten_thousand_fibers_live_at_once(void **state)
{
	unsigned most = 0;

	(void)state;
	assert_int_equal(run_on(runtime, spawns_ten_thousand, &most), 0);
	assert_int_equal(most, that_many(10000));
}

static size_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long total = 0, pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu %lu", &total, &pages), 2);
	fclose(file);
	return pages * edo_sys_page_size();
}

static void an_idle_fiber_takes_at_most_9_kib(void **state)
{
	const int fibers = that_many(5000);
	edo_task **tasks = calloc((size_t)fibers, sizeof(edo_task *));
	struct gate *gates = calloc((size_t)fibers, sizeof *gates);
	size_t before, after;

	(void)state;
	run_on(runtime, fiber_does_nothing, NULL);
	for (int i = 0; i < fibers; i++)
		gate_init(&gates[i]);
	memset(tasks, 1, (size_t)fibers * sizeof(edo_task *));
	before = resident();
	for (int i = 0; i < fibers; i++)
		assert_return_code(edo_spawn_fiber(runtime, fiber_awaits_gate, &gates[i], 0,
						   &tasks[i]),
				   0);
	run_on(runtime, fiber_does_nothing, NULL);
	after = resident();
	for (int i = 0; i < fibers; i++)
		gate_open(&gates[i]);
	for (int i = 0; i < fibers; i++)
		assert_int_equal(edo_task_join(tasks[i], NULL), 0);
	free(tasks);
	free(gates);
	if (!is_native())
		skip();
	assert_in_range((after - before) / (size_t)fibers, 1, 9 * 1024);
}

/* ---- two threads, one runtime ---- */

/* An allocator in which each thread's first allocation waits for the other's: both make a cache. */
static pthread_barrier_t both_allocate;
static _Thread_local bool meets_the_other;

static void *allocate_together(void *context, size_t size, size_t align)
{
	void *block = NULL;

	(void)context;
	if (meets_the_other) {
		meets_the_other = false;
		pthread_barrier_wait(&both_allocate);
	}
	return posix_memalign(&block, align < 8 ? 8 : align, size) == 0 ? block : NULL;
}

static void release_plainly(void *context, void *block, size_t size)
{
	(void)context;
	(void)size;
	free(block);
}

static void *makes_the_first_fiber(void *arg)
{
	meets_the_other = true;
	return (void *)(intptr_t)edo_spawn_fiber(arg, fiber_does_nothing, NULL, 0, NULL);
}

static void two_threads_may_spawn_the_first_fiber_at_once(void **state)
{
	edo_allocator allocator = { allocate_together, release_plainly, NULL };
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *fresh;
	pthread_t threads[2];

	(void)state;
	config.allocator = &allocator;
	fresh = runtime_with(&config);
	pthread_barrier_init(&both_allocate, NULL, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, makes_the_first_fiber, fresh),
				 0);
	for (int i = 0; i < 2; i++) {
		void *rc;

		pthread_join(threads[i], &rc);
		assert_null(rc);
	}
	pthread_barrier_destroy(&both_allocate);
	runtime_end(fresh); /* the runner counts what is left */
}

static int first_is_there; /* atomic; nothing else travels with it */

static void *makes_it_and_says_so(void *arg)
{
	int rc = edo_spawn_fiber(arg, fiber_does_nothing, NULL, 0, NULL);

	__atomic_store_n(&first_is_there, 1, __ATOMIC_RELAXED);
	return (void *)(intptr_t)rc;
}

static void *comes_later(void *arg)
{
	while (!__atomic_load_n(&first_is_there, __ATOMIC_RELAXED))
		sched_yield();
	return (void *)(intptr_t)edo_spawn_fiber(arg, fiber_does_nothing, NULL, 0, NULL);
}

/* ThreadSanitizer sees whether the cache itself is handed on as it should be. */
static void a_thread_that_comes_later_finds_the_whole_cache(void **state)
{
	pthread_t threads[2];

	(void)state;
	first_is_there = 0;
	assert_int_equal(pthread_create(&threads[0], NULL, comes_later, runtime), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, makes_it_and_says_so, runtime), 0);
	for (int i = 0; i < 2; i++) {
		void *rc;

		pthread_join(threads[i], &rc);
		assert_null(rc);
	}
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(nine_tenths_of_a_stack_can_be_used),
	WITH_RUNTIME(the_stacks_size_can_be_chosen),
	WITH_RUNTIME(an_overflow_hits_the_guard_and_ends_the_process),
	cmocka_unit_test(below_a_stack_there_is_a_page_that_nobody_can_touch),
	WITH_RUNTIME(ended_fibers_stacks_are_used_again),
	WITH_RUNTIME(the_cache_keeps_as_many_as_it_was_told),
	WITH_RUNTIME(a_stack_that_cannot_be_had_is_no_memory_and_the_argument_stays),
	WITH_RUNTIME(a_spawn_that_fails_later_gives_its_stack_back),
	WITH_RUNTIME(ten_thousand_fibers_live_at_once),
	WITH_RUNTIME(an_idle_fiber_takes_at_most_9_kib),
	WITH_RUNTIME(two_threads_may_spawn_the_first_fiber_at_once),
	WITH_RUNTIME(a_thread_that_comes_later_finds_the_whole_cache),
};

EDO_TEST_MAIN(tests)
