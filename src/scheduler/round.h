/* Inside the scheduler room: what the thread that holds the core does. */
#ifndef EDO_SCHEDULER_ROUND_H
#define EDO_SCHEDULER_ROUND_H

#include "waiter.h"

/*
 * Runs tasks until `until` is notified or the driver was due for a look and has had it: true. False: there
 * is nothing to run, the thread may sleep.
 */
bool edo_round_run(struct edo_current_thread *rt, const struct edo_thread_waiter *until);
/* Runs all that is ready and becomes so; then releases the deferred. Returns whether there were some. */
bool edo_round_run_until_quiet(struct edo_current_thread *rt);
/* Sleeps in the driver until something comes, at most limit ns; only looks when something has come. */
void edo_round_sleep(struct edo_current_thread *rt, const struct edo_thread_waiter *until,
		     uint64_t limit);

#endif
