/*
 * What the models of the I/O driver share: a driver on the fake poller, tasks that wait for readiness, and
 * the holder's hand.
 *
 * The first thread makes everything, alone, so that it costs no steps. Nothing here adds order: a wake is a
 * relaxed count and a futex, so what a woken task sees it owes to the driver.
 */
#ifndef EDO_TESTS_EXPLORE_RIG_IO_H
#define EDO_TESTS_EXPLORE_RIG_IO_H

#include "driver/io/scheduled_io.h"
#include "explore/explore.h"
#include "explore/fake_poller.h"

/* ---- the driver ---- */

extern const edo_allocator rig_io_allocator;

/* A driver with number 1. */
void rig_io_begin(struct edo_io_driver *io);
/* Frees it. Nobody may be left: the models end what they began. */
void rig_io_end(struct edo_io_driver *io);

/* A registration, and its slot. */
struct rig_registered {
	struct edo_io_driver *io;
	struct edo_registration registration;
	struct edo_scheduled_io *sio;
};

/* Must succeed. */
struct rig_registered rig_io_register(struct edo_io_driver *io, int fd, uint32_t readiness);
int rig_io_deregister(const struct rig_registered *registered);

/* An event as the holder's turn hands it out. */
void rig_io_event(struct edo_scheduled_io *sio, uint32_t readiness);

/* ---- tasks that wait ---- */

struct rig_task {
	uint32_t wakes;  /* atomic; slept on */
	uint32_t clones; /* atomic: its wakers that are about; 0 in the end */
};

edo_waker rig_io_waker(struct rig_task *task);

/* What such a task waits for. */
struct rig_io_wait {
	struct rig_task *task;
	struct edo_scheduled_io *sio;
	uint32_t generation;
	enum edo_direction direction;
	bool is_claimed;
	edo_ready ready;
};

edo_poll rig_io_poll(struct rig_io_wait *wait);
/* Polls, and sleeps until its waker is woken, as often as it takes. */
edo_poll rig_io_await(struct rig_io_wait *wait);
/* Forgets what it has just seen. */
void rig_io_clear(const struct rig_io_wait *wait);
void rig_io_unclaim(struct rig_io_wait *wait);

#endif
