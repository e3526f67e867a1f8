/*
 * The door of the task room: wakers, futures, and the cell in which a runtime keeps a task.
 *
 * A cell is one allocation (K1): the header below, which ends with who waits for the task, and
 * behind it the core, a copy of the spawned future. Wakers, handles and queues all point at the
 * header; each counts as a reference in the state word (K2, state.h), and whoever drops the last
 * one frees the cell, also after the runtime has gone (K3): the cell's pool outlives it.
 *
 * Who may touch what:
 *   state            anybody, only through state.h
 *   queue_next       whoever has the task's notification (it is in one queue at most, K3)
 *   owned_*          under the owned list's lock
 *   join_waker       the joiner while JOIN_WAKER is clear, the poller that completed while it is set
 *   result, core     whoever holds RUNNING; the joiner once COMPLETE
 */
#ifndef EDO_TASK_TASK_H
#define EDO_TASK_TASK_H

#include "base/lock.h"
#include <edo/async.h>
#include <edo/config.h>
#include <edo/future.h>
#include <edo/task.h>
#include <edo/waker.h>

/* What a future's ops may say of it in `flags`; the library's own only. */
enum edo_future_flags {
	/* A cancelled task of this kind is polled on until it ends by itself: a fiber (K4). */
	EDO_FUTURE_RUNS_TO_END = 1,
};

/* Why a task gave its turn back although it could go on; kept in the context's reserved word. */
enum edo_defer {
	/* It did not: somebody woke it while it ran. */
	EDO_DEFER_NOT,
	/* A yield, or a spent budget: behind all that is ready. */
	EDO_DEFER_YIELD,
	/* Wants to go on when nothing but yielding tasks is left to run (edo_advance()). */
	EDO_DEFER_UNTIL_QUIET,
};

enum { EDO_COOP_BUDGET = 128 };

struct edo_scheduler;

struct edo_task {
	uint64_t state;
	struct edo_task *queue_next;
	struct edo_scheduler *scheduler;
	struct edo_task *owned_next;
	struct edo_task *owned_prev;
	edo_waker join_waker;
	int result;
	uint16_t size_class;
	uint16_t reserved;
};

_Static_assert(sizeof(struct edo_task) == 64, "the header is one cache line");

/* What a scheduler is to its tasks. */
struct edo_scheduler_ops {
	/* Takes a notified task with one reference, from any thread. */
	void (*schedule)(struct edo_scheduler *scheduler, struct edo_task *task);
	/* Takes a task that was woken while it ran, with one reference, on the thread that ran it. */
	void (*defer)(struct edo_scheduler *scheduler, struct edo_task *task,
		      enum edo_defer reason);
};

/*
 * All tasks of a runtime that have not ended, each holding a reference for the list.
 * closed: shutdown has begun, nobody is added any more (S3).
 */
struct edo_owned_tasks {
	struct edo_lock lock;
	bool closed;
	struct edo_task *first;
	size_t count;
};

struct edo_cell_pool;

/* malloc and free. */
extern const edo_allocator edo_default_allocator;

struct edo_scheduler {
	const struct edo_scheduler_ops *ops;
	struct edo_driver *driver; /* what polls are given; constant */
	struct edo_cell_pool *pool;
	struct edo_owned_tasks owned;
};

/* ---- cells ---- */

/*
 * A pool of cells: free lists by size, carved out of chunks. One thread at a time is its owner and
 * uses its lists without a lock; others go through a locked side. `memory_owner` is freed with it,
 * by whoever frees the last cell: the runtime's own memory, which late wakes may still read.
 */
struct edo_cell_pool *edo_cell_pool_create(const edo_allocator *allocator);
/* The calling thread becomes the owner (0: nobody is). */
void edo_cell_pool_set_owner(struct edo_cell_pool *pool, uintptr_t thread);
/*
 * No more allocations. Returns how many cells still live; the pool, and `attached` (size bytes) with
 * it, are freed when the last of them is, which is at once if there is none.
 */
size_t edo_cell_pool_close(struct edo_cell_pool *pool, void *attached, size_t attached_size);

/* ---- tasks ---- */

/* Finishes a core before anybody else can see it. */
typedef void edo_core_prepare(edo_future *core, const void *context);

/*
 * A new task for a copy of `future`: three references (owned list, first notification, handle),
 * NOTIFIED and JOIN_INTEREST. It is in the owned list, and in no queue yet: the caller hands the
 * notification to the scheduler. core_size is ops->size, or more for what the future keeps behind it.
 * 0; -ENOMEM; -ESHUTDOWN; nothing is left behind.
 */
int edo_task_create(struct edo_scheduler *scheduler, const edo_future *future, size_t core_size,
		    edo_core_prepare *prepare, const void *context, struct edo_task **created);

/* The copy of the future inside the cell. */
static inline edo_future *edo_task_core(const struct edo_task *task)
{
	return (edo_future *)(void *)((char *)(uintptr_t)task + sizeof *task);
}

/* The task around a core. */
static inline struct edo_task *edo_task_of_core(const edo_future *core)
{
	return (struct edo_task *)(void *)((char *)(uintptr_t)core - sizeof(struct edo_task));
}

/* The task that a context polls for, NULL when its waker is not a task's. */
struct edo_task *edo_task_of_context(const edo_context *cx);

/* 0; -ESHUTDOWN: the list is closed. The list's reference is the task's first. */
int edo_owned_add(struct edo_owned_tasks *owned, struct edo_task *task);
/* Whether it was in the list; then the list's reference is the caller's now. */
bool edo_owned_remove(struct edo_owned_tasks *owned, struct edo_task *task);
/*
 * Closes the list and tells every task in it to end: stackless ones that are idle are dropped at once,
 * fibers are woken to find out (K4).
 */
void edo_owned_shut_down(struct edo_owned_tasks *owned);
size_t edo_owned_count(struct edo_owned_tasks *owned);
/* Shows each task that is there, with no lock held. Meanwhile nobody polls, and so none ends. */
void edo_owned_visit(struct edo_owned_tasks *owned,
		     void (*visit)(struct edo_task *task, void *context), void *context);
/*
 * Ends all that is left without another poll (S3: fibers that did not return in time), by dropping the
 * cores where they stand. Returns how many there were.
 */
size_t edo_owned_give_up(struct edo_owned_tasks *owned);

void edo_task_drop_reference(struct edo_task *task);
void edo_task_drop_references(struct edo_task *task, unsigned n);
/* Ends an idle task without another poll: drops its core, -ECANCELED. False: it is not idle. */
bool edo_task_end_idle(struct edo_task *task);

/* ---- coop budget ---- */

/*
 * For polls that cannot undo what they found ready: first whether there is a unit of budget (if not, the
 * task has been woken and the poll is pending), then, with a result in hand, the unit is taken.
 */
static inline bool edo_coop_has_budget(edo_context *cx)
{
	return EDO_LIKELY(cx->edo_budget_ > 0) || edo_coop_spend(cx);
}

static inline void edo_coop_take(edo_context *cx)
{
	cx->edo_budget_--;
}

/* ---- the driver a thread belongs to ---- */

/* Of the runtime this thread has entered or runs; NULL outside. Never cached across a stack switch. */
struct edo_driver *edo_current_driver(void);
/* Returns the one before. */
struct edo_driver *edo_current_driver_set(struct edo_driver *driver);

/* Marks the context: its task wants to go on only when nothing is left to run. */
static inline void edo_context_defer_until_quiet(edo_context *cx)
{
	cx->edo_reserved_ = EDO_DEFER_UNTIL_QUIET;
}

#include "run.h"

#endif
