/*
 * The clock: the system's, counted from the runtime's start, or one that stands and is turned by
 * hand. Any thread reads it; only the holder's thread pauses, resumes and turns it.
 *
 * T1. It never shows less than what a turn of the wheel has taken for the present: the wheel refuses
 * what is due by then, so whoever saw an earlier present would be woken early (p09).
 */
#include "driver/time/time.h"
#include <errno.h>

/*
 * Relaxed throughout, except for the pair of resume: an instant that is a little old makes a
 * timer late, never early, and nothing else hangs on it.
 */
static uint64_t running_now(const struct edo_clock *clock)
{
	uint64_t start = edo_load(&clock->start, relaxed);
	uint64_t now = edo_sys_clock_now(clock->source) - start;

	/* Beyond the end: it stepped back to before its start. */
	return now <= EDO_CLOCK_END ? now : 0;
}

uint64_t edo_time_now(const struct edo_time_driver *time)
{
	/* Acquire: pairs with the release in edo_time_resume(); the new start is seen. */
	uint64_t paused_at = edo_load(&time->clock.paused_at, acquire);
	uint64_t shown, now;

	if (paused_at != UINT64_MAX)
		return paused_at;
	now = running_now(&time->clock);
	/* Relaxed: who was refused by a wheel sees what that turn stored through the shard's lock. */
	shown = edo_load(&time->clock.shown, relaxed);
	return now > shown ? now : shown;
}

uint64_t edo_time_poll_now(const struct edo_time_driver *time, edo_context *cx)
{
	if (cx->edo_now_ == 0)
		cx->edo_now_ = edo_time_now(time);
	return cx->edo_now_;
}

bool edo_time_is_paused(const struct edo_time_driver *time)
{
	return edo_load(&time->clock.paused_at, relaxed) != UINT64_MAX;
}

int edo_time_pause(struct edo_time_driver *time)
{
	if (edo_time_is_paused(time))
		return -EINVAL;
	edo_store(&time->clock.paused_at, edo_time_now(time), relaxed);
	return 0;
}

int edo_time_resume(struct edo_time_driver *time)
{
	uint64_t paused_at = edo_load(&time->clock.paused_at, relaxed);

	if (paused_at == UINT64_MAX)
		return -EINVAL;
	edo_store(&time->clock.start, edo_sys_clock_now(time->clock.source) - paused_at, relaxed);
	/* Release: pairs with the acquire in edo_time_now(). */
	edo_store(&time->clock.paused_at, UINT64_MAX, release);
	return 0;
}

int edo_time_advance(struct edo_time_driver *time, uint64_t duration)
{
	uint64_t paused_at = edo_load(&time->clock.paused_at, relaxed);
	uint64_t target = edo_instant_add(paused_at, duration);

	if (paused_at == UINT64_MAX)
		return -EINVAL;
	edo_store(&time->clock.paused_at, target < EDO_CLOCK_END ? target : EDO_CLOCK_END, relaxed);
	return 0;
}
