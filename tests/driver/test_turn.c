/* The stack's turn: what waits, for how long, what fires, and what a paused clock does. */
#include "driver/driver.h"
#include "support/runner.h"
#include "support/sys_fault.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static void *allocate(void *context, size_t size, size_t align)
{
	void *memory = NULL;

	(void)context;
	return posix_memalign(&memory, align < 8 ? 8 : align, size) == 0 ? memory : NULL;
}

static void release_memory(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

static const edo_allocator allocator = { allocate, release_memory, NULL };

struct rig {
	struct edo_driver driver;
	unsigned wakes;
};

static struct rig rig;

enum without { NOTHING_MISSING, WITHOUT_IO, WITHOUT_TIME, PAUSED, PAUSED_WITHOUT_IO, BOOTTIME };

static void make(enum without without)
{
	const struct edo_driver_options options = {
		.disable_io = without == WITHOUT_IO || without == PAUSED_WITHOUT_IO,
		.disable_time = without == WITHOUT_TIME,
		.start_paused = without == PAUSED || without == PAUSED_WITHOUT_IO,
		.clock = without == BOOTTIME ? EDO_SYS_BOOTTIME : EDO_SYS_MONOTONIC,
		.timer_resolution = MS,
		.events_per_turn = 16,
		.shards = 1,
		.allocator = &allocator,
	};

	rig.wakes = 0;
	assert_int_equal(edo_driver_init(&rig.driver, &options), 0);
	(void)edo_current_driver_set(&rig.driver);
}

static void end(void)
{
	edo_driver_shutdown(&rig.driver);
	edo_driver_destroy(&rig.driver);
	(void)edo_current_driver_set(NULL);
}

static edo_waker rig_waker(void *data);

static void count_wake(void *data)
{
	edo_lock_assert_none();
	(void)edo_fetch_add(&((struct rig *)data)->wakes, 1, acq_rel);
}

static void drop_nothing(void *data)
{
	(void)data;
}

static const edo_waker_ops rig_ops = { rig_waker, count_wake, count_wake, drop_nothing };

static edo_waker rig_waker(void *data)
{
	return (edo_waker){ data, &rig_ops };
}

static uint64_t now(void)
{
	return edo_sys_clock_now(EDO_SYS_MONOTONIC);
}

/* Arms a timer so many ticks of a millisecond from now. */
static void arm(edo_timer_entry *entry, uint64_t ticks)
{
	struct edo_time_driver *time = &rig.driver.time;
	edo_waker waker = rig_waker(&rig);
	uint64_t tick = edo_time_tick_of(time, edo_time_now(time) + ticks * MS);

	edo_entry_init(entry);
	assert_int_equal(edo_entry_arm(time, entry, tick, &waker), 0);
}

static void a_turn_waits_until_the_next_timer_and_fires_it(void **state)
{
	static const enum without kinds[] = { NOTHING_MISSING, WITHOUT_IO };

	(void)state;
	for (int i = 0; i < 2; i++) {
		edo_timer_entry entry;
		uint64_t before = now();

		make(kinds[i]);
		arm(&entry, 5);

		while (!edo_entry_has_fired(&entry))
			edo_driver_turn(&rig.driver, UINT64_MAX, true);

		assert_true(now() - before >= 5 * MS);
		assert_int_equal(rig.wakes, 1);
		assert_true(edo_load(&rig.driver.time.next_wake, relaxed) == EDO_WAKE_IDLE);
		end();
	}
}

/*
 * p31: by CLOCK_BOOTTIME the wait is ended by a timer that goes on while the machine is suspended, not by
 * the poller's time-out, which does not.
 */
static void pitfall_p31_boottime_waits_for_a_timer_that_suspension_does_not_stop(void **state)
{
	uint64_t waits_in_ns = edo_sys_calls_of(EDO_CALL_epoll_wait_ns);
	uint64_t timers_set = edo_sys_calls_of(EDO_CALL_timerfd_set);
	edo_timer_entry entry;
	uint64_t before = now();

	(void)state;
	make(BOOTTIME);
	arm(&entry, 5);

	while (!edo_entry_has_fired(&entry))
		edo_driver_turn(&rig.driver, UINT64_MAX, true);

	assert_true(now() - before >= 5 * MS);
	assert_int_equal(rig.wakes, 1);
	assert_int_equal(edo_sys_calls_of(EDO_CALL_epoll_wait_ns), waits_in_ns);
	assert_true(edo_sys_calls_of(EDO_CALL_timerfd_set) > timers_set);
	assert_int_equal(rig.driver.io.stale_tokens, 0);
	end();
}

/* p28: what is left after an early or interrupted wait comes from the clock. */
static void pitfall_p28_an_interrupted_wait_is_waited_out(void **state)
{
	edo_timer_entry entry;
	uint64_t before = now();
	unsigned turns = 0;

	(void)state;
	make(NOTHING_MISSING);
	arm(&entry, 5);
	edo_sys_fault_order(EDO_CALL_epoll_wait_ns, EINTR, 0, 3);

	while (!edo_entry_has_fired(&entry)) {
		edo_driver_turn(&rig.driver, UINT64_MAX, true);
		turns++;
	}
	edo_sys_fault_clear();

	assert_true(now() - before >= 5 * MS);
	assert_true(turns >= 4);
	assert_true(turns < 20); /* it does not spin the rest away */
	end();
}

static void a_turn_with_a_limit_comes_back(void **state)
{
	static const enum without kinds[] = { NOTHING_MISSING, WITHOUT_IO, WITHOUT_TIME };

	(void)state;
	for (int i = 0; i < 3; i++) {
		make(kinds[i]);
		edo_driver_turn(&rig.driver, 0, true);
		edo_driver_turn(&rig.driver, MS, true);
		end();
	}
}

/* A busy worker's look: nothing is published that an inserter would have to disturb. */
static void a_look_without_a_wait_publishes_nothing_and_is_one_call(void **state)
{
	edo_timer_entry entry;
	uint64_t calls;

	(void)state;
	make(NOTHING_MISSING);
	arm(&entry, 1000);
	calls = edo_sys_calls_made() - edo_sys_calls_of(EDO_CALL_clock_now);

	edo_driver_turn(&rig.driver, 0, true);

	assert_int_equal(edo_sys_calls_made() - edo_sys_calls_of(EDO_CALL_clock_now) - calls, 1);
	assert_true(edo_load(&rig.driver.time.next_wake, relaxed) == EDO_WAKE_IDLE);
	edo_entry_drop(&entry);
	end();
}

static bool is_asleep(const struct edo_driver *driver)
{
	return driver->has_io ? edo_load(&driver->io.is_waiting, acquire) :
				edo_load(&driver->park.state, acquire) == 1;
}

static void *unpark_later(void *driver)
{
	while (!is_asleep(driver))
		sched_yield();
	edo_driver_unpark(driver);
	return NULL;
}

static void an_unpark_ends_a_turn_on_every_stack(void **state)
{
	static const enum without kinds[] = { NOTHING_MISSING, WITHOUT_IO, WITHOUT_TIME, PAUSED,
					      PAUSED_WITHOUT_IO };

	(void)state;
	for (int i = 0; i < 5; i++) {
		pthread_t thread;

		make(kinds[i]);
		assert_int_equal(pthread_create(&thread, NULL, unpark_later, &rig.driver), 0);
		edo_driver_turn(&rig.driver, UINT64_MAX, true);
		pthread_join(thread, NULL);
		edo_driver_unpark(&rig.driver); /* also before the wait */
		edo_driver_turn(&rig.driver, UINT64_MAX, true);
		end();
	}
}

static void a_paused_clock_jumps_instead_of_waiting(void **state)
{
	static const enum without kinds[] = { PAUSED, PAUSED_WITHOUT_IO };

	(void)state;
	for (int i = 0; i < 2; i++) {
		edo_timer_entry entry;
		uint64_t before = now(), start;

		make(kinds[i]);
		start = edo_time_now(&rig.driver.time);
		arm(&entry, 3600 * 1000);

		edo_driver_turn(&rig.driver, UINT64_MAX, true);

		assert_true(edo_entry_has_fired(&entry));
		assert_true(edo_time_now(&rig.driver.time) - start == EDO_HOUR(1));
		assert_true(now() - before < EDO_MIN(1));
		end();
	}
}

static void what_came_in_from_outside_goes_before_a_jump(void **state)
{
	edo_timer_entry entry;

	(void)state;
	make(PAUSED);
	arm(&entry, 1000);
	edo_driver_unpark(&rig.driver);

	edo_driver_turn(&rig.driver, UINT64_MAX, true);
	assert_false(edo_entry_has_fired(&entry));
	edo_driver_turn(&rig.driver, UINT64_MAX, true);
	assert_true(edo_entry_has_fired(&entry));
	end();
}

static void pitfall_p14_a_clock_that_may_not_jump_waits_for_events(void **state)
{
	edo_timer_entry entry;
	pthread_t thread;
	uint64_t start;

	(void)state;
	make(PAUSED);
	start = edo_time_now(&rig.driver.time);
	arm(&entry, 1000);
	assert_int_equal(pthread_create(&thread, NULL, unpark_later, &rig.driver), 0);

	edo_driver_turn(&rig.driver, UINT64_MAX, false);

	pthread_join(thread, NULL);
	assert_false(edo_entry_has_fired(&entry));
	assert_true(edo_time_now(&rig.driver.time) == start);
	edo_entry_drop(&entry);
	end();
}

static void a_look_with_a_paused_clock_does_not_jump(void **state)
{
	edo_timer_entry entry;

	(void)state;
	make(PAUSED);
	arm(&entry, 1000);
	edo_driver_turn(&rig.driver, 0, true);
	assert_false(edo_entry_has_fired(&entry));
	edo_entry_drop(&entry);
	end();
}

static void arm_when_it_sleeps(edo_timer_entry *entry, uint64_t ticks)
{
	while (edo_load(&rig.driver.time.next_wake, acquire) != EDO_WAKE_FOREVER)
		sched_yield();
	(void)edo_current_driver_set(&rig.driver);
	arm(entry, ticks);
}

static void *arm_later(void *data)
{
	arm_when_it_sleeps(data, 1000);
	return NULL;
}

/* A thread that has entered the runtime arms a timer while the driver sleeps with a paused clock. */
static void a_timer_armed_during_a_paused_wait_is_jumped_to(void **state)
{
	static edo_timer_entry late;
	pthread_t thread;

	(void)state;
	make(PAUSED);
	assert_int_equal(pthread_create(&thread, NULL, arm_later, &late), 0);

	while (edo_load(&rig.wakes, acquire) == 0) /* the entry is the other thread's before that */
		edo_driver_turn(&rig.driver, UINT64_MAX, true);

	pthread_join(thread, NULL);
	end();
}

static void *arm_for_the_next_tick(void *data)
{
	arm_when_it_sleeps(data, 1);
	return NULL;
}

/* T3: the wait is published, so whoever arms a timer for earlier ends it. */
static void a_timer_armed_during_a_wait_ends_it(void **state)
{
	static edo_timer_entry late;
	pthread_t thread;

	(void)state;
	make(NOTHING_MISSING);
	assert_int_equal(pthread_create(&thread, NULL, arm_for_the_next_tick, &late), 0);

	while (edo_load(&rig.wakes, acquire) == 0)
		edo_driver_turn(&rig.driver, UINT64_MAX, true);

	pthread_join(thread, NULL);
	end();
}

static void a_shutdown_tells_timers_and_a_number_that_is_gone(void **state)
{
	edo_timer_entry entry;
	uint32_t id;

	(void)state;
	make(NOTHING_MISSING);
	id = rig.driver.id;
	arm(&entry, 1000);

	edo_driver_shutdown(&rig.driver);

	assert_int_equal(rig.wakes, 1);
	assert_false(edo_entry_is_armed(&entry));
	assert_null(edo_driver_hold(id));
	edo_driver_destroy(&rig.driver);
	(void)edo_current_driver_set(NULL);
	edo_entry_drop(&entry);
}

/* The n-th system call of a driver's making fails: told, and nothing is left (the runner counts). */
static void every_failed_system_call_leaves_no_driver(void **state)
{
	const struct edo_driver_options options = { .clock = EDO_SYS_BOOTTIME, /* one call more */
						    .timer_resolution = MS,
						    .events_per_turn = 16,
						    .shards = 1,
						    .allocator = &allocator };

	(void)state;
	for (uint64_t n = 0;; n++) {
		int rc;

		edo_sys_fault_sweep(n);
		rc = edo_driver_init(&rig.driver, &options);
		if (!edo_sys_fault_happened()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_true(rc < 0);
		assert_false(edo_driver_is_alive(rig.driver.id));
	}
	edo_sys_fault_clear();
	edo_driver_shutdown(&rig.driver);
	edo_driver_destroy(&rig.driver);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_turn_waits_until_the_next_timer_and_fires_it),
	cmocka_unit_test(pitfall_p31_boottime_waits_for_a_timer_that_suspension_does_not_stop),
	cmocka_unit_test(pitfall_p28_an_interrupted_wait_is_waited_out),
	cmocka_unit_test(a_turn_with_a_limit_comes_back),
	cmocka_unit_test(a_look_without_a_wait_publishes_nothing_and_is_one_call),
	cmocka_unit_test(an_unpark_ends_a_turn_on_every_stack),
	cmocka_unit_test(a_paused_clock_jumps_instead_of_waiting),
	cmocka_unit_test(what_came_in_from_outside_goes_before_a_jump),
	cmocka_unit_test(pitfall_p14_a_clock_that_may_not_jump_waits_for_events),
	cmocka_unit_test(a_look_with_a_paused_clock_does_not_jump),
	cmocka_unit_test(a_timer_armed_during_a_paused_wait_is_jumped_to),
	cmocka_unit_test(a_timer_armed_during_a_wait_ends_it),
	cmocka_unit_test(a_shutdown_tells_timers_and_a_number_that_is_gone),
	cmocka_unit_test(every_failed_system_call_leaves_no_driver),
};

EDO_TEST_MAIN(tests)
