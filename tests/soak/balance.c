#include "balance.h"
#include "driver/io/scheduled_io.h"
#include "support/resources.h"
#include "system.h"
#include <stdio.h>
#include <unistd.h>

/* ---- a runtime that has nothing to do ---- */

static void check_tasks(struct soak_world *world)
{
	struct edo_current_thread *scheduler = &world->runtime->scheduler;
	size_t count = edo_owned_count(&scheduler->scheduler.owned);

	soak_expect(count == 1, "all actors have ended, but %zu tasks live beside the conductor",
		    count - 1);
}

static void check_timers(struct soak_world *world)
{
	struct edo_time_driver *time = &world->runtime->driver.time;

	for (uint32_t i = 0; i < time->shard_count; i++) {
		struct edo_time_shard *shard = &time->shards[i];
		size_t count;
		int rc;

		edo_lock_acquire(&shard->lock, EDO_RANK_SHARD);
		count = edo_wheel_count(&shard->wheel);
		rc = edo_wheel_check(&shard->wheel);
		edo_lock_release(&shard->lock, EDO_RANK_SHARD);
		soak_expect(count == 0, "%zu timers are left armed", count);
		soak_expect(rc == 0, "the wheel is unsound: check.c:%d", -rc);
	}
}

static void check_slot(struct edo_scheduled_io *sio)
{
	uint32_t generation = __atomic_load_n(&sio->generation, __ATOMIC_RELAXED);

	soak_expect(generation % 2 == 0, "descriptor %d is left registered", sio->fd);
	for (int direction = 0; direction < 2; direction++) {
		soak_expect(!__atomic_load_n(&sio->claimed[direction], __ATOMIC_RELAXED),
			    "a direction of a free slot is claimed");
		soak_expect(!edo_waker_is_set(&sio->waiting[direction]),
			    "a free slot has kept a waker");
	}
}

static void check_descriptor_table(struct edo_io_driver *io)
{
	for (unsigned chunk = 0; chunk < EDO_SLAB_CHUNKS; chunk++) {
		uint32_t *entries =
			__atomic_load_n(&io->descriptors.chunks[chunk], __ATOMIC_ACQUIRE);

		for (size_t i = 0; entries && i < edo_chunk_length(chunk); i++)
			soak_expect(__atomic_load_n(&entries[i], __ATOMIC_RELAXED) == 0,
				    "a closed descriptor is left in the table");
	}
}

static void check_registrations(struct soak_world *world)
{
	struct edo_io_driver *io = &world->runtime->driver.io;
	uint32_t live = __atomic_load_n(&io->slab.live, __ATOMIC_RELAXED);
	uint32_t used = __atomic_load_n(&io->slab.used, __ATOMIC_RELAXED);

	soak_expect(live == 0, "%u descriptors are left registered", live);
	for (uint32_t i = 0; i < used; i++)
		check_slot(edo_slab_slot(&io->slab, i));
	check_descriptor_table(io);
}

static void check_places(const struct soak_world *world)
{
	for (int i = 0; i < SOAK_STREAMS; i++) {
		soak_expect(!world->streams[i].is_taken, "a stream was left by its actor");
		soak_expect(world->connections[i].ends == 0, "a connection has %u ends left",
			    world->connections[i].ends);
	}
	for (int i = 0; i < SOAK_LISTENERS; i++)
		soak_expect(!world->listeners[i].is_taken, "a listener was left by its actor");
	for (int i = 0; i < SOAK_GATES; i++)
		soak_expect(!edo_waker_is_set(&world->gates[i].waiting.edo_waker_),
			    "a gate has kept the waker of one who has left");
}

static void check_counts(const struct soak_world *world)
{
	for (int kind = 0; kind < SOAK_ACTOR_KINDS; kind++) {
		int alive = __atomic_load_n(&world->alive[kind], __ATOMIC_ACQUIRE);

		soak_expect(alive == 0, "%d actors of kind %d are left", alive, kind);
	}
}

void soak_balance_check_world(struct soak_world *world)
{
	check_counts(world);
	check_tasks(world);
	if (soak_has_time(world))
		check_timers(world);
	if (soak_has_io(world))
		check_registrations(world);
	check_places(world);
	soak_count(SOAK_checkpoints);
}

/* ---- a runtime that is gone ---- */

void soak_balance_check_ended(struct soak_world *world)
{
	check_counts(world);
	check_places(world);
}

void soak_balance_check_memory(struct soak_world *world)
{
	long long blocks = soak_allocator_blocks(&world->allocator);
	long long bytes = soak_allocator_bytes(&world->allocator);

	soak_expect(blocks == 0 && bytes == 0,
		    "the allocator has not got back %lld blocks of %lld bytes", blocks, bytes);
}

/* ---- the process ---- */

static struct edo_test_resources before;

void soak_balance_remember_process(void)
{
	edo_test_resources_take(&before);
}

void soak_balance_check_process(void)
{
	soak_expect(edo_test_resources_compare(&before) == 0,
		    "descriptors or threads are not those of before");
	soak_expect(soak_stacks_mapped() == 0, "%lld stacks are left mapped",
		    (long long)soak_stacks_mapped());
}

uint64_t soak_balance_resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long size = 0;
	unsigned long long resident = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu", &size, &resident) != 2) /* NOLINT(cert-err34-c) */
		resident = 0;
	(void)fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}
