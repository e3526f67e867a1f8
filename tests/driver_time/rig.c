#include "rig.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t system_clock = UINT64_C(1000000000);
static unsigned unparks;
static _Thread_local struct edo_time_driver *entered;

enum { MOST_REGISTERED = 4 };

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static struct {
	struct edo_time_driver *time;
	unsigned holders;
} registered[MOST_REGISTERED];

/* ---- in place of the system's clock and the driver round the time driver ---- */

uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock);
uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock)
{
	(void)clock;
	return __atomic_load_n(&system_clock, __ATOMIC_RELAXED);
}

void edo_time_unpark(struct edo_time_driver *time)
{
	(void)time;
	edo_lock_assert_none();
	__atomic_fetch_add(&unparks, 1, __ATOMIC_SEQ_CST);
}

struct edo_time_driver *edo_time_own(uint32_t driver_id)
{
	return entered && entered->driver_id == driver_id ? entered : NULL;
}

struct edo_time_driver *edo_time_hold(uint32_t driver_id)
{
	struct edo_time_driver *found = NULL;

	pthread_mutex_lock(&registry);
	for (int i = 0; i < MOST_REGISTERED && !found; i++)
		if (registered[i].time && registered[i].time->driver_id == driver_id) {
			found = registered[i].time;
			registered[i].holders++;
		}
	pthread_mutex_unlock(&registry);
	return found;
}

void edo_time_release(struct edo_time_driver *time)
{
	pthread_mutex_lock(&registry);
	for (int i = 0; i < MOST_REGISTERED; i++)
		if (registered[i].time == time)
			registered[i].holders--;
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&registry);
}

void rig_register(struct edo_time_driver *time)
{
	int i = 0;

	pthread_mutex_lock(&registry);
	while (registered[i].time)
		i++;
	registered[i].time = time;
	pthread_mutex_unlock(&registry);
}

void rig_unregister(struct edo_time_driver *time)
{
	pthread_mutex_lock(&registry);
	for (int i = 0; i < MOST_REGISTERED; i++)
		if (registered[i].time == time) {
			while (registered[i].holders)
				pthread_cond_wait(&released, &registry);
			registered[i].time = NULL;
		}
	pthread_mutex_unlock(&registry);
}

void rig_enter(struct edo_time_driver *time)
{
	entered = time;
}

unsigned rig_unparks(void)
{
	return __atomic_load_n(&unparks, __ATOMIC_SEQ_CST);
}

/* ---- the clock and the driver ---- */

void rig_set_clock(uint64_t ns)
{
	__atomic_store_n(&system_clock, ns, __ATOMIC_RELAXED);
}

uint64_t rig_clock(void)
{
	return __atomic_load_n(&system_clock, __ATOMIC_RELAXED);
}

static void *take(void *context, size_t size, size_t align)
{
	(void)context;
	return aligned_alloc(align, size);
}

static void give(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

static const edo_allocator allocator = { take, give, NULL };

static void start(struct edo_time_driver *time, uint64_t resolution, bool paused, uint32_t shards)
{
	assert_int_equal(edo_time_init(time, RIG_DRIVER, EDO_SYS_MONOTONIC, resolution, paused,
				       shards, &allocator),
			 0);
	rig_enter(time);
}

void rig_start(struct edo_time_driver *time, uint64_t resolution, bool paused)
{
	start(time, resolution, paused, 1);
}

void rig_start_sharded(struct edo_time_driver *time, uint64_t resolution, uint32_t shards)
{
	start(time, resolution, false, shards);
}

void rig_end(struct edo_time_driver *time)
{
	for (uint32_t i = 0; i < time->shard_count; i++)
		assert_int_equal(edo_wheel_check(&time->shards[i].wheel), 0);
	edo_time_shutdown(time);
	edo_time_destroy(time);
	rig_enter(NULL);
}

size_t rig_armed(const struct edo_time_driver *time)
{
	size_t armed = 0;

	for (uint32_t i = 0; i < time->shard_count; i++)
		armed += edo_wheel_count(&time->shards[i].wheel);
	return armed;
}

unsigned rig_turn_to(struct edo_time_driver *time, uint64_t instant)
{
	rig_set_clock(time->clock.start + instant);
	return edo_time_process_all(time);
}

/* ---- wakers; every call looks whether a lock is held (T2) ---- */

static edo_waker waker_clone(void *data);

static void waker_drop(void *data)
{
	struct rig_waker *waker = data;

	edo_lock_assert_none();
	__atomic_fetch_sub(&waker->references, 1, __ATOMIC_SEQ_CST);
}

static void waker_wake_by_ref(void *data)
{
	struct rig_waker *waker = data;

	edo_lock_assert_none();
	__atomic_fetch_add(&waker->wakes, 1, __ATOMIC_SEQ_CST);
	if (waker->when_woken)
		waker->when_woken(waker);
}

static void waker_wake(void *data)
{
	waker_wake_by_ref(data);
	waker_drop(data);
}

static const edo_waker_ops waker_ops = { waker_clone, waker_wake, waker_wake_by_ref, waker_drop };

static edo_waker waker_clone(void *data)
{
	struct rig_waker *waker = data;

	edo_lock_assert_none();
	__atomic_fetch_add(&waker->references, 1, __ATOMIC_SEQ_CST);
	return (edo_waker){ data, &waker_ops };
}

void rig_waker_init(struct rig_waker *waker)
{
	memset(waker, 0, sizeof *waker);
	waker->waker = (edo_waker){ waker, &waker_ops };
}

unsigned rig_wakes(const struct rig_waker *waker)
{
	return __atomic_load_n(&waker->wakes, __ATOMIC_SEQ_CST);
}

unsigned rig_clones(const struct rig_waker *waker)
{
	return __atomic_load_n(&waker->references, __ATOMIC_SEQ_CST);
}

edo_context rig_context(const struct rig_waker *waker)
{
	return (edo_context){ .waker = &waker->waker, .edo_budget_ = 128 };
}

edo_poll rig_poll(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
		  const struct rig_waker *waker)
{
	edo_context cx = rig_context(waker);

	return edo_entry_poll(time, entry, tick, &cx);
}

/* ---- numbers ---- */

uint64_t rig_seed(void)
{
	const char *text = getenv("EDO_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : UINT64_C(20260728);

	fprintf(stderr, "[   SEED   ] EDO_TEST_SEED=%llu replays\n", (unsigned long long)seed);
	return seed;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t rig_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
