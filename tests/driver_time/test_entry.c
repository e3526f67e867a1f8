/* An entry's owner: poll, reset, arm, drop, in every state (T4), and what it costs others (T2, T5). */
#include "rig.h"
#include "support/allocations.h"
#include <errno.h>
#include <string.h>

static struct edo_time_driver time;
static struct rig_waker waker, other;
static edo_timer_entry entry;

static int begin(void **state)
{
	(void)state;
	rig_set_clock(1000 * MS);
	rig_start(&time, MS, false);
	rig_register(&time);
	rig_waker_init(&waker);
	rig_waker_init(&other);
	edo_entry_init(&entry);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	edo_entry_drop(&entry);
	rig_unregister(&time);
	rig_end(&time);
	assert_int_equal(rig_clones(&waker), 0);
	assert_int_equal(rig_clones(&other), 0);
	return 0;
}

static void it_is_armed_by_its_first_poll_and_fires_at_its_tick(void **state)
{
	(void)state;
	assert_int_equal(rig_armed(&time), 0);
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_PENDING);
	assert_int_equal(rig_armed(&time), 1);

	assert_int_equal(rig_turn_to(&time, 5 * MS - 1), 0);
	assert_int_equal(rig_wakes(&waker), 0);
	assert_int_equal(rig_turn_to(&time, 5 * MS), 1);
	assert_int_equal(rig_wakes(&waker), 1);
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_READY);
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_READY);
}

static void what_is_due_already_is_ready_at_once_and_keeps_no_waker(void **state)
{
	(void)state;
	(void)rig_turn_to(&time, 9 * MS);
	assert_int_equal(rig_poll(&time, &entry, 9, &waker), EDO_READY);
	assert_true(edo_entry_has_fired(&entry));
	assert_int_equal(rig_clones(&waker), 0);
	edo_entry_init(&entry);
	assert_int_equal(rig_poll(&time, &entry, 0, &waker), EDO_READY);
}

static void polled_again_it_keeps_the_same_waker(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_PENDING);
	assert_int_equal(rig_clones(&waker), 1);
}

static void polled_by_another_it_wakes_that_one_only(void **state)
{
	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	assert_int_equal(rig_poll(&time, &entry, 5, &other), EDO_PENDING);
	assert_int_equal(rig_clones(&waker), 0);
	(void)rig_turn_to(&time, 5 * MS);
	assert_int_equal(rig_wakes(&waker), 0);
	assert_int_equal(rig_wakes(&other), 1);
}

static void the_latest_tick_can_be_waited_for_and_dropped(void **state)
{
	(void)state;
	assert_int_equal(rig_poll(&time, &entry, EDO_TICK_MAX, &waker), EDO_PENDING);
	(void)rig_turn_to(&time, EDO_CLOCK_END);
	assert_false(edo_entry_has_fired(&entry));
	edo_entry_drop(&entry);
	assert_int_equal(rig_armed(&time), 0);
}

/* ---- resets ---- */

static void a_later_reset_touches_nothing_but_the_cell(void **state)
{
	edo_timer_entry before;

	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	before = entry;
	time.shards[0].lock.word = 1; /* it would hang if it took the lock */
	assert_int_equal(edo_entry_reset(&time, &entry, 500), 0);
	time.shards[0].lock.word = 0;
	assert_int_equal(entry.edo_node_.when, 500);
	before.edo_node_.when = 500;
	assert_memory_equal(&entry, &before, sizeof entry);

	assert_int_equal(rig_turn_to(&time, 499 * MS), 0);
	assert_int_equal(rig_turn_to(&time, 500 * MS), 1);
}

static void an_earlier_reset_fires_earlier(void **state)
{
	(void)state;
	(void)rig_poll(&time, &entry, 500000, &waker);
	assert_int_equal(edo_entry_reset(&time, &entry, 3), 0);
	assert_int_equal(rig_turn_to(&time, 2 * MS), 0);
	assert_int_equal(rig_turn_to(&time, 3 * MS), 1);
	assert_int_equal(rig_wakes(&waker), 1);
}

