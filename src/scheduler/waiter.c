/* A waiting plain thread: its signals, its sleep, its waker. See waiter.h for who touches what. */
#include "base/hot.h"
#include "waiter.h"
#include "base/thread.h"

struct edo_thread_waiter *edo_thread_waiter_create(const edo_allocator *allocator)
{
	struct edo_thread_waiter *waiter = allocator->allocate(allocator->context, sizeof *waiter,
							       _Alignof(struct edo_thread_waiter));

	if (waiter)
		*waiter = (struct edo_thread_waiter){ .references = 1,
						      .signals = EDO_WAITER_NOTIFIED,
						      .thread = edo_thread_self(),
						      .allocator = *allocator };
	return waiter;
}

void edo_thread_waiter_drop(struct edo_thread_waiter *waiter)
{
	edo_allocator allocator;

	/* Release and acquire: all uses come before the memory is given back. */
	if (edo_fetch_sub(&waiter->references, 1, acq_rel) != 1)
		return;
	allocator = waiter->allocator;
	allocator.release(allocator.context, waiter, sizeof *waiter);
}

void edo_waiter_set_drives(struct edo_thread_waiter *waiter, struct edo_current_thread *rt)
{
	edo_lock_acquire(&waiter->lock, EDO_RANK_WAITER);
	waiter->drives = rt;
	edo_lock_release(&waiter->lock, EDO_RANK_WAITER);
}

EDO_HOT bool edo_waiter_is_notified(const struct edo_thread_waiter *waiter)
{
	/* Acquire: what was done before the wake is visible to the poll. */
	return edo_load(&waiter->signals, acquire) & EDO_WAITER_NOTIFIED;
}

bool edo_waiter_take_notified(struct edo_thread_waiter *waiter)
{
	/* Acquire: as above. A read-modify-write, so that no wake falls between look and clear (p60). */
	return edo_fetch_and(&waiter->signals, ~(uint32_t)EDO_WAITER_NOTIFIED, acq_rel) &
	       EDO_WAITER_NOTIFIED;
}

void edo_waiter_signal(struct edo_thread_waiter *waiter, enum edo_waiter_signal signal)
{
	/* Release: what happened before. The parked bit is taken, so that one signal wakes, once. */
	uint32_t before = edo_load(&waiter->signals, relaxed);

	while (!edo_compare_exchange(&waiter->signals, &before,
				     (before | (uint32_t)signal) & ~(uint32_t)EDO_WAITER_PARKED,
				     acq_rel, relaxed))
		;
	if (before & EDO_WAITER_PARKED)
		(void)edo_sys_futex_wake(&waiter->signals, 1);
}

void edo_waiter_park(struct edo_thread_waiter *waiter)
{
	uint32_t seen = edo_load(&waiter->signals, acquire);

	while (!(seen & (EDO_WAITER_NOTIFIED | EDO_WAITER_HAS_CORE))) {
		if ((seen & EDO_WAITER_PARKED) ||
		    edo_compare_exchange(&waiter->signals, &seen, seen | EDO_WAITER_PARKED, acq_rel,
					 acquire))
			(void)edo_sys_futex_wait(&waiter->signals, EDO_WAITER_PARKED, UINT64_MAX);
		seen = edo_load(&waiter->signals, acquire);
	}
}

static edo_waker clone_waker(void *data)
{
	struct edo_thread_waiter *waiter = data;

	edo_fetch_add(&waiter->references, 1, relaxed); /* whoever clones has a reference */
	return edo_waiter_waker_borrowed(waiter);
}

static void wake_by_ref(void *data)
{
	struct edo_thread_waiter *waiter = data;

	edo_lock_assert_none();
	edo_waiter_signal(waiter, EDO_WAITER_NOTIFIED);
	if (waiter->thread == edo_thread_self())
		return; /* it is awake: this is it */
	/* It may sleep in the driver instead of on the futex. The lock keeps the runtime there. */
	edo_lock_acquire(&waiter->lock, EDO_RANK_WAITER);
	if (waiter->drives)
		edo_current_thread_unpark(waiter->drives);
	edo_lock_release(&waiter->lock, EDO_RANK_WAITER);
}

static void drop(void *data)
{
	edo_thread_waiter_drop(data);
}

static void wake(void *data)
{
	wake_by_ref(data);
	drop(data);
}

static const edo_waker_ops waiter_waker_ops = { clone_waker, wake, wake_by_ref, drop };

edo_waker edo_waiter_waker_borrowed(struct edo_thread_waiter *waiter)
{
	return (edo_waker){ waiter, &waiter_waker_ops };
}
