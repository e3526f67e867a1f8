/* The holder's turn: order, batches, wakers that do as they please (T2), bounded holds (T7), jumps. */
#include "rig.h"
#include <errno.h>
#include <stdlib.h>

static struct edo_time_driver time;

static int begin(void **state)
{
	(void)state;
	rig_set_clock(1000 * MS);
	rig_start(&time, MS, false);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	rig_end(&time);
	return 0;
}

/* ---- how much is done under one hold of the lock ---- */

static unsigned most_in_a_hold, in_this_hold, holds, handed_out;

edo_wheel_timer *__real_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget);
edo_wheel_timer *__wrap_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget);
edo_wheel_timer *__wrap_edo_wheel_poll_budget(edo_wheel *wheel, uint64_t now, unsigned *budget)
{
	unsigned before = *budget;
	edo_wheel_timer *timer;

	assert_int_equal(time.shards[0].lock.word, 1);
	if (before == EDO_TURN_BUDGET) {
		in_this_hold = 0;
		holds++;
	}
	timer = __real_edo_wheel_poll_budget(wheel, now, budget);
	in_this_hold += before - *budget;
	handed_out += timer != NULL;
	if (in_this_hold > most_in_a_hold)
		most_in_a_hold = in_this_hold;
	return timer;
}

enum { CROWD = 20000 };

/* p33: they lie in one coarse slot, which must not be emptied under one hold of the lock. */
static void pitfall_p33_a_crowded_slot_is_emptied_in_small_holds(void **state)
{
	edo_timer_entry *crowd = calloc(CROWD, sizeof *crowd);
	struct rig_waker waker;
	unsigned fired = 0;

	(void)state;
	rig_waker_init(&waker);
	for (unsigned i = 0; i < CROWD; i++)
		(void)rig_poll(&time, &crowd[i], 30000 + i % 700, &waker);
	most_in_a_hold = holds = handed_out = 0;
	for (uint64_t ms = 20000; ms <= 31000; ms += 500)
		fired += rig_turn_to(&time, ms * MS);

	assert_int_equal(fired, CROWD);
	assert_true(most_in_a_hold <= EDO_TURN_BUDGET);
	assert_true(EDO_TURN_BUDGET <= 64); /* T7 */
	assert_true(holds >= CROWD / 32);
	free(crowd);
}

/* Nor in one turn: the thread has events to look at and tasks to run. */
static void a_turn_leaves_a_crowd_to_the_next_ones_which_do_not_wait(void **state)
{
	edo_timer_entry *crowd = calloc(CROWD, sizeof *crowd);
	struct rig_waker waker;
	unsigned fired = 0, turns = 0;

	(void)state;
	rig_waker_init(&waker);
	for (unsigned i = 0; i < CROWD; i++)
		(void)rig_poll(&time, &crowd[i], 30000, &waker);
	rig_set_clock(time.clock.start + 31000 * MS);
	while (fired < CROWD) {
		assert_int_equal(edo_time_before_wait(&time, UINT64_MAX), 0);
		edo_time_after_wait(&time);
		holds = 0;
		fired += edo_time_process(&time);
		turns++;
		assert_true(holds <= EDO_TURN_HOLDS);
	}
	assert_true(turns >= CROWD / (EDO_TURN_HOLDS * EDO_TURN_BUDGET));
	assert_int_equal(edo_time_process(&time), 0);
	free(crowd);
}

/* ---- order and wakers ---- */

enum { ORDERED = 200 };

static unsigned woken_order[ORDERED], woken_count;

static void note_order(struct rig_waker *waker)
{
	woken_order[woken_count++] = (unsigned)(uintptr_t)waker->context;
}

static void wakes_come_in_the_order_of_their_ticks_and_of_arming(void **state)
{
	static struct rig_waker wakers[ORDERED];
	static edo_timer_entry entries[ORDERED];

	(void)state;
	woken_count = 0;
	for (unsigned i = 0; i < ORDERED; i++) {
		rig_waker_init(&wakers[i]);
		edo_entry_init(&entries[i]);
		wakers[i].when_woken = note_order;
		/* 40 at each of 5 ticks, the last tick first */
		wakers[i].context = (void *)(uintptr_t)(i % 40 + 40 * (4 - i / 40));
		(void)rig_poll(&time, &entries[i], 5 - i / 40, &wakers[i]);
	}
	assert_int_equal(rig_turn_to(&time, 10 * MS), ORDERED);
	for (unsigned i = 0; i < ORDERED; i++)
		assert_int_equal(woken_order[i], i);
}

struct pair {
	edo_timer_entry mine, victim;
	struct rig_waker waker, victims;
	unsigned rounds;
};

static void drop_victim(struct rig_waker *waker)
{
	struct pair *pair = waker->context;

	edo_entry_drop(&pair->victim);
}

