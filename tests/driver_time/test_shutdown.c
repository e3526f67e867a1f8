/* The time driver's end (p11, p34): every entry gets SHUTDOWN, and touches nothing afterwards. */
#include "rig.h"
#include <errno.h>
#include <stdlib.h>

static struct edo_time_driver time;
static struct rig_waker waker;

static unsigned turns_of_the_wheel;

edo_wheel_timer *__real_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget);
edo_wheel_timer *__wrap_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget);
edo_wheel_timer *__wrap_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget)
{
	turns_of_the_wheel++;
	return __real_edo_wheel_poll_budget(wheel, now, budget);
}

static void start(void)
{
	rig_set_clock(1000 * MS);
	rig_start(&time, MS, false);
	rig_waker_init(&waker);
}

static void pitfall_p34_shutdown_drains_the_slots_without_turning_the_wheel(void **state)
{
	static edo_timer_entry entries[3000];

	(void)state;
	start();
	for (unsigned i = 0; i < 3000; i++) {
		edo_entry_init(&entries[i]);
		(void)rig_poll(&time, &entries[i], EDO_TICK_MAX >> (i % 60), &waker);
	}
	turns_of_the_wheel = 0;
	edo_time_shutdown(&time);
	assert_int_equal(turns_of_the_wheel, 0);
	assert_int_equal(rig_armed(&time), 0);
	assert_int_equal(rig_wakes(&waker), 3000);
	assert_int_equal(rig_clones(&waker), 0);
	edo_time_destroy(&time);
}

static void pitfall_p11_poll_reset_and_arm_after_shutdown_are_errors(void **state)
{
	edo_timer_entry armed, fresh;

	(void)state;
	start();
	edo_entry_init(&armed);
	edo_entry_init(&fresh);
	(void)rig_poll(&time, &armed, 50, &waker);
	edo_time_shutdown(&time);
	assert_int_equal(rig_poll(&time, &armed, 50, &waker), -ESHUTDOWN);
	assert_int_equal(edo_entry_reset(&time, &armed, 60), -ESHUTDOWN);
	assert_int_equal(edo_entry_reset(&time, &armed, 40), -ESHUTDOWN);
	assert_int_equal(edo_entry_arm(&time, &armed, 40, &waker.waker), -ESHUTDOWN);
	assert_int_equal(rig_poll(&time, &fresh, 50, &waker), -ESHUTDOWN);
	assert_int_equal(edo_entry_arm(&time, &fresh, 50, &waker.waker), -ESHUTDOWN);
	assert_false(edo_entry_has_fired(&armed));
	assert_int_equal(rig_clones(&waker), 0);
	edo_time_destroy(&time);
}

static void an_entry_outlives_its_driver_harmlessly(void **state)
{
	edo_timer_entry fired, shut;

	(void)state;
	start();
	edo_entry_init(&fired);
	edo_entry_init(&shut);
	(void)rig_poll(&time, &fired, 5, &waker);
	(void)rig_poll(&time, &shut, 50, &waker);
	(void)rig_turn_to(&time, 5 * MS);
	edo_time_shutdown(&time);
	edo_time_destroy(&time);
	rig_enter(NULL);

	assert_true(edo_entry_has_fired(&fired));
	edo_entry_drop(&fired);
	assert_int_equal(edo_entry_reset(NULL, &fired, 9), 0);
	edo_entry_drop(&shut);
	edo_entry_drop(&shut);
	assert_false(edo_entry_is_armed(&shut));
}

static void after_a_drop_it_can_be_armed_in_another_driver(void **state)
{
	edo_timer_entry entry;

	(void)state;
	start();
	edo_entry_init(&entry);
	(void)rig_poll(&time, &entry, 50, &waker);
	edo_time_shutdown(&time);
	edo_time_destroy(&time);
	edo_entry_drop(&entry);

	start();
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_PENDING);
	assert_int_equal(rig_turn_to(&time, 5 * MS), 1);
	rig_end(&time);
}

static void drop_another(struct rig_waker *woken)
{
	edo_timer_entry *last = woken->context;

	edo_entry_drop(last);
}

