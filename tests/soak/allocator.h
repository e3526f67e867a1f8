/*
 * The allocator of a runtime's configuration: counts what is out, and refuses at random while it is told
 * to. Threads: any.
 */
#ifndef EDO_TESTS_SOAK_ALLOCATOR_H
#define EDO_TESTS_SOAK_ALLOCATOR_H

#include <edo/config.h>
#include <stdbool.h>
#include <stdint.h>

struct soak_allocator {
	edo_allocator face;
	uint64_t seed;       /* of what is refused */
	uint32_t refuse_one; /* atomic: one of so many is refused; 0: none */
	uint64_t made;       /* atomic: all that were asked for */
	int64_t blocks;      /* atomic: out at present */
	int64_t bytes;       /* atomic */
};

void soak_allocator_init(struct soak_allocator *allocator, uint64_t seed);
void soak_allocator_refuse(struct soak_allocator *allocator, uint32_t one_of);
int64_t soak_allocator_blocks(const struct soak_allocator *allocator);
int64_t soak_allocator_bytes(const struct soak_allocator *allocator);

#endif
