/*
 * The state word of a task (K2), after Tokio's: six flags and above them the references.
 *
 *   RUNNING        somebody polls it, drops it, or completes it: the core is theirs alone (K3)
 *   COMPLETE       it has ended: result is there, the core dropped. Never cleared
 *   NOTIFIED       a notification exists: it is in a queue, or will be put there by who polls it
 *   JOIN_INTEREST  a handle exists
 *   JOIN_WAKER     join_waker is set, and belongs to whoever completes the task
 *   CANCELLED      it was told to end
 *
 * All of it is inlined into the few places that use it: a poll is three of these transitions.
 *
 * Every transition is one atomic read-modify-write, acquire and release: what was written before a
 * wake is visible to the poll that follows, also when the task was notified already (p60). Each
 * returns what its caller must do next.
 */
#ifndef EDO_TASK_STATE_H
#define EDO_TASK_STATE_H

#include "base/assert.h"
#include "base/atomic.h"
#include <stdbool.h>
#include <stdint.h>

enum {
	EDO_STATE_RUNNING = 1,
	EDO_STATE_COMPLETE = 2,
	EDO_STATE_NOTIFIED = 4,
	EDO_STATE_JOIN_INTEREST = 8,
	EDO_STATE_JOIN_WAKER = 16,
	EDO_STATE_CANCELLED = 32,
	EDO_STATE_REFERENCE = 64,
};

/* Owned list, first notification, handle. */
#define EDO_STATE_INITIAL (3 * EDO_STATE_REFERENCE | EDO_STATE_NOTIFIED | EDO_STATE_JOIN_INTEREST)

enum edo_start_poll {
	EDO_START_POLL,      /* poll it */
	EDO_START_CANCELLED, /* it is yours to end */
	EDO_START_NOTHING,   /* somebody else has it or it has ended; the notification is used up */
	EDO_START_FREE,      /* likewise, and that was the last reference */
};

enum edo_end_poll {
	EDO_END_IDLE,     /* nothing; the notification is used up */
	EDO_END_FREE,     /* likewise, and that was the last reference */
	EDO_END_NOTIFIED, /* woken meanwhile: hand it to the scheduler, with the reference at hand */
	EDO_END_CANCELLED, /* told to end meanwhile: still running, it is yours to end */
};

enum edo_wake_action {
	EDO_WAKE_NOTHING,
	EDO_WAKE_SUBMIT, /* hand it to the scheduler, with one reference */
	EDO_WAKE_FREE,   /* that was the last reference */
};

static inline bool edo_state_has(uint64_t word, uint64_t flags)
{
	return (word & flags) != 0;
}

static inline bool edo_state_is_last(uint64_t word)
{
	return word < EDO_STATE_REFERENCE;
}

/* The one way in which the word changes; on failure *seen is what it has become. */
static inline bool edo_state_change(uint64_t *state, uint64_t *seen, uint64_t next)
{
	/* Acquire and release, always: see the rule in state.h. */
	return edo_compare_exchange(state, seen, next, acq_rel, acquire);
}

static inline enum edo_start_poll edo_state_start_poll(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_start_poll action;

	do {
		if (edo_state_has(seen, EDO_STATE_RUNNING | EDO_STATE_COMPLETE)) {
			next = seen - EDO_STATE_REFERENCE;
			action = edo_state_is_last(next) ? EDO_START_FREE : EDO_START_NOTHING;
		} else {
			next = (seen | EDO_STATE_RUNNING) & ~(uint64_t)EDO_STATE_NOTIFIED;
			action = edo_state_has(seen, EDO_STATE_CANCELLED) ? EDO_START_CANCELLED :
									    EDO_START_POLL;
		}
	} while (!edo_state_change(state, &seen, next));
	/* Only now: what was seen first may have been an older value. */
	EDO_ASSERT(edo_state_has(seen, EDO_STATE_NOTIFIED));
	return action;
}

