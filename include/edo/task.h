/**
 * @file
 * Tasks: futures that a runtime polls for you, side by side with all the others.
 *
 * A task is one allocation: its state, a copy of the future's struct, and who waits for it.
 * Stackless tasks are spawned here; fibers, which are tasks too, in <edo/fiber.h>. A handle
 * (edo_task *) is the right to wait for a task once and to abort it; each must be consumed by
 * edo_task_join() or edo_task_detach().
 *
 * The layout of a task and its state word follow Tokio's.
 */
#ifndef EDO_TASK_H
#define EDO_TASK_H

#include <edo/future.h>

EDO_BEGIN_DECLS

/** What polls tasks; see <edo/runtime.h>. */
typedef struct edo_runtime edo_runtime;
/** A handle: the right to wait for a task and to abort it. */
typedef struct edo_task edo_task;

/**
 * Spawns @p future as a task of @p runtime (NULL: the one this thread has entered or runs on).
 *
 * Copies `ops->size` bytes from @p future into the task; the original is dead when this returns 0.
 *
 * @param task  receives the handle; NULL detaches the task at once
 * @return 0; -ENOMEM; -EINVAL: no runtime; -ESHUTDOWN: it is shutting down.
 *         On failure the future, and all that it owns, is still the caller's
 *
 * Threads: any.
 */
EDO_API EDO_NODISCARD int edo_spawn(edo_runtime *runtime, edo_future *future, edo_task **task);

/** edo_spawn() on this thread's runtime, without a handle. */
EDO_API EDO_NODISCARD int edo_spawn_detached(edo_future *future);

/**
 * Waits until @p task has ended and consumes the handle.
 *
 * @param result  receives what the task ended with: its int, or -ECANCELED when it was aborted or
 *                shut down before its end. NULL when it does not matter
 * @return 0: the task has ended, the handle is consumed. Otherwise the fate of this wait
 *         (-ECANCELED, -ETIMEDOUT: the joiner was cut; -EBUSY: another waits for it; -EDEADLK: a wait
 *         inside a poll, or for oneself; -EINVAL: no task), and the handle is still the caller's
 *
 * Threads: any; see edo_await(). Cancel safe: nothing is lost.
 */
EDO_API int edo_task_join(edo_task *task, int *result);

/**
 * As edo_task_join(), but the handle stays: the ended task's struct can be read
 * (edo_task_output()) until the handle is consumed.
 */
EDO_API EDO_NODISCARD int edo_task_wait(edo_task *task, int *result);

/** The wait of edo_task_wait() as a future. Storage: the caller's; the handle must outlive it. */
typedef struct edo_task_wait_future {
	edo_future future;
	/** What the task ended with, once the wait's fate is 0; else the same as that. */
	int result;
	/** The fate of the wait itself, once ready: 0: the task has ended; -EBUSY, -EDEADLK, -EINVAL. */
	int fate;
	/* private */
	edo_task *edo_task_;
	bool edo_registered_;
} edo_task_wait_future;

/** Sets @p wait up for @p task. One wait a task at a time: a second one gets -EBUSY. */
EDO_API edo_future *edo_task_wait_start(edo_task_wait_future *wait, edo_task *task);

/**
 * The task's copy of the struct that was spawned, for results that do not fit into an int: valid
 * after the task has ended by itself and until its handle is consumed. Its drop function has
 * already run; plain fields keep their values.
 */
EDO_API void *edo_task_output(edo_task *task);

/**
 * Tells the task to end. A stackless task is dropped where it stands; in a fiber every await fails
 * with -ECANCELED until its function returns. Nothing happens when it has already ended.
 *
 * Threads: any, also while another thread waits for the task. Does not wait, nor consume the handle. NULL
 * is ignored.
 */
EDO_API void edo_task_abort(edo_task *task);

/** @return whether the task has ended; no task (NULL) has. Threads: any. */
EDO_API bool edo_task_is_finished(const edo_task *task);

/** Consumes the handle; the task runs on. Threads: any. NULL is ignored. */
EDO_API void edo_task_detach(edo_task *task);

/** A future that lets every other ready task run once. */
typedef struct edo_yield_future {
	edo_future future;
	/* private */
	bool edo_yielded_;
} edo_yield_future;

/** Sets @p yield up. Its result is always 0. */
EDO_API edo_future *edo_yield_start(edo_yield_future *yield);

EDO_END_DECLS

#endif
