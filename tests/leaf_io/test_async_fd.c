/* edo_async_fd as users meet it: in fibers, in polls by hand, misused, and from other threads. */
#include "support/allocations.h"
#include "support/runner.h"
#include "support/sys_fault.h"
#include <edo/edo.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* ---- a runtime, entered for the length of a test ---- */

struct entered {
	edo_runtime *runtime;
	edo_enter_guard guard;
};

static void enter_with(struct entered *entered, const edo_config *config)
{
	assert_int_equal(edo_runtime_create(&entered->runtime, config), 0);
	assert_int_equal(edo_runtime_enter(entered->runtime, &entered->guard), 0);
}

static void enter(struct entered *entered)
{
	enter_with(entered, NULL);
}

static void leave(struct entered *entered)
{
	edo_runtime_leave(&entered->guard);
	assert_int_equal(edo_runtime_destroy(entered->runtime), 0);
}

/* ---- descriptors ---- */

static int make_eventfd(int flags)
{
	int fd = eventfd(0, EFD_CLOEXEC | flags);

	assert_return_code(fd, errno);
	return fd;
}

static void make_pipe(int fds[2])
{
	assert_return_code(pipe2(fds, O_NONBLOCK | O_CLOEXEC), errno);
}

static void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* ---- polls by hand ---- */

static unsigned wakes;

static edo_waker plain_waker(void *data);
static void count_wake(void *data)
{
	(void)data;
	wakes++;
}
static void drop_nothing(void *data)
{
	(void)data;
}
static const edo_waker_ops plain_ops = { plain_waker, count_wake, count_wake, drop_nothing };
static edo_waker plain_waker(void *data)
{
	return (edo_waker){ data, &plain_ops };
}

static edo_poll poll_once(edo_future *future)
{
	edo_waker waker = plain_waker(&wakes);
	edo_context cx;

	edo_context_init(&cx, &waker);
	return edo_future_poll(future, &cx);
}

/* ---- tests ---- */

static int read_a_pipe_to_its_end(void *arg)
{
	int *fds = arg;
	edo_async_fd afd;
	edo_ready ready;
	size_t total = 0;
	int rc = edo_async_fd_init(&afd, fds[0], EDO_READABLE);

	while (rc == 0 && (rc = edo_async_fd_readable(&afd, &ready)) == 0) {
		char bytes[100];
		ssize_t got = read(fds[0], bytes, sizeof bytes);

		if (got == 0)
			break;
		if (got > 0)
			total += (size_t)got;
		else
			edo_async_fd_clear(&afd, ready);
	}
	if (rc == 0)
		rc = edo_async_fd_drop(&afd);
	return rc < 0 ? rc : (int)total;
}

static void *write_slowly(void *arg)
{
	int *fds = arg;

	for (int i = 0; i < 20; i++) {
		usleep(500);
		(void)!write(fds[1], "0123456789", 10);
	}
	close(fds[1]);
	return NULL;
}

static void a_fiber_reads_what_another_thread_writes_to_the_end(void **state)
{
	pthread_t thread;
	int fds[2];

	(void)state;
	make_pipe(fds);
	assert_int_equal(pthread_create(&thread, NULL, write_slowly, fds), 0);

	assert_int_equal(edo_run(read_a_pipe_to_its_end, fds), 200);

	pthread_join(thread, NULL);
	close(fds[0]);
}

static int count_three_expirations(void *arg)
{
	struct itimerspec period = { { 0, 1000000 }, { 0, 1000000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), rc;
	unsigned long long total = 0, n;
	edo_async_fd afd;
	edo_ready ready;

	(void)arg;
	timerfd_settime(fd, 0, &period, NULL);
	rc = edo_async_fd_init(&afd, fd, EDO_READABLE);
	while (rc == 0 && total < 3 && (rc = edo_async_fd_readable(&afd, &ready)) == 0) {
		if (read(fd, &n, sizeof n) == (ssize_t)sizeof n)
			total += n;
		else
			edo_async_fd_clear(&afd, ready);
	}
	(void)edo_async_fd_drop(&afd);
	close(fd);
	return rc < 0 ? rc : 0;
}

static void a_timerfd_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(edo_run(count_three_expirations, NULL), 0);
}

