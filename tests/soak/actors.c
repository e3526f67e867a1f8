/* Actors of every kind: how they are made, counted, joined. What they do is in actors_*.c. */
#include "fiber/fiber.h"
#include "world.h"

static soak_act *const acts[SOAK_STACKLESS] = {
	[SOAK_YIELDER] = soak_yielder,
	[SOAK_WAITER] = soak_waiter,
	[SOAK_KEEPER] = soak_keeper,
	[SOAK_FAMILY] = soak_family,
	[SOAK_NAPPER] = soak_napper,
	[SOAK_JUGGLER] = soak_juggler,
	[SOAK_METRONOME] = soak_metronome,
	[SOAK_LIMITER] = soak_limiter,
	[SOAK_TURNER] = soak_turner,
	[SOAK_SERVER] = soak_server,
	[SOAK_CLIENT] = soak_client,
	[SOAK_VISITOR] = soak_visitor,
	[SOAK_CROWD] = soak_crowd,
	[SOAK_CLOSER] = soak_closer,
	[SOAK_PIPER] = soak_piper,
	[SOAK_SPLITTER] = soak_splitter,
	[SOAK_SESSION] = soak_session,
	[SOAK_PIPE_END] = soak_pipe_end,
	[SOAK_WRITER_HALF] = soak_writer_half,
};

/* How often each kind is drawn; 0: others make it. */
static const unsigned weights[SOAK_ACTOR_KINDS] = {
	[SOAK_YIELDER] = 4, [SOAK_WAITER] = 4,  [SOAK_KEEPER] = 3,    [SOAK_FAMILY] = 4,
	[SOAK_NAPPER] = 4,  [SOAK_JUGGLER] = 5, [SOAK_METRONOME] = 2, [SOAK_LIMITER] = 4,
	[SOAK_TURNER] = 1,  [SOAK_SERVER] = 3,  [SOAK_CLIENT] = 14,   [SOAK_VISITOR] = 3,
	[SOAK_CROWD] = 1,   [SOAK_CLOSER] = 1,  [SOAK_PIPER] = 4,     [SOAK_SPLITTER] = 4,
	[SOAK_DREAMER] = 6,
};

/* ---- counting ---- */

static void began(struct soak_world *world, enum soak_actor_kind kind)
{
	__atomic_fetch_add(&world->alive[kind], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&world->alive_in_all, 1, __ATOMIC_RELAXED);
}

/* Sequentially consistent: who sees nobody drain after this was seen to be gone by whoever drains. */
static void ended(struct soak_world *world, enum soak_actor_kind kind)
{
	int left = __atomic_sub_fetch(&world->alive[kind], 1, __ATOMIC_RELEASE);

	soak_expect(left >= 0, "an actor of kind %d has ended twice", (int)kind);
	__atomic_fetch_sub(&world->alive_in_all, 1, __ATOMIC_SEQ_CST);
}

void soak_actor_ended(struct soak_world *world, enum soak_actor_kind kind)
{
	ended(world, kind);
	if (soak_is_draining(world))
		soak_gate_open(&world->changed);
}

/* ---- spawning ---- */

static int result_of(enum soak_actor_kind kind)
{
	return 1000 + (int)kind;
}

static int run_fiber(void *arg)
{
	struct soak_actor *self = arg;
	struct soak_world *world = self->world;
	enum soak_actor_kind kind = self->kind;
	int rc = acts[kind](self);

	soak_expect(rc == 0 || rc == -ECANCELED, "an actor of kind %d ended with %s", (int)kind,
		    edo_strerror(rc));
	soak_actor_ended(world, kind);
	return rc == 0 ? result_of(kind) : rc;
}

static int spawn(const struct soak_actor *actor, edo_task **task)
{
	if (actor->kind == SOAK_DREAMER)
		return soak_dreamer_spawn(actor, task);
	if (actor->kind == SOAK_MIRROR)
		return soak_mirror_spawn(actor, task);
	return edo_spawn_fiber(actor->world->runtime, run_fiber, actor, sizeof *actor, task);
}

int soak_spawn_kind(struct soak_world *world, struct soak_mix *mix, enum soak_actor_kind kind,
		    unsigned depth, void *own, struct soak_handle *handle)
{
	struct soak_actor actor = { world, soak_mix_branch(mix), kind, depth, own };
	edo_task *task = NULL;
	int rc;

	began(world, kind);
	rc = spawn(&actor, handle ? &task : NULL);
	if (rc < 0) {
		soak_expect(rc == -ENOMEM || (rc == -ESHUTDOWN && soak_is_ending(world)),
			    "a spawn said %s", edo_strerror(rc));
		soak_count(SOAK_spawns_refused);
		soak_actor_ended(world, kind);
		return rc;
	}
	soak_count(kind < SOAK_STACKLESS ? SOAK_fibers : SOAK_stackless);
	if (handle)
		*handle = (struct soak_handle){ task, result_of(kind), false };
	return 0;
}

