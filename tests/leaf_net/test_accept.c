/* Listening and accepting: what goes well, what passes, and shortages that are waited out. */
#include "rig.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* ---- listening ---- */

static void a_listener_tells_the_port_it_was_given(void **state)
{
	edo_tcp_listener listener;
	edo_addr addr;

	(void)state;
	rig_listen(&listener, &addr);
	assert_true(edo_addr_port(&addr) > 0);
	assert_int_equal(addr.sockaddr.v4.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), -EBADF);
	assert_int_equal(edo_tcp_listener_addr(&listener, &addr), -EBADF);
}

static void a_port_in_use_is_told(void **state)
{
	edo_tcp_listener first, second;
	edo_addr addr;

	(void)state;
	rig_listen(&first, &addr);
	assert_int_equal(edo_tcp_listen_with(&second, &addr, NULL), -EADDRINUSE);
	assert_int_equal(edo_tcp_listener_close(&second), -EBADF);
	assert_int_equal(edo_tcp_listener_close(&first), 0);
	assert_int_equal(edo_tcp_listen_with(&second, &addr, NULL), 0);
	assert_int_equal(edo_tcp_listener_close(&second), 0);
}

/* Closed by us first, a connection leaves its port waiting (TIME_WAIT); a restart must not wait with it. */
static void a_port_with_old_connections_can_be_listened_at_again(void **state)
{
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	char byte;
	int fd;

	(void)state;
	rig_listen(&listener, &addr);
	fd = rig_dial(&addr);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, NULL), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void listeners_that_ask_for_it_share_a_port(void **state)
{
	edo_listen_options options = EDO_LISTEN_INIT;
	edo_tcp_listener first, second;
	edo_addr addr;

	(void)state;
	options.reuse_port = true;
	assert_int_equal(edo_addr_parse(&addr, "127.0.0.1:0"), 0);
	assert_int_equal(edo_tcp_listen_with(&first, &addr, &options), 0);
	assert_int_equal(edo_tcp_listener_addr(&first, &addr), 0);
	assert_int_equal(edo_tcp_listen_with(&second, &addr, &options), 0);
	assert_int_equal(edo_tcp_listener_close(&first), 0);
	assert_int_equal(edo_tcp_listener_close(&second), 0);
}

static void options_that_make_no_sense_are_refused(void **state)
{
	edo_listen_options options = EDO_LISTEN_INIT;
	edo_tcp_listener listener;
	edo_addr addr;

	(void)state;
	assert_int_equal(edo_addr_parse(&addr, "127.0.0.1:0"), 0);
	options.backlog = -1;
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, &options), -EINVAL);
	options = (edo_listen_options)EDO_LISTEN_INIT;
	options.send_buffer = -1;
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, &options), -EINVAL);
	options = (edo_listen_options)EDO_LISTEN_INIT;
	options.size = 0;
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, &options), -EINVAL);
	options.size = sizeof options + 1;
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, &options), -EINVAL);
	addr.len = 3;
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, NULL), -EINVAL);
	assert_int_equal(edo_tcp_listen(&listener, "localhost:0"), -EINVAL);
	assert_int_equal(edo_tcp_listen(&listener, "203.0.113.7:0"), -EADDRNOTAVAIL);
}

static void an_older_program_s_shorter_options_are_taken(void **state)
{
	edo_listen_options options = EDO_LISTEN_INIT;
	edo_tcp_listener listener;
	edo_addr addr;

	(void)state;
	options.size = offsetof(edo_listen_options, reuse_port);
	options.backlog = 7;
	options.send_buffer = -1; /* not there for that program */
	assert_int_equal(edo_addr_parse(&addr, "127.0.0.1:0"), 0);
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, &options), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void v6_works_alone_and_for_both(void **state)
{
	edo_listen_options options = EDO_LISTEN_INIT;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr, v4, peer;
	char text[EDO_ADDR_TEXT_MAX];
	int fd;

	(void)state;
	assert_int_equal(edo_addr_parse(&addr, "[::]:0"), 0);
	if (edo_tcp_listen_with(&listener, &addr, &options) < 0)
		skip();
	assert_int_equal(edo_tcp_listener_addr(&listener, &addr), 0);
	assert_int_equal(edo_addr_parse(&v4, "127.0.0.1:1"), 0);
	v4.sockaddr.v4.sin_port = addr.sockaddr.v6.sin6_port;
	fd = rig_dial(&v4);
	assert_int_equal(edo_tcp_accept(&listener, &stream, &peer), 0);
	assert_true(edo_addr_format(&peer, text, sizeof text) > 0);
	assert_memory_equal(text, "[::ffff:127.0.0.1]:", 19);
	close(fd);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);

	options.v6_only = true;
	addr.sockaddr.v6.sin6_port = 0;
	assert_int_equal(edo_tcp_listen_with(&listener, &addr, &options), 0);
	assert_int_equal(edo_tcp_listener_addr(&listener, &addr), 0);
	v4.sockaddr.v4.sin_port = addr.sockaddr.v6.sin6_port;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, &v4.sockaddr.any, v4.len), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* ---- accepting ---- */