static void pitfall_p49_a_blocking_descriptor_is_refused(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	int fd = make_eventfd(0);

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), -EINVAL);
	assert_int_equal(edo_async_fd_drop(&afd), -EBADF); /* never became anything */

	assert_return_code(fcntl(fd, F_SETFL, O_NONBLOCK), errno);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), 0);
	assert_int_equal(edo_async_fd_drop(&afd), 0);
	close(fd);
	leave(&entered);
}

static void a_plain_file_cannot_be_polled_blocking_or_not(void **state)
{
	char path[] = "/tmp/edo-file-XXXXXX";
	struct entered entered;
	edo_async_fd afd;
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), -EPERM);
	assert_return_code(fcntl(fd, F_SETFL, O_NONBLOCK), errno);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), -EPERM);
	close(fd);
	unlink(path);
	leave(&entered);
}

static void misuse_that_can_be_seen_is_an_error(void **state)
{
	struct entered entered;
	edo_config without_io = EDO_CONFIG_INIT;
	edo_async_fd afd;
	int fd = make_eventfd(EFD_NONBLOCK);

	(void)state;
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), -EINVAL); /* no runtime */
	without_io.disable_io = true;
	enter_with(&entered, &without_io);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), -EOPNOTSUPP);
	leave(&entered);

	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, (edo_interest)0), -EINVAL);
	assert_int_equal(edo_async_fd_init(&afd, fd, (edo_interest)64), -EINVAL);
	assert_int_equal(edo_async_fd_init(&afd, 9999, EDO_READABLE), -EBADF);
	assert_int_equal(edo_async_fd_init(&afd, -1, EDO_READABLE), -EBADF);
	leave(&entered);
	close(fd);
}

static void drop_is_legal_in_any_state_and_again(void **state)
{
	struct entered entered;
	edo_async_fd zeros, afd, second;
	int fd = make_eventfd(EFD_NONBLOCK);

	(void)state;
	memset(&zeros, 0, sizeof zeros);
	assert_int_equal(edo_async_fd_drop(&zeros), -EBADF);
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), 0);
	assert_int_equal(edo_async_fd_get(&afd), fd);
	assert_int_equal(edo_async_fd_init(&second, fd, EDO_READABLE), -EEXIST);
	assert_int_equal(edo_async_fd_drop(&second), -EBADF);

	assert_int_equal(edo_async_fd_drop(&afd), 0);
	assert_int_equal(edo_async_fd_drop(&afd), -EBADF);
	assert_int_equal(edo_async_fd_get(&afd), -EBADF);
	close(fd);
	leave(&entered);
}

static void the_original_of_a_move_is_dead_and_harms_nothing(void **state)
{
	struct entered entered;
	edo_async_fd original, moved;
	edo_async_fd_future wait;
	int fd = make_eventfd(EFD_NONBLOCK);

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&original, fd, EDO_READABLE), 0);
	moved = original;
	assert_int_equal(edo_async_fd_get(&moved), fd);

	assert_int_equal(edo_async_fd_get(&original), -EBADF);
	assert_int_equal(poll_once(edo_async_fd_ready_start(&wait, &original, EDO_READABLE)),
			 -EBADF);
	edo_future_drop(&wait.future);
	assert_int_equal(edo_async_fd_drop(&original), -EBADF);

	assert_int_equal(edo_async_fd_get(&moved), fd);
	assert_int_equal(poll_once(edo_async_fd_ready_start(&wait, &moved, EDO_READABLE)),
			 EDO_PENDING);
	edo_future_drop(&wait.future);
	assert_int_equal(edo_async_fd_drop(&moved), 0);
	close(fd);
	leave(&entered);
}

static void pitfall_p45_a_descriptor_closed_first_is_reported_by_its_drop(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	int fd = make_eventfd(EFD_NONBLOCK);

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), 0);
	close(fd);
	assert_int_equal(edo_async_fd_drop(&afd), -EBADF);
	assert_int_equal(edo_async_fd_drop(&afd), -EBADF);
	leave(&entered);
}

