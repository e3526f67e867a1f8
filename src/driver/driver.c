/*
 * The stack of drivers: time over I/O over the poller, or over a thread park where there is no I/O.
 *
 * One place where the thread waits (R4): whatever lies at the bottom waits, and time says for how
 * long. T3's order is kept here: publish before the wait, IDLE after it and before anything else,
 * in every turn that may have published.
 */
#include "driver/driver.h"
#include "driver/registry.h"

/* Waits at the bottom of the stack. Whether something came in: an event, or an unpark. */
static bool wait_below(struct edo_driver *driver, uint64_t max_wait)
{
	if (driver->has_io)
		return edo_io_turn(&driver->io, max_wait) > 0;
	return edo_thread_park_wait(&driver->park, max_wait);
}

static void turn_running(struct edo_driver *driver, uint64_t max_wait)
{
	uint64_t wait = edo_time_before_wait(&driver->time, max_wait);

	(void)wait_below(driver, wait);
	edo_time_after_wait(&driver->time);
}

/*
 * With a clock that stands, no timer is worth waiting for, so this wait is for events alone; but it
 * is published, because a timer that somebody arms meanwhile is one to jump to. If one got in
 * before, there is no wait.
 */
static void wait_without_timers(struct edo_driver *driver, uint64_t max_wait)
{
	uint64_t wait = edo_time_before_wait(&driver->time, max_wait);

	(void)wait_below(driver, wait < max_wait ? 0 : max_wait);
	edo_time_after_wait(&driver->time);
}

/* Looks first: what has already come in from outside goes before a jump in time. */
static void turn_paused(struct edo_driver *driver, uint64_t max_wait, bool may_jump)
{
	if (max_wait != 0 && !may_jump)
		(void)wait_below(driver, max_wait); /* a new timer would change nothing */
	else if (!wait_below(driver, 0) && max_wait != 0 && !edo_time_jump(&driver->time))
		wait_without_timers(driver, max_wait);
}

void edo_driver_turn(struct edo_driver *driver, uint64_t max_wait, bool may_jump)
{
	edo_lock_assert_none();
	if (!driver->has_time) {
		(void)wait_below(driver, max_wait);
		return;
	}
	if (edo_time_is_paused(&driver->time))
		turn_paused(driver, max_wait, may_jump);
	else
		turn_running(driver, max_wait);
	(void)edo_time_process(&driver->time);
}

void edo_driver_unpark(struct edo_driver *driver)
{
	if (driver->has_io)
		edo_io_unpark(&driver->io);
	else
		edo_thread_park_wake(&driver->park);
}

void edo_time_unpark(struct edo_time_driver *time)
{
	edo_driver_unpark(edo_container_of(time, struct edo_driver, time));
}

struct edo_time_driver *edo_time_own(uint32_t driver_id)
{
	struct edo_driver *driver = edo_current_driver();

	return driver && driver->id == driver_id && driver->has_time ? &driver->time : NULL;
}

struct edo_time_driver *edo_time_hold(uint32_t driver_id)
{
	struct edo_driver *driver = edo_driver_hold(driver_id);

	if (!driver || driver->has_time)
		return driver ? &driver->time : NULL;
	edo_driver_release(driver);
	return NULL;
}

void edo_time_release(struct edo_time_driver *time)
{
	edo_driver_release(edo_container_of(time, struct edo_driver, time));
}

static int init_time(struct edo_driver *driver, const struct edo_driver_options *options)
{
	int rc;

	if (options->disable_time)
		return 0;
	rc = edo_time_init(&driver->time, driver->id, options->clock, options->timer_resolution,
			   options->start_paused, options->shards, options->allocator);
	driver->has_time = rc == 0;
	return rc;
}

static int init_io(struct edo_driver *driver, const struct edo_driver_options *options)
{
	int rc;

	if (options->disable_io)
		return 0;
	rc = edo_io_init(&driver->io, driver->id, options->events_per_turn, options->allocator);
	driver->has_io = rc == 0;
	if (rc == 0 && driver->has_time && options->clock == EDO_SYS_BOOTTIME)
		rc = edo_poller_follow_boottime(&driver->io.poller);
	return rc;
}

int edo_driver_init(struct edo_driver *driver, const struct edo_driver_options *options)
{
	int rc;

	driver->has_time = false;
	driver->has_io = false;
	driver->holders = 0;
	driver->registry_next = NULL;
	driver->park.state = 0;
	rc = edo_registry_number(&driver->id);
	if (rc < 0)
		return rc;
	rc = init_time(driver, options);
	if (rc < 0)
		return rc;
	rc = init_io(driver, options);
	if (rc < 0) {
		edo_driver_destroy(driver);
		return rc;
	}
	edo_registry_add(driver);
	return 0;
}

void edo_driver_shutdown(struct edo_driver *driver)
{
	edo_lock_assert_none();
	edo_registry_remove(driver);
	if (driver->has_io)
		edo_io_shutdown(&driver->io);
	if (driver->has_time)
		edo_time_shutdown(&driver->time);
}

void edo_driver_destroy(struct edo_driver *driver)
{
	if (driver->has_time)
		edo_time_destroy(&driver->time);
	if (driver->has_io)
		edo_io_destroy(&driver->io);
	driver->has_time = false;
	driver->has_io = false;
}
