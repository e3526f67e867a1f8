/*
 * The door of the fiber room: tasks with a stack, and waiting anywhere.
 *
 * A fiber is a future whose poll switches to the fiber's stack and comes back when the fiber waits or
 * returns. Everything else about it is a task like any other.
 */
#ifndef EDO_FIBER_FIBER_H
#define EDO_FIBER_FIBER_H

#include "runtime/runtime.h"
#include "task/task.h"
#include <edo/fiber.h>
#include <edo/runtime.h>

/*
 * As edo_await(), but a plain thread drives `runtime` (NULL: the one it has entered) while it waits.
 */
int edo_await_on(struct edo_runtime *runtime, edo_future *future);

/* The context of the fiber that runs, NULL outside of one. */
edo_context *edo_fiber_context(void);

#endif
