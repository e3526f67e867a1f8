/* Runtimes: made, entered, destroyed. */
#include "runtime.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { RUNTIME_ALIGN = 128 };

static const edo_allocator *allocator_of(const edo_config *config)
{
	return config && config->allocator ? config->allocator : &edo_default_allocator;
}

static int check(const edo_config *config)
{
	const char *bad = edo_config_bad_field(config);

	if (bad) {
		edo_misuse_of("this field of the configuration makes no sense", bad);
		return -EINVAL;
	}
	if (config && config->flavor == EDO_MULTI_THREAD)
		return -EOPNOTSUPP;
	return 0;
}

static int init_driver(struct edo_runtime *runtime)
{
	const edo_config *config = &runtime->config;
	struct edo_driver_options options = {
		.disable_io = config->disable_io,
		.disable_time = config->disable_time,
		.start_paused = config->start_paused,
		.clock = config->clock == EDO_CLOCK_BOOTTIME ? EDO_SYS_BOOTTIME : EDO_SYS_MONOTONIC,
		.timer_resolution = config->timer_resolution,
		.events_per_turn = config->events_per_turn,
		.shards = 1,
		.allocator = &runtime->allocator,
	};

	return edo_driver_init(&runtime->driver, &options);
}

static void copy_name(struct edo_runtime *runtime, const char *name)
{
	snprintf(runtime->thread_name, sizeof runtime->thread_name, "%s", name ? name : "edo");
}

int edo_runtime_create(edo_runtime **created, const edo_config *config)
{
	const edo_allocator *allocator;
	struct edo_runtime *runtime;
	struct edo_cell_pool *pool;
	int rc = check(config);

	if (rc < 0)
		return rc;
	allocator = allocator_of(config);
	runtime = allocator->allocate(allocator->context, sizeof *runtime, RUNTIME_ALIGN);
	if (!runtime)
		return -ENOMEM;
	memset(runtime, 0, sizeof *runtime);
	runtime->allocator = *allocator;
	edo_config_resolve(&runtime->config, config);
	copy_name(runtime, runtime->config.thread_name);
	rc = -ENOMEM;
	pool = edo_cell_pool_create(allocator);
	if (!pool)
		goto fail_pool;
	rc = init_driver(runtime);
	if (rc < 0)
		goto fail_driver;
	edo_current_thread_init(&runtime->scheduler, &runtime->driver, pool,
				runtime->config.event_interval,
				runtime->config.global_queue_interval);
	*created = runtime;
	return 0;

fail_driver:
	(void)edo_cell_pool_close(pool, NULL, 0);
fail_pool:
	runtime->allocator.release(runtime->allocator.context, runtime, sizeof *runtime);
	return rc;
}

static void release_attachment(struct edo_runtime *runtime)
{
	void *state = edo_load(&runtime->fibers.state, acquire);

	if (state)
		runtime->fibers.release(state, &runtime->allocator);
}

int edo_runtime_destroy(edo_runtime *runtime)
{
	int given_up;
	size_t alive;

	if (!runtime)
		return 0;
	if (edo_thread_is_driving()) {
		edo_misuse("a task cannot destroy a runtime");
		return -EDEADLK;
	}
	/* Acquire: what the threads that left did comes before. */
	if (edo_load(&runtime->entered, acquire) != 0) {
		edo_misuse("a thread is still inside the runtime");
		return -EBUSY;
	}
	given_up =
		edo_current_thread_shut_down(&runtime->scheduler, runtime->config.shutdown_timeout);
	if (given_up < 0)
		return given_up;
	edo_driver_destroy(&runtime->driver);
	release_attachment(runtime);
	alive = edo_cell_pool_close(runtime->scheduler.scheduler.pool, runtime, sizeof *runtime);
	if (given_up > 0)
		return -ETIMEDOUT;
	return alive > INT32_MAX ? INT32_MAX : (int)alive;
}

struct edo_runtime *edo_current_runtime(void)
{
	struct edo_driver *driver = edo_current_driver();

	return driver ? edo_container_of(driver, struct edo_runtime, driver) : NULL;
}

struct edo_runtime *edo_runtime_or_current(edo_runtime *runtime)
{
	return runtime ? runtime : edo_current_runtime();
}

int edo_runtime_enter(edo_runtime *runtime, edo_enter_guard *guard)
{
	*guard = (edo_enter_guard){ 0 };
	if (!runtime)
		return -EINVAL;
	if (edo_thread_is_driving()) {
		edo_misuse("a task cannot enter a runtime");
		return -EDEADLK;
	}
	edo_fetch_add(&runtime->entered, 1, relaxed);
	guard->edo_entered_ = runtime;
	guard->edo_previous_ = edo_current_runtime();
	(void)edo_current_driver_set(&runtime->driver);
	return 0;
}

void edo_runtime_leave(edo_enter_guard *guard)
{
	edo_runtime *runtime = guard->edo_entered_;
	edo_runtime *previous = guard->edo_previous_;

	if (!runtime)
		return;
	guard->edo_entered_ = NULL;
	(void)edo_current_driver_set(previous ? &previous->driver : NULL);
	/* Release: pairs with destroy, which looks whether everybody has left. */
	edo_fetch_sub(&runtime->entered, 1, release);
}
