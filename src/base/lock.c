/*
 * The contended side of a lock (after Drepper's "Futexes Are Tricky", mutex 2), and the ranks that
 * a thread holds. Ranks are checked in debug builds only; the code is in every build, unused.
 */
#ifndef EDO_DEBUG
#define EDO_DEBUG 1
#endif
#include "base/lock.h"
#include "base/sys.h"
#include "base/thread.h"

enum { MAX_HELD = 16, SPINS = 64 };

static bool spin_for_it(struct edo_lock *lock)
{
	for (int i = 0; i < SPINS; i++) {
		uint32_t free = 0;

		if (edo_load(&lock->word, relaxed) == 0 &&
		    edo_compare_exchange(&lock->word, &free, 1, acquire, relaxed))
			return true;
		edo_sys_cpu_relax();
	}
	return false;
}

/* The holders' sections are short, so a moment of spinning usually saves the system call. */
void edo_lock_wait(struct edo_lock *lock)
{
	if (spin_for_it(lock))
		return;
	/* Acquire: as in edo_lock_acquire(). Storing 2 claims the lock or asks for a wake. */
	while (edo_exchange(&lock->word, 2, acquire) != 0)
		(void)edo_sys_futex_wait(&lock->word, 2, UINT64_MAX);
}

void edo_lock_wake(struct edo_lock *lock)
{
	(void)edo_sys_futex_wake(&lock->word, 1);
}

static EDO_THREAD_LOCAL enum edo_lock_rank held[MAX_HELD];
static EDO_THREAD_LOCAL unsigned held_count;

void edo_rank_push(enum edo_lock_rank rank)
{
	EDO_ASSERT(held_count < MAX_HELD);
	EDO_ASSERT(held_count == 0 || held[held_count - 1] < rank);
	held[held_count++] = rank;
}

void edo_rank_pop(enum edo_lock_rank rank)
{
	EDO_ASSERT(held_count > 0 && held[held_count - 1] == rank);
	held_count--;
}

void edo_lock_assert_none(void)
{
	EDO_ASSERT(held_count == 0);
}
