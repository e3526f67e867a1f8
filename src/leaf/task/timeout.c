/*
 * A limit round any future: the inner one is polled first, then the timer.
 */
#include "driver/driver.h"
#include <edo/fiber.h>
#include <edo/time.h>
#include <errno.h>

/*
 * An inner future that never runs out of results spends the whole budget at each poll; the timer would
 * never get a unit of it, so it is lent one.
 */
static edo_poll poll_timer(edo_timeout_future *timeout, edo_context *cx, bool was_spent_by_inner)
{
	edo_poll polled;

	if (was_spent_by_inner)
		edo_coop_refund(cx);
	polled = edo_future_poll(&timeout->edo_timer_.future, cx);
	if (was_spent_by_inner && polled == EDO_PENDING)
		cx->edo_budget_ = 0;
	return polled;
}

static void drop_inner(edo_timeout_future *timeout)
{
	edo_future *inner = timeout->edo_inner_;

	timeout->edo_inner_ = NULL;
	if (inner)
		edo_future_drop(inner);
}

static edo_poll poll_both(edo_timeout_future *timeout, edo_context *cx)
{
	bool had_budget = cx->edo_budget_ > 0;
	edo_poll polled;

	if (!timeout->edo_inner_)
		return -EINVAL;
	polled = edo_future_poll(timeout->edo_inner_, cx);
	if (polled != EDO_PENDING) {
		edo_timer_drop(&timeout->edo_timer_);
		return polled;
	}
	polled = poll_timer(timeout, cx, had_budget && cx->edo_budget_ == 0);
	if (polled == EDO_PENDING)
		return EDO_PENDING;
	drop_inner(timeout);
	return polled == EDO_READY ? -ETIMEDOUT : polled;
}

static edo_poll timeout_poll(edo_future *future, edo_context *cx)
{
	edo_timeout_future *timeout = edo_container_of(future, edo_timeout_future, future);
	edo_poll polled = poll_both(timeout, cx);

	if (polled != EDO_PENDING)
		timeout->result = polled;
	return polled;
}

static void timeout_drop(edo_future *future)
{
	edo_timeout_future *timeout = edo_container_of(future, edo_timeout_future, future);

	drop_inner(timeout);
	edo_timer_drop(&timeout->edo_timer_);
}

static struct edo_time_driver *time_of(struct edo_driver *driver)
{
	return driver && driver->has_time ? &driver->time : NULL;
}

/* A limit of 0 has passed at once and not at the next tick: instant 0 is before any present. */
static edo_instant deadline_after(edo_instant now, edo_duration limit)
{
	return limit > 0 ? edo_instant_add(now, limit) : 0;
}

static const edo_future *timeout_awaits(const edo_future *future, unsigned n)
{
	return n == 0 ?
		       edo_container_of((uintptr_t)future, edo_timeout_future, future)->edo_inner_ :
		       NULL;
}

EDO_FUTURE_OPS_AWAITING(timeout_ops, edo_timeout_future, future, timeout_poll, timeout_drop,
			timeout_awaits);

/* Begun where there was no clock: the limit counts from the first poll, or it would pass too early (T1). */
static edo_poll begin_at_first_poll(edo_future *future, edo_context *cx)
{
	edo_timeout_future *timeout = edo_container_of(future, edo_timeout_future, future);
	edo_duration limit = edo_timer_deadline(&timeout->edo_timer_);
	struct edo_time_driver *time = time_of(cx->edo_driver_);

	future->ops = &timeout_ops;
	if (time)
		edo_timer_init(&timeout->edo_timer_, deadline_after(edo_time_now(time), limit));
	return timeout_poll(future, cx);
}

EDO_FUTURE_OPS(unbegun_ops, edo_timeout_future, future, begin_at_first_poll, timeout_drop);

edo_future *edo_timeout_start(edo_timeout_future *timeout, edo_duration limit, edo_future *inner)
{
	struct edo_time_driver *time = time_of(edo_current_driver());

	timeout->future.ops = time ? &timeout_ops : &unbegun_ops;
	timeout->result = 0;
	timeout->edo_inner_ = inner;
	edo_timer_init(&timeout->edo_timer_,
		       time ? deadline_after(edo_time_now(time), limit) : limit);
	return &timeout->future;
}

/* A moment that has passed must not wait for the next tick, to which it would be rounded up. */
static edo_poll look_at_the_clock_first(edo_future *future, edo_context *cx)
{
	edo_timeout_future *timeout = edo_container_of(future, edo_timeout_future, future);
	edo_instant until = edo_timer_deadline(&timeout->edo_timer_);
	struct edo_time_driver *time = time_of(cx->edo_driver_);

	future->ops = &timeout_ops;
	if (time && until <= edo_time_now(time))
		edo_timer_init(&timeout->edo_timer_, 0);
	return timeout_poll(future, cx);
}

EDO_FUTURE_OPS(until_ops, edo_timeout_future, future, look_at_the_clock_first, timeout_drop);

edo_future *edo_timeout_until_start(edo_timeout_future *timeout, edo_instant instant,
				    edo_future *inner)
{
	timeout->future.ops = instant > 0 ? &until_ops : &timeout_ops;
	timeout->result = 0;
	timeout->edo_inner_ = inner;
	edo_timer_init(&timeout->edo_timer_, instant);
	return &timeout->future;
}

int edo_timeout_until(edo_instant instant, edo_future *inner)
{
	edo_timeout_future timeout;

	return edo_await(edo_timeout_until_start(&timeout, instant, inner));
}

int edo_timeout(edo_duration limit, edo_future *inner)
{
	edo_timeout_future timeout;

	return edo_await(edo_timeout_start(&timeout, limit, inner));
}
