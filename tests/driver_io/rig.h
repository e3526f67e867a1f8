/*
 * What the tests of the I/O driver share: a driver of its own without a runtime, wakers that count,
 * and descriptors of every kind.
 */
#ifndef EDO_TESTS_DRIVER_IO_RIG_H
#define EDO_TESTS_DRIVER_IO_RIG_H

#include "driver/io/io.h"
#include <edo/waker.h>

/* A waker's target: how often it was woken, and how many wakers point at it. Atomic. */
struct counter {
	uint32_t wakes;
	uint32_t wakers;
};

edo_waker counter_waker(struct counter *counter);
uint32_t wakes_of(struct counter *counter);

/* malloc and free, counted by the runner. */
extern const edo_allocator rig_allocator;

/* A driver with number 1; asserts that it could be made. */
void rig_make(struct edo_io_driver *io, uint32_t events_per_turn);
/* Shuts it down and frees it. */
void rig_end(struct edo_io_driver *io);

/* A registration of fd, and who waits there in the two directions. */
struct watched {
	struct edo_io_driver *io;
	struct edo_registration registration;
	struct edo_scheduled_io *sio;
	bool claimed[2];
	struct counter counter[2];
	edo_ready ready[2];
};

void watch(struct edo_io_driver *io, int fd, struct watched *watched);
/* One poll of a direction; what it saw is in ready[]. */
edo_poll poll_once(struct watched *watched, enum edo_direction direction);
void unclaim(struct watched *watched, enum edo_direction direction);
void clear_seen(struct watched *watched, enum edo_direction direction);
int unwatch(struct watched *watched);

/* Looks at the poller until nothing comes any more. */
void settle(struct edo_io_driver *io);

/* Descriptors, non-blocking and close-on-exec. */
void make_pipe(int fds[2]);
void make_socket_pair(int fds[2]);
void make_tcp_pair(int fds[2]);
int make_eventfd(void);
void close_pair(int fds[2]);
void write_byte(int fd);
/* Reads until the descriptor says EAGAIN or the end; returns how many bytes. */
size_t read_all(int fd);

#endif