static void an_accepted_stream_is_close_on_exec_nonblocking_and_knows_its_peer(void **state)
{
	edo_tcp_listener listener;
	edo_addr addr, peer, local;
	edo_tcp stream;
	int fd;

	(void)state;
	rig_listen(&listener, &addr);
	fd = rig_dial(&addr);
	assert_int_equal(edo_tcp_accept(&listener, &stream, &peer), 0);

	local.len = sizeof local.sockaddr;
	assert_return_code(getsockname(fd, &local.sockaddr.any, &local.len), errno);
	assert_int_equal(edo_addr_port(&peer), edo_addr_port(&local));
	assert_int_equal(peer.len, sizeof(struct sockaddr_in));
	assert_true(fcntl(edo_tcp_fd(&stream), F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(edo_tcp_fd(&stream), F_GETFD) & FD_CLOEXEC); /* p48 */

	close(fd);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void a_dropped_accept_loses_no_connection(void **state)
{
	edo_tcp_accept_future accept;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	int fd;

	(void)state;
	rig_listen(&listener, &addr);
	edo_tcp_accept_start(&accept, &listener, &stream, NULL);
	assert_int_equal(rig_poll(&accept.future), EDO_PENDING);
	fd = rig_dial(&addr);
	rig_turn();
	edo_future_drop(&accept.future);
	edo_future_drop(&accept.future);

	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);

	close(fd);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void a_second_task_that_accepts_is_one_too_many(void **state)
{
	edo_tcp_accept_future first, second;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;

	(void)state;
	rig_listen(&listener, &addr);
	edo_tcp_accept_start(&first, &listener, &stream, NULL);
	edo_tcp_accept_start(&second, &listener, &stream, NULL);
	assert_int_equal(rig_poll(&first.future), EDO_PENDING);
	assert_int_equal(rig_poll(&second.future), -EBUSY);
	assert_int_equal(second.result, -EBUSY);
	edo_future_drop(&first.future);
	edo_tcp_accept_start(&second, &listener, &stream, NULL);
	assert_int_equal(rig_poll(&second.future), EDO_PENDING);
	edo_future_drop(&second.future);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void closing_the_listener_ends_the_wait(void **state)
{
	edo_tcp_accept_future accept;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	unsigned before;

	(void)state;
	rig_listen(&listener, &addr);
	edo_tcp_accept_start(&accept, &listener, &stream, NULL);
	assert_int_equal(rig_poll(&accept.future), EDO_PENDING);
	before = rig_wakes;
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
	assert_int_equal(rig_wakes, before + 1);
	assert_int_equal(rig_poll(&accept.future), -EBADF);
	edo_future_drop(&accept.future);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), -EBADF);
}

/* ---- what accept() may say ---- */

static void connections_that_died_in_the_queue_are_passed_over(void **state)
{
	static const int errors[] = { ECONNABORTED, ENETDOWN,   EPROTO,
				      ENOPROTOOPT,  EHOSTDOWN,  ENONET,
				      EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH };
	edo_tcp_listener listener;
	edo_addr addr;

	(void)state;
	rig_listen(&listener, &addr);
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		edo_tcp stream;
		int fd = rig_dial(&addr);

		edo_sys_fault_order(EDO_CALL_accept, errors[i], 0, 2);
		assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);
		assert_true(edo_sys_fault_happened());
		edo_sys_fault_clear();
		close(fd);
		assert_int_equal(edo_tcp_close(&stream), 0);
	}
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void a_fault_of_the_listener_itself_is_told(void **state)
{
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	int fd;

	(void)state;
	rig_listen(&listener, &addr);
	fd = rig_dial(&addr);
	edo_sys_fault_order(EDO_CALL_accept, EINVAL, 0, 1);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), -EINVAL);
	close(fd);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* 5, 10, 20 ... ms, on the clock that stands: 7 failures take 5 + 10 + ... + 320 ms. */
