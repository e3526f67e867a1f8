/*
 * The time driver's beginning and end.
 *
 * At its end every entry gets SHUTDOWN, stored like FIRED as the last access (T4), by emptying the
 * wheels where they stand and not by turning them to the end of time (p34); the wakers, again in batches,
 * with no lock held.
 */
#include "base/thread.h"
#include "shard.h"
#include <errno.h>

static void init_clock(struct edo_clock *clock, enum edo_sys_clock source, bool start_paused)
{
	clock->source = source;
	clock->start = edo_sys_clock_now(source);
	clock->paused_at = start_paused ? 0 : UINT64_MAX;
	clock->shown = 0;
}

static void init_shard(struct edo_time_shard *shard)
{
	shard->lock.word = 0;
	shard->closed = false;
	edo_wheel_init(&shard->wheel, 0);
}

int edo_time_init(struct edo_time_driver *time, uint32_t driver_id, enum edo_sys_clock source,
		  uint64_t resolution, bool start_paused, uint32_t shards,
		  const edo_allocator *allocator)
{
	if (resolution == 0 || shards == 0 || shards > EDO_TIME_SHARDS_MAX)
		return -EINVAL;
	time->shards = allocator->allocate(allocator->context, shards * sizeof *time->shards,
					   EDO_ALIGNOF(struct edo_time_shard));
	if (!time->shards)
		return -ENOMEM;
	time->resolution = resolution;
	time->reciprocal = UINT64_MAX / resolution;
	time->driver_id = driver_id;
	time->shard_count = shards;
	time->allocator = allocator;
	time->next_wake = EDO_WAKE_IDLE;
	init_clock(&time->clock, source, start_paused);
	for (uint32_t i = 0; i < shards; i++)
		init_shard(&time->shards[i]);
	return 0;
}

void edo_time_destroy(struct edo_time_driver *time)
{
	time->allocator->release(time->allocator->context, time->shards,
				 time->shard_count * sizeof *time->shards);
	time->shards = NULL;
}

/* Under the lock; the wheel has just given the node up. */
static void end_entry(edo_wheel_timer *node, struct edo_wake_batch *batch)
{
	batch->wakers[batch->count++] = edo_entry_of(node)->edo_waker_;
	/* Release, last: as for FIRED. A lock-free reset either came before or finds this. */
	edo_store(&node->when, EDO_TICK_SHUTDOWN, release);
}

/* One hold of the lock. Returns whether there may be more to do. */
static bool drain_some(struct edo_time_shard *shard, struct edo_wake_batch *batch)
{
	edo_wheel_timer *node = NULL;

	edo_shard_lock(shard);
	shard->closed = true;
	while (!edo_wake_batch_is_full(batch) && (node = edo_wheel_drain(&shard->wheel)) != NULL)
		end_entry(node, batch);
	edo_shard_unlock(shard);
	return node != NULL;
}

static void drain_shard(struct edo_time_shard *shard)
{
	struct edo_wake_batch batch;
	bool is_more;

	batch.count = 0;
	do {
		is_more = drain_some(shard, &batch);
		(void)edo_wake_batch_wake(&batch);
	} while (is_more);
}

/*
 * The driver has left the table of numbers by now, so a timer that a waker drops while it is still in
 * a wheel would find no driver and wait for the shutdown, which is this thread's own.
 */
static EDO_THREAD_LOCAL struct edo_time_driver *shutting_down;

struct edo_time_driver *edo_time_shutting_down(uint32_t driver_id)
{
	return shutting_down && shutting_down->driver_id == driver_id ? shutting_down : NULL;
}

void edo_time_shutdown(struct edo_time_driver *time)
{
	struct edo_time_driver *before = shutting_down;

	shutting_down = time;
	for (uint32_t i = 0; i < time->shard_count; i++)
		drain_shard(&time->shards[i]);
	shutting_down = before;
}
