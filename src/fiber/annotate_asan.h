/*
 * AddressSanitizer keeps a fake stack for each real one and must know the bounds of the one in use. The
 * last exit passes no place to keep the fake stack, which frees it.
 */
#ifndef EDO_FIBER_ANNOTATE_ASAN_H
#define EDO_FIBER_ANNOTATE_ASAN_H
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

static inline void edo_annotate_create(struct edo_annotated_side *fiber, const void *base,
				       size_t size)
{
	fiber->stack_base = base;
	fiber->stack_size = size;
	/* A stack from the cache still has the marks of the frames that its last fiber left. */
	__asan_unpoison_memory_region(base, size);
}

static inline void edo_annotate_destroy(struct edo_annotated_side *fiber)
{
	__asan_unpoison_memory_region(fiber->stack_base, fiber->stack_size);
}

static inline void edo_annotate_leave(struct edo_annotated_side *from,
				      struct edo_annotated_side *to, bool is_last)
{
	__sanitizer_start_switch_fiber(is_last ? NULL : &from->fake_stack, to->stack_base,
				       to->stack_size);
}

static inline void edo_annotate_arrive(struct edo_annotated_side *at,
				       struct edo_annotated_side *from)
{
	/* Tells the bounds of where we come from: how a fiber learns its thread's. */
	__sanitizer_finish_switch_fiber(at->fake_stack, &from->stack_base, &from->stack_size);
}

#endif
