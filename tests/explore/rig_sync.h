/*
 * What the models of channels share: a thread that waits as a task does. It polls, and sleeps until its waker is
 * woken; a wake that is lost leaves it asleep, which the explorer calls a deadlock. Each clone of its waker
 * must be woken or dropped once.
 */
#ifndef EDO_TESTS_EXPLORE_RIG_SYNC_H
#define EDO_TESTS_EXPLORE_RIG_SYNC_H

#include "base/atomic.h"
#include "base/lock.h"
#include "base/sys.h"
#include "explore/explore.h"
#include <edo/sync.h>

struct rig_sleeper {
	uint32_t wakes;  /* atomic, a futex */
	uint32_t clones; /* atomic */
};

/* Polls once. */
edo_poll rig_poll(struct rig_sleeper *sleeper, edo_future *future);
/* Polls until there is a result, and drops the wait. */
int rig_await(struct rig_sleeper *sleeper, edo_future *future);
/* No waker of it is about. */
void rig_is_alone(const struct rig_sleeper *sleeper);

/* A drop function that counts in a plain int. */
void rig_count_drop(void *item, void *count);

#endif
