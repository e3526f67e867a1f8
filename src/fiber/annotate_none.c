/* No tool looks at the stacks in this build. */
#include "annotate.h"

void edo_annotate_create(struct edo_annotated_side *fiber, const void *base, size_t size)
{
	(void)fiber;
	(void)base;
	(void)size;
}

void edo_annotate_destroy(struct edo_annotated_side *fiber)
{
	(void)fiber;
}

void edo_annotate_leave(struct edo_annotated_side *from, struct edo_annotated_side *to, int is_last)
{
	(void)from;
	(void)to;
	(void)is_last;
}

void edo_annotate_arrive(struct edo_annotated_side *at, struct edo_annotated_side *from)
{
	(void)at;
	(void)from;
}
