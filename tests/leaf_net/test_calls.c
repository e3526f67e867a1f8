/*
 * A system call on a descriptor while another thread closes it: the close waits for the call, so that the
 * call cannot meet a stranger under the same number.
 */
#include "support/runner.h"
#include <edo/edo.h>
#include <pthread.h>
#include <sched.h>

enum { CHANCES = 2000 };

static edo_tcp_listener listener;
static int has_begun, has_closed; /* atomic */
static int close_result;
static pthread_t closer;
static bool is_racing;

static void *close_it(void *arg)
{
	(void)arg;
	__atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
	close_result = edo_tcp_listener_close(&listener);
	__atomic_store_n(&has_closed, 1, __ATOMIC_RELEASE);
	return NULL;
}

int __real_edo_sys_getsockname(int fd, struct sockaddr *address, socklen_t *len);
int __wrap_edo_sys_getsockname(int fd, struct sockaddr *address, socklen_t *len);
int __wrap_edo_sys_getsockname(int fd, struct sockaddr *address, socklen_t *len)
{
	if (is_racing) {
		is_racing = false;
		assert_int_equal(pthread_create(&closer, NULL, close_it, NULL), 0);
		while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE))
			sched_yield();
		for (int i = 0; i < CHANCES; i++)
			sched_yield();
		assert_int_equal(__atomic_load_n(&has_closed, __ATOMIC_ACQUIRE), 0);
	}
	return __real_edo_sys_getsockname(fd, address, len);
}

static void a_close_waits_for_a_call_on_the_descriptor(void **state)
{
	edo_enter_guard guard;
	edo_runtime *runtime;
	edo_addr addr;

	(void)state;
	assert_int_equal(edo_runtime_create(&runtime, NULL), 0);
	assert_int_equal(edo_runtime_enter(runtime, &guard), 0);
	assert_int_equal(edo_tcp_listen(&listener, "127.0.0.1:0"), 0);

	is_racing = true;
	assert_int_equal(edo_tcp_listener_addr(&listener, &addr), 0);

	assert_int_equal(pthread_join(closer, NULL), 0);
	assert_int_equal(close_result, 0);
	edo_runtime_leave(&guard);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_close_waits_for_a_call_on_the_descriptor),
};

EDO_TEST_MAIN(tests)
