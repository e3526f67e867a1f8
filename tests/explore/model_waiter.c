/*
 * A plain thread that waits: it is signalled while it falls asleep, sleeps, wakes up or ends its wait, on the
 * futex or in the driver. Wakers outlive the wait, and the runtime that it drove.
 */
#include "scheduler/waiter.h"
#include "explore/explore.h"
#include "explore/rig_scheduler.h"
#include "scheduler/round.h"

/* The number of the thread that is started first. */
enum { FIRST = 2 };

static struct edo_thread_waiter *waiter;

static bool has_signal(enum edo_waiter_signal signal)
{
	return edo_load(&waiter->signals, relaxed) & (uint32_t)signal;
}

/* ---- the one who waits, on the futex ---- */

static unsigned notes[2]; /* plain: each written before its signal */

static void parks_until_notified(void *argument)
{
	(void)argument;
	edo_waiter_park(waiter);
	explore_check(edo_waiter_take_notified(waiter));
	explore_check(notes[0] == 1);
}

static void parks_until_it_has_both(void *argument)
{
	uint32_t had = 0;

	(void)argument;
	while (had != (EDO_WAITER_NOTIFIED | EDO_WAITER_HAS_CORE)) {
		edo_waiter_park(waiter);
		if (edo_waiter_take_notified(waiter)) {
			explore_check(notes[0] == 1);
			had |= EDO_WAITER_NOTIFIED;
		}
		if (edo_load(&waiter->signals, acquire) & EDO_WAITER_HAS_CORE) {
			edo_fetch_and(&waiter->signals, ~(uint32_t)EDO_WAITER_HAS_CORE, acq_rel);
			explore_check(notes[1] == 1);
			had |= EDO_WAITER_HAS_CORE;
		}
	}
}

/* Two notifications may be one wake-up; what came before either is seen after the last. */
static uint32_t flags[2]; /* atomic */

static void parks_until_both_have_come(void *argument)
{
	(void)argument;
	while (!edo_load(&flags[0], relaxed) || !edo_load(&flags[1], relaxed)) {
		edo_waiter_park(waiter);
		(void)edo_waiter_take_notified(waiter);
	}
}

static void looks_until_notified(void *argument)
{
	(void)argument;
	while (!edo_waiter_is_notified(waiter))
		explore_wait_a_moment();
	explore_check(notes[0] == 1);
}

/* ---- those who signal ---- */

static void notifies(void *argument)
{
	(void)argument;
	notes[0] = 1;
	edo_waiter_signal(waiter, EDO_WAITER_NOTIFIED);
}

static void hands_the_core(void *argument)
{
	(void)argument;
	notes[1] = 1;
	edo_waiter_signal(waiter, EDO_WAITER_HAS_CORE);
}

static void sets_and_notifies(void *flag)
{
	edo_store((uint32_t *)flag, 1, relaxed);
	edo_waiter_signal(waiter, EDO_WAITER_NOTIFIED);
}

static void begin(void)
{
	waiter = rig_waiter(FIRST);
	(void)edo_waiter_take_notified(waiter);
}

static void end(void)
{
	explore_check(!has_signal(EDO_WAITER_PARKED));
	edo_thread_waiter_drop(waiter);
}

static void a_signal(void)
{
	begin();
	explore_start(parks_until_notified, NULL);
	explore_start(notifies, NULL);
	explore_join_all();
	end();
}

static void a_signal_and_interrupted_sleeps(void)
{
	begin();
	explore_interruptions(2);
	explore_start(parks_until_notified, NULL);
	explore_start(notifies, NULL);
	explore_join_all();
	end();
}

static void a_signal_without_a_sleep(void)
{
	begin();
	explore_start(looks_until_notified, NULL);
	explore_start(notifies, NULL);
	explore_join_all();
	end();
}

static void a_notification_and_the_core(void)
{
	begin();
	explore_start(parks_until_it_has_both, NULL);
	explore_start(notifies, NULL);
	explore_start(hands_the_core, NULL);
	explore_join_all();
	end();
}

static void two_notifications(void)
{
	begin();
	explore_start(parks_until_both_have_come, NULL);
	explore_start(sets_and_notifies, &flags[0]);
	explore_start(sets_and_notifies, &flags[1]);
	explore_join_all();
	end();
}

static void interrupted_sleeps(void)
{
	begin();
	explore_interruptions(2);
	explore_start(parks_until_both_have_come, NULL);
	explore_start(sets_and_notifies, &flags[0]);
	explore_start(sets_and_notifies, &flags[1]);
	explore_join_all();
	end();
}

/* ---- references ---- */

static void drops_its_own(void *argument)
{
	(void)argument;
	edo_thread_waiter_drop(waiter);
}

static void wakes(void *waker)
{
	edo_waker_wake(waker);
}

static void clones_wakes_and_drops(void *argument)
{
	edo_waker *waker = argument;
	edo_waker clone = edo_waker_clone(waker);

	edo_waker_wake_by_ref(&clone);
	edo_waker_drop(waker);
	edo_waker_drop(&clone);
}

