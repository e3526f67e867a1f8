/*
 * What the files of the I/O driver share: places in chunked tables, the slab, the table of
 * descriptors, and wakers on their way out. Private to this folder.
 */
#ifndef EDO_DRIVER_IO_SCHEDULED_IO_H
#define EDO_DRIVER_IO_SCHEDULED_IO_H

#include "base/bits.h"
#include "driver/io/io.h"

/* ---- tables of chunks, each twice as large as the one before: they grow without moving ---- */

struct edo_chunk_place {
	unsigned chunk; /* may be EDO_SLAB_CHUNKS or more: beyond the largest table */
	uint32_t offset;
};

static inline struct edo_chunk_place edo_chunk_place_of(uint32_t index)
{
	unsigned chunk = edo_highest_bit(index / EDO_SLAB_FIRST + 1);

	return (struct edo_chunk_place){
		.chunk = chunk,
		.offset = index - EDO_SLAB_FIRST * ((UINT32_C(1) << chunk) - 1),
	};
}

static inline size_t edo_chunk_length(unsigned chunk)
{
	return (size_t)EDO_SLAB_FIRST << chunk;
}

/* ---- wakers taken under locks, woken when none is held (T2) ---- */

struct edo_io_batch {
	unsigned count;
	edo_waker wakers[EDO_WAKE_BATCH];
};

/* Wakes all in the order in which they were added. */
void edo_io_batch_flush(struct edo_io_batch *batch);

/* ---- the slab ---- */

/*
 * A slot, registered for fd with this readiness: its generation is odd and final. NULL with *rc: -ENOMEM,
 * -ESHUTDOWN.
 */
struct edo_scheduled_io *edo_slab_acquire(struct edo_io_driver *io, int fd, uint32_t readiness,
					  int *rc);
/* Gives a slot back that no poller has ever known: it can be reused at once. */
void edo_slab_undo_acquire(struct edo_io_slab *slab, struct edo_scheduled_io *sio);
/* Gives back a slot that the holder may still have an event for; the holder releases it. */
void edo_slab_retire(struct edo_io_slab *slab, struct edo_scheduled_io *sio);
/* Holder, between turns: what was retired can be reused (R3). */
void edo_slab_release_retired(struct edo_io_slab *slab);
/* No more acquisitions. Returns how many slots have ever been handed out. */
uint32_t edo_slab_close(struct edo_io_slab *slab);
void edo_slab_free(struct edo_io_driver *io);
/* Some slot by its index, registered or not; NULL when it has never been handed out. Lock-free. */
struct edo_scheduled_io *edo_slab_slot(struct edo_io_slab *slab, uint32_t index);

/* ---- readiness ---- */

/* A word for a new registration of the slot whose last word was `last`. */
uint64_t edo_readiness_first(uint64_t last, uint32_t readiness);
/* Sets what an event says and adds the wakers that it concerns to the batch. Holder only. */
void edo_readiness_set(struct edo_scheduled_io *sio, uint32_t readiness,
		       struct edo_io_batch *batch);
/* Marks it as shut down, for good, and adds its wakers to the batch. */
void edo_readiness_shut_down(struct edo_scheduled_io *sio, struct edo_io_batch *batch);
/*
 * Waits until no call is under way. After the generation has moved, so that none begins any more; or
 * before a new use of the slot. Returns the word as it then was.
 */
uint64_t edo_readiness_await_calls(struct edo_scheduled_io *sio);
/* Under the registration's lock: takes the wakers of the directions in the mask (bit n: direction n). */
void edo_readiness_take_wakers(struct edo_scheduled_io *sio, unsigned mask, edo_waker taken[2]);

/* ---- moves ---- */

/* A new use of the slot: nobody holds it yet, and objects of its last use are dead. */
void edo_moves_begin(struct edo_scheduled_io *sio);

/* ---- descriptors by number ---- */

/* Makes room for fd. 0, -ENOMEM. */
int edo_descriptors_reserve(struct edo_io_driver *io, int fd);
/* Waits until nobody else adds or removes this descriptor. Returns which slot (index + 1) has it. */
uint32_t edo_descriptors_lock(struct edo_io_driver *io, int fd);
void edo_descriptors_unlock(struct edo_io_driver *io, int fd, uint32_t slot);
void edo_descriptors_free(struct edo_io_driver *io);

#endif
