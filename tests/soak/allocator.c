#include "allocator.h"
#include "mix.h"
#include "tally.h"
#include <stdlib.h>

/* In front of each block, as far before it as its alignment. */
struct header {
	void *start;
	size_t size;
};

static bool is_refused(struct soak_allocator *allocator)
{
	uint64_t number = __atomic_fetch_add(&allocator->made, 1, __ATOMIC_RELAXED);
	uint32_t one_of = __atomic_load_n(&allocator->refuse_one, __ATOMIC_RELAXED);
	struct soak_mix mix = soak_mix_of(allocator->seed, number);

	return one_of > 0 && soak_one_in(&mix, one_of);
}

static void *allocate(void *context, size_t size, size_t align)
{
	struct soak_allocator *allocator = context;
	size_t front = align > sizeof(struct header) ? align : sizeof(struct header);
	void *start = NULL;
	struct header *header;

	soak_count(SOAK_allocations);
	if (is_refused(allocator)) {
		soak_count(SOAK_allocations_refused);
		return NULL;
	}
	if (posix_memalign(&start, front, front + size) != 0)
		return NULL;
	header = (struct header *)(void *)((char *)start + front) - 1;
	*header = (struct header){ start, size };
	__atomic_fetch_add(&allocator->blocks, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&allocator->bytes, (int64_t)size, __ATOMIC_RELAXED);
	return header + 1;
}

static void release(void *context, void *memory, size_t size)
{
	struct soak_allocator *allocator = context;
	struct header *header = (struct header *)memory - 1;

	soak_expect(header->size == size, "a block of %zu bytes was given back as %zu",
		    header->size, size);
	__atomic_fetch_sub(&allocator->blocks, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&allocator->bytes, (int64_t)size, __ATOMIC_RELAXED);
	header->size = SIZE_MAX; /* given back twice would not fit */
	free(header->start);
}

void soak_allocator_init(struct soak_allocator *allocator, uint64_t seed)
{
	*allocator =
		(struct soak_allocator){ .face = { allocate, release, allocator }, .seed = seed };
}

void soak_allocator_refuse(struct soak_allocator *allocator, uint32_t one_of)
{
	__atomic_store_n(&allocator->refuse_one, one_of, __ATOMIC_RELAXED);
}

int64_t soak_allocator_blocks(const struct soak_allocator *allocator)
{
	return __atomic_load_n(&allocator->blocks, __ATOMIC_RELAXED);
}

int64_t soak_allocator_bytes(const struct soak_allocator *allocator)
{
	return __atomic_load_n(&allocator->bytes, __ATOMIC_RELAXED);
}
