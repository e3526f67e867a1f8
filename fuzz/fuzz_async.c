/*
 * The state of the stackless macros: a walker is polled and dropped as the input says, and what it did
 * is compared with a straight line of C that does the same without ever waiting.
 *
 * The input's first byte is a number n; the n bytes behind it say how the walker is polled (budget,
 * moves, the drop), the rest is its script.
 */
#include "async/walker.h"
#include <string.h>

/* ---- the straight line ---- */

static int straight_walk(struct script *script, int depth);

static void straight_step(struct script *script, int *result)
{
	int pending = choose(script, 4);

	*result = choose(script, 256) - 64;
	say(script, STEP_STARTED, *result);
	for (; pending >= 0; pending--)
		say(script, STEP_POLLED, pending);
	say(script, STEP_DROPPED, *result);
}

static void straight_loop(struct script *script, int *result)
{
	for (int i = choose(script, 5); i > 0; i--) {
		straight_step(script, result);
		say(script, AWAITED, *result);
		if (choose(script, 4) == 3)
			break;
	}
}

static void straight_nested_loops(struct script *script, int *result)
{
	for (int i = choose(script, 4); i > 0; i--) {
		for (int j = choose(script, 4); j > 0; j--) {
			if (choose(script, 3) == 2)
				continue;
			straight_step(script, result);
			say(script, PASSED, i * 10 + j);
		}
		*result = 0;
	}
}

static void straight_child(struct script *script, int depth, int *result)
{
	if (depth == DEEPEST)
		return;
	*result = straight_walk(script, depth + 1);
	say(script, DROPPED, depth + 1);
}

static void straight_branches(struct script *script, int *result)
{
	(void)choose(script, 2); /* the other branch yields first, which leaves no trace */
	straight_step(script, result);
}

/* Whether the walk goes on. */
static bool straight_round(struct script *script, int depth, int *result)
{
	int kind = choose(script, 8);

	if (kind == 0 || kind == 5)
		straight_step(script, result);
	if (kind == 1)
		straight_loop(script, result);
	if (kind == 2)
		straight_nested_loops(script, result);
	if (kind == 3)
		*result = 0;
	if (kind == 4)
		straight_child(script, depth, result);
	if (kind == 5)
		say(script, PASSED, 5);
	if (kind == 5 || kind == 6)
		straight_branches(script, result);
	if (kind != 7)
		say(script, AWAITED, *result);
	return kind != 7;
}

static int straight_walk(struct script *script, int depth)
{
	int result = 0;

	(void)choose(script, 2); /* of which form it is */
	say(script, BEGUN, depth);
	while (script_goes_on(script))
		if (!straight_round(script, depth, &result)) {
			say(script, ENDED, depth);
			result = choose_value(script);
			return result == EDO_PENDING ? -ERANGE : result;
		}
	say(script, ENDED, depth);
	return result;
}

/* ---- the walker, polled ---- */

static unsigned wakes;

static edo_waker waker_clone(void *data);

static void waker_wake(void *data)
{
	(void)data;
	wakes++;
}

static void waker_drop(void *data)
{
	(void)data;
}

static const edo_waker_ops waker_ops = { waker_clone, waker_wake, waker_wake, waker_drop };

static edo_waker waker_clone(void *data)
{
	return (edo_waker){ data, &waker_ops };
}

/* Whoever says "not yet" has seen to it that it is polled again, and a poll hands out what it may (S1). */
static edo_poll poll_once(struct walker *walker, uint32_t budget)
{
	static const edo_waker waker = { NULL, &waker_ops };
	struct script *script = walker->script;
	edo_context cx;
	edo_poll polled;

	edo_context_init(&cx, &waker);
	cx.edo_budget_ = budget;
	wakes = 0;
	script->steps_ready = 0;
	polled = edo_future_poll(&walker->async.future, &cx);
	EXPECT(polled != EDO_PENDING || wakes > 0);
	EXPECT(script->steps_ready <= budget + 1);
	return polled;
}

/* Says it again, and does nothing. */
static void expect_the_end(struct walker *walker, edo_poll result)
{
	struct trace *trace = walker->script->trace;
	size_t said = trace->count;

	walker->script->expects_polls = false;
	EXPECT(poll_once(walker, 128) == result);
	EXPECT(trace->count == said);
}

/* Polls until the end or until the input wants it dropped; whether it ended. */
static bool run(struct walker *walker, struct input *orders, edo_poll *result)
{
	for (;;) {
		unsigned order = input_below(orders, 64);

		if (order == 63)
			return false;
		*result = poll_once(walker, order < 8 ? order : 128);
		if (*result != EDO_PENDING)
			return true;
	}
}

/* An abort may come at any moment: then all that was done is the beginning of what would have been. */
static void expect_beginning(const struct trace *trace, size_t count, const struct trace *whole)
{
	EXPECT(count <= whole->count);
	for (size_t i = 0; i < count; i++) {
		EXPECT(trace->events[i].kind == whole->events[i].kind);
		EXPECT(trace->events[i].number == whole->events[i].number);
	}
}

/* What a drop does from the inside out: the wait, then whoever waited for it. Each once. */
static void expect_drops(const struct trace *trace, size_t from, bool had_step, int depth)
{
	EXPECT(trace->count == from + had_step + (size_t)depth + 1);
	if (had_step)
		EXPECT(trace->events[from++].kind == STEP_DROPPED);
	for (; depth >= 0; depth--, from++) {
		EXPECT(trace->events[from].kind == DROPPED);
		EXPECT(trace->events[from].number == depth);
	}
}

static struct walker *innermost(struct walker *walker)
{
	while (walker->child && !walker->child->is_dropped)
		walker = walker->child;
	return walker;
}

static void drop(struct walker *walker, const struct trace *whole)
{
	const struct trace *trace = walker->script->trace;
	const struct walker *last = innermost(walker);
	size_t said = trace->count;
	bool had_step = last->step.is_live;
	int depth = last->depth;

	expect_beginning(trace, said, whole);
	edo_future_drop(&walker->async.future);
	expect_drops(trace, said, had_step, depth);
}

/* Until its first poll a future may be moved. */
static struct walker *move(struct walker *walker)
{
	struct walker *moved = malloc(sizeof *moved);

	EXPECT(moved);
	memcpy(moved, walker, sizeof *moved);
	memset(walker, 0xff, sizeof *walker);
	free(walker);
	return moved;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace trace, whole;
	struct input input = { data, size };
	size_t orders_size = (size_t)input_draw(&input, 1);
	struct input orders = { input.data, orders_size < input.left ? orders_size : input.left };
	struct input rest = { orders.data + orders.left, input.left - orders.left };
	struct script straight = { rest, &whole, 0, true };
	struct script script = { rest, &trace, 0, true };
	struct walker *walker = malloc(sizeof *walker);
	edo_poll expected, result;

	EXPECT(walker);
	trace.count = whole.count = 0;
	expected = straight_walk(&straight, 0);
	walker_init(walker, &script, 0);
	if (input_below(&orders, 2))
		walker = move(walker);
	if (run(walker, &orders, &result)) {
		EXPECT(result == expected && trace.count == whole.count);
		expect_the_end(walker, result);
	}
	drop(walker, &whole);
	free(walker);
	return 0;
}
