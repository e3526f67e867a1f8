#include "driver_io/rig.h"
#include "base/atomic.h"
#include "support/runner.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- memory ---- */

static void *allocate(void *context, size_t size, size_t align)
{
	void *memory = NULL;

	(void)context;
	if (align < sizeof(void *))
		align = sizeof(void *);
	return posix_memalign(&memory, align, size) == 0 ? memory : NULL;
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

const edo_allocator rig_allocator = { allocate, release, NULL };

/* ---- wakers ---- */

static edo_waker clone_counter(void *data)
{
	return counter_waker(data);
}

static void drop_counter(void *data)
{
	struct counter *counter = data;

	edo_lock_assert_none();
	(void)edo_fetch_sub(&counter->wakers, 1, acq_rel);
}

static void wake_counter_by_ref(void *data)
{
	struct counter *counter = data;

	edo_lock_assert_none();
	(void)edo_fetch_add(&counter->wakes, 1, acq_rel);
}

static void wake_counter(void *data)
{
	wake_counter_by_ref(data);
	drop_counter(data);
}

static const edo_waker_ops counter_ops = { clone_counter, wake_counter, wake_counter_by_ref,
					   drop_counter };

edo_waker counter_waker(struct counter *counter)
{
	edo_lock_assert_none();
	(void)edo_fetch_add(&counter->wakers, 1, acq_rel);
	return (edo_waker){ .data = counter, .ops = &counter_ops };
}

uint32_t wakes_of(struct counter *counter)
{
	return edo_load(&counter->wakes, acquire);
}

/* ---- the driver ---- */

void rig_make(struct edo_io_driver *io, uint32_t events_per_turn)
{
	assert_int_equal(edo_io_init(io, 1, events_per_turn, &rig_allocator), 0);
}

void rig_end(struct edo_io_driver *io)
{
	edo_io_shutdown(io);
	edo_io_destroy(io);
}

void settle(struct edo_io_driver *io)
{
	while (edo_io_turn(io, 0) > 0)
		;
}

/* ---- registrations ---- */

void watch(struct edo_io_driver *io, int fd, struct watched *watched)
{
	memset(watched, 0, sizeof *watched);
	watched->io = io;
	assert_int_equal(edo_io_register(io, fd, 0, &watched->registration), 0);
	watched->sio =
		edo_io_find(io, watched->registration.index, watched->registration.generation);
	assert_non_null(watched->sio);
}

edo_poll poll_once(struct watched *watched, enum edo_direction direction)
{
	edo_waker waker = counter_waker(&watched->counter[direction]);
	edo_context cx;
	edo_poll polled;

	edo_context_init(&cx, &waker);
	polled = edo_io_poll_ready(watched->sio, watched->registration.generation, direction,
				   &watched->claimed[direction], &cx, &watched->ready[direction]);
	edo_waker_drop(&waker);
	return polled;
}

void unclaim(struct watched *watched, enum edo_direction direction)
{
	edo_io_unclaim(watched->sio, watched->registration.generation, direction,
		       &watched->claimed[direction]);
}

void clear_seen(struct watched *watched, enum edo_direction direction)
{
	edo_io_clear(watched->sio, direction, watched->ready[direction]);
}

int unwatch(struct watched *watched)
{
	int rc = edo_io_deregister(watched->io, watched->registration.index,
				   watched->registration.generation);

	assert_int_equal(edo_load(&watched->counter[EDO_READING].wakers, acquire), 0);
	assert_int_equal(edo_load(&watched->counter[EDO_WRITING].wakers, acquire), 0);
	return rc;
}

/* ---- descriptors ---- */

void make_pipe(int fds[2])
{
	assert_return_code(pipe2(fds, O_NONBLOCK | O_CLOEXEC), errno);
}

void make_socket_pair(int fds[2])
{
	assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
			   errno);
}

void make_tcp_pair(int fds[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_return_code(listener, errno);
	assert_return_code(bind(listener, (struct sockaddr *)&address, len), errno);
	assert_return_code(listen(listener, 1), errno);
	assert_return_code(getsockname(listener, (struct sockaddr *)&address, &len), errno);
	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_return_code(connect(fds[0], (struct sockaddr *)&address, len), errno);
	fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_return_code(fds[1], errno);
	assert_return_code(fcntl(fds[0], F_SETFL, O_NONBLOCK), errno);
	close(listener);
}

int make_eventfd(void)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

void write_byte(int fd)
{
	assert_int_equal(write(fd, "x", 1), 1);
}

size_t read_all(int fd)
{
	char bytes[4096];
	size_t total = 0;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		total += (size_t)n;
	return total;
}
