/* Connections and bytes on the losing side of a select: what lost is whole, and waits for the next one. */
#include "rig.h"

/* Ready at once, so that whatever stands beside it loses. */
static edo_future *sure_winner(edo_timer *timer)
{
	edo_timer_init(timer, 0);
	return &timer->future;
}

static void an_accept_that_lost_leaves_the_connection_in_its_queue(void **state)
{
	edo_tcp_accept_future accept;
	edo_tcp_listener listener;
	edo_timer winner;
	edo_tcp stream;
	edo_addr addr;

	(void)state;
	rig_listen(&listener, &addr);
	for (int i = 0; i < 10; i++) {
		edo_future *next[] = { sure_winner(&winner), NULL };
		int peer;

		next[1] = edo_tcp_accept_start(&accept, &listener, &stream, NULL);
		assert_int_equal(edo_select_in_order(next, 2), 0);
		next[0] = edo_tcp_accept_start(&accept, &listener, &stream, NULL);
		next[1] = sure_winner(&winner); /* the accept is polled, and there is nobody */
		assert_int_equal(edo_select_in_order(next, 2), 1);
		peer = rig_dial(&addr);
		next[1] = edo_tcp_accept_start(&accept, &listener, &stream, NULL);
		next[0] = sure_winner(&winner);
		assert_int_equal(edo_select_in_order(next, 2), 0); /* now there is somebody */
		next[0] = edo_tcp_accept_start(&accept, &listener, &stream, NULL);
		assert_int_equal(edo_select(next, 1), 0);
		assert_int_equal(accept.result, 0);
		assert_int_equal(edo_tcp_close(&stream), 0);
		close(peer);
	}
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* Program 11's loop, told to stop by the other branch. */
static void a_server_accepts_until_it_is_told_to_stop(void **state)
{
	edo_tcp_listener listener;
	unsigned accepted = 0;
	edo_timer stop;
	edo_addr addr;
	int peers[5];

	(void)state;
	rig_listen(&listener, &addr);
	for (int i = 0; i < 5; i++)
		peers[i] = rig_dial(&addr);
	edo_timer_init(&stop,
		       edo_now() + EDO_SEC(1)); /* the clock stands: not before all is quiet */
	for (;;) {
		edo_tcp_accept_future accept;
		edo_tcp conn;
		edo_future *next[] = { edo_tcp_accept_start(&accept, &listener, &conn, NULL),
				       &stop.future };

		if (edo_select(next, 2) != 0 || accept.result < 0)
			break;
		accepted++;
		assert_int_equal(edo_tcp_close(&conn), 0);
	}
	assert_true(edo_timer_has_fired(&stop));
	assert_int_equal(accepted, 5);
	for (int i = 0; i < 5; i++)
		close(peers[i]);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void a_read_that_lost_loses_no_byte(void **state)
{
	enum { BYTES = 10000 };
	unsigned char sent[BYTES], received[BYTES];
	unsigned lost = 0;
	size_t done = 0;
	edo_tcp stream;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_fill(sent, sizeof sent);
	rig_send(peer, sent, sizeof sent);
	while (done < BYTES) {
		edo_tcp_io read;
		edo_timer other;
		size_t left = BYTES - done;
		edo_future *either[] = {
			edo_tcp_read_start(&read, &stream, received + done, left < 7 ? left : 7),
			sure_winner(&other),
		};

		if (edo_select(either, 2) == 0) {
			assert_true(read.result > 0);
			done += (size_t)read.result;
		} else {
			lost++;
			rig_turn(); /* a thread whose waits are over at once looks at no event */
		}
	}
	assert_memory_equal(sent, received, BYTES);
	assert_true(lost > 0);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_second_accept_is_busy_and_wins(void **state)
{
	edo_tcp_accept_future first, second;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	int peer;

	(void)state;
	rig_listen(&listener, &addr);
	for (int i = 0; i < 10; i++) {
		edo_future *both[] = {
			edo_tcp_accept_start(&first, &listener, &stream, NULL),
			edo_tcp_accept_start(&second, &listener, &stream, NULL),
		};
		int which = edo_select(both, 2);

		assert_in_range(which, 0, 1);
		assert_int_equal((which == 0 ? first : second).result, -EBUSY);
	}
	peer = rig_dial(&addr); /* neither has kept the place */
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
	close(peer);
}

static const struct CMUnitTest tests[] = {
	rig_test(an_accept_that_lost_leaves_the_connection_in_its_queue),
	rig_test_paused(a_server_accepts_until_it_is_told_to_stop),
	rig_test(a_read_that_lost_loses_no_byte),
	rig_test(a_second_accept_is_busy_and_wins),
};

EDO_TEST_MAIN(tests)
