/* How time passes: order, budgets, and what may be done between two polls (W3, W4, W6). */
#include "wheel/rig.h"

enum { MANY = 200 };

static void a_poll_hands_out_in_the_order_of_ticks(void **state)
{
	static const uint64_t ticks[] = { 70000, 3, LAP + 1, 64, 4096, 63, 65, 4095, 2, 262144 };
	edo_wheel_timer timers[10] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	edo_wheel_timer *timer;
	uint64_t last = 0;
	unsigned expired = 0;
	(void)state;

	for (unsigned i = 0; i < 10; i++)
		insert(wheel, &timers[i], ticks[i]);
	for (; (timer = edo_wheel_poll(wheel, 2 * LAP)); expired++) {
		assert_true(timer->when > last);
		last = timer->when;
		assert_sound(wheel);
	}
	assert_int_equal(expired, 10);
	assert_int_equal(last, LAP + 1);
}

static void timers_of_one_tick_come_in_the_order_they_were_inserted(void **state)
{
	edo_wheel_timer timers[MANY] = { 0 };
	edo_wheel *wheel = wheel_at(1);
	(void)state;

	for (unsigned i = 0; i < MANY; i++)
		insert(wheel, &timers[i], 60);
	for (unsigned i = 0; i < MANY; i++)
		assert_expires(wheel, 60, &timers[i]);
	assert_null(edo_wheel_poll(wheel, 60));
}

static void next_is_the_tick_itself_within_64_ticks_of_a_turn(void **state)
{
	edo_wheel_timer timers[2] = { 0 };
	edo_wheel *wheel = wheel_at(128);
	uint64_t at = 77;
	(void)state;

	assert_false(edo_wheel_next(wheel, &at));
	assert_int_equal(at, 77);
	insert(wheel, &timers[0], 191);
	assert_next(wheel, 191);
	insert(wheel, &timers[1], 129);
	assert_next(wheel, 129);
}

static void next_is_never_later_than_the_earliest(void **state)
{
	edo_wheel_timer near = { 0 }, far = { 0 };
	(void)state;

	for (unsigned level = 0; level < 10; level++)
		for (unsigned higher = level; higher < 10; higher++) {
			edo_wheel *wheel = wheel_at(12345);
			uint64_t when = 12345 + (UINT64_C(1) << (6 * level));
			uint64_t at = 0;

			insert(wheel, &far, 12346 + (UINT64_C(7) << (6 * higher)));
			insert(wheel, &near, when);
			assert_true(edo_wheel_next(wheel, &at));
			assert_in_range(at, 12346, when);
			edo_wheel_remove(wheel, &near);
			edo_wheel_remove(wheel, &far);
		}
}

static void a_timer_armed_again_within_the_loop_for_later_waits_for_it(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 10);
	assert_expires(wheel, 1000, &timer);
	insert(wheel, &timer, 1001);
	assert_null(edo_wheel_poll(wheel, 1000));
	assert_expires_at(wheel, 1001, &timer);
}

/* W4: what falls due while the loop runs is refused, so that no body keeps it going. */
static void a_timer_armed_again_within_the_loop_for_the_present_is_refused(void **state)
{
	edo_wheel_timer timers[2] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timers[0], 10);
	insert(wheel, &timers[1], 20);
	assert_expires(wheel, 1000, &timers[0]);
	assert_int_equal(edo_wheel_insert(wheel, &timers[0], 10), -ETIME);
	assert_int_equal(edo_wheel_insert(wheel, &timers[0], 500), -ETIME);
	assert_int_equal(edo_wheel_reset(wheel, &timers[1], 1000), -ETIME);
	assert_int_equal(edo_wheel_elapsed(wheel), 1000);
	assert_null(edo_wheel_poll(wheel, 1000));
}

