/*
 * The wheel's workloads, the same for edo and for the peers: each program compiles workloads.c with
 * the "adapter.h" of its own folder, which maps these onto what it measures, inline where it can:
 *
 *     struct adapter, struct adapter_timer; ADAPTER_NAME
 *     adapter_init(set, capacity)    at tick 0; ticks are ms
 *     adapter_free(set)
 *     adapter_prepare(set, timer)    once for each timer
 *     adapter_insert(set, timer, when), adapter_cancel(set, timer), adapter_reset(set, timer, when)
 *                                    reset: whether armed or not
 *     adapter_advance(set, now)      fires what is due, returns how many
 */
#ifndef EDO_BENCH_WHEEL_WORKLOADS_H
#define EDO_BENCH_WHEEL_WORKLOADS_H

#include "harness.h"

extern const struct workload wheel_workloads[];
/*
 * The same under the names of the workloads on a whole runtime: a peer's timer is one timer to
 * both.
 */
extern const struct workload peer_timer_workloads[];

#endif
