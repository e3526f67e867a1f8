/*
 * Every allocation of the library and of the tests, counted: the linker leads malloc and its kin
 * here (--wrap), those inside libc and cmocka excepted.
 *
 * Under a sanitizer the live ones are left to it, for a table of them would hide leaks from
 * LeakSanitizer and its lock would hide races from ThreadSanitizer. Threads: any.
 */
#ifndef EDO_TESTS_SUPPORT_ALLOCATIONS_H
#define EDO_TESTS_SUPPORT_ALLOCATIONS_H

#include <stddef.h>
#include <stdint.h>

#define EDO_TEST_NEVER UINT64_MAX

/* How many allocations have been asked for so far. What must not allocate does not move it. */
uint64_t edo_test_allocations_made(void);

/*
 * Lets the n-th allocation from now fail (0: the next), once; EDO_TEST_NEVER: none. For sweeps:
 * fail number 0, 1, 2, ... until the scenario succeeds. The runner ends it after each test.
 */
void edo_test_allocations_fail(uint64_t n);

/* Whether the failure asked for has happened. */
int edo_test_allocations_failed(void);

/* How many are alive; always 0 under a sanitizer. */
size_t edo_test_allocations_live(void);

/* Says on stderr which of those made after number `made` are alive; returns how many. */
int edo_test_allocations_compare(uint64_t made);

/* The table of live blocks: blocks_table.c, or blocks_unknown.c under a sanitizer. */
void edo_test_blocks_add(const void *address, size_t size, uint64_t number, const void *caller);
void edo_test_blocks_remove(const void *address);

#endif