static void a_timer_that_is_due_may_be_moved_out_of_the_loop(void **state)
{
	edo_wheel_timer timers[3] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	for (unsigned i = 0; i < 3; i++)
		insert(wheel, &timers[i], 10);
	assert_expires(wheel, 10, &timers[0]);
	reset(wheel, &timers[1], 11);
	assert_true(edo_wheel_remove(wheel, &timers[2]));
	assert_null(edo_wheel_poll(wheel, 10));
	assert_expires_at(wheel, 11, &timers[1]);
}

/* 64 timers, all in one slot of level 2, all due at different ticks but the last two. */
static edo_wheel *wheel_with_a_full_slot(edo_wheel_timer *timers)
{
	edo_wheel *wheel = wheel_at(0);

	memset(timers, 0, 64 * sizeof(*timers));
	for (unsigned i = 0; i < 64; i++)
		insert(wheel, &timers[i], 8192 + 63 * (i == 63 ? 62 : i));
	return wheel;
}

static void assert_all_expire_in_order(edo_wheel *wheel, unsigned expected)
{
	uint64_t last = 0;
	unsigned expired = 0;
	edo_wheel_timer *timer;

	while ((timer = edo_wheel_poll(wheel, 20000))) {
		assert_true(timer->when >= last);
		last = timer->when;
		expired++;
	}
	assert_int_equal(expired, expected);
}

/*
 * W6: each step costs one, whatever the budget; all come, in order, and in between the wheel is
 * whole.
 */
static void any_budget_gets_everything_done(void **state)
{
	edo_wheel_timer timers[64];
	(void)state;

	for (unsigned size = 1; size < 70; size++) {
		edo_wheel *wheel = wheel_with_a_full_slot(timers);
		uint64_t last = 0, at = 0;
		unsigned budget = size, expired = 0, spent = 0;

		for (;;) {
			unsigned before = budget;
			edo_wheel_timer *timer = edo_wheel_poll_budget(wheel, 20000, &budget);

			assert_sound(wheel);
			assert_true(budget < before || !timer);
			spent += before - budget;
			if (timer) {
				assert_true(timer->when >= last);
				last = timer->when;
				expired++;
			} else if (budget > 0) {
				break;
			} else {
				budget = size;
			}
			if (edo_wheel_next(wheel, &at))
				assert_true(at <= 8192 + 63 * 62);
		}
		assert_int_equal(expired, 64);
		/* Level 2 to level 1 or 0, level 1 to level 0, out. */
		assert_in_range(spent, 2 * 64, 3 * 64);
	}
}

static void a_poll_without_budget_does_nothing_but_learn_the_time(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	unsigned budget = 0;
	(void)state;

	insert(wheel, &timer, 5000);
	assert_null(edo_wheel_poll_budget(wheel, 6000, &budget));
	assert_sound(wheel);
	assert_int_equal(edo_wheel_elapsed(wheel), 6000);
	assert_lies_alone(wheel, 2, 1);
	assert_next(wheel, 4096);
	assert_expires(wheel, 6000, &timer);
}

static void stop_half_way(edo_wheel *wheel, unsigned budget)
{
	while (edo_wheel_poll_budget(wheel, 20000, &budget))
		;
	assert_int_equal(budget, 0);
	assert_sound(wheel);
}

/* W6: at whatever point of a cascade the wheel stops, any timer can be taken out. */
static void any_timer_can_be_removed_from_a_half_cascaded_slot(void **state)
{
	edo_wheel_timer timers[64];
	(void)state;

	for (unsigned budget = 1; budget < 64; budget++)
		for (unsigned i = 0; i < 64; i++) {
			edo_wheel *wheel = wheel_with_a_full_slot(timers);

			stop_half_way(wheel, budget);
			assert_int_equal(edo_wheel_count(wheel), 64);
			assert_true(edo_wheel_remove(wheel, &timers[i]));
			assert_sound(wheel);
			assert_all_expire_in_order(wheel, 63);
		}
}

