/* See rig_sync.h. */
#include "explore/rig_sync.h"

static edo_waker clone_of(void *data);

/* As a task's wake: what came before it is seen by the poll that follows. */
static void wake_by_reference(void *data)
{
	struct rig_sleeper *sleeper = data;

	edo_lock_assert_none();
	(void)edo_fetch_add(&sleeper->wakes, 1, acq_rel);
	(void)edo_sys_futex_wake(&sleeper->wakes, 1);
}

static void drop(void *data)
{
	struct rig_sleeper *sleeper = data;

	edo_lock_assert_none();
	explore_check(edo_fetch_sub(&sleeper->clones, 1, relaxed) > 0);
}

static void wake(void *data)
{
	wake_by_reference(data);
	drop(data);
}

static const edo_waker_ops sleeper_ops = { clone_of, wake, wake_by_reference, drop };

static edo_waker clone_of(void *data)
{
	struct rig_sleeper *sleeper = data;

	edo_lock_assert_none();
	(void)edo_fetch_add(&sleeper->clones, 1, relaxed);
	return (edo_waker){ sleeper, &sleeper_ops };
}

edo_poll rig_poll(struct rig_sleeper *sleeper, edo_future *future)
{
	edo_waker waker = { sleeper, &sleeper_ops };
	edo_context cx = { .waker = &waker, .edo_budget_ = 128 };

	return edo_future_poll(future, &cx);
}

int rig_await(struct rig_sleeper *sleeper, edo_future *future)
{
	for (;;) {
		uint32_t wakes = edo_fetch_add(&sleeper->wakes, 0, acq_rel);
		edo_poll polled = rig_poll(sleeper, future);

		if (polled != EDO_PENDING) {
			edo_future_drop(future);
			return polled;
		}
		(void)edo_sys_futex_wait(&sleeper->wakes, wakes, UINT64_MAX);
	}
}

void rig_is_alone(const struct rig_sleeper *sleeper)
{
	explore_check(edo_load(&sleeper->clones, relaxed) == 0);
}

void rig_count_drop(void *item, void *count)
{
	(void)item;
	++*(int *)count;
}
