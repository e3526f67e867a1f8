/*
 * The door of the runtime room: what a runtime is made of, and which one a thread belongs to.
 *
 * Lifetime. The runtime's memory is freed together with its last task cell (edo_cell_pool_close()): a
 * waker that comes late still finds the inject queue, closed. Its drivers end with destroy; nobody
 * reaches them afterwards, since the inject queue is closed and their number is out of the table.
 */
#ifndef EDO_RUNTIME_RUNTIME_H
#define EDO_RUNTIME_RUNTIME_H

#include "driver/driver.h"
#include "scheduler/scheduler.h"
#include <edo/runtime.h>

/* What a higher room keeps in a runtime, made when it is first needed; freed at destroy. */
struct edo_attachment {
	struct edo_lock lock; /* of making it; rank EDO_RANK_STACKS */
	void *state;          /* atomic: set once */
	void (*release)(void *state, const edo_allocator *allocator);
};

struct edo_runtime {
	struct edo_driver driver; /* what edo_current_driver() points at */
	struct edo_current_thread scheduler;
	edo_config config; /* defaults filled in; its pointers are not used */
	edo_allocator allocator;
	char thread_name[16];
	uint32_t entered; /* atomic: threads that have entered it or wait in it */
	uint64_t draws;   /* atomic: fair choices made so far (draw.c) */
	struct edo_attachment fibers;
};

/* The runtime this thread has entered or runs; NULL outside. */
struct edo_runtime *edo_current_runtime(void);

/* `runtime`, or the current one for NULL. */
struct edo_runtime *edo_runtime_or_current(edo_runtime *runtime);

static inline struct edo_runtime *edo_runtime_of_scheduler(struct edo_scheduler *scheduler)
{
	return edo_container_of(scheduler, struct edo_runtime, scheduler.scheduler);
}

/* A new task begins: the handle goes to *handle, or is given back when that is NULL. */
void edo_runtime_submit(struct edo_runtime *runtime, struct edo_task *task, edo_task **handle);

/*
 * A number below n (n > 0) for a fair choice on the runtime whose driver this is (NULL: on none). Repeats
 * from run to run with the same seed, as long as one thread drives. Any thread.
 */
uint32_t edo_runtime_draw(struct edo_driver *driver, uint32_t n);

/* Fills the defaults in. */
void edo_config_resolve(edo_config *config, const edo_config *given);

#endif
