/*
 * The door of the I/O driver: registrations, their readiness, and the reactor's turn (R1-R4).
 *
 * A registration is a slot of a slab: found by index, told from its predecessors in the same slot by
 * its generation. Slots never move and are not given back before the driver ends, so a look-up needs no
 * lock; a slot is reused only after the holder has released it between two turns (R3), so the
 * holder never acts on an event for somebody else's descriptor.
 *
 * Locks: the slab's before a registration's before a timer shard's. No waker is woken, cloned or
 * dropped, and no allocator called, under any of them (T2).
 */
#ifndef EDO_DRIVER_IO_IO_H
#define EDO_DRIVER_IO_IO_H

#include "base/lock.h"
#include "driver/poller/poller.h"
#include "driver/time/time.h"
#include <edo/config.h>
#include <edo/future.h>
#include <edo/io.h>

enum edo_direction { EDO_READING, EDO_WRITING };

/*
 * One registered descriptor, on cache lines of its own.
 *
 * readiness (atomic): bits 0-5 enum edo_readiness, bits 6-7 a call in that direction is under way
 * (edo_io_call_begin()), bit 8 shut down, bits 9-35 the tick of reading, bits 36-62 the tick of
 * writing, bit 63 an error as writing sees it. The driver's turn sets bits and turns the tick of each
 * direction it set something for; a clear succeeds only if that direction's tick is still the one that was
 * seen, at full width, and never touches the other direction or the closed bits (p40-p43). Ticks go on
 * counting from one use of the slot to the next.
 *
 * Moves. Users' objects are copied by value, and a copy is a move: the slot remembers the address of the
 * object that used it last and an epoch; an object at another address with the present epoch takes over
 * (the epoch goes up and is written into that object), one with an older epoch is a dead original:
 * -EBADF. One holder for a whole descriptor (index 0), one a half for split streams (reader 0, writer 1).
 * Epochs, too, go on from one use of the slot to the next.
 */
struct edo_scheduled_io {
	uint64_t readiness;
	uint32_t generation;       /* atomic; odd while registered; a use ends under `lock` */
	int fd;                    /* constant while registered */
	uint32_t index;            /* constant */
	struct edo_lock lock;      /* of the fields down to `halves` */
	edo_waker waiting[2];      /* by enum edo_direction */
	uint8_t claimed[2];        /* atomic to read: a future waits in this direction, or waited */
	uint8_t halves;            /* split streams: how many halves are still open */
	uint8_t idle_started;      /* atomic: an operation began since the last progress */
	int last_error;            /* atomic: the stream's own last failure, 0 or -ETIMEDOUT ... */
	uint32_t next_free;        /* under the slab's lock */
	uint32_t idle_expirations; /* atomic: how often the idle limit has passed */
	uint64_t idle_limit;       /* ns, 0 for none; atomic, written under `lock` */
	edo_timer_entry idle;      /* fires when it was idle for so long; wakes both directions */
	const void *holder[2];     /* atomic; changed under the lock */
	uint32_t epoch[2];         /* atomic; changed under the lock */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct edo_scheduled_io) == 192, "three cache lines a registration");

/* Which registration: what users' objects carry. All zero is "none" (an odd generation is registered). */
struct edo_registration {
	uint32_t driver;
	uint32_t index;
	uint32_t generation;
	uint32_t epoch;
	int fd;
};

enum { EDO_SLAB_FIRST = 32, EDO_SLAB_CHUNKS = 24, EDO_SLAB_PENDING_MAX = 16 };

/* Chunk n holds EDO_SLAB_FIRST << n slots. */
struct edo_io_slab {
	struct edo_lock lock;
	uint32_t free_head;    /* index + 1, 0 for none; under the lock, as all lists here */
	uint32_t pending_head; /* deregistered, not yet released by the holder */
	uint32_t pending_tail;
	uint32_t pending_count; /* atomic to read */
	uint32_t used;          /* slots handed out at least once; atomic to read */
	uint32_t live;          /* registered now; atomic to read */
	bool closed;            /* no more registrations */
	struct edo_scheduled_io *chunks[EDO_SLAB_CHUNKS]; /* atomic: set once */
};

/*
 * By the number of a descriptor: which slot is registered for it, as index + 1 (0: none). Chunks as in the
 * slab. An entry is its own lock, see descriptors.c.
 */
struct edo_io_descriptors {
	uint32_t *chunks[EDO_SLAB_CHUNKS]; /* atomic: set once */
};

struct edo_io_driver {
	struct edo_poller poller;
	struct edo_io_slab slab;
	struct edo_io_descriptors descriptors;
	const edo_allocator *allocator;
	uint32_t driver_id;
	bool is_woken;   /* atomic: a wake-up is already under way */
	bool is_waiting; /* atomic, a hint: the holder may be asleep in the poller */
	uint64_t events; /* counters, written by the holder, atomic */
	uint64_t stale_tokens;
};

int edo_io_init(struct edo_io_driver *io, uint32_t driver_id, uint32_t events_per_turn,
		const edo_allocator *allocator);
/* Refuses registrations, marks all as shut down, wakes all waiters (who then say -ESHUTDOWN). */
void edo_io_shutdown(struct edo_io_driver *io);
/* Frees the slab. Descriptors still registered are the users' own and stay open. */
void edo_io_destroy(struct edo_io_driver *io);

