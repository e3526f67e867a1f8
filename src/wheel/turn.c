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

/* The slot that opens next, `cascading` aside (W4). */
static bool next_place(const edo_wheel *wheel, struct place *place)
{
	for (unsigned level = 0; level < EDO_WHEEL_TOP; level++) {
		if (!wheel->occupied[level])
			continue;
		place->level = level;
		place->slot = edo_lowest_bit(wheel->occupied[level]);
		place->opens = edo_wheel_opens(wheel, level, place->slot);
		return true;
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

/*
 * Files anew what is left in `cascading`, as far as the budget goes. From both ends in turn: such a
 * list lies anywhere in memory, and each end is a chain of cache misses of its own, which the
 * processor can wait for at once.
 */
static void go_on_cascading(edo_wheel *wheel, unsigned *budget)
{
	edo_list_node *head = &wheel->cascading, *front = head->next, *back = head->prev;
	bool from_front = true;

	for (; front != head && *budget > 0; --*budget, from_front = !from_front) {
		edo_wheel_timer *timer = edo_wheel_timer_of(from_front ? front : back);

		if (front == back)
			front = back = head;
		else if (from_front)
			front = front->next;
		else
			back = back->prev;
		edo_wheel_file(wheel, timer, edo_wheel_load_when(timer));
	}
	head->next = front;
	front->prev = head;
	head->prev = back;
	back->next = head;
}

/* Takes the first entry out of an open slot of level 0: returned when due, else it was moved later. */
static edo_wheel_timer *take_first(edo_wheel *wheel, unsigned slot)
{
	edo_wheel_timer *timer = edo_wheel_timer_of(wheel->slots[0][slot].next);
	uint64_t when = edo_wheel_load_when(timer);

	edo_wheel_unlink(wheel, timer);
	if (when <= wheel->dials) {
		wheel->count--;
		return timer;
	}
	edo_wheel_file(wheel, timer, when);
	return NULL;
}

edo_wheel_timer *edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget)
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
		wheel->dials = place.opens;
		if (place.level > 0) {
			begin_cascade(wheel, &place);
			continue;
		}
		--*budget;
		expired = take_first(wheel, place.slot);
	}
	return expired;
}

edo_wheel_timer *edo_wheel_poll(edo_wheel *wheel, uint64_t now)
{
	unsigned budget = UINT_MAX;
	edo_wheel_timer *expired;

	do {
		budget = UINT_MAX;
		expired = edo_wheel_poll_budget(wheel, now, &budget);
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
