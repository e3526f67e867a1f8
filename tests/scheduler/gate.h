/*
 * What the tests of the scheduler, the runtime and the fibers share: a future that is opened from
 * anywhere, small runtimes, and futures of one line.
 */
#ifndef EDO_TESTS_SCHEDULER_GATE_H
#define EDO_TESTS_SCHEDULER_GATE_H

#include "support/runner.h"
#include <edo/edo.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct gate {
	edo_future future;
	edo_atomic_waker waker;
	int open; /* atomic */
	unsigned polls, drops;
};

static inline edo_poll gate_poll(edo_future *future, edo_context *cx)
{
	struct gate *gate = edo_container_of(future, struct gate, future);

	gate->polls++;
	edo_atomic_waker_register(&gate->waker, cx);
	return __atomic_load_n(&gate->open, __ATOMIC_ACQUIRE) ? EDO_READY : EDO_PENDING;
}

static inline void gate_drop(edo_future *future)
{
	struct gate *gate = edo_container_of(future, struct gate, future);

	gate->drops++;
	edo_atomic_waker_clear(&gate->waker);
}

EDO_FUTURE_OPS(gate_ops, struct gate, future, gate_poll, gate_drop);

static inline void gate_init(struct gate *gate)
{
	*gate = (struct gate){ .future = { &gate_ops } };
}

static inline void gate_open(struct gate *gate)
{
	__atomic_store_n(&gate->open, 1, __ATOMIC_RELEASE);
	edo_atomic_waker_wake(&gate->waker);
}

static inline int fiber_awaits_gate(void *arg)
{
	struct gate *gate = arg;

	return edo_await(&gate->future);
}

static inline int fiber_does_nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* A stackless future that calls act in each poll. */
struct actor {
	edo_future future;
	edo_poll (*act)(struct actor *actor, edo_context *cx);
	void (*on_drop)(struct actor *actor);
	void *arg;
	int n;
};

static inline edo_poll actor_poll(edo_future *future, edo_context *cx)
{
	struct actor *actor = edo_container_of(future, struct actor, future);

	return actor->act(actor, cx);
}

static inline void actor_drop(edo_future *future)
{
	struct actor *actor = edo_container_of(future, struct actor, future);

	if (actor->on_drop)
		actor->on_drop(actor);
}

EDO_FUTURE_OPS(actor_ops, struct actor, future, actor_poll, actor_drop);

static inline struct actor actor_of(edo_poll (*act)(struct actor *, edo_context *), void *arg)
{
	return (struct actor){ .future = { &actor_ops }, .act = act, .arg = arg };
}

static inline edo_poll never_ready(struct actor *actor, edo_context *cx)
{
	(void)actor;
	(void)cx;
	return EDO_PENDING;
}

static inline edo_runtime *runtime_with(const edo_config *config)
{
	edo_runtime *runtime = NULL;

	assert_return_code(edo_runtime_create(&runtime, config), 0);
	return runtime;
}

static inline edo_runtime *runtime_new(void)
{
	return runtime_with(NULL);
}

static inline void runtime_end(edo_runtime *runtime)
{
	assert_int_equal(edo_runtime_destroy(runtime), 0);
}

/* Runs fn as the root of the runtime; asserts that it could. */
static inline int run_on(edo_runtime *runtime, edo_fiber_fn *fn, void *arg)
{
	int result = INT_MIN;

	assert_int_equal(edo_block_on(runtime, fn, arg, &result), 0);
	return result;
}

static inline void wait_until_set(const int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		sched_yield();
}

static inline void set(int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

#endif
