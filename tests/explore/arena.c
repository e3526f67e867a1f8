/*
 * Allocations of a run. Nothing is given out twice, so a use after the end is seen whenever it comes; and
 * addresses are the same in every run and every process, so that nothing depends on them but the
 * choices. malloc and its kin come here by the linker's --wrap.
 */
#include "explore/engine.h"
#include <errno.h>

#define BASE UINT64_C(0x200000000000)

enum { ARENA_SIZE = 8 << 20, GRAIN = 16, MAX_BLOCKS = 4096, FILLING = 0xa5 };

/* What a grain is part of. */
enum { NOTHING, LIVE, FREED, POISONED };

struct block {
	char *start;
	size_t size;
	bool is_live;
	const void *caller;
};

struct arena {
	uint8_t grains[ARENA_SIZE / GRAIN];
	struct block blocks[MAX_BLOCKS];
	unsigned count;
	unsigned live;
	size_t used;
};

static struct arena *arena;
static char *base;

void arena_begin(void)
{
	if (!arena) {
		arena = explore_pages(sizeof *arena);
		base = explore_pages_at(BASE, ARENA_SIZE);
	}
	memset(arena->grains, NOTHING, arena->used / GRAIN);
	arena->count = 0;
	arena->live = 0;
	arena->used = 0;
}

bool arena_has(const void *place)
{
	return (uintptr_t)place - (uintptr_t)base < ARENA_SIZE;
}

static size_t grain_of(const void *place)
{
	return ((uintptr_t)place - (uintptr_t)base) / GRAIN;
}

static void mark(const void *start, size_t size, uint8_t state)
{
	memset(&arena->grains[grain_of(start)], state, (size + GRAIN - 1) / GRAIN);
}

static _Noreturn void fail(const char *what, const char *state, const void *caller)
{
	char text[160];

	report_caller(caller, text, sizeof text);
	engine_fail(EXPLORE_BAD_MEMORY, "thread %u: %s of %s memory (%s)", engine->self->number,
		    what, state, text);
}

void arena_check(const void *place, size_t size, const char *what, const void *caller)
{
	static const char *const names[] = { "unallocated", "live", "freed", "free" };
	size_t last;

	if (!arena_has(place))
		return;
	last = grain_of((const char *)place + size - 1);
	for (size_t grain = grain_of(place); grain <= last; grain++)
		if (arena->grains[grain] != LIVE)
			fail(what, names[arena->grains[grain]], caller);
}

static void *allocate(size_t size, size_t align, const void *caller)
{
	size_t start = (arena->used + GRAIN + align - 1) / align * align;
	size_t whole = (size + GRAIN - 1) / GRAIN * GRAIN;
	struct block *block = &arena->blocks[arena->count];

	if (whole == 0)
		whole = GRAIN;
	if (arena->count == MAX_BLOCKS || start + whole > ARENA_SIZE)
		engine_fail(EXPLORE_TOO_LARGE, "more allocations than fit");
	*block = (struct block){ base + start, size, true, caller };
	arena->count++;
	arena->live++;
	arena->used = start + whole;
	mark(block->start, whole, LIVE);
	memset(block->start, FILLING, whole);
	return block->start;
}

static struct block *block_of(const void *memory)
{
	for (unsigned i = 0; i < arena->count; i++)
		if (arena->blocks[i].start == memory)
			return &arena->blocks[i];
	return NULL;
}

static void release(void *memory, const void *caller)
{
	struct block *block = block_of(memory);

	if (!block)
		fail("release", "unallocated", caller);
	if (!block->is_live)
		fail("release", "freed", caller);
	/* As a store to all of it: whoever still uses it has not been waited for. */
	if (!engine->is_alone)
		races_plain(memory, block->size, true, caller);
	block->is_live = false;
	arena->live--;
	mark(block->start, block->size, FREED);
}

void explore_poison(const void *memory, size_t size)
{
	const char *first = (const char *)(((uintptr_t)memory + GRAIN - 1) / GRAIN * GRAIN);
	const char *end = (const char *)memory + size;

	if (arena_has(memory) && first < end)
		mark(first, (size_t)(end - first) / GRAIN * GRAIN, POISONED);
}

void explore_unpoison(const void *memory, size_t size)
{
	const char *first = (const char *)((uintptr_t)memory / GRAIN * GRAIN);

	if (arena_has(memory))
		mark(first, (size_t)((const char *)memory + size - first), LIVE);
}

void arena_check_leaks(void)
{
	char text[160];

	for (unsigned i = 0; i < arena->count; i++) {
		const struct block *block = &arena->blocks[i];

		if (!block->is_live)
			continue;
		report_caller(block->caller, text, sizeof text);
		engine_fail(EXPLORE_LEAK, "%u allocations are left, the first of %zu bytes (%s)",
			    arena->live, block->size, text);
	}
}

/* ---- in place of the C library's ---- */

static bool is_in_run(void)
{
	return engine && engine->self;
}

void *__real_malloc(size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void __wrap_free(void *memory);
int __wrap_posix_memalign(void **memory, size_t align, size_t size);

void *__wrap_malloc(size_t size)
{
	return is_in_run() ? allocate(size, GRAIN, __builtin_return_address(0)) :
			     __real_malloc(size);
}

void __wrap_free(void *memory)
{
	if (!memory)
		return;
	if (arena_has(memory))
		release(memory, __builtin_return_address(0));
	else
		__real_free(memory);
}

int __wrap_posix_memalign(void **memory, size_t align, size_t size)
{
	if (!is_in_run())
		return ENOMEM;
	*memory = allocate(size, align < GRAIN ? GRAIN : align, __builtin_return_address(0));
	return 0;
}