static void pitfall_p10_a_reset_to_the_past_wakes_at_once(void **state)
{
	(void)state;
	(void)rig_turn_to(&time, 9 * MS);
	(void)rig_poll(&time, &entry, 500, &waker);
	assert_int_equal(edo_entry_reset(&time, &entry, 4), 0);
	assert_int_equal(rig_wakes(&waker), 1);
	assert_true(edo_entry_has_fired(&entry));
	assert_int_equal(rig_armed(&time), 0);
	assert_int_equal(rig_poll(&time, &entry, 4, &waker), EDO_READY);
}

/* p29 of others: a reset of what has fired must neither wake nor count again. */
static void a_reset_of_a_fired_one_makes_it_unarmed(void **state)
{
	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	(void)rig_turn_to(&time, 5 * MS);
	assert_int_equal(edo_entry_reset(&time, &entry, 8), 0);
	assert_false(edo_entry_has_fired(&entry));
	assert_false(edo_entry_is_armed(&entry));
	assert_int_equal(rig_armed(&time), 0);
	assert_int_equal(rig_poll(&time, &entry, 8, &waker), EDO_PENDING);
	assert_int_equal(rig_turn_to(&time, 8 * MS), 1);
	assert_int_equal(rig_wakes(&waker), 2);
}

static void a_reset_of_an_unarmed_one_arms_nothing(void **state)
{
	(void)state;
	assert_int_equal(edo_entry_reset(&time, &entry, 8), 0);
	assert_int_equal(edo_entry_reset(NULL, &entry, 8), 0);
	assert_int_equal(rig_armed(&time), 0);
}

static void a_reset_takes_an_entry_from_another_shard_to_its_own(void **state)
{
	struct edo_time_driver two;

	(void)state;
	rig_start_sharded(&two, MS, 2);
	(void)rig_poll(&two, &entry, 500, &waker);
	(void)edo_wheel_remove(&two.shards[0].wheel, &entry.edo_node_);
	assert_int_equal(edo_wheel_insert(&two.shards[1].wheel, &entry.edo_node_, 500), 0);
	entry.edo_node_.spare16 |= 1;

	assert_int_equal(edo_entry_reset(&two, &entry, 600), 0);
	assert_int_equal(edo_wheel_count(&two.shards[1].wheel), 1);
	assert_int_equal(edo_entry_reset(&two, &entry, 7), 0);
	assert_int_equal(edo_wheel_count(&two.shards[1].wheel), 0);
	assert_int_equal(edo_wheel_count(&two.shards[0].wheel), 1);
	assert_int_equal(rig_clones(&waker), 1);
	assert_int_equal(rig_turn_to(&two, 7 * MS), 1);
	rig_end(&two);
	rig_enter(&time);
}

/* ---- arming without a poll ---- */

static void armed_directly_it_wakes_the_waker_it_was_given(void **state)
{
	(void)state;
	assert_int_equal(edo_entry_arm(&time, &entry, 5, &waker.waker), 0);
	assert_int_equal(edo_entry_arm(&time, &entry, 7, &other.waker), 0);
	assert_int_equal(rig_clones(&waker), 1);
	assert_int_equal(rig_clones(&other), 0);
	assert_int_equal(rig_turn_to(&time, 6 * MS), 0);
	assert_int_equal(rig_turn_to(&time, 7 * MS), 1);
	assert_int_equal(rig_wakes(&waker), 1);
	assert_int_equal(edo_entry_arm(&time, &entry, 9, &other.waker), 0);
	assert_int_equal(rig_turn_to(&time, 9 * MS), 1);
	assert_int_equal(rig_wakes(&other), 1);
}

static void armed_directly_for_the_past_it_has_fired_and_wakes_nobody(void **state)
{
	(void)state;
	(void)rig_turn_to(&time, 9 * MS);
	assert_int_equal(edo_entry_arm(&time, &entry, 9, &waker.waker), -ETIME);
	assert_true(edo_entry_has_fired(&entry));
	assert_int_equal(rig_wakes(&waker), 0);
	assert_int_equal(rig_clones(&waker), 0);
}

/* ---- drops ---- */

static void dropped_it_is_gone_and_its_waker_too(void **state)
{
	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	edo_entry_drop(&entry);
	assert_int_equal(rig_armed(&time), 0);
	assert_int_equal(rig_clones(&waker), 0);
	edo_entry_drop(&entry);
	memset(&entry, 0xa5, sizeof entry); /* the storage is the caller's at once */
	(void)rig_turn_to(&time, 6 * MS);
	assert_int_equal(rig_wakes(&waker), 0);
	edo_entry_init(&entry);
}

