/*
 * Threads against each other on one driver: bounded hammering, meant for ThreadSanitizer, and right
 * without it. Assertions of cmocka only on the test's own thread.
 */
#include "base/atomic.h"
#include "driver_io/rig.h"
#include "support/runner.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

static unsigned scaled(unsigned n)
{
	return n / edo_test_slowdown() + 1;
}

/* A thread that holds the driver and turns it until told to stop. */
struct holder {
	struct edo_io_driver io;
	uint32_t is_over;
	pthread_t thread;
};

static void *turn_until_over(void *data)
{
	struct holder *holder = data;

	while (!edo_load(&holder->is_over, acquire))
		(void)edo_io_turn(&holder->io, UINT64_MAX);
	return NULL;
}

static void start(struct holder *holder)
{
	holder->is_over = 0;
	rig_make(&holder->io, 16);
	assert_int_equal(pthread_create(&holder->thread, NULL, turn_until_over, holder), 0);
}

static void stop(struct holder *holder)
{
	edo_store(&holder->is_over, 1, release);
	edo_io_unpark(&holder->io);
	pthread_join(holder->thread, NULL);
	rig_end(&holder->io);
}

/* A waker that a thread can sleep on: yields until it was woken since the last look. */
static void await_wake(struct counter *counter, uint32_t *seen)
{
	while (edo_load(&counter->wakes, acquire) == *seen)
		sched_yield();
	*seen = edo_load(&counter->wakes, acquire);
}

struct transfer {
	struct watched watched;
	unsigned bytes;
	unsigned failures;
	int from, to;
};

static void *write_bytes(void *data)
{
	struct transfer *transfer = data;

	for (unsigned i = 0; i < transfer->bytes; i++) {
		while (write(transfer->to, "x", 1) != 1)
			sched_yield();
		if (i % 7 == 0)
			sched_yield();
	}
	return NULL;
}

/* Reads as a leaf does: poll, read to EAGAIN, clear, poll. A lost wake hangs, and the runner tells. */
static void *read_bytes(void *data)
{
	struct transfer *transfer = data;
	struct counter *counter = &transfer->watched.counter[EDO_READING];
	uint32_t seen = 0;
	unsigned got = 0;

	while (got < transfer->bytes) {
		char byte;
		edo_poll polled = poll_once(&transfer->watched, EDO_READING);

		if (polled == EDO_PENDING) {
			await_wake(counter, &seen);
		} else if (polled != EDO_READY) {
			transfer->failures++;
			break;
		} else if (read(transfer->from, &byte, 1) == 1) {
			got++;
		} else {
			clear_seen(&transfer->watched, EDO_READING);
		}
	}
	return NULL;
}

static void no_wake_is_lost_between_a_clear_and_an_event(void **state)
{
	struct holder holder;
	struct transfer transfer = { .bytes = scaled(100000) };
	pthread_t writer, reader;
	int fds[2];

	(void)state;
	start(&holder);
	make_pipe(fds);
	transfer.from = fds[0];
	transfer.to = fds[1];
	watch(&holder.io, fds[0], &transfer.watched);
	assert_int_equal(pthread_create(&reader, NULL, read_bytes, &transfer), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_bytes, &transfer), 0);

	pthread_join(writer, NULL);
	pthread_join(reader, NULL);

	assert_int_equal(transfer.failures, 0);
	assert_int_equal(unwatch(&transfer.watched), 0);
	close_pair(fds);
	stop(&holder);
}

struct churn {
	struct edo_io_driver *io;
	unsigned rounds;
	unsigned failures;
};

/* Registers, polls, writes to itself, and ends the registration, with the waker inside or not. */
static void churn_once(struct churn *churn, unsigned round)
{
	struct watched watched;
	int fds[2];

	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0) {
		churn->failures++;
		return;
	}
	memset(&watched, 0, sizeof watched);
	watched.io = churn->io;
	if (edo_io_register(churn->io, fds[0], 0, &watched.registration) < 0)
		churn->failures++;
	watched.sio =
		edo_io_find(churn->io, watched.registration.index, watched.registration.generation);
	if (poll_once(&watched, EDO_READING) != EDO_PENDING)
		churn->failures++; /* somebody else's event */
	if (round % 2)
		(void)!write(fds[1], "x", 1);
	if (round % 3 == 0)
		unclaim(&watched, EDO_READING);
	if (edo_io_deregister(churn->io, watched.registration.index,
			      watched.registration.generation) != 0)
		churn->failures++;
	close(fds[0]);
	close(fds[1]);
	/* The holder may be about to wake the waker it took before the end. */
	while (edo_load(&watched.counter[EDO_READING].wakers, acquire) != 0)
		sched_yield();
}

static void *churn(void *data)
{
	struct churn *churn = data;

	for (unsigned i = 0; i < churn->rounds; i++)
		churn_once(churn, i);
	return NULL;
}

