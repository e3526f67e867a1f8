/* No tool looks at the stacks in this build. */
#ifndef EDO_FIBER_ANNOTATE_NONE_H
#define EDO_FIBER_ANNOTATE_NONE_H

static inline void edo_annotate_create(struct edo_annotated_side *fiber, const void *base,
				       size_t size)
{
	(void)fiber;
	(void)base;
	(void)size;
}

static inline void edo_annotate_destroy(struct edo_annotated_side *fiber)
{
	(void)fiber;
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
