/*
 * The door of the time driver: a clock, timer entries, and the wheels they lie in.
 *
 * Invariants T1-T5 and T7 of docs/architecture.md live here; the protocol of T3 is in next_wake.c,
 * that of T4 in entry.c.
 *
 * The cell. An entry's node.when is the one word that its owner and the driver share: the tick that
 * is wanted, or one of three signals, which lie above every legal tick (p06). Outside the shard's
 * lock a tick only grows. Everything else of an entry belongs to its shard's lock while it is linked,
 * and to its owner while it is not. The node's spare fields name the shard and the driver's number.
 */
#ifndef EDO_DRIVER_TIME_TIME_H
#define EDO_DRIVER_TIME_TIME_H

#include "base/lock.h"
#include "base/sys.h"
#include "wheel/wheel.h"
#include <edo/config.h>
#include <edo/time.h>

/* Signals in the cell. UNARMED: in no wheel, not fired. FIRED: its time has come. */
#define EDO_TICK_UNARMED UINT64_MAX
#define EDO_TICK_FIRED (UINT64_MAX - 1)
#define EDO_TICK_SHUTDOWN (UINT64_MAX - 2)
/* The latest tick a timer can be armed for; deadlines beyond mean never and are clamped here. */
#define EDO_TICK_MAX (UINT64_MAX - 3)

/* next_wake: ticks from 1 on, and three codings that are no tick of interest (T3). */
#define EDO_WAKE_IDLE 0
#define EDO_WAKE_SCANNING UINT64_MAX
#define EDO_WAKE_FOREVER (UINT64_MAX - 1)

/*
 * Also settled: 0 in the cell (storage filled with zeros) counts as UNARMED: no timer is ever armed for
 * tick 0. To fire, under the shard's lock: unlink; read the cell once; copy the waker's bytes into the batch;
 * compare-and-swap the cell to FIRED (release); when that is lost to a later reset, forget the copied
 * bytes (neither wake nor drop them) and insert anew at the value found. The driver never writes the
 * entry's waker field, and nothing of the entry is touched after the successful swap. FIRED means that the
 * waker in the entry is no longer the entry's. SHUTDOWN is stored in the same way, last.
 */
enum {
	EDO_TURN_BUDGET = 32, /* entries a hold of a shard's lock (T7) */
	EDO_TURN_HOLDS = 32,  /* holds a turn, for each shard */
	EDO_WAKE_BATCH = 32,
};

/*
 * The latest instant a clock shows: what lies beyond is never. The last 4.5 years of the 584 that fit
 * are kept free, so that a clock that stepped back to before its start is told from one far ahead.
 */
#define EDO_CLOCK_END (UINT64_MAX - (UINT64_C(1) << 57))

/* Shards are named by one byte of an entry. */
enum { EDO_TIME_SHARDS_MAX = 256 };

/* The clock of a runtime, in ns since its start. Any thread reads, the holder pauses and turns it. */
struct edo_clock {
	enum edo_sys_clock source; /* constant */
	uint64_t start;     /* system clock at instant 0, shifted by pauses (modulo 2^64); atomic */
	uint64_t paused_at; /* the instant at which it stands, or UINT64_MAX: it runs; atomic */
	uint64_t shown; /* what the last turn took for the present; it never shows less; atomic */
};

/* One wheel and its lock, on cache lines of its own. */
struct edo_time_shard {
	struct edo_lock lock;
	bool closed;     /* under the lock: no more insertions */
	edo_wheel wheel; /* under the lock */
} __attribute__((aligned(128)));

struct edo_time_driver {
	/* What an insertion reads. Constant. */
	struct edo_time_shard *shards;
	uint64_t resolution; /* ns a tick */
	uint64_t reciprocal; /* floor((2^64 - 1) / resolution) */
	uint32_t driver_id;
	uint32_t shard_count;
	const edo_allocator *allocator;
	struct edo_clock clock;
	char apart[64];     /* next_wake is written twice a turn, and read by every insertion */
	uint64_t next_wake; /* T3; atomic */
	char apart_too[64];
};

int edo_time_init(struct edo_time_driver *time, uint32_t driver_id, enum edo_sys_clock source,
		  uint64_t resolution, bool start_paused, uint32_t shards,
		  const edo_allocator *allocator);
/* Refuses new entries, fires all with SHUTDOWN. Holder only. */
void edo_time_shutdown(struct edo_time_driver *time);
void edo_time_destroy(struct edo_time_driver *time);

/* The present in ns since the start, at most EDO_CLOCK_END. Never before what a turn has acted on (p09). */
uint64_t edo_time_now(const struct edo_time_driver *time);
/* The present of this poll: read once a task poll, kept in the context (p16). */
uint64_t edo_time_poll_now(const struct edo_time_driver *time, edo_context *cx);

/*
 * floor(ns / resolution) without a division, which costs as much as the rest of an insertion: the
 * product with the reciprocal is the quotient or one less (the reciprocal is short of 2^64/resolution
 * by at most 1, so the product is short by less than 1 before it is cut). *rest receives what is
 * left, below 2 * resolution.
 */
static inline uint64_t edo_time_divide(const struct edo_time_driver *time, uint64_t ns,
				       uint64_t *rest)
{
	__extension__ typedef unsigned __int128 product;
	uint64_t quotient = (uint64_t)(((product)ns * time->reciprocal) >> 64);

	*rest = ns - quotient * time->resolution;
	return quotient;
}