static void registrations_come_and_go_in_threads_while_the_holder_turns(void **state)
{
	enum { THREADS = 3 };
	struct holder holder;
	struct churn churns[THREADS];
	pthread_t threads[THREADS];

	(void)state;
	start(&holder);
	for (int i = 0; i < THREADS; i++) {
		churns[i] = (struct churn){ &holder.io, scaled(5000), 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, churn, &churns[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(churns[i].failures, 0);
	assert_int_equal(edo_load(&holder.io.slab.live, relaxed), 0);
	stop(&holder);
}

struct closer {
	struct edo_io_driver *io;
	struct watched *watched;
	uint32_t *go;
	int rc;
};

static void *close_when_told(void *data)
{
	struct closer *closer = data;

	while (!edo_load(closer->go, acquire))
		;
	closer->rc = edo_io_deregister(closer->io, closer->watched->registration.index,
				       closer->watched->registration.generation);
	return NULL;
}

static void of_two_closing_threads_one_succeeds_and_the_waiter_is_told(void **state)
{
	struct edo_io_driver io;

	(void)state;
	rig_make(&io, 16);
	for (unsigned i = 0; i < scaled(500); i++) {
		struct watched watched;
		uint32_t go = 0;
		struct closer closers[2] = { { &io, &watched, &go, 1 }, { &io, &watched, &go, 1 } };
		pthread_t threads[2];
		int fd = make_eventfd();

		watch(&io, fd, &watched);
		assert_int_equal(poll_once(&watched, EDO_READING), EDO_PENDING);
		for (int t = 0; t < 2; t++)
			assert_int_equal(pthread_create(&threads[t], NULL, close_when_told,
							&closers[t]),
					 0);
		edo_store(&go, 1, release);
		for (int t = 0; t < 2; t++)
			pthread_join(threads[t], NULL);

		assert_int_equal(closers[0].rc + closers[1].rc, -EBADF);
		assert_int_equal(wakes_of(&watched.counter[EDO_READING]), 1);
		assert_int_equal(poll_once(&watched, EDO_READING), -EBADF);
		assert_int_equal(watched.counter[EDO_READING].wakers, 0);
		close(fd);
		(void)edo_io_turn(&io, 0);
	}
	rig_end(&io);
}

/*
 * A close waits for the call under way: the number is not somebody else's while the call may still use
 * it. The caller checks that by a flag which the closer raises after its close.
 */
struct calls {
	struct edo_io_driver *io;
	struct watched watched;
	uint32_t is_closed;
	unsigned torn;
	unsigned made;
};

static void *make_calls(void *data)
{
	struct calls *calls = data;
	uint32_t generation = calls->watched.registration.generation;

	while (edo_io_call_begin(calls->watched.sio, generation, EDO_READING) == 0) {
		sched_yield();
		if (edo_load(&calls->is_closed, acquire))
			calls->torn++;
		calls->made++;
		edo_io_call_end(calls->watched.sio, EDO_READING);
	}
	return NULL;
}

static void a_close_waits_for_the_call_under_way(void **state)
{
	struct edo_io_driver io;

	(void)state;
	rig_make(&io, 16);
	for (unsigned i = 0; i < scaled(1000); i++) {
		struct calls calls = { .io = &io };
		pthread_t thread;
		int fd = make_eventfd();

		watch(&io, fd, &calls.watched);
		assert_int_equal(pthread_create(&thread, NULL, make_calls, &calls), 0);
		for (unsigned n = 0; n < i % 10; n++)
			sched_yield();

		assert_int_equal(unwatch(&calls.watched), 0);
		edo_store(&calls.is_closed, 1, release);
		close(fd);
		pthread_join(thread, NULL);

		assert_int_equal(calls.torn, 0);
		(void)edo_io_turn(&io, 0);
	}
	rig_end(&io);
}

struct unparker {
	struct holder *holder;
	uint32_t *work; /* what the holder must see after each unpark */
	unsigned rounds;
};

static void *unpark_often(void *data)
{
	struct unparker *unparker = data;

	for (unsigned i = 0; i < unparker->rounds; i++) {
		(void)edo_fetch_add(unparker->work, 1, relaxed);
		edo_io_unpark(&unparker->holder->io);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

/* p51. Each unpark ends a wait that began before it: none may be swallowed by another one's flag. */
static void pitfall_p51_no_unpark_is_lost_among_many(void **state)
{
	enum { THREADS = 3 };
	struct holder holder;
	struct unparker unparkers[THREADS];
	pthread_t threads[THREADS];
	uint32_t work = 0, total = THREADS * scaled(20000);

	(void)state;
	rig_make(&holder.io, 16);
	for (int i = 0; i < THREADS; i++) {
		unparkers[i] = (struct unparker){ &holder, &work, scaled(20000) };
		assert_int_equal(pthread_create(&threads[i], NULL, unpark_often, &unparkers[i]), 0);
	}
	while (edo_load(&work, relaxed) < total)
		assert_true(edo_io_turn(&holder.io, UINT64_MAX) > 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	settle(&holder.io);
	assert_false(edo_load(&holder.io.is_woken, relaxed));
	rig_end(&holder.io);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(no_wake_is_lost_between_a_clear_and_an_event),
	cmocka_unit_test(registrations_come_and_go_in_threads_while_the_holder_turns),
	cmocka_unit_test(of_two_closing_threads_one_succeeds_and_the_waiter_is_told),
	cmocka_unit_test(a_close_waits_for_the_call_under_way),
	cmocka_unit_test(pitfall_p51_no_unpark_is_lost_among_many),
};

EDO_TEST_MAIN(tests)
