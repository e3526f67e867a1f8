/*
 * Bits of a 64-bit word. Header-only: the wheel compiles with this and list.h alone.
 */
#ifndef EDO_BASE_BITS_H
#define EDO_BASE_BITS_H

#include <stdint.h>

/* The index of the lowest bit that is set; word is not 0. */
static inline unsigned edo_lowest_bit(uint64_t word)
{
	return (unsigned)__builtin_ctzll(word);
}

/* The index of the highest bit that is set; word is not 0. */
static inline unsigned edo_highest_bit(uint64_t word)
{
	return 63u ^ (unsigned)__builtin_clzll(word);
}

static inline uint64_t edo_bit(unsigned index)
{
	return UINT64_C(1) << index;
}

#endif
