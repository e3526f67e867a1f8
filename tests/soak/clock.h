/*
 * The system's clock as the library sees it: the linker leads edo_sys_clock_now() here (--wrap), and it can
 * be set forward and back. Whole process, any thread.
 */
#ifndef EDO_TESTS_SOAK_CLOCK_H
#define EDO_TESTS_SOAK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* From now on it shows so much more; or less, if it may. */
void soak_clock_step(int64_t ns);
/* The latest that it has ever shown to anybody: no timer may have fired for a later moment. */
uint64_t soak_clock_latest(void);

/* Whether it is set back at all: chosen for a generation, between two of them. */
void soak_clock_choose(bool may_run_back);
bool soak_clock_may_run_back(void);

#endif
