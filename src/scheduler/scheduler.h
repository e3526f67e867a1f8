/*
 * The door of the scheduler room: who polls the tasks that are ready, and what a thread does while
 * it waits.
 *
 * A current-thread runtime has one core: its run queues and the right to turn its driver. The thread
 * that holds the core drives: it runs tasks, looks at the driver, sleeps in it. Several threads may
 * wait on one runtime; one of them drives, and hands the core on when its own wait ends.
 */
#ifndef EDO_SCHEDULER_SCHEDULER_H
#define EDO_SCHEDULER_SCHEDULER_H

#include "base/lock.h"
#include "driver/driver.h"
#include "task/task.h"

/* First in, first out, linked through queue_next. */
struct edo_run_queue {
	struct edo_task *first;
	struct edo_task *last;
};

struct edo_thread_waiter;

struct edo_current_thread;

/* What is to be done while no task is being polled. */
typedef void edo_errand_fn(struct edo_current_thread *rt, uint32_t errand);

struct edo_current_thread {
	struct edo_scheduler scheduler; /* first: what tasks point at */

	/* the core's: touched only by the thread that holds it */
	struct edo_run_queue ready;
	struct edo_run_queue yielded; /* behind all that is ready */
	struct edo_run_queue quiet;   /* behind all but the yielded (edo_advance()) */
	uint32_t tick;                /* polls, for the inject interval */
	uint32_t since_look;          /* polls since the driver was looked at */
	uint32_t event_interval;
	uint32_t inject_interval;

	/* who holds the core */
	uintptr_t driven_by; /* atomic; a thread's number, 0: nobody runs tasks right now */
	struct edo_lock core_lock;
	bool core_taken;                   /* under core_lock */
	struct edo_thread_waiter *waiting; /* under core_lock: threads that would drive */

	/* tasks from other threads, under inject_lock; the length can be read without */
	struct edo_lock inject_lock;
	bool inject_closed;
	bool asleep; /* the core's holder sleeps in the driver, or is about to: unpark it */
	struct edo_run_queue inject;
	uint32_t inject_length; /* atomic */

	uint32_t errand;          /* atomic; 0: none */
	edo_errand_fn *do_errand; /* atomic */
};

void edo_current_thread_init(struct edo_current_thread *rt, struct edo_driver *driver,
			     struct edo_cell_pool *pool, uint32_t event_interval,
			     uint32_t inject_interval);

/* Hands a new task's first notification to the scheduler. Any thread. */
void edo_scheduler_submit(struct edo_scheduler *scheduler, struct edo_task *task);

/*
 * Lets the thread that drives call fn with this number (not 0) between two polls, soon; a later one
 * replaces it. Any thread, a signal handler too. One fn for all.
 */
void edo_errand_ask(struct edo_current_thread *rt, edo_errand_fn *fn, uint32_t errand);

/*
 * For what may be done only while nobody else polls. AMID_A_TASK: this thread polls right now. HERE: nobody drives, and
 * nobody will until the end. ELSEWHERE: another thread drives: ask it.
 */
enum edo_errand_place { EDO_ERRAND_ELSEWHERE, EDO_ERRAND_AMID_A_TASK, EDO_ERRAND_HERE };
enum edo_errand_place edo_errand_begin(struct edo_current_thread *rt);
void edo_errand_end(struct edo_current_thread *rt, enum edo_errand_place place);

/* What a plain thread needs to wait; NULL: no memory. Consumed by edo_thread_await(). */
struct edo_thread_waiter *edo_thread_waiter_create(const edo_allocator *allocator);
void edo_thread_waiter_drop(struct edo_thread_waiter *waiter);

/*
 * Polls `future` on this plain thread until it is ready, and drops the wait. With a runtime the thread
 * drives it meanwhile, or parks while another does; without one (NULL) it only parks. Returns the
 * future's result. The thread must not be driving already.
 */
int edo_thread_await(struct edo_current_thread *rt, edo_future *future,
		     struct edo_thread_waiter *waiter);

/*
 * Whether this thread waits or drives: what runs on it now is a poll, a task, a drop or a wake, and
 * may not wait itself (fibers excepted, who have a stack of their own to leave). The setter returns
 * what it was.
 */
bool edo_thread_is_driving(void);
bool edo_thread_set_driving(bool driving);

/*
 * Shutdown (S3): tells all tasks to end and runs those that must do so themselves, at most for `limit`
 * ns of real time; then ends the rest where it stands. Closes and empties the queues. Returns how many
 * tasks had to be given up; -EBUSY: another thread drives, nothing was done.
 */
int edo_current_thread_shut_down(struct edo_current_thread *rt, uint64_t limit);

#endif
