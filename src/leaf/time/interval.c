/*
 * Periods. A tick's successor is planned from the instant the tick was planned for, never from when it
 * was met (p25), unless ticks were missed: then the interval's policy decides. Every sum saturates (p08).
 *
 * While nobody waits the timer is unarmed (p15); what makes the interval go on is its deadline alone,
 * so a wait that is dropped loses no tick.
 */
#include "leaf/time/time.h"
#include <edo/fiber.h>
#include <errno.h>

/*
 * For EDO_MISSED_DELAY, which starts anew at a late tick: so late every tick may be, by the rounding of
 * ticks and the scheduling of threads, and a grid that gave way to that would drift. (Tokio's figure.)
 */
#define USUAL_LATENESS EDO_MS(5)

static edo_instant after_delay(edo_instant planned, edo_instant now, edo_duration period)
{
	edo_duration late = edo_instant_since(now, planned);
	bool is_late = late > USUAL_LATENESS || late >= period;

	return edo_instant_add(is_late ? now : planned, period);
}

/* The first multiple of the period, counted from `planned`, that lies ahead. */
static edo_instant after_skip(edo_instant planned, edo_instant now, edo_duration period)
{
	edo_duration late = edo_instant_since(now, planned);

	return edo_instant_add(edo_instant_add(planned, late - late % period), period);
}

static edo_instant next_tick(const edo_interval *interval, edo_instant planned, edo_instant now)
{
	switch (interval->edo_missed_) {
	case EDO_MISSED_DELAY:
		return after_delay(planned, now, interval->edo_period_);
	case EDO_MISSED_SKIP:
		return after_skip(planned, now, interval->edo_period_);
	case EDO_MISSED_BURST:
		break;
	}
	return edo_instant_add(planned, interval->edo_period_);
}

int edo_interval_init(edo_interval *interval, edo_instant start, edo_duration period,
		      edo_missed missed)
{
	edo_timer_init(&interval->edo_timer_, start);
	interval->edo_period_ = period;
	interval->edo_missed_ = missed;
	return period > 0 && missed <= EDO_MISSED_SKIP ? 0 : -EINVAL;
}

int edo_interval_reset_at(edo_interval *interval, edo_instant instant)
{
	return edo_timer_reset(&interval->edo_timer_, instant);
}

int edo_interval_reset(edo_interval *interval)
{
	return edo_interval_reset_at(interval, edo_instant_add(edo_now(), interval->edo_period_));
}

void edo_interval_drop(edo_interval *interval)
{
	edo_timer_drop(&interval->edo_timer_);
}

/* A fresh reading (p24): the task may have been at work for long since its poll began. */
static edo_instant now_of(const edo_context *cx, edo_instant planned)
{
	struct edo_time_driver *time = edo_time_of(cx->edo_driver_);

	return time ? edo_time_now(time) : planned;
}

/* The tick has come: plan the next. The wait is over, and what becomes of the interval is not its affair. */
static void take_tick(edo_interval_future *tick, const edo_context *cx)
{
	edo_interval *interval = tick->edo_interval_;

	tick->edo_interval_ = NULL;
	tick->at = edo_timer_deadline(&interval->edo_timer_);
	(void)edo_interval_reset_at(interval, next_tick(interval, tick->at, now_of(cx, tick->at)));
}

static edo_poll poll_interval(edo_interval_future *tick, edo_context *cx)
{
	edo_poll polled;

	if (!tick->edo_interval_ || tick->edo_interval_->edo_period_ == 0)
		return -EINVAL;
	polled = edo_future_poll(&tick->edo_interval_->edo_timer_.future, cx);
	if (polled == EDO_READY)
		take_tick(tick, cx);
	return polled;
}

static edo_poll tick_poll(edo_future *future, edo_context *cx)
{
	edo_interval_future *tick = edo_container_of(future, edo_interval_future, future);
	edo_poll polled = poll_interval(tick, cx);

	if (polled != EDO_PENDING)
		tick->result = polled;
	return polled;
}

static void tick_drop(edo_future *future)
{
	edo_interval_future *tick = edo_container_of(future, edo_interval_future, future);
	edo_interval *interval = tick->edo_interval_;

	tick->edo_interval_ = NULL;
	if (interval)
		edo_interval_drop(interval);
}

EDO_FUTURE_OPS(tick_ops, edo_interval_future, future, tick_poll, tick_drop);

edo_future *edo_interval_tick_start(edo_interval_future *tick, edo_interval *interval)
{
	*tick = (edo_interval_future){ .future = { &tick_ops }, .edo_interval_ = interval };
	return &tick->future;
}

int edo_interval_tick(edo_interval *interval, edo_instant *at)
{
	edo_interval_future tick;
	int rc = edo_await(edo_interval_tick_start(&tick, interval));

	if (rc == 0 && at)
		*at = tick.at;
	return rc;
}
