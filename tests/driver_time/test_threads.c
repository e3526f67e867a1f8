/*
 * T3 and T4 hammered by threads; run under ThreadSanitizer too. The clock is set by the holder, so
 * nothing here waits for real time. Threads count what went wrong; the main one asserts.
 */
#include "rig.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static struct edo_time_driver driver;
static uint32_t is_over, wrongs;

static void count_wrong(bool wrong)
{
	if (wrong)
		__atomic_fetch_add(&wrongs, 1, __ATOMIC_RELAXED);
}

static bool over(void)
{
	return __atomic_load_n(&is_over, __ATOMIC_ACQUIRE);
}

static void begin_hammer(void)
{
	is_over = wrongs = 0;
	rig_set_clock(1000 * MS);
	rig_start(&driver, MS, false);
	rig_register(&driver);
}

static void end_hammer(void)
{
	assert_int_equal(wrongs, 0);
	rig_unregister(&driver);
	rig_end(&driver);
}

static unsigned rounds(unsigned native)
{
	return native / edo_test_slowdown() + 1;
}

/* ---- T3: a driver that really sleeps, woken by its clock or an unpark ---- */

static uint32_t armed_by_others;

/*
 * Each arms a timer nearer than all before and waits until it has fired. The holder sleeps for ever
 * unless it is unparked or saw the timer in its scan; a lost timer hangs, which the runner ends.
 */
static void *arm_and_await(void *arg)
{
	struct rig_waker waker;
	edo_timer_entry entry;
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	rig_waker_init(&waker);
	edo_entry_init(&entry);
	for (unsigned i = rounds(20000); i > 0; i--) {
		uint64_t now = edo_time_now(&driver);
		uint64_t tick = edo_time_tick_of(&driver, now) + 1 + rig_random(&seed) % 100;

		(void)edo_entry_reset(&driver, &entry, tick);
		(void)rig_poll(&driver, &entry, tick, &waker);
		while (!edo_entry_has_fired(&entry))
			sched_yield();
	}
	while (rig_clones(&waker) !=
	       0) /* FIRED is stored before the wake, which may be under way */
		sched_yield();
	__atomic_fetch_sub(&armed_by_others, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Sleeps: time passes at once up to the next timer; without one, until somebody unparks. */
static void sleep_like_a_driver(unsigned *unparks_seen)
{
	uint64_t wait = edo_time_before_wait(&driver, UINT64_MAX);

	if (wait == UINT64_MAX)
		while (rig_unparks() == *unparks_seen &&
		       __atomic_load_n(&armed_by_others, __ATOMIC_ACQUIRE) > 0)
			sched_yield();
	else
		rig_set_clock(rig_clock() + wait);
	edo_time_after_wait(&driver);
	*unparks_seen = rig_unparks();
}

static void pitfall_p04_no_timer_is_lost_between_scan_and_sleep(void **state)
{
	pthread_t threads[3];
	unsigned unparks_seen = rig_unparks();

	(void)state;
	begin_hammer();
	armed_by_others = 3;
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, arm_and_await, (void *)(i + 1));
	while (__atomic_load_n(&armed_by_others, __ATOMIC_ACQUIRE) > 0) {
		sleep_like_a_driver(&unparks_seen);
		(void)edo_time_process(&driver);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	end_hammer();
}

/* ---- T4: owners poll, reset, drop and reuse, while the holder turns ---- */

enum { OWNED = 16 };

struct owned {
	edo_timer_entry entry;
	uint64_t tick; /* what it is armed for, 0: it is not */
	struct rig_waker waker;
};

/* Never early: what has fired was due by the clock. */
static void check_owned(struct owned *one)
{
	if (one->tick && edo_entry_has_fired(&one->entry))
		count_wrong(edo_time_now(&driver) < one->tick * MS);
}

static void do_something(struct owned *one, uint64_t *seed)
{
	uint64_t now = edo_time_now(&driver);
	/* From now on, and not 0, which says that it has none. */
	uint64_t tick = edo_time_tick_of(&driver, now + 1) + rig_random(seed) % 200;

	check_owned(one);
	switch (rig_random(seed) % 5) {
	case 0:
		edo_entry_drop(&one->entry);
		memset(&one->entry, 0xa5, sizeof one->entry); /* complete on return */
		edo_entry_init(&one->entry);
		one->tick = 0;
		break;
	case 1:
		if (one->tick) { /* armed, fired, or just between */
			count_wrong(edo_entry_reset(&driver, &one->entry, tick) != 0);
			one->tick = tick;
		}
		break;
	default:
		if (!one->tick)
			one->tick = tick;
		(void)rig_poll(&driver, &one->entry, one->tick, &one->waker);
		break;
	}
}

static void *own_timers(void *arg)
{
	struct owned *all = calloc(OWNED, sizeof *all);
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	rig_enter((uintptr_t)arg % 2 ? &driver : NULL); /* inside the runtime, and not */
	for (unsigned i = 0; i < OWNED; i++) {
		edo_entry_init(&all[i].entry);
		rig_waker_init(&all[i].waker);
	}
	for (unsigned i = rounds(200000); i > 0; i--)
		do_something(&all[rig_random(&seed) % OWNED], &seed);
	for (unsigned i = 0; i < OWNED; i++)
		edo_entry_drop(&all[i].entry);
	__atomic_fetch_sub(&armed_by_others, 1, __ATOMIC_RELEASE);
	while (!over())
		sched_yield();
	for (unsigned i = 0; i < OWNED; i++) /* after the last wake that may have been under way */
		count_wrong(rig_clones(&all[i].waker) != 0);
	free(all);
	return NULL;
}

static void owners_and_the_turn_agree_about_every_timer(void **state)
{
	pthread_t threads[3];

	(void)state;
	begin_hammer();
	armed_by_others = 3;
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, own_timers, (void *)(i + 1));
	while (__atomic_load_n(&armed_by_others, __ATOMIC_ACQUIRE) > 0) {
		rig_set_clock(rig_clock() + MS / 3);
		(void)edo_time_process(&driver);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(rig_armed(&driver), 0);
	end_hammer();
}

/* ---- drops by strangers while the driver shuts down ---- */

enum { STRANGERS_TIMERS = 500 };

static edo_timer_entry doomed[STRANGERS_TIMERS];

static void *drop_as_a_stranger(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < STRANGERS_TIMERS; i++) {
		edo_entry_drop(&doomed[i]);
		memset(&doomed[i], 0xa5, sizeof doomed[i]);
	}
	return NULL;
}

static void strangers_may_drop_while_the_driver_shuts_down(void **state)
{
	struct rig_waker waker;

	(void)state;
	for (unsigned round = rounds(200); round > 0; round--) {
		pthread_t thread;

		begin_hammer();
		rig_waker_init(&waker);
		for (unsigned i = 0; i < STRANGERS_TIMERS; i++) {
			edo_entry_init(&doomed[i]);
			(void)rig_poll(&driver, &doomed[i], 1 + i, &waker);
		}
		pthread_create(&thread, NULL, drop_as_a_stranger, NULL);
		rig_unregister(&driver);
		edo_time_shutdown(&driver);
		pthread_join(thread, NULL);
		edo_time_destroy(&driver);
		assert_int_equal(rig_clones(&waker), 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pitfall_p04_no_timer_is_lost_between_scan_and_sleep),
	cmocka_unit_test(owners_and_the_turn_agree_about_every_timer),
	cmocka_unit_test(strangers_may_drop_while_the_driver_shuts_down),
};

EDO_TEST_MAIN(tests)