static void all_timers_can_be_removed_from_a_half_cascaded_slot(void **state)
{
	edo_wheel_timer timers[64];
	edo_wheel *wheel = wheel_with_a_full_slot(timers);
	(void)state;

	stop_half_way(wheel, 20);
	for (unsigned i = 0; i < 64; i++) {
		assert_true(edo_wheel_remove(wheel, &timers[i]));
		assert_sound(wheel);
	}
	assert_false(edo_wheel_next(wheel, &(uint64_t){ 0 }));
	turn_to(wheel, 20000);
}

static void any_timer_can_be_moved_out_of_a_half_cascaded_slot(void **state)
{
	edo_wheel_timer timers[64];
	(void)state;

	for (unsigned budget = 1; budget < 64; budget += 7)
		for (unsigned i = 0; i < 64; i++) {
			edo_wheel *wheel = wheel_with_a_full_slot(timers);

			stop_half_way(wheel, budget);
			reset(wheel, &timers[i], 20001);
			assert_next(wheel, 8192);
			assert_all_expire_in_order(wheel, 63);
			assert_expires_at(wheel, 20001, &timers[i]);
		}
}

/* W6: new timers do not come before what is left of the slot, nor get lost in it. */
static void a_half_cascaded_slot_does_not_disturb_new_timers(void **state)
{
	edo_wheel_timer timers[64], later = { 0 };
	edo_wheel *wheel = wheel_with_a_full_slot(timers);
	(void)state;

	stop_half_way(wheel, 10);
	insert(wheel, &later, 20002);
	assert_next(wheel, 8192);
	assert_int_equal(edo_wheel_insert(wheel, &timers[0], 9000), -ETIME);
	for (unsigned i = 1; i < 64; i++)
		assert_non_null(edo_wheel_poll(wheel, 20000));
	assert_expires_at(wheel, 20002, &later);
}

/* p33 on the wheel: a budget bounds what one call does, lazily moved timers included. */
static void moved_timers_cost_budget_when_their_old_tick_comes(void **state)
{
	edo_wheel_timer timers[10] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	unsigned budget = 4;
	(void)state;

	for (unsigned i = 0; i < 10; i++) {
		insert(wheel, &timers[i], 30);
		reset(wheel, &timers[i], 3000);
	}
	assert_null(edo_wheel_poll_budget(wheel, 100, &budget));
	assert_int_equal(budget, 0);
	assert_int_equal(edo_wheel_occupancy(wheel, 0, NULL, NULL), 6);
	assert_next(wheel, 30);
	turn_to(wheel, 100);
	assert_int_equal(edo_wheel_occupancy(wheel, 0, NULL, NULL), 0);
}

static void draining_takes_a_half_cascaded_slot_too(void **state)
{
	edo_wheel_timer timers[64];
	edo_wheel *wheel = wheel_with_a_full_slot(timers);
	unsigned drained = 0;
	(void)state;

	stop_half_way(wheel, 33);
	while (edo_wheel_drain(wheel)) {
		assert_sound(wheel);
		drained++;
	}
	assert_int_equal(drained, 64);
}

/* The picture shows what is left of a slot where it was. */
static void a_picture_shows_a_half_cascaded_slot_in_its_place(void **state)
{
	edo_wheel_timer timers[64];
	edo_wheel *wheel = wheel_with_a_full_slot(timers);
	size_t counts[EDO_WHEEL_SLOTS];
	uint64_t bits;
	(void)state;

	stop_half_way(wheel, 24);
	assert_int_equal(edo_wheel_occupancy(wheel, 2, &bits, counts), 40);
	assert_int_equal(bits, 1 << 2);
	assert_int_equal(counts[2], 40);
	assert_int_equal(edo_wheel_occupancy(wheel, 6, &bits, counts), -EINVAL);
}

/* What the driver does when it was handed a timer that its owner had moved: order is kept. */
static void a_timer_put_back_comes_in_the_same_loop_in_its_order(void **state)
{
	edo_wheel_timer timers[3] = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timers[0], 10);
	insert(wheel, &timers[1], 20);
	insert(wheel, &timers[2], 500);
	assert_expires(wheel, 1000, &timers[0]);
	timers[0].when = 300;
	edo_wheel_refile(wheel, &timers[0]);
	assert_sound(wheel);
	assert_expires(wheel, 1000, &timers[1]);
	assert_expires(wheel, 1000, &timers[0]);
	assert_expires(wheel, 1000, &timers[2]);
	assert_int_equal(edo_wheel_count(wheel), 0);
}

