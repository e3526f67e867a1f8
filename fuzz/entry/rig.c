#include "rig.h"
#include "../input.h"
#include "base/lock.h"
#include "driver/time/shard.h"
#include <string.h>

struct rig_host rig_hosts[RIG_HOSTS];
struct rig_target rig_targets[RIG_TARGETS];
struct rig_host *rig_entered;
uint64_t rig_clock;
unsigned rig_clock_reads, rig_holds, rig_misuses;
void (*rig_when_woken)(struct rig_target *target);
void (*rig_when_handed_out)(edo_timer_entry *entry);

/* ---- in place of the library's own (the linker's --wrap) ---- */

uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock);
uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock)
{
	(void)clock;
	rig_clock_reads++;
	return rig_clock;
}

void __wrap_edo_misuse_line(const char *function, const char *text, const char *what);
void __wrap_edo_misuse_line(const char *function, const char *text, const char *what)
{
	(void)function;
	(void)text;
	(void)what;
	rig_misuses++;
}

/* Each call spends some of the budget, so a full one tells that a hold of the lock begins. */
edo_wheel_timer *__real_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget);
edo_wheel_timer *__wrap_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget);
edo_wheel_timer *__wrap_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget)
{
	edo_wheel_timer *timer;

	EXPECT(*budget <= EDO_TURN_BUDGET); /* T7 */
	rig_holds += *budget == EDO_TURN_BUDGET;
	timer = __real_edo_wheel_poll_budget(wheel, now, budget);
	if (timer)
		rig_when_handed_out(edo_entry_of(timer));
	return timer;
}

/* ---- in place of the driver round the time driver ---- */

static struct rig_host *host_of(struct edo_time_driver *time)
{
	return edo_container_of(time, struct rig_host, time);
}

void edo_time_unpark(struct edo_time_driver *time)
{
	edo_lock_assert_none();
	host_of(time)->unparks++;
}

struct edo_time_driver *edo_time_own(uint32_t driver_id)
{
	return rig_entered && rig_entered->time.driver_id == driver_id ? &rig_entered->time : NULL;
}

/* All that is armed is in a driver that is known, or this thread's own, or being shut down by it. */
struct edo_time_driver *edo_time_hold(uint32_t driver_id)
{
	unsigned i = 0;

	edo_lock_assert_none();
	while (i < RIG_HOSTS &&
	       !(rig_hosts[i].is_known && rig_hosts[i].time.driver_id == driver_id))
		i++;
	EXPECT(i < RIG_HOSTS);
	rig_hosts[i].holders++;
	return &rig_hosts[i].time;
}

void edo_time_release(struct edo_time_driver *time)
{
	edo_lock_assert_none();
	EXPECT(host_of(time)->holders > 0);
	host_of(time)->holders--;
}

static void *take(void *context, size_t size, size_t align)
{
	(void)context;
	return aligned_alloc(align, size);
}

static void give(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

const edo_allocator rig_allocator = { take, give, NULL };

/* ---- wakers; every call looks whether a lock is held (T2) ---- */

static edo_waker waker_clone(void *data);

static void waker_drop(void *data)
{
	struct rig_target *target = data;

	edo_lock_assert_none();
	EXPECT(target->references > 0);
	target->references--;
}

static void waker_wake_by_ref(void *data)
{
	struct rig_target *target = data;

	edo_lock_assert_none();
	target->wakes++;
	rig_when_woken(target);
}

static void waker_wake(void *data)
{
	waker_drop(data);
	waker_wake_by_ref(data);
}

static const edo_waker_ops waker_ops = { waker_clone, waker_wake, waker_wake_by_ref, waker_drop };

static edo_waker waker_clone(void *data)
{
	struct rig_target *target = data;

	edo_lock_assert_none();
	target->references++;
	return (edo_waker){ data, &waker_ops };
}

void rig_begin(void)
{
	memset(rig_hosts, 0, sizeof rig_hosts);
	memset(rig_targets, 0, sizeof rig_targets);
	for (unsigned i = 0; i < RIG_TARGETS; i++)
		rig_targets[i].waker = (edo_waker){ &rig_targets[i], &waker_ops };
	rig_entered = NULL;
	rig_clock = UINT64_C(1000000000);
	rig_clock_reads = rig_holds = rig_misuses = 0;
}
