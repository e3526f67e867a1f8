/**
 * @file
 * Several futures at once: the first that is ready (select), or all of them (join).
 *
 *     edo_tcp_io read;
 *     edo_interval_future tick;
 *     edo_future *either[] = { edo_tcp_read_start(&read, conn, buf, sizeof buf),
 *                              edo_interval_tick_start(&tick, &beat) };
 *
 *     switch (edo_select(either, 2)) {
 *     case 0:         // read.result has what the read came to
 *     case 1:         // tick.result, tick.at
 *     default:        // negative: this wait was cut (-ECANCELED), nothing was ready
 *     }
 *
 * Both work in fibers and plain threads; in stackless tasks through their `_start` forms. Entries that are
 * NULL are skipped: a branch that is switched off. Nothing is allocated.
 *
 * **Results.** What select returns says which future was ready, and a negative value is the fate of the select
 * itself. What that future came to, an error perhaps, is in the `result` of its own struct: look at it.
 * (A lone edo_timer says it by edo_timer_has_fired(), a wait for a task by its `fate`.)
 *
 * **Storage.** The futures must outlive the wait. UP TO FOUR POINTERS ARE COPIED, so that an array of that size
 * may be a local variable even of a stackless task; A LONGER ARRAY, AND THE RESULTS OF A JOIN IN ANY CASE, ARE
 * THE CALLER'S AND MUST OUTLIVE THE WAIT, unchanged.
 */
#ifndef EDO_SELECT_H
#define EDO_SELECT_H

#include <edo/future.h>
#include <edo/time.h>

EDO_BEGIN_DECLS

/** How many pointers a select or a join keeps in its own struct. */
#define EDO_SELECT_COPIED 4

/**
 * A wait for the first of several futures. Storage: the caller's.
 *
 * Its result as a future is the index of the winner, or -EINVAL (no futures, only NULL, one that was never
 * started, or more than INT_MAX). In the poll that finds the winner, and when it is dropped at any time before,
 * the waits of all the futures are dropped: each may be started anew, and nothing it held is lost.
 */
typedef struct edo_select_future {
	edo_future future;
	/** What the winner's poll said, once ready; -EINVAL as above. */
	int result;
	/** The winner's index, once ready; -EINVAL as above. */
	int winner;
	/* private */
	edo_future *const *edo_futures_;
	edo_future *edo_few_[EDO_SELECT_COPIED];
	uint32_t edo_count_;
	bool edo_is_sound_;
	bool edo_is_in_order_;
} edo_select_future;

/** Sets @p select up for the first of @p n @p futures. See edo_select(), and above for the array's life. */
EDO_API edo_future *edo_select_start(edo_select_future *select, edo_future *const *futures,
				     size_t n);

/** As edo_select_start(), with the lower index first. See edo_select_in_order(). */
EDO_API edo_future *edo_select_in_order_start(edo_select_future *select, edo_future *const *futures,
					      size_t n);

/**
 * Waits until one of @p n @p futures is ready.
 *
 * Fair: each look at them begins at one drawn at random and goes round, so none starves because another is
 * always ready. With the same `seed` in its configuration a current-thread runtime draws the same on
 * every run. Of a future that is there twice the lower index wins. Of two waits for one thing the second
 * is -EBUSY, and so it is ready, and wins: look at its `result`.
 *
 * The losers' waits are dropped before this returns, also when it was cut. A timer that is dropped leaves the
 * wheel and keeps its deadline, an interval its tick, a connection stays in its queue and bytes in
 * their buffer. All futures are polled again at each wake-up: meant for some, not for thousands.
 *
 * @return the winner's index; -EINVAL: none of the futures is there (or one was never started); -ECANCELED,
 *         -EDEADLK, -ENOMEM as edo_await(). Cancel safe, as far as the futures are
 */
EDO_API EDO_NODISCARD int edo_select(edo_future *const *futures, size_t n);

/**
 * As edo_select(), but each look begins at index 0: the lower index wins whenever it is ready, and one that
 * is always ready keeps the others waiting for ever.
 */
EDO_API EDO_NODISCARD int edo_select_in_order(edo_future *const *futures, size_t n);

/**
 * As edo_select(), until @p instant of the runtime's clock. What is ready wins over the time. With instant 0 (or
 * any that has passed) it looks at each future and does not wait.
 *
 * In stackless tasks: edo_timeout_until_start() round edo_select_start().
 *
 * @return as edo_select(); -ETIMEDOUT; -EOPNOTSUPP: the runtime has no time; -EINVAL also without a runtime,
 *         when nothing was ready
 */
EDO_API EDO_NODISCARD int edo_select_until(edo_future *const *futures, size_t n,
					   edo_instant instant);

/**
 * A wait for all of several futures. Storage: the caller's.
 *
 * Its result as a future is 0 when all are there, or -EINVAL as for edo_select_future. Each future's wait is
 * dropped as soon as its result is there, those of the others when the join is dropped.
 */
typedef struct edo_join_all_future {
	edo_future future;
	/** 0 or -EINVAL, once ready. */
	int result;
	/* private */
	uint32_t edo_count_;
	edo_future *const *edo_futures_;
	int *edo_results_;
	edo_future *edo_few_[EDO_SELECT_COPIED];
} edo_join_all_future;

/**
 * Sets @p join up for all of @p n @p futures. @p results gets EDO_PENDING in each place at once (0 where there
 * is no future), and what a future's poll said as soon as it is ready. See edo_join_all(), and above for
 * the arrays' life.
 */
EDO_API edo_future *edo_join_all_start(edo_join_all_future *join, edo_future *const *futures,
				       size_t n, int *results);

/**
 * Waits until all of @p n @p futures are ready. One that fails does not end it.
 *
 * Each wake-up polls all that are not ready yet: for tens; for more, spawn tasks.
 *
 * @param results  receives what each came to; EDO_PENDING where it is not there yet, which can be seen after
 *                 the wait was cut. What is there by then is not lost
 * @return 0; -EINVAL: none of the futures is there (or one was never started), or no @p results; -ECANCELED,
 *         -EDEADLK, -ENOMEM as edo_await()
 */
EDO_API int edo_join_all(edo_future *const *futures, size_t n, int *results);

EDO_END_DECLS

#endif
