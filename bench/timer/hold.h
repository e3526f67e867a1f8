/*
 * How long a shard's lock is held in the driver's turn, from its first look at the wheel to its last, and
 * how long the turn is. hold.c stands between the scheduler, the driver and the wheel (the linker's
 * --wrap), and reads a clock only when told: the thread's own, for what others make it wait is not the
 * lock's fault.
 */
#ifndef EDO_BENCH_TIMER_HOLD_H
#define EDO_BENCH_TIMER_HOLD_H

#include <stdbool.h>
#include <stdint.h>

void hold_measure(bool on);
void hold_forget(void);

/* In ns, since they were forgotten. */
uint64_t hold_longest(void);
uint64_t hold_longest_turn(void);
/* The length that this share of the holds (0 to 1) do not exceed. */
uint64_t hold_quantile(double share);

#endif
