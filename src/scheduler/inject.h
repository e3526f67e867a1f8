/* Inside the scheduler room: tasks that come from other threads. */
#ifndef EDO_SCHEDULER_INJECT_H
#define EDO_SCHEDULER_INJECT_H

#include "scheduler.h"

/* Takes a notified task; at shutdown, when the queue is closed, only its reference is dropped. */
void edo_inject_push(struct edo_current_thread *rt, struct edo_task *task);
/* Moves all of it behind the ready queue. The core's holder only. */
void edo_inject_take(struct edo_current_thread *rt);
/* Before a sleep: false when there is something to run. Afterwards pushes unpark the driver. */
bool edo_inject_fall_asleep(struct edo_current_thread *rt);
void edo_inject_wake_up(struct edo_current_thread *rt);
/* No more pushes; what is inside goes behind the ready queue. */
void edo_inject_close(struct edo_current_thread *rt);

static inline bool edo_inject_is_empty(const struct edo_current_thread *rt)
{
	/* Relaxed: a hint; before it sleeps the holder looks under the lock (S2). */
	return edo_load(&rt->inject_length, relaxed) == 0;
}

#endif
