/*
 * Task cells: aligned to 128 bytes, because the spatial prefetcher fetches lines in pairs (K1), carved
 * out of chunks and kept in free lists by size, so that a spawn is not an aligned malloc.
 *
 * Two sides. The owner (the thread that runs the tasks) uses the local lists without a lock; all others
 * use the shared side under the pool's lock. Between the sides cells go in batches: the owner takes one
 * when its own list is empty, and gives one back when it has too many, so that cells which one side
 * allocates and the other frees do not pile up there. `live` counts of both sides add up to the cells
 * out there:
 *
 *     local_live + shared_live = cells allocated - cells freed
 *
 * Chunks are given back all together, when the pool is closed and no cell lives (K3).
 */
#include "cell.h"
#include "base/poison.h"
#include "base/thread.h"
#include <stdlib.h>

enum {
	CELL_ALIGN = 128,
	CLASSES = 16,    /* multiples of 128 bytes up to 2 KiB */
	LARGE = CLASSES, /* the class of larger cells: each a chunk of its own */
	CELLS_A_CHUNK = 32,
	BATCH = 64,             /* cells that change sides at once */
	MOST_LOCAL = 4 * BATCH, /* free ones of a class that the owner keeps */
};

struct free_cell {
	struct free_cell *next;
};

struct chunk {
	struct chunk *next;
	size_t size;
};

_Static_assert(sizeof(struct chunk) <= CELL_ALIGN, "a chunk's head fits before its first cell");

struct edo_cell_pool {
	/* the owner's */
	struct free_cell *local[CLASSES];
	uint32_t local_free[CLASSES]; /* how many there are in each list */
	int64_t local_live;
	/* constant, but for the owner: atomic, changed only while nobody runs the tasks */
	edo_allocator allocator;
	uintptr_t owner;
	/* under the lock */
	struct edo_lock lock;
	bool closed;
	int64_t shared_live;
	struct free_cell *shared[CLASSES];
	struct chunk *chunks;
	void *attached;
	size_t attached_size;
};

static void *default_allocate(void *context, size_t size, size_t align)
{
	void *memory = NULL;

	(void)context;
	if (align <= sizeof(void *))
		return malloc(size);
	return posix_memalign(&memory, align, size) == 0 ? memory : NULL;
}

static void default_release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

const edo_allocator edo_default_allocator = { default_allocate, default_release, NULL };

struct edo_cell_pool *edo_cell_pool_create(const edo_allocator *allocator)
{
	struct edo_cell_pool *pool = allocator->allocate(allocator->context, sizeof *pool,
							 _Alignof(struct edo_cell_pool));

	if (pool)
		*pool = (struct edo_cell_pool){ .allocator = *allocator };
	return pool;
}

void edo_cell_pool_set_owner(struct edo_cell_pool *pool, uintptr_t thread)
{
	/* Relaxed: only a thread's own number matters to it, and that it wrote itself. */
	edo_store(&pool->owner, thread, relaxed);
}

static bool is_owner(const struct edo_cell_pool *pool)
{
	return edo_load(&pool->owner, relaxed) == edo_thread_self();
}

static size_t class_size(unsigned size_class)
{
	return (size_class + 1) * (size_t)CELL_ALIGN;
}

static struct chunk *allocate_chunk(struct edo_cell_pool *pool, size_t cells_size)
{
	size_t size = cells_size + CELL_ALIGN;
	struct chunk *chunk = pool->allocator.allocate(pool->allocator.context, size, CELL_ALIGN);

	if (chunk)
		chunk->size = size;
	return chunk;
}

static void release_chunk(const edo_allocator *allocator, struct chunk *chunk)
{
	edo_unpoison(chunk, chunk->size);
	allocator->release(allocator->context, chunk, chunk->size);
}

/* A run of cells taken off the front of a list. */
struct run {
	struct free_cell *first;
	struct free_cell *last;
	uint32_t count;
};

static struct run take_run(struct free_cell **list, uint32_t most)
{
	struct run run = { .first = *list };

	for (struct free_cell *cell = *list; cell && run.count < most; cell = cell->next) {
		run.last = cell;
		run.count++;
	}
	if (run.last) {
		*list = run.last->next;
		run.last->next = NULL;
	}
	return run;
}

static void put_run(struct free_cell **list, const struct run *run)
{
	if (!run->count)
		return;
	run->last->next = *list;
	*list = run->first;
}

static struct run carve(struct chunk *chunk, unsigned size_class)
{
	char *cells = (char *)chunk + CELL_ALIGN;
	size_t size = class_size(size_class);
	struct run run = { .count = CELLS_A_CHUNK };

	for (int i = CELLS_A_CHUNK - 1; i >= 0; i--) {
		struct free_cell *cell = (void *)(cells + (size_t)i * size);

		cell->next = run.first;
		if (!run.first)
			run.last = cell;
		run.first = cell;
		edo_poison(cell + 1, size - sizeof *cell);
	}
	return run;
}

/* Newly carved cells; none: no memory. The allocator is the user's code: not under the lock (T2). */
static struct run new_cells(struct edo_cell_pool *pool, unsigned size_class)
{
	struct chunk *chunk = allocate_chunk(pool, CELLS_A_CHUNK * class_size(size_class));

	if (!chunk)
		return (struct run){ 0 };
	edo_lock_acquire(&pool->lock, EDO_RANK_POOL);
	chunk->next = pool->chunks;
	pool->chunks = chunk;
	edo_lock_release(&pool->lock, EDO_RANK_POOL);
	return carve(chunk, size_class);
}

static struct run take_shared(struct edo_cell_pool *pool, unsigned size_class, uint32_t most)
{
	struct run run;

