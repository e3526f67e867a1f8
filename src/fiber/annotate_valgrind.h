/* Valgrind must be told which memory is stack, or it takes a switch for a huge frame. */
#ifndef EDO_FIBER_ANNOTATE_VALGRIND_H
#define EDO_FIBER_ANNOTATE_VALGRIND_H
#include <stdint.h>
#include <valgrind/memcheck.h>
#include <valgrind/valgrind.h>

static inline void edo_annotate_create(struct edo_annotated_side *fiber, const void *base,
				       size_t size)
{
	fiber->context =
		(void *)(uintptr_t)VALGRIND_STACK_REGISTER(base, (const char *)base + size);
}

static inline void edo_annotate_destroy(struct edo_annotated_side *fiber)
{
	VALGRIND_STACK_DEREGISTER((uintptr_t)fiber->context);
}

static inline void edo_annotate_leave(struct edo_annotated_side *from,
				      struct edo_annotated_side *to, bool is_last)
{
	(void)from;
	(void)to;
	(void)is_last;
}

static inline void edo_annotate_arrive(struct edo_annotated_side *at,
				       struct edo_annotated_side *from)
{
	(void)at;
	(void)from;
}

#endif
