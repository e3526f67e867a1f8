/*
 * What edo_timer costs inside a runtime: the workloads of bench/wheel, with wakers, the shard's lock and
 * the next-wake protocol, on one current-thread runtime with a clock that the workload turns.
 */
#ifndef EDO_BENCH_TIMER_WORKLOADS_H
#define EDO_BENCH_TIMER_WORKLOADS_H

#include "harness.h"

extern const struct workload timer_workloads[];

#endif
