/* The idle limit of a stream, on a clock that stands: when nothing is ready it jumps to the next timer. */
#include "rig.h"
#include <sys/socket.h>

static void a_silent_peer_ends_the_read_at_the_limit_and_not_before(void **state)
{
	edo_tcp stream;
	edo_instant start;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(30)), 0);
	start = edo_now();
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), -ETIMEDOUT);
	assert_int_equal(edo_now() - start, EDO_SEC(30));
	assert_int_equal(edo_tcp_last_error(&stream), -ETIMEDOUT);

	/* It stays usable, and the limit starts anew. */
	start = edo_now();
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), -ETIMEDOUT);
	assert_int_equal(edo_now() - start, EDO_SEC(30));
	rig_send(peer, "x", 1);
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), 1);
	assert_int_equal(edo_tcp_last_error(&stream), 0);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void what_has_arrived_is_read_however_late(void **state)
{
	edo_tcp stream;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(1)), 0);
	rig_send(peer, "x", 1);
	assert_int_equal(edo_advance(EDO_HOUR(1)), 0);
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), 1);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_pause_between_operations_does_not_count(void **state)
{
	edo_tcp stream;
	edo_instant start;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(30)), 0);
	assert_int_equal(edo_tcp_write(&stream, "x", 1), 1);
	assert_int_equal(edo_advance(EDO_SEC(40)), 0);
	start = edo_now();
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), -ETIMEDOUT);
	assert_int_equal(edo_now() - start, EDO_SEC(30));
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* Or a select against a ticking interval would never see its stream time out. */
static void a_read_given_up_and_begun_again_does_not_postpone_the_limit(void **state)
{
	edo_instant start;
	edo_tcp stream;
	edo_tcp_io io;
	char byte;
	int peer, rc;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(30)), 0);
	start = edo_now();
	do {
		edo_tcp_read_start(&io, &stream, &byte, 1);
		rc = edo_timeout(EDO_SEC(7), &io.future);
		assert_int_equal(rc, -ETIMEDOUT);
	} while (edo_tcp_last_error(&stream) == 0); /* whose time-out: the stream's, or ours */
	assert_int_equal(edo_now() - start, EDO_SEC(30));
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

struct writes {
	edo_tcp *stream;
	int peer;
};

static int write_now_and_then(void *arg)
{
	struct writes *w = arg;
	char byte;
	int rc = 0;

	for (int i = 0; i < 5 && rc == 0; i++) {
		rc = edo_sleep(EDO_SEC(20));
		if (rc == 0)
			rc = (int)edo_tcp_write_all(w->stream, "x", 1);
		if (rc == 0 && recv(w->peer, &byte, 1, 0) != 1)
			rc = -EIO;
	}
	return rc;
}

static void progress_in_one_direction_keeps_the_other_alive(void **state)
{
	edo_tcp stream;
	struct writes writes = { .stream = &stream };
	edo_instant start;
	edo_task *task;
	char byte;
	int result = -1;

	(void)state;
	rig_pair(&stream, &writes.peer);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(30)), 0);
	assert_int_equal(edo_spawn_fiber(NULL, write_now_and_then, &writes, 0, &task), 0);
	start = edo_now();
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), -ETIMEDOUT);
	assert_int_equal(edo_now() - start, EDO_SEC(5 * 20 + 30));
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, 0);
	close(writes.peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void both_directions_see_one_expiry(void **state)
{
	static char bytes[1 << 20];
	edo_tcp_io read, write;
	edo_tcp stream;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	do {
		edo_tcp_write_start(&write, &stream, bytes, sizeof bytes);
	} while (rig_poll(&write.future) != EDO_PENDING);
	edo_future_drop(&write.future);
	rig_turn();
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(30)), 0);
	edo_tcp_write_start(&write, &stream, bytes, sizeof bytes);
	edo_tcp_read_start(&read, &stream, &byte, 1);
	assert_int_equal(rig_poll(&write.future), EDO_PENDING);
	assert_int_equal(rig_poll(&read.future), EDO_PENDING);
	rig_wakes = 0;
	assert_int_equal(edo_advance(EDO_SEC(30)), 0);
	assert_int_equal(rig_wakes, 2);
	assert_int_equal(rig_poll(&read.future), -ETIMEDOUT);
	/* The reader begins again before the writer has looked. */
	edo_tcp_read_start(&read, &stream, &byte, 1);
	assert_int_equal(rig_poll(&read.future), EDO_PENDING);
	assert_int_equal(rig_poll(&write.future), -ETIMEDOUT);
	assert_int_equal(rig_poll(&read.future), EDO_PENDING);
	edo_future_drop(&read.future);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

