/*
 * T3 and T4 hammered by threads; run under ThreadSanitizer too. The clock is set by the holder, so
 * nothing here waits for real time. Threads count what went wrong; the main one asserts.
 */
#include "rig.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- a lock-free reset meets the firing of the same timer ---- */

enum { CROSSING = 64, CROSS_TICKS = 1000 };

static edo_timer_entry crossing[CROSSING];
static uint32_t crossings_begun, crossings_done;
static uint64_t crossing_tick;

static void await_count(const uint32_t *count, uint32_t wanted)
{
	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) != wanted)
		sched_yield();
}

/* Backwards, so that it meets the turn, which goes forwards, once a round. */
static void *reset_backwards(void *arg)
{
	unsigned last = *(const unsigned *)arg;

	for (unsigned round = 1; round <= last; round++) {
		await_count(&crossings_begun, round);
		for (unsigned i = CROSSING; i > 0; i--)
			count_wrong(edo_entry_reset(&driver, &crossing[i - 1],
						    crossing_tick + CROSS_TICKS) != 0);
		__atomic_store_n(&crossings_done, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Whichever came first: none has fired any more, and those that are armed lie in the wheel. */
static void check_crossed(void)
{
	for (unsigned i = 0; i < CROSSING; i++) {
		count_wrong(edo_entry_has_fired(&crossing[i]));
		count_wrong(edo_entry_is_armed(&crossing[i]) !=
			    edo_wheel_is_armed(&crossing[i].edo_node_));
		edo_entry_drop(&crossing[i]);
	}
}

static void a_reset_and_the_firing_of_one_timer_agree_who_was_first(void **state)
{
	unsigned last = rounds(20000);
	struct rig_waker waker;
	pthread_t thread;

	(void)state;
	begin_hammer();
	rig_waker_init(&waker);
	crossings_begun = crossings_done = 0;
	pthread_create(&thread, NULL, reset_backwards, &last);
	for (unsigned round = 1; round <= last; round++) {
		crossing_tick = edo_time_tick_of(&driver, edo_time_now(&driver)) + 1;
		for (unsigned i = 0; i < CROSSING; i++) {
			edo_entry_init(&crossing[i]);
			(void)rig_poll(&driver, &crossing[i], crossing_tick, &waker);
		}
		__atomic_store_n(&crossings_begun, round, __ATOMIC_RELEASE);
		(void)rig_turn_to(&driver, crossing_tick * MS);
		await_count(&crossings_done, round);
		check_crossed();
	}
	pthread_join(thread, NULL);
	assert_int_equal(rig_clones(&waker), 0);
	end_hammer();
}

/* ---- the driver fires while an owner waits for the lock ---- */

static edo_timer_entry contended;
static struct rig_waker contended_waker, other_waker;
static int contended_rc;

/* Runs `owner` until it waits for the lock, lets the driver fire then, and lets it go on. */
static void fire_while_it_waits(void *(*owner)(void *))
{
	edo_waker waker;
	pthread_t thread;

	begin_hammer();
	rig_waker_init(&contended_waker);
	rig_waker_init(&other_waker);
	edo_entry_init(&contended);
	(void)rig_poll(&driver, &contended, 50, &contended_waker);
	edo_lock_acquire(&driver.shards[0].lock, EDO_RANK_SHARD);
	pthread_create(&thread, NULL, owner, NULL);
	await_count(&driver.shards[0].lock.word, 2);
	assert_true(edo_wheel_remove(&driver.shards[0].wheel, &contended.edo_node_));
	waker = contended.edo_waker_;
	__atomic_store_n(&contended.edo_node_.when, EDO_TICK_FIRED, __ATOMIC_RELEASE);
	edo_lock_release(&driver.shards[0].lock, EDO_RANK_SHARD);
	edo_waker_wake(&waker);
	pthread_join(thread, NULL);
	assert_int_equal(rig_armed(&driver), 0);
	assert_int_equal(rig_clones(&contended_waker), 0);
	assert_int_equal(rig_clones(&other_waker), 0);
	end_hammer();
}

static void *resets_earlier(void *arg)
{
	contended_rc = edo_entry_reset(&driver, &contended, 20);
	return arg;
}

static void a_reset_that_waited_for_the_lock_finds_it_fired(void **state)
{
	(void)state;
	fire_while_it_waits(resets_earlier);
	assert_int_equal(contended_rc, 0);
	assert_false(edo_entry_has_fired(&contended));
	assert_false(edo_entry_is_armed(&contended));
}

static void *polls_with_another_waker(void *arg)
{
	contended_rc = rig_poll(&driver, &contended, 50, &other_waker);
	return arg;
}

static void a_poll_that_waited_for_the_lock_finds_it_fired(void **state)
{
	(void)state;
	fire_while_it_waits(polls_with_another_waker);
	assert_int_equal(contended_rc, EDO_READY);
}

static void *drops(void *arg)
{
	edo_entry_drop(&contended);
	return arg;
}

static void a_drop_that_waited_for_the_lock_finds_it_fired(void **state)
{
	(void)state;
	fire_while_it_waits(drops);
	assert_true(edo_entry_has_fired(&contended));
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

static uint32_t has_dropped;

static void *drop_and_say_so(void *arg)
{
	edo_entry_drop(&doomed[0]);
	__atomic_store_n(&has_dropped, 1, __ATOMIC_RELEASE);
	return arg;
}

/* The yields give a wrong drop the chance to return; a right one waits however many there are. */
static void a_stranger_waits_for_the_end_of_a_driver_that_it_cannot_find(void **state)
{
	struct rig_waker waker;
	pthread_t thread;

	(void)state;
	begin_hammer();
	rig_waker_init(&waker);
	edo_entry_init(&doomed[0]);
	(void)rig_poll(&driver, &doomed[0], 50, &waker);
	has_dropped = 0;
	rig_unregister(&driver);
	pthread_create(&thread, NULL, drop_and_say_so, NULL);
	for (int i = 0; i < 2000; i++)
		sched_yield();
	assert_int_equal(__atomic_load_n(&has_dropped, __ATOMIC_ACQUIRE), 0);
	edo_time_shutdown(&driver);
	pthread_join(thread, NULL);
	edo_time_destroy(&driver);
	assert_false(edo_entry_is_armed(&doomed[0]));
	assert_int_equal(rig_clones(&waker), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pitfall_p04_no_timer_is_lost_between_scan_and_sleep),
	cmocka_unit_test(owners_and_the_turn_agree_about_every_timer),
	cmocka_unit_test(a_reset_and_the_firing_of_one_timer_agree_who_was_first),
	cmocka_unit_test(a_reset_that_waited_for_the_lock_finds_it_fired),
	cmocka_unit_test(a_poll_that_waited_for_the_lock_finds_it_fired),
	cmocka_unit_test(a_drop_that_waited_for_the_lock_finds_it_fired),
	cmocka_unit_test(strangers_may_drop_while_the_driver_shuts_down),
	cmocka_unit_test(a_stranger_waits_for_the_end_of_a_driver_that_it_cannot_find),
};

EDO_TEST_MAIN(tests)
