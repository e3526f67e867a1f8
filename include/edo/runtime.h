/**
 * @file
 * Runtimes: what polls tasks, waits for events and turns the timer wheel.
 */
#ifndef EDO_RUNTIME_H
#define EDO_RUNTIME_H

#include <edo/config.h>
#include <edo/fiber.h>
#include <edo/task.h>

EDO_BEGIN_DECLS

/**
 * Runs @p fn as a fiber on a runtime of its own, with the default configuration, until it returns;
 * then shuts the runtime down.
 *
 * @return what @p fn returned, or why it could not run; -ETIMEDOUT: it succeeded, but other fibers did not
 *         return at the end (see edo_runtime_destroy())
 *
 * Threads: plain threads only; -EDEADLK from a task of any runtime.
 */
EDO_API EDO_NODISCARD int edo_run(edo_fiber_fn *fn, void *arg);

/**
 * Makes a runtime.
 *
 * @param config  NULL for all defaults
 * @return 0; -EINVAL: nonsense in the configuration (edo_config_bad_field() tells where; debug
 *         builds say it on stderr); -EOPNOTSUPP; -ENOMEM; -EMFILE and -ENFILE: no descriptors left.
 *         On failure nothing is left behind
 */
EDO_API EDO_NODISCARD int edo_runtime_create(edo_runtime **runtime, const edo_config *config);

/**
 * Runs @p fn as a fiber of @p runtime and waits for it, running the runtime's other tasks on this
 * thread meanwhile. They go on in the next edo_block_on(); between two nothing runs.
 *
 * Several threads may do this at once on one current-thread runtime: one of them runs the tasks
 * and hands over when its own fiber has ended.
 *
 * @param result  receives what @p fn returned; may be NULL
 * @return 0 when it has ended; -EDEADLK from a task of any runtime; else as edo_spawn_fiber()
 */
EDO_API EDO_NODISCARD int edo_block_on(edo_runtime *runtime, edo_fiber_fn *fn, void *arg,
				       int *result);

/** What edo_runtime_leave() needs to undo an enter. Storage: the caller's. */
typedef struct edo_enter_guard {
	/* private */
	edo_runtime *edo_entered_;
	edo_runtime *edo_previous_;
} edo_enter_guard;

/**
 * Makes @p runtime this thread's: timers, sockets, spawns and waits use it. Nests.
 *
 * @return 0; -ESHUTDOWN; -EDEADLK from a task
 */
EDO_API EDO_NODISCARD int edo_runtime_enter(edo_runtime *runtime, edo_enter_guard *guard);

/** Undoes an enter, on the same thread and in reverse order. Again is harmless. */
EDO_API void edo_runtime_leave(edo_enter_guard *guard);

/**
 * Shuts @p runtime down and frees it: no new tasks; stackless tasks are dropped, in fibers every
 * await fails until they return; every timer and every waiting descriptor gets an error; the rest
 * is freed when the last handle is consumed.
 *
 * @return the number of handles (tasks, wakers) that still live, 0 at best; -ETIMEDOUT: a fiber did
 *         not return within the configuration's limit, the rest is done; -EDEADLK from a task, and
 *         -EBUSY while another thread is inside: then nothing was done. NULL is 0
 *
 * Threads: plain threads; nobody else may use the runtime any more.
 */
EDO_API int edo_runtime_destroy(edo_runtime *runtime);

EDO_END_DECLS

#endif
