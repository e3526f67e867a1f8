/*
 * ThreadSanitizer follows each fiber as a thread of its own, with a shadow stack of calls: so the
 * functions that run between its switch and ours must not be counted as calls themselves.
 */
#ifndef EDO_FIBER_ANNOTATE_TSAN_H
#define EDO_FIBER_ANNOTATE_TSAN_H
#include <sanitizer/tsan_interface.h>

#define EDO_UNCOUNTED __attribute__((no_sanitize("thread")))

static inline void edo_annotate_create(struct edo_annotated_side *fiber, const void *base,
				       size_t size)
{
	(void)base;
	(void)size;
	fiber->context = __tsan_create_fiber(0);
}

static inline void edo_annotate_destroy(struct edo_annotated_side *fiber)
{
	if (fiber->context)
		__tsan_destroy_fiber(fiber->context);
	fiber->context = NULL;
}

EDO_UNCOUNTED static inline void edo_annotate_leave(struct edo_annotated_side *from,
						    struct edo_annotated_side *to, bool is_last)
{
	(void)is_last;
	from->context = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(to->context, 0);
}

EDO_UNCOUNTED static inline void edo_annotate_arrive(struct edo_annotated_side *at,
						     struct edo_annotated_side *from)
{
	(void)at;
	(void)from;
}

#endif
