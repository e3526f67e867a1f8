/*
 * Where the headers in route/ lead: what the explored code calls in place of its own atomics, locks and
 * poisoning. Included by that code, so nothing here but declarations.
 */
#ifndef EDO_TESTS_EXPLORE_ROUTE_H
#define EDO_TESTS_EXPLORE_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum explore_order {
	EXPLORE_RELAXED,
	EXPLORE_ACQUIRE,
	EXPLORE_RELEASE,
	EXPLORE_ACQ_REL,
	EXPLORE_SEQ_CST,
};

/* Where a step stands and how it reads, for the printed schedule. */
struct explore_site {
	const char *text;
	const char *file;
	int line;
};

uint64_t explore_load(const volatile void *place, size_t size, enum explore_order order,
		      const struct explore_site *site);
void explore_store(volatile void *place, size_t size, uint64_t value, enum explore_order order,
		   const struct explore_site *site);

/* What a read-modify-write makes of what was there. */
typedef uint64_t explore_modifier(uint64_t before, uint64_t operand);
uint64_t explore_exchange(uint64_t before, uint64_t operand);
uint64_t explore_fetch_add(uint64_t before, uint64_t operand);
uint64_t explore_fetch_sub(uint64_t before, uint64_t operand);
uint64_t explore_fetch_or(uint64_t before, uint64_t operand);
uint64_t explore_fetch_and(uint64_t before, uint64_t operand);
uint64_t explore_fetch_xor(uint64_t before, uint64_t operand);
uint64_t explore_modify(volatile void *place, size_t size, explore_modifier *modifier,
			uint64_t operand, enum explore_order order,
			const struct explore_site *site);
/* Strong; on failure *expected is what was seen, which need not be the newest. */
bool explore_compare_exchange(volatile void *place, size_t size, uint64_t *expected,
			      uint64_t desired, enum explore_order success,
			      enum explore_order failure, const struct explore_site *site);

void explore_lock_acquire(const void *lock, unsigned rank, const struct explore_site *site);
bool explore_lock_try(const void *lock, unsigned rank, const struct explore_site *site);
void explore_lock_release(const void *lock, unsigned rank, const struct explore_site *site);
void explore_lock_assert_none(const struct explore_site *site);

/* Which of the model's threads this is, from 1 on. */
uintptr_t explore_thread_number(void);

void explore_poison(const void *memory, size_t size);
void explore_unpoison(const void *memory, size_t size);

#endif
