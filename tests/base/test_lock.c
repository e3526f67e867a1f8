/*
 * Locks: they exclude, they hand on, and in debug builds they know which ones a thread holds (T2). What
 * must end the process is done in a child.
 */
#ifndef EDO_DEBUG
#define EDO_DEBUG 1 /* the ranks' code is in every build */
#endif
#include "base/lock.h"
#include "base/sys.h"
#include "support/runner.h"
#include "support/sys_fault.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct edo_lock outer, inner, another;

static void die_quietly_of(void (*misuse)(void))
{
	struct rlimit none = { 0, 0 };
	int null = open("/dev/null", O_WRONLY);

	dup2(null, STDERR_FILENO);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGABRT, SIG_DFL);
	misuse();
	_exit(0);
}

static void assert_aborts(void (*misuse)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		die_quietly_of(misuse);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void locks_nest_by_rank_and_are_given_back_in_reverse(void **state)
{
	(void)state;
	edo_lock_acquire(&outer, EDO_RANK_RUNTIME);
	edo_lock_acquire(&inner, EDO_RANK_SHARD);
	edo_lock_release(&inner, EDO_RANK_SHARD);
	assert_true(edo_lock_try(&inner, EDO_RANK_POOL));
	edo_lock_release(&inner, EDO_RANK_POOL);
	edo_lock_release(&outer, EDO_RANK_RUNTIME);
	edo_lock_assert_none();
}

static void take_an_outer_lock_last(void)
{
	edo_lock_acquire(&inner, EDO_RANK_SHARD);
	edo_lock_acquire(&outer, EDO_RANK_RUNTIME);
}

static void take_two_of_one_rank(void)
{
	edo_lock_acquire(&inner, EDO_RANK_SHARD);
	edo_lock_acquire(&another, EDO_RANK_SHARD);
}

static void release_the_outer_lock_first(void)
{
	edo_lock_acquire(&outer, EDO_RANK_RUNTIME);
	edo_lock_acquire(&inner, EDO_RANK_SHARD);
	edo_lock_release(&outer, EDO_RANK_RUNTIME);
}

static void a_lock_out_of_its_rank_ends_the_process(void **state)
{
	(void)state;
	assert_aborts(take_an_outer_lock_last);
	assert_aborts(take_two_of_one_rank);
	assert_aborts(release_the_outer_lock_first);
}

static void wake_with_a_lock_held(void)
{
	edo_lock_acquire(&inner, EDO_RANK_STACKS);
	edo_lock_assert_none();
}

static void wake_with_a_lock_that_was_tried(void)
{
	if (edo_lock_try(&inner, EDO_RANK_STACKS))
		edo_lock_assert_none();
}

static void where_no_lock_may_be_held_one_ends_the_process(void **state)
{
	(void)state;
	assert_aborts(wake_with_a_lock_held);
	assert_aborts(wake_with_a_lock_that_was_tried);
}

static void a_lock_that_is_held_cannot_be_taken_by_a_try(void **state)
{
	(void)state;
	assert_true(edo_lock_try(&inner, EDO_RANK_IO));
	assert_false(edo_lock_try(&inner, EDO_RANK_SHARD));
	edo_lock_release(&inner, EDO_RANK_IO);
	edo_lock_assert_none();
}

/* 2 in the word: somebody sleeps, or is about to. */
static void only_a_lock_that_is_waited_for_costs_its_release_a_call(void **state)
{
	uint64_t wakes = edo_sys_calls_of(EDO_CALL_futex_wake);

	(void)state;
	edo_lock_acquire(&inner, EDO_RANK_IO);
	edo_lock_release(&inner, EDO_RANK_IO);
	assert_int_equal(edo_sys_calls_of(EDO_CALL_futex_wake), wakes);
	edo_lock_acquire(&inner, EDO_RANK_IO);
	edo_store(&inner.word, 2, relaxed);
	edo_lock_release(&inner, EDO_RANK_IO);
	assert_int_equal(edo_sys_calls_of(EDO_CALL_futex_wake), wakes + 1);
	assert_int_equal(inner.word, 0);
}

static unsigned counted; /* under `inner` */

static void *count_once(void *arg)
{
	edo_lock_acquire(&inner, EDO_RANK_IO);
	counted++;
	edo_lock_release(&inner, EDO_RANK_IO);
	return arg;
}

static void whoever_sleeps_for_a_lock_says_so_and_is_woken(void **state)
{
	pthread_t sleeper;

	(void)state;
	edo_lock_acquire(&inner, EDO_RANK_IO);
	assert_int_equal(pthread_create(&sleeper, NULL, count_once, NULL), 0);
	while (edo_load(&inner.word, relaxed) != 2)
		sched_yield();
	counted = 1; /* what is done under the lock, the sleeper sees */
	edo_lock_release(&inner, EDO_RANK_IO);
	assert_int_equal(pthread_join(sleeper, NULL), 0);
	assert_int_equal(counted, 2);
	assert_int_equal(inner.word, 0);
}

/* While staged: a spinning thread says that it spins, and waits until the lock has been released. */
static int is_staged, is_spinning, is_released; /* atomic; nothing else travels with them */

static void wait_for(int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_RELAXED))
		sched_yield();
}