static void a_dropped_wait_lets_go_of_its_direction(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	edo_async_fd_future first, second;
	int fd = make_eventfd(EFD_NONBLOCK);

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE_OR_WRITABLE), 0);
	edo_future_drop(edo_async_fd_ready_start(&first, &afd, EDO_READABLE)); /* not polled yet */
	(void)edo_async_fd_ready_start(&first, &afd, EDO_READABLE);
	(void)edo_async_fd_ready_start(&second, &afd, EDO_READABLE);
	assert_int_equal(poll_once(&first.future), EDO_PENDING);
	assert_int_equal(poll_once(&second.future), -EBUSY);
	assert_int_equal(poll_once(&first.future), EDO_PENDING);

	edo_future_drop(&first.future);
	edo_future_drop(&first.future);

	(void)edo_async_fd_ready_start(&second, &afd, EDO_READABLE);
	assert_int_equal(poll_once(&second.future), EDO_PENDING);
	edo_future_drop(&second.future);
	assert_int_equal(edo_async_fd_drop(&afd), 0);
	close(fd);
	leave(&entered);
}

static int wait_for_all(void *arg)
{
	edo_async_fd_future *wait = arg;

	return edo_await(&wait->future);
}

static void pitfall_p42_only_what_was_registered_for_is_waited_for_and_reported(void **state)
{
	struct entered entered;
	edo_async_fd reader, both;
	edo_async_fd_future wait;
	int sockets[2], result;

	(void)state;
	enter(&entered);
	assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
				      sockets),
			   errno);
	assert_int_equal(edo_async_fd_init(&reader, sockets[0], EDO_READABLE), 0);
	assert_int_equal(poll_once(edo_async_fd_ready_start(&wait, &reader, EDO_WRITABLE)),
			 -EINVAL);
	assert_int_equal(wait.result, -EINVAL); /* as after a select */
	edo_future_drop(&wait.future);
	assert_int_equal(edo_async_fd_drop(&reader), 0);

	assert_int_equal(edo_async_fd_init(&both, sockets[0], EDO_READABLE_OR_WRITABLE), 0);
	(void)edo_async_fd_ready_start(&wait, &both, EDO_READABLE_OR_WRITABLE);
	assert_int_equal(edo_block_on(entered.runtime, wait_for_all, &wait, &result), 0);
	assert_int_equal(result, 0);
	assert_int_equal(wait.ready.events, EDO_WRITABLE);
	assert_false(wait.ready.read_closed);
	assert_int_equal(edo_async_fd_drop(&both), 0);
	close_pair(sockets);
	leave(&entered);
}

struct waiting {
	edo_async_fd *afd;
	int result;
};

static int wait_for_reading(void *arg)
{
	struct waiting *waiting = *(struct waiting **)arg;
	edo_ready ready;

	waiting->result = edo_async_fd_readable(waiting->afd, &ready);
	return 0;
}

static int drop_while_another_fiber_waits(void *arg)
{
	struct waiting waiting = { arg, 1 }, *pointer = &waiting;
	edo_task *task;
	int rc = edo_spawn_fiber(NULL, wait_for_reading, &pointer, sizeof pointer, &task);

	if (rc < 0)
		return rc;
	(void)edo_yield();
	rc = edo_async_fd_drop(waiting.afd);
	(void)edo_task_join(task, NULL);
	return rc < 0 ? rc : waiting.result;
}

static void who_waits_for_a_dropped_descriptor_is_told(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	int fd = make_eventfd(EFD_NONBLOCK), result;

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), 0);
	assert_int_equal(edo_block_on(entered.runtime, drop_while_another_fiber_waits, &afd,
				      &result),
			 0);
	assert_int_equal(result, -EBADF);
	close(fd);
	leave(&entered);
}

/* An eventfd is always writable: a task that never clears must still let others run. */
static int wait_without_end(void *arg)
{
	edo_async_fd *afd = *(edo_async_fd **)arg;
	edo_ready ready;
	int rc;

	while ((rc = edo_async_fd_writable(afd, &ready)) == 0)
		;
	return rc;
}

