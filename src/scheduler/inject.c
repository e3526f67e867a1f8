/*
 * The inject queue and the sleep of who drives (S2: no wake-up is lost between "the queue is empty"
 * and "asleep"). Both are under one lock: a push either comes before the holder falls asleep, who then
 * finds it, or finds `asleep` and unparks. The unpark is made under the lock, since after the queue has
 * been closed under it nobody may touch the driver any more; it is a system call, not a wake of T2.
 */
#include "inject.h"
#include "queue.h"
#include "waiter.h"

static void unpark_if_asleep(struct edo_current_thread *rt)
{
	if (!rt->asleep)
		return;
	rt->asleep = false;
	edo_driver_unpark(rt->scheduler.driver);
}

void edo_inject_push(struct edo_current_thread *rt, struct edo_task *task)
{
	bool closed;

	edo_lock_acquire(&rt->inject_lock, EDO_RANK_INJECT);
	closed = rt->inject_closed;
	if (!closed) {
		edo_queue_push(&rt->inject, task);
		edo_store(&rt->inject_length, rt->inject_length + 1, relaxed);
		unpark_if_asleep(rt);
	}
	edo_lock_release(&rt->inject_lock, EDO_RANK_INJECT);
	if (closed)
		edo_task_drop_reference(task);
}

static void take_all(struct edo_current_thread *rt)
{
	edo_queue_append(&rt->ready, &rt->inject);
	edo_store(&rt->inject_length, 0, relaxed);
}

void edo_inject_take(struct edo_current_thread *rt)
{
	if (edo_inject_is_empty(rt))
		return;
	edo_lock_acquire(&rt->inject_lock, EDO_RANK_INJECT);
	take_all(rt);
	edo_lock_release(&rt->inject_lock, EDO_RANK_INJECT);
}

bool edo_inject_fall_asleep(struct edo_current_thread *rt)
{
	bool may_sleep;

	edo_lock_acquire(&rt->inject_lock, EDO_RANK_INJECT);
	may_sleep = edo_queue_is_empty(&rt->inject);
	rt->asleep = may_sleep;
	edo_lock_release(&rt->inject_lock, EDO_RANK_INJECT);
	return may_sleep;
}

void edo_inject_wake_up(struct edo_current_thread *rt)
{
	edo_lock_acquire(&rt->inject_lock, EDO_RANK_INJECT);
	rt->asleep = false;
	edo_lock_release(&rt->inject_lock, EDO_RANK_INJECT);
}

void edo_inject_close(struct edo_current_thread *rt)
{
	edo_lock_acquire(&rt->inject_lock, EDO_RANK_INJECT);
	rt->inject_closed = true;
	take_all(rt);
	edo_lock_release(&rt->inject_lock, EDO_RANK_INJECT);
}

void edo_current_thread_unpark(struct edo_current_thread *rt)
{
	edo_lock_acquire(&rt->inject_lock, EDO_RANK_INJECT);
	if (!rt->inject_closed)
		unpark_if_asleep(rt);
	edo_lock_release(&rt->inject_lock, EDO_RANK_INJECT);
}
