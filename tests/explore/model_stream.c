/*
 * A stream's reads and writes, as futures of the real tcp_io.c on the fake poller: bytes that move in one
 * direction meet a wait that begins in the other, and both have the idle limit between them.
 *
 * Progress for which nobody waits moves no timer: the next wait does. So of the two one must see the other,
 * or the limit passes too early, counted from before the progress. Nothing but their own orders helps them:
 * no lock is shared on the way. (What happens to the entry itself: model_idle.c.)
 */
#include "driver/driver.h"
#include "explore/rig_io.h"
#include "leaf/net/net.h"
#include <edo/fiber.h>
#include <errno.h>

#define TICK UINT64_C(1000000)

enum { FD = 1, LIMIT = 5 };

static struct edo_driver driver;
static edo_tcp stream;

/* ---- the kernel's socket ---- */

static uint32_t socket_has[2]; /* atomic: bytes to read, and room for bytes */

static ssize_t move(enum edo_direction direction, size_t len)
{
	uint32_t there = edo_load(&socket_has[direction], relaxed);
	uint32_t moved;

	do {
		if (there == 0)
			return -EAGAIN;
		moved = there < len ? there : (uint32_t)len;
	} while (!edo_compare_exchange(&socket_has[direction], &there, there - moved, relaxed,
				       relaxed));
	return (ssize_t)moved;
}

ssize_t edo_sys_recv(int fd, void *buf, size_t len)
{
	(void)buf;
	explore_check(fd == FD);
	return move(EDO_READING, len);
}

ssize_t edo_sys_send(int fd, const void *buf, size_t len)
{
	(void)buf;
	explore_check(fd == FD);
	return move(EDO_WRITING, len);
}

/* ---- what is linked and never reached ---- */

static int unreachable(void)
{
	bool a_model_reached_what_it_has_not_got = true;

	explore_check(!a_model_reached_what_it_has_not_got);
	return -ENOSYS;
}

ssize_t edo_sys_readv(int fd, const struct iovec *iov, int count)
{
	(void)fd;
	(void)iov;
	(void)count;
	return unreachable();
}

ssize_t edo_sys_sendv(int fd, const struct iovec *iov, int count)
{
	return edo_sys_readv(fd, iov, count);
}

int edo_sys_close(int fd)
{
	(void)fd;
	return unreachable();
}

int edo_sys_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	(void)level;
	(void)name;
	(void)value;
	(void)len;
	return edo_sys_close(fd);
}

int edo_sys_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)level;
	(void)name;
	(void)value;
	(void)len;
	return edo_sys_close(fd);
}

int edo_await(edo_future *future)
{
	(void)future;
	return unreachable();
}

/* ---- operations ---- */

struct operating {
	struct rig_task task;
	edo_tcp_io io;
	char byte;
	edo_poll polled; /* the last poll's */
};

static struct operating reader, writer, next_reader;

static void reads_a_byte(struct operating *operating)
{
	edo_tcp_read_start(&operating->io, &stream, &operating->byte, 1);
}

static void writes_a_byte(struct operating *operating)
{
	edo_tcp_write_start(&operating->io, &stream, &operating->byte, 1);
}

static edo_poll poll_once(struct operating *operating)
{
	edo_waker waker = rig_io_waker(&operating->task);
	edo_context cx = { .waker = &waker, .edo_driver_ = &driver, .edo_budget_ = 128 };

	operating->polled = edo_future_poll(&operating->io.future, &cx);
	return operating->polled;
}

static void moves_a_byte(void *operating)
{
	explore_check(poll_once(operating) == 1);
}

static void waits(void *operating)
{
	explore_check(poll_once(operating) == EDO_PENDING);
}

static void moves_a_byte_and_waits_for_the_next(void *operating)
{
	moves_a_byte(operating);
	reads_a_byte(&next_reader);
	waits(&next_reader);
}

/* ---- beginning and end ---- */

static struct edo_scheduled_io *slot(void)
{
	return edo_io_find(&driver.io, stream.edo_index_, stream.edo_generation_);
}

