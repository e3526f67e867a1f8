/* What must be the same as before, or nothing at all, when all has ended. Each says what is out of balance. */
#ifndef EDO_TESTS_SOAK_BALANCE_H
#define EDO_TESTS_SOAK_BALANCE_H

#include "world.h"

/* All actors have ended, the runtime goes on: by its conductor, with nobody outside. */
void soak_balance_check_world(struct soak_world *world);
/* The runtime is gone. */
void soak_balance_check_ended(struct soak_world *world);
/* And all handles and wakers. */
void soak_balance_check_memory(struct soak_world *world);

/* The process's descriptors, threads and fibers' stacks: once before a generation, once after. */
void soak_balance_remember_process(void);
void soak_balance_check_process(void);

/* Resident memory in bytes. */
uint64_t soak_balance_resident(void);

#endif
