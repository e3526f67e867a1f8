/* Inside the fiber room: what a fiber is. */
#ifndef EDO_FIBER_PRIVATE_H
#define EDO_FIBER_PRIVATE_H

#include "annotate.h"
#include "fiber.h"
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

#endif
