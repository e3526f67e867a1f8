/* A stream's idle limit, on a driver with a paused clock: one timer for two directions. */
#include "base/atomic.h"
#include "driver/driver.h"
#include "driver_io/rig.h"
#include "support/runner.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND EDO_SEC(1)

struct stream {
	struct edo_driver *driver;
	struct watched watched;
	int fds[2];
	uint32_t seen[2];
};

static void open_stream(struct stream *stream)
{
	static const struct edo_driver_options options = {
		.start_paused = true,
		.timer_resolution = 1000000,
		.events_per_turn = 16,
		.shards = 1,
		.allocator = &rig_allocator,
	};
	void *memory = NULL;

	assert_int_equal(posix_memalign(&memory, _Alignof(struct edo_driver),
					sizeof *stream->driver),
			 0);
	stream->driver = memory;
	assert_int_equal(edo_driver_init(stream->driver, &options), 0);
	(void)edo_current_driver_set(stream->driver);
	make_socket_pair(stream->fds);
	watch(&stream->driver->io, stream->fds[0], &stream->watched);
	edo_driver_turn(stream->driver, 0, false);
	while (poll_once(&stream->watched, EDO_WRITING) == EDO_READY)
		clear_seen(&stream->watched, EDO_WRITING);
	assert_int_equal(poll_once(&stream->watched, EDO_READING), EDO_PENDING);
}

static void close_stream(struct stream *stream)
{
	assert_int_equal(unwatch(&stream->watched), 0);
	close_pair(stream->fds);
	edo_driver_shutdown(stream->driver);
	edo_driver_destroy(stream->driver);
	(void)edo_current_driver_set(NULL);
	free(stream->driver);
}

static int limit(struct stream *stream, uint64_t ns)
{
	return edo_io_idle_set(&stream->driver->time, stream->watched.sio, ns);
}

static void begin(struct stream *stream, enum edo_direction direction)
{
	edo_io_idle_begin(&stream->driver->time, stream->watched.sio,
			  edo_time_now(&stream->driver->time), &stream->seen[direction]);
}

static void progress(struct stream *stream)
{
	edo_io_idle_progress(&stream->driver->time, stream->watched.sio,
			     edo_time_now(&stream->driver->time));
}

static bool expired(struct stream *stream, enum edo_direction direction)
{
	return edo_io_idle_expired(&stream->driver->time, stream->watched.sio,
				   stream->watched.registration.generation,
				   stream->seen[direction]);
}

static void pass(struct stream *stream, uint64_t ns)
{
	assert_int_equal(edo_time_advance(&stream->driver->time, ns), 0);
	edo_driver_turn(stream->driver, 0, false);
}

static uint32_t wakes(struct stream *stream, enum edo_direction direction)
{
	return wakes_of(&stream->watched.counter[direction]);
}

static void an_idle_stream_wakes_and_tells_both_directions(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, 30 * SECOND), 0);
	begin(&stream, EDO_READING);
	begin(&stream, EDO_WRITING);

	pass(&stream, 30 * SECOND - 1);
	assert_int_equal(wakes(&stream, EDO_READING), 0);
	assert_false(expired(&stream, EDO_READING));
	pass(&stream, 1);

	assert_int_equal(wakes(&stream, EDO_READING), 1);
	assert_int_equal(wakes(&stream, EDO_WRITING), 1);
	assert_true(expired(&stream, EDO_READING));
	assert_true(expired(&stream, EDO_WRITING));
	close_stream(&stream);
}

/* The reader is told, tries again and so starts the limit anew, before the writer has looked. */
static void both_see_one_expiry_though_one_has_gone_on(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, SECOND), 0);
	begin(&stream, EDO_READING);
	begin(&stream, EDO_WRITING);
	pass(&stream, SECOND);
	assert_true(expired(&stream, EDO_READING));
	begin(&stream, EDO_READING);

	assert_true(expired(&stream, EDO_WRITING));
	assert_false(expired(&stream, EDO_READING));
	pass(&stream, SECOND);
	assert_true(expired(&stream, EDO_READING));
	close_stream(&stream);
}

static void progress_starts_the_limit_anew(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, 2 * SECOND), 0);
	begin(&stream, EDO_READING);
	for (int i = 0; i < 5; i++) {
		pass(&stream, SECOND);
		progress(&stream);
	}
	assert_false(expired(&stream, EDO_READING));

	pass(&stream, 2 * SECOND);

	assert_true(expired(&stream, EDO_READING));
	close_stream(&stream);
}

static void an_operation_given_up_and_begun_again_does_not_postpone_it(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, 3 * SECOND), 0);
	for (int i = 0; i < 3; i++) {
		begin(&stream, EDO_READING);
		assert_false(expired(&stream, EDO_READING));
		pass(&stream, SECOND);
	}

	assert_true(expired(&stream, EDO_READING));
	close_stream(&stream);
}

/* 40 seconds of computing between two reads are not 40 seconds of waiting. */
static void the_first_operation_after_progress_starts_it_anew(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, 30 * SECOND), 0);
	begin(&stream, EDO_READING);
	progress(&stream);
	pass(&stream, 20 * SECOND);

	begin(&stream, EDO_READING);
	pass(&stream, 20 * SECOND);
	assert_false(expired(&stream, EDO_READING));
	pass(&stream, 10 * SECOND);

	assert_true(expired(&stream, EDO_READING));
	close_stream(&stream);
}

