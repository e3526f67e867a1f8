/* Who may use a stream: copies, halves, closed ones, descriptors from elsewhere, other runtimes, threads. */
#include "rig.h"
#include "driver/io/io.h"
#include "task/task.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>

static void a_moved_stream_leaves_a_dead_original(void **state)
{
	edo_tcp original, moved;
	edo_addr addr;
	char byte;
	int peer;
	bool on;

	(void)state;
	rig_pair(&original, &peer);
	moved = original;
	assert_int_equal(edo_tcp_write(&moved, "x", 1), 1);

	assert_int_equal(edo_tcp_write(&original, "x", 1), -EBADF);
	assert_int_equal(edo_tcp_read(&original, &byte, 1), -EBADF);
	assert_int_equal(edo_tcp_set_timeout(&original, EDO_SEC(1)), -EBADF);
	assert_int_equal(edo_tcp_get_nodelay(&original, &on), -EBADF);
	assert_int_equal(edo_tcp_local_addr(&original, &addr), -EBADF);
	assert_int_equal(edo_tcp_shutdown(&original, EDO_SHUT_WR), -EBADF);
	assert_int_equal(edo_tcp_last_error(&original), -EBADF);
	assert_int_equal(edo_tcp_fd(&original), -EBADF);
	assert_int_equal(edo_tcp_into_fd(&original), -EBADF);
	assert_int_equal(edo_tcp_split(&original, &original, &(edo_tcp){ 0 }), -EBADF);
	assert_int_equal(edo_tcp_close(&original), -EBADF);

	original = moved; /* and back */
	assert_int_equal(edo_tcp_write(&original, "y", 1), 1);
	assert_int_equal(edo_tcp_write(&moved, "y", 1), -EBADF);
	close(peer);
	assert_int_equal(edo_tcp_close(&original), 0);
	assert_int_equal(edo_tcp_close(&original), -EBADF);
	assert_int_equal(edo_tcp_close(&moved), -EBADF);
}

static void zeros_are_a_closed_stream(void **state)
{
	edo_tcp_accept_future accept;
	edo_tcp_listener listener = { 0 };
	edo_tcp stream = { 0 }, reader, writer;
	char byte;

	(void)state;
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), -EBADF);
	assert_int_equal(edo_tcp_write_all(&stream, "x", 1), -EBADF);
	assert_int_equal(edo_tcp_close(&stream), -EBADF);
	assert_int_equal(edo_tcp_split(&stream, &reader, &writer), -EBADF);
	assert_int_equal(edo_tcp_listener_close(&listener), -EBADF);
	assert_int_equal(edo_tcp_accept(&listener, &stream, NULL), -EBADF);
	edo_tcp_accept_start(&accept, &listener, &stream, NULL);
	edo_future_drop(&accept.future);
}