static edo_waker new_waker(void)
{
	edo_waker borrowed = edo_waiter_waker_borrowed(waiter);

	return edo_waker_clone(&borrowed);
}

static void two_late_wakers(void)
{
	edo_waker first, second;

	begin();
	first = new_waker();
	second = new_waker();
	explore_start(drops_its_own, NULL);
	explore_start(wakes, &first);
	explore_start(clones_wakes_and_drops, &second);
	explore_join_all();
}

/* ---- the one who waits, in the driver; and without a runtime ---- */

static void alone(void)
{
	struct rig_waiting waiting = rig_waiting(NULL, FIRST);

	explore_start(rig_waits, &waiting);
	explore_start(rig_happens, &waiting.event);
	explore_join_all();
}

static void driving(void)
{
	edo_runtime *runtime = rig_runtime(RIG_WITHOUT_TIME);
	struct rig_waiting waiting = rig_waiting(runtime, FIRST);

	explore_start(rig_waits, &waiting);
	explore_start(rig_happens, &waiting.event);
	explore_join_all();
	rig_destroy(runtime);
}

static void driving_with_timers(void)
{
	edo_runtime *runtime = rig_runtime(RIG_WITH_TIME);
	struct rig_waiting waiting = rig_waiting(runtime, FIRST);

	explore_start(rig_waits, &waiting);
	explore_start(rig_happens, &waiting.event);
	explore_join_all();
	rig_destroy(runtime);
}

static void wakes_by_ref_twice(void *argument)
{
	struct rig_event *event = argument;

	edo_waker_wake_by_ref(&event->waker);
	rig_happen(event);
}

static void woken_in_vain_before(void)
{
	edo_runtime *runtime = rig_runtime(RIG_WITHOUT_TIME);
	struct rig_waiting waiting = rig_waiting(runtime, FIRST);

	explore_start(rig_waits, &waiting);
	explore_start(wakes_by_ref_twice, &waiting.event);
	explore_join_all();
	rig_destroy(runtime);
}

static void waits_and_destroys(void *argument)
{
	struct rig_waiting *waiting = argument;

	rig_waits(waiting);
	rig_destroy(waiting->runtime);
}

/* The wake is for the thread; the runtime that it drove may be gone by then, and its memory. */
static void woken_after_the_runtime_has_gone(void)
{
	edo_runtime *runtime = rig_runtime(RIG_WITHOUT_TIME);
	struct rig_waiting waiting = rig_waiting(runtime, FIRST);
	struct rig_event late = { 0, { NULL, NULL } };

	late.waker = edo_waker_clone(&waiting.event.waker);
	explore_start(waits_and_destroys, &waiting);
	explore_start(rig_happens, &waiting.event);
	explore_start(rig_happens, &late);
	explore_join_all();
}

static void waits_here_and_then_there(void *argument)
{
	struct rig_waiting *waitings = argument;

	waits_and_destroys(&waitings[0]);
	rig_waits(&waitings[1]);
}

static void the_next_wait_is_another(void)
{
	struct rig_waiting waitings[2];
	struct rig_event late = { 0, { NULL, NULL } };

	waitings[0] = rig_waiting(rig_runtime(RIG_WITHOUT_TIME), FIRST);
	waitings[1] = rig_waiting(NULL, FIRST);
	late.waker = edo_waker_clone(&waitings[0].event.waker);
	explore_start(waits_here_and_then_there, waitings);
	explore_start(rig_happens, &waitings[0].event);
	explore_start(rig_happens, &waitings[1].event);
	explore_start(rig_happens, &late);
	explore_join_all();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "a signal meets a thread that parks", a_signal, ALL, ALL },
	{ "a signal, and sleeps that end for no reason", a_signal_and_interrupted_sleeps, ALL,
	  ALL },
	{ "a signal is seen by who only looks", a_signal_without_a_sleep, ALL, ALL },
	{ "a notification and the core", a_notification_and_the_core, { 2, 2 }, ALL },
	{ "two notifications", two_notifications, { 2, 2 }, ALL },
	{ "two notifications and sleeps that end for no reason",
	  interrupted_sleeps,
	  { 1, 1 },
	  { 3, 3 } },
	{ "two wakers outlive the wait", two_late_wakers, ALL, ALL },
	{ "a wake meets a wait without a runtime", alone, ALL, ALL },
	{ "a wake meets a thread that drives", driving, ALL, ALL },
	{ "a wake meets a thread that drives a clock too", driving_with_timers, ALL, ALL },
	{ "a wake in vain, and another", woken_in_vain_before, ALL, ALL },
	{ "a late wake meets the runtime's end",
	  woken_after_the_runtime_has_gone,
	  { 2, 1 },
	  { 4, 3 } },
	{ "a late wake meets the next wait", the_next_wait_is_another, { 1, 1 }, { 2, 2 } },
};

EXPLORE_MAIN(models)
