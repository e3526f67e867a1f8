/* T3 step by step: who disturbs a sleeping driver, how often, and for how long it may sleep (R4). */
#include "rig.h"
#include <errno.h>
#include <pthread.h>

static struct edo_time_driver driver;
static struct rig_waker waker;
static edo_timer_entry first, second;

static int begin(void **state)
{
	(void)state;
	rig_set_clock(1000 * MS);
	rig_start(&driver, MS, false);
	rig_waker_init(&waker);
	edo_entry_init(&first);
	edo_entry_init(&second);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	edo_entry_drop(&first);
	edo_entry_drop(&second);
	rig_end(&driver);
	return 0;
}

static unsigned unparks_of_arming(edo_timer_entry *entry, uint64_t tick)
{
	unsigned before = rig_unparks();

	(void)rig_poll(&driver, entry, tick, &waker);
	return rig_unparks() - before;
}

static void while_nobody_waits_nobody_is_unparked(void **state)
{
	(void)state;
	assert_int_equal(driver.next_wake, EDO_WAKE_IDLE);
	assert_int_equal(unparks_of_arming(&first, 5), 0);
}

static void with_no_timer_the_wait_has_no_limit_but_its_own(void **state)
{
	(void)state;
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), UINT64_MAX);
	assert_int_equal(driver.next_wake, EDO_WAKE_FOREVER);
	edo_time_after_wait(&driver);
	assert_int_equal(driver.next_wake, EDO_WAKE_IDLE);
	assert_int_equal(edo_time_before_wait(&driver, 12345), 12345);
	edo_time_after_wait(&driver);
}

static void the_first_timer_wakes_one_that_sleeps_for_ever_once(void **state)
{
	(void)state;
	(void)edo_time_before_wait(&driver, UINT64_MAX);
	assert_int_equal(unparks_of_arming(&first, 50), 1);
	assert_int_equal(unparks_of_arming(&second, 40), 0);
	edo_time_after_wait(&driver);
}

static void only_a_nearer_timer_wakes_one_that_sleeps_until_a_tick(void **state)
{
	(void)state;
	(void)unparks_of_arming(&first, 50);
	(void)edo_time_before_wait(&driver, UINT64_MAX);
	assert_int_equal(driver.next_wake, 50);
	assert_int_equal(unparks_of_arming(&second, 50), 0);
	edo_entry_drop(&second);
	assert_int_equal(unparks_of_arming(&second, 49), 1);
	edo_time_after_wait(&driver);
}

static void an_earlier_reset_wakes_it_too_and_a_later_one_does_not(void **state)
{
	unsigned before;

	(void)state;
	(void)unparks_of_arming(&first, 50);
	(void)unparks_of_arming(&second, 5000);
	(void)edo_time_before_wait(&driver, UINT64_MAX);
	before = rig_unparks();
	assert_int_equal(edo_entry_reset(&driver, &second, 6000), 0);
	assert_int_equal(edo_entry_reset(&driver, &second, 51), 0);
	assert_int_equal(rig_unparks(), before);
	assert_int_equal(edo_entry_reset(&driver, &second, 49), 0);
	assert_int_equal(rig_unparks(), before + 1);
	edo_time_after_wait(&driver);
}

/* p04: between the scan and the sleep another thread arms a nearer timer. */
static void pitfall_p04_what_is_armed_during_the_scan_keeps_the_driver_awake(void **state)
{
	(void)state;
	driver.next_wake = EDO_WAKE_SCANNING; /* as before_wait() leaves it for its scan */
	assert_int_equal(unparks_of_arming(&first, 50), 0);
	assert_int_equal(driver.next_wake, EDO_WAKE_IDLE);
}

/* ---- the scan, interrupted between its last look at a shard and the publication ---- */

static void (*during_scan)(void);

bool __real_edo_wheel_next(const edo_wheel *wheel, uint64_t *at);
bool __wrap_edo_wheel_next(const edo_wheel *wheel, uint64_t *at);
bool __wrap_edo_wheel_next(const edo_wheel *wheel, uint64_t *at)
{
	bool found = __real_edo_wheel_next(wheel, at);

	/* The second shard is looked at, its lock held; the first one's is free. */
	if (during_scan && wheel == &driver.shards[1].wheel)
		during_scan();
	return found;
}

static void *arm_first_at_30(void *arg)
{
	(void)rig_poll(&driver, &first, 30, &waker);
	return arg;
}

static void arm_from_another_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, arm_first_at_30, NULL);
	pthread_join(thread, NULL);
}

static void pitfall_p04_a_scan_that_missed_a_timer_is_not_followed_by_a_sleep(void **state)
{
	unsigned before = rig_unparks();

	(void)state;
	rig_end(&driver);
	rig_start_sharded(&driver, MS, 2);
	during_scan = arm_from_another_thread;
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), 0);
	during_scan = NULL;
	edo_time_after_wait(&driver);
	assert_int_equal(rig_unparks(), before); /* nobody slept yet */
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), 30 * MS);
	edo_time_after_wait(&driver);
}

