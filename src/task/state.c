/* Transitions of a task's state word: see state.h for the flags and the rule on orders. */
#include "state.h"
#include "base/assert.h"

static bool has(uint64_t word, uint64_t flags)
{
	return (word & flags) != 0;
}

static bool is_last(uint64_t word)
{
	return word < EDO_STATE_REFERENCE;
}

/* The one way in which the word changes; on failure *seen is what it has become. */
static bool change(uint64_t *state, uint64_t *seen, uint64_t next)
{
	/* Acquire and release, always: see the rule in state.h. */
	return edo_compare_exchange(state, seen, next, acq_rel, acquire);
}

enum edo_start_poll edo_state_start_poll(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_start_poll action;

	do {
		EDO_ASSERT(has(seen, EDO_STATE_NOTIFIED));
		if (has(seen, EDO_STATE_RUNNING | EDO_STATE_COMPLETE)) {
			next = seen - EDO_STATE_REFERENCE;
			action = is_last(next) ? EDO_START_FREE : EDO_START_NOTHING;
		} else {
			next = (seen | EDO_STATE_RUNNING) & ~(uint64_t)EDO_STATE_NOTIFIED;
			action = has(seen, EDO_STATE_CANCELLED) ? EDO_START_CANCELLED
								: EDO_START_POLL;
		}
	} while (!change(state, &seen, next));
	return action;
}

enum edo_end_poll edo_state_end_poll(uint64_t *state, bool runs_to_end)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_end_poll action;

	do {
		EDO_ASSERT(has(seen, EDO_STATE_RUNNING));
		if (has(seen, EDO_STATE_CANCELLED) && !runs_to_end)
			return EDO_END_CANCELLED;
		next = seen & ~(uint64_t)EDO_STATE_RUNNING;
		if (has(seen, EDO_STATE_NOTIFIED)) {
			action = EDO_END_NOTIFIED; /* our reference becomes the notification's */
		} else {
			next -= EDO_STATE_REFERENCE;
			action = is_last(next) ? EDO_END_FREE : EDO_END_IDLE;
		}
	} while (!change(state, &seen, next));
	return action;
}

uint64_t edo_state_complete(uint64_t *state)
{
	const uint64_t delta = EDO_STATE_RUNNING | EDO_STATE_COMPLETE;
	/* Release: result and what the core wrote, for who reads COMPLETE. Acquire: join_waker. */
	uint64_t before = edo_fetch_xor(state, delta, acq_rel);

	EDO_ASSERT(has(before, EDO_STATE_RUNNING) && !has(before, EDO_STATE_COMPLETE));
	return before;
}

enum edo_wake_action edo_state_wake(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_wake_action action;

	do {
		if (has(seen, EDO_STATE_RUNNING)) {
			/* The poller hands it on; it holds a reference, so ours is not the last. */
			next = (seen | EDO_STATE_NOTIFIED) - EDO_STATE_REFERENCE;
			action = EDO_WAKE_NOTHING;
		} else if (has(seen, EDO_STATE_COMPLETE | EDO_STATE_NOTIFIED)) {
			next = seen - EDO_STATE_REFERENCE;
			action = is_last(next) ? EDO_WAKE_FREE : EDO_WAKE_NOTHING;
		} else {
			next = seen | EDO_STATE_NOTIFIED; /* our reference becomes the queue's */
			action = EDO_WAKE_SUBMIT;
		}
	} while (!change(state, &seen, next));
	return action;
}

enum edo_wake_action edo_state_wake_by_ref(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_wake_action action;

	do {
		action = EDO_WAKE_NOTHING;
		next = seen; /* p60: written all the same, so that the poll sees what came before */
		if (has(seen, EDO_STATE_COMPLETE | EDO_STATE_NOTIFIED))
			continue;
		next |= EDO_STATE_NOTIFIED;
		if (!has(seen, EDO_STATE_RUNNING)) {
			next += EDO_STATE_REFERENCE;
			action = EDO_WAKE_SUBMIT;
		}
	} while (!change(state, &seen, next));
	return action;
}