static void a_drop_leaves_what_has_fired_fired(void **state)
{
	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	(void)rig_turn_to(&time, 5 * MS);
	edo_entry_drop(&entry);
	edo_entry_drop(&entry);
	assert_true(edo_entry_has_fired(&entry));
}

static void storage_filled_with_zeros_is_unarmed(void **state)
{
	(void)state;
	memset(&entry, 0, sizeof entry);
	edo_entry_drop(&entry);
	assert_false(edo_entry_is_armed(&entry));
	assert_false(edo_entry_has_fired(&entry));
	assert_int_equal(edo_entry_reset(&time, &entry, 9), 0);
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_PENDING);
}

static void it_can_be_dropped_by_a_thread_outside_the_runtime(void **state)
{
	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	rig_enter(NULL);
	edo_entry_drop(&entry);
	rig_enter(&time);
	assert_int_equal(rig_armed(&time), 0);
	assert_int_equal(rig_clones(&waker), 0);
}

/* p18: dropped before it was ever inserted, it must not be inserted afterwards. */
static void pitfall_p18_a_drop_before_the_first_poll_leaves_nothing_behind(void **state)
{
	(void)state;
	edo_entry_drop(&entry);
	(void)rig_turn_to(&time, 50 * MS);
	assert_int_equal(rig_armed(&time), 0);
	assert_false(edo_entry_has_fired(&entry));
}

/* p29: a cancelled time-out does not stay until its tick, and is counted once. */
static void pitfall_p29_a_cancelled_timer_is_unlinked_at_once(void **state)
{
	edo_timer_entry many[100];

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		edo_entry_init(&many[i]);
		(void)rig_poll(&time, &many[i], UINT64_C(1) << (i % 40 + 1), &waker);
	}
	for (unsigned i = 0; i < 100; i++) {
		edo_entry_drop(&many[i]);
		edo_entry_drop(&many[i]);
		assert_int_equal(rig_armed(&time), 99 - i);
	}
	assert_int_equal(edo_wheel_check(&time.shards[0].wheel), 0);
}

/* ---- p16, p19, p20 ---- */

static void pitfall_p16_a_poll_sees_that_the_deadline_has_passed(void **state)
{
	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	rig_set_clock(1005 * MS - 1);
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_PENDING);
	rig_set_clock(1005 * MS); /* and no turn of the driver */
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_READY);
	assert_int_equal(rig_armed(&time), 0);
	assert_int_equal(rig_clones(&waker), 0);
	assert_int_equal(rig_wakes(&waker), 0);
}

static void with_a_paused_clock_only_the_turn_fires(void **state)
{
	(void)state;
	assert_int_equal(edo_time_pause(&time), 0);
	(void)rig_poll(&time, &entry, 5, &waker);
	assert_int_equal(edo_time_advance(&time, 50 * MS), 0);
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_PENDING);
	assert_int_equal(edo_time_process(&time), 1);
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_READY);
}

static void pitfall_p19_an_entry_belongs_to_the_driver_that_armed_it(void **state)
{
	struct edo_time_driver stranger = time;

	(void)state;
	stranger.driver_id = RIG_DRIVER + 1;
	(void)rig_poll(&time, &entry, 5, &waker);
	assert_int_equal(rig_poll(&stranger, &entry, 5, &waker), -EXDEV);
	assert_int_equal(edo_entry_reset(&stranger, &entry, 3), -EXDEV);
	assert_int_equal(edo_entry_reset(&stranger, &entry, 9), -EXDEV);
	assert_int_equal(edo_entry_arm(&stranger, &entry, 9, &waker.waker), -EXDEV);
	assert_int_equal(edo_entry_reset(NULL, &entry, 9), -EXDEV);
	assert_int_equal(rig_poll(NULL, &entry, 9, &waker), -EXDEV);
	assert_int_equal(rig_turn_to(&time, 5 * MS), 1);
}