/*
 * Holder only: releases deregistered slots, waits, hands out readiness. Returns how many events,
 * wake-ups included; 0 also when interrupted (the caller looks at its clock, p28).
 */
unsigned edo_io_turn(struct edo_io_driver *io, uint64_t max_wait);
/* Ends a wait, once however often it is called before that. Any thread. */
void edo_io_unpark(struct edo_io_driver *io);

/*
 * Registers fd with initial readiness (a connected stream is assumed writable, which saves a wait).
 * 0, -ENOMEM, -EEXIST, -EPERM, -EBADF, -ENOSPC, -ESHUTDOWN.
 */
int edo_io_register(struct edo_io_driver *io, int fd, uint32_t readiness,
		    struct edo_registration *registration);

/* The registration if it still is one, else NULL: -EBADF for the caller. Lock-free. */
struct edo_scheduled_io *edo_io_find(struct edo_io_driver *io, uint32_t index, uint32_t generation);

/*
 * Ends a registration: unlinked and its idle timer dropped in any case, waiters woken (they find it gone:
 * -EBADF). 0; -EBADF when it is not one (only one of several callers succeeds, p45); else what the
 * poller said about the removal. Calls that are under way have ended when it returns. Does not close the
 * descriptor, which must happen after this.
 */
int edo_io_deregister(struct edo_io_driver *io, uint32_t index, uint32_t generation);

/* A future's side of the directions it waits for; zero it at start. */
struct edo_io_claim {
	bool held[2];
};

/*
 * Is it ready in `direction`? EDO_READY with *ready filled (its closed and error bits masked to the
 * direction, p42); -EBUSY: another future has claimed the direction; -ESHUTDOWN; -EBADF; EDO_PENDING:
 * the waker of cx is stored, and the direction claimed through *claimed.
 *
 * A claim is let go of only by edo_io_unclaim(): also after a result, and by the future's drop.
 */
edo_poll edo_io_poll_ready(struct edo_scheduled_io *sio, uint32_t generation,
			   enum edo_direction direction, bool *claimed, edo_context *cx,
			   edo_ready *ready);

/*
 * As edo_io_poll_ready(), for any of a mask of edo_interest at once. EDO_PRIORITY belongs to the
 * reading direction.
 */
edo_poll edo_io_poll_interest(struct edo_scheduled_io *sio, uint32_t generation, uint32_t interest,
			      struct edo_io_claim *claim, edo_context *cx, edo_ready *ready);

/*
 * Forgets what was seen of this direction, unless the driver has set it anew since (R2). The system call
 * has said EAGAIN; or it came short on a stream for which `seen` is not read_closed (p44).
 */
void edo_io_clear(struct edo_scheduled_io *sio, enum edo_direction which, edo_ready seen);

/* Lets go of a claim and forgets the waker. Harmless when the registration is gone or nothing claimed. */
void edo_io_unclaim(struct edo_scheduled_io *sio, uint32_t generation, enum edo_direction direction,
		    bool *claimed);

/*
 * A call on the descriptor is about to be made in this direction: marks it, so that a close by another
 * thread waits for the (non-blocking) call to end before the number can be given out again.
 * 0; -EBADF: closed (or the slot is somebody else's by now); -EBUSY: another task's call in this
 * direction is under way; -ESHUTDOWN. After 0, edo_io_call_end() must follow, and no wait before it.
 */
int edo_io_call_begin(struct edo_scheduled_io *sio, uint32_t generation, enum edo_direction which);
void edo_io_call_end(struct edo_scheduled_io *sio, enum edo_direction which);

/*
 * The object at `object` with *epoch uses the registration: 0, perhaps after it took over (then *epoch
 * was written); -EBADF: it is a dead original. A few comparisons in the usual case.
 */
int edo_io_adopt(struct edo_scheduled_io *sio, unsigned half, const void *object, uint32_t *epoch);

/*
 * The stream's idle limit (see edo_tcp_set_timeout()), one timer a stream. 0 and EDO_FOREVER: no limit.
 *
 * begin: an operation begins. The first one since the last progress (or since an expiry) starts the limit
 * anew, a later one does not: a read that is given up and begun again every second must not postpone
 * the limit for ever. progress: bytes have moved, the limit starts anew for whoever waits in the
 * other direction. Both take a fresh clock reading (p24) of the caller's; in the usual case each costs
 * one compare-and-swap, and none within one tick.
 *
 * expired: did the limit pass since *seen was taken (edo_io_idle_begin() fills it)? Decided by the count of
 * expirations, so that both directions see one expiry (the first to look at the fired entry, under the
 * lock and with its generation checked, counts it and makes the entry unarmed). An expiry that nobody
 * waited for is counted by the next begin, which is then not affected by it. The waker inside
 * the entry points at the slot and only wakes both directions' waiters: when it comes late, for an
 * earlier use of the slot, it is a spurious wake and nothing else.
 */
int edo_io_idle_set(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t limit);
void edo_io_idle_begin(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t now,
		       uint32_t *seen);
void edo_io_idle_progress(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t now);
bool edo_io_idle_expired(struct edo_time_driver *time, struct edo_scheduled_io *sio,
			 uint32_t generation, uint32_t seen);

#endif
