/**
 * @file
 * Time: clocks, sleeps, timers that move, time-outs, periods, and a clock that tests can turn.
 *
 * Durations and instants are unsigned 64-bit nanoseconds. An instant counts from the start of its
 * runtime's clock. Sums saturate; EDO_FOREVER is the largest and means never.
 *
 * A timer never fires early. Deadlines are rounded up to the runtime's tick (1 ms by default).
 * Arming, moving and disarming cost the same at ten timers as at ten million, and allocate nothing.
 */
#ifndef EDO_TIME_H
#define EDO_TIME_H

#include <edo/future.h>
#include <edo/wheel.h>

EDO_BEGIN_DECLS

/** A length of time in ns. */
typedef uint64_t edo_duration;
/** A moment, in ns since the start of its runtime's clock. */
typedef uint64_t edo_instant;

/** The largest duration and instant: never. */
#define EDO_FOREVER UINT64_MAX

/** @return @p n units of @p unit ns, or EDO_FOREVER when that does not fit. */
static inline edo_duration edo_duration_of(uint64_t n, uint64_t unit)
{
	return n > EDO_FOREVER / unit ? EDO_FOREVER : n * unit;
}

/** @p n nanoseconds as a duration. As all of these: @p n is a whole number, not below 0; saturates. */
#define EDO_NS(n) edo_duration_of((uint64_t)(n), UINT64_C(1))
/** @p n microseconds. */
#define EDO_US(n) edo_duration_of((uint64_t)(n), UINT64_C(1000))
/** @p n milliseconds. */
#define EDO_MS(n) edo_duration_of((uint64_t)(n), UINT64_C(1000000))
/** @p n seconds. */
#define EDO_SEC(n) edo_duration_of((uint64_t)(n), UINT64_C(1000000000))
/** @p n minutes. */
#define EDO_MIN(n) edo_duration_of((uint64_t)(n), UINT64_C(60000000000))
/** @p n hours. */
#define EDO_HOUR(n) edo_duration_of((uint64_t)(n), UINT64_C(3600000000000))

/** @return @p instant + @p duration, at most EDO_FOREVER. */
static inline edo_instant edo_instant_add(edo_instant instant, edo_duration duration)
{
	return duration > EDO_FOREVER - instant ? EDO_FOREVER : instant + duration;
}

/** @return how long after @p earlier @p later is; 0 when it is not. */
static inline edo_duration edo_instant_since(edo_instant later, edo_instant earlier)
{
	return later > earlier ? later - earlier : 0;
}

/** @return the present, read afresh, on this thread's runtime; 0 without one (or without time). */
EDO_API edo_instant edo_now(void);

/**
 * Sleeps for @p duration, never less; 0 does not wait.
 *
 * @return 0; -ECANCELED, -ETIMEDOUT, -EDEADLK as edo_await(); -EINVAL: no runtime; -EOPNOTSUPP: it has no
 *         time; -ESHUTDOWN: it ended. Cancel safe. No system call, no allocation
 */
EDO_API int edo_sleep(edo_duration duration);

/** As edo_sleep(), until @p deadline; a moment that has passed does not wait. */
EDO_API int edo_sleep_until(edo_instant deadline);

/** What the wheel and the time driver know of a timer. Private; public only for its size. */
typedef struct edo_timer_entry {
	/* private: the place in the wheel, the cell with the tick wanted, shard and driver in its spare
	 * fields; and who waits */
	edo_wheel_timer edo_node_;
	edo_waker edo_waker_;
} edo_timer_entry;

/**
 * One timer: a future that is ready at its deadline, and can be moved. 64 bytes, caller-owned.
 *
 * It enters the wheel at its first poll, belongs to the runtime that polled it from then on, and
 * must not be copied or freed until it has fired or edo_timer_drop() has returned.
 * Results: 0: its time has come; -EINVAL: no runtime; -EOPNOTSUPP; -EXDEV: polled on another
 * runtime; -ESHUTDOWN: its runtime ended. Where the result itself is not at hand, as after
 * edo_select(), edo_timer_has_fired() tells whether it was 0.
 *
 * Threads: one at a time polls, resets or drops it.
 */
typedef struct edo_timer {
	edo_future future;
	/* private */
	edo_timer_entry edo_entry_;
	edo_instant edo_deadline_;
} edo_timer;

/** Sets @p timer up; nothing is armed before it is waited for. */
EDO_API void edo_timer_init(edo_timer *timer, edo_instant deadline);

/**
 * Moves @p timer, whatever its state, to @p deadline; one that has fired can be waited for again.
 * Who waits for it keeps waiting. A moment already past: the wait ends at once.
 *
 * Later (the usual case, an idle limit that is touched) costs one compare-and-swap and no lock.
 *
 * @return 0; -EXDEV: armed on another runtime than this thread's; -ESHUTDOWN: its runtime ended
 */
EDO_API int edo_timer_reset(edo_timer *timer, edo_instant deadline);

/**
 * Disarms @p timer; complete on return: its storage can be reused at once. Again is harmless. It keeps
 * its deadline: waited for again, it is armed for the same moment, and one that has fired stays fired.
 */
EDO_API void edo_timer_drop(edo_timer *timer);

/** @return the deadline it was last set to. */
EDO_API edo_instant edo_timer_deadline(const edo_timer *timer);

