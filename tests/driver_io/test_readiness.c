/* Readiness of real descriptors: what events set, what clears take away, and who is woken. */
#include "driver_io/rig.h"
#include "support/runner.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void ignore_waker(void *data)
{
	(void)data;
}

/* Lets the driver see one more event on the reading end of a pipe or socket. */
static void one_event(struct edo_io_driver *io, int from, int to)
{
	(void)read_all(to);
	write_byte(from);
	settle(io);
}

static void a_reader_is_woken_when_data_comes_and_sees_it(void **state)
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
	settle(&io);

	assert_int_equal(wakes_of(&reader.counter[EDO_READING]), 1);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
	assert_int_equal(reader.ready[EDO_READING].events, EDO_READABLE);
	assert_int_equal(unwatch(&reader), 0);
	close_pair(fds);
	rig_end(&io);
}

static void readiness_stays_until_it_is_cleared(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	write_byte(fds[1]);
	settle(&io);

	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
	assert_int_equal(read_all(fds[0]), 1);
	clear_seen(&reader, EDO_READING);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_PENDING);

	assert_int_equal(unwatch(&reader), 0);
	assert_int_equal(wakes_of(&reader.counter[EDO_READING]), 1); /* it is told of the end */
	close_pair(fds);
	rig_end(&io);
}

static void what_came_after_the_look_survives_the_clear(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	one_event(&io, fds[1], fds[0]);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);

	one_event(&io, fds[1], fds[0]);
	clear_seen(&reader, EDO_READING);

	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
	assert_int_equal(unwatch(&reader), 0);
	close_pair(fds);
	rig_end(&io);
}

/* A tick of 8 bits would be back where it was. */
static void pitfall_p40_a_stale_clear_does_not_match_256_events_later(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	int fds[2];
	edo_ready stale;

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	one_event(&io, fds[1], fds[0]);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
	stale = reader.ready[EDO_READING];

	for (int i = 0; i < 70000; i++) {
		one_event(&io, fds[1], fds[0]);
		if (i < 300 || i > 65000) {
			edo_io_clear(reader.sio, EDO_READING, stale);
			assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
		}
	}
	assert_int_equal(unwatch(&reader), 0);
	close_pair(fds);
	rig_end(&io);
}

/* The peer's reading makes the socket writable again and again. */
static void pitfall_p41_events_of_writing_do_not_block_the_clearing_of_reads(void **state)
{
	static char block[65536];
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	write_byte(fds[1]);
	settle(&io);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_int_equal(read_all(fds[0]), 1);

	while (send(fds[0], block, sizeof block, MSG_NOSIGNAL) > 0)
		;
	(void)read_all(fds[1]);
	settle(&io); /* writable now, and nothing to read */
	clear_seen(&socket, EDO_READING);

	assert_int_equal(poll_once(&socket, EDO_READING), EDO_PENDING);
	assert_int_equal(unwatch(&socket), 0);
	close_pair(fds);
	rig_end(&io);
}

static void pitfall_p42_a_clear_of_one_direction_leaves_the_other(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	write_byte(fds[1]);
	settle(&io);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_int_equal(poll_once(&socket, EDO_WRITING), EDO_READY);

	clear_seen(&socket, EDO_READING);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_PENDING);
	assert_int_equal(poll_once(&socket, EDO_WRITING), EDO_READY);
	clear_seen(&socket, EDO_WRITING);
	assert_int_equal(poll_once(&socket, EDO_WRITING), EDO_PENDING);

	assert_int_equal(unwatch(&socket), 0);
	close_pair(fds);
	rig_end(&io);
}

