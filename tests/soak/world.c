/* The life of a world: made, some rounds of making actors and draining, destroyed. */
#include "balance.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 3 };

/* ---- the conductor ---- */

static bool is_told_to_stop(struct soak_world *world, uint64_t deed)
{
	return world->deeds ? deed >= world->deeds : __atomic_load_n(world->stop, __ATOMIC_RELAXED);
}

static void make_one(struct soak_world *world, struct soak_handle *place)
{
	if (soak_alive(world) >= SOAK_CROWDED)
		return;
	if (place->task)
		soak_detach(place);
	(void)soak_spawn(world, &world->mix, 0, soak_one_in(&world->mix, 4) ? NULL : place);
}

static void part_with_one(struct soak_world *world, struct soak_handle *place)
{
	if (!place->task)
		return;
	if (edo_task_is_finished(place->task))
		(void)soak_join(world, place);
	else if (soak_one_in(&world->mix, 2))
		soak_abort(place);
	else
		(void)soak_try_join(world, place, 1 + soak_below(&world->mix, 4));
}

static void do_one_deed(struct soak_world *world)
{
	struct soak_handle *place = &world->handles[soak_below(&world->mix, SOAK_HANDLES)];
	edo_waker waker;

	switch (soak_below(&world->mix, 12)) {
	case 0:
		soak_gate_open(&world->gates[soak_below(&world->mix, SOAK_GATES)]);
		return;
	case 1:
		waker = soak_unshelve(world, &world->mix);
		edo_waker_wake(&waker);
		return;
	case 2:
	case 3:
		part_with_one(world, place);
		return;
	case 4:
	case 5:
	case 6:
		soak_expect_wait(world, soak_rest(world, &world->mix), "a conductor's rest");
		return;
	default:
		make_one(world, place);
	}
}

/* ---- draining ---- */

static void open_all(struct soak_world *world)
{
	for (int i = 0; i < SOAK_GATES; i++)
		soak_gate_open(&world->gates[i]);
	for (int i = 0; i < SOAK_LISTENERS; i++) {
		struct soak_listener *place = &world->listeners[i];

		if (place->is_open)
			(void)edo_tcp_listener_close(&place->listener);
		place->is_open = false;
	}
}

static void abort_all(struct soak_world *world)
{
	for (int i = 0; i < SOAK_HANDLES; i++)
		if (world->handles[i].task)
			soak_abort(&world->handles[i]);
}

static bool is_quiet(const struct soak_world *world)
{
	if (__atomic_load_n(&world->outside, __ATOMIC_SEQ_CST) > 0)
		return false;
	return world->is_left || soak_alive(world) == 0;
}

/* Each actor that ends opens the gate: shut it, look, wait. */
static void await_quiet(struct soak_world *world)
{
	struct soak_gate_future wait;

	for (;;) {
		bool claimed = soak_gate_claim(&world->changed);
		int rc;

		soak_expect(claimed, "two conductors");
		if (is_quiet(world)) {
			soak_gate_leave(&world->changed);
			return;
		}
		rc = edo_await(soak_gate_start(&wait, &world->changed));
		soak_gate_leave(&world->changed);
		soak_expect(rc == 0, "the conductor's wait said %s", edo_strerror(rc));
	}
}

/* All have ended, so each can be joined at once. Some handles are kept beyond the runtime's end. */
static void join_all(struct soak_world *world)
{
	for (int i = 0; i < SOAK_HANDLES; i++) {
		struct soak_handle *handle = &world->handles[i];

		if (!handle->task || (world->is_last && soak_one_in(&world->mix, 8)))
			continue;
		soak_expect(edo_task_is_finished(handle->task),
			    "nobody is alive, but a task has not ended");
		soak_expect(soak_join(world, handle) == 0, "an ended task cannot be joined");
	}
}