/* The driver is in no table any more, so the drop must not wait for the shutdown it is part of. */
static void a_waker_may_drop_a_timer_during_the_shutdown(void **state)
{
	static edo_timer_entry entries[100];
	struct rig_waker last;

	(void)state;
	start();
	rig_waker_init(&last);
	waker.when_woken = drop_another;
	waker.context = &entries[99];
	for (unsigned i = 0; i < 100; i++) {
		edo_entry_init(&entries[i]);
		(void)rig_poll(&time, &entries[i], 50, i < 99 ? &waker : &last);
	}
	rig_enter(NULL);
	edo_time_shutdown(&time);
	assert_int_equal(rig_wakes(&last), 0);
	assert_int_equal(rig_clones(&last), 0);
	edo_time_destroy(&time);
}

static void arm_another(struct rig_waker *woken)
{
	edo_timer_entry entry;

	(void)woken;
	edo_entry_init(&entry);
	assert_int_equal(rig_poll(&time, &entry, 60, &waker), -ESHUTDOWN);
}

static void a_waker_can_arm_nothing_during_the_shutdown(void **state)
{
	edo_timer_entry entry;

	(void)state;
	start();
	waker.when_woken = arm_another;
	edo_entry_init(&entry);
	(void)rig_poll(&time, &entry, 50, &waker);
	edo_time_shutdown(&time);
	assert_int_equal(rig_wakes(&waker), 1);
	edo_time_destroy(&time);
}

static void reset_the_last(struct rig_waker *woken)
{
	edo_timer_entry *last = woken->context;

	assert_int_equal(edo_entry_reset(&time, last, 20), -ESHUTDOWN);
}

static void a_waker_can_move_nothing_nearer_during_the_shutdown(void **state)
{
	static edo_timer_entry entries[100];
	struct rig_waker last;

	(void)state;
	start();
	rig_waker_init(&last);
	waker.when_woken = reset_the_last;
	waker.context = &entries[99];
	for (unsigned i = 0; i < 100; i++) {
		edo_entry_init(&entries[i]);
		(void)rig_poll(&time, &entries[i], 50, i < 99 ? &waker : &last);
	}
	edo_time_shutdown(&time);
	assert_int_equal(rig_wakes(&last), 1);
	edo_time_destroy(&time);
}

static void nonsense_and_failed_allocations_leave_nothing_behind(void **state)
{
	const edo_allocator none = { NULL, NULL, NULL };

	(void)state;
	assert_int_equal(edo_time_init(&time, 1, EDO_SYS_MONOTONIC, 0, false, 1, &none), -EINVAL);
	assert_int_equal(edo_time_init(&time, 1, EDO_SYS_MONOTONIC, MS, false, 0, &none), -EINVAL);
	assert_int_equal(edo_time_init(&time, 1, EDO_SYS_MONOTONIC, MS, false, 257, &none),
			 -EINVAL);
}

static void *refuse(void *context, size_t size, size_t align)
{
	(void)context;
	(void)size;
	(void)align;
	return NULL;
}

static void without_memory_there_is_no_driver(void **state)
{
	const edo_allocator poor = { refuse, NULL, NULL };

	(void)state;
	assert_int_equal(edo_time_init(&time, 1, EDO_SYS_MONOTONIC, MS, false, 1, &poor), -ENOMEM);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pitfall_p34_shutdown_drains_the_slots_without_turning_the_wheel),
	cmocka_unit_test(pitfall_p11_poll_reset_and_arm_after_shutdown_are_errors),
	cmocka_unit_test(an_entry_outlives_its_driver_harmlessly),
	cmocka_unit_test(after_a_drop_it_can_be_armed_in_another_driver),
	cmocka_unit_test(a_waker_may_drop_a_timer_during_the_shutdown),
	cmocka_unit_test(a_waker_can_arm_nothing_during_the_shutdown),
	cmocka_unit_test(a_waker_can_move_nothing_nearer_during_the_shutdown),
	cmocka_unit_test(nonsense_and_failed_allocations_leave_nothing_behind),
	cmocka_unit_test(without_memory_there_is_no_driver),
};

EDO_TEST_MAIN(tests)