static void pitfall_p42_a_direction_reports_only_its_own_bits(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	assert_return_code(shutdown(fds[1], SHUT_WR), errno);
	settle(&io);

	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_int_equal(poll_once(&socket, EDO_WRITING), EDO_READY);
	assert_int_equal(socket.ready[EDO_READING].events, EDO_READABLE);
	assert_true(socket.ready[EDO_READING].read_closed);
	assert_int_equal(socket.ready[EDO_WRITING].events, EDO_WRITABLE);
	assert_false(socket.ready[EDO_WRITING].read_closed);
	assert_false(socket.ready[EDO_WRITING].write_closed);

	assert_int_equal(unwatch(&socket), 0);
	close_pair(fds);
	rig_end(&io);
}

/* An error concerns both; what one direction has seen and cleared is still news to the other. */
static void pitfall_p42_an_error_is_seen_and_cleared_by_each_direction(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];
	struct linger at_once = { .l_onoff = 1 };

	(void)state;
	rig_make(&io, 16);
	make_tcp_pair(fds);
	watch(&io, fds[0], &socket);
	assert_return_code(setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once),
			   errno);
	close(fds[1]);
	settle(&io);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_true(socket.ready[EDO_READING].error);

	clear_seen(&socket, EDO_READING);

	assert_int_equal(poll_once(&socket, EDO_WRITING), EDO_READY);
	assert_true(socket.ready[EDO_WRITING].error);
	assert_int_equal(unwatch(&socket), 0);
	close(fds[0]);
	rig_end(&io);
}

static void pitfall_p43_a_half_close_ends_reading_only(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_tcp_pair(fds);
	watch(&io, fds[0], &socket);
	settle(&io);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_PENDING);

	assert_return_code(shutdown(fds[1], SHUT_WR), errno);
	assert_true(edo_io_turn(&io, UINT64_MAX) > 0);

	assert_int_equal(wakes_of(&socket.counter[EDO_READING]), 1);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_true(socket.ready[EDO_READING].read_closed);
	assert_int_equal(poll_once(&socket, EDO_WRITING), EDO_READY);
	assert_false(socket.ready[EDO_WRITING].write_closed);
	assert_int_equal(unwatch(&socket), 0);
	close_pair(fds);
	rig_end(&io);
}

/* The reading end of a pipe says HUP and nothing else when there is nothing to read. */
static void pitfall_p43_a_hang_up_without_data_wakes_the_reader(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_PENDING);

	close(fds[1]);
	settle(&io);

	assert_int_equal(wakes_of(&reader.counter[EDO_READING]), 1);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
	assert_true(reader.ready[EDO_READING].read_closed);
	assert_int_equal(unwatch(&reader), 0);
	close(fds[0]);
	rig_end(&io);
}

static void pitfall_p43_a_full_hang_up_closes_both_directions(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	close(fds[1]);
	settle(&io);

	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_int_equal(poll_once(&socket, EDO_WRITING), EDO_READY);
	assert_true(socket.ready[EDO_READING].read_closed);
	assert_true(socket.ready[EDO_WRITING].write_closed);
	assert_int_equal(unwatch(&socket), 0);
	close(fds[0]);
	rig_end(&io);
}

static void pitfall_p43_closed_bits_are_never_cleared(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	close(fds[1]);
	settle(&io);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	clear_seen(&socket, EDO_READING);
	assert_true(edo_load(&socket.sio->readiness, relaxed) & EDO_IS_READ_CLOSED);

	/* Any further event shows what has stayed. */
	assert_return_code(shutdown(fds[0], SHUT_RDWR), errno);
	settle(&io);

	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_true(socket.ready[EDO_READING].read_closed);
	assert_int_equal(unwatch(&socket), 0);
	close(fds[0]);
	rig_end(&io);
}

static int tcp_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_return_code(fd, errno);
	return fd;
}

