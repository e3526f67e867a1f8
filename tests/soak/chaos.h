/*
 * A thread that troubles the process while its worlds live: signals that interrupt system calls, steps of the
 * clock, no descriptors for a while, allocations that fail at random.
 */
#ifndef EDO_TESTS_SOAK_CHAOS_H
#define EDO_TESTS_SOAK_CHAOS_H

#include "world.h"

struct soak_chaos {
	struct soak_mix mix;
	struct soak_world *worlds;
	unsigned count;
	bool stop; /* atomic */
	pthread_t thread;
};

/* Before any thread is started: SIGUSR1 is caught, and for worlds' threads only; SIGPIPE is ignored. */
void soak_chaos_prepare(void);
void soak_chaos_start(struct soak_chaos *chaos, struct soak_world *worlds, unsigned count,
		      struct soak_mix mix);
/* Before the worlds are joined. Leaves no trouble behind. */
void soak_chaos_end(struct soak_chaos *chaos);

#endif
