/*
 * Virtual time for libraries that read the clock themselves: this definition comes before the C
 * library's for the shared libraries of the program. The harness asks the kernel by itself.
 */
#ifndef EDO_BENCH_PEERS_VIRTUAL_CLOCK_H
#define EDO_BENCH_PEERS_VIRTUAL_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

/* What the clock shows at tick 0: libraries take a small clock for a broken one. */
#define VIRTUAL_CLOCK_START_MS UINT64_C(1000000000)

extern uint64_t virtual_clock_ms;

#endif
