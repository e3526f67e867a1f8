#include "tally.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t counted[SOAK_DEED_COUNT];
static uint64_t replay_seed, replay_generation;

#define SOAK_DEED_TEXT(name) #name,
static const char *const names[] = { SOAK_DEEDS(SOAK_DEED_TEXT) };

void soak_count_many(enum soak_deed deed, uint64_t times)
{
	__atomic_fetch_add(&counted[deed], times, __ATOMIC_RELAXED);
}

void soak_count(enum soak_deed deed)
{
	soak_count_many(deed, 1);
}

uint64_t soak_counted(enum soak_deed deed)
{
	return __atomic_load_n(&counted[deed], __ATOMIC_RELAXED);
}

uint64_t soak_counted_all(void)
{
	uint64_t sum = 0;

	for (unsigned deed = 0; deed < SOAK_DEED_COUNT; deed++)
		if (deed != SOAK_generations && deed != SOAK_bytes_verified &&
		    deed != SOAK_pipe_bytes_verified && deed != SOAK_allocations)
			sum += soak_counted((enum soak_deed)deed);
	return sum;
}

void soak_tally_print(void)
{
	for (unsigned deed = 0; deed < SOAK_DEED_COUNT; deed++)
		printf("soak: %-22s %llu\n", names[deed],
		       (unsigned long long)soak_counted((enum soak_deed)deed));
}

void soak_tell_replay(uint64_t seed, uint64_t generation)
{
	__atomic_store_n(&replay_seed, seed, __ATOMIC_RELAXED);
	__atomic_store_n(&replay_generation, generation, __ATOMIC_RELAXED);
}

void soak_expect(bool holds, const char *format, ...)
{
	va_list arguments;

	if (holds)
		return;
	fflush(stdout);
	fprintf(stderr, "soak: FAILED: ");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
	va_end(arguments);
	fprintf(stderr, "\nsoak: again: SOAK_SEED=%llu SOAK_GENERATION=%llu\n",
		(unsigned long long)__atomic_load_n(&replay_seed, __ATOMIC_RELAXED),
		(unsigned long long)__atomic_load_n(&replay_generation, __ATOMIC_RELAXED));
	abort();
}