/* With runs_to_end a cancelled task becomes idle like any other. */
static inline enum edo_end_poll edo_state_end_poll(uint64_t *state, bool runs_to_end)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_end_poll action;

	do {
		EDO_ASSERT(edo_state_has(seen, EDO_STATE_RUNNING));
		if (edo_state_has(seen, EDO_STATE_CANCELLED) && !runs_to_end)
			return EDO_END_CANCELLED;
		next = seen & ~(uint64_t)EDO_STATE_RUNNING;
		if (edo_state_has(seen, EDO_STATE_NOTIFIED)) {
			action = EDO_END_NOTIFIED; /* our reference becomes the notification's */
		} else {
			next -= EDO_STATE_REFERENCE;
			action = edo_state_is_last(next) ? EDO_END_FREE : EDO_END_IDLE;
		}
	} while (!edo_state_change(state, &seen, next));
	return action;
}

/* RUNNING becomes COMPLETE; returns the word as it was before. */
static inline uint64_t edo_state_complete(uint64_t *state)
{
	const uint64_t delta = EDO_STATE_RUNNING | EDO_STATE_COMPLETE;
	/* Release: result and what the core wrote, for who reads COMPLETE. Acquire: join_waker. */
	uint64_t before = edo_fetch_xor(state, delta, acq_rel);

	EDO_ASSERT(edo_state_has(before, EDO_STATE_RUNNING) &&
		   !edo_state_has(before, EDO_STATE_COMPLETE));
	return before;
}

/* A wake that uses up its reference, and one that does not. */
static inline enum edo_wake_action edo_state_wake(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_wake_action action;

	do {
		if (edo_state_has(seen, EDO_STATE_RUNNING)) {
			/* The poller hands it on; it holds a reference, so ours is not the last. */
			next = (seen | EDO_STATE_NOTIFIED) - EDO_STATE_REFERENCE;
			action = EDO_WAKE_NOTHING;
		} else if (edo_state_has(seen, EDO_STATE_COMPLETE | EDO_STATE_NOTIFIED)) {
			next = seen - EDO_STATE_REFERENCE;
			action = edo_state_is_last(next) ? EDO_WAKE_FREE : EDO_WAKE_NOTHING;
		} else {
			next = seen | EDO_STATE_NOTIFIED; /* our reference becomes the queue's */
			action = EDO_WAKE_SUBMIT;
		}
	} while (!edo_state_change(state, &seen, next));
	return action;
}

static inline enum edo_wake_action edo_state_wake_by_ref(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_wake_action action;

	do {
		action = EDO_WAKE_NOTHING;
		next = seen; /* p60: written all the same, so that the poll sees what came before */
		if (edo_state_has(seen, EDO_STATE_COMPLETE | EDO_STATE_NOTIFIED))
			continue;
		next |= EDO_STATE_NOTIFIED;
		if (!edo_state_has(seen, EDO_STATE_RUNNING)) {
			next += EDO_STATE_REFERENCE;
			action = EDO_WAKE_SUBMIT;
		}
	} while (!edo_state_change(state, &seen, next));
	return action;
}

/* Abort: cancelled, and notified so that somebody sees it. */
static inline enum edo_wake_action edo_state_cancel(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_wake_action action;

	do {
		if (edo_state_has(seen, EDO_STATE_COMPLETE | EDO_STATE_CANCELLED))
			return EDO_WAKE_NOTHING;
		action = EDO_WAKE_NOTHING;
		next = seen | EDO_STATE_CANCELLED | EDO_STATE_NOTIFIED;
		if (!edo_state_has(seen, EDO_STATE_RUNNING | EDO_STATE_NOTIFIED)) {
			next += EDO_STATE_REFERENCE;
			action = EDO_WAKE_SUBMIT;
		}
	} while (!edo_state_change(state, &seen, next));
	return action;
}

/* Shutdown: cancelled; true: it was idle and is now the caller's (RUNNING). */
static inline bool edo_state_shut_down(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	bool was_idle;

	do {
		was_idle = !edo_state_has(seen, EDO_STATE_RUNNING | EDO_STATE_COMPLETE);
		next = seen | EDO_STATE_CANCELLED;
		if (was_idle)
			next |= EDO_STATE_RUNNING;
	} while (!edo_state_change(state, &seen, next));
	return was_idle;
}

