/* Making connections: outcomes, and attempts that are given up. */
#include "rig.h"
#include <sys/socket.h>

static void a_connection_carries_bytes_both_ways(void **state)
{
	edo_tcp_listener listener;
	edo_tcp client, server;
	edo_addr addr, local, peer;
	char text[EDO_ADDR_TEXT_MAX];
	char buf[16];

	(void)state;
	rig_listen(&listener, &addr);
	assert_true(edo_addr_format(&addr, text, sizeof text) > 0);
	assert_int_equal(edo_tcp_connect(&client, text), 0);
	assert_int_equal(edo_tcp_accept(&listener, &server, &peer), 0);

	assert_int_equal(edo_tcp_local_addr(&client, &local), 0);
	assert_int_equal(edo_addr_port(&local), edo_addr_port(&peer));
	assert_int_equal(edo_tcp_peer_addr(&client, &peer), 0);
	assert_int_equal(edo_addr_port(&peer), edo_addr_port(&addr));
	assert_int_equal(edo_tcp_write_all(&client, "there", 5), 0);
	assert_int_equal(edo_tcp_read(&server, buf, sizeof buf), 5);
	assert_memory_equal(buf, "there", 5);
	assert_int_equal(edo_tcp_write_all(&server, "back", 4), 0);
	assert_int_equal(edo_tcp_read(&client, buf, sizeof buf), 4);
	assert_memory_equal(buf, "back", 4);

	assert_int_equal(edo_tcp_close(&client), 0);
	assert_int_equal(edo_tcp_read(&server, buf, sizeof buf), 0);
	assert_int_equal(edo_tcp_close(&server), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* A port where nobody listens: one that was free a moment ago. */
static edo_addr closed_port(void)
{
	edo_tcp_listener listener;
	edo_addr addr;

	rig_listen(&listener, &addr);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
	return addr;
}

/* p52: the error that made the socket writable reaches the caller. */
static void pitfall_p52_a_refused_connection_says_so(void **state)
{
	edo_addr addr = closed_port();
	edo_tcp stream;

	(void)state;
	memset(&stream, 0, sizeof stream);
	assert_int_equal(edo_tcp_connect_addr(&stream, &addr), -ECONNREFUSED);
	assert_int_equal(edo_tcp_close(&stream), -EBADF);
}

static void addresses_that_are_none_are_refused(void **state)
{
	edo_tcp stream;
	edo_addr addr;

	(void)state;
	assert_int_equal(edo_tcp_connect(&stream, "example.org:80"), -EINVAL);
	assert_int_equal(edo_tcp_connect(&stream, "127.0.0.1:65536"), -EINVAL);
	memset(&addr, 0, sizeof addr);
	assert_int_equal(edo_tcp_connect_addr(&stream, &addr), -EINVAL);
	addr.sockaddr.any.sa_family = 12345;
	assert_int_equal(edo_tcp_connect_addr(&stream, &addr), -EINVAL);
	addr.sockaddr.any.sa_family = AF_UNIX; /* it would be no TCP stream */
	addr.len = sizeof addr.sockaddr;
	assert_int_equal(edo_tcp_connect_addr(&stream, &addr), -EINVAL);
	addr.sockaddr.any.sa_family = AF_INET;
	addr.len = 2;
	assert_int_equal(edo_tcp_connect_addr(&stream, &addr), -EINVAL);
}

/* A listener whose queue is full answers no more: an attempt stays under way as long as we like. */
struct full {
	int listener;
	int fillers[8];
	edo_addr addr;
};

static void make_full(struct full *full)
{
	full->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(edo_addr_parse(&full->addr, "127.0.0.1:0"), 0);
	assert_return_code(bind(full->listener, &full->addr.sockaddr.any, full->addr.len), errno);
	assert_return_code(listen(full->listener, 0), errno);
	assert_return_code(getsockname(full->listener, &full->addr.sockaddr.any, &full->addr.len),
			   errno);
	for (size_t i = 0; i < sizeof full->fillers / sizeof full->fillers[0]; i++) {
		full->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		(void)!connect(full->fillers[i], &full->addr.sockaddr.any, full->addr.len);
	}
}

static void close_full(struct full *full)
{
	for (size_t i = 0; i < sizeof full->fillers / sizeof full->fillers[0]; i++)
		close(full->fillers[i]);
	close(full->listener);
}

/* The runner counts descriptors: an attempt that is left behind is found. */
static void an_attempt_that_is_dropped_is_given_up(void **state)
{
	edo_tcp_connect_future connect;
	struct full full;
	edo_tcp stream;

	(void)state;
	make_full(&full);
	edo_tcp_connect_addr_start(&connect, &stream, &full.addr);
	assert_int_equal(rig_poll(&connect.future), EDO_PENDING);
	rig_turn();
	assert_int_equal(rig_poll(&connect.future), EDO_PENDING);
	edo_future_drop(&connect.future);
	edo_future_drop(&connect.future);
	edo_tcp_connect_addr_start(&connect, &stream, &full.addr);
	edo_future_drop(&connect.future); /* before the first poll */
	close_full(&full);
}

static void an_attempt_can_be_limited(void **state)
{
	edo_tcp_connect_future connect;
	struct full full;
	edo_tcp stream;

	(void)state;
	make_full(&full);
	edo_tcp_connect_addr_start(&connect, &stream, &full.addr);
	assert_int_equal(edo_timeout(EDO_SEC(5), &connect.future), -ETIMEDOUT);
	close_full(&full);
}

static void an_attempt_outlives_its_runtime_and_is_still_given_up(void **state)
{
	edo_tcp_connect_future connect;
	edo_runtime *other;
	edo_enter_guard guard;
	struct full full;
	edo_tcp stream;

	(void)state;
	make_full(&full);
	assert_int_equal(edo_runtime_create(&other, NULL), 0);
	assert_int_equal(edo_runtime_enter(other, &guard), 0);
	edo_tcp_connect_addr_start(&connect, &stream, &full.addr);
	assert_int_equal(rig_poll(&connect.future), EDO_PENDING);
	edo_runtime_leave(&guard);
	assert_int_equal(edo_runtime_destroy(other), 0);
	assert_int_equal(rig_poll(&connect.future), -ESHUTDOWN);
	edo_future_drop(&connect.future);
	close_full(&full);
}

/* p52: readiness is a hint. Woken without an outcome, the attempt waits on. */
static void pitfall_p52_readiness_before_the_outcome_is_not_the_outcome(void **state)
{
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	uint64_t calls;

	(void)state;
	rig_listen(&listener, &addr);
	edo_sys_fault_order(EDO_CALL_getpeername, ENOTCONN, 0, 1);
	calls = edo_sys_calls_of(EDO_CALL_getpeername);
	/* The socket is connected and no further event comes: only that it waits is looked at. */
	{
		edo_tcp_connect_future connect;

		edo_tcp_connect_addr_start(&connect, &stream, &addr);
		assert_int_equal(edo_timeout(EDO_SEC(1), &connect.future), -ETIMEDOUT);
	}
	assert_int_equal(edo_sys_calls_of(EDO_CALL_getpeername) - calls, 1);
	edo_sys_fault_clear();
	assert_int_equal(edo_tcp_connect_addr(&stream, &addr), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* S1: a look at the outcome that found none costs the attempt nothing. */
static void a_hint_that_was_wrong_gives_its_budget_back(void **state)
{
	edo_waker waker = { NULL, NULL };
	edo_tcp_connect_future connect;
	edo_tcp_listener listener;
	edo_context cx;
	edo_tcp stream;
	edo_addr addr;

	(void)state;
	rig_listen(&listener, &addr);
	edo_tcp_connect_addr_start(&connect, &stream, &addr);
	edo_sys_fault_order(EDO_CALL_getpeername, ENOTCONN, 0, 1);
	edo_context_init(&cx, &waker);
	for (int i = 1; i < 128; i++)
		assert_true(edo_coop_spend(&cx));
	do { /* until the attempt is answered, which may take the system a moment */
		assert_int_equal(edo_future_poll(&connect.future, &cx), EDO_PENDING);
		rig_turn();
	} while (!edo_sys_fault_happened());
	assert_true(edo_coop_spend(&cx));
	assert_false(edo_coop_spend(&cx));
	edo_future_drop(&connect.future);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void without_a_runtime_or_its_io_there_is_no_connection(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;
	edo_enter_guard guard;
	edo_tcp stream;

	(void)state;
	assert_int_equal(edo_tcp_connect(&stream, "127.0.0.1:1"), -EINVAL);
	config.disable_io = true;
	assert_int_equal(edo_runtime_create(&runtime, &config), 0);
	assert_int_equal(edo_runtime_enter(runtime, &guard), 0);
	assert_int_equal(edo_tcp_connect(&stream, "127.0.0.1:1"), -EOPNOTSUPP);
	edo_runtime_leave(&guard);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static const struct CMUnitTest tests[] = {
	rig_test(a_connection_carries_bytes_both_ways),
	rig_test(pitfall_p52_a_refused_connection_says_so),
	rig_test(addresses_that_are_none_are_refused),
	rig_test(an_attempt_that_is_dropped_is_given_up),
	rig_test_paused(an_attempt_can_be_limited),
	rig_test(an_attempt_outlives_its_runtime_and_is_still_given_up),
	rig_test_paused(pitfall_p52_readiness_before_the_outcome_is_not_the_outcome),
	rig_test(a_hint_that_was_wrong_gives_its_budget_back),
	cmocka_unit_test(without_a_runtime_or_its_io_there_is_no_connection),
};

EDO_TEST_MAIN(tests)
