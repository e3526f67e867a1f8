/*
 * How long a stream may be idle: one timer entry in its slot, for both directions.
 *
 * The entry's waker is the slot itself. It sets nothing: it wakes whoever waits on the slot, and they look at
 * the entry. Wakes by the driver are made inside the holder's turn, and the holder releases slots only
 * between turns, so such a wake finds the slot in the same use or retired. One made by a thread that moves
 * the limit to the past may come later and find another use: then it is spurious, and harmless. After
 * the driver's end there is none.
 *
 * Two tasks, a reader and a writer, use one entry, so T4's one owner at a time is whoever has the
 * registration's lock: it is armed and taken out under it, after a look at the generation and the limit. Without
 * it an armed entry may be moved to a later tick, which is one compare-and-swap and harmless whoever does it.
 * Whoever ends the registration disarms it after the lock, once nobody arms any more. Wakes are made with no
 * lock held.
 */
#include "base/hot.h"
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

static uint64_t tick_after(const struct edo_time_driver *time, uint64_t now, uint64_t limit)
{
	return edo_time_tick_of(time, edo_instant_add(now, limit));
}

/*
 * Moves an armed entry to a later tick; false when it is not armed. Two tasks of one stream move it by
 * clocks that they read a moment apart: the later one stands, and nobody moves it back.
 */
static bool extend(struct edo_scheduled_io *sio, uint64_t tick)
{
	/* Relaxed: the swap decides, and what is not a tick is looked at under the lock. */
	uint64_t cell = edo_load(&sio->idle.edo_node_.when, relaxed);

	while (cell != 0 && cell <= EDO_TICK_MAX) {
		/* Acquire: whoever moves what was armed by another limit sees that limit, see restart(). */
		if (cell >= tick ||
		    edo_compare_exchange(&sio->idle.edo_node_.when, &cell, tick, acquire, relaxed))
			return true;
	}
	return false;
}

/* Under the lock: somebody else may have armed it, changed the limit or ended the registration. */
static int arm_if_wanted(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t now)
{
	uint64_t limit = edo_load(&sio->idle_limit, relaxed);
	uint64_t tick = tick_after(time, now, limit);
	edo_waker waker = waker_of(sio);

	if (!(edo_load(&sio->generation, relaxed) & 1) || limit == 0)
		return 0;
	if (extend(sio, tick))
		return 0;
	return edo_entry_arm(time, &sio->idle, tick, &waker);
}

/* With the lock released: what arming came to. */
static int tell(struct edo_scheduled_io *sio, int rc)
{
	if (rc != -ETIME)
		return rc;
	wake_both(sio); /* it has expired already */
	return 0;
}

static int arm(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t now)
{
	int rc;

	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	rc = arm_if_wanted(time, sio, now);
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	return tell(sio, rc);
}

/*
 * By the limit that now holds, which may be a shorter one, so what is armed is taken out first. All of it is done
 * under the lock: in between another thread would write where the entry is while this one reads it.
 */
static int arm_anew(struct edo_time_driver *time, struct edo_scheduled_io *sio)
{
	edo_waker disarmed = edo_entry_take(time, &sio->idle);
	int rc = arm_if_wanted(time, sio, edo_time_now(time));

	edo_lock_release(&sio->lock, EDO_RANK_IO);
	edo_waker_drop(&disarmed);
	return tell(sio, rc);
}

int edo_io_idle_set(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t limit)
{
	if (limit == EDO_FOREVER)
		limit = 0;
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	edo_store(&sio->idle_limit, limit, relaxed); /* under the lock */
	edo_store(&sio->idle_started, 0, relaxed);   /* the next operation starts it anew */
	return arm_anew(time, sio);
}

/*
 * Whoever has moved, by a limit that it read before, what was armed by a newer and shorter one (or by the slot's
 * next use), has postponed that: it is armed anew.
 */
static void restart(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t now,
		    uint64_t limit)
{
	if (!extend(sio, tick_after(time, now, limit))) {
		(void)arm(time, sio, now);
	} else if (edo_load(&sio->idle_limit, relaxed) != limit) { /* ordered by extend() */
		edo_lock_acquire(&sio->lock, EDO_RANK_IO);
		(void)arm_anew(time, sio);
	}
}

/*
 * Under the lock. A fired entry is its owner's (T4), so it can be made unarmed without the shard. Only its cell
 * is written, for others look at that without the lock.
 */
static void count_if_fired(struct edo_scheduled_io *sio)
{
	if (!edo_entry_has_fired(&sio->idle))
		return;
	edo_store(&sio->idle_started, 0, relaxed); /* the next operation starts it anew */
	/* Release: pairs with the load in begin. */
	edo_store(&sio->idle_expirations, sio->idle_expirations + 1, release);
	/* Release: whoever finds it unarmed has the count. Pairs with edo_entry_has_fired(). */
	edo_store(&sio->idle.edo_node_.when, EDO_TICK_UNARMED, release);
}

/* The first who sees that the limit has passed counts it for all. */
static void count_expiry(struct edo_scheduled_io *sio, uint32_t generation)
{
	if (!edo_entry_has_fired(&sio->idle))
		return;
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	if (edo_load(&sio->generation, relaxed) == generation) /* under the lock */
		count_if_fired(sio);
	edo_lock_release(&sio->lock, EDO_RANK_IO);
}

/* An expiry that went unnoticed is not this operation's; whoever still waits has an older count. */
EDO_HOT void edo_io_idle_begin(struct edo_time_driver *time, struct edo_scheduled_io *sio,
			       uint64_t now, uint32_t *seen)
{
	uint64_t limit = edo_load(&sio->idle_limit, relaxed);

	if (limit != 0)
		count_expiry(sio, edo_load(&sio->generation, relaxed));
	*seen = edo_load(&sio->idle_expirations, acquire); /* pairs with count_if_fired() */
	/* Relaxed: two that begin at once both restart it, which is one restart. */
	if (limit == 0 || edo_load(&sio->idle_started, relaxed))
		return;
	edo_store(&sio->idle_started, 1, relaxed);
	restart(time, sio, now, limit);
}

/* Also when it has just fired and nobody has looked yet: it is not idle any more. */
void edo_io_idle_progress(struct edo_time_driver *time, struct edo_scheduled_io *sio, uint64_t now)
{
	uint64_t limit = edo_load(&sio->idle_limit, relaxed);

	if (limit == 0)
		return;
	edo_store(&sio->idle_started, 0, relaxed); /* the next operation starts it anew */
	restart(time, sio, now, limit);
}

bool edo_io_idle_expired(struct edo_time_driver *time, struct edo_scheduled_io *sio,
			 uint32_t generation, uint32_t seen)
{
	(void)time;
	if (edo_load(&sio->idle_limit, relaxed) != 0)
		count_expiry(sio, generation);
	/* Relaxed: whoever has found the entry no longer fired has the count with it, see count_if_fired(). */
	return edo_load(&sio->idle_expirations, relaxed) != seen;
}
