/* The reactor's turn: what it waits for, how long, and what ends the wait. Counts system calls. */
#include "base/atomic.h"
#include "base/sys.h"
#include "driver_io/rig.h"
#include "support/allocations.h"
#include "support/runner.h"
#include "support/sys_fault.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { MS = 1000000 };

static uint64_t now(void)
{
	return edo_sys_clock_now(EDO_SYS_MONOTONIC);
}

static void many_wake_ups_before_a_turn_are_one_write(void **state)
{
	struct edo_io_driver io;
	uint64_t writes;

	(void)state;
	rig_make(&io, 16);
	writes = edo_sys_calls_of(EDO_CALL_eventfd_signal);
	for (int i = 0; i < 1000; i++)
		edo_io_unpark(&io);
	assert_int_equal(edo_sys_calls_of(EDO_CALL_eventfd_signal) - writes, 1);

	assert_int_equal(edo_io_turn(&io, UINT64_MAX), 1); /* does not sleep */
	assert_int_equal(edo_io_turn(&io, 0), 0);          /* and only once */

	edo_io_unpark(&io);
	assert_int_equal(edo_sys_calls_of(EDO_CALL_eventfd_signal) - writes, 2);
	assert_int_equal(edo_io_turn(&io, UINT64_MAX), 1);
	rig_end(&io);
}

static void a_turn_is_one_system_call_and_no_allocation(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	uint64_t calls, allocations;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_PENDING);
	(void)edo_io_turn(&io, 1); /* now it knows whether the kernel waits in ns */
	write_byte(fds[1]);
	calls = edo_sys_calls_made();
	allocations = edo_test_allocations_made();

	assert_int_equal(edo_io_turn(&io, MS), 1);

	assert_int_equal(edo_sys_calls_made() - calls, 1);
	assert_true(edo_test_allocations_made() == allocations);
	assert_int_equal(wakes_of(&reader.counter[EDO_READING]), 1);
	assert_int_equal(unwatch(&reader), 0);
	close_pair(fds);
	rig_end(&io);
}

static void more_events_than_fit_come_in_the_next_turn(void **state)
{
	enum { MANY = 100, A_TURN = 8 };
	struct edo_io_driver io;
	static struct watched watched[MANY];
	int fds[MANY];
	unsigned seen = 0, n;

	(void)state;
	rig_make(&io, A_TURN);
	for (int i = 0; i < MANY; i++) {
		fds[i] = make_eventfd();
		watch(&io, fds[i], &watched[i]);
		assert_int_equal(poll_once(&watched[i], EDO_WRITING), EDO_PENDING);
	}

	while ((n = edo_io_turn(&io, 0)) > 0) {
		assert_true(n <= A_TURN);
		seen += n;
	}

	assert_int_equal(seen, MANY);
	assert_int_equal(edo_load(&io.events, relaxed), MANY);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(wakes_of(&watched[i].counter[EDO_WRITING]), 1);
		assert_int_equal(unwatch(&watched[i]), 0);
		close(fds[i]);
	}
	rig_end(&io);
}

/* Three batches of wakers in one turn, each waker in the order of the events. */
static uint32_t order_of_wakes;

static void note_order(void *data)
{
	edo_lock_assert_none();
	*(uint32_t *)data = ++order_of_wakes;
}

static edo_waker ordered_waker(void *data);
static void drop_nothing(void *data)
{
	(void)data;
}
static const edo_waker_ops ordered_ops = { ordered_waker, note_order, note_order, drop_nothing };
static edo_waker ordered_waker(void *data)
{
	return (edo_waker){ data, &ordered_ops };
}

static void wakes_come_in_the_order_of_the_events(void **state)
{
	enum { MANY = 80 };
	struct edo_io_driver io;
	static struct watched watched[MANY];
	static int pipes[MANY][2];
	static uint32_t order[MANY];

	(void)state;
	order_of_wakes = 0;
	rig_make(&io, 2 * MANY);
	for (int i = 0; i < MANY; i++) {
		edo_waker waker = ordered_waker(&order[i]);
		edo_context cx;

		make_pipe(pipes[i]);
		watch(&io, pipes[i][0], &watched[i]);
		edo_context_init(&cx, &waker);
		assert_int_equal(edo_io_poll_ready(watched[i].sio,
						   watched[i].registration.generation, EDO_READING,
						   &watched[i].claimed[EDO_READING], &cx,
						   &watched[i].ready[EDO_READING]),
				 EDO_PENDING);
	}
	for (int i = 0; i < MANY; i++)
		write_byte(pipes[i][1]);

	assert_int_equal(edo_io_turn(&io, 0), MANY);

	for (int i = 0; i < MANY; i++) {
		assert_int_equal(order[i], i + 1);
		assert_int_equal(unwatch(&watched[i]), 0);
		close_pair(pipes[i]);
	}
	rig_end(&io);
}

