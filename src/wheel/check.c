/*
 * The wheel's checker and its picture: slow and plain, walking everything. They only read; under
 * the wheel's lock, if it has one. Each HOLDS() is one sentence of the invariants in wheel.h.
 */
#include "wheel/wheel.h"

#include "wheel/place.h"
#include <errno.h>

#define HOLDS(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return -__LINE__;                                                          \
	} while (0)

/* When a slot of a level may open, seen from the dials (W4, W5). */
static int check_opening(const edo_wheel *wheel, unsigned level, unsigned slot)
{
	uint64_t opens = edo_wheel_opens(wheel, level, slot);

	HOLDS(level == 0 ? opens >= wheel->dials : opens > wheel->dials);
	HOLDS(edo_wheel_slot_for(opens, level) == slot);
	HOLDS(opens % edo_wheel_span(level) == 0);
	return 0;
}

/*
 * The bit tells the truth (W2), links agree, each entry knows its place (W1), which opens in time
 * (W3).
 */
static int check_slot(const edo_wheel *wheel, unsigned level, unsigned slot, size_t *count)
{
	const edo_list_node *head = &wheel->slots[level][slot];
	bool is_marked = wheel->occupied[level] >> slot & 1;

	HOLDS(is_marked == !edo_list_is_empty(head));
	HOLDS(head->next->prev == head);
	edo_list_for_each(node, head) {
		const edo_wheel_timer *timer = edo_wheel_timer_of(node);

		HOLDS(node->next->prev == node);
		HOLDS(timer->level == level && timer->slot == slot);
		HOLDS(edo_wheel_load_when(timer) >= edo_wheel_opens(wheel, level, slot));
		++*count;
	}
	return is_marked ? check_opening(wheel, level, slot) : 0;
}

/* Left of a slot that opened at the dials (W6). */
static int check_cascading(const edo_wheel *wheel, size_t *count)
{
	const edo_list_node *head = &wheel->cascading;

	HOLDS(head->next->prev == head);
	edo_list_for_each(node, head) {
		const edo_wheel_timer *timer = edo_wheel_timer_of(node);

		HOLDS(node->next->prev == node);
		HOLDS(timer->level > 0);
		HOLDS(timer->slot == edo_wheel_slot_for(wheel->dials, timer->level));
		HOLDS(edo_wheel_load_when(timer) >= wheel->dials);
		++*count;
	}
	return 0;
}

int edo_wheel_check(const edo_wheel *wheel)
{
	size_t count = 0;
	int result = check_cascading(wheel, &count);

	HOLDS(wheel->dials <= wheel->present);
	for (unsigned level = 0; level < EDO_WHEEL_LEVELS; level++)
		for (unsigned slot = 0; slot < EDO_WHEEL_SLOTS && result == 0; slot++)
			result = check_slot(wheel, level, slot, &count);
	if (result == 0)
		HOLDS(count == wheel->count);
	return result;
}

/* Counts what lies on a list and belongs to a level, slot by slot. */
static void count_places(const edo_list_node *head, unsigned level, size_t counts[])
{
	edo_list_for_each(node, head) {
		const edo_wheel_timer *timer = edo_wheel_timer_of(node);

		if (timer->level == level)
			counts[timer->slot]++;
	}
}

int64_t edo_wheel_occupancy(const edo_wheel *wheel, unsigned level, uint64_t *bits,
			    size_t counts[EDO_WHEEL_SLOTS])
{
	size_t found[EDO_WHEEL_SLOTS] = { 0 };
	uint64_t occupied = 0;
	int64_t total = 0;

	if (level >= EDO_WHEEL_LEVELS)
		return -EINVAL;
	count_places(&wheel->cascading, level, found);
	for (unsigned slot = 0; slot < EDO_WHEEL_SLOTS; slot++) {
		count_places(&wheel->slots[level][slot], level, found);
		occupied |= (uint64_t)(found[slot] > 0) << slot;
		total += (int64_t)found[slot];
		if (counts)
			counts[slot] = found[slot];
	}
	if (bits)
		*bits = occupied;
	return total;
}
