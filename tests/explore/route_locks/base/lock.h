/*
 * In place of src/base/lock.h: a lock is one step (lock.c), and ranks are always checked. The real one, with
 * its futex, has a model of its own.
 */
#ifndef EDO_BASE_LOCK_H
#define EDO_BASE_LOCK_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/lock_rank.h"

#define EXPLORE_LOCK_SITE(text)                                                                    \
	__extension__({                                                                            \
		static const struct explore_site site_ = { text, __FILE__, __LINE__ };             \
		&site_;                                                                            \
	})

#define edo_lock_acquire(lock, rank)                                                               \
	explore_lock_acquire((lock), (rank), EXPLORE_LOCK_SITE("lock(" #lock ")"))
#define edo_lock_try(lock, rank)                                                                   \
	explore_lock_try((lock), (rank), EXPLORE_LOCK_SITE("try_lock(" #lock ")"))
#define edo_lock_release(lock, rank)                                                               \
	explore_lock_release((lock), (rank), EXPLORE_LOCK_SITE("unlock(" #lock ")"))
#define edo_lock_assert_none() explore_lock_assert_none(EXPLORE_LOCK_SITE("no lock may be held"))

#endif
