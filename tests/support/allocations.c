#include "support/allocations.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The linker's names: __wrap_x is called for x, __real_x is x. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
int __real_posix_memalign(void **block, size_t align, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
int __wrap_posix_memalign(void **block, size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
char *__wrap_strdup(const char *text);

/* Plain counters: nothing is published through them, so relaxed is enough. */
static uint64_t made;
static uint64_t failing_number = EDO_TEST_NEVER;
static int has_failed;

uint64_t edo_test_allocations_made(void)
{
	return __atomic_load_n(&made, __ATOMIC_RELAXED);
}

void edo_test_allocations_fail(uint64_t n)
{
	uint64_t number = n == EDO_TEST_NEVER ? n : edo_test_allocations_made() + n;

	__atomic_store_n(&has_failed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&failing_number, number, __ATOMIC_RELAXED);
}

int edo_test_allocations_failed(void)
{
	return __atomic_load_n(&has_failed, __ATOMIC_RELAXED);
}

/* Gives the allocation its number; returns whether it is the one to fail. */
static int must_fail(uint64_t *number)
{
	*number = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
	if (*number != __atomic_load_n(&failing_number, __ATOMIC_RELAXED))
		return 0;
	__atomic_store_n(&has_failed, 1, __ATOMIC_RELAXED);
	errno = ENOMEM;
	return 1;
}

static void *remember(void *block, size_t size, uint64_t number, const void *caller)
{
	if (block)
		edo_test_blocks_add(block, size, number, caller);
	return block;
}

void *__wrap_malloc(size_t size)
{
	uint64_t number;

	if (must_fail(&number))
		return NULL;
	return remember(__real_malloc(size), size, number, __builtin_return_address(0));
}

void *__wrap_calloc(size_t n, size_t size)
{
	uint64_t number;

	if (must_fail(&number))
		return NULL;
	return remember(__real_calloc(n, size), n * size, number, __builtin_return_address(0));
}

/* The block is forgotten before another thread can be given its address. */
void *__wrap_realloc(void *block, size_t size)
{
	uint64_t number;

	if (must_fail(&number))
		return NULL;
	edo_test_blocks_remove(block);
	return remember(__real_realloc(block, size), size, number, __builtin_return_address(0));
}

void __wrap_free(void *block)
{
	edo_test_blocks_remove(block);
	__real_free(block);
}

int __wrap_posix_memalign(void **block, size_t align, size_t size)
{
	uint64_t number;
	int error;

	if (must_fail(&number))
		return ENOMEM;
	error = __real_posix_memalign(block, align, size);
	if (!error)
		remember(*block, size, number, __builtin_return_address(0));
	return error;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	uint64_t number;

	if (must_fail(&number))
		return NULL;
	return remember(__real_aligned_alloc(align, size), size, number,
			__builtin_return_address(0));
}

char *__wrap_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = __wrap_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}
