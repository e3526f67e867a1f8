/*
 * How long a stream may be idle: one timer entry in its slot, for both directions.
 *
 * The entry's waker is the slot itself. It sets nothing: it wakes whoever waits on the slot, and they look at
 * the entry. Wakes by the driver are made inside the holder's turn, and the holder releases slots only
 * between turns, so such a wake finds the slot in the same use or retired. One made by a thread that moves
 * the limit to the past may come later and find another use: then it is spurious, and harmless. After
 * the driver's end there is none.
 *
 * Locks: arming is under the registration's lock (rank below the shard's), where its generation and limit
 * are looked at; moving an armed entry to a later tick needs no lock. Everything that may wake or
 * drop a waker is done with none held.
 */
#include "driver/io/scheduled_io.h"
#include <errno.h>

static void wake_both(void *slot)
{
	struct edo_scheduled_io *sio = slot;
	edo_waker taken[2];

	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	edo_readiness_take_wakers(sio, 3, taken);
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	edo_waker_wake(&taken[EDO_READING]);
	edo_waker_wake(&taken[EDO_WRITING]);
}

static void forget(void *slot)
{
	(void)slot;
}

static edo_waker waker_of(void *slot);

static const edo_waker_ops slot_waker_ops = {
	.clone = waker_of,
	.wake = wake_both,
	.wake_by_ref = wake_both,
	.drop = forget,
};

static edo_waker waker_of(void *slot)
{
	return (edo_waker){ .data = slot, .ops = &slot_waker_ops };
}

/* Under the lock: somebody else may have armed it, lifted the limit or ended the registration. */
static int arm_if_wanted(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t tick)
{
	edo_waker waker = waker_of(sio);

	if (!(edo_load(&sio->generation, relaxed) & 1) || edo_load(&sio->idle_limit, relaxed) == 0)
		return 0;
	if (edo_entry_is_armed(&sio->idle))
		return 0;
	return edo_entry_arm(time, &sio->idle, tick, &waker);
}

static int arm(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t tick)
{
	int rc;

	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	rc = arm_if_wanted(time, sio, tick);
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	if (rc != -ETIME)
		return rc;
	wake_both(sio); /* it has expired already */
	return 0;
}

/* Moves it if it is armed; if it is not, or has just fired, arms it. */
static int restart(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t tick)
{
	int rc = 0;

	if (edo_entry_is_armed(&sio->idle))
		rc = edo_entry_reset(time, &sio->idle, tick);
	if (rc == 0 && !edo_entry_is_armed(&sio->idle))
		rc = arm(time, sio, tick);
	return rc;
}

static uint64_t tick_after(const struct edo_time_driver *time, uint64_t now, uint64_t limit)
{
	return edo_time_tick_of(time, edo_instant_add(now, limit));
}

int edo_io_idle_set(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t limit)
{
	if (limit == EDO_FOREVER)
		limit = 0;
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	edo_store(&sio->idle_limit, limit, relaxed); /* under the lock */
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	if (limit)
		return restart(time, sio, tick_after(time, edo_time_now(time), limit));
	edo_entry_drop(&sio->idle);
	return 0;
}

/*
 * Whether the entry is already armed for this tick or a later one. Two tasks of one stream touch it by
 * clocks that they read a moment apart: the later one stands, and nobody moves it back.
 */
static bool is_armed_for(const struct edo_scheduled_io *sio, uint64_t tick)
{
	uint64_t when = edo_load(&sio->idle.edo_node_.when, relaxed);

	return when >= tick && when <= EDO_TICK_MAX && edo_entry_is_armed(&sio->idle);
}

void edo_io_idle_touch(struct edo_time_driver *time, struct edo_scheduled_io *sio, edo_context *cx)
{
	uint64_t limit = edo_load(&sio->idle_limit, relaxed);
	uint64_t tick;

	if (limit == 0)
		return;
	tick = tick_after(time, edo_time_poll_now(time, cx), limit);
	if (!is_armed_for(sio, tick))
		(void)restart(time, sio, tick);
}

bool edo_io_idle_has_expired(const struct edo_scheduled_io *sio)
{
	return edo_load(&sio->idle_limit, relaxed) != 0 && edo_entry_has_fired(&sio->idle);
}
