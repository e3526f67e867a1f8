/* Actors that are about tasks alone: yields, gates, wakers in other hands, families; and the stackless one. */
#include "world.h"

int soak_yielder(struct soak_actor *self)
{
	for (uint32_t left = soak_below(&self->mix, 40); left > 0; left--) {
		int rc = edo_yield();

		soak_expect_wait(self->world, rc, "a yield");
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- gates ---- */

static struct soak_gate *some_gate(struct soak_world *world, struct soak_mix *mix)
{
	return &world->gates[soak_below(mix, SOAK_GATES)];
}

/* While it drains all gates are open, also to those who come late. */
static int pass(struct soak_actor *self, struct soak_gate *gate)
{
	struct soak_gate_future wait;
	struct soak_give_up give_up;
	edo_future *future = soak_gate_start(&wait, gate);

	if (soak_is_draining(self->world))
		return 0;
	if (soak_one_in(&self->mix, 3))
		future = soak_give_up_start(&give_up, 1 + soak_below(&self->mix, 5), future);
	return edo_await(future);
}

int soak_waiter(struct soak_actor *self)
{
	int rc = 0;

	for (uint32_t left = 1 + soak_below(&self->mix, 4); left > 0 && rc != -ECANCELED; left--) {
		struct soak_gate *gate = some_gate(self->world, &self->mix);

		soak_gate_open(some_gate(self->world, &self->mix));
		if (!soak_gate_claim(gate))
			continue;
		rc = pass(self, gate);
		soak_gate_leave(gate);
		soak_expect_wait(self->world, rc, "a gate");
		if (rc == 0)
			soak_count(SOAK_gates_passed);
	}
	return rc == -ECANCELED ? rc : 0;
}

/* ---- wakers ---- */

/* Ready after some polls, each of which leaves a waker for others to use. */
struct shelving {
	edo_future future;
	struct soak_actor *self;
	uint32_t polls;
};

static edo_poll poll_shelving(edo_future *future, edo_context *cx)
{
	struct shelving *wait = edo_container_of(future, struct shelving, future);

	soak_shelve(wait->self->world, &wait->self->mix, edo_waker_clone(cx->waker));
	if (wait->polls-- == 0 || soak_is_draining(wait->self->world))
		return EDO_READY;
	return EDO_PENDING;
}

static void drop_shelving(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(shelving_ops, struct shelving, future, poll_shelving, drop_shelving);

/* Nobody may ever use the waker: it does not wait for that. */
int soak_keeper(struct soak_actor *self)
{
	struct shelving shelving = { { &shelving_ops }, self, soak_below(&self->mix, 6) };
	struct soak_give_up give_up;
	int rc = edo_await(
		soak_give_up_start(&give_up, 1 + soak_below(&self->mix, 8), &shelving.future));

	soak_expect_wait(self->world, rc, "a waker's wait");
	return rc == -ECANCELED ? rc : 0;
}

/* ---- families ---- */

enum { MOST_CHILDREN = 4, DEEPEST = 3 };

static int part_with(struct soak_actor *self, struct soak_handle *child)
{
	switch (soak_below(&self->mix, 4)) {
	case 0:
		soak_detach(child);
		return 0;
	case 1:
		soak_abort(child);
		return soak_join(self->world, child);
	case 2:
		return soak_try_join(self->world, child, 1 + soak_below(&self->mix, 10));
	default:
		soak_gate_open(some_gate(self->world, &self->mix));
		return soak_join(self->world, child);
	}
}

/* Who was told to end, or could not wait, leaves its children to themselves. */
int soak_family(struct soak_actor *self)
{
	struct soak_handle children[MOST_CHILDREN] = { 0 };
	int rc = 0;

	for (int i = 0; i < MOST_CHILDREN && self->depth < DEEPEST; i++)
		if (soak_alive(self->world) < SOAK_CROWDED)
			(void)soak_spawn(self->world, &self->mix, self->depth + 1, &children[i]);
	for (int i = 0; i < MOST_CHILDREN; i++) {
		if (children[i].task && rc != -ECANCELED)
			rc = part_with(self, &children[i]);
		if (children[i].task)
			soak_detach(&children[i]);
	}
	return rc == -ECANCELED ? rc : 0;
}

/* ---- stackless ---- */

struct dreamer {
	edo_async async;
	struct soak_actor actor;
	uint32_t left;
	edo_instant deadline;
	struct soak_gate *gate; /* claimed */
	union {
		edo_yield_future yield;
		edo_timer timer;
		struct soak_gate_future gate;
	} wait;
};

static edo_future *next_dream(struct dreamer *me)
{
	struct soak_world *world = me->actor.world;
	struct soak_mix *mix = &me->actor.mix;

	me->deadline = 0;
	if (soak_has_time(world) && soak_one_in(mix, 2)) {
		me->deadline = edo_instant_add(edo_now(), soak_length(mix, EDO_MS(3)));
		edo_timer_init(&me->wait.timer, me->deadline);
		return &me->wait.timer.future;
	}
	me->gate = some_gate(world, mix);
	if (soak_one_in(mix, 2) || soak_is_draining(world) || !soak_gate_claim(me->gate)) {
		me->gate = NULL;
		return edo_yield_start(&me->wait.yield);
	}
	return soak_gate_start(&me->wait.gate, me->gate);
}

static void end_dream(struct dreamer *me)
{
	if (me->gate)
		soak_gate_leave(me->gate);
	me->gate = NULL;
}

/* The conductor may have opened the gates just before this one was claimed. */
static bool is_too_late_to_wait(const struct dreamer *me)
{
	return me->gate && soak_is_draining(me->actor.world);
}

static edo_poll poll_dreamer(edo_future *future, edo_context *cx)
{
	struct dreamer *me = edo_container_of(future, struct dreamer, async.future);
	edo_future *dream;

	EDO_BEGIN(me, cx);
	while (me->left-- > 0) {
		dream = next_dream(me);
		if (!is_too_late_to_wait(me)) {
			EDO_AWAIT(dream);
			soak_expect(me->async.result == 0, "a stackless wait said %s",
				    edo_strerror(me->async.result));
			soak_expect_come(me->actor.world, me->deadline, "a timer");
		}
		end_dream(me);
	}
	EDO_END(1000 + SOAK_DREAMER);
}

/* Exactly once (K4): the count of the living tells of a second time. */
static void drop_dreamer(edo_future *future)
{
	struct dreamer *me = edo_container_of(future, struct dreamer, async.future);

	edo_async_drop(&me->async);
	end_dream(me);
	soak_actor_ended(me->actor.world, SOAK_DREAMER);
}

EDO_FUTURE_OPS(dreamer_ops, struct dreamer, async.future, poll_dreamer, drop_dreamer);

int soak_dreamer_spawn(const struct soak_actor *self, edo_task **task)
{
	struct dreamer dreamer = { .async = EDO_ASYNC(dreamer_ops), .actor = *self };

	dreamer.left = soak_below(&dreamer.actor.mix, 12);
	return edo_spawn(self->world->runtime, &dreamer.async.future, task);
}