/* A deadline as a tick, rounded up and clamped (T1). */
static inline uint64_t edo_time_tick_of(const struct edo_time_driver *time, uint64_t deadline)
{
	uint64_t rest;
	uint64_t tick = edo_time_divide(time, deadline, &rest);

	tick += (uint64_t)(rest > 0) + (uint64_t)(rest > time->resolution);
	return tick < EDO_TICK_MAX ? tick : EDO_TICK_MAX;
}

/* An instant as the tick it lies in, rounded down (p22). */
static inline uint64_t edo_time_tick_at(const struct edo_time_driver *time, uint64_t now)
{
	uint64_t rest;
	uint64_t tick = edo_time_divide(time, now, &rest);

	return tick + (uint64_t)(rest >= time->resolution);
}

/* When a tick begins, or EDO_FOREVER when that does not fit. */
static inline uint64_t edo_time_instant_of(const struct edo_time_driver *time, uint64_t tick)
{
	uint64_t instant;

	return __builtin_mul_overflow(tick, time->resolution, &instant) ? EDO_FOREVER : instant;
}

bool edo_time_is_paused(const struct edo_time_driver *time);
/* Holder's thread only. -EINVAL when it is so already. */
int edo_time_pause(struct edo_time_driver *time);
int edo_time_resume(struct edo_time_driver *time);
/* Moves the paused clock; fires nothing by itself. */
int edo_time_advance(struct edo_time_driver *time, uint64_t duration);

/* ---- the holder's side ---- */

/*
 * Before a wait (T3): says SCANNING, scans the shards, publishes. Returns how long the wait may be in
 * ns, at most max_wait, rounded up and never 0 while the next timer is not due (R4); 0 when an insertion
 * came between and the holder must not wait. No shard is looked at when max_wait is 0.
 */
uint64_t edo_time_before_wait(struct edo_time_driver *time, uint64_t max_wait);
/* After a wait: says IDLE. Before the driver is released, always. */
void edo_time_after_wait(struct edo_time_driver *time);
/*
 * Turns each shard to now and wakes what is due, in batches, locks dropped (T2, T7). Returns how many
 * fired. When much is due or cascades, this is only the beginning: nothing later fires before what is
 * left, and edo_time_before_wait() forbids to wait.
 */
unsigned edo_time_process(struct edo_time_driver *time);
/* As edo_time_process(), to the end. */
unsigned edo_time_process_all(struct edo_time_driver *time);
/*
 * Paused clock: moves it to the next timer's tick, if there is one before the clock's end, and fires what
 * is due then. Returns whether there was one. On the way it may pass the start of a coarse slot, which
 * only another thread can see.
 */
bool edo_time_jump(struct edo_time_driver *time);

/*
 * ---- the owner's side; `time` is the driver of the runtime the owner runs on, NULL when there is none
 * or it has no time: then what is armed says -EXDEV, and arming -EINVAL ----
 */

/* In place; unarmed. */
void edo_entry_init(edo_timer_entry *entry);

/*
 * Polls: unarmed, it is armed for `tick` in this time driver; armed, its waker is refreshed, and it is
 * fired on the spot when its tick has passed by the clock of this poll (p16, not with a paused clock).
 * 0: fired. -ESHUTDOWN. -EXDEV: armed in another time driver. -EINVAL: copied while armed (p20), or no
 * time driver. -ECHILD after fork is the caller's affair.
 * Spends no coop budget: the leaf does.
 * `unpark` of T3: when a sleeping driver must be woken, edo_driver_unpark() is called through the driver
 * that embeds `time` (see time_unpark in driver.c).
 */
edo_poll edo_entry_poll(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
			edo_context *cx);

/*
 * Moves an armed or fired entry to `tick` (T4). Later than the cell says: one compare-and-swap. Earlier:
 * under the lock, into this thread's shard; at or before the present it fires at once, its waker woken
 * outside the lock (p10). Unarmed stays unarmed, fired becomes unarmed: the next poll arms it.
 * 0, -EXDEV, -ESHUTDOWN.
 */
int edo_entry_reset(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick);

/*
 * As edo_entry_reset() when armed; when unarmed or fired it is armed at once, with this waker cloned into
 * it if it has none. For entries that are armed without being polled (a stream's idle limit).
 * 0; -ETIME: the tick is not after the wheel's present, the entry is fired, nobody was woken; -EINVAL: to be
 * armed, and no time driver.
 */
int edo_entry_arm(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
		  const edo_waker *waker);

/*
 * Disarms: complete on return, in any state, again is harmless. A fired entry stays fired, any other is
 * unarmed afterwards. From any thread: a driver other than the thread's own is found by its number.
 */
void edo_entry_drop(edo_timer_entry *entry);

/*
 * Disarms what is armed in `time`, which does not end meanwhile; for callers that hold a lock above the shards'. The
 * waker is theirs to drop, once they hold none.
 */
edo_waker edo_entry_take(struct edo_time_driver *time, edo_timer_entry *entry);

bool edo_entry_has_fired(const edo_timer_entry *entry);
bool edo_entry_is_armed(const edo_timer_entry *entry);

/* ---- what the room asks of the driver round it; implemented there ---- */

/* Makes the holder's wait end, since waking goes through what lies below time. */
void edo_time_unpark(struct edo_time_driver *time);
/* The time driver of this thread's driver if that has this number, else NULL. */
struct edo_time_driver *edo_time_own(uint32_t driver_id);
/* The one with this number, which lives until the release; NULL when it is gone. No lock may be held. */
struct edo_time_driver *edo_time_hold(uint32_t driver_id);
void edo_time_release(struct edo_time_driver *time);

#endif
