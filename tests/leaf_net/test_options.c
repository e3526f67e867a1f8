/* Options of a stream: what is set is what the system says. */
#include "rig.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static int option(edo_tcp *stream, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof value;

	assert_return_code(getsockopt(edo_tcp_fd(stream), level, name, &value, &len), errno);
	return value;
}

static void nodelay_goes_there_and_back(void **state)
{
	edo_tcp stream;
	bool on = false;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_nodelay(&stream, true), 0);
	assert_int_equal(edo_tcp_get_nodelay(&stream, &on), 0);
	assert_true(on);
	assert_int_equal(option(&stream, IPPROTO_TCP, TCP_NODELAY), 1);
	assert_int_equal(edo_tcp_set_nodelay(&stream, false), 0);
	assert_int_equal(edo_tcp_get_nodelay(&stream, &on), 0);
	assert_false(on);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void keepalive_is_rounded_up_and_zeros_leave_what_is(void **state)
{
	edo_tcp stream;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_keepalive(&stream, EDO_MS(1500), EDO_NS(1), 7), 0);
	assert_int_equal(option(&stream, SOL_SOCKET, SO_KEEPALIVE), 1);
	assert_int_equal(option(&stream, IPPROTO_TCP, TCP_KEEPIDLE), 2);
	assert_int_equal(option(&stream, IPPROTO_TCP, TCP_KEEPINTVL), 1);
	assert_int_equal(option(&stream, IPPROTO_TCP, TCP_KEEPCNT), 7);
	assert_int_equal(edo_tcp_set_keepalive(&stream, EDO_SEC(9), 0, 0), 0);
	assert_int_equal(option(&stream, IPPROTO_TCP, TCP_KEEPIDLE), 9);
	assert_int_equal(option(&stream, IPPROTO_TCP, TCP_KEEPINTVL), 1);
	assert_int_equal(option(&stream, IPPROTO_TCP, TCP_KEEPCNT), 7);
	assert_int_equal(edo_tcp_set_keepalive(&stream, 0, 0, 0), 0);
	assert_int_equal(option(&stream, SOL_SOCKET, SO_KEEPALIVE), 0);
	assert_int_equal(edo_tcp_set_keepalive(&stream, EDO_SEC(1), 0, -1), -EINVAL);
	assert_int_equal(edo_tcp_set_keepalive(&stream, EDO_FOREVER, 0, 0), -EINVAL);
	assert_int_equal(option(&stream, SOL_SOCKET, SO_KEEPALIVE), 0);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void buffers_go_there_and_back(void **state)
{
	edo_tcp stream;
	int peer, send, receive, send_before, receive_before;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_get_buffers(&stream, &send_before, &receive_before), 0);
	assert_int_equal(edo_tcp_set_buffers(&stream, 0, 0), 0);
	assert_int_equal(edo_tcp_get_buffers(&stream, &send, &receive), 0);
	assert_int_equal(send, send_before);
	assert_int_equal(receive, receive_before);
	assert_int_equal(edo_tcp_set_buffers(&stream, 20000, 30000), 0);
	assert_int_equal(edo_tcp_get_buffers(&stream, &send, &receive), 0);
	assert_int_equal(send, 40000);
	assert_int_equal(receive, 60000);
	assert_int_equal(edo_tcp_set_buffers(&stream, -1, 0), -EINVAL);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void accepted_streams_inherit_the_listener_s_buffers(void **state)
{
	edo_listen_options options = EDO_LISTEN_INIT;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	int send, receive, fd;

	(void)state;
	options.send_buffer = 20000;
	options.receive_buffer = 30000;
	assert_int_equal(edo_addr_parse(&addr, "127.0.0.1:0"), 0);
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, &options), 0);
	assert_int_equal(edo_tcp_listener_addr(&listener, &addr), 0);
	fd = rig_dial(&addr);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);
	assert_int_equal(edo_tcp_get_buffers(&stream, &send, &receive), 0);
	assert_int_equal(send, 40000);
	assert_int_equal(receive, 60000);
	close(fd);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void the_system_s_refusals_come_through(void **state)
{
	edo_tcp stream;
	edo_addr addr;
	bool on;
	int peer, send, receive;

	(void)state;
	rig_pair(&stream, &peer);
	edo_sys_fault_order(EDO_CALL_setsockopt, ENOBUFS, 0, 4);
	assert_int_equal(edo_tcp_set_nodelay(&stream, true), -ENOBUFS);
	assert_int_equal(edo_tcp_set_keepalive(&stream, EDO_SEC(1), 0, 0), -ENOBUFS);
	assert_int_equal(edo_tcp_set_buffers(&stream, 1, 1), -ENOBUFS);
	assert_int_equal(edo_tcp_set_reset_on_close(&stream, true), -ENOBUFS);
	edo_sys_fault_order(EDO_CALL_getsockopt, ENOBUFS, 0, 2);
	assert_int_equal(edo_tcp_get_nodelay(&stream, &on), -ENOBUFS);
	assert_int_equal(edo_tcp_get_buffers(&stream, &send, &receive), -ENOBUFS);
	edo_sys_fault_order(EDO_CALL_getpeername, ENOTCONN, 0, 1);
	assert_int_equal(edo_tcp_peer_addr(&stream, &addr), -ENOTCONN);
	edo_sys_fault_order(EDO_CALL_shutdown, ENOTCONN, 0, 1);
	assert_int_equal(edo_tcp_shutdown(&stream, EDO_SHUT_WR), -ENOTCONN);
	edo_sys_fault_clear();
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static const struct CMUnitTest tests[] = {
	rig_test(nodelay_goes_there_and_back),
	rig_test(keepalive_is_rounded_up_and_zeros_leave_what_is),
	rig_test(buffers_go_there_and_back),
	rig_test(accepted_streams_inherit_the_listener_s_buffers),
	rig_test(the_system_s_refusals_come_through),
};

EDO_TEST_MAIN(tests)