static void set_the_limit(void)
{
	explore_check(edo_io_idle_set(&driver.time, slot(), LIMIT * TICK) == 0);
}

static void begin(void)
{
	static const struct edo_driver_options options = {
		.clock = EDO_SYS_MONOTONIC,
		.timer_resolution = TICK,
		.events_per_turn = FAKE_DESCRIPTORS + 1,
		.shards = 1,
		.allocator = &rig_io_allocator,
	};

	explore_check(edo_driver_init(&driver, &options) == 0);
	driver.time.clock.start = 0;
	explore_clock_advance(TICK - explore_clock());
	explore_check(edo_net_adopt_unready(&driver, FD, &stream) == 0);
	reads_a_byte(&reader);
	writes_a_byte(&writer);
}

static void comes(enum edo_direction direction)
{
	(void)edo_fetch_add(&socket_has[direction], 1, relaxed);
	rig_io_event(slot(), direction == EDO_READING ? EDO_IS_READABLE : EDO_IS_WRITABLE);
}

/* One waits, by the limit that it has begun; two ticks later what it waits for has come. */
static void begin_with_progress_to_make(struct operating *operating, enum edo_direction direction)
{
	begin();
	set_the_limit();
	waits(operating);
	explore_clock_advance(2 * TICK);
	comes(direction);
}

static void end(void)
{
	edo_future_drop(&reader.io.future);
	edo_future_drop(&writer.io.future);
	if (next_reader.io.future.ops)
		edo_future_drop(&next_reader.io.future);
	explore_check(edo_io_deregister(&driver.io, stream.edo_index_, stream.edo_generation_) ==
		      0);
	edo_driver_shutdown(&driver);
	edo_driver_destroy(&driver);
	explore_check(reader.task.clones == 0 && writer.task.clones == 0);
	explore_check(next_reader.task.clones == 0);
}

/* It waits, nothing comes, and it is told in time: neither sooner nor later. */
static void check_that_it_passes_in_full(struct operating *operating)
{
	explore_clock_advance((LIMIT - 1) * TICK);
	(void)edo_time_process(&driver.time);
	explore_check(poll_once(operating) == EDO_PENDING);
	explore_clock_advance(TICK);
	(void)edo_time_process(&driver.time);
	explore_check(poll_once(operating) == -ETIMEDOUT);
}

/* ---- models ---- */

static void a_read_and_a_write_that_waits(void)
{
	begin_with_progress_to_make(&reader, EDO_READING);
	explore_start(moves_a_byte, &reader);
	explore_start(waits, &writer);
	explore_join_all();
	check_that_it_passes_in_full(&writer);
	end();
}

static void a_write_and_a_read_that_waits(void)
{
	begin_with_progress_to_make(&writer, EDO_WRITING);
	explore_start(moves_a_byte, &writer);
	explore_start(waits, &reader);
	explore_join_all();
	check_that_it_passes_in_full(&reader);
	end();
}

static void a_read_another_and_a_write_that_waits(void)
{
	begin_with_progress_to_make(&reader, EDO_READING);
	explore_start(moves_a_byte_and_waits_for_the_next, &reader);
	explore_start(waits, &writer);
	explore_join_all();
	check_that_it_passes_in_full(&writer);
	explore_check(poll_once(&next_reader) == -ETIMEDOUT);
	end();
}

/* Nobody waits: the next one to do so has the whole limit. */
static void a_read_and_a_write(void)
{
	begin_with_progress_to_make(&reader, EDO_READING);
	comes(EDO_WRITING);
	explore_start(moves_a_byte, &reader);
	explore_start(moves_a_byte, &writer);
	explore_join_all();
	reads_a_byte(&next_reader);
	waits(&next_reader);
	check_that_it_passes_in_full(&next_reader);
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "a read meets a write that waits", a_read_and_a_write_that_waits, ALL, ALL },
	{ "a write meets a read that waits", a_write_and_a_read_that_waits, ALL, ALL },
	{ "a read and the next meet a write that waits", a_read_another_and_a_write_that_waits, ALL,
	  ALL },
	{ "a read meets a write", a_read_and_a_write, ALL, ALL },
};

EXPLORE_MAIN(models)
