/*
 * Stacks and registrations with the poller: the linker leads their system calls here (--wrap). Stacks are
 * counted, and both are refused at random while that is told to. Whole process, any thread.
 */
#ifndef EDO_TESTS_SOAK_SYSTEM_H
#define EDO_TESTS_SOAK_SYSTEM_H

#include <stdint.h>

/* One of so many is refused (-ENOMEM, -ENOSPC); 0: none. */
void soak_system_refuse(uint32_t one_of);
/* How many stacks are mapped. */
int64_t soak_stacks_mapped(void);

#endif
