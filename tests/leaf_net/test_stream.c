/* Reading and writing: bytes, ends, errors, and what is kept of readiness between calls. */
#include "rig.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

/* ---- reading ---- */

static void bytes_arrive_and_then_the_end(void **state)
{
	edo_tcp stream;
	char buf[64];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_send(peer, "hello", 5);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 5);
	assert_memory_equal(buf, "hello", 5);
	close(peer);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 0);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 0);
	assert_int_equal(edo_tcp_last_error(&stream), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_read_of_nothing_is_done_at_once(void **state)
{
	edo_tcp stream;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_read(&stream, NULL, 0), 0);
	assert_int_equal(edo_tcp_write(&stream, NULL, 0), 0);
	assert_int_equal(edo_tcp_write_all(&stream, NULL, 0), 0);
	assert_int_equal(edo_tcp_readv(&stream, NULL, 0), 0);
	assert_int_equal(edo_tcp_writev(&stream, NULL, 0), 0);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(edo_tcp_read(&stream, NULL, 0), -EBADF);
}

/* p44: the last bytes and the end come in one event; a short read must not hide the end. */
static void pitfall_p44_a_short_read_does_not_lose_the_end(void **state)
{
	edo_tcp stream;
	char buf[64];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_send(peer, "bye", 3);
	close(peer);
	rig_turn();
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 3);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* p44: the short read comes first, the end in an event of its own. */
static void pitfall_p44_an_end_after_a_short_read_is_seen(void **state)
{
	edo_tcp stream;
	char buf[64];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_send(peer, "bye", 3);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 3);
	close(peer);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* R2: a short count is taken for the EAGAIN that would follow it. A full one is not. */
static void a_short_read_saves_the_call_that_would_say_eagain(void **state)
{
	edo_tcp stream;
	edo_tcp_io io;
	char buf[64];
	uint64_t calls;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_send(peer, "hello", 5);
	rig_turn();
	calls = edo_sys_calls_of(EDO_CALL_recv);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 5);
	edo_tcp_read_start(&io, &stream, buf, sizeof buf);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	edo_future_drop(&io.future);
	assert_int_equal(edo_sys_calls_of(EDO_CALL_recv) - calls, 1);

	rig_send(peer, "hello", 5);
	rig_turn();
	calls = edo_sys_calls_of(EDO_CALL_recv);
	assert_int_equal(edo_tcp_read(&stream, buf, 5), 5);
	edo_tcp_read_start(&io, &stream, buf, sizeof buf);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	edo_future_drop(&io.future);
	assert_int_equal(edo_sys_calls_of(EDO_CALL_recv) - calls, 2);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* A read stops short at out-of-band data; what lies behind it has been announced already. */
