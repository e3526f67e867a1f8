/*
 * Inside the fiber room: telling tools of the stacks. One file a tool, chosen by the build:
 * annotate_none.c, annotate_asan.c, annotate_tsan.c, annotate_valgrind.c.
 *
 * Each switch is announced on the side that leaves (edo_annotate_leave) and confirmed on the side that
 * arrives (edo_annotate_arrive); the two sides of a fiber keep what the tool wants remembered.
 */
#ifndef EDO_FIBER_ANNOTATE_H
#define EDO_FIBER_ANNOTATE_H

#include <stddef.h>

/* One of two: the thread's side or the fiber's. */
struct edo_annotated_side {
	void *fake_stack;       /* asan: of a side that is left */
	const void *stack_base; /* asan: the bounds of this side's stack */
	size_t stack_size;
	void *context; /* tsan: its fiber; valgrind: its stack's number */
};

void edo_annotate_create(struct edo_annotated_side *fiber, const void *base, size_t size);
void edo_annotate_destroy(struct edo_annotated_side *fiber);
/* On the stack of `from`, right before the switch; is_last: it is never resumed. */
void edo_annotate_leave(struct edo_annotated_side *from, struct edo_annotated_side *to,
			int is_last);
/* On the stack of `at`, right after the switch, which came from `from`. */
void edo_annotate_arrive(struct edo_annotated_side *at, struct edo_annotated_side *from);

#endif
