#include "walker.h"
#include <string.h>

void say(struct script *script, enum event_kind kind, int number)
{
	struct trace *trace = script->trace;

	EXPECT(trace->count < EVENTS_MAX);
	trace->events[trace->count++] = (struct event){ kind, number };
}

/* Never more than the trace can hold of what one round of the body says. */
bool script_goes_on(const struct script *script)
{
	return !input_has_ended(&script->input) && script->trace->count < EVENTS_MAX - 1024;
}

int choose(struct script *script, unsigned limit)
{
	return (int)input_below(&script->input, limit);
}

int choose_value(struct script *script)
{
	int number = choose(script, 256);

	return number == 255 ? EDO_PENDING : number - 64;
}

/* ---- a step ---- */

static edo_poll step_poll(edo_future *future, edo_context *cx)
{
	struct step *step = edo_container_of(future, struct step, future);

	EXPECT(step->is_live && step->script->expects_polls);
	say(step->script, STEP_POLLED, step->pending);
	if (step->pending-- > 0) {
		edo_waker_wake_by_ref(cx->waker);
		return EDO_PENDING;
	}
	step->script->steps_ready++;
	return step->value;
}

static void step_drop(edo_future *future)
{
	struct step *step = edo_container_of(future, struct step, future);

	EXPECT(step->is_live);
	step->is_live = false;
	say(step->script, STEP_DROPPED, step->value);
}

EDO_FUTURE_OPS(step_ops, struct step, future, step_poll, step_drop);

edo_future *step_begin(struct walker *me)
{
	EXPECT(!me->step.is_live);
	me->step = (struct step){ .future = { &step_ops }, .script = me->script, .is_live = true };
	me->step.pending = choose(me->script, 4);
	me->step.value = choose(me->script, 256) - 64;
	say(me->script, STEP_STARTED, me->step.value);
	return &me->step.future;
}

edo_future *yield_begin(struct walker *me)
{
	return edo_yield_start(&me->yield);
}

/* ---- a walker ---- */

edo_future *child_begin(struct walker *me)
{
	EXPECT(!me->child);
	me->child = malloc(sizeof *me->child);
	EXPECT(me->child);
	walker_init(me->child, me->script, me->depth + 1);
	return &me->child->async.future;
}

/* The macros have dropped it by now, with its result. */
void child_end(struct walker *me)
{
	EXPECT(me->child && me->child->is_dropped);
	free(me->child);
	me->child = NULL;
}

void walker_init(struct walker *walker, struct script *script, int depth)
{
	memset(walker, 0, sizeof *walker);
	edo_async_init(&walker->async,
		       choose(script, 2) ? walker_of_standard_c : walker_with_labels);
	walker->script = script;
	walker->depth = depth;
}

/* What the walker itself owns is its child, whose wait the macros know of. */
void walker_drop(edo_future *future)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	EXPECT(!me->is_dropped);
	edo_async_drop(&me->async);
	edo_async_drop(&me->async);
	if (me->child)
		child_end(me);
	EXPECT(!me->step.is_live);
	me->is_dropped = true;
	say(me->script, DROPPED, me->depth);
}
