/* What the tests of channels share: polls by hand, with a waker that counts. */
#ifndef EDO_TESTS_LEAF_SYNC_RIG_H
#define EDO_TESTS_LEAF_SYNC_RIG_H

#include "scheduler/gate.h"
#include "support/allocations.h"

/* Who waits: how often it was woken, and how many of its wakers are about. */
struct sleeper {
	unsigned wakes;
	int clones;
};

static inline edo_waker sleeper_clone(void *data);

static inline void sleeper_wake_by_ref(void *data)
{
	((struct sleeper *)data)->wakes++;
}

static inline void sleeper_drop(void *data)
{
	((struct sleeper *)data)->clones--;
}

static inline void sleeper_wake(void *data)
{
	sleeper_wake_by_ref(data);
	sleeper_drop(data);
}

static const edo_waker_ops sleeper_ops = { sleeper_clone, sleeper_wake, sleeper_wake_by_ref,
					   sleeper_drop };

static inline edo_waker sleeper_clone(void *data)
{
	((struct sleeper *)data)->clones++;
	return (edo_waker){ data, &sleeper_ops };
}

static inline edo_poll poll_as(struct sleeper *sleeper, edo_future *future)
{
	edo_waker waker = { sleeper, &sleeper_ops };
	edo_context cx;

	edo_context_init(&cx, &waker);
	return edo_future_poll(future, &cx);
}

/* A drop function that notes what it was given. */
struct dropped {
	unsigned count;
	int last;
};

static inline void note_drop(void *item, void *context)
{
	struct dropped *dropped = context;

	dropped->count++;
	dropped->last = item ? *(int *)item : -1;
}

#endif
