/*
 * How long a shard's lock is held in the driver's turn: from its first look at the wheel to its last.
 * hold.c stands between turn.c and the wheel (the linker's --wrap), and reads the clock only when told.
 */
#ifndef EDO_BENCH_TIMER_HOLD_H
#define EDO_BENCH_TIMER_HOLD_H

#include <stdbool.h>
#include <stdint.h>

void hold_measure(bool on);

/* The thread's own time in ns: what others make it wait is not the lock's fault. */
uint64_t hold_clock(void);

/* Of the holds since it was last asked, in ns. */
uint64_t hold_longest(void);
/* The length that this share of the holds (0 to 1) do not exceed; does not begin anew. */
uint64_t hold_quantile(double share);

#endif