static void *unpark_later(void *data)
{
	struct edo_io_driver *io = data;

	while (!edo_load(&io->is_waiting, acquire))
		sched_yield();
	edo_io_unpark(io);
	return NULL;
}

static void an_unpark_from_another_thread_ends_a_wait_without_end(void **state)
{
	struct edo_io_driver io;
	pthread_t thread;

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(pthread_create(&thread, NULL, unpark_later, &io), 0);
	assert_int_equal(edo_io_turn(&io, UINT64_MAX), 1);
	pthread_join(thread, NULL);
	rig_end(&io);
}

/* In ms it would overflow an int, and be waited for for ever or not at all. */
static void pitfall_p26_a_wait_of_months_is_a_wait(void **state)
{
	struct edo_io_driver io;
	pthread_t thread;

	(void)state;
	for (int with_ns = 0; with_ns < 2; with_ns++) {
		rig_make(&io, 16);
		io.poller.has_ns_waits = with_ns;
		assert_int_equal(pthread_create(&thread, NULL, unpark_later, &io), 0);
		assert_int_equal(edo_io_turn(&io, UINT64_MAX - 1), 1);
		pthread_join(thread, NULL);
		rig_end(&io);
	}
}

static void pitfall_p27_a_wait_below_a_millisecond_does_not_spin(void **state)
{
	struct edo_io_driver io;

	(void)state;
	rig_make(&io, 16);
	for (int with_ns = 0; with_ns < 2; with_ns++) {
		uint64_t before;

		io.poller.has_ns_waits = with_ns;
		before = now();
		assert_int_equal(edo_io_turn(&io, MS / 5), 0);
		assert_true(now() - before >= MS / 5);
	}
	rig_end(&io);
}

static void a_kernel_without_waits_in_ns_is_asked_once(void **state)
{
	static const int refusals[] = { ENOSYS, EPERM };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct edo_io_driver io;
		uint64_t in_ns, in_ms, before;

		rig_make(&io, 16);
		in_ns = edo_sys_calls_of(EDO_CALL_epoll_wait_ns);
		in_ms = edo_sys_calls_of(EDO_CALL_epoll_wait_ms);
		edo_sys_fault_order(EDO_CALL_epoll_wait_ns, refusals[i], 0, 1);
		before = now();

		assert_int_equal(edo_io_turn(&io, 3 * MS / 2), 0);
		assert_true(now() - before >= 3 * MS / 2); /* rounded up */
		assert_int_equal(edo_io_turn(&io, MS), 0);

		assert_int_equal(edo_sys_calls_of(EDO_CALL_epoll_wait_ns) - in_ns, 1);
		assert_int_equal(edo_sys_calls_of(EDO_CALL_epoll_wait_ms) - in_ms, 2);
		edo_sys_fault_clear();
		rig_end(&io);
	}
}

static void pitfall_p50_an_interrupted_wait_is_no_error(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_PENDING);
	write_byte(fds[1]);
	edo_sys_fault_order(EDO_CALL_epoll_wait_ms, EINTR, 0, 1);
	edo_sys_fault_order(EDO_CALL_epoll_wait_ns, EINTR, 0, 1);

	assert_int_equal(edo_poller_wait(&io.poller, UINT64_MAX), 0);
	assert_int_equal(edo_poller_wait(&io.poller, MS), 0);
	edo_sys_fault_clear();
	settle(&io);

	assert_int_equal(wakes_of(&reader.counter[EDO_READING]), 1);
	assert_int_equal(unwatch(&reader), 0);
	close_pair(fds);
	rig_end(&io);
}

/* Otherwise all later wake-ups would rely on one that was never written. */
static void a_wake_up_that_failed_does_not_swallow_the_next(void **state)
{
	struct edo_io_driver io;

	(void)state;
	rig_make(&io, 16);
	edo_sys_fault_order(EDO_CALL_eventfd_signal, EIO, 0, 1);
	edo_io_unpark(&io);
	assert_int_equal(edo_io_turn(&io, 0), 0);
	edo_sys_fault_clear();

	edo_io_unpark(&io);

	assert_int_equal(edo_io_turn(&io, UINT64_MAX), 1);
	rig_end(&io);
}