static void shortages_are_waited_out_in_growing_pauses(void **state)
{
	static const int errors[] = { EMFILE, ENFILE, ENOBUFS, ENOMEM };
	edo_tcp_listener listener;
	edo_addr addr;

	(void)state;
	rig_listen(&listener, &addr);
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		edo_tcp stream;
		int fd = rig_dial(&addr);
		edo_instant start = edo_now();
		uint64_t calls = edo_sys_calls_of(EDO_CALL_accept);

		edo_sys_fault_order(EDO_CALL_accept, errors[i], 0, 7);
		assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);
		assert_int_equal(edo_now() - start, EDO_MS(5 * 127));
		assert_int_equal(edo_sys_calls_of(EDO_CALL_accept) - calls, 8);
		edo_sys_fault_clear();
		close(fd);
		assert_int_equal(edo_tcp_close(&stream), 0);
	}
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void a_pause_is_never_longer_than_a_second(void **state)
{
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	edo_instant start;
	int fd;

	(void)state;
	rig_listen(&listener, &addr);
	fd = rig_dial(&addr);
	start = edo_now();
	edo_sys_fault_order(EDO_CALL_accept, EMFILE, 0, 18);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);
	assert_int_equal(edo_now() - start, EDO_MS(5 * 255) + EDO_SEC(10));
	close(fd);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* The connection that cannot be registered is closed: its peer is not left hanging. */
static void a_socket_that_cannot_be_registered_is_closed_and_the_next_one_served(void **state)
{
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr, peer, local = { .len = sizeof local.sockaddr };
	int first, second;
	char byte;

	(void)state;
	rig_listen(&listener, &addr);
	first = rig_dial(&addr);
	second = rig_dial(&addr);
	edo_sys_fault_order(EDO_CALL_epoll_ctl, ENOSPC, 0, 1);
	assert_int_equal(edo_tcp_accept(&listener, &stream, &peer), 0);

	assert_int_equal(recv(first, &byte, 1, 0), 0);
	assert_return_code(getsockname(second, &local.sockaddr.any, &local.len), errno);
	assert_int_equal(edo_addr_port(&peer), edo_addr_port(&local));
	close(first);
	close(second);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static void without_time_a_shortage_is_returned(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;
	edo_enter_guard guard;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	int fd;

	(void)state;
	config.disable_time = true;
	assert_int_equal(edo_runtime_create(&runtime, &config), 0);
	assert_int_equal(edo_runtime_enter(runtime, &guard), 0);
	rig_listen(&listener, &addr);
	fd = rig_dial(&addr);
	edo_sys_fault_order(EDO_CALL_accept, EMFILE, 0, 1);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), -EMFILE);
	edo_sys_fault_clear();
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(1)), -EOPNOTSUPP);
	assert_int_equal(edo_tcp_set_timeout(&stream, 0), 0);
	close(fd);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
	edo_runtime_leave(&guard);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static void in_a_pause_closing_ends_the_wait_and_others_are_still_too_many(void **state)
{
	edo_tcp_accept_future accept, other;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	unsigned before;
	int fd;

	(void)state;
	rig_listen(&listener, &addr);
	fd = rig_dial(&addr);
	rig_turn();
	edo_sys_fault_order(EDO_CALL_accept, EMFILE, 0, 1000);
	edo_tcp_accept_start(&accept, &listener, &stream, NULL);
	edo_tcp_accept_start(&other, &listener, &stream, NULL);
	assert_int_equal(rig_poll(&accept.future), EDO_PENDING);
	assert_true(edo_sys_fault_happened());
	assert_int_equal(rig_poll(&other.future), -EBUSY);
	before = rig_wakes;
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
	assert_true(rig_wakes > before);
	assert_int_equal(rig_poll(&accept.future), -EBADF);
	edo_future_drop(&accept.future);
	edo_future_drop(&other.future);
	close(fd);
}

static void a_pause_that_is_dropped_leaves_no_timer(void **state)
{
	edo_tcp_accept_future accept;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	int fd;

	(void)state;
	rig_listen(&listener, &addr);
	fd = rig_dial(&addr);
	rig_turn();
	edo_sys_fault_order(EDO_CALL_accept, EMFILE, 0, 1);
	edo_tcp_accept_start(&accept, &listener, &stream, NULL);
	assert_int_equal(rig_poll(&accept.future), EDO_PENDING);
	edo_future_drop(&accept.future);
	memset(&accept, 0xff, sizeof accept);
	assert_int_equal(edo_sleep(EDO_SEC(2)), 0);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);
	close(fd);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* ---- a real shortage ---- */

