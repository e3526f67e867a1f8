/**
 * @file
 * A hierarchical timer wheel on its own: no runtime, clock, lock, thread or allocation.
 *
 * It keeps any number of timers, each due at a tick, and hands out those whose tick has come. What
 * a tick is, the caller says. Arming, moving and removing take the same few nanoseconds at ten
 * timers as at ten million. Every tick up to EDO_WHEEL_MAX is a legal time; it is exact: a timer is
 * handed out at its own tick, never before, and nothing is rounded.
 *
 * Storage: wheel and timers are the caller's, usually members of other structs, found again with
 * edo_container_of(). Neither may be copied or moved, a wheel after edo_wheel_init(), a timer
 * while it is armed. A timer takes 32 bytes, a wheel less than 7 KiB.
 *
 * Threads: none. One wheel and its timers are used by one thread at a time.
 *
 * Follows Varghese and Lauck, "Hashed and hierarchical timing wheels" (SOSP '87), scheme 7, with a
 * bit mask of occupied slots for each level.
 */
#ifndef EDO_WHEEL_H
#define EDO_WHEEL_H

#include <edo/detail/list_node.h>
#include <stdbool.h>

EDO_BEGIN_DECLS

/** The latest tick a timer can be armed for. */
#define EDO_WHEEL_MAX (UINT64_MAX - 2)

/** The geometry: a slot of level n spans 64^n ticks. */
#define EDO_WHEEL_LEVELS 6
/** Slots of each level. */
#define EDO_WHEEL_SLOTS 64

/**
 * A timer, in a struct of the caller's. All zeros, or edo_wheel_timer_init(), make it unarmed.
 *
 * Only the two spare fields and, while it is unarmed, `when` are the caller's to write.
 */
typedef struct edo_wheel_timer {
	/** Private: its neighbours in a slot. `next` is NULL exactly while it is unarmed. */
	edo_list_node node;
	/**
	 * The tick it is, or was last, armed for: what its owner wants now. The place it lies in
	 * opens at this tick or earlier. Reading it is allowed; the wheel writes it only when it is
	 * armed.
	 */
	uint64_t when;
	/** Private: the place it was put in. */
	uint8_t level;
	uint8_t slot;
	/**
	 * For whoever embeds the timer: the wheel neither reads nor writes them, not even at init.
	 */
	uint16_t spare16;
	uint32_t spare32;
} edo_wheel_timer;

/**
 * A wheel. Private fields; the invariants among them stand in src/wheel/wheel.h.
 */
typedef struct edo_wheel {
	/** The latest tick it was told of: what is due has been handed out, or is about to be. */
	uint64_t present;
	/** Where the dials stand: at the present, or behind it while a poll is under way. */
	uint64_t dials;
	/** Armed timers. */
	size_t count;
	/** A bit for each slot that is not empty. */
	uint64_t occupied[EDO_WHEEL_LEVELS];
	/**
	 * What is left of the slot that is being spread over finer levels; it opened at `dials`.
	 */
	edo_list_node cascading;
	/** For each occupied slot of the top level, where laps meet: the tick at which it opens. */
	uint64_t top_opens[EDO_WHEEL_SLOTS];
	edo_list_node slots[EDO_WHEEL_LEVELS][EDO_WHEEL_SLOTS];
} edo_wheel;

/** Sets @p wheel up in place, empty, its present at @p start_tick. */
EDO_API void edo_wheel_init(edo_wheel *wheel, uint64_t start_tick);

/** Makes @p timer unarmed, whatever was there before; not for an armed one. */
EDO_API void edo_wheel_timer_init(edo_wheel_timer *timer);

/**
 * Arms @p timer to expire at tick @p when, replacing whatever it was armed for.
 *
 * O(1). The timer's storage belongs to the caller and must not move or be freed until the timer has
 * expired or edo_wheel_remove() has returned. Legal between two edo_wheel_poll() of one loop.
 *
 * Timers of one tick expire in the order in which they were inserted, except that those which came
 * to their last place by a cascade, or stayed in one through edo_wheel_reset(), may come in any.
 *
 * @param when  absolute tick, at most EDO_WHEEL_MAX
 * @return 0; -ETIME when @p when is not after the wheel's present: the timer is then unarmed and
 *         the caller should treat it as expired; -EINVAL when @p when is beyond EDO_WHEEL_MAX:
 *         nothing has changed
 */
