/* Inside the fiber room: what a fiber is. */
#ifndef EDO_FIBER_PRIVATE_H
#define EDO_FIBER_PRIVATE_H

#include "annotate.h"
#include "fiber.h"
#include "group.h"
#include "limit.h"
#include "stack.h"
#include "switch.h"

/*
 * The core of a fiber's task; a copied argument lies behind it. All fields belong to whoever holds the
 * task's RUNNING: the worker that polls it, or the fiber itself while it runs.
 */
struct edo_fiber {
	edo_future future;
	edo_fiber_fn *fn;
	void *arg;
	void *sp;        /* where the fiber goes on */
	void *thread_sp; /* where its worker goes on */
	struct edo_stack stack;
	edo_context *cx;      /* of the poll that runs it */
	edo_future *awaiting; /* while it is suspended in an await */
	struct edo_annotated_side *thread_side;
	struct edo_annotated_side side;
	int result;
	int saved_errno;
	bool is_polling; /* it polls a future: an await in there would be nested */
	bool has_ended;
	struct edo_limit limit;
	struct edo_group_member member; /* of the group that it was spawned in */
	struct edo_group *groups;       /* that it made and has not waited for, newest first */
	uint64_t groups_made;
} __attribute__((aligned(16)));

/* The fiber that runs on this thread, or NULL. Never cached across a switch (S4). */
struct edo_fiber *edo_fiber_current(void);

/* Leaves the fiber's stack until its task is polled again. On the fiber only. */
static inline void edo_fiber_suspend(struct edo_fiber *fiber)
{
	edo_annotate_leave(&fiber->side, fiber->thread_side, false);
	edo_switch(&fiber->sp, fiber->thread_sp);
	edo_annotate_arrive(&fiber->side, fiber->thread_side);
}

static inline bool edo_fiber_is_cancelled(const struct edo_fiber *fiber)
{
	return edo_task_is_cancelled(edo_task_of_core(&fiber->future));
}

/* What the next wait must say at once: 0: nothing; -ECANCELED; -ETIMEDOUT. */
static inline int edo_fiber_fate(struct edo_fiber *fiber)
{
	if (EDO_LIKELY(!edo_fiber_is_cancelled(fiber) && fiber->limit.deadline == EDO_FOREVER))
		return 0;
	return edo_limit_fate(fiber);
}

/* Right before it suspends: its deadline, if one is in force, will wake it. False: that has passed. */
static inline bool edo_fiber_watch(struct edo_fiber *fiber)
{
	if (EDO_LIKELY(fiber->limit.deadline == EDO_FOREVER && !fiber->limit.is_armed))
		return true;
	return edo_limit_watch(fiber);
}

/* What a spawn of a fiber is told. */
struct edo_fiber_spawn {
	edo_fiber_fn *fn;
	const void *arg;
	size_t size;
	struct edo_group *group;
	void (*drop)(void *arg); /* of what the group was given for good; may be NULL */
};

/*
 * A new task for it: not submitted yet, the handle is the caller's. 0; -EINVAL; -ENOMEM; -ESHUTDOWN, and
 * nothing is left behind.
 */
int edo_fiber_create(struct edo_runtime *runtime, const struct edo_fiber_spawn *spawn,
		     struct edo_task **created);

/* Waits as edo_await() does, in a fiber and outside of its polls, and nothing cuts it (K5). */
void edo_await_uncut(struct edo_fiber *fiber, edo_future *future);

#endif
