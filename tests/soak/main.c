/*
 * The soak: generations until the time is over, a line every ten seconds, the counts at the end.
 *
 * SOAK_SECONDS (600), SOAK_SEED (from the clock; printed), SOAK_GENERATION: only this one.
 */
#include "balance.h"
#include "chaos.h"
#include "generation.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	USUAL_SECONDS = 600,
	SETTLING_SECONDS = 60, /* but at most a quarter of the whole */
	LINE_SECONDS = 10,
	GENERATION_MILLISECONDS = 1000,
	PATIENCE_SECONDS = 120
};

/* What resident memory may grow by once it has settled: stacks of threads, freed blocks held back. */
static const uint64_t growth_allowed = UINT64_C(16) << 20;

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t seconds_since(time_t start)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)(now.tv_sec - start);
}

static void print_line(uint64_t seconds)
{
	printf("soak: %4llu s: %llu generations, %llu deeds, %llu MB verified, %llu MiB resident\n",
	       (unsigned long long)seconds, (unsigned long long)soak_counted(SOAK_generations),
	       (unsigned long long)soak_counted_all(),
	       (unsigned long long)soak_counted(SOAK_bytes_verified) / 1000000,
	       (unsigned long long)soak_balance_resident() >> 20);
	(void)fflush(stdout);
}

/* The most that was seen while it settled is what later may be grown from. */
static void watch_memory(bool is_settling)
{
	static uint64_t settled;
	uint64_t resident = soak_balance_resident();

	if (is_settling && resident > settled)
		settled = resident;
	soak_expect(is_settling || resident <= settled + growth_allowed,
		    "resident memory has grown from %llu to %llu MiB",
		    (unsigned long long)settled >> 20, (unsigned long long)resident >> 20);
}

static void soak(uint64_t seed, uint64_t limit)
{
	uint64_t settling = limit / 4 < SETTLING_SECONDS ? limit / 4 : SETTLING_SECONDS;
	uint64_t seconds = 0;
	uint64_t next_line = LINE_SECONDS;
	time_t start = (time_t)seconds_since(0);

	for (uint64_t generation = 0; seconds < limit; generation++) {
		soak_generation(seed, generation, 0, GENERATION_MILLISECONDS, PATIENCE_SECONDS);
		seconds = seconds_since(start);
		watch_memory(seconds <= settling || generation == 0);
		if (seconds < next_line)
			continue;
		print_line(seconds);
		next_line += LINE_SECONDS;
	}
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* With the first thread a sanitizer starts one of its own, which stays. */
static void start_a_first_thread(void)
{
	pthread_t thread;

	soak_expect(pthread_create(&thread, NULL, do_nothing, NULL) == 0, "no thread");
	(void)pthread_join(thread, NULL);
}

int main(void)
{
	uint64_t seed = number_from_environment("SOAK_SEED", (uint64_t)time(NULL));
	uint64_t only = number_from_environment("SOAK_GENERATION", UINT64_MAX);

	printf("soak: SOAK_SEED=%llu\n", (unsigned long long)seed);
	(void)fflush(stdout);
	soak_chaos_prepare();
	start_a_first_thread();
	if (only != UINT64_MAX)
		soak_generation(seed, only, 0, GENERATION_MILLISECONDS, PATIENCE_SECONDS);
	else
		soak(seed, number_from_environment("SOAK_SECONDS", USUAL_SECONDS));
	soak_tally_print();
	printf("soak: all is balanced\n");
	return 0;
}
