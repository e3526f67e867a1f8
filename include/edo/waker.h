/**
 * @file
 * Wakers: how something that happened reaches the task that waits for it.
 *
 * A waker is two words, a target and a table of four functions, and can be made by anybody: edo's
 * own point at tasks and parked threads, yours may point at anything. Every function of a waker
 * may be called from any thread, and must not block.
 */
#ifndef EDO_WAKER_H
#define EDO_WAKER_H

#include <edo/detail/base.h>
#include <stdbool.h>

EDO_BEGIN_DECLS

/** A right to wake one target. */
typedef struct edo_waker edo_waker;
/** What a poll is given; see <edo/future.h>. */
typedef struct edo_context edo_context;

/** What a waker can do. All four are legal from any thread; none may block or fail. */
typedef struct edo_waker_ops {
	/** Returns a second waker for the same target; both must be consumed. */
	edo_waker (*clone)(void *data);
	/** Wakes the target and consumes the waker. */
	void (*wake)(void *data);
	/** Wakes the target; the waker stays. */
	void (*wake_by_ref)(void *data);
	/** Consumes the waker without a wake. */
	void (*drop)(void *data);
} edo_waker_ops;

/** A right to wake one target. All zero means "none": waking or dropping it does nothing. */
struct edo_waker {
	/** The target, as the functions of `ops` know it. */
	void *data;
	/** What to do with it; NULL: no target. */
	const edo_waker_ops *ops;
};

/** @return whether @p waker has a target. */
static inline bool edo_waker_is_set(const edo_waker *waker)
{
	return waker->ops != NULL;
}

/** @return another waker for the same target. The caller owns it. */
static inline edo_waker edo_waker_clone(const edo_waker *waker)
{
	edo_waker none = { NULL, NULL };

	return waker->ops ? waker->ops->clone(waker->data) : none;
}

/** @return whether the two certainly wake the same target; false when in doubt. */
static inline bool edo_waker_will_wake(const edo_waker *waker, const edo_waker *other)
{
	return waker->data == other->data && waker->ops == other->ops;
}

/** Wakes the target. @p waker is consumed and reads as "none" afterwards. */
static inline void edo_waker_wake(edo_waker *waker)
{
	edo_waker taken = *waker;

	waker->data = NULL;
	waker->ops = NULL;
	if (taken.ops)
		taken.ops->wake(taken.data);
}

/** Wakes the target; the waker can be used again. */
static inline void edo_waker_wake_by_ref(const edo_waker *waker)
{
	if (waker->ops)
		waker->ops->wake_by_ref(waker->data);
}

/** Gives the waker up without a wake. It reads as "none" afterwards; dropping it again is harmless. */
static inline void edo_waker_drop(edo_waker *waker)
{
	edo_waker taken = *waker;

	waker->data = NULL;
	waker->ops = NULL;
	if (taken.ops)
		taken.ops->drop(taken.data);
}

/**
 * A place for one waker that one thread fills and any thread wakes, without a lock.
 *
 * The rule that makes it safe: **register first, then check** the condition; and whoever changes the
 * condition does so first (release), then wakes. Then no wake is ever lost. One task registers at
 * a time; any number of threads may wake at once. All zero is a valid, empty one.
 *
 * Threads: register and clear from the one task that waits, wake from anywhere.
 */
typedef struct edo_atomic_waker {
	/* private */
	uintptr_t edo_state_;
	edo_waker edo_waker_;
} edo_atomic_waker;

/** Remembers the waker of @p cx, replacing an older one. A wake that comes at the same time is not lost. */
EDO_API void edo_atomic_waker_register(edo_atomic_waker *place, const edo_context *cx);

/** Wakes and forgets the waker in @p place, if any. What was written before is visible to the poll. */
EDO_API void edo_atomic_waker_wake(edo_atomic_waker *place);

/** Takes the waker out without waking it; "none" if there is none or someone is just changing it. */
EDO_API edo_waker edo_atomic_waker_take(edo_atomic_waker *place);

/**
 * Forgets the waker in @p place. Once it has returned nobody who calls edo_atomic_waker_wake() later
 * reaches the task; a wake that was already under way may still arrive, as a spurious one.
 */
EDO_API void edo_atomic_waker_clear(edo_atomic_waker *place);

EDO_END_DECLS

#endif
