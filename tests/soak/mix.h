/* Random choice. Every actor has a mix of its own, branched off its maker's: a seed replays what it decides. */
#ifndef EDO_TESTS_SOAK_MIX_H
#define EDO_TESTS_SOAK_MIX_H

#include "base/random.h"
#include <stdbool.h>
#include <stdint.h>

struct soak_mix {
	struct edo_random random;
};

struct soak_mix soak_mix_of(uint64_t seed, uint64_t number);
struct soak_mix soak_mix_branch(struct soak_mix *mix);

/* Below n. */
uint32_t soak_below(struct soak_mix *mix, uint32_t n);
bool soak_one_in(struct soak_mix *mix, uint32_t n);
/* From 0 to limit, each order of magnitude as likely as another. */
uint64_t soak_length(struct soak_mix *mix, uint64_t limit);
/* An index, each as often as its weight says. */
unsigned soak_weighted(struct soak_mix *mix, const unsigned *weights, unsigned count);

#endif
