/* Inside the scheduler room: the look for errands; asking is scheduler.h's. */
#ifndef EDO_SCHEDULER_ERRAND_H
#define EDO_SCHEDULER_ERRAND_H

#include "scheduler.h"

/* The errand that was asked for, if one was. Whoever drives, between two polls. */
void edo_errand_run(struct edo_current_thread *rt);

static inline void edo_errand_look(struct edo_current_thread *rt)
{
	if (edo_load(&rt->errand, relaxed))
		edo_errand_run(rt);
}

#endif
