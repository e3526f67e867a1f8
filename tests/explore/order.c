/*
 * Which steps can be done in either order. Two steps of different threads are dependent when they meet at one
 * object and at least one of them changes it; all others can be swapped without anybody noticing.
 * Each thread's clock `before` says which steps of the others cannot be moved behind its next one.
 *
 * When a step conflicts with an earlier one that is not before it, the two could come the other way round,
 * and the search is told (search_reverse()). It is enough to tell of the conflicts that have no third
 * step between them: the others show up when those are reversed. (Flanagan and Godefroid, POPL 2005;
 * Abdulla, Aronis, Jonsson and Sagonas, POPL 2014.)
 */
#include "explore/engine.h"

enum { MAX_EVENTS = 8192, MEETINGS = 4096 };

struct event {
	unsigned thread;
	uint32_t number;     /* among its thread's */
	struct clock before; /* its own number included */
};

struct order {
	struct event events[MAX_EVENTS];
	unsigned count;
	struct meeting
		meetings[MEETINGS]; /* a hash table; `run` says whether an entry is this run's */
};

static struct order *order;

#define KIND(kind) (1U << (kind))

/* Which kinds a kind conflicts with. */
static const unsigned conflicts[STEP_CONFLICTING] = {
	[STEP_READ] = KIND(STEP_WRITE),
	[STEP_WRITE] = KIND(STEP_READ) | KIND(STEP_WRITE),
	/* With a release it cannot: it is not possible before. */
	[STEP_ACQUIRE] = KIND(STEP_ACQUIRE) | KIND(STEP_TRY),
	[STEP_TRY] = KIND(STEP_ACQUIRE) | KIND(STEP_TRY) | KIND(STEP_RELEASE),
	[STEP_RELEASE] = KIND(STEP_TRY),
};

/*
 * Which kinds forbid a kind as long as they are not done: who waits for one of them is not preempted, so
 * within a bound on preemptions it matters to have begun to wait before.
 */
static const unsigned obstacles[STEP_CONFLICTING] = {
	[STEP_ACQUIRE] = KIND(STEP_RELEASE),
};

/* Which kinds come before a kind for good. */
static const unsigned follows[STEP_CONFLICTING] = {
	[STEP_READ] = KIND(STEP_WRITE),
	[STEP_WRITE] = KIND(STEP_READ) | KIND(STEP_WRITE),
	[STEP_ACQUIRE] = KIND(STEP_ACQUIRE) | KIND(STEP_TRY) | KIND(STEP_RELEASE),
	[STEP_TRY] = KIND(STEP_ACQUIRE) | KIND(STEP_TRY) | KIND(STEP_RELEASE),
	[STEP_RELEASE] = KIND(STEP_ACQUIRE) | KIND(STEP_TRY) | KIND(STEP_RELEASE),
};

void order_begin(void)
{
	if (!order)
		order = explore_pages(sizeof *order);
	order->count = 0;
}

struct meeting *order_meeting(const void *object)
{
	size_t hash = (size_t)(((uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15)) >> 40);

	for (size_t tried = 0; tried < MEETINGS; tried++) {
		struct meeting *meeting = &order->meetings[(hash + tried) % MEETINGS];

		if (meeting->run != engine->run) {
			memset(meeting, 0, sizeof *meeting);
			meeting->run = engine->run;
			meeting->object = object;
			return meeting;
		}
		if (meeting->object == object)
			return meeting;
	}
	engine_fail(EXPLORE_TOO_LARGE, "more than %d objects", MEETINGS);
}

/* What a step does to its object, and what it does to the clock; ends with one of no object. */
struct part {
	enum step_kind kind;
	const void *object;
};

static void parts_of(const struct step *step, struct part parts[3])
{
	unsigned count = 0;

	if (step->kind < STEP_CONFLICTING)
		parts[count++] = (struct part){ step->kind, step->object };
	if (step->reads_clock)
		parts[count++] = (struct part){ STEP_READ, &engine->clock };
	parts[count].object = NULL;
}

/* An acquire waits for a release, so the one may decide whether the other is possible. */
static bool are_dependent(const struct part *a, const struct part *b)
{
	return a->object == b->object && ((conflicts[a->kind] | follows[a->kind]) & KIND(b->kind));
}

bool order_are_independent(const struct step *a, const struct step *b)
{
	struct part of_a[3], of_b[3];

	parts_of(a, of_a);
	parts_of(b, of_b);
	for (const struct part *i = of_a; i->object; i++)
		for (const struct part *j = of_b; j->object; j++)
			if (are_dependent(i, j))
				return false;
	return true;
}

static bool is_before(const struct event *event, const struct clock *clock)
{
	return clock->of[event->thread] >= event->number;
}