static int listen_anywhere(struct sockaddr_in *address)
{
	socklen_t len = sizeof *address;
	int fd = tcp_socket();

	*address = (struct sockaddr_in){ .sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_return_code(bind(fd, (struct sockaddr *)address, len), errno);
	assert_return_code(listen(fd, 1), errno);
	assert_return_code(getsockname(fd, (struct sockaddr *)address, &len), errno);
	return fd;
}

/* The kernel reports HUP for it, once; afterwards it connects, and its reader must sleep. */
static void pitfall_p43_an_unconnected_socket_s_hang_up_does_not_spin(void **state)
{
	struct edo_io_driver io;
	struct watched early;
	struct sockaddr_in address;
	int listener = listen_anywhere(&address), fd = tcp_socket(), peer;

	(void)state;
	rig_make(&io, 16);
	watch(&io, fd, &early);
	assert_int_equal(edo_io_turn(&io, 0), 1);
	assert_int_equal(edo_io_turn(&io, 0), 0); /* not for ever */
	assert_int_equal(poll_once(&early, EDO_READING), EDO_READY);

	(void)connect(fd, (struct sockaddr *)&address, sizeof address);
	assert_true(edo_io_turn(&io, UINT64_MAX) > 0);
	peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_return_code(peer, errno);
	for (int i = 0; i < 3 && poll_once(&early, EDO_READING) == EDO_READY; i++) {
		char byte;

		assert_int_equal(read(fd, &byte, 1), -1);
		assert_int_equal(errno, EAGAIN);
		clear_seen(&early, EDO_READING);
	}
	assert_int_equal(poll_once(&early, EDO_READING), EDO_PENDING);

	write_byte(peer);
	assert_true(edo_io_turn(&io, UINT64_MAX) > 0);
	assert_int_equal(wakes_of(&early.counter[EDO_READING]), 1);
	assert_int_equal(unwatch(&early), 0);
	close(fd);
	close(peer);
	close(listener);
	rig_end(&io);
}

static void pitfall_p43_a_fifo_s_next_writer_finds_its_reader_waiting(void **state)
{
	char path[] = "/tmp/edo-fifo-XXXXXX", fifo[64];
	struct edo_io_driver io;
	struct watched reader;
	int fd, writer;

	(void)state;
	assert_non_null(mkdtemp(path));
	(void)snprintf(fifo, sizeof fifo, "%s/fifo", path);
	assert_return_code(mkfifo(fifo, 0600), errno);
	rig_make(&io, 16);
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	watch(&io, fd, &reader);
	writer = open(fifo, O_WRONLY | O_CLOEXEC);
	close(writer); /* HUP */
	settle(&io);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
	writer = open(fifo, O_WRONLY | O_CLOEXEC);
	assert_int_equal(read_all(fd), 0); /* EAGAIN again */
	clear_seen(&reader, EDO_READING);

	settle(&io);
	while (poll_once(&reader, EDO_READING) == EDO_READY)
		clear_seen(&reader, EDO_READING);
	write_byte(writer);
	settle(&io);

	assert_int_equal(wakes_of(&reader.counter[EDO_READING]), 1);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY);
	assert_true(reader.ready[EDO_READING].read_closed); /* a fact: it did hang up once */
	assert_int_equal(unwatch(&reader), 0);
	close(fd);
	close(writer);
	unlink(fifo);
	rmdir(path);
	rig_end(&io);
}

/* A short read of what was seen before the end came must not hide the end. */
static void pitfall_p44_the_end_of_the_stream_survives_a_clear_after_a_short_read(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_tcp_pair(fds);
	watch(&io, fds[0], &socket);
	write_byte(fds[1]);
	while (poll_once(&socket, EDO_READING) != EDO_READY)
		assert_true(edo_io_turn(&io, UINT64_MAX) > 0);

	close(fds[1]);
	assert_true(edo_io_turn(&io, UINT64_MAX) > 0);
	assert_int_equal(read_all(fds[0]), 1);
	clear_seen(&socket, EDO_READING);

	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_true(socket.ready[EDO_READING].read_closed);
	assert_int_equal(unwatch(&socket), 0);
	close(fds[0]);
	rig_end(&io);
}

