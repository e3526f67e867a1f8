/*
 * A bench for the task room alone: a scheduler that only queues, so that a test decides when what is
 * polled, and futures and wakers that count what is done to them.
 */
#ifndef EDO_TESTS_TASK_RIG_H
#define EDO_TESTS_TASK_RIG_H

#include "support/runner.h"
#include "task/task.h"

enum { RIG_QUEUE = 4096 };

struct rig {
	struct edo_scheduler scheduler; /* first */
	struct edo_task *queue[RIG_QUEUE];
	size_t first, last;
	unsigned scheduled;
	unsigned deferred[3]; /* by enum edo_defer */
};

/* For setup and teardown; the teardown runs what is left, and asserts that no task lives. */
void rig_begin(struct rig *rig);
void rig_begin_with(struct rig *rig, const edo_allocator *allocator);
void rig_end(struct rig *rig);

/* Polls the first task in the queue; false: it is empty. */
bool rig_run_one(struct rig *rig);
/* Until the queue is empty; returns how many polls. */
unsigned rig_run(struct rig *rig);
size_t rig_queued(const struct rig *rig);

/* A future that says PENDING until it is let go, and does what it is told in its poll and drop. */
struct puppet;

struct puppet_log {
	unsigned polls;
	unsigned drops;
	edo_waker waker; /* of the last poll, if asked for */
	struct edo_task *task;
};

struct puppet {
	edo_future future;
	struct puppet_log *log;
	edo_poll (*act)(struct puppet *puppet, edo_context *cx); /* NULL: EDO_PENDING */
	void (*on_drop)(struct puppet *puppet);
	void *context;
};

void puppet_init(struct puppet *puppet, struct puppet_log *log,
		 edo_poll (*act)(struct puppet *puppet, edo_context *cx));
/* As the runtime's spawn does: created, and in the queue. */
struct edo_task *rig_spawn(struct rig *rig, edo_future *future);
/* For act: ready with 0; pending and keeping the waker in the log. */
edo_poll puppet_ready(struct puppet *puppet, edo_context *cx);
edo_poll puppet_keeps_waker(struct puppet *puppet, edo_context *cx);

/* A waker that counts. */
struct counting_waker {
	edo_waker waker; /* the rig's own one */
	unsigned clones, wakes, wakes_by_ref, drops;
};

void counting_waker_init(struct counting_waker *counting);
edo_context counting_context(const struct counting_waker *counting);
/* Clones that nobody has consumed yet. */
unsigned counting_alive(const struct counting_waker *counting);
unsigned counting_wakes(const struct counting_waker *counting);

#endif