static int lowest_free_descriptor(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static int raise_limit_again(void *arg)
{
	edo_sleep(EDO_MS(100));
	return setrlimit(RLIMIT_NOFILE, arg) < 0 ? -errno : 0;
}

static void out_of_descriptors_accept_goes_on_when_it_can_and_does_not_spin(void **state)
{
	struct rlimit limit, low;
	edo_tcp_listener listener;
	edo_tcp stream;
	edo_addr addr;
	edo_task *task;
	uint64_t calls;
	int clients[8]; /* more than one: valgrind loses a connection that it has no number for */

	(void)state;
	rig_listen(&listener, &addr);
	for (int i = 0; i < 8; i++)
		clients[i] = rig_dial(&addr);
	assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), errno);
	low = limit;
	low.rlim_cur = (rlim_t)lowest_free_descriptor();
	assert_int_equal(edo_spawn_fiber(NULL, raise_limit_again, &limit, 0, &task), 0);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &low), errno);
	calls = edo_sys_calls_of(EDO_CALL_accept);

	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), 0);

	/* At 0, 5, 15, 35, 75 and 155 ms; EMFILE until 100. */
	assert_int_equal(edo_sys_calls_of(EDO_CALL_accept) - calls, 6);
	assert_int_equal(edo_task_join(task, NULL), 0);
	for (int i = 0; i < 8; i++)
		close(clients[i]);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* ---- misuse ---- */

static void without_a_runtime_or_its_io_there_is_no_listener(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;
	edo_enter_guard guard;
	edo_tcp_listener listener;

	(void)state;
	assert_int_equal(edo_tcp_listen(&listener, "127.0.0.1:0"), -EINVAL);
	config.disable_io = true;
	assert_int_equal(edo_runtime_create(&runtime, &config), 0);
	assert_int_equal(edo_runtime_enter(runtime, &guard), 0);
	assert_int_equal(edo_tcp_listen(&listener, "127.0.0.1:0"), -EOPNOTSUPP);
	edo_runtime_leave(&guard);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static void on_another_runtime_or_after_its_end_a_listener_says_so(void **state)
{
	struct rig *rig = *state;
	edo_runtime *other;
	edo_enter_guard guard;
	edo_tcp_accept_future accept;
	edo_tcp_listener listener, orphan;
	edo_addr addr;
	edo_tcp stream;

	(void)rig;
	rig_listen(&listener, &addr);
	assert_int_equal(edo_runtime_create(&other, NULL), 0);
	assert_int_equal(edo_runtime_enter(other, &guard), 0);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), -EXDEV);
	assert_int_equal(edo_tcp_listener_addr(&listener, &addr), 0);
	rig_listen(&orphan, &addr);
	edo_tcp_accept_start(&accept, &orphan, &stream, NULL);
	assert_int_equal(rig_poll(&accept.future), EDO_PENDING);
	edo_runtime_leave(&guard);
	assert_int_equal(edo_runtime_destroy(other), 0);

	assert_int_equal(rig_poll(&accept.future), -ESHUTDOWN);
	edo_future_drop(&accept.future);
	assert_int_equal(edo_tcp_accept(&orphan, &stream, NULL), -ESHUTDOWN);
	assert_int_equal(edo_tcp_listener_close(&orphan), 0);
	assert_int_equal(edo_tcp_listener_close(&orphan), -EBADF);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

static const struct CMUnitTest tests[] = {
	rig_test(a_listener_tells_the_port_it_was_given),
	rig_test(a_port_in_use_is_told),
	rig_test(a_port_with_old_connections_can_be_listened_at_again),
	rig_test(listeners_that_ask_for_it_share_a_port),
	rig_test(options_that_make_no_sense_are_refused),
	rig_test(an_older_program_s_shorter_options_are_taken),
	rig_test(v6_works_alone_and_for_both),
	rig_test(an_accepted_stream_is_close_on_exec_nonblocking_and_knows_its_peer),
	rig_test(a_dropped_accept_loses_no_connection),
	rig_test(a_second_task_that_accepts_is_one_too_many),
	rig_test(closing_the_listener_ends_the_wait),
	rig_test(connections_that_died_in_the_queue_are_passed_over),
	rig_test(a_fault_of_the_listener_itself_is_told),
	rig_test_paused(shortages_are_waited_out_in_growing_pauses),
	rig_test_paused(a_pause_is_never_longer_than_a_second),
	rig_test_paused(a_socket_that_cannot_be_registered_is_closed_and_the_next_one_served),
	cmocka_unit_test(without_time_a_shortage_is_returned),
	rig_test_paused(in_a_pause_closing_ends_the_wait_and_others_are_still_too_many),
	rig_test_paused(a_pause_that_is_dropped_leaves_no_timer),
	rig_test_paused(out_of_descriptors_accept_goes_on_when_it_can_and_does_not_spin),
	cmocka_unit_test(without_a_runtime_or_its_io_there_is_no_listener),
	rig_test(on_another_runtime_or_after_its_end_a_listener_says_so),
};

EDO_TEST_MAIN(tests)