static inline void edo_state_add_reference(uint64_t *state)
{
	/* Relaxed: whoever adds one has one already. */
	uint64_t before = edo_fetch_add(state, EDO_STATE_REFERENCE, relaxed);

	EDO_ASSERT(before >= EDO_STATE_REFERENCE);
	(void)before;
}

/* True: those were the last ones. */
static inline bool edo_state_drop_references(uint64_t *state, uint64_t n)
{
	/* Release: what was done with the cell. Acquire: what others did, for who frees it. */
	uint64_t before = edo_fetch_sub(state, n * EDO_STATE_REFERENCE, acq_rel);

	EDO_ASSERT(before >= n * EDO_STATE_REFERENCE);
	return edo_state_is_last(before - n * EDO_STATE_REFERENCE);
}

static inline bool edo_state_drop_reference(uint64_t *state)
{
	return edo_state_drop_references(state, 1);
}

/* The joiner has written join_waker. False: the task has completed, the waker is still the joiner's. */
static inline bool edo_state_set_join_waker(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);

	do {
		EDO_ASSERT(edo_state_has(seen, EDO_STATE_JOIN_INTEREST) &&
			   !edo_state_has(seen, EDO_STATE_JOIN_WAKER));
		if (edo_state_has(seen, EDO_STATE_COMPLETE)) {
			(void)edo_load(state, acquire); /* the caller reads the result now */
			return false;
		}
	} while (!edo_state_change(state, &seen, seen | EDO_STATE_JOIN_WAKER));
	return true;
}

/* The joiner takes join_waker back. False: the task has completed, who did so owns the waker. */
static inline bool edo_state_unset_join_waker(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);

	do {
		EDO_ASSERT(edo_state_has(seen, EDO_STATE_JOIN_INTEREST));
		if (edo_state_has(seen, EDO_STATE_COMPLETE)) {
			(void)edo_load(state, acquire);
			return false;
		}
		EDO_ASSERT(edo_state_has(seen, EDO_STATE_JOIN_WAKER));
	} while (!edo_state_change(state, &seen, seen & ~(uint64_t)EDO_STATE_JOIN_WAKER));
	return true;
}

/* Who completed has used the join waker. Returns the word as it is after. */
static inline uint64_t edo_state_release_join_waker(uint64_t *state)
{
	/* Release: our use of join_waker is over, for whoever drops the handle. */
	uint64_t before = edo_fetch_and(state, ~(uint64_t)EDO_STATE_JOIN_WAKER, acq_rel);

	EDO_ASSERT(edo_state_has(before, EDO_STATE_COMPLETE) &&
		   edo_state_has(before, EDO_STATE_JOIN_WAKER));
	return before & ~(uint64_t)EDO_STATE_JOIN_WAKER;
}

/* The handle goes. True: join_waker, if it is set, is the caller's to drop. */
static inline bool edo_state_drop_join_interest(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;

	do {
		EDO_ASSERT(edo_state_has(seen, EDO_STATE_JOIN_INTEREST));
		next = seen & ~(uint64_t)EDO_STATE_JOIN_INTEREST;
		/* Not complete: nobody will use the waker any more, so take it back on the way. */
		if (!edo_state_has(seen, EDO_STATE_COMPLETE))
			next &= ~(uint64_t)EDO_STATE_JOIN_WAKER;
	} while (!edo_state_change(state, &seen, next));
	return !edo_state_has(next, EDO_STATE_JOIN_WAKER);
}

static inline bool edo_state_is_complete(const uint64_t *state)
{
	/* Acquire: pairs with edo_state_complete(), result and core can be read. */
	return edo_load(state, acquire) & EDO_STATE_COMPLETE;
}

static inline bool edo_state_is_cancelled(const uint64_t *state)
{
	/* Acquire: pairs with edo_state_cancel(), what was written before the abort is visible. */
	return edo_load(state, acquire) & EDO_STATE_CANCELLED;
}

#endif