static void a_look_without_a_wait_publishes_nothing(void **state)
{
	(void)state;
	(void)unparks_of_arming(&first, 50);
	assert_int_equal(edo_time_before_wait(&driver, 0), 0);
	assert_int_equal(driver.next_wake, EDO_WAKE_IDLE);
}

/* p27: less than a millisecond is no reason to spin. */
static void pitfall_p27_a_short_wait_is_exact_and_never_nothing(void **state)
{
	(void)state;
	(void)unparks_of_arming(&first, 1);
	rig_set_clock(1001 * MS - 1);
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), 1);
	edo_time_after_wait(&driver);
	rig_set_clock(1001 * MS);
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), 0);
	edo_time_after_wait(&driver);
}

/* p26: the poller caps what does not fit; what it is told must not have overflowed before. */
static void pitfall_p26_a_wait_of_months_is_told_in_full(void **state)
{
	(void)state;
	(void)unparks_of_arming(&first, UINT64_C(1) << 33);
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), (UINT64_C(1) << 33) * MS);
	edo_time_after_wait(&driver);
	edo_entry_drop(&first);
	rig_set_clock(1003 * MS);
	(void)unparks_of_arming(&first, EDO_TICK_MAX);
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), UINT64_MAX);
	edo_time_after_wait(&driver);
}

/* p28: what is left is computed from the clock before every wait. */
static void pitfall_p28_after_an_early_wake_the_rest_is_waited_for(void **state)
{
	(void)state;
	(void)unparks_of_arming(&first, 10);
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), 10 * MS);
	edo_time_after_wait(&driver);
	rig_set_clock(1004 * MS + 7);
	(void)edo_time_process(&driver);
	rig_set_clock(1004 * MS + 9); /* what was woken took its time */
	assert_int_equal(edo_time_before_wait(&driver, UINT64_MAX), 6 * MS - 9);
	edo_time_after_wait(&driver);
}

static void a_timer_that_was_dropped_is_not_waited_for(void **state)
{
	(void)state;
	(void)unparks_of_arming(&first, 10);
	(void)unparks_of_arming(&second, 90);
	edo_entry_drop(&first);
	assert_true(edo_time_before_wait(&driver, UINT64_MAX) > 10 * MS);
	edo_time_after_wait(&driver);
}

static void the_earliest_of_all_shards_is_published(void **state)
{
	struct edo_time_driver sharded;

	(void)state;
	rig_start_sharded(&sharded, MS, 3);
	assert_int_equal(edo_wheel_insert(&sharded.shards[0].wheel, &first.edo_node_, 60), 0);
	assert_int_equal(edo_wheel_insert(&sharded.shards[2].wheel, &second.edo_node_, 40), 0);
	assert_int_equal(edo_time_before_wait(&sharded, UINT64_MAX), 40 * MS);
	assert_int_equal(sharded.next_wake, 40);
	edo_time_after_wait(&sharded);
	assert_int_equal(edo_wheel_reset(&sharded.shards[0].wheel, &first.edo_node_, 20), 0);
	assert_int_equal(edo_time_before_wait(&sharded, UINT64_MAX), 20 * MS);
	edo_time_after_wait(&sharded);
	rig_end(&sharded);
	rig_enter(&driver);
}

static void a_clock_that_stands_limits_no_wait(void **state)
{
	(void)state;
	assert_int_equal(edo_time_pause(&driver), 0);
	(void)unparks_of_arming(&first, 10);
	assert_int_equal(edo_time_before_wait(&driver, EDO_HOUR(1)), EDO_HOUR(1));
	edo_time_after_wait(&driver);
	assert_int_equal(edo_time_advance(&driver, 10 * MS), 0);
	assert_int_equal(edo_time_before_wait(&driver, 777), 0);
	edo_time_after_wait(&driver);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

static const struct CMUnitTest tests[] = {
	TEST(while_nobody_waits_nobody_is_unparked),
	TEST(with_no_timer_the_wait_has_no_limit_but_its_own),
	TEST(the_first_timer_wakes_one_that_sleeps_for_ever_once),
	TEST(only_a_nearer_timer_wakes_one_that_sleeps_until_a_tick),
	TEST(an_earlier_reset_wakes_it_too_and_a_later_one_does_not),
	TEST(pitfall_p04_what_is_armed_during_the_scan_keeps_the_driver_awake),
	TEST(pitfall_p04_a_scan_that_missed_a_timer_is_not_followed_by_a_sleep),
	TEST(a_look_without_a_wait_publishes_nothing),
	TEST(pitfall_p27_a_short_wait_is_exact_and_never_nothing),
	TEST(pitfall_p26_a_wait_of_months_is_told_in_full),
	TEST(pitfall_p28_after_an_early_wake_the_rest_is_waited_for),
	TEST(a_timer_that_was_dropped_is_not_waited_for),
	TEST(the_earliest_of_all_shards_is_published),
	TEST(a_clock_that_stands_limits_no_wait),
};

EDO_TEST_MAIN(tests)
