/**
 * @file
 * Deadlines over straight-line code, and code that must not be cut short.
 *
 * A deadline holds for every wait of the fiber that begins it, however deep in its calls, until the scope
 * ends: each edo_await() and each function that waits says -ETIMEDOUT from then on, as after an abort each says
 * -ECANCELED. Scopes nest; the strictest deadline in force counts. A scope is plain storage of the caller's:
 * it allocates nothing, and a fiber has one timer however many scopes it is in.
 *
 *     static int query(void *arg) { ... edo_tcp_read(...) ... }
 *
 *     rc = edo_with_deadline(EDO_SEC(5), query, &request, &result);
 *
 * A deadline cuts waits, not computations: see edo_checkpoint(). It is looked at before each wait, and a wait
 * that is ready at once fails all the same once it has passed. It is never early, and as late as the runtime's tick and
 * its other tasks make it.
 *
 * Deadlines belong to fibers. Plain threads and stackless tasks put a limit round a single future:
 * edo_timeout().
 *
 * The idea of scopes, and of cutting every wait in them, follows Trio (N. J. Smith, "Timeouts and cancellation for
 * humans", 2018).
 */
#ifndef EDO_DEADLINE_H
#define EDO_DEADLINE_H

#include <edo/fiber.h>
#include <edo/time.h>

EDO_BEGIN_DECLS

/** A deadline scope: what was in force before it. Storage: the caller's, until its end. */
typedef struct edo_deadline {
	/* private */
	void *edo_fiber_;
	edo_instant edo_deadline_;
	edo_instant edo_outer_deadline_;
	edo_instant edo_outer_cut_by_;
	uint64_t edo_number_;
	uint64_t edo_outer_number_;
	uint32_t edo_depth_;
	uint32_t edo_outer_was_cancelled_;
} edo_deadline;

/**
 * Begins a scope of at most @p limit from now; a stricter deadline that is in force stays. EDO_FOREVER adds none.
 *
 * @return 0; -EINVAL: not in a fiber; -EDEADLK: inside a poll function; -EOPNOTSUPP: the runtime has no
 *         time. Then nothing has begun, and the end is harmless
 */
EDO_API EDO_NODISCARD int edo_deadline_begin(edo_deadline *scope, edo_duration limit);

/**
 * Ends a scope: what was in force before it is again. Scopes begun inside and not ended are over with it. Again,
 * or after an outer scope's end, it does nothing.
 *
 * @return -ETIMEDOUT: a wait inside was cut by the deadline in force in this scope (its own, or an outer one that
 *         was stricter); 0; -EINVAL: another fiber's scope
 */
EDO_API int edo_deadline_end(edo_deadline *scope);

/**
 * Runs @p fn here, under a deadline of at most @p limit from now.
 *
 * @param result  receives what @p fn returned; may be NULL. When @p fn did not run, the same as is returned
 * @return 0: @p fn ran; -ETIMEDOUT: it failed, and a wait in it was cut by this deadline (or a stricter outer one);
 *         -ECANCELED: it failed, and a wait in it was cut by an abort; @p fn did not run: -EINVAL: not in a fiber, or no
 *         function; -EDEADLK, -EOPNOTSUPP as edo_deadline_begin(). A function that succeeded all the same (it returned 0 or
 *         more) has: then this is 0
 *
 * After -ETIMEDOUT, edo_deadline_left() == 0 tells that an outer deadline has passed: trying again would fail again.
 */
EDO_API int edo_with_deadline(edo_duration limit, edo_fiber_fn *fn, void *arg, int *result);

/** @return the deadline in force in this fiber; EDO_FOREVER: none, or not in a fiber. */
EDO_API edo_instant edo_deadline_current(void);

/** @return how long until the deadline in force; 0: it has passed; EDO_FOREVER: there is none. */
EDO_API edo_duration edo_deadline_left(void);

#if defined(__GNUC__) && !defined(__cplusplus)
/** For EDO_DEADLINE_SCOPE(): begins a scope, or one that has passed where it cannot. */
EDO_API edo_deadline edo_deadline_open_(edo_duration limit);
/** For EDO_DEADLINE_SCOPE(): ends it. */
EDO_API void edo_deadline_close_(edo_deadline *scope);
#define EDO_DEADLINE_NAME_2_(line) edo_deadline_of_line_##line
#define EDO_DEADLINE_NAME_(line) EDO_DEADLINE_NAME_2_(line)

/**
 * Where a declaration may stand: a deadline until the end of the enclosing block, on whichever way it is left. gcc
 * and clang, C only. When it cannot begin (not in time, see edo_deadline_begin()), every wait until the
 * end of the block says -ETIMEDOUT.
 */
#define EDO_DEADLINE_SCOPE(limit)                                                                  \
	edo_deadline EDO_DEADLINE_NAME_(__LINE__)                                                  \
		__attribute__((cleanup(edo_deadline_close_), unused)) = edo_deadline_open_(limit)
#endif

/**
 * The fate of this fiber now, for code that computes: reads the clock afresh, and waits for nothing; once in a
 * while (when the fiber has used up its turn) it lets others run.
 *
 * @return 0: go on; -ECANCELED; -ETIMEDOUT. Outside of a fiber 0
 */
EDO_API EDO_NODISCARD int edo_checkpoint(void);

/**
 * Runs @p fn here, where neither an abort nor a deadline that is in force cuts its waits: for cleanup that must wait
 * (a goodbye over the wire, a flush). Deadlines begun inside work, and should be there. What came meanwhile takes effect
 * afterwards. Outside of a fiber it just runs @p fn.
 *
 * When the runtime shuts down, waits inside still work, for as long as its configuration lets fibers end
 * (edo_config::shutdown_timeout); spawns do not (-ESHUTDOWN).
 *
 * @param result  receives what @p fn returned; may be NULL
 * @return 0; -EINVAL: no function; -EDEADLK: inside a poll function, and @p fn did not run
 */
EDO_API int edo_shield(edo_fiber_fn *fn, void *arg, int *result);

EDO_END_DECLS

#endif
