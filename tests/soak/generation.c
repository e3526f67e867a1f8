#include "generation.h"
#include "balance.h"
#include "chaos.h"
#include <time.h>

enum { WORLDS = 2 };

static void rest(unsigned milliseconds)
{
	const struct timespec length = { .tv_sec = milliseconds / 1000,
					 .tv_nsec = (long)(milliseconds % 1000) * 1000000 };

	(void)nanosleep(&length, NULL);
}

static void await_end(const struct soak_world *world, unsigned patience)
{
	for (uint64_t waited = 0; !__atomic_load_n(&world->has_ended, __ATOMIC_ACQUIRE); waited++) {
		if (waited / 1000 > patience) {
			soak_world_dump(world);
			soak_expect(false, "a world has not drained within %u s", patience);
		}
		rest(1);
	}
}

void soak_generation(uint64_t seed, uint64_t generation, uint64_t deeds, unsigned milliseconds,
		     unsigned patience)
{
	static struct soak_world worlds[WORLDS];
	struct soak_mix mix = soak_mix_of(seed, generation);
	struct soak_chaos chaos;
	bool stop = false;

	soak_tell_replay(seed, generation);
	soak_clock_choose(soak_one_in(&mix, 2));
	soak_balance_remember_process();
	for (unsigned i = 0; i < WORLDS; i++) {
		uint64_t kind = i == 0 ? generation : soak_below(&mix, SOAK_WORLD_KINDS);

		soak_world_start(&worlds[i], (enum soak_world_kind)(kind % SOAK_WORLD_KINDS),
				 soak_mix_branch(&mix), deeds, &stop);
	}
	soak_chaos_start(&chaos, worlds, WORLDS, soak_mix_branch(&mix));
	if (deeds == 0)
		rest(milliseconds);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < WORLDS; i++)
		await_end(&worlds[i], patience);
	soak_chaos_end(&chaos);
	for (unsigned i = 0; i < WORLDS; i++)
		soak_world_join(&worlds[i]);
	soak_balance_check_process();
	soak_count(SOAK_generations);
}
