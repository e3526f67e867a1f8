/*
 * Stacks and their cache. The cache belongs to the runtime and is made when its first fiber is spawned;
 * free stacks are linked through their topmost bytes, the ones that are resident in any case.
 */
#include "stack.h"
#include <errno.h>

struct free_stack {
	struct free_stack *next;
	void *base;
};

struct stack_cache {
	struct edo_lock lock;
	size_t size; /* of every stack in it; constant */
	uint32_t limit;
	uint32_t count;           /* under the lock */
	struct free_stack *first; /* under the lock */
};

static struct free_stack *link_of(void *base, size_t size)
{
	return (struct free_stack *)(void *)((char *)base + size) - 1;
}

static void release_cache(void *state, const edo_allocator *allocator)
{
	struct stack_cache *cache = state;

	while (cache->first) {
		struct free_stack *link = cache->first;

		cache->first = link->next;
		edo_sys_stack_unmap(link->base, cache->size);
	}
	allocator->release(allocator->context, cache, sizeof *cache);
}

static size_t whole_pages(size_t size)
{
	size_t page = edo_sys_page_size();

	return (size + page - 1) / page * page;
}

static struct stack_cache *make_cache(struct edo_runtime *runtime)
{
	const edo_allocator *allocator = &runtime->allocator;
	struct stack_cache *cache = allocator->allocate(allocator->context, sizeof *cache,
							_Alignof(struct stack_cache));

	if (cache)
		*cache = (struct stack_cache){ .size = whole_pages(runtime->config.stack_size),
					       .limit = runtime->config.stack_cache };
	return cache;
}

/* Two threads may make one at the same time; the second one's is given back. */
static struct stack_cache *install(struct edo_runtime *runtime, struct stack_cache *made)
{
	struct stack_cache *winner;

	edo_lock_acquire(&runtime->fibers.lock, EDO_RANK_STACKS);
	winner = runtime->fibers.state;
	if (!winner) {
		winner = made;
		runtime->fibers.release = release_cache;
		/* Release: pairs with the acquire in cache_of(). */
		edo_store(&runtime->fibers.state, made, release);
	}
	edo_lock_release(&runtime->fibers.lock, EDO_RANK_STACKS);
	if (winner != made)
		release_cache(made, &runtime->allocator);
	return winner;
}

static struct stack_cache *cache_of(struct edo_runtime *runtime)
{
	struct stack_cache *cache = edo_load(&runtime->fibers.state, acquire);

	if (EDO_LIKELY(cache != NULL))
		return cache;
	cache = make_cache(runtime);
	return cache ? install(runtime, cache) : NULL;
}

static void *pop(struct stack_cache *cache)
{
	struct free_stack *link;

	edo_lock_acquire(&cache->lock, EDO_RANK_STACKS);
	link = cache->first;
	if (link) {
		cache->first = link->next;
		cache->count--;
	}
	edo_lock_release(&cache->lock, EDO_RANK_STACKS);
	return link ? link->base : NULL;
}

int edo_stack_acquire(struct edo_runtime *runtime, struct edo_stack *stack)
{
	struct stack_cache *cache = cache_of(runtime);

	if (!cache)
		return -ENOMEM;
	stack->size = cache->size;
	stack->base = pop(cache);
	return stack->base ? 0 : edo_sys_stack_map(stack->size, &stack->base);
}

static bool push(struct stack_cache *cache, void *base, uint32_t limit)
{
	bool has_room;

	edo_lock_acquire(&cache->lock, EDO_RANK_STACKS);
	has_room = cache->count < limit;
	if (has_room) {
		struct free_stack *link = link_of(base, cache->size);

		*link = (struct free_stack){ cache->first, base };
		cache->first = link;
		cache->count++;
	}
	edo_lock_release(&cache->lock, EDO_RANK_STACKS);
	return has_room;
}

void edo_stack_release(struct edo_runtime *runtime, struct edo_stack *stack)
{
	struct stack_cache *cache = runtime->fibers.state;
	void *base = stack->base;

	stack->base = NULL;
	if (base && !push(cache, base, cache->limit))
		edo_sys_stack_unmap(base, stack->size);
}

/* In the cache, which nobody takes from any more. */
void edo_stack_abandon(struct edo_runtime *runtime, struct edo_stack *stack)
{
	(void)push(runtime->fibers.state, stack->base, UINT32_MAX);
	stack->base = NULL;
}
