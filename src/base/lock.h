/*
 * Locks with ranks: one word, a futex when contended.
 *
 * A thread may take a lock only if its rank is above the rank of all it holds; debug builds check
 * that at every acquisition. T2 leans on it too: edo_lock_assert_none() stands wherever a waker is
 * woken, a waker or a task reference dropped, or user code run.
 *
 * The rank is said at the call and not stored, so that a lock in a crowded struct is four bytes.
 */
#ifndef EDO_BASE_LOCK_H
#define EDO_BASE_LOCK_H

#include "base/atomic.h"
#include "base/assert.h"
#include <stdbool.h>
#include <stdint.h>

/* Outermost first. */
enum edo_lock_rank {
	EDO_RANK_REGISTRY = 1, /* the process's table of drivers */
	EDO_RANK_RUNTIME,      /* who drives a current-thread runtime, who waits to */
	EDO_RANK_WAITER,       /* a parked thread's link to the runtime it drives */
	EDO_RANK_OWNED,        /* a runtime's list of all its tasks */
	EDO_RANK_INJECT,       /* tasks woken or spawned by other threads */
	EDO_RANK_SLAB,         /* registration slots, free and to be freed */
	EDO_RANK_IO,           /* one registration's waiters */
	EDO_RANK_SHARD,        /* one shard of timers */
	EDO_RANK_POOL,         /* a pool of task cells, its remote side */
	EDO_RANK_STACKS,       /* cached fiber stacks */
};

/* 0 free, 1 held, 2 held and perhaps waited for. All zero is a free lock. */
struct edo_lock {
	uint32_t word;
};

#ifdef EDO_DEBUG
void edo_rank_push(enum edo_lock_rank rank);
void edo_rank_pop(enum edo_lock_rank rank);
void edo_lock_assert_none(void);
#else
static inline void edo_rank_push(enum edo_lock_rank rank)
{
	(void)rank;
}
static inline void edo_rank_pop(enum edo_lock_rank rank)
{
	(void)rank;
}
static inline void edo_lock_assert_none(void)
{
}
#endif

void edo_lock_wait(struct edo_lock *lock);
void edo_lock_wake(struct edo_lock *lock);

static inline void edo_lock_acquire(struct edo_lock *lock, enum edo_lock_rank rank)
{
	uint32_t free = 0;

	edo_rank_push(rank);
	/* Acquire: pairs with the release in edo_lock_release() of whoever held it before. */
	if (!edo_compare_exchange(&lock->word, &free, 1, acquire, relaxed))
		edo_lock_wait(lock);
}

static inline bool edo_lock_try(struct edo_lock *lock, enum edo_lock_rank rank)
{
	uint32_t free = 0;

	if (!edo_compare_exchange(&lock->word, &free, 1, acquire, relaxed))
		return false;
	edo_rank_push(rank);
	return true;
}

static inline void edo_lock_release(struct edo_lock *lock, enum edo_lock_rank rank)
{
	edo_rank_pop(rank);
	/* Release: what was done under the lock is seen by whoever acquires it next. */
	if (edo_exchange(&lock->word, 0, release) == 2)
		edo_lock_wake(lock);
}

#endif
