/*
 * T4: an entry's owner against the driver that fires it. The driver turns while the owner resets, polls, arms
 * or drops; the entry's memory is freed as soon as the drop has returned, or reused as soon as the owner
 * has seen FIRED. Wakers are counted: each clone is used up once.
 */
#include "driver/time/shard.h"
#include "explore/explore.h"
#include "task/task.h"
#include <errno.h>
#include <stdlib.h>

#define TICK UINT64_C(1000000)

enum { NUMBER = 7, DUE = 5, LATER = 9, EARLIER = 3 };

static struct edo_time_driver time_driver;
static bool is_gone; /* out of the table of numbers: shutting down */

/* ---- the driver round it ---- */

void edo_time_unpark(struct edo_time_driver *time)
{
	(void)time;
}

struct edo_time_driver *edo_time_own(uint32_t driver_id)
{
	return driver_id == NUMBER && !is_gone ? &time_driver : NULL;
}

struct edo_time_driver *edo_time_hold(uint32_t driver_id)
{
	(void)driver_id;
	return NULL;
}

void edo_time_release(struct edo_time_driver *time)
{
	(void)time;
}

/* ---- wakers that are counted ---- */

struct counting {
	uint32_t live; /* atomic: clones not used up */
	uint32_t woken;
};

static struct counting first, second;
static const edo_waker_ops counting_ops;

static edo_waker clone_of(void *data)
{
	(void)edo_fetch_add(&((struct counting *)data)->live, 1, relaxed);
	return (edo_waker){ data, &counting_ops };
}

static void drop(void *data)
{
	(void)edo_fetch_sub(&((struct counting *)data)->live, 1, relaxed);
}

static void wake_by_ref(void *data)
{
	(void)edo_fetch_add(&((struct counting *)data)->woken, 1, release);
}

static void wake(void *data)
{
	wake_by_ref(data);
	drop(data);
}

static const edo_waker_ops counting_ops = { clone_of, wake, wake_by_ref, drop };

/* ---- the owner ---- */

static edo_timer_entry *entry;

/* `now`: what this poll has read off the clock already; 0: nothing. */
static edo_poll poll_at(uint64_t now, struct counting *counting)
{
	edo_waker waker = { counting, &counting_ops };
	edo_context cx = { .waker = &waker, .edo_budget_ = EDO_COOP_BUDGET, .edo_now_ = now };

	return edo_entry_poll(&time_driver, entry, DUE, &cx);
}

static edo_poll poll_with(struct counting *counting)
{
	return poll_at(0, counting);
}

/* The storage is nobody else's any more: all of it may be written. */
static void reuse(void)
{
	edo_entry_init(entry);
	entry->edo_waker_ = (edo_waker){ NULL, NULL };
}

static void drop_and_free(void)
{
	edo_entry_drop(entry);
	free(entry);
}

static void drops(void *argument)
{
	(void)argument;
	drop_and_free();
}

static void polls_and_reuses(void *argument)
{
	(void)argument;
	if (poll_with(&first) == EDO_READY)
		reuse();
	drop_and_free();
}

static void polls_with_another_waker(void *argument)
{
	(void)argument;
	if (poll_with(&second) == EDO_READY)
		reuse();
	drop_and_free();
}

/* It has read the clock before the timer was due, so it waits on. */
static void polls_too_early_with_another_waker(void *argument)
{
	(void)argument;
	if (poll_at(EARLIER * TICK, &second) != EDO_PENDING)
		reuse();
	drop_and_free();
}

static void looks_whether_it_has_fired(void *argument)
{
	(void)argument;
	if (edo_entry_has_fired(entry))
		reuse();
	drop_and_free();
}

static void looks_whether_it_is_armed(void *argument)
{
	(void)argument;
	if (!edo_entry_is_armed(entry))
		reuse();
	drop_and_free();
}

/* The reset itself has seen that it had been fired, and made it unarmed, or that it was shut down. */
static void reuse_if_seen(int rc)
{
	explore_check(rc == 0 || rc == -ESHUTDOWN);
	if (rc != 0 || edo_load(edo_cell_of(entry), relaxed) == EDO_TICK_UNARMED)
		reuse();
}

