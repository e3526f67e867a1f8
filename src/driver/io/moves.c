/*
 * Which copy of a user's object holds a registration (see struct edo_scheduled_io).
 *
 * Two tasks may use one object at once, a reader and a writer, so its epoch is read and written as an
 * atomic; the slot's side changes under the registration's lock. Without the lock it is only looked
 * at: when all three agree nothing has to change, and if they agree by chance while another thread is
 * taking over, this use came just before that.
 *
 * Epochs are never set back, so an object of an earlier use of the slot is as dead as a moved one.
 */
#include "driver/io/scheduled_io.h"
#include <errno.h>

void edo_moves_begin(struct edo_scheduled_io *sio)
{
	uint32_t latest = sio->epoch[0] > sio->epoch[1] ? sio->epoch[0] : sio->epoch[1];

	for (int half = 0; half < 2; half++) {
		/* Relaxed: the generation's store publishes them. */
		edo_store(&sio->holder[half], NULL, relaxed);
		edo_store(&sio->epoch[half], latest + 1, relaxed);
	}
}

static bool holds_it(struct edo_scheduled_io *sio, unsigned half, const void *object,
		     uint32_t epoch)
{
	return edo_load(&sio->holder[half], relaxed) == object &&
	       edo_load(&sio->epoch[half], relaxed) == epoch;
}

/* Under the lock. */
static int take_over(struct edo_scheduled_io *sio, unsigned half, const void *object,
		     uint32_t *epoch)
{
	uint32_t present = edo_load(&sio->epoch[half], relaxed);

	if (edo_load(epoch, relaxed) != present)
		return -EBADF;
	if (edo_load(&sio->holder[half], relaxed) == object)
		return 0;
	edo_store(&sio->epoch[half], present + 1, relaxed);
	edo_store(epoch, present + 1, relaxed);
	edo_store(&sio->holder[half], object, relaxed);
	return 0;
}

int edo_io_adopt(struct edo_scheduled_io *sio, unsigned half, const void *object, uint32_t *epoch)
{
	int rc;

	/* Relaxed: only values are compared; see above. */
	if (EDO_LIKELY(holds_it(sio, half, object, edo_load(epoch, relaxed))))
		return 0;
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	rc = take_over(sio, half, object, epoch);
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	return rc;
}
