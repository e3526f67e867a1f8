/*
 * How time passes: which slot opens next, cascades, expiry. Invariants W3-W6 of wheel.h; under the
 * wheel's lock, if it has one.
 */
#include "wheel/wheel.h"

#include "wheel/place.h"
#include <limits.h>

struct place {
	unsigned level;
	unsigned slot;
	uint64_t opens;
};

/*
 * The top level alone holds several laps, so that the order of its slots is not that of their times
 * (p01). Reached only when the other levels are empty.
 */
static bool next_top_place(const edo_wheel *wheel, struct place *place)
{
	uint64_t left = wheel->occupied[EDO_WHEEL_TOP];

	*place = (struct place){ EDO_WHEEL_TOP, 0, UINT64_MAX };
	for (; left; left &= left - 1) {
		unsigned slot = edo_lowest_bit(left);

		if (wheel->top_opens[slot] < place->opens) {
			place->slot = slot;
			place->opens = wheel->top_opens[slot];
		}
	}
	return wheel->occupied[EDO_WHEEL_TOP] != 0;
}

/* The lowest slot of a level below the top that is not empty. */
static inline struct place lowest_place(const edo_wheel *wheel, unsigned level)
{
	unsigned slot = edo_lowest_bit(wheel->occupied[level]);

	return (struct place){ level, slot, edo_wheel_opens(wheel, level, slot) };
}

/*
 * The slot that opens next, `cascading` aside (W4). Mostly at level 0, which is cheap to know
 * alone.
 */
static inline bool next_place(const edo_wheel *wheel, struct place *place)
{
	if (EDO_LIKELY(wheel->occupied[0])) {
		*place = lowest_place(wheel, 0);
		return true;
	}
	for (unsigned level = 1; level < EDO_WHEEL_TOP; level++) {
		if (wheel->occupied[level]) {
			*place = lowest_place(wheel, level);
			return true;
		}
	}
	return next_top_place(wheel, place);
}

bool edo_wheel_next(const edo_wheel *wheel, uint64_t *at)
{
	struct place place = { .opens = wheel->dials };

	if (edo_list_is_empty(&wheel->cascading) && !next_place(wheel, &place))
		return false;
	*at = place.opens;
	return true;
}

/* The slot's list is detached first: entries may be filed into the same slot again (p05). */
static void begin_cascade(edo_wheel *wheel, const struct place *place)
{
	edo_list_splice_back(&wheel->cascading, &wheel->slots[place->level][place->slot]);
	wheel->occupied[place->level] &= ~edo_bit(place->slot);
}

static inline void file_anew(edo_wheel *wheel, edo_list_node *node)
{
	edo_wheel_timer *timer = edo_wheel_timer_of(node);

	edo_wheel_file(wheel, timer, edo_wheel_load_when(timer));
}

/*
 * Files anew what is left in `cascading`, as far as the budget goes. From both ends at once: such a
 * list lies anywhere in memory, each end is a chain of cache misses, and the processor waits for
 * both together; so the ends are read on before this pair is dealt with.
 */
static void go_on_cascading(edo_wheel *wheel, unsigned *budget)
{
	edo_list_node *head = &wheel->cascading, *front = head->next, *back = head->prev;
	unsigned left = *budget;

	for (; front != back && left >= 2; left -= 2) {
		edo_list_node *first = front, *last = back;

		front = first->next;
		back = last->prev;
		if (front == last)
			front = back = head;
		__builtin_prefetch(front);
		__builtin_prefetch(back);
		file_anew(wheel, first);
		file_anew(wheel, last);
	}
	if (front != head && left > 0) {
		edo_list_node *first = front;

		front = first->next;
		if (first == back)
			front = back = head;
		file_anew(wheel, first);
		left--;
	}
	*budget = left;
	head->next = front;
	front->prev = head;
	head->prev = back;
	back->next = head;
}

/* Takes out the first entry of a slot: returned when its tick has come, else filed anew. */
static inline edo_wheel_timer *take_first(edo_wheel *wheel, const struct place *place)
{
	edo_list_node *first = wheel->slots[place->level][place->slot].next;
	edo_wheel_timer *timer = edo_wheel_timer_of(first);
	uint64_t when = edo_wheel_load_when(timer);

	edo_wheel_unlink(wheel, timer);
	if (when <= wheel->dials) {
		wheel->count--;
		return timer;
	}
	edo_wheel_file(wheel, timer, when);
	return NULL;
}

/*
 * Where the dials can go when a slot opens: to its first tick. But one that holds a single entry
 * holds the earliest of all, and if that has come already, in this slot and not a later lap, they
 * can go straight there, and nothing need cascade.
 */
static inline uint64_t dials_for(const edo_wheel *wheel, const struct place *place)
{
	const edo_list_node *head = &wheel->slots[place->level][place->slot];

	if (place->level == 0 || head->next != head->prev)
		return place->opens;

	uint64_t when = edo_wheel_load_when(edo_wheel_timer_of(head->next));
	bool is_within = when - place->opens < edo_wheel_span(place->level);
	return is_within && when <= wheel->present ? when : place->opens;
}

/* Turns the dials to a place and opens it: out comes what is due there, or it begins to cascade. */
static inline edo_wheel_timer *open_place(edo_wheel *wheel, const struct place *place,
					  unsigned *budget)
{
	wheel->dials = dials_for(wheel, place);
	if (place->level > 0 && wheel->dials == place->opens) {
		begin_cascade(wheel, place);
		return NULL;
	}
	--*budget;
	return take_first(wheel, place);
}

static inline edo_wheel_timer *turn(edo_wheel *wheel, uint64_t now, unsigned *budget)
{
	edo_wheel_timer *expired = NULL;
	struct place place;

	if (now > wheel->present)
		wheel->present = now;
	while (!expired) {
		if (!edo_list_is_empty(&wheel->cascading)) {
			go_on_cascading(wheel, budget);
			if (!edo_list_is_empty(&wheel->cascading))
				return NULL;
		}
		if (!next_place(wheel, &place) || place.opens > wheel->present) {
			wheel->dials = wheel->present;
			return NULL;
		}
		if (*budget == 0)
			return NULL;
		expired = open_place(wheel, &place, budget);
	}
	return expired;
}

edo_wheel_timer *edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget)
{
	return turn(wheel, now, budget);
}

edo_wheel_timer *edo_wheel_poll(edo_wheel *wheel, uint64_t now)
{
	edo_wheel_timer *expired;
	unsigned budget;

	do {
		budget = UINT_MAX;
		expired = turn(wheel, now, &budget);
	} while (!expired && budget == 0);
	return expired;
}

edo_wheel_timer *edo_wheel_drain(edo_wheel *wheel)
{
	edo_list_node *list = &wheel->cascading;
	struct place place;

	if (edo_list_is_empty(list)) {
		if (!next_place(wheel, &place))
			return NULL;
		list = &wheel->slots[place.level][place.slot];
	}

	edo_wheel_timer *timer = edo_wheel_timer_of(list->next);
	edo_wheel_unlink(wheel, timer);
	wheel->count--;
	return timer;
}
