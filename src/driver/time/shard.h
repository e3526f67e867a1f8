/*
 * What the files of this room share: a shard's lock, the cell's words, and whose an entry is.
 *
 * An entry that is in a wheel says in its spare fields where it lies: the driver's number, the shard,
 * and a byte made of its own address. They are written under the shard's lock before the cell
 * holds a tick, and constant while it does, so the owner may read them without the lock.
 */
#ifndef EDO_DRIVER_TIME_SHARD_H
#define EDO_DRIVER_TIME_SHARD_H

#include "driver/time/time.h"

static inline void edo_shard_lock(struct edo_time_shard *shard)
{
	edo_lock_acquire(&shard->lock, EDO_RANK_SHARD);
}

static inline void edo_shard_unlock(struct edo_time_shard *shard)
{
	edo_lock_release(&shard->lock, EDO_RANK_SHARD);
}

/* Whether a cell's word is a tick: the entry is in a wheel, or just being fired. 0 is no tick. */
static inline bool edo_cell_is_tick(uint64_t cell)
{
	return cell - 1 < EDO_TICK_MAX;
}

static inline uint64_t *edo_cell_of(edo_timer_entry *entry)
{
	return &entry->edo_node_.when;
}

static inline edo_timer_entry *edo_entry_of(edo_wheel_timer *node)
{
	return edo_container_of(node, edo_timer_entry, edo_node_);
}

/* The shard that this thread inserts into. There is one worker yet, and it has the first. */
static inline struct edo_time_shard *edo_time_own_shard(const struct edo_time_driver *time)
{
	return &time->shards[0];
}

static inline struct edo_time_shard *edo_entry_shard(const struct edo_time_driver *time,
						     const edo_timer_entry *entry)
{
	return &time->shards[entry->edo_node_.spare16 & (EDO_TIME_SHARDS_MAX - 1)];
}

/* A byte that differs for neighbouring addresses (Fibonacci hashing). */
static inline uint8_t edo_entry_address_mark(const edo_timer_entry *entry)
{
	return (uint8_t)(((uintptr_t)entry >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static inline void edo_entry_set_home(edo_timer_entry *entry, const struct edo_time_driver *time,
				      const struct edo_time_shard *shard)
{
	unsigned index = (unsigned)(shard - time->shards);

	entry->edo_node_.spare32 = time->driver_id;
	entry->edo_node_.spare16 = (uint16_t)(index | edo_entry_address_mark(entry) * 256u);
}

/*
 * Whether an armed entry was copied to another address (p20), told without following the copy's links,
 * which may lead nowhere by now. One move in 256 looks like none.
 */
static inline bool edo_entry_has_moved(const edo_timer_entry *entry)
{
	return entry->edo_node_.spare16 >> 8 != edo_entry_address_mark(entry);
}

/* The rest of the next function: swaps what is above `tick` for IDLE. */
bool edo_next_wake_swap(struct edo_time_driver *time, uint64_t tick, uint64_t seen);

/*
 * T3, the inserter's side: `tick` has just been filed, its shard's lock is held. Returns whether the
 * caller must unpark the holder; that may be done after unlocking.
 */
static inline bool edo_next_wake_disturb(struct edo_time_driver *time, uint64_t tick)
{
	/* Relaxed: see next_wake.c. The usual case: nobody waits, or for less. */
	uint64_t seen = edo_load(&time->next_wake, relaxed);

	return tick < seen && edo_next_wake_swap(time, tick, seen);
}

/* The earliest tick over all shards, each looked at under its lock; false: there is none. */
bool edo_time_earliest(struct edo_time_driver *time, uint64_t *tick);

/* The time driver that this thread is shutting down, if it has this number; else NULL. */
struct edo_time_driver *edo_time_shutting_down(uint32_t driver_id);

/*
 * Wakers on their way from the entries, which are no longer ours once FIRED, to their targets. Filled
 * under a shard's lock, emptied with none held (T2), in order.
 */
struct edo_wake_batch {
	unsigned count;
	edo_waker wakers[EDO_WAKE_BATCH];
};

static inline bool edo_wake_batch_is_full(const struct edo_wake_batch *batch)
{
	return batch->count == EDO_WAKE_BATCH;
}

/* Wakes all and empties the batch; returns how many there were. No lock held. */
unsigned edo_wake_batch_wake(struct edo_wake_batch *batch);

#endif