static bool can_have(const struct soak_world *world, enum soak_actor_kind kind)
{
	if (kind == SOAK_TURNER)
		return world->kind == SOAK_WORLD_PAUSED;
	return kind < SOAK_SERVER || kind >= SOAK_STACKLESS || soak_has_io(world);
}

int soak_spawn(struct soak_world *world, struct soak_mix *mix, unsigned depth,
	       struct soak_handle *handle)
{
	enum soak_actor_kind kind;

	do
		kind = (enum soak_actor_kind)soak_weighted(mix, weights, SOAK_ACTOR_KINDS);
	while (!can_have(world, kind));
	return soak_spawn_kind(world, mix, kind, depth, NULL, handle);
}

/* ---- handles ---- */

void soak_abort(struct soak_handle *handle)
{
	handle->was_aborted = true;
	edo_task_abort(handle->task);
	soak_count(SOAK_aborts);
}

void soak_detach(struct soak_handle *handle)
{
	edo_task_detach(handle->task);
	handle->task = NULL;
	soak_count(SOAK_detaches);
}

static void check_result(const struct soak_world *world, const struct soak_handle *handle,
			 int result)
{
	bool may_be_canceled = handle->was_aborted || soak_is_ending(world);

	soak_expect(result == handle->result || (result == -ECANCELED && may_be_canceled),
		    "a task that should end with %d ended with %d%s", handle->result, result,
		    handle->was_aborted ? " after an abort" : "");
}

int soak_join(struct soak_world *world, struct soak_handle *handle)
{
	int result = 0;
	int rc = edo_task_join(handle->task, &result);

	if (rc < 0) {
		soak_expect(rc == -ECANCELED || rc == -ENOMEM, "a join said %s", edo_strerror(rc));
		soak_count(SOAK_joins_canceled);
		return rc;
	}
	handle->task = NULL;
	check_result(world, handle, result);
	soak_count(SOAK_joins);
	return 0;
}

int soak_try_join(struct soak_world *world, struct soak_handle *handle, unsigned polls)
{
	edo_task_wait_future wait;
	struct soak_give_up give_up;
	int rc = edo_await(
		soak_give_up_start(&give_up, polls, edo_task_wait_start(&wait, handle->task)));

	return rc == 0 ? soak_join(world, handle) : rc;
}

/* ---- what actors of every kind check ---- */

void soak_expect_wait(const struct soak_world *world, int rc, const char *what)
{
	bool is_well = rc == 0 || rc == -ECANCELED || rc == SOAK_GAVE_UP ||
		       (rc == -EOPNOTSUPP && !soak_has_time(world));

	soak_expect(is_well, "%s said %s", what, edo_strerror(rc));
}

/* What the runtime's clock has shown at most, by the system's; it has no other start while it runs. */
static edo_instant latest_instant(const struct soak_world *world)
{
	if (world->kind == SOAK_WORLD_PAUSED || !soak_has_time(world))
		return EDO_FOREVER;
	return soak_clock_latest() -
	       __atomic_load_n(&world->runtime->driver.time.clock.start, __ATOMIC_RELAXED);
}

void soak_expect_come(const struct soak_world *world, edo_instant deadline, const char *what)
{
	edo_instant latest = latest_instant(world);
	edo_instant now = edo_now();

	soak_expect(latest >= deadline,
		    "in a world of kind %d %s was early by %llu ns of the system's clock",
		    (int)world->kind, what, (unsigned long long)(deadline - latest));
	soak_expect(now >= deadline || soak_clock_may_run_back(),
		    "in a world of kind %d %s was early by %llu ns", (int)world->kind, what,
		    (unsigned long long)(deadline - now));
}

static int sleep_some(struct soak_world *world, edo_duration length)
{
	edo_instant begun = edo_now();
	int rc = edo_sleep(length);

	if (rc == 0)
		soak_expect_passed(world, begun, length, "a sleep");
	return rc;
}

static int sleep_until(struct soak_world *world, edo_duration length)
{
	edo_instant deadline = edo_instant_add(edo_now(), length);
	int rc = edo_sleep_until(deadline);

	if (rc == 0)
		soak_expect_come(world, deadline, "a sleep until");
	return rc;
}

int soak_rest(struct soak_world *world, struct soak_mix *mix)
{
	edo_duration length = soak_length(mix, EDO_MS(2));
	int rc;

	if (!soak_has_time(world) || soak_one_in(mix, 4))
		return edo_yield();
	rc = soak_one_in(mix, 2) ? sleep_some(world, length) : sleep_until(world, length);
	if (rc != -ENOMEM || edo_fiber_context()) /* a plain thread's wait allocates */
		soak_expect_wait(world, rc, "a sleep");
	soak_count(SOAK_sleeps);
	return rc;
}
