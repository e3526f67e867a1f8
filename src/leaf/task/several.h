/* What select and join have in common: the futures that a caller hands over as an array. */
#ifndef EDO_LEAF_TASK_SEVERAL_H
#define EDO_LEAF_TASK_SEVERAL_H

#include <edo/select.h>
#include <string.h>

/* An array, and no more of it than an index can name. */
static inline bool edo_several_are_named(edo_future *const *futures, size_t n)
{
	return futures && n <= INT_MAX;
}

/* At least one that is not NULL, and each of those set up. */
static inline bool edo_several_are_sound(edo_future *const *futures, size_t n)
{
	bool is_there_any = false;

	for (size_t i = 0; i < n; i++) {
		if (!futures[i])
			continue;
		if (!futures[i]->ops)
			return false;
		is_there_any = true;
	}
	return is_there_any;
}

/* What is not there, or was never set up, has no wait to drop. */
static inline void edo_several_drop_one(edo_future *future)
{
	if (future && future->ops)
		edo_future_drop(future);
}

static inline bool edo_several_are_few(size_t n)
{
	return n <= EDO_SELECT_COPIED;
}

/*
 * Keeps few pointers in `few`, for the array may be gone at the next poll. Where they are is looked up at
 * each poll: until the first one the struct may still be moved.
 */
static inline void edo_several_keep(edo_future **few, edo_future *const *futures, size_t n)
{
	if (edo_several_are_few(n))
		memcpy(few, futures, n * sizeof *few);
}

/* For dumps: the n-th of them that is there. */
static inline const edo_future *edo_several_nth(edo_future *const *futures, uint32_t count,
						unsigned n)
{
	for (uint32_t i = 0; i < count; i++)
		if (futures[i] && n-- == 0)
			return futures[i];
	return NULL;
}

#endif
