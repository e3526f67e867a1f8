/*
 * A wheel that does not cascade, from the published description of Linux' timers (since 4.8): 9
 * levels of 64 buckets, each 8 times as coarse as the one before; a timer is rounded up to its
 * bucket, stays there and fires with it, up to an eighth of its time late. A move within a bucket
 * only writes the tick.
 */
#ifndef EDO_BENCH_ADAPTER_H
#define EDO_BENCH_ADAPTER_H

#include "harness.h"

#define ADAPTER_NAME "kernel-wheel"

enum { KW_LEVELS = 9, KW_BUCKETS = 64, KW_MASK = 63, KW_SHIFT = 3 };

struct adapter_timer {
	struct adapter_timer *next;
	struct adapter_timer **link; /* what points here; NULL: in no bucket */
	uint64_t when;
	void *function;
	uint32_t bucket;
	uint32_t flags;
};

struct adapter {
	uint64_t clock; /* the tick to be looked at next */
	uint64_t next_expiry;
	uint64_t pending[KW_LEVELS];
	struct adapter_timer *buckets[KW_LEVELS * KW_BUCKETS];
};

static inline void adapter_init(struct adapter *set, size_t capacity)
{
	(void)capacity;
	*set = (struct adapter){ .clock = 1, .next_expiry = UINT64_MAX };
}

static inline void adapter_free(struct adapter *set)
{
	(void)set;
}

static inline void adapter_prepare(struct adapter *set, struct adapter_timer *timer)
{
	(void)set;
	timer->link = NULL;
}

/* The first distance that a level is too coarse for the level below to hold. */
static inline uint64_t kw_reach(unsigned level)
{
	return (uint64_t)KW_MASK << (KW_SHIFT * level);
}

/* Rounded up: never early. */
static inline uint32_t kw_bucket_for(const struct adapter *set, uint64_t when, uint64_t *expiry)
{
	uint64_t delta = when - set->clock;
	unsigned level = 0;

	if ((int64_t)delta < 0) {
		*expiry = set->clock;
		return (uint32_t)(set->clock & KW_MASK);
	}
	while (level < KW_LEVELS - 1 && delta >= kw_reach(level))
		level++;

	uint64_t digit = (when >> (KW_SHIFT * level)) + (level > 0);
	*expiry = digit << (KW_SHIFT * level);
	return level * KW_BUCKETS + (uint32_t)(digit & KW_MASK);
}

static inline void kw_enqueue(struct adapter *set, struct adapter_timer *timer, uint32_t bucket,
			      uint64_t expiry)
{
	struct adapter_timer **head = &set->buckets[bucket];

	timer->bucket = bucket;
	timer->next = *head;
	if (timer->next)
		timer->next->link = &timer->next;
	*head = timer;
	timer->link = head;
	set->pending[bucket / KW_BUCKETS] |= UINT64_C(1) << (bucket % KW_BUCKETS);
	if (expiry < set->next_expiry)
		set->next_expiry = expiry;
}

static inline void kw_detach(struct adapter_timer *timer)
{
	*timer->link = timer->next;
	if (timer->next)
		timer->next->link = timer->link;
	timer->link = NULL;
}

BENCH_CALL void adapter_insert(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	uint64_t expiry;
	uint32_t bucket = kw_bucket_for(set, when, &expiry);

	timer->when = when;
	kw_enqueue(set, timer, bucket, expiry);
}

BENCH_CALL void adapter_cancel(struct adapter *set, struct adapter_timer *timer)
{
	uint32_t bucket = timer->bucket;

	if (!timer->link)
		return;
	if (timer->link == &set->buckets[bucket] && !timer->next)
		set->pending[bucket / KW_BUCKETS] &= ~(UINT64_C(1) << (bucket % KW_BUCKETS));
	kw_detach(timer);
}

BENCH_CALL void adapter_reset(struct adapter *set, struct adapter_timer *timer, uint64_t when)
{
	uint64_t expiry;
	uint32_t bucket = kw_bucket_for(set, when, &expiry);

	if (timer->link && timer->bucket == bucket) {
		timer->when = when;
		return;
	}
	adapter_cancel(set, timer);
	timer->when = when;
	kw_enqueue(set, timer, bucket, expiry);
}

/* The distance in slots to the next bucket of a level from `digit` on, or 64. */
static inline unsigned kw_distance(uint64_t pending, unsigned digit)
{
	uint64_t turned = digit ? pending >> digit | pending << (64 - digit) : pending;

	return turned ? (unsigned)__builtin_ctzll(turned) : KW_BUCKETS;
}

static inline uint64_t kw_next_expiry(const struct adapter *set)
{
	uint64_t next = UINT64_MAX, clock = set->clock;

	for (unsigned level = 0; level < KW_LEVELS; level++) {
		unsigned within = (unsigned)clock & ((1u << KW_SHIFT) - 1);
		unsigned distance = kw_distance(set->pending[level], clock & KW_MASK);

		if (distance < KW_BUCKETS) {
			uint64_t expiry = (clock + distance) << (KW_SHIFT * level);

			if (expiry < next)
				next = expiry;
			/* What the coarser level could offer is not before this. */
			if (distance <= ((8 - within) & 7))
				break;
		}
		clock = (clock >> KW_SHIFT) + (within != 0);
	}
	return next;
}

static inline size_t kw_expire(struct adapter *set, uint32_t bucket)
{
	struct adapter_timer *timer = set->buckets[bucket];
	size_t fired = 0;

	set->buckets[bucket] = NULL;
	set->pending[bucket / KW_BUCKETS] &= ~(UINT64_C(1) << (bucket % KW_BUCKETS));
	for (struct adapter_timer *next; timer; timer = next) {
		next = timer->next;
		timer->link = NULL;
		fired++;
	}
	return fired;
}

BENCH_CALL size_t adapter_advance(struct adapter *set, uint64_t now)
{
	size_t fired = 0;

	while (set->next_expiry <= now) {
		uint64_t clock = set->clock = set->next_expiry;

		for (unsigned level = 0; level < KW_LEVELS; level++) {
			fired += kw_expire(set, level * KW_BUCKETS + (uint32_t)(clock & KW_MASK));
			if (clock & 7)
				break;
			clock >>= KW_SHIFT;
		}
		set->clock++;
		set->next_expiry = kw_next_expiry(set);
	}
	if (set->clock <= now)
		set->clock = now + 1;
	return fired;
}

#endif
