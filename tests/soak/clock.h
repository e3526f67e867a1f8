/*
 * The system's clock as the library sees it: the linker leads edo_sys_clock_now() here (--wrap), and it can
 * be set forward and back. Whole process, any thread.
 */
#ifndef EDO_TESTS_SOAK_CLOCK_H
#define EDO_TESTS_SOAK_CLOCK_H

#include <stdint.h>

/* From now on it shows so much more, or less. */
void soak_clock_step(int64_t ns);
/* The latest that it has ever shown to anybody: no timer may have fired for a later moment. */
uint64_t soak_clock_latest(void);
/* Moves with each step back: between two readings with the same even number it did not run backwards. */
uint64_t soak_clock_setbacks(void);

#endif
