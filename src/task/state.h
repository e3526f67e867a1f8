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
 * Every transition is one atomic read-modify-write, acquire and release: what was written before a
 * wake is visible to the poll that follows, also when the task was notified already (p60). Each
 * returns what its caller must do next.
 */
#ifndef EDO_TASK_STATE_H
#define EDO_TASK_STATE_H

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
#define EDO_STATE_INITIAL                                                                          \
	(3 * EDO_STATE_REFERENCE | EDO_STATE_NOTIFIED | EDO_STATE_JOIN_INTEREST)

enum edo_start_poll {
	EDO_START_POLL,      /* poll it */
	EDO_START_CANCELLED, /* it is yours to end */
	EDO_START_NOTHING,   /* somebody else has it or it has ended; the notification is used up */
	EDO_START_FREE,      /* likewise, and that was the last reference */
};

enum edo_end_poll {
	EDO_END_IDLE,      /* nothing; the notification is used up */
	EDO_END_FREE,      /* likewise, and that was the last reference */
	EDO_END_NOTIFIED,  /* woken meanwhile: hand it to the scheduler, with the reference at hand */
	EDO_END_CANCELLED, /* told to end meanwhile: still running, it is yours to end */
};

enum edo_wake_action {
	EDO_WAKE_NOTHING,
	EDO_WAKE_SUBMIT, /* hand it to the scheduler, with one reference */
	EDO_WAKE_FREE,   /* that was the last reference */
};

enum edo_start_poll edo_state_start_poll(uint64_t *state);
/* With runs_to_end a cancelled task becomes idle like any other. */
enum edo_end_poll edo_state_end_poll(uint64_t *state, bool runs_to_end);
/* RUNNING becomes COMPLETE; returns the word as it was before. */
uint64_t edo_state_complete(uint64_t *state);
/* A wake that uses up its reference, and one that does not. */
enum edo_wake_action edo_state_wake(uint64_t *state);
enum edo_wake_action edo_state_wake_by_ref(uint64_t *state);
/* Abort: cancelled, and notified so that somebody sees it. */
enum edo_wake_action edo_state_cancel(uint64_t *state);
/* Shutdown: cancelled; true: it was idle and is now the caller's (RUNNING). */
bool edo_state_shut_down(uint64_t *state);

void edo_state_add_reference(uint64_t *state);
/* True: that was the last one. */
bool edo_state_drop_reference(uint64_t *state);

/* The joiner has written join_waker. False: the task has completed, the waker is still the joiner's. */
bool edo_state_set_join_waker(uint64_t *state);
/* The joiner takes join_waker back. False: the task has completed, who did so owns the waker. */
bool edo_state_unset_join_waker(uint64_t *state);
/* Who completed has used the join waker. Returns the word as it is after. */
uint64_t edo_state_release_join_waker(uint64_t *state);
/* The handle goes. True: join_waker, if it is set, is the caller's to drop. */
bool edo_state_drop_join_interest(uint64_t *state);

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
