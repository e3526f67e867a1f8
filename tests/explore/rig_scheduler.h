/*
 * What the models of the current-thread scheduler share: a runtime without I/O, which parks on a futex;
 * events that somebody waits for; and tasks that count what is done to them.
 *
 * Everything is made by the model's first thread, alone, so that it costs no steps. Nothing here adds
 * order: an event is a relaxed flag, counts are plain. What the scheduler's own orders do not promise
 * shows, as a data race or as a flag that is not seen.
 */
#ifndef EDO_TESTS_EXPLORE_RIG_SCHEDULER_H
#define EDO_TESTS_EXPLORE_RIG_SCHEDULER_H

#include "runtime/runtime.h"
#include "scheduler/waiter.h"

/* ---- the runtime ---- */

enum rig_time { RIG_WITHOUT_TIME, RIG_WITH_TIME };

/* The clock of one with time shows what the model's shows; a tick is RIG_TICK ns. */
#define RIG_TICK UINT64_C(1000000)

edo_runtime *rig_runtime(enum rig_time time);
/* Destroys it; nothing of it may be alive. */
void rig_destroy(edo_runtime *runtime);
/* This thread drives until nothing is ready. */
void rig_run_what_is_ready(edo_runtime *runtime);

/* ---- events ---- */

/* Something that comes once, and the waker of who waits for it (made beforehand, used up). */
struct rig_event {
	uint32_t has_come; /* atomic */
	edo_waker waker;
};

void rig_happen(struct rig_event *event);
bool rig_has_come(const struct rig_event *event);
/* rig_happen() as a thread. */
void rig_happens(void *event);

/* Waits for an event: ready with 0 when it has come. */
struct rig_wait {
	edo_future future;
	const struct rig_event *event;
};

/* ---- plain threads that wait ---- */

/* A waiter for the model's thread of this number (the first that is started is 2). */
struct edo_thread_waiter *rig_waiter(unsigned thread);

struct rig_waiting {
	edo_runtime *runtime; /* NULL: only parks */
	struct edo_thread_waiter *waiter;
	struct rig_event event;
};

/* Will wait for its event, which wakes it. */
struct rig_waiting rig_waiting(edo_runtime *runtime, unsigned thread);
/* Waits as edo_await() does, and counts as inside meanwhile; a thread. */
void rig_waits(void *argument);

/* ---- tasks ---- */

/* Stackless: ready when `until` has come (NULL: at once), and then lets `then` come (NULL: nothing). */
struct rig_work {
	const struct rig_event *until;
	struct rig_event *then;
	edo_task *const *handle; /* NULL, or where its handle is when it is polled */
	bool runs_to_end; /* as a fiber does (K4): an end that it is told of is its own affair */
	/* plain: one polls or drops it at a time, and each sees what the one before has done */
	unsigned polls;
	unsigned drops;
};

/* An owned reference to a task as a waker. */
edo_waker rig_waker_of(edo_task *task);
/* Spawns it as edo_spawn() does. */
int rig_spawn(edo_runtime *runtime, struct rig_work *work, edo_task **handle);

#endif