/* The same when the driver has not seen the end yet: it is an event of its own. */
static void pitfall_p44_the_end_of_the_stream_comes_after_a_clear(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	write_byte(fds[1]);
	settle(&io);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	close(fds[1]);
	assert_int_equal(read_all(fds[0]), 1);
	clear_seen(&socket, EDO_READING);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_PENDING);

	settle(&io);

	assert_int_equal(wakes_of(&socket.counter[EDO_READING]), 1);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_true(socket.ready[EDO_READING].read_closed);
	assert_int_equal(unwatch(&socket), 0);
	close(fds[0]);
	rig_end(&io);
}

/* A reset: both directions become ready, and the system call tells what it was. */
static void pitfall_p52_a_reset_makes_both_ready_and_the_call_tells(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	struct linger at_once = { .l_onoff = 1 };
	int fds[2];
	char byte;

	(void)state;
	rig_make(&io, 16);
	make_tcp_pair(fds);
	watch(&io, fds[0], &socket);
	settle(&io);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_PENDING);
	assert_int_equal(poll_once(&socket, EDO_WRITING), EDO_READY);

	assert_return_code(setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once),
			   errno);
	close(fds[1]);
	assert_true(edo_io_turn(&io, UINT64_MAX) > 0);

	assert_int_equal(wakes_of(&socket.counter[EDO_READING]), 1);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);
	assert_true(socket.ready[EDO_READING].error);
	assert_int_equal(read(fds[0], &byte, 1), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(unwatch(&socket), 0);
	close(fds[0]);
	rig_end(&io);
}

/* A refused datagram is a passing error: fetched once, and the socket goes on. */
static void pitfall_p52_an_error_that_passes_closes_nothing(void **state)
{
	struct edo_io_driver io;
	struct watched socket_;
	struct sockaddr_in address;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int closed = listen_anywhere(&address); /* a port where no datagram socket is */
	char byte;

	(void)state;
	rig_make(&io, 16);
	assert_return_code(connect(fd, (struct sockaddr *)&address, sizeof address), errno);
	watch(&io, fd, &socket_);
	settle(&io);
	assert_int_equal(poll_once(&socket_, EDO_READING), EDO_PENDING);
	assert_int_equal(send(fd, "x", 1, 0), 1);
	while (wakes_of(&socket_.counter[EDO_READING]) == 0)
		(void)edo_io_turn(&io, UINT64_MAX);

	assert_int_equal(poll_once(&socket_, EDO_READING), EDO_READY);
	assert_true(socket_.ready[EDO_READING].error);
	assert_false(socket_.ready[EDO_READING].read_closed);
	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNREFUSED);
	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
	clear_seen(&socket_, EDO_READING);
	assert_int_equal(poll_once(&socket_, EDO_READING), EDO_PENDING);

	assert_int_equal(unwatch(&socket_), 0);
	close(fd);
	close(closed);
	rig_end(&io);
}

static void pitfall_p52_a_pipe_without_a_reader_is_ready_to_fail(void **state)
{
	static char block[65536];
	struct edo_io_driver io;
	struct watched writer;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[1], &writer);
	while (write(fds[1], block, sizeof block) > 0)
		;
	settle(&io);
	while (poll_once(&writer, EDO_WRITING) == EDO_READY)
		clear_seen(&writer, EDO_WRITING);

	close(fds[0]); /* the kernel says ERR alone: the pipe is full */
	settle(&io);

	assert_int_equal(wakes_of(&writer.counter[EDO_WRITING]), 1);
	assert_int_equal(poll_once(&writer, EDO_WRITING), EDO_READY);
	assert_true(writer.ready[EDO_WRITING].error);
	assert_int_equal(writer.ready[EDO_WRITING].events, EDO_WRITABLE);
	assert_int_equal(unwatch(&writer), 0);
	close(fds[1]);
	rig_end(&io);
}

/* The event comes between the poll's first look and its lock: while the waker is being cloned. */
struct interfering {
	struct edo_io_driver *io;
	int fd;
};

