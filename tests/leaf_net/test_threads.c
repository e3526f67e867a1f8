/*
 * Closes by several threads at once. A plain thread stands by and closes what it is given, round after
 * round; a race that goes wrong does so in some rounds only.
 */
#include "rig.h"
#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 1000, LONGEST_HEAD_START = 200 };

/* The two threads go from round to round by the counters; 0 as the stream to close: the end. */
struct closer {
	pthread_t thread;
	edo_tcp *stream;
	int begun, ended; /* atomic: rounds */
	int rc;
};

static void *close_each_round(void *arg)
{
	struct closer *closer = arg;

	for (int round = 1;; round++) {
		while (__atomic_load_n(&closer->begun, __ATOMIC_ACQUIRE) != round)
			sched_yield();
		if (!closer->stream)
			return NULL;
		closer->rc = edo_tcp_close(closer->stream);
		__atomic_store_n(&closer->ended, round, __ATOMIC_RELEASE);
	}
}

static void closer_start(struct closer *closer)
{
	*closer = (struct closer){ .stream = NULL };
	assert_int_equal(pthread_create(&closer->thread, NULL, close_each_round, closer), 0);
}

static void closer_begin(struct closer *closer, edo_tcp *stream)
{
	closer->stream = stream;
	__atomic_store_n(&closer->begun, closer->begun + 1, __ATOMIC_RELEASE);
}

static int closer_end(struct closer *closer)
{
	while (__atomic_load_n(&closer->ended, __ATOMIC_ACQUIRE) != closer->begun)
		sched_yield();
	return closer->rc;
}

static void closer_stop(struct closer *closer)
{
	closer_begin(closer, NULL);
	assert_int_equal(pthread_join(closer->thread, NULL), 0);
}

/* So that the two closes meet at a different place in each round. */
static void wait_a_little(int round)
{
	for (volatile int i = 0; i < round % LONGEST_HEAD_START; i++)
		continue;
}

/* Both could be told 0; then the second one had closed the socket under the other half. */
static void a_half_closed_twice_at_once_leaves_the_other_half_open(void **state)
{
	struct closer closer;

	(void)state;
	closer_start(&closer);
	for (int round = 0; round < ROUNDS; round++) {
		edo_tcp whole, reader, writer;
		int peer, rc;

		rig_pair(&whole, &peer);
		assert_int_equal(edo_tcp_split(&whole, &reader, &writer), 0);
		closer_begin(&closer, &reader);
		wait_a_little(round);
		rc = edo_tcp_close(&reader);
		assert_int_equal(rc + closer_end(&closer), -EBADF); /* one of the two */
		assert_int_equal(edo_tcp_write_all(&writer, "x", 1), 0);
		rig_reset(peer);
		assert_int_equal(edo_tcp_close(&writer), 0);
	}
	closer_stop(&closer);
}

static void two_halves_closed_at_once_close_the_socket_once(void **state)
{
	struct closer closer;

	(void)state;
	closer_start(&closer);
	for (int round = 0; round < ROUNDS; round++) {
		edo_tcp whole, reader, writer;
		char byte;
		int peer;

		rig_pair(&whole, &peer);
		assert_int_equal(edo_tcp_split(&whole, &reader, &writer), 0);
		closer_begin(&closer, &writer);
		wait_a_little(round);
		assert_int_equal(edo_tcp_close(&reader), 0);
		assert_int_equal(closer_end(&closer), 0);
		assert_int_equal(recv(peer, &byte, 1, 0), 0);
		rig_reset(peer);
	}
	closer_stop(&closer);
}

static const struct CMUnitTest tests[] = {
	rig_test(a_half_closed_twice_at_once_leaves_the_other_half_open),
	rig_test(two_halves_closed_at_once_close_the_socket_once),
};

EDO_TEST_MAIN(tests)
