/* Faults that tests order are the faults that the library sees. */
#include "base/sys.h"
#include "support/runner.h"
#include "support/sys_fault.h"
#include <errno.h>

static int forget(void **state)
{
	(void)state;
	edo_sys_fault_clear();
	return 0;
}

static void an_order_skips_fails_and_ends(void **state)
{
	int fd;

	(void)state;
	edo_sys_fault_order(EDO_CALL_eventfd, ENFILE, 1, 1);

	fd = edo_sys_eventfd();
	assert_return_code(fd, 0);
	assert_false(edo_sys_fault_happened());
	assert_int_equal(edo_sys_eventfd(), -ENFILE);
	assert_true(edo_sys_fault_happened());
	assert_int_equal(edo_sys_close(fd), 0);
	fd = edo_sys_eventfd();
	assert_return_code(fd, 0);
	assert_int_equal(edo_sys_close(fd), 0);
}

static int open_two(void)
{
	int first = edo_sys_eventfd();
	int second;

	if (first < 0)
		return first;
	second = edo_sys_epoll_create();
	edo_sys_close(first);
	if (second < 0)
		return second;
	edo_sys_close(second);
	return 0;
}

static void a_sweep_lets_each_call_fail_in_turn(void **state)
{
	uint64_t n = 0;
	int rc;

	(void)state;
	for (;; n++) {
		edo_sys_fault_sweep(n);
		rc = open_two();
		if (!edo_sys_fault_happened())
			break;
		assert_int_equal(rc, -EMFILE);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(n, 2);
}

static void calls_are_counted_by_kind(void **state)
{
	uint64_t all = edo_sys_calls_made();
	uint64_t clocks = edo_sys_calls_of(EDO_CALL_clock_now);

	(void)state;
	edo_sys_clock_now(EDO_SYS_MONOTONIC);
	assert_int_equal(edo_sys_close(-1), -EBADF);

	assert_int_equal(edo_sys_calls_of(EDO_CALL_clock_now) - clocks, 1);
	assert_int_equal(edo_sys_calls_made() - all, 2);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_teardown(an_order_skips_fails_and_ends, forget),
	cmocka_unit_test_teardown(a_sweep_lets_each_call_fail_in_turn, forget),
	cmocka_unit_test_teardown(calls_are_counted_by_kind, forget),
};

EDO_TEST_MAIN(tests)