/* R3: the number of the descriptor and the slot are somebody else's now; the old object names neither. */
static void a_closed_stream_does_not_reach_its_successor(void **state)
{
	edo_tcp old, fresh;
	edo_tcp_io io;
	char byte;
	int peer, second, fd;

	(void)state;
	rig_pair(&old, &peer);
	fd = edo_tcp_fd(&old);
	edo_tcp_read_start(&io, &old, &byte, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	assert_int_equal(edo_tcp_close(&old), 0);
	rig_turn();
	close(peer);
	rig_pair(&fresh, &second);
	(void)fd;
	rig_send(second, "f", 1);
	rig_turn();
	assert_int_equal(rig_poll(&io.future), -EBADF);
	edo_future_drop(&io.future);
	assert_int_equal(edo_tcp_read(&old, &byte, 1), -EBADF);
	assert_int_equal(edo_tcp_close(&old), -EBADF);
	assert_int_equal(edo_tcp_read(&fresh, &byte, 1), 1);
	close(second);
	assert_int_equal(edo_tcp_close(&fresh), 0);
}

/* The object is filled anew while somebody still waits on what it was. */
static void a_wait_does_not_go_over_to_a_new_stream_in_the_same_object(void **state)
{
	edo_tcp stream;
	edo_tcp_io io;
	char byte;
	int first, second;

	(void)state;
	rig_pair(&stream, &first);
	edo_tcp_read_start(&io, &stream, &byte, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	assert_int_equal(edo_tcp_close(&stream), 0);
	rig_pair(&stream, &second);
	rig_send(second, "x", 1);
	rig_turn();
	assert_int_equal(rig_poll(&io.future), -EBADF);
	edo_future_drop(&io.future);
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), 1);
	close(first);
	close(second);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* Two streams in the first use of their slots: alike in all but the slot. */
static void a_wait_does_not_go_over_to_a_stream_moved_into_the_object(void **state)
{
	const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	edo_tcp stream, other, saved;
	edo_tcp_io io;
	char byte;
	int first[2], second[2];

	(void)state;
	assert_return_code(socketpair(AF_UNIX, type, 0, first), errno);
	assert_return_code(socketpair(AF_UNIX, type, 0, second), errno);
	assert_int_equal(edo_tcp_from_fd(&stream, first[0]), 0);
	assert_int_equal(edo_tcp_from_fd(&other, second[0]), 0);
	assert_int_equal(stream.edo_generation_, other.edo_generation_);
	assert_int_equal(edo_tcp_set_timeout(&other, 0), 0); /* as often moved as the first */
	edo_tcp_read_start(&io, &stream, &byte, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	saved = stream;
	stream = other;
	assert_int_equal(rig_poll(&io.future), -EBADF);
	edo_future_drop(&io.future);
	rig_send(first[1], "s", 1);
	assert_int_equal(edo_tcp_read(&saved, &byte, 1), 1); /* the claim was let go of */
	close(first[1]);
	close(second[1]);
	assert_int_equal(edo_tcp_close(&saved), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* p45, p47: with a dup alive the descriptor's events go on; nobody is woken by them. */
static void pitfall_p47_a_dup_of_a_closed_stream_wakes_nobody(void **state)
{
	edo_tcp stream, fresh;
	edo_tcp_io io;
	char byte;
	int peer, second, copy;

	(void)state;
	rig_pair(&stream, &peer);
	copy = fcntl(edo_tcp_fd(&stream), F_DUPFD_CLOEXEC, 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
	rig_turn();
	rig_pair(&fresh, &second);
	edo_tcp_read_start(&io, &fresh, &byte, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	rig_wakes = 0;
	rig_send(peer, "x", 1);
	rig_turn();
	assert_int_equal(rig_wakes, 0);
	edo_future_drop(&io.future);
	close(copy);
	close(peer);
	close(second);
	assert_int_equal(edo_tcp_close(&fresh), 0);
}

/* p45: closed under us, its number given out again: close must not close somebody else's. */
static void pitfall_p45_a_descriptor_closed_under_us_is_not_closed_twice(void **state)
{
	edo_tcp stream;
	int peer, fd, other;

	(void)state;
	rig_pair(&stream, &peer);
	fd = edo_tcp_fd(&stream);
	close(fd);
	other = fcntl(peer, F_DUPFD_CLOEXEC, fd);
	assert_int_equal(other, fd);
	assert_int_equal(edo_tcp_close(&stream), -EBADF);
	assert_return_code(fcntl(other, F_GETFD), errno);
	close(other);
	close(peer);
}

/* ---- halves ---- */

static void halves_do_what_is_theirs_only(void **state)
{
	edo_tcp whole, reader, writer, third;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&whole, &peer);
	assert_int_equal(edo_tcp_split(&whole, &reader, &reader), -EINVAL);
	assert_int_equal(edo_tcp_split(&whole, &reader, &writer), 0);
	assert_int_equal(edo_tcp_read(&whole, buf, 1), -EBADF);
	assert_int_equal(edo_tcp_close(&whole), -EBADF);
	assert_int_equal(edo_tcp_write(&reader, "x", 1), -EBADF);
	assert_int_equal(edo_tcp_read(&writer, buf, 1), -EBADF);
	assert_int_equal(edo_tcp_shutdown(&reader, EDO_SHUT_WR), -EBADF);
	assert_int_equal(edo_tcp_shutdown(&writer, EDO_SHUT_RDWR), -EBADF);
	assert_int_equal(edo_tcp_split(&reader, &third, &whole), -EBADF);
	assert_int_equal(edo_tcp_into_fd(&reader), -EBADF);

	rig_send(peer, "in", 2);
	assert_int_equal(edo_tcp_read(&reader, buf, sizeof buf), 2);
	assert_int_equal(edo_tcp_write_all(&writer, "out", 3), 0);
	rig_receive(peer, buf, 3);
	assert_int_equal(edo_tcp_close(&reader), 0);
	assert_int_equal(edo_tcp_close(&writer), 0);
	close(peer);
}

static void halves_move_apart(void **state)
{
	edo_tcp whole, stale, reader, writer, moved;
	char byte;
	int peer;

	(void)state;
	rig_pair(&whole, &peer);
	assert_int_equal(edo_tcp_set_nodelay(&whole, true), 0); /* so that the copy is up to date */
	stale = whole;
	assert_int_equal(edo_tcp_split(&whole, &whole, &writer), 0); /* in place */
	assert_int_equal(edo_tcp_read(&stale, &byte, 1), -EBADF);
	reader = whole;
	moved = writer;
	assert_int_equal(edo_tcp_write(&moved, "x", 1), 1);
	assert_int_equal(edo_tcp_write(&writer, "x", 1), -EBADF);
	rig_send(peer, "y", 1);
	assert_int_equal(edo_tcp_read(&reader, &byte, 1), 1);
	assert_int_equal(edo_tcp_close(&writer), -EBADF);
	assert_int_equal(edo_tcp_close(&moved), 0);
	assert_int_equal(edo_tcp_close(&reader), 0);
	close(peer);
}

static void the_writer_s_close_ends_its_direction_and_the_reader_reads_on(void **state)
{
	edo_tcp whole, reader, writer;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&whole, &peer);
	assert_int_equal(edo_tcp_split(&whole, &reader, &writer), 0);
	assert_int_equal(edo_tcp_close(&writer), 0);
	assert_int_equal(edo_tcp_close(&writer), -EBADF);
	assert_int_equal(edo_tcp_write(&writer, "x", 1), -EBADF);
	assert_int_equal(recv(peer, buf, 1, 0), 0);
	rig_send(peer, "late", 4);
	assert_int_equal(edo_tcp_read(&reader, buf, sizeof buf), 4);
	assert_int_equal(edo_tcp_close(&reader), 0);
	assert_int_equal(edo_tcp_close(&reader), -EBADF);
	close(peer);
}

static void the_reader_s_close_leaves_the_writer_and_ends_its_own_wait(void **state)
{
	edo_tcp whole, reader, writer;
	edo_tcp_io io;
	char buf[8];
	unsigned before;
	int peer;

	(void)state;
	rig_pair(&whole, &peer);
	assert_int_equal(edo_tcp_split(&whole, &reader, &writer), 0);
	edo_tcp_read_start(&io, &reader, buf, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	before = rig_wakes;
	assert_int_equal(edo_tcp_close(&reader), 0);
	assert_int_equal(rig_wakes, before + 1);
	assert_int_equal(rig_poll(&io.future), -EBADF);
	edo_future_drop(&io.future);
	assert_int_equal(edo_tcp_write_all(&writer, "still", 5), 0);
	rig_receive(peer, buf, 5);
	assert_int_equal(edo_tcp_close(&writer), 0);
	assert_int_equal(recv(peer, buf, 1, 0), 0);
	close(peer);
}

/* ---- descriptors from elsewhere ---- */

static void sockets_come_and_go(void **state)
{
	edo_tcp stream;
	char buf[8];
	int fds[2], fd;

	(void)state;
	assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), errno);
	assert_int_equal(edo_tcp_from_fd(&stream, fds[0]), -EINVAL); /* p49: it blocks */
	assert_return_code(fcntl(fds[0], F_SETFL, O_NONBLOCK), errno);
	assert_int_equal(edo_tcp_from_fd(&stream, fds[0]), 0);
	assert_int_equal(edo_tcp_from_fd(&(edo_tcp){ 0 }, fds[0]), -EEXIST);
	rig_send(fds[1], "ab", 2);
	assert_int_equal(edo_tcp_read(&stream, buf, 1), 1);
	fd = edo_tcp_into_fd(&stream);
	assert_int_equal(fd, fds[0]);
	assert_int_equal(edo_tcp_close(&stream), -EBADF);
	assert_int_equal(recv(fd, buf, 1, 0), 1);
	assert_int_equal(buf[0], 'b');
	close(fds[0]);
	close(fds[1]);
}

/* The kernel may lack the memory to forget a descriptor: it is handed out all the same, not lost. */
static void a_socket_is_taken_out_also_when_the_poller_cannot_forget_it(void **state)
{
	edo_tcp stream;
	int fds[2];

	(void)state;
	assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			   errno);
	assert_int_equal(edo_tcp_from_fd(&stream, fds[0]), 0);
	edo_sys_fault_order(EDO_CALL_epoll_ctl, ENOMEM, 0, 1);

	assert_int_equal(edo_tcp_into_fd(&stream), fds[0]);
	assert_true(edo_sys_fault_happened());
	assert_int_equal(edo_tcp_close(&stream), -EBADF);
	close(fds[0]);
	close(fds[1]);
}

static void what_is_no_connected_stream_socket_stays_the_caller_s(void **state)
{
	int datagram = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int alone = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int fds[2];
	edo_tcp stream;

	(void)state;
	assert_return_code(pipe2(fds, O_NONBLOCK | O_CLOEXEC), errno);
	assert_int_equal(edo_tcp_from_fd(&stream, datagram), -EINVAL);
	assert_int_equal(edo_tcp_from_fd(&stream, fds[0]), -EINVAL);
	assert_int_equal(edo_tcp_from_fd(&stream, alone), -ENOTCONN);
	assert_int_equal(edo_tcp_from_fd(&stream, -1), -EBADF);
	assert_int_equal(edo_tcp_close(&stream), -EBADF);
	close(datagram);
	close(alone);
	close(fds[0]);
	close(fds[1]);
}

/* ---- other runtimes and threads ---- */

static void a_stream_of_another_runtime_says_so(void **state)
{
	edo_runtime *other;
	edo_enter_guard guard;
	edo_tcp stream, orphan;
	edo_tcp_io io;
	char byte;
	int peer, second;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_runtime_create(&other, NULL), 0);
	assert_int_equal(edo_runtime_enter(other, &guard), 0);
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), -EXDEV);
	assert_int_equal(edo_tcp_set_nodelay(&stream, true), 0); /* needs no poll */
	rig_pair(&orphan, &second);
	assert_int_equal(edo_tcp_set_timeout(&orphan, EDO_SEC(5)), 0);
	edo_tcp_read_start(&io, &orphan, &byte, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	edo_runtime_leave(&guard);
	assert_int_equal(edo_runtime_destroy(other), 0);

	assert_int_equal(rig_poll(&io.future), -ESHUTDOWN);
	edo_future_drop(&io.future);
	assert_int_equal(edo_tcp_read(&orphan, &byte, 1), -ESHUTDOWN);
	assert_int_equal(edo_tcp_set_nodelay(&orphan, true), -ESHUTDOWN);
	assert_int_equal(edo_tcp_close(&orphan), 0);
	assert_int_equal(edo_tcp_close(&orphan), -EBADF);
	assert_int_equal(recv(second, &byte, 1, 0), 0);
	close(second);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* Returns the name of what went wrong. */
static void *use_and_close(void *arg)
{
	static char read[] = "read", nodelay[] = "nodelay", limit[] = "limit", close[] = "close";
	edo_tcp *stream = arg;
	char byte;

	if (edo_tcp_read(stream, &byte, 1) != -EINVAL) /* no runtime is entered here */
		return read;
	if (edo_tcp_set_nodelay(stream, true) != 0)
		return nodelay;
	if (edo_tcp_set_timeout(stream, EDO_SEC(9)) != 0)
		return limit;
	return edo_tcp_close(stream) == 0 ? NULL : close;
}

static void another_thread_sets_options_and_closes(void **state)
{
	pthread_t thread;
	void *failed;
	edo_tcp stream;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(pthread_create(&thread, NULL, use_and_close, &stream), 0);
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), -EBADF); /* the close ends it */
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	close(peer);
}