static int conduct(void *arg)
{
	struct soak_world *world = arg;

	for (uint64_t deed = 0; !is_told_to_stop(world, deed); deed++)
		do_one_deed(world);
	world->is_left = world->is_last && soak_one_in(&world->mix, 3);
	__atomic_store_n(&world->is_draining, true, __ATOMIC_SEQ_CST);
	if (!world->is_left && soak_one_in(&world->mix, 2))
		abort_all(world);
	open_all(world);
	await_quiet(world);
	if (!world->is_left) {
		soak_balance_check_world(world);
		join_all(world);
	}
	return 0;
}

/* ---- the runtime ---- */

static void choose_config(struct soak_world *world)
{
	struct soak_mix *mix = &world->mix;
	edo_config config = EDO_CONFIG_INIT;

	config.clock =
		world->kind == SOAK_WORLD_BOOTTIME ? EDO_CLOCK_BOOTTIME : EDO_CLOCK_MONOTONIC;
	config.start_paused = world->kind == SOAK_WORLD_PAUSED;
	config.disable_io = world->kind == SOAK_WORLD_NO_IO || world->kind == SOAK_WORLD_BARE;
	config.disable_time = world->kind == SOAK_WORLD_NO_TIME || world->kind == SOAK_WORLD_BARE;
	config.timer_resolution = EDO_US(1) + soak_length(mix, EDO_MS(3));
	config.seed = edo_random_next(&mix->random);
	config.event_interval = 1 + (uint32_t)soak_length(mix, 100);
	config.global_queue_interval = 1 + (uint32_t)soak_length(mix, 100);
	config.events_per_turn = 1 + (uint32_t)soak_length(mix, 1000);
	config.stack_size = (size_t)128 << 10;
	config.stack_cache = 1 + (uint32_t)soak_length(mix, 100);
	config.shutdown_timeout = EDO_HOUR(10000); /* the clock steps by hours */
	config.allocator = &world->allocator.face;
	world->config = config;
}

/* How long somebody rests who was refused; nothing is right or wrong by it. */
static void rest_outside(void)
{
	const struct timespec moment = { .tv_nsec = 200000 };

	(void)nanosleep(&moment, NULL);
}

static void create(struct soak_world *world)
{
	int rc;

	if (soak_one_in(&world->mix, 2))
		soak_allocator_refuse(&world->allocator, 1 + soak_below(&world->mix, 8));
	for (;;) {
		rc = edo_runtime_create(&world->runtime, &world->config);
		if (rc == 0)
			break;
		soak_expect(rc == -ENOMEM || rc == -EMFILE || rc == -ENOSPC,
			    "a runtime's creation said %s", edo_strerror(rc));
		soak_expect(soak_allocator_blocks(&world->allocator) == 0,
			    "a runtime that was refused has left %lld blocks",
			    (long long)soak_allocator_blocks(&world->allocator));
		soak_count(SOAK_runtimes_refused);
		soak_allocator_refuse(&world->allocator, 0);
		rest_outside();
	}
	soak_allocator_refuse(&world->allocator, 0);
	soak_count(SOAK_runtimes);
}

static void live_a_round(struct soak_world *world)
{
	int result = 0;
	int rc;

	__atomic_store_n(&world->is_draining, false, __ATOMIC_SEQ_CST);
	soak_outside_start(world);
	while ((rc = edo_block_on(world->runtime, conduct, world, &result)) == -ENOMEM)
		rest_outside();
	soak_expect(rc == 0 && result == 0, "a block_on said %s", edo_strerror(rc ? rc : result));
	soak_outside_join(world);
}

/* ---- the end ---- */

