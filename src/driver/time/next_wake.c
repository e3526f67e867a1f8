/*
 * T3: a driver that sleeps is woken by whoever arms a nearer timer, and by nobody else.
 *
 * next_wake holds IDLE (nobody waits), SCANNING (the holder is finding out for how long it may), a tick
 * (it sleeps until then) or FOREVER. The holder alone writes the last three.
 *
 * Why no timer is lost. The holder stores SCANNING before it locks the first shard. An inserter that had
 * the shard's lock before the holder has filed its entry, and the scan finds it. One that gets the lock
 * after the holder had it reads, by the lock's release and acquire, SCANNING or something later. If it
 * is SCANNING, or a tick later than its own, the inserter swaps it for IDLE: either before the holder's
 * compare-and-swap, which then fails, and the holder does not wait; or after it, and then it found
 * the published tick there and unparks the holder. Both are read-modify-writes of one word, which are
 * totally ordered whatever the memory order, and what they decide about travels through the shard's
 * lock: so all of them are relaxed.
 */
#include "shard.h"

bool edo_next_wake_swap(struct edo_time_driver *time, uint64_t tick, uint64_t seen)
{
	/* Relaxed: see above; IDLE (0) is below every tick, SCANNING and FOREVER above. */
	while (tick < seen)
		if (edo_compare_exchange(&time->next_wake, &seen, EDO_WAKE_IDLE, relaxed, relaxed))
			return seen != EDO_WAKE_SCANNING;
	return false;
}

bool edo_time_earliest(struct edo_time_driver *time, uint64_t *tick)
{
	bool found = false;

	for (uint32_t i = 0; i < time->shard_count; i++) {
		struct edo_time_shard *shard = &time->shards[i];
		uint64_t next;
		bool has_next;

		edo_shard_lock(shard);
		has_next = edo_wheel_next(&shard->wheel, &next);
		edo_shard_unlock(shard);
		if (has_next && (!found || next < *tick))
			*tick = next;
		found |= has_next;
	}
	return found;
}

/* How long until `tick` begins, at most max_wait; exact, so a wait is neither cut to 0 nor spins (p27). */
static uint64_t time_until(struct edo_time_driver *time, uint64_t tick, uint64_t max_wait)
{
	uint64_t due = edo_time_instant_of(time, tick);
	uint64_t now = edo_time_now(time);

	if (due <= now)
		return 0;
	/* A clock that stands does not come nearer by waiting. */
	if (edo_time_is_paused(time) || due == EDO_FOREVER)
		return max_wait;
	return due - now < max_wait ? due - now : max_wait;
}

/* What an earlier turn did not finish may be named as tick 0, which is not one of next_wake's ticks. */
static uint64_t publication(bool found, uint64_t tick)
{
	if (!found)
		return EDO_WAKE_FOREVER;
	return tick > 0 ? tick : 1;
}

uint64_t edo_time_before_wait(struct edo_time_driver *time, uint64_t max_wait)
{
	uint64_t scanning = EDO_WAKE_SCANNING;
	uint64_t tick = 0;
	bool found;

	if (max_wait == 0)
		return 0;
	edo_store(&time->next_wake, EDO_WAKE_SCANNING, relaxed); /* before the first lock */
	found = edo_time_earliest(time, &tick);
	if (!edo_compare_exchange(&time->next_wake, &scanning, publication(found, tick), relaxed,
				  relaxed))
		return 0;
	return found ? time_until(time, tick, max_wait) : max_wait;
}

/*
 * A plain store is enough: an inserter that swaps IDLE in at the same moment wakes the holder, who is
 * awake, once more for nothing. Whoever holds the driver next sees it through the driver's own hand-over.
 */
void edo_time_after_wait(struct edo_time_driver *time)
{
	edo_store(&time->next_wake, EDO_WAKE_IDLE, relaxed);
}
