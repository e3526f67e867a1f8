/*
 * Inside the fiber room: stacks. Each has an unreadable guard page below it, so that an overflow ends
 * the process instead of writing into a neighbour. Ended fibers' stacks are kept for the next ones.
 */
#ifndef EDO_FIBER_STACK_H
#define EDO_FIBER_STACK_H

#include "runtime/runtime.h"

/* base is the lowest usable byte; the stack grows down from base + size. base NULL: none. */
struct edo_stack {
	void *base;
	size_t size;
};

/* 0, -ENOMEM (also: the system's limit of mappings is reached). */
int edo_stack_acquire(struct edo_runtime *runtime, struct edo_stack *stack);
void edo_stack_release(struct edo_runtime *runtime, struct edo_stack *stack);

#endif