static void without_a_driver_it_cannot_be_armed(void **state)
{
	(void)state;
	assert_int_equal(rig_poll(NULL, &entry, 9, &waker), -EINVAL);
	assert_int_equal(edo_entry_arm(NULL, &entry, 9, &waker.waker), -EINVAL);
	(void)rig_turn_to(&time, 9 * MS);
	assert_int_equal(rig_poll(&time, &entry, 9, &waker), EDO_READY);
	assert_int_equal(rig_poll(NULL, &entry, 9, &waker), EDO_READY);
}

static void pitfall_p20_a_copy_of_an_armed_entry_is_refused_and_corrupts_nothing(void **state)
{
	edo_timer_entry copy;

	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	copy = entry;
	assert_int_equal(rig_poll(&time, &copy, 5, &waker), -EINVAL);
	assert_int_equal(edo_entry_reset(&time, &copy, 9), -EINVAL);
	assert_int_equal(edo_entry_reset(&time, &copy, 2), -EINVAL);
	edo_entry_drop(&copy);
	assert_int_equal(rig_armed(&time), 1);
	assert_int_equal(edo_wheel_check(&time.shards[0].wheel), 0);
	assert_int_equal(rig_poll(&time, &copy, 6, &waker), EDO_PENDING);
	edo_entry_drop(&copy);
	assert_int_equal(rig_turn_to(&time, 5 * MS), 1);
}

static void unarmed_and_fired_ones_may_be_moved(void **state)
{
	edo_timer_entry copy = entry;

	(void)state;
	assert_int_equal(rig_poll(&time, &copy, 5, &waker), EDO_PENDING);
	(void)rig_turn_to(&time, 5 * MS);
	entry = copy;
	assert_int_equal(rig_poll(&time, &entry, 5, &waker), EDO_READY);
}

static void nothing_on_an_entrys_way_allocates(void **state)
{
	uint64_t made = edo_test_allocations_made();

	(void)state;
	(void)rig_poll(&time, &entry, 5, &waker);
	(void)rig_poll(&time, &entry, 5, &other);
	(void)edo_entry_reset(&time, &entry, 900);
	(void)edo_entry_reset(&time, &entry, 3);
	(void)rig_turn_to(&time, 3 * MS);
	(void)edo_entry_arm(&time, &entry, UINT64_C(1) << 40, &waker.waker);
	edo_entry_drop(&entry);
	assert_int_equal(edo_test_allocations_made(), made);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

static const struct CMUnitTest tests[] = {
	TEST(it_is_armed_by_its_first_poll_and_fires_at_its_tick),
	TEST(what_is_due_already_is_ready_at_once_and_keeps_no_waker),
	TEST(polled_again_it_keeps_the_same_waker),
	TEST(polled_by_another_it_wakes_that_one_only),
	TEST(the_latest_tick_can_be_waited_for_and_dropped),
	TEST(a_later_reset_touches_nothing_but_the_cell),
	TEST(an_earlier_reset_fires_earlier),
	TEST(pitfall_p10_a_reset_to_the_past_wakes_at_once),
	TEST(a_reset_of_a_fired_one_makes_it_unarmed),
	TEST(a_reset_of_an_unarmed_one_arms_nothing),
	TEST(a_reset_takes_an_entry_from_another_shard_to_its_own),
	TEST(armed_directly_it_wakes_the_waker_it_was_given),
	TEST(armed_directly_for_the_past_it_has_fired_and_wakes_nobody),
	TEST(dropped_it_is_gone_and_its_waker_too),
	TEST(a_drop_leaves_what_has_fired_fired),
	TEST(storage_filled_with_zeros_is_unarmed),
	TEST(it_can_be_dropped_by_a_thread_outside_the_runtime),
	TEST(pitfall_p18_a_drop_before_the_first_poll_leaves_nothing_behind),
	TEST(pitfall_p29_a_cancelled_timer_is_unlinked_at_once),
	TEST(pitfall_p16_a_poll_sees_that_the_deadline_has_passed),
	TEST(with_a_paused_clock_only_the_turn_fires),
	TEST(pitfall_p19_an_entry_belongs_to_the_driver_that_armed_it),
	TEST(without_a_driver_it_cannot_be_armed),
	TEST(pitfall_p20_a_copy_of_an_armed_entry_is_refused_and_corrupts_nothing),
	TEST(unarmed_and_fired_ones_may_be_moved),
	TEST(nothing_on_an_entrys_way_allocates),
};

EDO_TEST_MAIN(tests)