/** @return whether its time has come. */
EDO_API bool edo_timer_has_fired(const edo_timer *timer);

/**
 * A limit round any future: its result, or -ETIMEDOUT when the time has passed before. The inner
 * future is polled first: when both are ready it wins.
 *
 * On -ETIMEDOUT the inner wait has been dropped; what the inner future has is still the caller's. Other
 * errors of the timer (no runtime, no time in it) end the wait in the same way, as for edo_timer.
 *
 * Storage of both futures: the caller's; the inner one must outlive this one.
 */
typedef struct edo_timeout_future {
	edo_future future;
	/** What it came to, once ready: the inner future's result, -ETIMEDOUT, or the timer's error. */
	int result;
	/* private */
	edo_future *edo_inner_;
	edo_timer edo_timer_;
} edo_timeout_future;

/** Sets @p timeout up round @p inner, from now. */
EDO_API edo_future *edo_timeout_start(edo_timeout_future *timeout, edo_duration limit,
				      edo_future *inner);

/**
 * Sets @p timeout up round @p inner, until @p instant of the runtime's clock. A moment that has passed
 * does not wait: then, and always with instant 0, @p inner is polled and if it is not ready that is -ETIMEDOUT.
 */
EDO_API edo_future *edo_timeout_until_start(edo_timeout_future *timeout, edo_instant instant,
					    edo_future *inner);

/**
 * Waits for @p inner, at most for @p limit.
 *
 * @return its result; -ETIMEDOUT; -EINVAL: no runtime; -EOPNOTSUPP: it has no time; else as edo_await().
 *         As cancel safe as @p inner
 */
EDO_API int edo_timeout(edo_duration limit, edo_future *inner);

/** As edo_timeout(), until @p instant; see edo_timeout_until_start(). */
EDO_API int edo_timeout_until(edo_instant instant, edo_future *inner);

/** What an interval does after ticks were missed. */
typedef enum edo_missed {
	/** Catches up: the missed ticks come one after the other. The default. */
	EDO_MISSED_BURST,
	/** Starts a new grid at the late tick, if that was late by more than 5 ms or by a period. */
	EDO_MISSED_DELAY,
	/** Drops them and goes on at the next multiple of the period. */
	EDO_MISSED_SKIP,
} edo_missed;

/** A period. Caller-owned; rules as for edo_timer. Periods count from the instant planned, not met. */
typedef struct edo_interval {
	/* private */
	edo_timer edo_timer_;
	edo_duration edo_period_;
	edo_missed edo_missed_;
} edo_interval;

/**
 * Sets @p interval up with its first tick at @p start.
 *
 * @return 0; -EINVAL: a period of 0. A period under the runtime's tick is served as fast as ticks go
 */
EDO_API int edo_interval_init(edo_interval *interval, edo_instant start, edo_duration period,
			      edo_missed missed);

/** The wait for one tick. Dropped, the tick is not lost: the next wait gets it. Storage: the caller's. */
typedef struct edo_interval_future {
	edo_future future;
	/** 0, or why there will be no tick (as edo_interval_tick()); once ready. */
	int result;
	/** The instant for which the tick was planned, once the result is 0. */
	edo_instant at;
	/* private */
	edo_interval *edo_interval_;
} edo_interval_future;

/** Sets @p tick up for the next tick of @p interval. */
EDO_API edo_future *edo_interval_tick_start(edo_interval_future *tick, edo_interval *interval);

/**
 * Waits for the next tick. @param at  receives the instant it was planned for; may be NULL
 * @return as edo_sleep()
 */
EDO_API int edo_interval_tick(edo_interval *interval, edo_instant *at);

/** The next tick is one period from now. @return as edo_timer_reset() */
EDO_API int edo_interval_reset(edo_interval *interval);

/** The next tick is at @p instant, and the grid goes on from there. @return as edo_timer_reset() */
EDO_API int edo_interval_reset_at(edo_interval *interval, edo_instant instant);

/** Disarms @p interval; complete on return, again is harmless. */
EDO_API void edo_interval_drop(edo_interval *interval);

/**
 * Pauses the clock of this thread's current-thread runtime: edo_now() stands still, and when no task
 * is ready and none was woken from outside, the clock jumps to the next timer. Deadlines are timers too: one over
 * real input and output passes at once, since to the clock nothing else is going on.
 *
 * @return 0; -EINVAL: no runtime, or already paused; -EOPNOTSUPP: not a current-thread runtime
 */
EDO_API int edo_pause(void);

/** Lets the clock run on from where it stands. @return 0; -EINVAL: not paused */
EDO_API int edo_resume(void);

/**
 * Turns the paused clock on by exactly @p duration, fires what is due, and returns when all that
 * became ready has run; so not while tasks wake each other for ever (those that only yield do not count).
 *
 * It is one step: whatever falls due on the way finds the clock at the end of it already, and a task that
 * was spawned but has not run yet begins there too (edo_yield() first lets it begin before). To see each timer
 * at its own moment, sleep or wait instead, and let the clock jump from one to the next.
 *
 * @return 0; -EINVAL: the clock is not paused; -ECANCELED, -ETIMEDOUT as edo_await() (the clock has moved)
 */
EDO_API int edo_advance(edo_duration duration);

EDO_END_DECLS

#endif
