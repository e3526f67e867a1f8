/*
 * The door of the driver room: what a thread with nothing to do parks on, as a stack: time over
 * I/O over the poller; with a plain thread park at the bottom where I/O is disabled.
 *
 * One thread at a time holds the driver (the scheduler sees to that) and may turn it. Everybody
 * else inserts timers, registers descriptors and unparks, from any thread.
 *
 * A driver has a number that is never given out twice in a process. Objects that users hold
 * (timers, streams) carry the number instead of a pointer, so that their use after the driver's
 * end, or on another runtime, is an error and not a wild access.
 */
#ifndef EDO_DRIVER_DRIVER_H
#define EDO_DRIVER_DRIVER_H

#include "base/lock.h"
#include "driver/io/io.h"
#include "driver/time/time.h"
#include "task/task.h"
#include <stdbool.h>
#include <stdint.h>

struct edo_driver_options {
	bool disable_io;
	bool disable_time;
	bool start_paused;
	enum edo_sys_clock clock;
	uint64_t timer_resolution; /* ns */
	uint32_t events_per_turn;
	uint32_t shards; /* of timers; one a worker */
	const edo_allocator *allocator;
};

/* Parks one thread on a futex, see park.c. All zero: nothing has happened yet. */
struct edo_thread_park {
	uint32_t state; /* atomic: 0 empty, 1 parked, 2 notified */
};

/*
 * Waits until woken, at most max_wait ns (0: only looks, UINT64_MAX: no limit); a wake-up that came
 * before counts. One thread only. Returns whether it was woken; may return early.
 */
bool edo_thread_park_wait(struct edo_thread_park *park, uint64_t max_wait);
/* Any thread, as often as it likes: the waits they end are one. */
void edo_thread_park_wake(struct edo_thread_park *park);

struct edo_driver {
	uint32_t id; /* set at init, constant, never 0 */
	bool has_time;
	bool has_io;
	uint32_t holders; /* atomic: threads that use it by its number, and a bit, see registry.c */
	struct edo_driver *registry_next; /* under the registry's lock */
	struct edo_time_driver time;      /* valid if has_time */
	struct edo_io_driver io;          /* valid if has_io */
	struct edo_thread_park park;      /* used if !has_io */
};

/*
 * In place (p32); registers it under a new number. 0, or a negated errno with nothing left behind;
 * -EAGAIN: all 2^32 - 1 numbers have been given out.
 */
int edo_driver_init(struct edo_driver *driver, const struct edo_driver_options *options);

/*
 * Holder only. Waits for events, timers or an unpark, at most max_wait ns (0: only looks,
 * UINT64_MAX: no limit), then fires what is due and hands out what came in. May return early.
 * Wakes are made with no lock held (T2). With a paused clock it jumps to the next timer instead of
 * waiting, unless something came in (p14: or `may_jump` is false).
 */
void edo_driver_turn(struct edo_driver *driver, uint64_t max_wait, bool may_jump);

/* Ends the turn that waits now, or the next one that would. Any thread; cheap when already done. */
void edo_driver_unpark(struct edo_driver *driver);

/*
 * First takes the driver out of the table of numbers and waits until no thread uses it by its
 * number any more, then refuses new timers and registrations and fires all timers and
 * waiters with -ESHUTDOWN (p11, p34). Holder only, once.
 */
void edo_driver_shutdown(struct edo_driver *driver);

/* Frees what is left; after edo_driver_shutdown(). */
void edo_driver_destroy(struct edo_driver *driver);

/*
 * The driver with this number, for use by a thread that may not have entered its runtime; NULL when
 * it is gone. It cannot be shut down until edo_driver_release(). For the caller's own current
 * driver (edo_current_driver()) this costs nothing: it is entered, hence alive.
 */
struct edo_driver *edo_driver_hold(uint32_t id);
void edo_driver_release(struct edo_driver *driver);

/* Whether a driver with this number lives. */
bool edo_driver_is_alive(uint32_t id);

#endif
