/* The soak, small: bounded by what is done and not by time. `make soak` goes on for minutes. */
#include "chaos.h"
#include "generation.h"
#include "support/runner.h"
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { DEEDS = 600, GENERATIONS = SOAK_WORLD_KINDS, PATIENCE = 20 };

static uint64_t choose_seed(void)
{
	const char *text = getenv("SOAK_SEED");

	return text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
}

/* The runner's signals go on; those of the soak end with it. */
static void every_kind_of_runtime_is_balanced_after_random_use(void **state)
{
	uint64_t seed = choose_seed();
	struct sigaction before_usr1, before_pipe;

	(void)state;
	print_message("SOAK_SEED=%llu\n", (unsigned long long)seed);
	(void)sigaction(SIGUSR1, NULL, &before_usr1);
	(void)sigaction(SIGPIPE, NULL, &before_pipe);
	soak_chaos_prepare();
	for (uint64_t generation = 0; generation < GENERATIONS; generation++)
		soak_generation(seed, generation, DEEDS / edo_test_slowdown(), 0,
				PATIENCE * edo_test_slowdown());
	(void)sigaction(SIGUSR1, &before_usr1, NULL);
	(void)sigaction(SIGPIPE, &before_pipe, NULL);
	print_message("%llu deeds\n", (unsigned long long)soak_counted_all());
	assert_true(soak_counted(SOAK_runtimes) >= GENERATIONS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_kind_of_runtime_is_balanced_after_random_use),
};

EDO_TEST_MAIN(tests)
