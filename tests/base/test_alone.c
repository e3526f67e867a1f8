/* Operations go without their locked instructions only while the process has one thread. */
#include "base/alone.h"
#include "support/runner.h"
#include <pthread.h>

static void *asks(void *answer)
{
	*(int *)answer = edo_is_alone();
	return NULL;
}

static void with_a_second_thread_the_process_is_not_alone(void **state)
{
	int answer = -1;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, asks, &answer), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(answer, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(with_a_second_thread_the_process_is_not_alone),
};

EDO_TEST_MAIN(tests)
