/*
 * Inside the scheduler room: a plain thread that waits, and the waker that ends its wait.
 *
 * Wakers may outlive the wait, so a waiter is allocated and counted, not on the thread's stack.
 */
#ifndef EDO_SCHEDULER_WAITER_H
#define EDO_SCHEDULER_WAITER_H

#include "scheduler.h"

struct edo_thread_waiter {
	uint32_t references; /* atomic */
	uint32_t signals;    /* atomic, a futex: enum edo_waiter_signal */
	uintptr_t thread;    /* constant: whose wait it is */
	struct edo_lock lock;
	struct edo_current_thread
		*drives;         /* under the lock, written by the thread: what to unpark */
	edo_allocator allocator; /* constant */
	/* under the runtime's core_lock */
	struct edo_thread_waiter *next_waiting;
	bool is_waiting;
};

enum edo_waiter_signal {
	EDO_WAITER_NOTIFIED = 1, /* the future may be polled again */
	EDO_WAITER_HAS_CORE = 2, /* the core was handed to this thread; cleared by it alone */
	EDO_WAITER_PARKED = 4,   /* it sleeps on the futex */
};

edo_waker edo_waiter_waker_borrowed(struct edo_thread_waiter *waiter);

/* The thread's own: from now on a wake also unparks this runtime's driver (NULL: none). */
void edo_waiter_set_drives(struct edo_thread_waiter *waiter, struct edo_current_thread *rt);
bool edo_waiter_is_notified(const struct edo_thread_waiter *waiter);
/* Consumes the notification. */
bool edo_waiter_take_notified(struct edo_thread_waiter *waiter);
/* Sleeps until it is notified or has the core. */
void edo_waiter_park(struct edo_thread_waiter *waiter);
/* Sets a signal and ends the sleep. */
void edo_waiter_signal(struct edo_thread_waiter *waiter, enum edo_waiter_signal signal);

/* Ends the sleep of the thread that drives the runtime, if it sleeps. Any thread. */
void edo_current_thread_unpark(struct edo_current_thread *rt);

#endif
