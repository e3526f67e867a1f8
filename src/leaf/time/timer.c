/*
 * The timer as users hold it: a deadline in ns round an entry, which thinks in ticks.
 *
 * Its wait is the entry's arming, so dropping the wait disarms it: whoever drops a future may reuse its
 * storage at once. The deadline stays, and the next poll arms it again.
 */
#include "leaf/time/time.h"
#include <errno.h>

/* What has fired or was shut down says so anywhere; all else needs a runtime with time. */
static edo_poll poll_without_time(edo_timer *timer, edo_context *cx)
{
	edo_poll polled = edo_entry_poll(NULL, &timer->edo_entry_, EDO_TICK_MAX, cx);

	return polled == -EINVAL && cx->edo_driver_ ? -EOPNOTSUPP : polled;
}

/* The budget is looked at before the poll, so that a ready result is never found and then withheld. */
static edo_poll timer_poll(edo_future *future, edo_context *cx)
{
	edo_timer *timer = edo_container_of(future, edo_timer, future);
	struct edo_time_driver *time = edo_time_of(cx->edo_driver_);
	edo_poll polled;

	if (!time)
		return poll_without_time(timer, cx);
	if (!edo_coop_has_budget(cx))
		return EDO_PENDING;
	polled = edo_entry_poll(time, &timer->edo_entry_,
				edo_time_tick_of(time, timer->edo_deadline_), cx);
	if (polled != EDO_PENDING)
		edo_coop_take(cx);
	return polled;
}

static void timer_drop(edo_future *future)
{
	edo_timer_drop(edo_container_of(future, edo_timer, future));
}

EDO_FUTURE_OPS(timer_ops, edo_timer, future, timer_poll, timer_drop);

void edo_timer_init(edo_timer *timer, edo_instant deadline)
{
	timer->future.ops = &timer_ops;
	timer->edo_deadline_ = deadline;
	edo_entry_init(&timer->edo_entry_);
}

int edo_timer_reset(edo_timer *timer, edo_instant deadline)
{
	struct edo_time_driver *time = edo_time_of(edo_current_driver());
	uint64_t tick = time ? edo_time_tick_of(time, deadline) : EDO_TICK_MAX;
	int rc = edo_entry_reset(time, &timer->edo_entry_, tick);

	if (rc == 0)
		timer->edo_deadline_ = deadline;
	return rc;
}

void edo_timer_drop(edo_timer *timer)
{
	edo_entry_drop(&timer->edo_entry_);
}

edo_instant edo_timer_deadline(const edo_timer *timer)
{
	return timer->edo_deadline_;
}

bool edo_timer_has_fired(const edo_timer *timer)
{
	return edo_entry_has_fired(&timer->edo_entry_);
}