/* The latest event of another thread that by `kinds` conflicts with one of these, as its number + 1. */
static unsigned latest_conflict(const struct part *parts, const unsigned *kinds, unsigned other)
{
	unsigned latest = 0;

	for (const struct part *part = parts; part->object; part++) {
		const struct meeting *meeting = order_meeting(part->object);

		for (unsigned kind = 0; kind < STEP_CONFLICTING; kind++)
			if ((kinds[part->kind] & KIND(kind)) && meeting->last[other][kind] > latest)
				latest = meeting->last[other][kind];
	}
	return latest;
}

/* The latest event of each other thread that conflicts with this step and is not before it. */
static unsigned find_conflicts(const struct part *parts, const unsigned *kinds,
			       const struct explore_thread *thread, unsigned found[EXPLORE_THREADS])
{
	unsigned count = 0;

	for (unsigned other = 0; other < engine->count; other++) {
		unsigned latest = latest_conflict(parts, kinds, other);

		if (other != thread->number && latest > 0 &&
		    !is_before(&order->events[latest - 1], &thread->before))
			found[count++] = latest - 1;
	}
	return count;
}

/* Whether another of the conflicting events comes between. */
static bool has_one_between(unsigned number, const unsigned *found, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (found[i] != number &&
		    is_before(&order->events[number], &order->events[found[i]].before))
			return true;
	return false;
}

static void join_before(const struct part *part, struct explore_thread *thread)
{
	const struct meeting *meeting = order_meeting(part->object);

	for (unsigned kind = 0; kind < STEP_CONFLICTING; kind++)
		if (follows[part->kind] & KIND(kind))
			clock_join(&thread->before, &meeting->before[kind]);
}

/* Event `number` of the thread has been done to it. */
static void note_meeting(const struct part *part, const struct explore_thread *thread,
			 unsigned number)
{
	struct meeting *meeting = order_meeting(part->object);

	meeting->last[thread->number][part->kind] = (uint16_t)(number + 1);
	clock_join(&meeting->before[part->kind], &thread->before);
}

static struct event *append_event(struct explore_thread *thread)
{
	struct event *event = &order->events[order->count++];

	*event = (struct event){ .thread = thread->number,
				 .number = ++thread->before.of[thread->number],
				 .before = thread->before };
	return event;
}

void order_event(struct explore_thread *thread)
{
	unsigned found[EXPLORE_THREADS], waited_for[EXPLORE_THREADS];
	unsigned number = order->count;
	struct part parts[3];
	unsigned count, waits;

	if (order->count == MAX_EVENTS)
		engine_fail(EXPLORE_TOO_LARGE, "more than %d steps", MAX_EVENTS);
	parts_of(&thread->next, parts);
	count = find_conflicts(parts, conflicts, thread, found);
	waits = find_conflicts(parts, obstacles, thread, waited_for);
	for (const struct part *part = parts; part->object; part++)
		join_before(part, thread);
	append_event(thread);
	for (unsigned i = 0; i < count; i++)
		if (!has_one_between(found[i], found, count))
			search_reverse(found[i], thread);
	for (unsigned i = 0; i < waits; i++)
		search_wait_before(waited_for[i], thread);
	for (const struct part *part = parts; part->object; part++)
		note_meeting(part, thread, number);
}

/*
 * Time is about to pass, which will have come after all that was done: so what a blocked thread's next step
 * conflicts with is told now, as if it were done, or it would never be tried the other way round.
 */
void order_before_time_passes(struct explore_thread *thread)
{
	struct clock before = thread->before;
	unsigned found[EXPLORE_THREADS];
	struct part parts[3];
	unsigned count;

	if (order->count == MAX_EVENTS)
		engine_fail(EXPLORE_TOO_LARGE, "more than %d steps", MAX_EVENTS);
	parts_of(&thread->next, parts);
	count = find_conflicts(parts, conflicts, thread, found);
	for (const struct part *part = parts; part->object; part++)
		join_before(part, thread);
	append_event(thread);
	for (unsigned i = 0; i < count; i++)
		if (!has_one_between(found[i], found, count))
			search_reverse(found[i], thread);
	order->count--;
	thread->before = before;
}

/* Whether one of the events from `first` on that do not depend on `number` is before this one. */
static bool has_predecessor(unsigned number, unsigned event)
{
	const struct event *reversed = &order->events[number];

	for (unsigned i = number + 1; i < event; i++)
		if (!is_before(reversed, &order->events[i].before) &&
		    is_before(&order->events[i], &order->events[event].before))
			return true;
	return false;
}

/* The step just done is the last event. */
unsigned order_initials(unsigned number)
{
	const struct event *reversed = &order->events[number];
	unsigned initials = 0;
	unsigned seen = 0;

	for (unsigned i = number + 1; i < order->count; i++) {
		const struct event *event = &order->events[i];
		bool is_last = i + 1 == order->count;

		if ((seen & (1U << event->thread)) ||
		    (!is_last && is_before(reversed, &event->before)))
			continue;
		seen |= 1U << event->thread;
		if (!has_predecessor(number, i))
			initials |= 1U << event->thread;
	}
	return initials;
}
