/*
 * Fair choices. Each is the number of the draw, spread by the runtime's seed: so any thread may draw without
 * a lock (a plain thread polls before it drives), and a program that is driven by one thread draws
 * the same on every run.
 */
#include "base/random.h"
#include "runtime.h"

/* Outside of every runtime there is no seed, only the counting. */
static uint64_t draws_elsewhere;

uint32_t edo_runtime_draw(struct edo_driver *driver, uint32_t n)
{
	struct edo_runtime *runtime =
		driver ? edo_container_of(driver, struct edo_runtime, driver) : NULL;
	uint64_t seed = runtime ? runtime->config.seed : 0;
	/* Relaxed: that no two draws have the same number is all that is asked. */
	uint64_t draw = edo_fetch_add(runtime ? &runtime->draws : &draws_elsewhere, 1, relaxed);

	return edo_random_part(edo_random_mix(draw ^ seed), n);
}