/* The limit has passed for both; but before the writer looks, there is room and it goes on. */
static void an_operation_that_has_moved_bytes_since_is_not_timed_out(void **state)
{
	static char bytes[8 << 20];
	edo_tcp_io read, write;
	edo_tcp stream;
	char byte;
	size_t done;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_buffers(&stream, 65536, 0), 0);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(30)), 0);
	edo_tcp_write_all_start(&write, &stream, bytes, sizeof bytes);
	edo_tcp_read_start(&read, &stream, &byte, 1);
	assert_int_equal(rig_poll(&write.future), EDO_PENDING);
	assert_int_equal(rig_poll(&read.future), EDO_PENDING);
	assert_int_equal(edo_advance(EDO_SEC(30)), 0);
	assert_int_equal(rig_poll(&read.future), -ETIMEDOUT);
	done = write.done;
	assert_true(done > 0 && done < sizeof bytes);
	for (size_t got = 0; got < done;)
		got += (size_t)recv(peer, bytes,
				    sizeof bytes < done - got ? sizeof bytes : done - got, 0);
	rig_turn();
	assert_int_equal(rig_poll(&write.future), EDO_PENDING);
	assert_true(write.done > done);
	assert_int_equal(rig_poll(&write.future), EDO_PENDING);
	edo_future_drop(&write.future);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_limit_set_under_a_wait_holds_for_it(void **state)
{
	edo_tcp stream;
	edo_tcp_io io;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	edo_tcp_read_start(&io, &stream, &byte, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(5)), 0);
	assert_int_equal(edo_advance(EDO_SEC(4)), 0);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	assert_int_equal(edo_advance(EDO_SEC(1)), 0);
	assert_int_equal(rig_poll(&io.future), -ETIMEDOUT);
	edo_future_drop(&io.future);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_limit_lifted_is_none(void **state)
{
	static const edo_duration none[] = { 0, EDO_FOREVER };
	edo_tcp stream;
	edo_tcp_io io;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(5)), 0);
		edo_tcp_read_start(&io, &stream, &byte, 1);
		assert_int_equal(rig_poll(&io.future), EDO_PENDING);
		assert_int_equal(edo_tcp_set_timeout(&stream, none[i]), 0);
		assert_int_equal(edo_advance(EDO_HOUR(24)), 0);
		assert_int_equal(rig_poll(&io.future), EDO_PENDING);
		edo_future_drop(&io.future);
	}
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_limit_of_a_nanosecond_and_of_nearly_for_ever_are_limits(void **state)
{
	edo_tcp stream;
	edo_tcp_io io;
	char byte;
	int peer;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_timeout(&stream, 1), 0);
	assert_int_equal(edo_tcp_read(&stream, &byte, 1), -ETIMEDOUT);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_FOREVER - 1), 0);
	edo_tcp_read_start(&io, &stream, &byte, 1);
	assert_int_equal(edo_timeout(EDO_HOUR(1000), &io.future), -ETIMEDOUT);
	assert_int_equal(edo_tcp_last_error(&stream), 0);
	close(peer);
	assert_int_equal(edo_tcp_close(&stream), 0);
}

static void a_closed_stream_s_limit_reaches_nobody(void **state)
{
	edo_tcp stream, fresh;
	edo_tcp_io io;
	char byte;
	int peer, second;

	(void)state;
	rig_pair(&stream, &peer);
	assert_int_equal(edo_tcp_set_timeout(&stream, EDO_SEC(5)), 0);
	edo_tcp_read_start(&io, &stream, &byte, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	edo_future_drop(&io.future);
	assert_int_equal(edo_tcp_close(&stream), 0);
	rig_turn();
	rig_pair(&fresh, &second);
	edo_tcp_read_start(&io, &fresh, &byte, 1);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	rig_wakes = 0;
	assert_int_equal(edo_advance(EDO_SEC(60)), 0);
	assert_int_equal(rig_wakes, 0);
	assert_int_equal(rig_poll(&io.future), EDO_PENDING);
	edo_future_drop(&io.future);
	close(peer);
	close(second);
	assert_int_equal(edo_tcp_close(&fresh), 0);
}

static const struct CMUnitTest tests[] = {
	rig_test_paused(a_silent_peer_ends_the_read_at_the_limit_and_not_before),
	rig_test_paused(what_has_arrived_is_read_however_late),
	rig_test_paused(a_pause_between_operations_does_not_count),
	rig_test_paused(a_read_given_up_and_begun_again_does_not_postpone_the_limit),
	rig_test_paused(progress_in_one_direction_keeps_the_other_alive),
	rig_test_paused(both_directions_see_one_expiry),
	rig_test_paused(an_operation_that_has_moved_bytes_since_is_not_timed_out),
	rig_test_paused(a_limit_set_under_a_wait_holds_for_it),
	rig_test_paused(a_limit_lifted_is_none),
	rig_test_paused(a_limit_of_a_nanosecond_and_of_nearly_for_ever_are_limits),
	rig_test_paused(a_closed_stream_s_limit_reaches_nobody),
};

EDO_TEST_MAIN(tests)
