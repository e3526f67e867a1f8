/* A small, fast, seeded random number generator (xorshift64*, Vigna 2016) for fair choices. */
#ifndef EDO_BASE_RANDOM_H
#define EDO_BASE_RANDOM_H

#include <stdint.h>

struct edo_random {
	uint64_t state; /* never 0 */
};

/* Spreads a number's bits (splitmix64): 1 and 2 have nothing in common any more. */
static inline uint64_t edo_random_mix(uint64_t number)
{
	uint64_t z = number + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* The part of n (n > 0) that a spread number is of 2^64, without a division. */
static inline uint32_t edo_random_part(uint64_t spread, uint32_t n)
{
	return (uint32_t)(((spread >> 32) * n) >> 32);
}

/* Spreads the seed's bits first, so that seeds 1 and 2 do not begin alike. */
static inline void edo_random_seed(struct edo_random *random, uint64_t seed)
{
	uint64_t z = edo_random_mix(seed);

	random->state = z ? z : 1;
}

static inline uint64_t edo_random_next(struct edo_random *random)
{
	uint64_t x = random->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random->state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* A number below n (n > 0). */
static inline uint32_t edo_random_below(struct edo_random *random, uint32_t n)
{
	return edo_random_part(edo_random_next(random), n);
}

#endif
