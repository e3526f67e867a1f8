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
#include "base/lock_rank.h"
#include <stdbool.h>
#include <stdint.h>

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