static int make_and_register(int fd)
{
	struct edo_io_driver io;
	struct edo_registration registration;
	int rc = edo_io_init(&io, 1, 16, &rig_allocator);

	if (rc < 0)
		return rc;
	rc = edo_io_register(&io, fd, 0, &registration);
	if (rc == 0)
		rc = edo_io_deregister(&io, registration.index, registration.generation);
	assert_int_equal(edo_load(&io.slab.live, relaxed), 0);
	rig_end(&io);
	return rc;
}

static void every_failed_system_call_is_told_and_leaves_nothing(void **state)
{
	int fd = make_eventfd();
	unsigned failures = 0;

	(void)state;
	for (uint64_t n = 0;; n++) {
		int rc;

		edo_sys_fault_sweep(n);
		rc = make_and_register(fd);
		if (!edo_sys_fault_happened())
			break;
		assert_true(rc < 0);
		failures++;
	}
	edo_sys_fault_clear();
	assert_true(failures >= 4); /* epoll, eventfd, its addition, the descriptor's */
	close(fd);
}

static void a_removal_that_the_kernel_refuses_is_reported_and_done(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_PENDING);
	edo_sys_fault_order(EDO_CALL_epoll_ctl, ENOENT, 0, 1);

	assert_int_equal(unwatch(&reader), -ENOENT);

	edo_sys_fault_clear();
	assert_int_equal(wakes_of(&reader.counter[EDO_READING]), 1);
	assert_int_equal(poll_once(&reader, EDO_READING), -EBADF);
	close_pair(fds);
	rig_end(&io);
}

struct sleeper {
	struct edo_io_driver *io;
	uint32_t turns;
};

static void *turn_once(void *data)
{
	struct sleeper *sleeper = data;

	(void)edo_io_turn(sleeper->io, UINT64_MAX);
	edo_store(&sleeper->turns, 1, release);
	return NULL;
}

/* Slots that only the holder can release: after a batch of them it is woken for that. */
static void a_sleeping_holder_is_woken_for_a_batch_of_retired_slots(void **state)
{
	enum { BATCH = EDO_SLAB_PENDING_MAX + 1 };
	struct edo_io_driver io;
	struct sleeper sleeper = { &io, 0 };
	struct edo_registration registrations[BATCH];
	int fds[BATCH][2];
	pthread_t thread;

	(void)state;
	rig_make(&io, 64);
	for (int i = 0; i < BATCH; i++) {
		make_pipe(fds[i]);
		assert_int_equal(edo_io_register(&io, fds[i][0], 0, &registrations[i]), 0);
	}
	assert_int_equal(pthread_create(&thread, NULL, turn_once, &sleeper), 0);
	while (!edo_load(&io.is_waiting, acquire))
		sched_yield();

	for (int i = 0; i < BATCH; i++) {
		assert_int_equal(edo_load(&sleeper.turns, acquire), 0);
		assert_int_equal(edo_io_deregister(&io, registrations[i].index,
						   registrations[i].generation),
				 0);
	}

	pthread_join(thread, NULL); /* or the runner's limit says that it sleeps for ever */
	settle(&io);
	assert_int_equal(edo_load(&io.slab.pending_count, relaxed), 0);
	for (int i = 0; i < BATCH; i++)
		close_pair(fds[i]);
	rig_end(&io);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(many_wake_ups_before_a_turn_are_one_write),
	cmocka_unit_test(a_turn_is_one_system_call_and_no_allocation),
	cmocka_unit_test(more_events_than_fit_come_in_the_next_turn),
	cmocka_unit_test(wakes_come_in_the_order_of_the_events),
	cmocka_unit_test(an_unpark_from_another_thread_ends_a_wait_without_end),
	cmocka_unit_test(pitfall_p26_a_wait_of_months_is_a_wait),
	cmocka_unit_test(pitfall_p27_a_wait_below_a_millisecond_does_not_spin),
	cmocka_unit_test(a_kernel_without_waits_in_ns_is_asked_once),
	cmocka_unit_test(pitfall_p50_an_interrupted_wait_is_no_error),
	cmocka_unit_test(a_wake_up_that_failed_does_not_swallow_the_next),
	cmocka_unit_test(every_failed_system_call_is_told_and_leaves_nothing),
	cmocka_unit_test(a_removal_that_the_kernel_refuses_is_reported_and_done),
	cmocka_unit_test(a_sleeping_holder_is_woken_for_a_batch_of_retired_slots),
};

EDO_TEST_MAIN(tests)
