/*
 * Plain threads that know of a world's runtime: they spawn into it, join, abort and wake from outside, wait for
 * its tasks, and at times drive it.
 */
#include "world.h"
#include <stdlib.h>

enum { HELD = 6 };

struct outsider {
	struct soak_world *world;
	struct soak_mix mix;
	struct soak_handle held[HELD];
};

/* ---- the shelf ---- */

static edo_waker exchange(struct soak_world *world, struct soak_mix *mix, edo_waker waker)
{
	edo_waker *place = &world->shelf[soak_below(mix, SOAK_SHELF)];
	edo_waker before;

	pthread_mutex_lock(&world->shelf_lock);
	before = *place;
	*place = waker;
	pthread_mutex_unlock(&world->shelf_lock);
	return before;
}

void soak_shelve(struct soak_world *world, struct soak_mix *mix, edo_waker waker)
{
	edo_waker before = exchange(world, mix, waker);

	edo_waker_drop(&before);
}

edo_waker soak_unshelve(struct soak_world *world, struct soak_mix *mix)
{
	return exchange(world, mix, (edo_waker){ 0 });
}

/* ---- what an outsider does ---- */

static void use_a_waker(struct outsider *me)
{
	edo_waker waker = soak_unshelve(me->world, &me->mix);
	edo_waker second;

	soak_count(SOAK_outside_wakes);
	switch (soak_below(&me->mix, 4)) {
	case 0:
		edo_waker_wake(&waker);
		break;
	case 1:
		edo_waker_drop(&waker);
		break;
	case 2:
		second = edo_waker_clone(&waker);
		edo_waker_wake(&second);
		soak_shelve(me->world, &me->mix, waker);
		break;
	default:
		edo_waker_wake_by_ref(&waker);
		edo_waker_drop(&waker);
	}
}

static void open_some_gate(struct outsider *me)
{
	soak_gate_open(&me->world->gates[soak_below(&me->mix, SOAK_GATES)]);
}

/* Opened by the world's tasks, or by other outsiders, or at the latest when it drains. */
static void await_a_gate(struct outsider *me)
{
	struct soak_gate *gate = &me->world->gates[soak_below(&me->mix, SOAK_GATES)];
	struct soak_gate_future wait;
	int rc;

	if (!soak_gate_claim(gate))
		return;
	if (!soak_is_draining(me->world)) {
		rc = edo_await(soak_gate_start(&wait, gate));
		soak_expect(rc == 0 || rc == -ENOMEM, "a gate outside said %s", edo_strerror(rc));
		soak_count(SOAK_outside_awaits);
	}
	soak_gate_leave(gate);
}

static void spawn_one(struct outsider *me)
{
	struct soak_handle *place = &me->held[soak_below(&me->mix, HELD)];

	if (soak_alive(me->world) >= SOAK_CROWDED)
		return;
	if (place->task)
		soak_detach(place);
	if (soak_spawn(me->world, &me->mix, 0, place) == 0)
		soak_count(SOAK_outside_spawns);
}

static void part_with_one(struct outsider *me)
{
	struct soak_handle *place = &me->held[soak_below(&me->mix, HELD)];

	if (!place->task)
		return;
	switch (soak_below(&me->mix, 4)) {
	case 0:
		soak_detach(place);
		return;
	case 1:
		soak_abort(place);
		return;
	case 2:
		(void)soak_try_join(me->world, place, 1 + soak_below(&me->mix, 3));
		return;
	default:
		if (soak_join(me->world, place) == 0)
			soak_count(SOAK_outside_joins);
	}
}

/* ---- driving ---- */

static int rest_inside(void *arg)
{
	struct outsider *me = arg;
	int rc = 0;

	for (uint32_t left = soak_below(&me->mix, 5); left > 0 && rc == 0; left--)
		rc = soak_rest(me->world, &me->mix);
	return rc;
}

static void block_on_a_rest(struct outsider *me)
{
	int result = 0;
	int rc = edo_block_on(me->world->runtime, rest_inside, me, &result);

	soak_expect(rc == 0 || rc == -ENOMEM, "a block_on outside said %s", edo_strerror(rc));
	soak_expect(result == 0, "a rest inside said %s", edo_strerror(result));
	soak_count(SOAK_outside_drives);
}

static void enter_and_rest(struct outsider *me)
{
	edo_enter_guard guard;
	int rc = edo_runtime_enter(me->world->runtime, &guard);

	soak_expect(rc == 0, "an enter said %s", edo_strerror(rc));
	rc = soak_rest(me->world, &me->mix);
	soak_expect(rc == 0 || rc == -ENOMEM, "a rest outside said %s", edo_strerror(rc));
	edo_runtime_leave(&guard);
	soak_count(SOAK_outside_drives);
}

/* ---- the thread ---- */

static void do_something(struct outsider *me)
{
	static const unsigned weights[] = { 6, 6, 3, 8, 8, 3, 3 };
	static void (*const deeds[])(
		struct outsider *) = { use_a_waker,   open_some_gate,  await_a_gate,  spawn_one,
				       part_with_one, block_on_a_rest, enter_and_rest };

	deeds[soak_weighted(&me->mix, weights, sizeof weights / sizeof weights[0])](me);
}

static void *live_outside(void *arg)
{
	struct outsider *me = arg;
	struct soak_world *world = me->world;

	while (!soak_is_draining(world))
		do_something(me);
	for (int i = 0; i < HELD; i++)
		if (me->held[i].task)
			soak_detach(&me->held[i]);
	free(me);
	__atomic_fetch_sub(&world->outside, 1, __ATOMIC_SEQ_CST);
	soak_gate_open(&world->changed);
	return NULL;
}

void soak_outside_start(struct soak_world *world)
{
	world->outsider_count = 0;
	while (world->outsider_count < SOAK_OUTSIDERS) {
		struct outsider *me = calloc(1, sizeof *me);

		if (!me)
			abort();
		me->world = world;
		me->mix = soak_mix_branch(&world->mix);
		__atomic_fetch_add(&world->outside, 1, __ATOMIC_RELAXED);
		soak_expect(pthread_create(&world->outsiders[world->outsider_count++], NULL,
					   live_outside, me) == 0,
			    "no thread");
	}
}

void soak_outside_join(struct soak_world *world)
{
	for (unsigned i = 0; i < world->outsider_count; i++)
		(void)pthread_join(world->outsiders[i], NULL);
	world->outsider_count = 0;
}
