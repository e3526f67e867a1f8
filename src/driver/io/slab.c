/*
 * The slab of registrations: slots that are found without a lock and never move.
 *
 * A slot is in one of four places: never used (its index is at least `used`), registered, retired (in
 * the pending list: an event for it may lie in the holder's hands), or free. Its generation is
 * even but while registered, and changes twice a use. A slot whose generations are used up is never
 * used again, so that a token is never given out twice (R3, p47).
 *
 * Lists and counts change under the slab's lock. Memory is allocated outside of it: the allocator
 * is the user's code (T2).
 */
#include "driver/io/scheduled_io.h"
#include <errno.h>

static size_t chunk_size(unsigned chunk)
{
	return edo_chunk_length(chunk) * sizeof(struct edo_scheduled_io);
}

struct edo_scheduled_io *edo_slab_slot(struct edo_io_slab *slab, uint32_t index)
{
	struct edo_chunk_place place;

	/* Acquire: pairs with first_use(), so the chunk and the slot are there. */
	if (index >= edo_load(&slab->used, acquire))
		return NULL;
	place = edo_chunk_place_of(index);
	return edo_load(&slab->chunks[place.chunk], relaxed) + place.offset;
}

/* Under the lock. A slot that was never used before; NULL when its chunk is not there yet. */
static struct edo_scheduled_io *first_use(struct edo_io_slab *slab)
{
	struct edo_chunk_place place = edo_chunk_place_of(slab->used);
	struct edo_scheduled_io *sio;

	if (place.chunk >= EDO_SLAB_CHUNKS || !slab->chunks[place.chunk])
		return NULL;
	sio = slab->chunks[place.chunk] + place.offset;
	*sio = (struct edo_scheduled_io){ .index = slab->used };
	edo_store(&slab->used, slab->used + 1, release); /* pairs with edo_slab_slot() */
	return sio;
}

/* Under the lock. */
static struct edo_scheduled_io *take_free(struct edo_io_slab *slab)
{
	struct edo_scheduled_io *sio;

	if (slab->free_head == 0)
		return first_use(slab);
	sio = edo_slab_slot(slab, slab->free_head - 1);
	slab->free_head = sio->next_free;
	return sio;
}

/*
 * Everything of the last use that is not taken back when a use ends. Under the registration's lock: whoever is
 * late, and has found the slot while it was in its last use, changes no more than the lock allows.
 */
static void forget_last_use(struct edo_scheduled_io *sio)
{
	sio->halves = 0;
	edo_store(&sio->last_error, 0, relaxed);
	edo_store(&sio->idle_started, 0, relaxed);
	edo_store(&sio->idle_limit, 0, relaxed);
	edo_store(&sio->idle.edo_node_.when, EDO_TICK_UNARMED, relaxed);
	edo_moves_begin(sio);
}

/*
 * Under the slab's lock, so that a shutdown finds it either refused or registered. The word comes before
 * the generation: whoever asks with the new generation sees the new word.
 */
static void begin_use(struct edo_io_slab *slab, struct edo_scheduled_io *sio, int fd,
		      uint32_t readiness)
{
	uint64_t last = edo_readiness_await_calls(sio);

	/* Release: pairs with the acquire in readiness.c; a stale reader sees the generation moved. */
	while (!edo_compare_exchange(&sio->readiness, &last, edo_readiness_first(last, readiness),
				     release, relaxed))
		last = edo_readiness_await_calls(sio);
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	sio->fd = fd;
	forget_last_use(sio);
	edo_store(&sio->generation, sio->generation + 1, release); /* pairs with edo_io_find() */
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	edo_store(&slab->live, slab->live + 1, relaxed);
}

/* Allocates the chunk in which the next unused slot lies, if it is still missing by then. */
static int grow(struct edo_io_driver *io)
{
	unsigned chunk = edo_chunk_place_of(edo_load(&io->slab.used, relaxed)).chunk;
	struct edo_scheduled_io *fresh;

	if (chunk >= EDO_SLAB_CHUNKS)
		return -ENOMEM;
	fresh = io->allocator->allocate(io->allocator->context, chunk_size(chunk),
					_Alignof(struct edo_scheduled_io));
	if (!fresh)
		return -ENOMEM;
	edo_lock_acquire(&io->slab.lock, EDO_RANK_SLAB);
	if (!io->slab.chunks[chunk]) {
		edo_store(&io->slab.chunks[chunk], fresh, relaxed); /* ordered by `used` */
		fresh = NULL;
	}
	edo_lock_release(&io->slab.lock, EDO_RANK_SLAB);
	if (fresh)
		io->allocator->release(io->allocator->context, fresh, chunk_size(chunk));
	return 0;
}