static int sleep_beside_a_greedy_fiber(void *arg)
{
	edo_task *task;
	int rc = edo_spawn_fiber(NULL, wait_without_end, &arg, sizeof arg, &task), result;

	if (rc < 0)
		return rc;
	for (int i = 0; i < 3 && rc == 0; i++)
		rc = edo_yield();
	edo_task_abort(task);
	(void)edo_task_join(task, &result);
	return rc < 0 ? rc : result;
}

static void a_wait_that_is_always_ready_spends_the_budget(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	int fd = make_eventfd(EFD_NONBLOCK), result;

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_WRITABLE), 0);
	assert_int_equal(edo_block_on(entered.runtime, sleep_beside_a_greedy_fiber, &afd, &result),
			 0);
	assert_int_equal(result, -ECANCELED);
	assert_int_equal(edo_async_fd_drop(&afd), 0);
	close(fd);
	leave(&entered);
}

/* One poll of a task may take so many ready results; the next one wakes the task and waits its turn. */
static void ready_results_spend_one_unit_each(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	edo_async_fd_future wait;
	edo_waker waker = plain_waker(&wakes);
	edo_context cx;
	int fd = make_eventfd(EFD_NONBLOCK), result;

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_WRITABLE), 0);
	(void)edo_async_fd_ready_start(&wait, &afd, EDO_WRITABLE);
	assert_int_equal(edo_block_on(entered.runtime, wait_for_all, &wait, &result), 0);
	wakes = 0;
	edo_context_init(&cx, &waker);
	for (int i = 0; i < 128; i++) {
		(void)edo_async_fd_ready_start(&wait, &afd, EDO_WRITABLE);
		assert_int_equal(edo_future_poll(&wait.future, &cx), 0);
	}
	assert_int_equal(wakes, 0);

	assert_int_equal(edo_future_poll(&wait.future, &cx), EDO_PENDING);

	assert_int_equal(wakes, 1);
	edo_context_init(&cx, &waker);
	assert_int_equal(edo_future_poll(&wait.future, &cx), 0); /* nothing was lost */
	edo_future_drop(&wait.future);
	assert_int_equal(edo_async_fd_drop(&afd), 0);
	close(fd);
	leave(&entered);
}

static void another_runtime_s_descriptor_is_an_error(void **state)
{
	struct entered first, second;
	edo_async_fd afd;
	edo_async_fd_future wait;
	int fd = make_eventfd(EFD_NONBLOCK);

	(void)state;
	enter(&first);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), 0);
	enter(&second);

	assert_int_equal(poll_once(edo_async_fd_ready_start(&wait, &afd, EDO_READABLE)), -EXDEV);
	edo_future_drop(&wait.future);
	assert_int_equal(edo_async_fd_get(&afd), fd); /* but it is found */
	assert_int_equal(edo_async_fd_drop(&afd), 0);

	leave(&second);
	leave(&first);
	close(fd);
}

static void after_its_runtime_s_end_it_says_so(void **state)
{
	struct entered entered;
	edo_async_fd afd, other;
	edo_async_fd_future wait, late;
	edo_ready none;
	int fd = make_eventfd(EFD_NONBLOCK), fd2 = make_eventfd(EFD_NONBLOCK);

	(void)state;
	memset(&none, 0, sizeof none);
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), 0);
	assert_int_equal(edo_async_fd_init(&other, fd2, EDO_READABLE), 0);
	assert_int_equal(poll_once(edo_async_fd_ready_start(&wait, &afd, EDO_READABLE)),
			 EDO_PENDING);
	leave(&entered);

	assert_int_equal(poll_once(&wait.future), -ESHUTDOWN);
	edo_future_drop(&wait.future);
	edo_future_drop(edo_async_fd_ready_start(&late, &afd, EDO_READABLE));
	edo_async_fd_clear(&afd, none);
	assert_int_equal(edo_async_fd_get(&afd), -EBADF);
	assert_int_equal(edo_async_fd_drop(&afd), -ESHUTDOWN);
	enter(&entered);
	assert_int_equal(edo_async_fd_drop(&other), -ESHUTDOWN);
	leave(&entered);
	close(fd);
	close(fd2);
}

