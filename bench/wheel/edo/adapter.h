/* What the workloads measure here: <edo/wheel.h>, as its users call it. */
#ifndef EDO_BENCH_ADAPTER_H
#define EDO_BENCH_ADAPTER_H

#include "harness.h"
#include <edo/wheel.h>

#define ADAPTER_NAME "edo"

struct adapter_timer {
	edo_wheel_timer timer;
};

struct adapter {
	edo_wheel wheel;
};

static inline void adapter_init(struct adapter *set, size_t capacity)
{
	(void)capacity;
	edo_wheel_init(&set->wheel, 0);
}

static inline void adapter_free(struct adapter *set)
{
	(void)set;
}

static inline void adapter_prepare(struct adapter *set, struct adapter_timer *timer)
{
	(void)set;
	edo_wheel_timer_init(&timer->timer);
}

static inline void adapter_insert(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	if (edo_wheel_insert(&set->wheel, &timer->timer, when) < 0)
		bench_die("a timer was refused");
}

static inline void adapter_cancel(struct adapter *set, struct adapter_timer *timer)
{
	edo_wheel_remove(&set->wheel, &timer->timer);
}

static inline void adapter_reset(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	if (edo_wheel_reset(&set->wheel, &timer->timer, when) < 0)
		bench_die("a timer was refused");
}

static inline size_t adapter_advance(struct adapter *set, uint64_t now)
{
	size_t fired = 0;

	while (edo_wheel_poll(&set->wheel, now))
		fired++;
	return fired;
}

#endif
