/* How a thread parks on a word. */
#include "driver/driver.h"
#include "support/runner.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static void a_wake_up_before_the_wait_counts_once(void **state)
{
	struct edo_thread_park park = { 0 };

	(void)state;
	edo_thread_park_wake(&park);
	edo_thread_park_wake(&park);

	assert_true(edo_thread_park_wait(&park, UINT64_MAX));
	assert_false(edo_thread_park_wait(&park, 0));
	assert_false(edo_thread_park_wait(&park, MS));
}

static void a_look_takes_a_notification(void **state)
{
	struct edo_thread_park park = { 0 };

	(void)state;
	assert_false(edo_thread_park_wait(&park, 0));
	edo_thread_park_wake(&park);
	assert_true(edo_thread_park_wait(&park, 0));
	assert_false(edo_thread_park_wait(&park, 0));
}

static void a_wait_lasts_as_long_as_asked_when_nothing_interrupts_it(void **state)
{
	struct edo_thread_park park = { 0 };
	uint64_t before = edo_sys_clock_now(EDO_SYS_MONOTONIC);

	(void)state;
	assert_false(edo_thread_park_wait(&park, 3 * MS));
	assert_true(edo_sys_clock_now(EDO_SYS_MONOTONIC) - before >= 3 * MS);
}

struct waking {
	struct edo_thread_park park;
	uint32_t work;
	uint32_t rounds;
};

static void *wake_often(void *data)
{
	struct waking *waking = data;

	for (uint32_t i = 0; i < waking->rounds; i++) {
		(void)edo_fetch_add(&waking->work, 1, relaxed);
		edo_thread_park_wake(&waking->park);
		if (i % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void no_wake_up_is_lost(void **state)
{
	struct waking waking = { .rounds = 100000 / edo_test_slowdown() };
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wake_often, &waking), 0);
	while (edo_load(&waking.work, relaxed) < 2 * waking.rounds)
		(void)edo_thread_park_wait(&waking.park, UINT64_MAX);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_wake_up_before_the_wait_counts_once),
	cmocka_unit_test(a_look_takes_a_notification),
	cmocka_unit_test(a_wait_lasts_as_long_as_asked_when_nothing_interrupts_it),
	cmocka_unit_test(no_wake_up_is_lost),
};

EDO_TEST_MAIN(tests)