static void *drop_from_afar(void *afd)
{
	return (void *)(intptr_t)edo_async_fd_drop(afd);
}

static void a_thread_that_entered_nothing_may_drop_it(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	edo_async_fd_future wait;
	pthread_t thread;
	void *rc;
	int fd = make_eventfd(EFD_NONBLOCK);

	(void)state;
	enter(&entered);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), 0);
	wakes = 0;
	assert_int_equal(poll_once(edo_async_fd_ready_start(&wait, &afd, EDO_READABLE)),
			 EDO_PENDING);
	assert_int_equal(pthread_create(&thread, NULL, drop_from_afar, &afd), 0);
	pthread_join(thread, &rc);

	assert_int_equal((intptr_t)rc, 0);
	assert_int_equal(wakes, 1);
	assert_int_equal(poll_once(&wait.future), -EBADF);
	edo_future_drop(&wait.future);
	close(fd);
	leave(&entered);
}

static void every_failed_system_call_at_registering_is_told(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	int fd = make_eventfd(EFD_NONBLOCK);
	unsigned failures = 0;

	(void)state;
	enter(&entered);
	for (uint64_t n = 0;; n++) {
		int rc;

		edo_sys_fault_sweep(n);
		rc = edo_async_fd_init(&afd, fd, EDO_READABLE);
		if (!edo_sys_fault_happened())
			break;
		assert_true(rc < 0);
		assert_int_equal(edo_async_fd_drop(&afd), -EBADF);
		failures++;
	}
	edo_sys_fault_clear();
	assert_int_equal(failures, 2);
	assert_int_equal(edo_async_fd_drop(&afd), 0);
	close(fd);
	leave(&entered);
}

static void errno_is_not_harmed(void **state)
{
	struct entered entered;
	edo_async_fd afd;
	int fd = make_eventfd(EFD_NONBLOCK);

	(void)state;
	enter(&entered);
	errno = EDOM;
	assert_int_equal(edo_async_fd_init(&afd, 9999, EDO_READABLE), -EBADF);
	assert_int_equal(errno, EDOM);
	assert_int_equal(edo_async_fd_init(&afd, fd, EDO_READABLE), 0);
	assert_int_equal(edo_async_fd_drop(&afd), 0);
	assert_int_equal(errno, EDOM);
	close(fd);
	leave(&entered);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_fiber_reads_what_another_thread_writes_to_the_end),
	cmocka_unit_test(a_timerfd_is_waited_for),
	cmocka_unit_test(pitfall_p49_a_blocking_descriptor_is_refused),
	cmocka_unit_test(a_plain_file_cannot_be_polled_blocking_or_not),
	cmocka_unit_test(misuse_that_can_be_seen_is_an_error),
	cmocka_unit_test(drop_is_legal_in_any_state_and_again),
	cmocka_unit_test(the_original_of_a_move_is_dead_and_harms_nothing),
	cmocka_unit_test(pitfall_p45_a_descriptor_closed_first_is_reported_by_its_drop),
	cmocka_unit_test(a_dropped_wait_lets_go_of_its_direction),
	cmocka_unit_test(pitfall_p42_only_what_was_registered_for_is_waited_for_and_reported),
	cmocka_unit_test(who_waits_for_a_dropped_descriptor_is_told),
	cmocka_unit_test(a_wait_that_is_always_ready_spends_the_budget),
	cmocka_unit_test(ready_results_spend_one_unit_each),
	cmocka_unit_test(another_runtime_s_descriptor_is_an_error),
	cmocka_unit_test(after_its_runtime_s_end_it_says_so),
	cmocka_unit_test(a_thread_that_entered_nothing_may_drop_it),
	cmocka_unit_test(every_failed_system_call_at_registering_is_told),
	cmocka_unit_test(errno_is_not_harmed),
};

EDO_TEST_MAIN(tests)
