/* What channels cost: each workload with style=stackless|fiber, on a current-thread runtime (flavor=current). */
#ifndef EDO_BENCH_SYNC_WORKLOADS_H
#define EDO_BENCH_SYNC_WORKLOADS_H

#include "harness.h"

extern const struct workload sync_workloads[];

#endif
