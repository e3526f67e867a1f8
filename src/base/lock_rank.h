/*
 * A lock's word and its rank (lock.h). Apart, so that who stands in for the locks has the same ranks.
 */
#ifndef EDO_BASE_LOCK_RANK_H
#define EDO_BASE_LOCK_RANK_H

#include <stdint.h>

/* Outermost first. */
enum edo_lock_rank {
	EDO_RANK_REGISTRY = 1, /* the process's table of drivers */
	EDO_RANK_RUNTIME,      /* who drives a current-thread runtime, who waits to */
	EDO_RANK_WAITER,       /* a parked thread's link to the runtime it drives */
	EDO_RANK_OWNED,        /* a runtime's list of all its tasks */
	EDO_RANK_GROUP,        /* a group's children */
	EDO_RANK_CHANNEL, /* a channel, or another thing of leaf/sync: its state and its lines */
	EDO_RANK_INJECT,  /* tasks woken or spawned by other threads */
	EDO_RANK_SLAB,    /* registration slots, free and to be freed */
	EDO_RANK_IO,      /* one registration's waiters */
	EDO_RANK_SHARD,   /* one shard of timers */
	EDO_RANK_POOL,    /* a pool of task cells, its remote side */
	EDO_RANK_STACKS,  /* cached fiber stacks */
};

/* 0 free, 1 held, 2 held and perhaps waited for. All zero is a free lock. */
struct edo_lock {
	uint32_t word;
};

#endif
