/*
 * One level of 512 slots; each timer counts the rounds that remain (Varghese and Lauck's scheme 6,
 * as Netty has it), one tick a slot.
 */
#ifndef EDO_BENCH_ADAPTER_H
#define EDO_BENCH_ADAPTER_H

#include "harness.h"

#define ADAPTER_NAME "hashed-wheel"

enum { HASHED_SLOTS = 512 };

struct adapter_timer {
	struct adapter_timer *next, *prev; /* next NULL: in no slot */
	uint64_t rounds;
};

struct adapter {
	uint64_t now;
	struct adapter_timer slots[HASHED_SLOTS]; /* heads of rings */
};

static inline void adapter_init(struct adapter *set, size_t capacity)
{
	(void)capacity;
	set->now = 0;
	for (size_t i = 0; i < HASHED_SLOTS; i++)
		set->slots[i].next = set->slots[i].prev = &set->slots[i];
}

static inline void adapter_free(struct adapter *set)
{
	(void)set;
}

static inline void adapter_prepare(struct adapter *set, struct adapter_timer *timer)
{
	(void)set;
	timer->next = NULL;
}

BENCH_CALL void adapter_insert(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	struct adapter_timer *head = &set->slots[when % HASHED_SLOTS];

	timer->rounds = (when - set->now - 1) / HASHED_SLOTS;
	timer->next = head;
	timer->prev = head->prev;
	head->prev->next = timer;
	head->prev = timer;
}

BENCH_CALL void adapter_cancel(struct adapter *set, struct adapter_timer *timer)
{
	(void)set;
	if (!timer->next)
		return;
	timer->prev->next = timer->next;
	timer->next->prev = timer->prev;
	timer->next = NULL;
}

BENCH_CALL void adapter_reset(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	adapter_cancel(set, timer);
	adapter_insert(set, timer, when);
}

static inline size_t hashed_turn_slot(struct adapter *set, struct adapter_timer *head)
{
	struct adapter_timer *timer, *next;
	size_t fired = 0;

	for (timer = head->next; timer != head; timer = next) {
		next = timer->next;
		if (timer->rounds-- > 0)
			continue;
		adapter_cancel(set, timer);
		fired++;
	}
	return fired;
}

BENCH_CALL size_t adapter_advance(struct adapter *set, uint64_t now)
{
	size_t fired = 0;

	while (set->now < now) {
		set->now++;
		fired += hashed_turn_slot(set, &set->slots[set->now % HASHED_SLOTS]);
	}
	return fired;
}

#endif
