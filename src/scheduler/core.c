/*
 * Who drives. Taking, releasing and queueing for the core happen under one lock, and a release hands the
 * core over directly: it is never free while somebody waits for it, and whoever was handed it and no
 * longer wants it passes it on. So tasks that are ready always have a driver while a thread waits.
 */
#include "core.h"
#include "base/thread.h"

void edo_core_begin(struct edo_current_thread *rt)
{
	edo_cell_pool_set_owner(rt->scheduler.pool, edo_thread_self());
	/* Relaxed: a thread compares it with its own number only. */
	edo_store(&rt->driven_by, edo_thread_self(), relaxed);
}

static void stop_driving(struct edo_current_thread *rt)
{
	edo_store(&rt->driven_by, 0, relaxed);
	edo_cell_pool_set_owner(rt->scheduler.pool, 0);
}

static void append_waiter(struct edo_current_thread *rt, struct edo_thread_waiter *waiter)
{
	struct edo_thread_waiter **end = &rt->waiting;

	while (*end)
		end = &(*end)->next_waiting;
	waiter->next_waiting = NULL;
	waiter->is_waiting = true;
	*end = waiter;
}

static void remove_waiter(struct edo_current_thread *rt, struct edo_thread_waiter *waiter)
{
	struct edo_thread_waiter **place = &rt->waiting;

	while (*place != waiter)
		place = &(*place)->next_waiting;
	*place = waiter->next_waiting;
	waiter->is_waiting = false;
}

bool edo_core_take(struct edo_current_thread *rt, struct edo_thread_waiter *waiter)
{
	bool taken;

	edo_lock_acquire(&rt->core_lock, EDO_RANK_RUNTIME);
	taken = !rt->core_taken;
	if (taken)
		rt->core_taken = true;
	else if (!waiter->is_waiting &&
		 !(edo_load(&waiter->signals, relaxed) & EDO_WAITER_HAS_CORE))
		append_waiter(rt, waiter);
	edo_lock_release(&rt->core_lock, EDO_RANK_RUNTIME);
	if (taken)
		edo_core_begin(rt);
	return taken;
}

bool edo_core_try_take(struct edo_current_thread *rt)
{
	bool taken;

	edo_lock_acquire(&rt->core_lock, EDO_RANK_RUNTIME);
	taken = !rt->core_taken;
	if (taken)
		rt->core_taken = true;
	edo_lock_release(&rt->core_lock, EDO_RANK_RUNTIME);
	if (taken)
		edo_core_begin(rt);
	return taken;
}

/* Under the lock: the next thread in line gets the core, or it becomes free. */
static void hand_over(struct edo_current_thread *rt)
{
	struct edo_thread_waiter *next = rt->waiting;

	if (!next) {
		rt->core_taken = false;
		return;
	}
	remove_waiter(rt, next);
	edo_waiter_signal(next, EDO_WAITER_HAS_CORE);
}

void edo_core_release(struct edo_current_thread *rt)
{
	stop_driving(rt);
	edo_lock_acquire(&rt->core_lock, EDO_RANK_RUNTIME);
	hand_over(rt);
	edo_lock_release(&rt->core_lock, EDO_RANK_RUNTIME);
}

void edo_core_leave(struct edo_current_thread *rt, struct edo_thread_waiter *waiter)
{
	edo_lock_acquire(&rt->core_lock, EDO_RANK_RUNTIME);
	if (waiter->is_waiting)
		remove_waiter(rt, waiter);
	else if (edo_load(&waiter->signals, relaxed) & EDO_WAITER_HAS_CORE)
		hand_over(rt);
	edo_lock_release(&rt->core_lock, EDO_RANK_RUNTIME);
}