static void resets_to_later_and_reuses(void *argument)
{
	int rc;

	(void)argument;
	rc = edo_entry_reset(&time_driver, entry, LATER);
	reuse_if_seen(rc);
	drop_and_free();
}

static void resets_to_earlier_and_reuses(void *argument)
{
	int rc;

	(void)argument;
	rc = edo_entry_reset(&time_driver, entry, DUE - 1);
	reuse_if_seen(rc);
	drop_and_free();
}

static void resets_to_later(void *argument)
{
	int rc;

	(void)argument;
	rc = edo_entry_reset(&time_driver, entry, LATER);
	explore_check(rc == 0 || rc == -ESHUTDOWN);
	drop_and_free();
}

static bool was_moved;

/* Moved on, it fires at its new tick: not before, and not never. */
static void resets_to_later_and_leaves_it(void *argument)
{
	(void)argument;
	explore_check(edo_entry_reset(&time_driver, entry, LATER) == 0);
	/* Or it had fired: the reset has made it unarmed. */
	was_moved = edo_entry_is_armed(entry);
}

static void resets_to_earlier(void *argument)
{
	(void)argument;
	explore_check(edo_entry_reset(&time_driver, entry, EARLIER) == 0);
	drop_and_free();
}

static void resets_there_and_back(void *argument)
{
	(void)argument;
	explore_check(edo_entry_reset(&time_driver, entry, LATER) == 0);
	explore_check(edo_entry_reset(&time_driver, entry, DUE) == 0);
	drop_and_free();
}

static void arms_anew(void *argument)
{
	edo_waker waker = { &second, &counting_ops };
	int rc;

	(void)argument;
	rc = edo_entry_arm(&time_driver, entry, LATER, &waker);
	explore_check(rc == 0 || rc == -ETIME || rc == -ESHUTDOWN);
	drop_and_free();
}

/* ---- the driver's holder ---- */

static void turns(void *argument)
{
	(void)argument;
	(void)edo_time_process(&time_driver);
}

static void turns_twice(void *argument)
{
	(void)argument;
	(void)edo_time_process(&time_driver);
	explore_clock_advance((LATER - DUE) * TICK);
	(void)edo_time_process(&time_driver);
}

static void shuts_down(void *argument)
{
	(void)argument;
	edo_time_shutdown(&time_driver);
}

/* ---- models ---- */

static void begin(uint64_t tick)
{
	explore_check(edo_time_init(&time_driver, NUMBER, EDO_SYS_MONOTONIC, TICK, false, 1,
				    &edo_default_allocator) == 0);
	time_driver.clock.start = 0;
	entry = malloc(sizeof *entry);
	edo_entry_init(entry);
	explore_check(poll_with(&first) == EDO_PENDING);
	explore_clock_advance(tick * TICK - explore_clock());
}

static void end(void)
{
	edo_time_shutdown(&time_driver);
	edo_time_destroy(&time_driver);
	explore_check(first.live == 0 && second.live == 0);
	explore_check(first.woken + second.woken <= 2);
}

static void against(void (*driver)(void *argument), void (*owner)(void *argument))
{
	begin(DUE);
	explore_start(driver, NULL);
	explore_start(owner, NULL);
	explore_join_all();
	end();
}

static void fire_and_drop(void)
{
	against(turns, drops);
}

static void fire_and_poll(void)
{
	against(turns, polls_and_reuses);
}

static void fire_and_change_waker(void)
{
	against(turns, polls_with_another_waker);
}

static void fire_and_reset_later(void)
{
	against(turns_twice, resets_to_later);
}

static void fire_and_reset_earlier(void)
{
	against(turns, resets_to_earlier);
}

static void fire_and_reset_twice(void)
{
	against(turns, resets_there_and_back);
}

static void fire_and_arm(void)
{
	against(turns_twice, arms_anew);
}

/* Not due yet: a poll on another thread's wheel while the driver scans it. */
static void scan_and_reset_earlier(void)
{
	begin(EARLIER - 1);
	explore_start(turns, NULL);
	explore_start(resets_to_earlier, NULL);
	explore_join_all();
	end();
}

