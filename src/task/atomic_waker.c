/*
 * A place for one waker (after the AtomicWaker of Rust's futures crate).
 *
 * The state says who may touch edo_waker_: nobody does in WAITING; the registering task in
 * REGISTERING; the first waker in WAKING. A wake that finds REGISTERING leaves its mark, and the
 * registering task then does the wake itself: so none is lost, whatever the interleaving.
 */
#include "base/atomic.h"
#include "base/lock.h"
#include <edo/future.h>

enum { WAITING = 0, REGISTERING = 1, WAKING = 2 };

static edo_waker take_away(edo_atomic_waker *place)
{
	edo_waker waker = place->edo_waker_;

	place->edo_waker_ = (edo_waker){ 0 };
	return waker;
}

/* A wake came while we registered: it left the waking to us. */
static void wake_instead(edo_atomic_waker *place)
{
	edo_waker waker = take_away(place);

	/* Release: edo_waker_ is empty for whoever comes next. Acquire: what the waker wrote before. */
	(void)edo_exchange(&place->edo_state_, WAITING, acq_rel);
	edo_waker_wake(&waker);
}

void edo_atomic_waker_register(edo_atomic_waker *place, const edo_context *cx)
{
	uintptr_t seen = WAITING;
	edo_waker old = { 0 };

	/* Acquire: pairs with the release that ended the last wake. */
	if (!edo_compare_exchange(&place->edo_state_, &seen, REGISTERING, acquire, acquire)) {
		/* WAKING: what it tells has happened already, so the poll must come again. */
		edo_waker_wake_by_ref(cx->waker);
		return;
	}
	if (!edo_waker_will_wake(&place->edo_waker_, cx->waker)) {
		old = place->edo_waker_;
		place->edo_waker_ = edo_waker_clone(cx->waker);
	}
	seen = REGISTERING;
	/* Release: the waker is there for whoever wakes. Acquire on failure: see wake_instead(). */
	if (!edo_compare_exchange(&place->edo_state_, &seen, WAITING, acq_rel, acquire))
		wake_instead(place);
	edo_waker_drop(&old);
}

edo_waker edo_atomic_waker_take(edo_atomic_waker *place)
{
	edo_waker waker = { 0 };

	/* Release: what was written before the wake, for the registering task. Acquire: the waker. */
	if (edo_fetch_or(&place->edo_state_, WAKING, acq_rel) != WAITING)
		return waker;
	waker = take_away(place);
	/* Release: the place is empty for the next registration. */
	(void)edo_fetch_and(&place->edo_state_, ~(uintptr_t)WAKING, release);
	return waker;
}

void edo_atomic_waker_wake(edo_atomic_waker *place)
{
	edo_waker waker = edo_atomic_waker_take(place);

	edo_waker_wake(&waker);
}

void edo_atomic_waker_clear(edo_atomic_waker *place)
{
	edo_waker waker = edo_atomic_waker_take(place);

	edo_waker_drop(&waker);
}
