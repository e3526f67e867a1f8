/* Whose turn it is when several are ready: drawn, by a seed that repeats. */
#include "rig.h"

enum { BRANCHES = 3, DRAWS = 10000 };

struct draws {
	unsigned char winners[DRAWS];
	unsigned counts[BRANCHES];
};

static int draws(void *arg)
{
	struct draws *draws = arg;

	for (int i = 0; i < DRAWS; i++) {
		struct scripted ready[BRANCHES];
		edo_future *futures[BRANCHES];
		int which;

		for (int branch = 0; branch < BRANCHES; branch++) {
			ready[branch] = ready_at(1, 0);
			futures[branch] = &ready[branch].future;
		}
		which = edo_select(futures, BRANCHES);
		CHECK(which >= 0 && which < BRANCHES);
		draws->winners[i] = (unsigned char)which;
		draws->counts[which]++;
	}
	return 0;
}

static void draw_with(struct draws *drawn, uint64_t seed)
{
	edo_runtime *runtime = paused_runtime(seed);

	memset(drawn, 0, sizeof *drawn);
	assert_int_equal(run_on(runtime, draws, drawn), 0);
	runtime_end(runtime);
}

/* Four standard deviations of 47 round 3333; the seeds are fixed, so it never fails by chance. */
static void all_that_are_ready_win_equally_often(void **state)
{
	static const uint64_t seeds[] = { 1, 2, 42, UINT64_MAX };
	struct draws drawn;

	(void)state;
	for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
		draw_with(&drawn, seeds[i]);
		for (int branch = 0; branch < BRANCHES; branch++)
			assert_in_range(drawn.counts[branch], 3333 - 188, 3333 + 188);
	}
}

/* One after the other must not be tied together either: of nine pairs each comes up as often. */
static void what_won_last_says_nothing_of_what_wins_next(void **state)
{
	unsigned pairs[BRANCHES][BRANCHES] = { { 0 } };
	struct draws drawn;

	(void)state;
	draw_with(&drawn, 42);
	for (int i = 1; i < DRAWS; i++)
		pairs[drawn.winners[i - 1]][drawn.winners[i]]++;
	for (int a = 0; a < BRANCHES; a++)
		for (int b = 0; b < BRANCHES; b++)
			assert_in_range(pairs[a][b], 1111 - 130, 1111 + 130);
}

static void the_same_seed_draws_the_same(void **state)
{
	struct draws first, second;

	(void)state;
	draw_with(&first, 42);
	draw_with(&second, 42);
	assert_memory_equal(first.winners, second.winners, DRAWS);
}

static void another_seed_draws_otherwise_and_so_does_none(void **state)
{
	struct draws first, second;

	(void)state;
	draw_with(&first, 42);
	draw_with(&second, 43);
	assert_memory_not_equal(first.winners, second.winners, DRAWS);
	draw_with(&first, 0);
	draw_with(&second, 0);
	assert_memory_not_equal(first.winners, second.winners, DRAWS);
}

static void outside_of_every_runtime_it_is_fair_too(void **state)
{
	struct draws drawn = { .counts = { 0 } };

	(void)state;
	assert_int_equal(draws(&drawn), 0);
	for (int branch = 0; branch < BRANCHES; branch++)
		assert_in_range(drawn.counts[branch], 3333 - 188, 3333 + 188);
}

/* In order, or where there is no choice, nothing is drawn: what others draw does not change by it. */
static int selects_without_a_choice(void *arg)
{
	struct scripted ready = ready_at(1, 0), other = ready_at(1, 0);
	edo_future *futures[] = { &ready.future, &other.future };

	CHECK(edo_select(futures, 1) == 0);
	ready = ready_at(1, 0);
	CHECK(edo_select_in_order(futures, 2) == 0);
	CHECK(ready.polls == 1 && other.polls == 0);
	return draws(arg);
}

static void where_there_is_no_choice_nothing_is_drawn(void **state)
{
	struct draws first, second = { .counts = { 0 } };
	edo_runtime *runtime = paused_runtime(42);

	(void)state;
	draw_with(&first, 42);
	assert_int_equal(run_on(runtime, selects_without_a_choice, &second), 0);
	runtime_end(runtime);
	assert_memory_equal(first.winners, second.winners, DRAWS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(all_that_are_ready_win_equally_often),
	cmocka_unit_test(what_won_last_says_nothing_of_what_wins_next),
	cmocka_unit_test(the_same_seed_draws_the_same),
	cmocka_unit_test(another_seed_draws_otherwise_and_so_does_none),
	cmocka_unit_test(outside_of_every_runtime_it_is_fair_too),
	cmocka_unit_test(where_there_is_no_choice_nothing_is_drawn),
};

EDO_TEST_MAIN(tests)
