/* Inside the scheduler room: who holds a current-thread runtime's core. */
#ifndef EDO_SCHEDULER_CORE_H
#define EDO_SCHEDULER_CORE_H

#include "waiter.h"

/* Takes the core, or enters `waiter` among those who wait for it. True: taken. */
bool edo_core_take(struct edo_current_thread *rt, struct edo_thread_waiter *waiter);
/* Takes the core if it is free and nobody waits for it. */
bool edo_core_try_take(struct edo_current_thread *rt);
/* The core was handed to this thread, which begins to drive. */
void edo_core_begin(struct edo_current_thread *rt);
/* Hands the core to a thread that waits for it, or leaves it free. */
void edo_core_release(struct edo_current_thread *rt);
/* A thread ends its wait without driving: a core handed to it meanwhile is passed on. */
void edo_core_leave(struct edo_current_thread *rt, struct edo_thread_waiter *waiter);

#endif