static void raise_flag(int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

void __real_edo_sys_cpu_relax(void);
void __wrap_edo_sys_cpu_relax(void);
void __wrap_edo_sys_cpu_relax(void)
{
	if (!__atomic_load_n(&is_staged, __ATOMIC_RELAXED)) {
		__real_edo_sys_cpu_relax();
		return;
	}
	raise_flag(&is_spinning);
	wait_for(&is_released);
}

static void whoever_spins_for_a_lock_sees_what_was_done_under_it(void **state)
{
	pthread_t spinner;

	(void)state;
	is_spinning = is_released = 0;
	is_staged = 1;
	edo_lock_acquire(&inner, EDO_RANK_IO);
	assert_int_equal(pthread_create(&spinner, NULL, count_once, NULL), 0);
	wait_for(&is_spinning);
	counted = 1;
	edo_lock_release(&inner, EDO_RANK_IO);
	raise_flag(&is_released);
	pthread_join(spinner, NULL);
	is_staged = 0;
	assert_int_equal(counted, 2);
}

static void *count_once_by_trying(void *arg)
{
	while (!edo_lock_try(&inner, EDO_RANK_IO))
		sched_yield();
	counted++;
	edo_lock_release(&inner, EDO_RANK_IO);
	return arg;
}

static void so_does_whoever_tries(void **state)
{
	pthread_t trier;

	(void)state;
	edo_lock_acquire(&inner, EDO_RANK_IO);
	assert_int_equal(pthread_create(&trier, NULL, count_once_by_trying, NULL), 0);
	counted = 1;
	edo_lock_release(&inner, EDO_RANK_IO);
	pthread_join(trier, NULL);
	assert_int_equal(counted, 2);
}

enum { THREADS = 4, ROUNDS = 20000 };

static void *count(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		edo_lock_acquire(&inner, EDO_RANK_IO);
		counted++;
		edo_lock_release(&inner, EDO_RANK_IO);
	}
	return arg;
}

static void of_many_threads_one_holds_it(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	counted = 0;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counted, THREADS * ROUNDS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(locks_nest_by_rank_and_are_given_back_in_reverse),
	cmocka_unit_test(a_lock_out_of_its_rank_ends_the_process),
	cmocka_unit_test(where_no_lock_may_be_held_one_ends_the_process),
	cmocka_unit_test(a_lock_that_is_held_cannot_be_taken_by_a_try),
	cmocka_unit_test(only_a_lock_that_is_waited_for_costs_its_release_a_call),
	cmocka_unit_test(whoever_sleeps_for_a_lock_says_so_and_is_woken),
	cmocka_unit_test(whoever_spins_for_a_lock_sees_what_was_done_under_it),
	cmocka_unit_test(so_does_whoever_tries),
	cmocka_unit_test(of_many_threads_one_holds_it),
};

EDO_TEST_MAIN(tests)
