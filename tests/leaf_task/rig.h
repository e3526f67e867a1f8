/*
 * What the tests of select and join share. cmocka may not jump off a fiber's stack: a fiber says the line that
 * failed, and the test asserts that there was none.
 */
#ifndef EDO_TESTS_LEAF_TASK_RIG_H
#define EDO_TESTS_LEAF_TASK_RIG_H

#include "scheduler/gate.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

/* Ready with `result` at poll number `at` (0: never). Spends no budget, keeps no waker. */
struct scripted {
	edo_future future;
	unsigned at;
	int result;
	unsigned polls, drops;
};

static inline edo_poll scripted_poll(edo_future *future, edo_context *cx)
{
	struct scripted *scripted = edo_container_of(future, struct scripted, future);

	(void)cx;
	scripted->polls++;
	return scripted->at != 0 && scripted->polls >= scripted->at ? scripted->result :
								      EDO_PENDING;
}

static inline void scripted_drop(edo_future *future)
{
	edo_container_of(future, struct scripted, future)->drops++;
}

EDO_FUTURE_OPS(scripted_ops, struct scripted, future, scripted_poll, scripted_drop);

static inline struct scripted ready_at(unsigned at, int result)
{
	return (struct scripted){ .future = { &scripted_ops }, .at = at, .result = result };
}

/* n of them that are never ready, and the array. */
static inline void never_ready_ones(struct scripted *scripted, edo_future **futures, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		scripted[i] = ready_at(0, 0);
		futures[i] = &scripted[i].future;
	}
}

/* A context for polls by hand; its waker wakes nobody. */
static inline edo_context context_of_nobody(void)
{
	static const edo_waker nobody = { NULL, NULL };
	edo_context cx;

	edo_context_init(&cx, &nobody);
	return cx;
}

/* The clock stands, so that no test waits for real time. */
static inline edo_runtime *paused_runtime(uint64_t seed)
{
	edo_config config = EDO_CONFIG_INIT;

	config.start_paused = true;
	config.seed = seed;
	return runtime_with(&config);
}

#endif
