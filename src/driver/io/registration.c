/*
 * Registering and deregistering a descriptor (R1, R3).
 *
 * The order at the end of a registration: the generation moves first, under the lock, so only one caller
 * ends it, nobody waits on it or begins a call any more, and its idle timer is not armed any more; then
 * calls that are under way are waited for and the timer is dropped; then the kernel forgets the
 * descriptor, before anybody closes it; only then is the slot retired. Waiters are woken last, with no
 * lock held, and find it gone.
 *
 * Whoever races with that on another thread: a clear or an event, see readiness.c; a poll either stored
 * its waker before the generation moved, and is woken, or sees that it has moved; the idle limit
 * is armed only under the lock, with a look at the generation there, and its lock-free half moves
 * nothing but an armed entry.
 */
#include "base/hot.h"
#include "driver/io/scheduled_io.h"
#include <errno.h>

static uint64_t token_of(const struct edo_scheduled_io *sio)
{
	return (uint64_t)sio->generation << 32 | sio->index;
}

EDO_HOT struct edo_scheduled_io *edo_io_find(struct edo_io_driver *io, uint32_t index,
					     uint32_t generation)
{
	struct edo_scheduled_io *sio = edo_slab_slot(&io->slab, index);

	/* Acquire: pairs with begin_use() in slab.c. */
	if (!sio || !(generation & 1) || edo_load(&sio->generation, acquire) != generation)
		return NULL;
	return sio;
}

/*
 * The kernel has an entry for the descriptor already. If a registration has it, that is the caller's
 * error. If none has, it is what a close before the deregistration has left behind, kept alive by a dup that
 * has come back at its old number: it is taken over, with a token of ours (p47).
 */
static int add_to_poller(struct edo_io_driver *io, const struct edo_scheduled_io *sio,
			 uint32_t registered_slot)
{
	int rc = edo_poller_add(&io->poller, sio->fd, token_of(sio));

	if (rc == -EEXIST && registered_slot == 0)
		rc = edo_poller_take_over(&io->poller, sio->fd, token_of(sio));
	return rc;
}

/*
 * If the kernel accepts a descriptor for which there is a registration, that one's was closed under us;
 * it loses its right to the number.
 */
static int enter(struct edo_io_driver *io, struct edo_scheduled_io *sio)
{
	uint32_t before = edo_descriptors_lock(io, sio->fd);
	int rc = add_to_poller(io, sio, before);

	edo_descriptors_unlock(io, sio->fd, rc < 0 ? before : sio->index + 1);
	return rc;
}

static void undo(struct edo_io_driver *io, struct edo_scheduled_io *sio)
{
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	/* Relaxed: nobody was ever told this generation, so nobody's call has to see what came before its end. */
	edo_store(&sio->generation, sio->generation + 1, relaxed);
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	edo_slab_undo_acquire(&io->slab, sio);
}

int edo_io_register(struct edo_io_driver *io, int fd, uint32_t readiness,
		    struct edo_registration *registration)
{
	struct edo_scheduled_io *sio;
	int rc;

	if (fd < 0)
		return -EBADF;
	rc = edo_descriptors_reserve(io, fd);
	if (rc < 0)
		return rc;
	sio = edo_slab_acquire(io, fd, readiness, &rc);
	if (!sio)
		return rc;
	rc = enter(io, sio);
	if (rc < 0) {
		undo(io, sio);
		return rc;
	}
	*registration = (struct edo_registration){
		.driver = io->driver_id,
		.index = sio->index,
		.generation = sio->generation,
		.epoch = sio->epoch[0],
		.fd = fd,
	};
	return 0;
}

/* Ends the slot's use if it is the caller's to end, and takes whoever waits. */
static bool end_use(struct edo_scheduled_io *sio, uint32_t generation, edo_waker waiters[2])
{
	bool is_mine;

	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	is_mine = edo_load(&sio->generation, relaxed) == generation; /* under the lock */
	if (is_mine) {
		/*
		 * Whoever sees the next use of the slot sees that this one is over. Sequentially
		 * consistent for those who are about to make a call: see readiness.c.
		 */
		edo_store(&sio->generation, generation + 1, seq_cst);
		edo_store(&sio->claimed[EDO_READING], 0, relaxed); /* under the lock */
		edo_store(&sio->claimed[EDO_WRITING], 0, relaxed); /* under the lock */
		edo_readiness_take_wakers(sio, 3, waiters);
	}
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	return is_mine;
}

/* The number may by now be another registration's, if the descriptor was closed under us (p45, p47). */
static int leave(struct edo_io_driver *io, const struct edo_scheduled_io *sio)
{
	uint32_t slot = edo_descriptors_lock(io, sio->fd);
	bool is_ours = slot == sio->index + 1;
	int rc = is_ours ? edo_poller_remove(&io->poller, sio->fd) : -EBADF;

	edo_descriptors_unlock(io, sio->fd, is_ours ? 0 : slot);
	return rc;
}

/* A holder that sleeps releases nothing; without this the slab would grow instead, and nothing worse. */
static void retire(struct edo_io_driver *io, struct edo_scheduled_io *sio)
{
	edo_slab_retire(&io->slab, sio);
	/* Relaxed: both are hints here. */
	if (edo_load(&io->slab.pending_count, relaxed) > EDO_SLAB_PENDING_MAX &&
	    edo_load(&io->is_waiting, relaxed))
		edo_io_unpark(io);
}

int edo_io_deregister(struct edo_io_driver *io, uint32_t index, uint32_t generation)
{
	struct edo_scheduled_io *sio = edo_io_find(io, index, generation);
	edo_waker waiters[2];
	int rc;

	if (!sio || !end_use(sio, generation, waiters))
		return -EBADF;
	(void)edo_readiness_await_calls(sio);
	edo_entry_drop(&sio->idle);
	rc = leave(io, sio);
	retire(io, sio);
	edo_lock_assert_none();
	edo_waker_wake(&waiters[EDO_READING]);
	edo_waker_wake(&waiters[EDO_WRITING]);
	return rc;
}