/* One try. -EAGAIN: the slab must grow first. */
static int try_acquire(struct edo_io_slab *slab, int fd, uint32_t readiness,
		       struct edo_scheduled_io **sio)
{
	int rc = 0;

	edo_lock_acquire(&slab->lock, EDO_RANK_SLAB);
	if (slab->closed)
		rc = -ESHUTDOWN;
	else if (!(*sio = take_free(slab)))
		rc = -EAGAIN;
	else
		begin_use(slab, *sio, fd, readiness);
	edo_lock_release(&slab->lock, EDO_RANK_SLAB);
	return rc;
}

struct edo_scheduled_io *edo_slab_acquire(struct edo_io_driver *io, int fd, uint32_t readiness,
					  int *rc)
{
	struct edo_scheduled_io *sio = NULL;

	do
		*rc = try_acquire(&io->slab, fd, readiness, &sio);
	while (*rc == -EAGAIN && (*rc = grow(io)) == 0);
	return *rc == 0 ? sio : NULL;
}

/* Under the slab's lock, after a use has ended. Its last one took the generation round to 0. */
static bool is_worn_out(const struct edo_scheduled_io *sio)
{
	return sio->generation == 0;
}

void edo_slab_undo_acquire(struct edo_io_slab *slab, struct edo_scheduled_io *sio)
{
	edo_lock_acquire(&slab->lock, EDO_RANK_SLAB);
	edo_store(&slab->live, slab->live - 1, relaxed);
	if (!is_worn_out(sio)) {
		sio->next_free = slab->free_head;
		slab->free_head = sio->index + 1;
	}
	edo_lock_release(&slab->lock, EDO_RANK_SLAB);
}

/* Under the lock. At the end, so that the whole list is released by moving two numbers. */
static void append_pending(struct edo_io_slab *slab, struct edo_scheduled_io *sio)
{
	sio->next_free = 0;
	if (slab->pending_head)
		edo_slab_slot(slab, slab->pending_tail - 1)->next_free = sio->index + 1;
	else
		slab->pending_head = sio->index + 1;
	slab->pending_tail = sio->index + 1;
	edo_store(&slab->pending_count, slab->pending_count + 1, relaxed);
}

void edo_slab_retire(struct edo_io_slab *slab, struct edo_scheduled_io *sio)
{
	edo_lock_acquire(&slab->lock, EDO_RANK_SLAB);
	edo_store(&slab->live, slab->live - 1, relaxed);
	if (!is_worn_out(sio))
		append_pending(slab, sio);
	edo_lock_release(&slab->lock, EDO_RANK_SLAB);
}

void edo_slab_release_retired(struct edo_io_slab *slab)
{
	/* Relaxed: what is missed now is released before the next wait. */
	if (edo_load(&slab->pending_count, relaxed) == 0)
		return;
	edo_lock_acquire(&slab->lock, EDO_RANK_SLAB);
	if (slab->pending_head) {
		edo_slab_slot(slab, slab->pending_tail - 1)->next_free = slab->free_head;
		slab->free_head = slab->pending_head;
	}
	slab->pending_head = 0;
	slab->pending_tail = 0;
	edo_store(&slab->pending_count, 0, relaxed);
	edo_lock_release(&slab->lock, EDO_RANK_SLAB);
}

uint32_t edo_slab_close(struct edo_io_slab *slab)
{
	uint32_t used;

	edo_lock_acquire(&slab->lock, EDO_RANK_SLAB);
	slab->closed = true;
	used = slab->used;
	edo_lock_release(&slab->lock, EDO_RANK_SLAB);
	return used;
}

void edo_slab_free(struct edo_io_driver *io)
{
	for (unsigned chunk = 0; chunk < EDO_SLAB_CHUNKS; chunk++) {
		if (io->slab.chunks[chunk])
			io->allocator->release(io->allocator->context, io->slab.chunks[chunk],
					       chunk_size(chunk));
		io->slab.chunks[chunk] = NULL;
	}
}