/* Two that are due in one turn but not in one batch, and two of one batch. */
static void drops_one_of_the_same_turn(unsigned between)
{
	edo_timer_entry *filler = calloc(between + 1, sizeof *filler);
	struct rig_waker fill;
	struct pair pair = { .rounds = 0 };

	rig_waker_init(&fill);
	rig_waker_init(&pair.waker);
	rig_waker_init(&pair.victims);
	pair.waker.when_woken = drop_victim;
	pair.waker.context = &pair;
	(void)rig_poll(&time, &pair.mine, 3, &pair.waker);
	for (unsigned i = 0; i < between; i++)
		(void)rig_poll(&time, &filler[i], 3, &fill);
	(void)rig_poll(&time, &pair.victim, 3, &pair.victims);
	(void)rig_turn_to(&time, 3 * MS);

	assert_int_equal(rig_wakes(&fill), between);
	assert_int_equal(rig_clones(&pair.victims), 0);
	assert_int_equal(rig_armed(&time), 0);
	if (between >= EDO_WAKE_BATCH)
		assert_int_equal(rig_wakes(&pair.victims), 0);
	free(filler);
}

static void pitfall_p17_a_waker_may_drop_a_timer_of_its_own_batch(void **state)
{
	(void)state;
	drops_one_of_the_same_turn(0);
}

static void pitfall_p17_a_waker_may_drop_a_timer_of_a_later_batch(void **state)
{
	(void)state;
	drops_one_of_the_same_turn(100);
}

static void reset_victim(struct rig_waker *waker)
{
	struct pair *pair = waker->context;

	assert_int_equal(edo_entry_reset(&time, &pair->victim, 50), 0);
}

/* p30: the second expired entry is reset while the first one's waker runs. */
static void pitfall_p30_a_waker_may_reset_the_next_expired_timer(void **state)
{
	struct pair pair = { .rounds = 0 };

	(void)state;
	rig_waker_init(&pair.waker);
	rig_waker_init(&pair.victims);
	pair.waker.when_woken = reset_victim;
	pair.waker.context = &pair;
	(void)rig_poll(&time, &pair.mine, 3, &pair.waker);
	(void)rig_poll(&time, &pair.victim, 3, &pair.victims);
	(void)rig_turn_to(&time, 3 * MS);

	/* It had fired with the first; the reset made it unarmed, and the wake was already on its way. */
	assert_false(edo_entry_has_fired(&pair.victim));
	assert_int_equal(rig_armed(&time), 0);
	assert_int_equal(rig_poll(&time, &pair.victim, 50, &pair.victims), EDO_PENDING);
	assert_int_equal(rig_turn_to(&time, 50 * MS), 1);
	assert_int_equal(rig_clones(&pair.victims), 0);
}

static void rearm_for_now(struct rig_waker *waker)
{
	struct pair *pair = waker->context;

	pair->rounds++;
	assert_int_equal(edo_entry_reset(&time, &pair->mine, 3), 0);
	assert_int_equal(rig_poll(&time, &pair->mine, 3, waker), EDO_READY);
}

/* p23: a zero timer armed again in its own callback must not keep the turn from ending. */
static void pitfall_p23_what_is_rearmed_for_now_does_not_fire_in_this_turn(void **state)
{
	struct pair pair = { .rounds = 0 };

	(void)state;
	rig_waker_init(&pair.waker);
	pair.waker.when_woken = rearm_for_now;
	pair.waker.context = &pair;
	(void)rig_poll(&time, &pair.mine, 2, &pair.waker);
	assert_int_equal(rig_turn_to(&time, 3 * MS), 1);
	assert_int_equal(pair.rounds, 1);
}

static void rearm_for_the_next_tick(struct rig_waker *waker)
{
	struct pair *pair = waker->context;

	pair->rounds++;
	(void)edo_entry_reset(&time, &pair->mine, 0);
	assert_int_equal(rig_poll(&time, &pair->mine, 1001, waker), EDO_PENDING);
}

static void a_turn_far_behind_ends_though_its_wakers_arm_on(void **state)
{
	struct pair pair = { .rounds = 0 };

	(void)state;
	rig_waker_init(&pair.waker);
	pair.waker.when_woken = rearm_for_the_next_tick;
	pair.waker.context = &pair;
	(void)rig_poll(&time, &pair.mine, 1, &pair.waker);
	assert_int_equal(rig_turn_to(&time, 1000 * MS), 1);
	assert_int_equal(rig_turn_to(&time, 1000 * MS + MS / 2), 0);
	edo_entry_drop(&pair.mine);
}

