/*
 * The reactor: its turn, its wake-up, its beginning and its end. Only the thread that holds the driver
 * turns it; anybody unparks it.
 *
 * A turn releases the slots that were retired since the last one, waits once (R4), and hands out what came.
 * Between a wait and the end of its turn no slot is reused, so an event whose generation fits
 * belongs to the registration it was made for, or to one that has just ended; setting bits there
 * is harmless (R3).
 *
 * The wake-up. is_woken says that a write to the poller's wake-up is under way or its event not yet taken.
 * Whoever turns it from false to true writes; all others rely on that write. The holder turns it
 * back when it has the event, by an exchange (acquire), which reads the last of those that saw true
 * (release), so all that they did before is seen after the turn. A caller after it writes anew, and
 * ends the next wait.
 */
#include "base/hot.h"
#include "driver/io/scheduled_io.h"
#include <errno.h>
#include <string.h>

int edo_io_init(struct edo_io_driver *io, uint32_t driver_id, uint32_t events_per_turn,
		const edo_allocator *allocator)
{
	memset(io, 0, sizeof *io);
	io->allocator = allocator;
	io->driver_id = driver_id;
	return edo_poller_init(&io->poller, events_per_turn, allocator);
}

void edo_io_shutdown(struct edo_io_driver *io)
{
	struct edo_io_batch batch;
	uint32_t used = edo_slab_close(&io->slab);

	batch.count = 0;
	for (uint32_t i = 0; i < used; i++)
		edo_readiness_shut_down(edo_slab_slot(&io->slab, i), &batch);
	edo_io_batch_flush(&batch);
}

/*
 * The slots' memory goes with the driver. No idle timer's waker points into it any more: their entries
 * were fired by the time driver's shutdown, and wakes are made inside the holder's turn.
 */
void edo_io_destroy(struct edo_io_driver *io)
{
	edo_poller_destroy(&io->poller);
	edo_descriptors_free(io);
	edo_slab_free(io);
}

void edo_io_unpark(struct edo_io_driver *io)
{
	/* Release: pairs with the exchange in take_wake_up(). */
	if (edo_exchange(&io->is_woken, true, acq_rel))
		return;
	if (edo_poller_wake(&io->poller) < 0)
		edo_store(&io->is_woken, false, release); /* the next caller tries again */
}

static void take_wake_up(struct edo_io_driver *io)
{
	(void)edo_exchange(&io->is_woken, false, acq_rel); /* pairs with edo_io_unpark() */
}

/* Only the holder counts, others read. */
static void count(uint64_t *counter, uint64_t n)
{
	edo_store(counter, *counter + n, relaxed);
}

static void dispatch(struct edo_io_driver *io, struct edo_poller_event event,
		     struct edo_io_batch *batch)
{
	struct edo_scheduled_io *sio;

	if (event.token == EDO_POLLER_WAKE_TOKEN) {
		take_wake_up(io);
		return;
	}
	if (event.token == EDO_POLLER_TIMER_TOKEN)
		return;
	sio = edo_io_find(io, (uint32_t)event.token, (uint32_t)(event.token >> 32));
	if (sio)
		edo_readiness_set(sio, event.readiness, batch);
	else
		count(&io->stale_tokens, 1);
}

/* Somebody has closed the poller's own descriptor; nothing will come any more. */
static unsigned events_or_none(int rc)
{
	if (rc >= 0)
		return (unsigned)rc;
	edo_misuse("the runtime's own descriptors were closed");
	return 0;
}

static unsigned wait_for_events(struct edo_io_driver *io, uint64_t max_wait)
{
	unsigned n;

	edo_store(&io->is_waiting, max_wait != 0, relaxed); /* a hint, see registration.c */
	n = events_or_none(edo_poller_wait(&io->poller, max_wait));
	edo_store(&io->is_waiting, false, relaxed);
	return n;
}

EDO_HOT unsigned edo_io_turn(struct edo_io_driver *io, uint64_t max_wait)
{
	struct edo_io_batch batch;
	unsigned n;

	batch.count = 0;
	edo_slab_release_retired(&io->slab);
	n = wait_for_events(io, max_wait);
	for (unsigned i = 0; i < n; i++)
		dispatch(io, edo_poller_event(&io->poller, (int)i), &batch);
	edo_io_batch_flush(&batch);
	count(&io->events, n);
	return n;
}
