/* A small scenario that no failure troubles: whether a runtime is usable. */
#ifndef EDO_TESTS_SWEEP_SMALL_H
#define EDO_TESTS_SWEEP_SMALL_H

#include "sweep.h"

/* A task, a timer, a connection: as far as the runtime has them. 0, or what went wrong. */
int sweep_small(edo_runtime *runtime, const edo_config *config);

#endif
