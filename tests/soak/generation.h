/* A generation: worlds side by side, trouble for all of them, and the balance of the process afterwards. */
#ifndef EDO_TESTS_SOAK_GENERATION_H
#define EDO_TESTS_SOAK_GENERATION_H

#include <stdint.h>

/*
 * Number `generation` of those that follow from the seed: each kind of runtime comes first in its turn.
 * deeds: how many each conductor does in a round; 0: they go on for `milliseconds`.
 * patience: seconds that its end may take before it counts as a hang.
 */
void soak_generation(uint64_t seed, uint64_t generation, uint64_t deeds, unsigned milliseconds,
		     unsigned patience);

#endif