	edo_lock_acquire(&pool->lock, EDO_RANK_POOL);
	run = take_run(&pool->shared[size_class], most);
	edo_lock_release(&pool->lock, EDO_RANK_POOL);
	return run;
}

static void refill_local(struct edo_cell_pool *pool, unsigned size_class)
{
	struct run run = take_shared(pool, size_class, BATCH);

	if (!run.count)
		run = new_cells(pool, size_class);
	put_run(&pool->local[size_class], &run);
	pool->local_free[size_class] = run.count;
}

static struct free_cell *pop_local(struct edo_cell_pool *pool, unsigned size_class)
{
	struct free_cell *cell;

	if (!pool->local[size_class])
		refill_local(pool, size_class);
	cell = pool->local[size_class];
	if (!cell)
		return NULL;
	pool->local[size_class] = cell->next;
	pool->local_free[size_class]--;
	pool->local_live++;
	return cell;
}

static void push_local(struct edo_cell_pool *pool, unsigned size_class, struct free_cell *cell)
{
	struct run surplus;

	cell->next = pool->local[size_class];
	pool->local[size_class] = cell;
	pool->local_live--;
	if (EDO_LIKELY(++pool->local_free[size_class] <= MOST_LOCAL))
		return;
	surplus = take_run(&pool->local[size_class], BATCH);
	pool->local_free[size_class] -= surplus.count;
	edo_lock_acquire(&pool->lock, EDO_RANK_POOL);
	put_run(&pool->shared[size_class], &surplus);
	edo_lock_release(&pool->lock, EDO_RANK_POOL);
}

static struct free_cell *pop_shared(struct edo_cell_pool *pool, unsigned size_class)
{
	struct run fresh = { 0 };
	struct run one = take_shared(pool, size_class, 1);

	if (!one.count) {
		fresh = new_cells(pool, size_class);
		one = take_run(&fresh.first, 1);
		fresh.count -= one.count;
	}
	edo_lock_acquire(&pool->lock, EDO_RANK_POOL);
	put_run(&pool->shared[size_class], &fresh);
	pool->shared_live += one.count;
	edo_lock_release(&pool->lock, EDO_RANK_POOL);
	return one.first;
}

static void count_shared(struct edo_cell_pool *pool, int64_t n)
{
	edo_lock_acquire(&pool->lock, EDO_RANK_POOL);
	pool->shared_live += n;
	edo_lock_release(&pool->lock, EDO_RANK_POOL);
}

static struct edo_task *allocate_large(struct edo_cell_pool *pool, size_t size)
{
	struct chunk *chunk = allocate_chunk(pool, size);

	if (!chunk)
		return NULL;
	count_shared(pool, 1);
	return (void *)((char *)chunk + CELL_ALIGN);
}

struct edo_task *edo_cell_allocate(struct edo_cell_pool *pool, size_t core_size)
{
	size_t size = sizeof(struct edo_task) + core_size;
	struct edo_task *task;
	unsigned size_class = LARGE;

	if (core_size > SIZE_MAX - sizeof(struct edo_task) - CELL_ALIGN)
		return NULL;
	if (size > class_size(CLASSES - 1)) {
		task = allocate_large(pool, size);
	} else {
		size_class = (unsigned)((size - 1) / CELL_ALIGN);
		task = (void *)(is_owner(pool) ? pop_local(pool, size_class) :
						 pop_shared(pool, size_class));
	}
	if (!task)
		return NULL;
	edo_unpoison(task, size);
	task->size_class = (uint16_t)size_class;
	return task;
}

/* The pool is closed and its last cell gone: nobody can reach it any more. */
static void release_pool(struct edo_cell_pool *pool)
{
	edo_allocator allocator = pool->allocator;

	for (struct chunk *chunk = pool->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		release_chunk(&allocator, chunk);
	}
	if (pool->attached)
		allocator.release(allocator.context, pool->attached, pool->attached_size);
	allocator.release(allocator.context, pool, sizeof *pool);
}

static void free_shared(struct edo_cell_pool *pool, struct free_cell *cell, unsigned size_class)
{
	bool was_last;

	edo_lock_acquire(&pool->lock, EDO_RANK_POOL);
	if (size_class != LARGE) {
		cell->next = pool->shared[size_class];
		pool->shared[size_class] = cell;
	}
	pool->shared_live--;
	was_last = pool->closed && pool->local_live + pool->shared_live == 0;
	edo_lock_release(&pool->lock, EDO_RANK_POOL);
	if (was_last)
		release_pool(pool);
}

void edo_cell_free(struct edo_cell_pool *pool, struct edo_task *task)
{
	unsigned size_class = task->size_class;
	struct free_cell *cell = (void *)task;

	if (size_class == LARGE) {
		/* Before the count goes down: afterwards the pool may be gone. */
		release_chunk(&pool->allocator, (void *)((char *)task - CELL_ALIGN));
		free_shared(pool, NULL, LARGE);
		return;
	}
	edo_poison(cell + 1, class_size(size_class) - sizeof *cell);
	if (!is_owner(pool)) {
		free_shared(pool, cell, size_class);
		return;
	}
	push_local(pool, size_class, cell);
}

size_t edo_cell_pool_close(struct edo_cell_pool *pool, void *attached, size_t attached_size)
{
	int64_t live;

	edo_cell_pool_set_owner(pool, 0);
	edo_lock_acquire(&pool->lock, EDO_RANK_POOL);
	pool->closed = true;
	pool->attached = attached;
	pool->attached_size = attached_size;
	live = pool->local_live + pool->shared_live;
	edo_lock_release(&pool->lock, EDO_RANK_POOL);
	if (live == 0)
		release_pool(pool);
	return (size_t)live;
}