/* It was moved while it was being fired: it is filed anew, and fires then. */
static void a_later_reset_is_kept(void)
{
	begin(DUE);
	explore_start(turns, NULL);
	explore_start(resets_to_later_and_leaves_it, NULL);
	explore_join_all();
	explore_check(first.woken == (was_moved ? 0 : 1));
	explore_clock_advance((LATER - DUE) * TICK);
	explore_check(edo_time_process(&time_driver) == (was_moved ? 1 : 0));
	explore_check(first.woken == 1);
	explore_check(edo_entry_has_fired(entry) == was_moved);
	drop_and_free();
	end();
}

static void fire_and_poll_too_early(void)
{
	against(turns, polls_too_early_with_another_waker);
}

static void fire_and_look(void)
{
	against(turns, looks_whether_it_has_fired);
}

static void fire_and_look_whether_armed(void)
{
	against(turns, looks_whether_it_is_armed);
}

static void fire_reset_later_and_reuse(void)
{
	against(turns, resets_to_later_and_reuses);
}

static void fire_reset_earlier_and_reuse(void)
{
	against(turns, resets_to_earlier_and_reuses);
}

static void shutdown_reset_and_reuse(void)
{
	against(shuts_down, resets_to_later_and_reuses);
}

static void shutdown_reset_earlier_and_reuse(void)
{
	against(shuts_down, resets_to_earlier_and_reuses);
}

static void shutdown_and_poll(void)
{
	against(shuts_down, polls_too_early_with_another_waker);
}

static void shutdown_and_drop(void)
{
	against(shuts_down, drops);
}

static void shutdown_and_reset(void)
{
	against(shuts_down, resets_to_later);
}

static void shutdown_and_arm(void)
{
	against(shuts_down, arms_anew);
}

/* The owner finds no driver by the number any more, and waits until the wheel is empty. */
static void shutdown_and_drop_from_afar(void)
{
	begin(DUE);
	is_gone = true;
	explore_start(shuts_down, NULL);
	explore_start(drops, NULL);
	explore_join_all();
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "fired while it is dropped and freed", fire_and_drop, ALL, ALL },
	{ "fired while it is polled and its storage reused", fire_and_poll, ALL, ALL },
	{ "fired while its waker is changed", fire_and_change_waker, ALL, ALL },
	{ "fired while it is polled by an earlier clock", fire_and_poll_too_early, ALL, ALL },
	{ "fired while it is asked whether it has", fire_and_look, ALL, ALL },
	{ "fired while it is asked whether it is armed", fire_and_look_whether_armed, ALL, ALL },
	{ "fired, moved to later, its storage reused", fire_reset_later_and_reuse, ALL, ALL },
	{ "fired, moved to earlier, its storage reused", fire_reset_earlier_and_reuse, ALL, ALL },
	{ "shut down while it is polled", shutdown_and_poll, ALL, ALL },
	{ "shut down, moved, its storage reused", shutdown_reset_and_reuse, ALL, ALL },
	{ "shut down, moved to earlier, reused", shutdown_reset_earlier_and_reuse, ALL, ALL },
	{ "fired while it is moved to later", fire_and_reset_later, ALL, ALL },
	{ "fired while it is moved to earlier", fire_and_reset_earlier, ALL, ALL },
	{ "fired while it is moved there and back", fire_and_reset_twice, ALL, ALL },
	{ "fired while it is armed anew", fire_and_arm, ALL, ALL },
	{ "looked at while it is moved to earlier", scan_and_reset_earlier, ALL, ALL },
	{ "moved to later while it is fired, it fires then", a_later_reset_is_kept, ALL, ALL },
	{ "shut down while it is dropped", shutdown_and_drop, ALL, ALL },
	{ "shut down while it is moved", shutdown_and_reset, ALL, ALL },
	{ "shut down while it is armed anew", shutdown_and_arm, ALL, ALL },
	{ "shut down while it is dropped by a stranger", shutdown_and_drop_from_afar, ALL, ALL },
};

EXPLORE_MAIN(models)
