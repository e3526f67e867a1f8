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

/*
 * Where a fiber begins on it, aligned to 16. Stacks lie at whole pages, so their tops would all fall into
 * the same few sets of the first-level cache: each begins some lines lower than its neighbour, within
 * the top page.
 */
static inline void *edo_stack_top(const struct edo_stack *stack)
{
	enum { PAGE_SHIFT = 12, COLOURS = 32, LINE = 64 };
	size_t colour = ((uintptr_t)stack->base >> PAGE_SHIFT) % COLOURS;

	return (char *)stack->base + stack->size - colour * LINE;
}

/* 0, -ENOMEM (also: the system's limit of mappings is reached). */
int edo_stack_acquire(struct edo_runtime *runtime, struct edo_stack *stack);
void edo_stack_release(struct edo_runtime *runtime, struct edo_stack *stack);
/* Of a fiber that was given up: stays as it is until the runtime has gone. */
void edo_stack_abandon(struct edo_runtime *runtime, struct edo_stack *stack);

#endif
