/*
 * Where a tick has its place: the arithmetic of the dials, and putting a timer there and taking it
 * out. For the wheel's own files; the invariants stand in wheel.h. Inline: these few lines are what
 * every operation of the wheel consists of.
 */
#ifndef EDO_WHEEL_PLACE_H
#define EDO_WHEEL_PLACE_H

#include "base/bits.h"
#include "base/list.h"
#include "wheel/wheel.h"

enum {
	EDO_WHEEL_DIGIT_BITS = 6,
	EDO_WHEEL_DIGIT_MASK = EDO_WHEEL_SLOTS - 1,
	EDO_WHEEL_TOP = EDO_WHEEL_LEVELS - 1,
};

/* Ticks in a slot of a level. */
static inline uint64_t edo_wheel_span(unsigned level)
{
	return UINT64_C(1) << (EDO_WHEEL_DIGIT_BITS * level);
}

/*
 * The level of a deadline is the highest dial on which it still differs from the present: only when
 * that dial turns does the timer need a finer place. OR-ing in the lowest dial keeps the logarithm
 * defined when nothing differs; beyond the sixth dial all share the top level and go round again
 * (W5).
 */
static inline unsigned edo_wheel_level_for(uint64_t dials, uint64_t when)
{
	uint64_t differing = (dials ^ when) | EDO_WHEEL_DIGIT_MASK;
	unsigned dial = edo_highest_bit(differing) / EDO_WHEEL_DIGIT_BITS;

	return dial < EDO_WHEEL_TOP ? dial : EDO_WHEEL_TOP;
}

static inline unsigned edo_wheel_slot_for(uint64_t when, unsigned level)
{
	return (unsigned)(when >> (EDO_WHEEL_DIGIT_BITS * level)) & EDO_WHEEL_DIGIT_MASK;
}

/* The tick at which an occupied slot opens, now or ahead. */
static inline uint64_t edo_wheel_opens(const edo_wheel *wheel, unsigned level, unsigned slot)
{
	if (level == EDO_WHEEL_TOP)
		return wheel->top_opens[slot];

	uint64_t span = edo_wheel_span(level);
	return (wheel->dials & ~(span * EDO_WHEEL_SLOTS - 1)) | slot * span;
}

static inline edo_wheel_timer *edo_wheel_timer_of(edo_list_node *node)
{
	return edo_container_of(node, edo_wheel_timer, node);
}

/*
 * Relaxed: it carries no other data; it may be older than a reset, which makes it earlier
 * (wheel.h).
 */
static inline uint64_t edo_wheel_load_when(const edo_wheel_timer *timer)
{
	return __atomic_load_n(&timer->when, __ATOMIC_RELAXED);
}

/*
 * A store: only the owner, who is the caller, writes it. Release: whoever finds this value without the
 * owner's lock sees what the owner did before.
 */
static inline void edo_wheel_store_when(edo_wheel_timer *timer, uint64_t when)
{
	__atomic_store_n(&timer->when, when, __ATOMIC_RELEASE);
}

/* Keeps top_opens (W5) at the earliest lap of all that lie in the slot. */
static inline void edo_wheel_note_lap(edo_wheel *wheel, unsigned slot, uint64_t when)
{
	uint64_t opens = when & ~(edo_wheel_span(EDO_WHEEL_TOP) - 1);

	if (!(wheel->occupied[EDO_WHEEL_TOP] & edo_bit(slot)) || opens < wheel->top_opens[slot])
		wheel->top_opens[slot] = opens;
}

/* Links a timer that is in no list where `when`, at or after the dials, belongs. */
static inline void edo_wheel_file(edo_wheel *wheel, edo_wheel_timer *timer, uint64_t when)
{
	unsigned level = edo_wheel_level_for(wheel->dials, when);
	unsigned slot = edo_wheel_slot_for(when, level);

	if (level == EDO_WHEEL_TOP)
		edo_wheel_note_lap(wheel, slot, when);
	timer->level = (uint8_t)level;
	timer->slot = (uint8_t)slot;
	edo_list_push_back(&wheel->slots[level][slot], &timer->node);
	wheel->occupied[level] |= edo_bit(slot);
}

/*
 * Takes a linked timer out of the list it is in, which is its slot's or `cascading`. Neighbours
 * that are one and the same are the head of a list that is now empty.
 */
static inline void edo_wheel_unlink(edo_wheel *wheel, edo_wheel_timer *timer)
{
	const edo_list_node *prev = timer->node.prev;
	bool was_alone = prev == timer->node.next;

	edo_list_remove(&timer->node);
	if (was_alone && prev == &wheel->slots[timer->level][timer->slot])
		wheel->occupied[timer->level] &= ~edo_bit(timer->slot);
}

#endif