static void a_read_that_stops_at_urgent_data_loses_nothing_behind_it(void **state)
{
	edo_tcp stream;
	edo_tcp_io io;
	char got[64];
	size_t total = 0;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_send(peer, "abc", 3);
	assert_int_equal(send(peer, "!", 1, MSG_OOB), 1);
	rig_send(peer, "def", 3);
	rig_turn();
	while (total < 6) {
		edo_tcp_read_start(&io, &stream, got + total, sizeof got - total);
		assert_return_code(edo_timeout(EDO_SEC(10), &io.future), 0);
		total += (size_t)io.result;
	}
	assert_memory_equal(got, "abcdef", 6);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_spurious_readiness_costs_one_call_and_waits_on(void **state)
{
	edo_tcp stream;
	edo_tcp_io io;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_send(peer, "x", 1);
	rig_turn();
	edo_sys_fault_order(EDO_CALL_recv, EAGAIN, 0, 1);
	edo_tcp_read_start(&io, &stream, buf, sizeof buf);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	edo_sys_fault_clear();
	rig_send(peer, "y", 1);
	rig_turn();
	assert_int_equal(rig_poll(&io.future), 2);
	assert_int_equal(io.result, 2);
	assert_int_equal(io.done, 2);
	edo_future_drop(&io.future);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void vectors_are_filled_in_order(void **state)
{
	char first[3], second[1], third[10];
	const struct iovec iov[] = { { first, 3 }, { NULL, 0 }, { second, 1 }, { third, 10 } };
	struct iovec kept[4];
	edo_tcp stream;
	int peer;

	(void)state;
	memcpy(kept, iov, sizeof iov);
	rig_pair(&stream, &peer);
	rig_send(peer, "abcdefg", 7);
	assert_int_equal(edo_tcp_readv(&stream, iov, 4), 7);
	assert_memory_equal(first, "abc", 3);
	assert_memory_equal(second, "d", 1);
	assert_memory_equal(third, "efg", 3);
	assert_int_equal(edo_tcp_writev(&stream, iov, 3), 4);
	rig_receive(peer, third, 4);
	assert_memory_equal(third, "abcd", 4);
	assert_memory_equal(kept, iov, sizeof iov);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void vectors_that_make_no_sense_are_refused(void **state)
{
	struct iovec *iov = calloc(1025, sizeof *iov);
	edo_tcp stream;
	char byte = 'x';
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	for (int i = 0; i < 1025; i++)
		iov[i] = (struct iovec){ &byte, 1 };
	assert_int_equal(edo_tcp_readv(&stream, iov, 1025), -EINVAL);
	assert_int_equal(edo_tcp_writev(&stream, iov, 1025), -EINVAL);
	assert_int_equal(edo_tcp_readv(&stream, iov, -1), -EINVAL);
	assert_int_equal(edo_tcp_writev(&stream, NULL, 1), -EINVAL);
	assert_int_equal(edo_tcp_writev(&stream, iov, 1024), 1024);
	free(iov);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* ---- writing ---- */

enum { LARGE = 8 << 20 };

static int read_it_all(void *arg)
{
	edo_tcp *stream = arg;
	unsigned char *buf = malloc(100000);
	size_t at = 0;
	ssize_t n = -ENOMEM;

	while (buf && (n = edo_tcp_read(stream, buf, 1 + at % 99999)) > 0)
		for (ssize_t i = 0; i < n; i++, at++)
			if (buf[i] != (unsigned char)(at * 7 + at / 251)) {
				free(buf);
				return -EILSEQ;
			}
	free(buf);
	edo_tcp_close(stream);
	return n < 0 ? (int)n : (int)at;
}

static void large_transfers_arrive_whole_through_small_buffers(void **state)
{
	unsigned char *bytes = malloc(LARGE);
	edo_tcp_listener listener;
	edo_tcp client, server;
	edo_addr addr;
	edo_task *reader;
	edo_tcp_io io;
	int result = 0;

	(void)state;
	rig_fill(bytes, LARGE);
	rig_listen(&listener, &addr);
	assert_int_equal(edo_tcp_connect_addr(&client, &addr), 0);
	assert_int_equal(edo_tcp_accept(&listener, &server, NULL), 0);
	assert_int_equal(edo_tcp_set_buffers(&client, 65536, 0), 0);
	assert_int_equal(edo_spawn_fiber(NULL, read_it_all, &server, sizeof server, &reader), 0);

	edo_tcp_write_all_start(&io, &client, bytes, LARGE);
	assert_int_equal(edo_await(&io.future), 0);
	assert_int_equal(io.result, 0);
	assert_int_equal(io.done, LARGE);
	assert_int_equal(edo_tcp_shutdown(&client, EDO_SHUT_WR), 0);
	assert_int_equal(edo_task_join(reader, &result), 0);
	assert_int_equal(result, LARGE);

	free(bytes);
	assert_int_equal(edo_tcp_close(&client), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

/* Writes until the kernel takes no more. Returns how much it took. */
static size_t fill_up(edo_tcp *stream, edo_tcp_io *io)
{
	static const char bytes[65536];
	size_t total = 0;

	for (;;) {
		edo_poll polled;

		edo_tcp_write_start(io, stream, bytes, sizeof bytes);
		polled = rig_poll(&io->future);
		if (polled == EDO_PENDING)
			return total;
		assert_true(polled > 0);
		total += (size_t)polled;
	}
}

static void drain(int peer, size_t len)
{
	char buf[65536];

	while (len > 0) {
		ssize_t n = recv(peer, buf, len < sizeof buf ? len : sizeof buf, 0);

		assert_true(n > 0);
		len -= (size_t)n;
	}
}

static void a_full_socket_wakes_its_writer_when_there_is_room(void **state)
{
	edo_tcp stream;
	edo_tcp_io io;
	uint64_t calls;
	size_t filled;
	unsigned before;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	filled = fill_up(&stream, &io);
	rig_turn();
	before = rig_wakes;
	calls = edo_sys_calls_of(EDO_CALL_send);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	assert_int_equal(edo_sys_calls_of(EDO_CALL_send), calls);
	drain(peer, filled);
	rig_turn();
	assert_true(rig_wakes > before);
	assert_true(rig_poll(&io.future) > 0);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void an_unfinished_write_all_tells_how_far_it_came(void **state)
{
	char *bytes = calloc(1, LARGE);
	edo_tcp stream;
	edo_tcp_io io;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_buffers(&stream, 4096, 0), 0);
	edo_tcp_write_all_start(&io, &stream, bytes, LARGE);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	edo_future_drop(&io.future);
	assert_true(io.done > 0 && io.done < LARGE);
	drain(peer, io.done);
	assert_int_equal(edo_tcp_write_all(&stream, "end", 3), 0);
	rig_receive(peer, bytes, 3);
	assert_memory_equal(bytes, "end", 3);
	free(bytes);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void short_writes_are_gone_on_with(void **state)
{
	char got[10];
	edo_tcp stream;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	edo_sys_fault_order(EDO_CALL_send, EAGAIN, 0, 1);
	{
		edo_tcp_io io;

		edo_tcp_write_all_start(&io, &stream, "0123456789", 10);
		assert_int_equal(rig_poll(&io.future), EDO_PENDING);
		edo_sys_fault_clear();
		/* Any event of the socket brings writability with it. */
		rig_send(peer, "x", 1);
		rig_turn();
		assert_int_equal(rig_poll(&io.future), 0);
	}
	rig_receive(peer, got, 10);
	assert_memory_equal(got, "0123456789", 10);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* ---- ends and errors ---- */

static void the_peer_s_half_close_leaves_writing_open(void **state)
{
	edo_tcp stream;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_send(peer, "last", 4);
	assert_return_code(shutdown(peer, SHUT_WR), errno);
	rig_turn();
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 4);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 0);
	assert_int_equal(edo_tcp_write_all(&stream, "answer", 6), 0);
	rig_receive(peer, buf, 6);
	assert_memory_equal(buf, "answer", 6);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void our_half_close_ends_the_peer_s_reading_and_not_ours(void **state)
{
	edo_tcp stream;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_shutdown(&stream, EDO_SHUT_WR), 0);
	assert_int_equal(recv(peer, buf, 1, 0), 0);
	rig_send(peer, "more", 4);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 4);
	assert_int_equal(edo_tcp_write(&stream, "x", 1), -EPIPE);
	assert_int_equal(edo_tcp_last_error(&stream), -EPIPE);
	assert_int_equal(edo_tcp_shutdown(&stream, (edo_shut)7), -EINVAL);
	assert_int_equal(edo_tcp_shutdown(&stream, EDO_SHUT_RD), 0);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 0);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_peer_that_resets_is_told_of_once_and_for_all(void **state)
{
	edo_tcp stream;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	rig_reset(peer);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), -ECONNRESET);
	assert_int_equal(edo_tcp_last_error(&stream), -ECONNRESET);
	assert_int_equal(edo_tcp_write(&stream, "x", 1), -EPIPE);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 0);
	assert_int_equal(edo_tcp_last_error(&stream), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_reader_that_waits_is_woken_by_a_reset(void **state)
{
	edo_tcp stream;
	edo_tcp_io io;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	edo_tcp_read_start(&io, &stream, buf, sizeof buf);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	rig_reset(peer);
	rig_turn();
	assert_int_equal(rig_poll(&io.future), -ECONNRESET);
	edo_future_drop(&io.future);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void reset_on_close_reaches_the_peer(void **state)
{
	edo_tcp stream;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_reset_on_close(&stream, true), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(recv(peer, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(peer);

	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_reset_on_close(&stream, true), 0);
	assert_int_equal(edo_tcp_set_reset_on_close(&stream, false), 0);
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(recv(peer, &byte, 1, 0), 0);
	close(peer);
}

/* ---- several tasks ---- */

static void a_second_task_in_one_direction_is_one_too_many(void **state)
{
	edo_tcp_io first, second, write;
	edo_tcp stream;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	edo_tcp_read_start(&first, &stream, buf, sizeof buf);
	edo_tcp_read_start(&second, &stream, buf, sizeof buf);
	edo_tcp_write_start(&write, &stream, "w", 1);
	assert_int_equal(rig_poll(&first.future), EDO_PENDING);
	assert_int_equal(rig_poll(&second.future), -EBUSY);
	assert_int_equal(rig_poll(&write.future), 1);
	assert_int_equal(edo_tcp_last_error(&stream), 0);
	edo_future_drop(&first.future);
	edo_tcp_read_start(&second, &stream, buf, sizeof buf);
	assert_int_equal(rig_poll(&second.future), EDO_PENDING);
	edo_future_drop(&second.future);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void close_ends_the_waits_of_other_tasks(void **state)
{
	edo_tcp_io read, write;
	edo_tcp stream;
	unsigned before;
	char buf[8];
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	fill_up(&stream, &write);
	edo_tcp_read_start(&read, &stream, buf, sizeof buf);
	assert_int_equal(rig_poll(&read.future), EDO_PENDING);
	before = rig_wakes;
	assert_int_equal(edo_tcp_close(&stream), 0);
	assert_int_equal(rig_wakes, before + 2);
	assert_int_equal(rig_poll(&read.future), -EBADF);
	assert_int_equal(rig_poll(&write.future), -EBADF);
	edo_future_drop(&read.future);
	edo_future_drop(&write.future);
	close(peer);
}

static int read_one(void *arg)
{
	char byte;

	return (int)edo_tcp_read(*(edo_tcp **)arg, &byte, 1);
}

static void an_aborted_fiber_s_read_loses_no_byte(void **state)
{
	edo_tcp stream, *pointer = &stream;
	edo_task *task;
	char buf[8];
	int peer, result = 0;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_spawn_fiber(NULL, read_one, &pointer, sizeof pointer, &task), 0);
	rig_turn();
	rig_send(peer, "kept", 4);
	edo_task_abort(task);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, -ECANCELED);
	assert_int_equal(edo_tcp_read(&stream, buf, sizeof buf), 4);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* ---- budget ---- */

/* S1: a reader that never runs out of bytes is cut after 128 results, with nothing lost. */
static void a_reader_that_never_waits_is_cut_by_its_budget(void **state)
{
	edo_waker waker = { NULL, NULL };
	edo_context cx;
	edo_tcp stream;
	edo_tcp_io io;
	unsigned char bytes[256], byte;
	int peer, reads = 0;

	(void)state;
	rig_fill(bytes, sizeof bytes);
	rig_pair(&stream, &peer);
	rig_send(peer, bytes, sizeof bytes);
	rig_turn();
	edo_context_init(&cx, &waker);
	for (;;) {
		edo_tcp_read_start(&io, &stream, &byte, 1);
		if (edo_future_poll(&io.future, &cx) == EDO_PENDING)
			break;
		assert_int_equal(byte, bytes[reads++]);
	}
	assert_int_equal(reads, 128);
	edo_context_init(&cx, &waker);
	assert_int_equal(edo_future_poll(&io.future, &cx), 1);
	assert_int_equal(byte, bytes[128]);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_poll_that_made_no_progress_gives_its_budget_back(void **state)
{
	edo_waker waker = { NULL, NULL };
	edo_context cx;
	edo_tcp stream;
	edo_tcp_io io;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	edo_context_init(&cx, &waker);
	for (int i = 0; i < 200; i++) {
		rig_send(peer, "x", 1);
		edo_sys_fault_order(EDO_CALL_recv, EAGAIN, 0, 1);
		edo_tcp_read_start(&io, &stream, &byte, 1);
		do { /* until the byte has come through, which may take the system a moment */
			rig_turn();
			assert_int_equal(edo_future_poll(&io.future, &cx), EDO_PENDING);
		} while (!edo_sys_fault_happened());
		edo_future_drop(&io.future);
	}
	edo_tcp_write_start(&io, &stream, "x", 1);
	assert_int_equal(edo_future_poll(&io.future, &cx), 1);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static const struct CMUnitTest tests[] = {
	rig_test(bytes_arrive_and_then_the_end),
	rig_test(a_read_of_nothing_is_done_at_once),
	rig_test(pitfall_p44_a_short_read_does_not_lose_the_end),
	rig_test(pitfall_p44_an_end_after_a_short_read_is_seen),
	rig_test(a_short_read_saves_the_call_that_would_say_eagain),
	rig_test_paused(a_read_that_stops_at_urgent_data_loses_nothing_behind_it),
	rig_test(a_spurious_readiness_costs_one_call_and_waits_on),
	rig_test(vectors_are_filled_in_order),
	rig_test(vectors_that_make_no_sense_are_refused),
	rig_test(large_transfers_arrive_whole_through_small_buffers),
	rig_test(a_full_socket_wakes_its_writer_when_there_is_room),
	rig_test(an_unfinished_write_all_tells_how_far_it_came),
	rig_test(short_writes_are_gone_on_with),
	rig_test(the_peer_s_half_close_leaves_writing_open),
	rig_test(our_half_close_ends_the_peer_s_reading_and_not_ours),
	rig_test(a_peer_that_resets_is_told_of_once_and_for_all),
	rig_test(a_reader_that_waits_is_woken_by_a_reset),
	rig_test(reset_on_close_reaches_the_peer),
	rig_test(a_second_task_in_one_direction_is_one_too_many),
	rig_test(close_ends_the_waits_of_other_tasks),
	rig_test(an_aborted_fiber_s_read_loses_no_byte),
	rig_test(a_reader_that_never_waits_is_cut_by_its_budget),
	rig_test(a_poll_that_made_no_progress_gives_its_budget_back),
};

EDO_TEST_MAIN(tests)