static edo_waker clone_and_interfere(void *data);

static const edo_waker_ops interfering_ops = { clone_and_interfere, ignore_waker, ignore_waker,
					       ignore_waker };

static edo_waker clone_and_interfere(void *data)
{
	struct interfering *interfering = data;

	write_byte(interfering->fd);
	settle(interfering->io);
	return (edo_waker){ data, &interfering_ops };
}

static void an_event_between_two_looks_is_not_lost(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	struct interfering interfering = { &io, -1 };
	edo_waker waker = { &interfering, &interfering_ops };
	edo_context cx;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	interfering.fd = fds[1];
	watch(&io, fds[0], &reader);
	edo_context_init(&cx, &waker);

	assert_int_equal(edo_io_poll_ready(reader.sio, reader.registration.generation, EDO_READING,
					   &reader.claimed[EDO_READING], &cx,
					   &reader.ready[EDO_READING]),
			 EDO_READY);

	assert_int_equal(unwatch(&reader), 0);
	close_pair(fds);
	rig_end(&io);
}

static void a_wait_for_priority_is_not_ended_by_plain_data(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	struct edo_io_claim claim = { .held = { false } };
	struct counter counter = { 0, 0 };
	edo_waker waker = counter_waker(&counter);
	edo_context cx;
	edo_ready ready;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_tcp_pair(fds);
	watch(&io, fds[0], &socket);
	edo_context_init(&cx, &waker);
	write_byte(fds[1]);
	while (poll_once(&socket, EDO_READING) != EDO_READY)
		assert_true(edo_io_turn(&io, UINT64_MAX) > 0);
	unclaim(&socket, EDO_READING);
	assert_int_equal(edo_io_poll_interest(socket.sio, socket.registration.generation,
					      EDO_PRIORITY, &claim, &cx, &ready),
			 EDO_PENDING);

	assert_int_equal(send(fds[1], "!", 1, MSG_OOB), 1);
	while (edo_io_poll_interest(socket.sio, socket.registration.generation, EDO_PRIORITY,
				    &claim, &cx, &ready) == EDO_PENDING)
		assert_true(edo_io_turn(&io, UINT64_MAX) > 0);

	assert_int_equal(ready.events, EDO_PRIORITY);
	edo_io_unclaim(socket.sio, socket.registration.generation, EDO_READING,
		       &claim.held[EDO_READING]);
	edo_waker_drop(&waker);
	assert_int_equal(counter.wakers, 0);
	assert_int_equal(unwatch(&socket), 0);
	close_pair(fds);
	rig_end(&io);
}

static void one_event_wakes_both_directions_in_order(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];
	static char block[65536];

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	while (send(fds[0], block, sizeof block, MSG_NOSIGNAL) > 0)
		;
	settle(&io);
	while (poll_once(&socket, EDO_WRITING) == EDO_READY)
		clear_seen(&socket, EDO_WRITING);
	while (poll_once(&socket, EDO_READING) == EDO_READY)
		clear_seen(&socket, EDO_READING);

	close(fds[1]);
	settle(&io);

	assert_int_equal(wakes_of(&socket.counter[EDO_READING]), 1);
	assert_int_equal(wakes_of(&socket.counter[EDO_WRITING]), 1);
	assert_int_equal(unwatch(&socket), 0);
	close(fds[0]);
	rig_end(&io);
}