EDO_API EDO_NODISCARD int edo_wheel_insert(edo_wheel *wheel, edo_wheel_timer *timer, uint64_t when);

/**
 * Moves @p timer to tick @p when; an unarmed one is armed. As edo_wheel_insert(), and cheaper in
 * the usual case: where the place that the timer lies in opens no later than @p when, as it does
 * for any later tick than before, only `when` is written and no list is touched.
 *
 * @return as edo_wheel_insert()
 */
EDO_API EDO_NODISCARD int edo_wheel_reset(edo_wheel *wheel, edo_wheel_timer *timer, uint64_t when);

/**
 * Disarms @p timer; legal at any moment, and on an unarmed timer. O(1), complete on return.
 *
 * @return whether it was armed
 */
EDO_API bool edo_wheel_remove(edo_wheel *wheel, edo_wheel_timer *timer);

/**
 * When to poll next: a tick before which nothing expires, though nothing need expire at it. For
 * the next 64 ticks it is exact unless a timer was moved; beyond, it may name the start of the slot
 * in which the earliest timer lies. At or before the present: the last poll did not finish.
 *
 * @param at  receives the tick; untouched when there is none
 * @return whether anything is armed
 */
EDO_API bool edo_wheel_next(const edo_wheel *wheel, uint64_t *at);

/**
 * Turns the wheel towards tick @p now and hands out one timer that has expired, now unarmed; call
 * it again until it returns NULL. Timers come in the order of their ticks.
 *
 * From the first call on @p now is the wheel's present: what is armed for @p now or earlier while
 * the loop runs is refused (-ETIME), so that the loop ends whatever its body arms. The body may
 * insert, move and remove any timer. A @p now before the present counts as the present.
 *
 * @return a timer, or NULL: nothing more is due
 */
EDO_API EDO_NODISCARD edo_wheel_timer *edo_wheel_poll(edo_wheel *wheel, uint64_t now);

/**
 * As edo_wheel_poll(), with a bound on the work: each timer that is handed out, or moved to another
 * slot on the way, takes one from @p budget, and at 0 the wheel stops where it is. A wheel that has
 * stopped may be used in every way; nothing expires that is due after what is left.
 *
 * @return a timer; or NULL, and then *budget tells: more than 0, nothing more is due; 0, come
 *         again, unless edo_wheel_next() is after @p now
 */
EDO_API EDO_NODISCARD edo_wheel_timer *edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now,
							     unsigned *budget);

/**
 * Takes any timer out, whenever it is due, for shutting down: until NULL, the wheel is empty. Time
 * does not move.
 */
EDO_API EDO_NODISCARD edo_wheel_timer *edo_wheel_drain(edo_wheel *wheel);

/** @return the wheel's present: the latest tick it was polled for, or where it started. */
EDO_API uint64_t edo_wheel_elapsed(const edo_wheel *wheel);

/** @return whether @p timer is in a wheel. */
EDO_API bool edo_wheel_is_armed(const edo_wheel_timer *timer);

/** @return how many timers are armed. */
EDO_API size_t edo_wheel_count(const edo_wheel *wheel);

/**
 * Where the timers of one level lie, for a picture of the wheel. Walks them all.
 *
 * @param bits    receives a bit for each slot with timers; may be NULL
 * @param counts  receives the timers in each slot; may be NULL
 * @return how many timers the level holds, or -EINVAL when there is no such level
 */
EDO_API int64_t edo_wheel_occupancy(const edo_wheel *wheel, unsigned level, uint64_t *bits,
				    size_t counts[EDO_WHEEL_SLOTS]);

/**
 * Looks at every slot and timer and checks what must hold between them; slow and plain, for tests.
 *
 * @return 0, or the negated line in src/wheel/check.c of what does not hold
 */
EDO_API int edo_wheel_check(const edo_wheel *wheel);

EDO_END_DECLS

#endif
