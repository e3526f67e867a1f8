/*
 * What cuts a fiber's waits: an abort, a deadline that has passed.
 *
 * T1. Whether a deadline has passed is told by moments that have come for certain: the clock as a scope's
 * begin or a checkpoint read it, and the tick of the timer once it has fired. An await reads no clock.
 */
#include "private.h"
#include <errno.h>

void edo_limit_init(struct edo_limit *limit)
{
	*limit = (struct edo_limit){ .deadline = EDO_FOREVER, .cut_by = EDO_FOREVER };
	edo_entry_init(&limit->timer);
}

void edo_limit_drop(struct edo_limit *limit)
{
	if (!limit->is_armed)
		return;
	limit->is_armed = false;
	edo_entry_drop(&limit->timer);
}

/* ---- what has come ---- */

static void hear_the_timer(struct edo_limit *limit)
{
	if (limit->is_armed && limit->come < limit->armed_for && edo_entry_has_fired(&limit->timer))
		limit->come = limit->armed_for;
}

static bool has_passed(struct edo_limit *limit)
{
	if (limit->deadline == EDO_FOREVER)
		return false;
	hear_the_timer(limit);
	return limit->deadline <= limit->come;
}

void edo_limit_look(struct edo_fiber *fiber)
{
	struct edo_limit *limit = &fiber->limit;
	edo_instant now;

	if (limit->deadline == EDO_FOREVER || limit->deadline <= limit->come)
		return;
	now = edo_time_now(&fiber->cx->edo_driver_->time);
	if (now > limit->come)
		limit->come = now;
}

int edo_limit_fate(struct edo_fiber *fiber)
{
	struct edo_limit *limit = &fiber->limit;

	if (!limit->is_shielded && edo_fiber_is_cancelled(fiber)) {
		limit->was_cancelled = true;
		return -ECANCELED;
	}
	if (!has_passed(limit))
		return 0;
	limit->cut_by = limit->deadline;
	return -ETIMEDOUT;
}

/* ---- the timer ---- */

/* Its tick has passed before it could be armed: nobody would be woken, so this is the deadline itself. */
static bool arm(struct edo_fiber *fiber, struct edo_time_driver *time)
{
	struct edo_limit *limit = &fiber->limit;
	int rc;

	limit->armed_for = limit->deadline;
	limit->is_armed = true;
	rc = edo_entry_arm(time, &limit->timer, edo_time_tick_of(time, limit->deadline),
			   fiber->cx->waker);
	if (rc == -ETIME)
		limit->come = limit->deadline;
	return rc != -ETIME;
}

bool edo_limit_watch(struct edo_fiber *fiber)
{
	struct edo_limit *limit = &fiber->limit;

	if (limit->deadline == EDO_FOREVER) {
		edo_limit_drop(limit);
		return true;
	}
	if (has_passed(limit))
		return false;
	/* It has time, or no deadline could have begun. */
	return arm(fiber, &fiber->cx->edo_driver_->time);
}

/* ---- shields ---- */

struct edo_limit_outside edo_limit_shield(struct edo_limit *limit)
{
	struct edo_limit_outside outside = { limit->deadline, limit->innermost, limit->depth,
					     limit->is_shielded };

	limit->deadline = EDO_FOREVER;
	limit->is_shielded = true;
	return outside;
}

void edo_limit_unshield(struct edo_limit *limit, const struct edo_limit_outside *outside)
{
	limit->deadline = outside->deadline;
	limit->innermost = outside->innermost;
	limit->depth = outside->depth;
	limit->is_shielded = outside->is_shielded;
}