static void an_expiry_that_nobody_waited_for_is_not_the_next_operation_s(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, SECOND), 0);
	begin(&stream, EDO_READING);
	progress(&stream);
	pass(&stream, 40 * SECOND);

	begin(&stream, EDO_READING);

	assert_false(expired(&stream, EDO_READING));
	pass(&stream, SECOND);
	assert_true(expired(&stream, EDO_READING));
	close_stream(&stream);
}

/* The same after an operation that was given up, since which no byte has moved. */
static void an_expiry_after_an_operation_was_given_up_is_not_the_next_one_s(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, SECOND), 0);
	begin(&stream, EDO_READING);
	pass(&stream, 40 * SECOND);

	begin(&stream, EDO_READING);

	assert_false(expired(&stream, EDO_READING));
	pass(&stream, SECOND);
	assert_true(expired(&stream, EDO_READING));
	close_stream(&stream);
}

static void bytes_that_come_with_the_expiry_win(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, SECOND), 0);
	begin(&stream, EDO_WRITING);
	pass(&stream, SECOND); /* fired, nobody has looked yet */

	progress(&stream);

	assert_false(expired(&stream, EDO_WRITING));
	pass(&stream, SECOND);
	assert_true(expired(&stream, EDO_WRITING));
	close_stream(&stream);
}

static void a_lifted_limit_never_passes(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, SECOND), 0);
	begin(&stream, EDO_READING);
	assert_int_equal(limit(&stream, EDO_FOREVER), 0);
	pass(&stream, 1000 * SECOND);
	assert_false(expired(&stream, EDO_READING));
	assert_int_equal(wakes(&stream, EDO_READING), 0);

	assert_int_equal(limit(&stream, 0), 0);
	begin(&stream, EDO_READING);
	pass(&stream, 1000 * SECOND);
	assert_false(expired(&stream, EDO_READING));
	close_stream(&stream);
}

static void a_shorter_limit_holds_at_once_for_who_waits_already(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, 1000 * SECOND), 0);
	begin(&stream, EDO_READING);
	assert_int_equal(limit(&stream, SECOND), 0);
	pass(&stream, SECOND);

	assert_true(expired(&stream, EDO_READING));
	assert_int_equal(wakes(&stream, EDO_READING), 1);
	close_stream(&stream);
}

static void a_closed_stream_s_limit_does_not_reach_the_slot_s_next_user(void **state)
{
	struct stream stream = { NULL };
	struct watched next;
	int fd = make_eventfd();

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, SECOND), 0);
	begin(&stream, EDO_READING);
	assert_int_equal(unwatch(&stream.watched), 0);
	assert_false(edo_entry_is_armed(&stream.watched.sio->idle));
	edo_driver_turn(stream.driver, 0, false);
	watch(&stream.driver->io, fd, &next);
	assert_ptr_equal(next.sio, stream.watched.sio);
	assert_int_equal(poll_once(&next, EDO_READING), EDO_PENDING);

	pass(&stream, 10 * SECOND);

	assert_int_equal(wakes_of(&next.counter[EDO_READING]), 0);
	assert_int_equal(unwatch(&next), 0);
	watch(&stream.driver->io, stream.fds[0], &stream.watched);
	close(fd);
	close_stream(&stream);
}

/* Armed timers of streams that are still open when the runtime ends. */
static void a_shutdown_ends_it_with_an_open_stream(void **state)
{
	struct stream stream = { NULL };

	(void)state;
	open_stream(&stream);
	assert_int_equal(limit(&stream, SECOND), 0);
	begin(&stream, EDO_READING);

	edo_driver_shutdown(stream.driver);

	assert_true(wakes(&stream, EDO_READING) >= 1);
	assert_int_equal(poll_once(&stream.watched, EDO_READING), -ESHUTDOWN);
	begin(&stream, EDO_READING); /* harmless */
	progress(&stream);
	edo_driver_destroy(stream.driver);
	(void)edo_current_driver_set(NULL);
	free(stream.driver);
	close_pair(stream.fds);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(an_idle_stream_wakes_and_tells_both_directions),
	cmocka_unit_test(both_see_one_expiry_though_one_has_gone_on),
	cmocka_unit_test(progress_starts_the_limit_anew),
	cmocka_unit_test(an_operation_given_up_and_begun_again_does_not_postpone_it),
	cmocka_unit_test(the_first_operation_after_progress_starts_it_anew),
	cmocka_unit_test(an_expiry_that_nobody_waited_for_is_not_the_next_operation_s),
	cmocka_unit_test(an_expiry_after_an_operation_was_given_up_is_not_the_next_one_s),
	cmocka_unit_test(bytes_that_come_with_the_expiry_win),
	cmocka_unit_test(a_lifted_limit_never_passes),
	cmocka_unit_test(a_shorter_limit_holds_at_once_for_who_waits_already),
	cmocka_unit_test(a_closed_stream_s_limit_does_not_reach_the_slot_s_next_user),
	cmocka_unit_test(a_shutdown_ends_it_with_an_open_stream),
};

EDO_TEST_MAIN(tests)
