/*
 * The allocator that a sweep's configuration names: counts, fails when told to, and sees to it that what is
 * given back has the size that was asked for. Threads: any. All state is the process's.
 */
#ifndef EDO_TESTS_SWEEP_ALLOCATOR_H
#define EDO_TESTS_SWEEP_ALLOCATOR_H

#include <edo/config.h>
#include <stdbool.h>
#include <stdint.h>

extern const edo_allocator sweep_allocator;

/* The n-th allocation from now fails, once (0: the next); UINT64_MAX: none. */
void sweep_allocator_fail(uint64_t n);
bool sweep_allocator_has_failed(void);

uint64_t sweep_allocator_made(void);
/* How many are alive. */
int64_t sweep_allocator_live(void);
/* How often a size did not fit, since the start. */
uint64_t sweep_allocator_misfits(void);

#endif