static void a_second_waiter_in_one_direction_is_busy(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	bool other = false;
	struct counter counter = { 0, 0 };
	edo_waker waker = counter_waker(&counter);
	edo_context cx;
	edo_ready ready;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	edo_context_init(&cx, &waker);
	assert_int_equal(poll_once(&reader, EDO_READING), EDO_PENDING);

	assert_int_equal(edo_io_poll_ready(reader.sio, reader.registration.generation, EDO_READING,
					   &other, &cx, &ready),
			 -EBUSY);
	assert_false(other);
	unclaim(&reader, EDO_READING);
	assert_int_equal(reader.counter[EDO_READING].wakers, 0); /* forgotten, not woken */
	assert_int_equal(wakes_of(&reader.counter[EDO_READING]), 0);
	assert_int_equal(edo_io_poll_ready(reader.sio, reader.registration.generation, EDO_READING,
					   &other, &cx, &ready),
			 EDO_PENDING);

	edo_io_unclaim(reader.sio, reader.registration.generation, EDO_READING, &other);
	edo_waker_drop(&waker);
	assert_int_equal(counter.wakers, 0);
	assert_int_equal(unwatch(&reader), 0);
	close_pair(fds);
	rig_end(&io);
}

static void a_shutdown_wakes_all_and_refuses_new_ones(void **state)
{
	struct edo_io_driver io;
	struct watched socket, late;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_PENDING);

	edo_io_shutdown(&io);

	assert_int_equal(wakes_of(&socket.counter[EDO_READING]), 1);
	assert_int_equal(poll_once(&socket, EDO_READING), -ESHUTDOWN);
	assert_int_equal(poll_once(&socket, EDO_WRITING), -ESHUTDOWN);
	assert_int_equal(edo_io_call_begin(socket.sio, socket.registration.generation, EDO_READING),
			 -ESHUTDOWN);
	assert_int_equal(edo_io_register(&io, fds[1], 0, &late.registration), -ESHUTDOWN);
	assert_int_equal(unwatch(&socket), 0);
	close_pair(fds);
	edo_io_destroy(&io);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_reader_is_woken_when_data_comes_and_sees_it),
	cmocka_unit_test(readiness_stays_until_it_is_cleared),
	cmocka_unit_test(what_came_after_the_look_survives_the_clear),
	cmocka_unit_test(pitfall_p40_a_stale_clear_does_not_match_256_events_later),
	cmocka_unit_test(pitfall_p41_events_of_writing_do_not_block_the_clearing_of_reads),
	cmocka_unit_test(pitfall_p42_a_clear_of_one_direction_leaves_the_other),
	cmocka_unit_test(pitfall_p42_a_direction_reports_only_its_own_bits),
	cmocka_unit_test(pitfall_p42_an_error_is_seen_and_cleared_by_each_direction),
	cmocka_unit_test(pitfall_p43_a_half_close_ends_reading_only),
	cmocka_unit_test(pitfall_p43_a_hang_up_without_data_wakes_the_reader),
	cmocka_unit_test(pitfall_p43_a_full_hang_up_closes_both_directions),
	cmocka_unit_test(pitfall_p43_closed_bits_are_never_cleared),
	cmocka_unit_test(pitfall_p43_an_unconnected_socket_s_hang_up_does_not_spin),
	cmocka_unit_test(pitfall_p43_a_fifo_s_next_writer_finds_its_reader_waiting),
	cmocka_unit_test(pitfall_p44_the_end_of_the_stream_survives_a_clear_after_a_short_read),
	cmocka_unit_test(pitfall_p44_the_end_of_the_stream_comes_after_a_clear),
	cmocka_unit_test(pitfall_p52_a_reset_makes_both_ready_and_the_call_tells),
	cmocka_unit_test(pitfall_p52_an_error_that_passes_closes_nothing),
	cmocka_unit_test(pitfall_p52_a_pipe_without_a_reader_is_ready_to_fail),
	cmocka_unit_test(an_event_between_two_looks_is_not_lost),
	cmocka_unit_test(a_wait_for_priority_is_not_ended_by_plain_data),
	cmocka_unit_test(one_event_wakes_both_directions_in_order),
	cmocka_unit_test(a_second_waiter_in_one_direction_is_busy),
	cmocka_unit_test(a_shutdown_wakes_all_and_refuses_new_ones),
};

EDO_TEST_MAIN(tests)