/* ---- memory ---- */

/* What examples/echo_stackless.c keeps for a connection, without its buffer. */
struct session {
	edo_async async;
	edo_tcp conn;
	edo_tcp_io io;
};

static void an_idle_stackless_connection_takes_at_most_512_bytes(void **state)
{
	size_t cell = sizeof(struct edo_task) + sizeof(struct session);

	(void)state;
	cell = (cell + 127) / 128 * 128; /* K1 */
	assert_true(cell + sizeof(struct edo_scheduled_io) <= 512);
	assert_int_equal(sizeof(edo_tcp), 24);
	assert_int_equal(sizeof(edo_tcp_io), 80);
}

static const struct CMUnitTest tests[] = {
	rig_test(a_moved_stream_leaves_a_dead_original),
	rig_test(zeros_are_a_closed_stream),
	rig_test(a_closed_stream_does_not_reach_its_successor),
	rig_test(a_wait_does_not_go_over_to_a_new_stream_in_the_same_object),
	rig_test(a_wait_does_not_go_over_to_a_stream_moved_into_the_object),
	rig_test(pitfall_p47_a_dup_of_a_closed_stream_wakes_nobody),
	rig_test(pitfall_p45_a_descriptor_closed_under_us_is_not_closed_twice),
	rig_test(halves_do_what_is_theirs_only),
	rig_test(halves_move_apart),
	rig_test(the_writer_s_close_ends_its_direction_and_the_reader_reads_on),
	rig_test(the_reader_s_close_leaves_the_writer_and_ends_its_own_wait),
	rig_test(sockets_come_and_go),
	rig_test(a_socket_is_taken_out_also_when_the_poller_cannot_forget_it),
	rig_test(what_is_no_connected_stream_socket_stays_the_caller_s),
	rig_test(a_stream_of_another_runtime_says_so),
	rig_test(another_thread_sets_options_and_closes),
	cmocka_unit_test(an_idle_stackless_connection_takes_at_most_512_bytes),
};

EDO_TEST_MAIN(tests)