/* T1: random deadlines, resolutions and steps of the clock, back too. */
static void wait_for_random_deadlines(uint64_t resolution, uint64_t *seed)
{
	enum { N = 64 };
	static edo_timer_entry entries[N];
	static uint64_t deadlines[N];
	struct rig_waker waker;
	uint64_t now, latest = 0;

	rig_set_clock(1000 * MS);
	rig_start(&time, resolution, false);
	rig_waker_init(&waker);
	for (int i = 0; i < N; i++) {
		deadlines[i] = rig_random(seed) >> (16 + rig_random(seed) % 40);
		edo_entry_init(&entries[i]);
		(void)rig_poll(&time, &entries[i], edo_time_tick_of(&time, deadlines[i]), &waker);
	}
	for (int step = 0; step < 300; step++) {
		uint64_t forward = rig_random(seed) >> (18 + rig_random(seed) % 40);
		uint64_t back = rig_random(seed) % (2 * resolution);

		rig_set_clock(rig_clock() + forward - (step % 3 == 0 ? back : 0));
		now = rig_clock() - time.clock.start;
		latest = (int64_t)now > 0 && now > latest ? now : latest;
		(void)edo_time_process(&time);
		for (int i = 0; i < N; i++) {
			if (edo_entry_has_fired(&entries[i]))
				assert_true(latest >= deadlines[i]);
			else
				assert_true(latest < deadlines[i] + resolution);
		}
	}
	for (int i = 0; i < N; i++)
		edo_entry_drop(&entries[i]);
	rig_end(&time);
}

static void no_deadline_is_early_or_a_tick_late_at_any_resolution(void **state)
{
	static const uint64_t resolutions[] = { 1000,    1001,    4096,     50000,     333333,
						1000000, 1000003, 16666667, 1000000000 };
	uint64_t seed = rig_seed();

	(void)state;
	finish(state);
	for (unsigned i = 0; i < sizeof resolutions / sizeof resolutions[0]; i++)
		for (int round = 0; round < 10; round++)
			wait_for_random_deadlines(resolutions[i], &seed);
	begin(state);
}

/* ---- jumps of the paused clock ---- */

static void a_jump_goes_exactly_to_the_next_timer_through_all_coarse_slots(void **state)
{
	static const uint64_t ticks[] = { 7, 64, 4097, 3600000, UINT64_C(3) << 33 };
	struct rig_waker waker;
	edo_timer_entry entries[5];

	(void)state;
	rig_waker_init(&waker);
	assert_int_equal(edo_time_pause(&time), 0);
	for (int i = 0; i < 5; i++) {
		edo_entry_init(&entries[i]);
		(void)rig_poll(&time, &entries[i], ticks[i], &waker);
	}
	for (int i = 0; i < 5; i++) {
		assert_true(edo_time_jump(&time));
		assert_int_equal(edo_time_now(&time), ticks[i] * MS);
		assert_int_equal(rig_wakes(&waker), i + 1);
	}
	assert_false(edo_time_jump(&time));
}

static void a_jump_passes_the_place_a_timer_was_reset_from(void **state)
{
	struct rig_waker waker;
	edo_timer_entry entry;

	(void)state;
	rig_waker_init(&waker);
	edo_entry_init(&entry);
	assert_int_equal(edo_time_pause(&time), 0);
	(void)rig_poll(&time, &entry, 7, &waker);
	assert_int_equal(edo_entry_reset(&time, &entry, 100000), 0);
	assert_true(edo_time_jump(&time));
	assert_int_equal(edo_time_now(&time), 100000 * MS);
	assert_true(edo_entry_has_fired(&entry));
}

static void nobody_jumps_to_a_timer_that_means_never(void **state)
{
	struct rig_waker waker;
	edo_timer_entry never, end;

	(void)state;
	rig_waker_init(&waker);
	edo_entry_init(&never);
	edo_entry_init(&end);
	assert_int_equal(edo_time_pause(&time), 0);
	(void)rig_poll(&time, &never, edo_time_tick_of(&time, EDO_FOREVER), &waker);
	(void)rig_poll(&time, &end, EDO_TICK_MAX, &waker);
	assert_false(edo_time_jump(&time));
	assert_int_equal(edo_time_now(&time), 0);
	edo_entry_drop(&never);
	edo_entry_drop(&end);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

static const struct CMUnitTest tests[] = {
	TEST(pitfall_p33_a_crowded_slot_is_emptied_in_small_holds),
	TEST(a_turn_leaves_a_crowd_to_the_next_ones_which_do_not_wait),
	TEST(wakes_come_in_the_order_of_their_ticks_and_of_arming),
	TEST(pitfall_p17_a_waker_may_drop_a_timer_of_its_own_batch),
	TEST(pitfall_p17_a_waker_may_drop_a_timer_of_a_later_batch),
	TEST(pitfall_p30_a_waker_may_reset_the_next_expired_timer),
	TEST(pitfall_p23_what_is_rearmed_for_now_does_not_fire_in_this_turn),
	TEST(a_turn_far_behind_ends_though_its_wakers_arm_on),
	TEST(no_deadline_is_early_or_a_tick_late_at_any_resolution),
	TEST(a_jump_goes_exactly_to_the_next_timer_through_all_coarse_slots),
	TEST(a_jump_passes_the_place_a_timer_was_reset_from),
	TEST(nobody_jumps_to_a_timer_that_means_never),
};

EDO_TEST_MAIN(tests)
