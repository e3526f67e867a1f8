/* libuv's timers, on virtual time; a loop with nothing but timers. */
#ifndef EDO_BENCH_ADAPTER_H
#define EDO_BENCH_ADAPTER_H

#include "../virtual_clock.h"
#include "harness.h"
#include <uv.h>

#define ADAPTER_NAME "libuv"

struct adapter_timer {
	uv_timer_t timer;
};

struct adapter {
	uv_loop_t loop;
	size_t fired;
};

static inline void adapter_init(struct adapter *set, size_t capacity)
{
	(void)capacity;
	virtual_clock_ms = VIRTUAL_CLOCK_START_MS;
	if (uv_loop_init(&set->loop) != 0)
		bench_die("uv_loop_init failed");
	set->loop.data = set;
}

/* Timers are stopped, not closed: the loop cannot be closed, and the program ends soon. */
static inline void adapter_free(struct adapter *set)
{
	(void)set;
}

static inline void adapter_prepare(struct adapter *set, struct adapter_timer *timer)
{
	uv_timer_init(&set->loop, &timer->timer);
}

static void adapter_fired(uv_timer_t *timer)
{
	((struct adapter *)timer->loop->data)->fired++;
}

/* uv_timer_start() counts from the loop's time and re-arms what is armed. */
static inline void adapter_reset(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	uint64_t now = set->loop.time - VIRTUAL_CLOCK_START_MS;

	uv_timer_start(&timer->timer, adapter_fired, when - now, 0);
}

static inline void adapter_insert(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	adapter_reset(set, timer, when);
}

static inline void adapter_cancel(struct adapter *set, struct adapter_timer *timer)
{
	(void)set;
	uv_timer_stop(&timer->timer);
}

static inline size_t adapter_advance(struct adapter *set, uint64_t now)
{
	set->fired = 0;
	virtual_clock_ms = VIRTUAL_CLOCK_START_MS + now;
	uv_update_time(&set->loop);
	uv_run(&set->loop, UV_RUN_NOWAIT);
	return set->fired;
}

#endif
