#include "allocator.h"
#include <stdlib.h>

/* In front of each block, as far before it as its alignment: where it begins, what was asked for. */
struct header {
	void *start;
	size_t size;
};

static uint64_t made;
static uint64_t failing = UINT64_MAX;
static bool failed;
static int64_t live;
static uint64_t misfits;

#define READ(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define WRITE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)

void sweep_allocator_fail(uint64_t n)
{
	WRITE(failed, false);
	WRITE(failing, n == UINT64_MAX ? n : READ(made) + n);
}

bool sweep_allocator_has_failed(void)
{
	return READ(failed);
}

uint64_t sweep_allocator_made(void)
{
	return READ(made);
}

int64_t sweep_allocator_live(void)
{
	return READ(live);
}

uint64_t sweep_allocator_misfits(void)
{
	return READ(misfits);
}

static void *allocate(void *context, size_t size, size_t align)
{
	size_t front = align > sizeof(struct header) ? align : sizeof(struct header);
	void *start = NULL;
	struct header *header;

	(void)context;
	if (__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED) == READ(failing)) {
		WRITE(failed, true);
		return NULL;
	}
	if (posix_memalign(&start, front, front + size) != 0)
		return NULL;
	header = (struct header *)(void *)((char *)start + front) - 1;
	*header = (struct header){ start, size };
	__atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
	return header + 1;
}

static void release(void *context, void *memory, size_t size)
{
	struct header *header = (struct header *)memory - 1;

	(void)context;
	if (header->size != size)
		__atomic_fetch_add(&misfits, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
	free(header->start);
}

const edo_allocator sweep_allocator = { allocate, release, NULL };
