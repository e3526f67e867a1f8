/*
 * Fibers on a runtime whose clock stands, so that no test waits for real time. cmocka may not jump
 * off a fiber's stack: a fiber says the line that failed, and the test asserts that there was none.
 */
#ifndef EDO_TESTS_LEAF_TIME_RIG_H
#define EDO_TESTS_LEAF_TIME_RIG_H

#include "support/runner.h"
#include <edo/edo.h>
#include <errno.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

/* The rest of the API's ints are checked by what they leave behind. */
static inline void start_runtime(edo_runtime **runtime, edo_config config)
{
	config.flavor = EDO_CURRENT_THREAD;
	config.disable_io = true;
	assert_int_equal(edo_runtime_create(runtime, &config), 0);
}

static inline void run_on(edo_runtime *runtime, edo_fiber_fn *fn, void *arg)
{
	int failed_line = -1;

	assert_int_equal(edo_block_on(runtime, fn, arg, &failed_line), 0);
	assert_int_equal(failed_line, 0);
}

/* Runs fn as a fiber on a runtime with a paused clock; 0 is what it returns when all went well. */
static inline void in_paused_runtime(edo_fiber_fn *fn, void *arg)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	config.start_paused = true;
	start_runtime(&runtime, config);
	run_on(runtime, fn, arg);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

static inline void in_running_runtime(edo_fiber_fn *fn, void *arg)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	start_runtime(&runtime, config);
	run_on(runtime, fn, arg);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

/* A waker that only counts, for polls by hand. */
struct counting_waker {
	edo_waker waker;
	int clones, wakes;
};

static inline edo_waker counting_clone(void *data);

static inline void counting_drop(void *data)
{
	((struct counting_waker *)data)->clones--;
}

static inline void counting_wake_by_ref(void *data)
{
	((struct counting_waker *)data)->wakes++;
}

static inline void counting_wake(void *data)
{
	counting_wake_by_ref(data);
	counting_drop(data);
}

static const edo_waker_ops counting_ops = { counting_clone, counting_wake, counting_wake_by_ref,
					    counting_drop };

static inline edo_waker counting_clone(void *data)
{
	((struct counting_waker *)data)->clones++;
	return (edo_waker){ data, &counting_ops };
}

static inline void counting_waker_init(struct counting_waker *waker)
{
	*waker = (struct counting_waker){ .waker = { waker, &counting_ops } };
}

#endif
