#include "mix.h"

struct soak_mix soak_mix_of(uint64_t seed, uint64_t number)
{
	struct soak_mix mix;

	edo_random_seed(&mix.random, seed);
	edo_random_seed(&mix.random, edo_random_next(&mix.random) + number);
	return mix;
}

struct soak_mix soak_mix_branch(struct soak_mix *mix)
{
	return soak_mix_of(edo_random_next(&mix->random), 0);
}

uint32_t soak_below(struct soak_mix *mix, uint32_t n)
{
	return edo_random_below(&mix->random, n);
}

bool soak_one_in(struct soak_mix *mix, uint32_t n)
{
	return soak_below(mix, n) == 0;
}

uint64_t soak_length(struct soak_mix *mix, uint64_t limit)
{
	unsigned shift = soak_below(mix, 64);

	while (shift < 63 && limit >> shift == 0)
		shift = soak_below(mix, 64);
	limit >>= shift;
	return limit == UINT64_MAX ? edo_random_next(&mix->random) :
				     edo_random_next(&mix->random) % (limit + 1);
}

unsigned soak_weighted(struct soak_mix *mix, const unsigned *weights, unsigned count)
{
	unsigned sum = 0;
	unsigned drawn;

	for (unsigned i = 0; i < count; i++)
		sum += weights[i];
	drawn = soak_below(mix, sum);
	for (unsigned i = 0;; i++) {
		if (drawn < weights[i])
			return i;
		drawn -= weights[i];
	}
}
