/*
 * A hash table of what is alive. Its nodes come from the real malloc; a block that it does not
 * know (made inside libc, by getaddrinfo say) is let pass.
 */
#include "support/allocations.h"
#include "support/limit.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CHAINS 65536
#define MOST_SAID 8

void *__real_malloc(size_t size);
void __real_free(void *block);

struct block {
	struct block *next;
	const void *address;
	const void *caller;
	size_t size;
	uint64_t number;
};

/* All under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *chains[CHAINS];
static size_t live;

static struct block **chain_of(const void *address)
{
	uint64_t bits = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);

	return &chains[bits >> 48];
}

void edo_test_blocks_add(const void *address, size_t size, uint64_t number, const void *caller)
{
	struct block **chain = chain_of(address);
	struct block *block = __real_malloc(sizeof *block);

	if (!block)
		abort();
	pthread_mutex_lock(&lock);
	*block = (struct block){ *chain, address, caller, size, number };
	*chain = block;
	live++;
	pthread_mutex_unlock(&lock);
}

void edo_test_blocks_remove(const void *address)
{
	struct block *block, **link;

	pthread_mutex_lock(&lock);
	link = chain_of(address);
	while (*link && (*link)->address != address)
		link = &(*link)->next;
	block = *link;
	if (block) {
		*link = block->next;
		live--;
	}
	pthread_mutex_unlock(&lock);
	__real_free(block);
}

size_t edo_test_allocations_live(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = live;
	pthread_mutex_unlock(&lock);
	return n;
}

static void say(const struct block *block, uint64_t made)
{
	fprintf(stderr, "leaked %zu bytes, allocation %llu of the test, made before ", block->size,
		(unsigned long long)(block->number - made));
	fflush(stderr);
	edo_test_say_address(block->caller);
}

static int say_younger(const struct block *block, uint64_t made)
{
	int found = 0;

	for (; block; block = block->next)
		if (block->number >= made && found++ < MOST_SAID)
			say(block, made);
	return found;
}

int edo_test_allocations_compare(uint64_t made)
{
	int found = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < CHAINS; i++)
		found += say_younger(chains[i], made);
	pthread_mutex_unlock(&lock);
	return found;
}
