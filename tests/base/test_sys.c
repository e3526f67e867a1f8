/* The door to the system: what it makes of the system's answers. libc's calls are the test's own here. */
#include "base/sys.h"
#include "support/runner.h"
#include <errno.h>
#include <time.h>
#include <unistd.h>

/* How often the next call is interrupted; how many there were. */
static unsigned interruptions, calls;
static clockid_t asked_for;

static int interrupted(void)
{
	calls++;
	if (interruptions == 0)
		return 0;
	interruptions--;
	errno = EINTR;
	return -1;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	asked_for = clock;
	*now = (struct timespec){ .tv_sec = 7, .tv_nsec = 8 };
	return 0;
}

int __wrap_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog)
{
	(void)fd;
	(void)backlog;
	return interrupted();
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len)
{
	(void)fd;
	(void)address;
	(void)len;
	return interrupted();
}

static int begin(void **state)
{
	(void)state;
	interruptions = 0;
	calls = 0;
	errno = ENOTTY;
	return 0;
}

static void pitfall_p31_each_clock_is_the_one_that_was_asked_for(void **state)
{
	(void)state;
	assert_true(edo_sys_clock_now(EDO_SYS_MONOTONIC) == UINT64_C(7000000008));
	assert_int_equal(asked_for, CLOCK_MONOTONIC);
	(void)edo_sys_clock_now(EDO_SYS_BOOTTIME);
	assert_int_equal(asked_for, CLOCK_BOOTTIME);
}

static void pitfall_p50_an_interrupted_call_is_made_again(void **state)
{
	(void)state;
	interruptions = 3;
	assert_int_equal(edo_sys_listen(0, 1), 0);
	assert_int_equal(calls, 4);
	assert_int_equal(errno, ENOTTY);
}

/* Made again it would say that it is under way. */
static void pitfall_p50_an_interrupted_connect_goes_on_by_itself(void **state)
{
	(void)state;
	interruptions = 1;
	assert_int_equal(edo_sys_connect(0, NULL, 0), -EINPROGRESS);
	assert_int_equal(calls, 1);
	assert_int_equal(errno, ENOTTY);
}

static void what_fails_is_said_by_the_result_and_errno_is_left_alone(void **state)
{
	const struct sockaddr address = { .sa_family = AF_UNSPEC };

	(void)state;
	assert_int_equal(edo_sys_close(-1), -EBADF);
	/* With an address: an emulator looks at that first. */
	assert_int_equal(edo_sys_bind(-1, &address, sizeof address), -EBADF);
	assert_int_equal(errno, ENOTTY);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

static const struct CMUnitTest tests[] = {
	TEST(pitfall_p31_each_clock_is_the_one_that_was_asked_for),
	TEST(pitfall_p50_an_interrupted_call_is_made_again),
	TEST(pitfall_p50_an_interrupted_connect_goes_on_by_itself),
	TEST(what_fails_is_said_by_the_result_and_errno_is_left_alone),
};

EDO_TEST_MAIN(tests)