/* Distinct tasks that the remaining handles and wakers keep. */
static int count_kept(struct soak_world *world)
{
	const void *kept[SOAK_HANDLES + SOAK_SHELF];
	int count = 0;

	for (int i = 0; i < SOAK_HANDLES; i++)
		if (world->handles[i].task)
			kept[count++] = world->handles[i].task;
	soak_count_many(SOAK_handles_outliving, (uint64_t)count);
	for (int i = 0; i < SOAK_SHELF; i++) {
		const void *task = world->shelf[i].data;
		bool is_known = !task;

		soak_count_many(SOAK_wakers_outliving, task != NULL);
		for (int k = 0; k < count && !is_known; k++)
			is_known = kept[k] == task;
		if (!is_known)
			kept[count++] = task;
	}
	return count;
}

/* After the runtime's end: handles and wakers still work, and the last of them frees what is left. */
static void use_what_was_kept(struct soak_world *world)
{
	for (int i = 0; i < SOAK_HANDLES; i++) {
		struct soak_handle *handle = &world->handles[i];

		if (!handle->task)
			continue;
		soak_expect(edo_task_is_finished(handle->task),
			    "the runtime is gone, but a task has not ended");
		if (soak_one_in(&world->mix, 3))
			soak_detach(handle);
		else
			soak_expect(soak_join(world, handle) == 0, "a late join failed");
	}
	for (int i = 0; i < SOAK_SHELF; i++) {
		if (soak_one_in(&world->mix, 2))
			edo_waker_wake(&world->shelf[i]);
		edo_waker_drop(&world->shelf[i]);
	}
}

static void end(struct soak_world *world)
{
	int kept = count_kept(world);
	int rc;

	__atomic_store_n(&world->is_ending, true, __ATOMIC_RELEASE);
	rc = edo_runtime_destroy(world->runtime);
	soak_expect(rc >= 0, "a runtime's end said %s", edo_strerror(rc));
	soak_count_many(SOAK_destroyed_in_flight, world->is_left);
	/* What was alive kept wakers by itself until just now, and has put some of them on the shelf. */
	if (!world->is_left)
		soak_expect(rc == kept, "%d tasks were kept, but the runtime's end said %d", kept,
			    rc);
	soak_balance_check_ended(world);
	use_what_was_kept(world);
	soak_balance_check_memory(world);
}

static void *live(void *arg)
{
	struct soak_world *world = arg;
	sigset_t signals;
	int rounds = 1 + (int)soak_below(&world->mix, ROUNDS);

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	(void)pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	create(world);
	for (int round = 1; !world->is_last; round++) {
		world->is_last =
			round >= rounds || (world->deeds == 0 && is_told_to_stop(world, 0));
		live_a_round(world);
	}
	end(world);
	__atomic_store_n(&world->has_ended, true, __ATOMIC_RELEASE);
	return NULL;
}

void soak_world_start(struct soak_world *world, enum soak_world_kind kind, struct soak_mix mix,
		      uint64_t deeds, const bool *stop)
{
	memset(world, 0, sizeof *world);
	world->kind = kind;
	world->mix = mix;
	world->deeds = deeds;
	world->stop = stop;
	soak_allocator_init(&world->allocator, edo_random_next(&world->mix.random));
	choose_config(world);
	pthread_mutex_init(&world->shelf_lock, NULL);
	soak_expect(pthread_create(&world->thread, NULL, live, world) == 0, "no thread");
}

void soak_world_join(struct soak_world *world)
{
	(void)pthread_join(world->thread, NULL);
	pthread_mutex_destroy(&world->shelf_lock);
}

void soak_world_dump(const struct soak_world *world)
{
	fprintf(stderr, "soak: a world of kind %d: %d actors, %d outsiders%s%s\n", (int)world->kind,
		soak_alive(world), __atomic_load_n(&world->outside, __ATOMIC_RELAXED),
		soak_is_draining(world) ? ", draining" : "",
		soak_is_ending(world) ? ", ending" : "");
	for (int kind = 0; kind < SOAK_ACTOR_KINDS; kind++) {
		int alive = __atomic_load_n(&world->alive[kind], __ATOMIC_RELAXED);

		if (alive)
			fprintf(stderr, "soak:   of kind %d: %d\n", kind, alive);
	}
}
