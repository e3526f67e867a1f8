/**
 * @file
 * Fibers: tasks with a stack of their own, for straight-line code.
 *
 * In a fiber every function whose name promises to wait suspends the fiber and lets its worker run
 * others. A fiber stays on the worker where it started (thread-local variables and errno are safe
 * to use; but not across a wait where several threads drive one runtime by turns, see edo_block_on()),
 * and is never dropped: once its spawn has returned 0 its function runs and returns. Aborted, or at
 * shutdown, every await in it fails with -ECANCELED until then; past a deadline (<edo/deadline.h>) with
 * -ETIMEDOUT.
 *
 * **Cancel safe** is a wait that may be given up at any moment (by an abort or a time-out) and begun
 * again with nothing lost: no byte, no connection, no tick.
 *
 * A stack is 64 KiB by default (edo_config::stack_size), and a guard page lies below it: a fiber that
 * runs into it ends the process with SIGSEGV. Pages that were never touched cost no memory.
 *
 * A fiber's stack with its guard page takes two of the process's memory mappings, of which Linux allows
 * 65,530 unless vm.max_map_count says otherwise: with more than about 32,000 fibers at once a spawn is
 * -ENOMEM. Stackless tasks have no such limit.
 */
#ifndef EDO_FIBER_H
#define EDO_FIBER_H

#include <edo/task.h>

EDO_BEGIN_DECLS

/** A fiber's function. What it returns (0 or a count, or a negated errno value) is the task's result. */
typedef int edo_fiber_fn(void *arg);

/**
 * Spawns a fiber on this thread's runtime, without a handle.
 *
 * @param arg   copied: @p size bytes of it move into the task, and @p fn gets a pointer to the
 *              copy, which is aligned to 16 bytes. With size 0 the pointer itself is handed over
 * @return as edo_spawn(); on failure the argument is still the caller's
 */
EDO_API EDO_NODISCARD int edo_go(edo_fiber_fn *fn, const void *arg, size_t size);

/** As edo_go(), on @p runtime (NULL: this thread's), with a handle (@p task NULL: without). */
EDO_API EDO_NODISCARD int edo_spawn_fiber(edo_runtime *runtime, edo_fiber_fn *fn, const void *arg,
					  size_t size, edo_task **task);

/**
 * Waits for @p future and drops the wait on every way out.
 *
 * In a fiber it suspends the fiber. In a plain thread it parks the thread, which meanwhile runs the
 * tasks of the current-thread runtime it has entered, if it has.
 *
 * @return the future's result; -ECANCELED: this fiber was aborted or is being shut down; -ETIMEDOUT: a deadline
 *         of this fiber has passed (<edo/deadline.h>); -EDEADLK: called inside a poll function; -EINVAL: no
 *         future
 *
 * Cancel safety is the future's own.
 */
EDO_API int edo_await(edo_future *future);

/**
 * Lets every other ready task run once; with none it goes on at once.
 *
 * @return 0; -ECANCELED, -ETIMEDOUT as edo_await()
 */
EDO_API int edo_yield(void);

EDO_END_DECLS

#endif
