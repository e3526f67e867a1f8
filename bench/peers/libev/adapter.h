/*
 * libev's timers, on virtual time; moved by ev_timer_again(), as its manual advises for idle
 * limits.
 */
#ifndef EDO_BENCH_ADAPTER_H
#define EDO_BENCH_ADAPTER_H

#include "../virtual_clock.h"
#include "harness.h"
#include <ev.h>

#define ADAPTER_NAME "libev"

struct adapter_timer {
	ev_timer timer;
};

struct adapter {
	struct ev_loop *loop;
	uint64_t now;
	size_t fired;
};

static inline void adapter_init(struct adapter *set, size_t capacity)
{
	(void)capacity;
	virtual_clock_ms = VIRTUAL_CLOCK_START_MS;
	set->now = 0;
	set->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
	if (!set->loop)
		bench_die("ev_loop_new failed");
	ev_set_userdata(set->loop, set);
	ev_now_update(set->loop);
}

static inline void adapter_free(struct adapter *set)
{
	ev_loop_destroy(set->loop);
}

/* It repeats, since ev_timer_again() wants that; so it is stopped when it has fired. */
static void adapter_fired(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)events;
	((struct adapter *)ev_userdata(loop))->fired++;
	ev_timer_stop(loop, timer);
}

static inline void adapter_prepare(struct adapter *set, struct adapter_timer *timer)
{
	(void)set;
	ev_timer_init(&timer->timer, adapter_fired, 0., 0.);
}

static inline void adapter_reset(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	timer->timer.repeat = (double)(when - set->now) / 1000;
	ev_timer_again(set->loop, &timer->timer);
}

static inline void adapter_insert(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	adapter_reset(set, timer, when);
}

static inline void adapter_cancel(struct adapter *set, struct adapter_timer *timer)
{
	ev_timer_stop(set->loop, &timer->timer);
}

static inline size_t adapter_advance(struct adapter *set, uint64_t now)
{
	set->fired = 0;
	set->now = now;
	virtual_clock_ms = VIRTUAL_CLOCK_START_MS + now;
	ev_run(set->loop, EVRUN_NOWAIT);
	return set->fired;
}

#endif