enum edo_wake_action edo_state_cancel(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	enum edo_wake_action action;

	do {
		if (has(seen, EDO_STATE_COMPLETE | EDO_STATE_CANCELLED))
			return EDO_WAKE_NOTHING;
		action = EDO_WAKE_NOTHING;
		next = seen | EDO_STATE_CANCELLED | EDO_STATE_NOTIFIED;
		if (!has(seen, EDO_STATE_RUNNING | EDO_STATE_NOTIFIED)) {
			next += EDO_STATE_REFERENCE;
			action = EDO_WAKE_SUBMIT;
		}
	} while (!change(state, &seen, next));
	return action;
}

bool edo_state_shut_down(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;
	bool was_idle;

	do {
		was_idle = !has(seen, EDO_STATE_RUNNING | EDO_STATE_COMPLETE);
		next = seen | EDO_STATE_CANCELLED;
		if (was_idle)
			next |= EDO_STATE_RUNNING;
	} while (!change(state, &seen, next));
	return was_idle;
}

void edo_state_add_reference(uint64_t *state)
{
	/* Relaxed: whoever adds one has one already. */
	uint64_t before = edo_fetch_add(state, EDO_STATE_REFERENCE, relaxed);

	EDO_ASSERT(before >= EDO_STATE_REFERENCE);
	(void)before;
}

bool edo_state_drop_reference(uint64_t *state)
{
	/* Release: what was done with the cell. Acquire: what others did, for who frees it. */
	uint64_t before = edo_fetch_sub(state, EDO_STATE_REFERENCE, acq_rel);

	EDO_ASSERT(before >= EDO_STATE_REFERENCE);
	return is_last(before - EDO_STATE_REFERENCE);
}

bool edo_state_set_join_waker(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);

	do {
		EDO_ASSERT(has(seen, EDO_STATE_JOIN_INTEREST) && !has(seen, EDO_STATE_JOIN_WAKER));
		if (has(seen, EDO_STATE_COMPLETE)) {
			(void)edo_load(state, acquire); /* the caller reads the result now */
			return false;
		}
	} while (!change(state, &seen, seen | EDO_STATE_JOIN_WAKER));
	return true;
}

bool edo_state_unset_join_waker(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);

	do {
		EDO_ASSERT(has(seen, EDO_STATE_JOIN_INTEREST));
		if (has(seen, EDO_STATE_COMPLETE)) {
			(void)edo_load(state, acquire);
			return false;
		}
		EDO_ASSERT(has(seen, EDO_STATE_JOIN_WAKER));
	} while (!change(state, &seen, seen & ~(uint64_t)EDO_STATE_JOIN_WAKER));
	return true;
}

uint64_t edo_state_release_join_waker(uint64_t *state)
{
	/* Release: our use of join_waker is over, for whoever drops the handle. */
	uint64_t before = edo_fetch_and(state, ~(uint64_t)EDO_STATE_JOIN_WAKER, acq_rel);

	EDO_ASSERT(has(before, EDO_STATE_COMPLETE) && has(before, EDO_STATE_JOIN_WAKER));
	return before & ~(uint64_t)EDO_STATE_JOIN_WAKER;
}

bool edo_state_drop_join_interest(uint64_t *state)
{
	uint64_t seen = edo_load(state, relaxed);
	uint64_t next;

	do {
		EDO_ASSERT(has(seen, EDO_STATE_JOIN_INTEREST));
		next = seen & ~(uint64_t)EDO_STATE_JOIN_INTEREST;
		/* Not complete: nobody will use the waker any more, so take it back on the way. */
		if (!has(seen, EDO_STATE_COMPLETE))
			next &= ~(uint64_t)EDO_STATE_JOIN_WAKER;
	} while (!change(state, &seen, next));
	return !has(next, EDO_STATE_JOIN_WAKER);
}