/* W4: it was first in line, and in one jump both are due, but its tick is the later one now. */
static void a_timer_moved_later_does_not_come_before_those_it_was_moved_behind(void **state)
{
	edo_wheel_timer moved = { 0 }, between = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &moved, 10);
	insert(wheel, &between, 20);
	reset(wheel, &moved, 300);
	assert_expires(wheel, 1000, &between);
	assert_expires(wheel, 1000, &moved);
	assert_null(edo_wheel_poll(wheel, 1000));
}

/* The only timer of a coarse slot needs no cascade; it must be neither early nor out of order. */
static void the_only_timer_of_a_coarse_slot_comes_at_its_tick(void **state)
{
	edo_wheel_timer only = { 0 }, next = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &only, 4200);
	insert(wheel, &next, 8200);
	reset(wheel, &only, 8201);
	turn_to(wheel, 8199);
	assert_expires(wheel, 9000, &next);
	assert_expires(wheel, 9000, &only);
	insert(wheel, &only, 20000);
	turn_to(wheel, 19999);
	assert_expires(wheel, 20000, &only);
}

/* An owner's lock-free move while the timer is linked, seen by cascades and by expiry. */
static void a_tick_that_grew_behind_the_wheel_s_back_is_obeyed(void **state)
{
	edo_wheel_timer timer = { 0 };
	edo_wheel *wheel = wheel_at(0);
	(void)state;

	insert(wheel, &timer, 300000);
	turn_to(wheel, 299000);
	timer.when = 300001;
	turn_to(wheel, 300000);
	timer.when = 300002;
	turn_to(wheel, 300001);
	timer.when = 9 * LAP;
	turn_to(wheel, 300002);
	assert_expires_at(wheel, 9 * LAP, &timer);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_poll_hands_out_in_the_order_of_ticks),
	cmocka_unit_test(timers_of_one_tick_come_in_the_order_they_were_inserted),
	cmocka_unit_test(next_is_the_tick_itself_within_64_ticks_of_a_turn),
	cmocka_unit_test(next_is_never_later_than_the_earliest),
	cmocka_unit_test(a_timer_armed_again_within_the_loop_for_later_waits_for_it),
	cmocka_unit_test(a_timer_armed_again_within_the_loop_for_the_present_is_refused),
	cmocka_unit_test(a_timer_that_is_due_may_be_moved_out_of_the_loop),
	cmocka_unit_test(any_budget_gets_everything_done),
	cmocka_unit_test(a_poll_without_budget_does_nothing_but_learn_the_time),
	cmocka_unit_test(any_timer_can_be_removed_from_a_half_cascaded_slot),
	cmocka_unit_test(all_timers_can_be_removed_from_a_half_cascaded_slot),
	cmocka_unit_test(any_timer_can_be_moved_out_of_a_half_cascaded_slot),
	cmocka_unit_test(a_half_cascaded_slot_does_not_disturb_new_timers),
	cmocka_unit_test(moved_timers_cost_budget_when_their_old_tick_comes),
	cmocka_unit_test(draining_takes_a_half_cascaded_slot_too),
	cmocka_unit_test(a_picture_shows_a_half_cascaded_slot_in_its_place),
	cmocka_unit_test(a_timer_put_back_comes_in_the_same_loop_in_its_order),
	cmocka_unit_test(a_timer_moved_later_does_not_come_before_those_it_was_moved_behind),
	cmocka_unit_test(the_only_timer_of_a_coarse_slot_comes_at_its_tick),
	cmocka_unit_test(a_tick_that_grew_behind_the_wheel_s_back_is_obeyed),
};

EDO_TEST_MAIN(tests)
