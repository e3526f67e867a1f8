/*
 * A heap of HEAP_ARITY children a node, keys in the array, each timer knowing its index. What one
 * would write without a wheel. The including adapter.h names it and defines HEAP_ARITY.
 */
#ifndef EDO_BENCH_PEERS_HEAP_H
#define EDO_BENCH_PEERS_HEAP_H

#include "harness.h"
#include <stdlib.h>

struct adapter_timer {
	size_t index; /* plus one; 0: in no heap */
};

struct heap_item {
	uint64_t when;
	struct adapter_timer *timer;
};

struct adapter {
	struct heap_item *items;
	size_t count;
};

static inline void adapter_init(struct adapter *set, size_t capacity)
{
	set->items = bench_allocate(capacity, sizeof(*set->items));
	set->count = 0;
}

static inline void adapter_free(struct adapter *set)
{
	free(set->items);
}

static inline void adapter_prepare(struct adapter *set, struct adapter_timer *timer)
{
	(void)set;
	timer->index = 0;
}

static inline void heap_put(struct adapter *set, size_t index, struct heap_item item)
{
	set->items[index] = item;
	item.timer->index = index + 1;
}

static inline void heap_sift_up(struct adapter *set, size_t index, struct heap_item item)
{
	while (index > 0) {
		size_t parent = (index - 1) / HEAP_ARITY;

		if (set->items[parent].when <= item.when)
			break;
		heap_put(set, index, set->items[parent]);
		index = parent;
	}
	heap_put(set, index, item);
}

static inline size_t heap_least_child(const struct adapter *set, size_t index)
{
	size_t first = index * HEAP_ARITY + 1;
	size_t end = first + HEAP_ARITY < set->count ? first + HEAP_ARITY : set->count;
	size_t least = first;

	for (size_t child = first + 1; child < end; child++)
		if (set->items[child].when < set->items[least].when)
			least = child;
	return least;
}

static inline void heap_sift_down(struct adapter *set, size_t index, struct heap_item item)
{
	while (index * HEAP_ARITY + 1 < set->count) {
		size_t child = heap_least_child(set, index);

		if (item.when <= set->items[child].when)
			break;
		heap_put(set, index, set->items[child]);
		index = child;
	}
	heap_put(set, index, item);
}

static inline void heap_place(struct adapter *set, size_t index, struct heap_item item)
{
	if (index > 0 && item.when < set->items[(index - 1) / HEAP_ARITY].when)
		heap_sift_up(set, index, item);
	else
		heap_sift_down(set, index, item);
}

BENCH_CALL void adapter_insert(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	heap_sift_up(set, set->count++, (struct heap_item){ when, timer });
}

BENCH_CALL void adapter_cancel(struct adapter *set, struct adapter_timer *timer)
{
	size_t index = timer->index - 1;

	if (timer->index == 0)
		return;
	timer->index = 0;
	set->count--;
	if (index != set->count)
		heap_place(set, index, set->items[set->count]);
}

BENCH_CALL void adapter_reset(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	if (timer->index == 0)
		adapter_insert(set, timer, when);
	else
		heap_place(set, timer->index - 1, (struct heap_item){ when, timer });
}

BENCH_CALL size_t adapter_advance(struct adapter *set, uint64_t now)
{
	size_t fired = 0;

	for (; set->count > 0 && set->items[0].when <= now; fired++)
		adapter_cancel(set, set->items[0].timer);
	return fired;
}

#endif
