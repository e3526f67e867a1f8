/*
 * The explorer's memory is C11's: for small programs whose outcomes under the model are known, it must show
 * each outcome that is allowed and none that is not; by both ways of searching. Names as in the
 * literature.
 */
#include "base/atomic.h"
#include "base/sys.h"
#include "explore/engine.h"
#include <stdio.h>
#include <stdlib.h>

static uint32_t x, y, z;
static unsigned r[4];

/* Which outcomes were seen, each as a number in base 4 of what was read; kept over the runs. */
static uint64_t *seen;

static void note_outcome(unsigned registers)
{
	unsigned outcome = 0;

	for (unsigned i = 0; i < registers; i++)
		outcome = outcome * 4 + r[i];
	*seen |= UINT64_C(1) << outcome;
}

static void run_two(void (*first)(void *), void (*second)(void *), unsigned registers)
{
	explore_start(first, NULL);
	explore_start(second, NULL);
	explore_join_all();
	note_outcome(registers);
}

#define THREAD(name, ...)                                                                          \
	static void name(void *argument)                                                           \
	{                                                                                          \
		(void)argument;                                                                    \
		__VA_ARGS__                                                                        \
	}

/* clang-format takes these for something else. */
/* clang-format off */

/* SB: store buffering. */
THREAD(sb_first, edo_store(&x, 1, release); r[0] = edo_load(&y, acquire);)
THREAD(sb_second, edo_store(&y, 1, release); r[1] = edo_load(&x, acquire);)
THREAD(sb_first_sc, edo_store(&x, 1, seq_cst); r[0] = edo_load(&y, seq_cst);)
THREAD(sb_second_sc, edo_store(&y, 1, seq_cst); r[1] = edo_load(&x, seq_cst);)

/* MP: message passing, by flags and by read-modify-writes. */
THREAD(mp_first, edo_store(&x, 1, relaxed); edo_store(&y, 1, release);)
THREAD(mp_second, r[0] = edo_load(&y, acquire); r[1] = edo_load(&x, relaxed);)
THREAD(mp_first_relaxed, edo_store(&x, 1, relaxed); edo_store(&y, 1, relaxed);)
THREAD(mp_second_relaxed, r[0] = edo_load(&y, relaxed); r[1] = edo_load(&x, relaxed);)
THREAD(mp_middle, (void)edo_fetch_add(&y, 1, relaxed);)

/* CoRR, CoWW: one location has one order. */
THREAD(corr_first, edo_store(&x, 1, relaxed); edo_store(&x, 2, relaxed);)
THREAD(corr_second, r[0] = edo_load(&x, relaxed); r[1] = edo_load(&x, relaxed);)

/* The oldest of three values, by one who knows that there are newer ones. */
THREAD(stores_two, edo_store(&x, 1, relaxed); edo_store(&x, 2, relaxed); edo_store(&y, 1, relaxed);)

/* LB: load buffering. C11 allows 1 and 1; this explorer does not show it (explore.h). */
THREAD(lb_first, r[0] = edo_load(&x, relaxed); edo_store(&y, 1, relaxed);)
THREAD(lb_second, r[1] = edo_load(&y, relaxed); edo_store(&x, 1, relaxed);)

/* IRIW: independent reads of independent writes. */
THREAD(iriw_x, edo_store(&x, 1, seq_cst);)
THREAD(iriw_y, edo_store(&y, 1, seq_cst);)
THREAD(iriw_xy, r[0] = edo_load(&x, acquire); r[1] = edo_load(&y, acquire);)
THREAD(iriw_yx, r[2] = edo_load(&y, acquire); r[3] = edo_load(&x, acquire);)
THREAD(iriw_xy_sc, r[0] = edo_load(&x, seq_cst); r[1] = edo_load(&y, seq_cst);)
THREAD(iriw_yx_sc, r[2] = edo_load(&y, seq_cst); r[3] = edo_load(&x, seq_cst);)

/* WRC: write to read causality. */
THREAD(wrc_first, edo_store(&x, 1, relaxed);)
THREAD(wrc_second, r[0] = edo_load(&x, relaxed); edo_store(&y, 1, release);)
THREAD(wrc_third, r[1] = edo_load(&y, acquire); r[2] = edo_load(&x, relaxed);)

/* ISA2: what is known is handed on. */
THREAD(isa2_second, r[0] = edo_load(&y, acquire); edo_store(&z, 1, release);)
THREAD(isa2_third, r[1] = edo_load(&z, acquire); r[2] = edo_load(&x, relaxed);)

/* A release that its own thread has stored over: C++20 takes nothing of it along. */
THREAD(overwritten, edo_store(&x, 1, relaxed); edo_store(&y, 1, release); edo_store(&y, 2, relaxed);)

/* Increments. */
THREAD(adds, r[0] = edo_fetch_add(&x, 1, relaxed);)
THREAD(adds_too, r[1] = edo_fetch_add(&x, 1, relaxed);)

/* Three stores and a load: all are tried, each once. */
THREAD(stores_x, edo_store(&x, 1, relaxed);)
THREAD(stores_y, edo_store(&y, 1, relaxed);)
THREAD(stores_z, edo_store(&z, 1, relaxed);)
/* clang-format on */

/* The failure of a compare-and-swap is a load, and need not see the newest. */
static void cas_first(void *argument)
{
	(void)argument;
	edo_store(&x, 1, relaxed);
	edo_store(&x, 2, relaxed);
}

static void cas_second(void *argument)
{
	uint32_t expected = 3;

	(void)argument;
	(void)edo_compare_exchange(&x, &expected, 3, relaxed, relaxed);
	r[0] = expected;
}

/* A sleep with a time-out against a clock that is moved and a wake-up: its end depends on all three. */
static void sleeps_a_time(void *argument)
{
	(void)argument;
	r[0] = edo_sys_futex_wait(&x, 0, 10) == 0;
}

static void wakes(void *argument)
{
	(void)argument;
	r[1] = (unsigned)edo_sys_futex_wake(&x, 1);
}

static void moves_the_clock(void *argument)
{
	(void)argument;
	explore_clock_advance(10);
}

static void moves_the_clock_and_wakes(void *argument)
{
	moves_the_clock(argument);
	wakes(argument);
}

/* It acquires by its own order. */
static void cas_fails(bool acquires)
{
	uint32_t expected = 3;

	if (acquires)
		(void)edo_compare_exchange(&y, &expected, 3, acq_rel, acquire);
	else
		(void)edo_compare_exchange(&y, &expected, 3, acq_rel, relaxed);
	r[0] = expected;
	r[1] = edo_load(&x, relaxed);
}

static void cas_fails_and_acquires(void *argument)
{
	(void)argument;
	cas_fails(true);
}

static void cas_fails_relaxed(void *argument)
{
	(void)argument;
	cas_fails(false);
}

static void sb(void)
{
	run_two(sb_first, sb_second, 2);
}

static void sb_sc(void)
{
	run_two(sb_first_sc, sb_second_sc, 2);
}

static void mp(void)
{
	run_two(mp_first, mp_second, 2);
}

static void mp_relaxed_store(void)
{
	run_two(mp_first_relaxed, mp_second, 2);
}

static void mp_relaxed_load(void)
{
	run_two(mp_first, mp_second_relaxed, 2);
}

static void mp_release_sequence(void)
{
	explore_start(mp_middle, NULL);
	run_two(mp_first, mp_second, 2);
}

static void corr(void)
{
	run_two(corr_first, corr_second, 2);
}

static void mp_two_stores(void)
{
	run_two(stores_two, mp_second_relaxed, 2);
}

static void lb(void)
{
	run_two(lb_first, lb_second, 2);
}

static void iriw(void)
{
	explore_start(iriw_x, NULL);
	explore_start(iriw_y, NULL);
	run_two(iriw_xy, iriw_yx, 0);
	/* The two disagree, or not. */
	*seen |= r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0 ? 2 : 1;
}

static void iriw_sc(void)
{
	explore_start(iriw_x, NULL);
	explore_start(iriw_y, NULL);
	run_two(iriw_xy_sc, iriw_yx_sc, 0);
	*seen |= r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0 ? 2 : 1;
}

static void wrc(void)
{
	explore_start(wrc_first, NULL);
	run_two(wrc_second, wrc_third, 3);
}

static void isa2(void)
{
	explore_start(mp_first, NULL);
	run_two(isa2_second, isa2_third, 3);
}

static void mp_overwritten(void)
{
	run_two(overwritten, mp_second, 2);
}

static void mp_failed_cas_acquires(void)
{
	run_two(mp_first, cas_fails_and_acquires, 2);
}

static void mp_failed_cas_relaxed(void)
{
	run_two(mp_first, cas_fails_relaxed, 2);
}

static void increments(void)
{
	run_two(adds, adds_too, 2);
}

static void failed_cas(void)
{
	run_two(cas_first, cas_second, 1);
}

static void sleep_begun_after_the_clock_was_moved(void)
{
	run_two(sleeps_a_time, moves_the_clock_and_wakes, 2);
}

static void sleep_woken_before_the_clock_is_moved(void)
{
	explore_start(moves_the_clock, NULL);
	run_two(sleeps_a_time, wakes, 2);
}

static void independent(void)
{
	explore_start(stores_z, NULL);
	run_two(stores_x, stores_y, 0);
	*seen |= 1;
}

struct litmus {
	struct explore_model model;
	uint64_t outcomes;
	uint64_t runs; /* of the search for all interleavings; 0: not said */
};

#define OF(a, b) (UINT64_C(1) << ((a)*4 + (b)))
#define OF_THREE(a, b, c) (UINT64_C(1) << ((a)*16 + (b)*4 + (c)))
#define LITMUS(function, outcomes, runs)                                                           \
	{                                                                                          \
		{ #function, function, { EXPLORE_ALL, EXPLORE_ALL }, { 8, 8 } }, outcomes, runs    \
	}

static const struct litmus litmus[] = {
	LITMUS(sb, OF(0, 0) | OF(0, 1) | OF(1, 0) | OF(1, 1), 0),
	LITMUS(sb_sc, OF(0, 1) | OF(1, 0) | OF(1, 1), 0),
	LITMUS(mp, OF(0, 0) | OF(0, 1) | OF(1, 1), 0),
	LITMUS(mp_relaxed_store, OF(0, 0) | OF(0, 1) | OF(1, 0) | OF(1, 1), 0),
	LITMUS(mp_relaxed_load, OF(0, 0) | OF(0, 1) | OF(1, 0) | OF(1, 1), 0),
	/* y: the increment before the store shows 1 without its release, after it 2 with it. */
	LITMUS(mp_release_sequence, OF(0, 0) | OF(0, 1) | OF(1, 0) | OF(1, 1) | OF(2, 1), 0),
	LITMUS(corr, OF(0, 0) | OF(0, 1) | OF(0, 2) | OF(1, 1) | OF(1, 2) | OF(2, 2), 0),
	LITMUS(mp_two_stores, OF(0, 0) | OF(0, 1) | OF(0, 2) | OF(1, 0) | OF(1, 1) | OF(1, 2), 0),
	LITMUS(lb, OF(0, 0) | OF(0, 1) | OF(1, 0), 0),
	LITMUS(iriw, 3, 0),
	LITMUS(iriw_sc, 1, 0),
	LITMUS(wrc,
	       OF_THREE(0, 0, 0) | OF_THREE(0, 0, 1) | OF_THREE(0, 1, 0) | OF_THREE(0, 1, 1) |
		       OF_THREE(1, 0, 0) | OF_THREE(1, 0, 1) | OF_THREE(1, 1, 1),
	       0),
	LITMUS(isa2,
	       OF_THREE(0, 0, 0) | OF_THREE(0, 0, 1) | OF_THREE(0, 1, 0) | OF_THREE(0, 1, 1) |
		       OF_THREE(1, 0, 0) | OF_THREE(1, 0, 1) | OF_THREE(1, 1, 1),
	       0),
	LITMUS(mp_overwritten, OF(0, 0) | OF(0, 1) | OF(1, 1) | OF(2, 0) | OF(2, 1), 0),
	LITMUS(mp_failed_cas_acquires, OF(0, 0) | OF(0, 1) | OF(1, 1), 0),
	LITMUS(mp_failed_cas_relaxed, OF(0, 0) | OF(0, 1) | OF(1, 0) | OF(1, 1), 0),
	LITMUS(increments, OF(0, 1) | OF(1, 0), 2),
	LITMUS(failed_cas, OF(0, 0) | OF(0, 1) | OF(0, 2), 0),
	LITMUS(sleep_begun_after_the_clock_was_moved, OF(0, 0) | OF(1, 1), 0),
	LITMUS(sleep_woken_before_the_clock_is_moved, OF(0, 0) | OF(1, 1), 0),
	LITMUS(independent, 1, 1),
};

static int check(const struct litmus *test, struct explore_bounds bounds)
{
	struct explore_result result;
	bool is_right;

	*seen = 0;
	result = explore_run(&test->model, bounds, true);
	is_right = result.outcome == EXPLORE_PASSED && *seen == test->outcomes;
	if (bounds.preemptions == EXPLORE_ALL && test->runs > 0)
		is_right &= result.runs == test->runs;
	printf("%s %s: %#llx expected, %#llx seen, %llu runs, %llu cut\n",
	       is_right ? "ok  " : "FAIL", test->model.name, (unsigned long long)test->outcomes,
	       (unsigned long long)*seen, (unsigned long long)result.runs,
	       (unsigned long long)result.cut);
	return !is_right;
}

/* The naive search is one: the three stores in all their orders, and all outcomes of each test. */
static int check_naively(const struct litmus *test)
{
	struct explore_way naively = { .is_naive = true };
	struct explore_result result;
	bool is_right;

	*seen = 0;
	result = explore_run_by(&test->model, test->model.usual, naively);
	is_right = result.outcome == EXPLORE_PASSED && *seen == test->outcomes && result.cut == 0;
	if (test->model.run == independent)
		is_right &= result.runs == 6;
	printf("%s %s naively: %#llx seen, %llu runs\n", is_right ? "ok  " : "FAIL",
	       test->model.name, (unsigned long long)*seen, (unsigned long long)result.runs);
	return !is_right;
}

/* A bound on old values is not one lower than it says: one of the two must read an old one. */
static int check_old_values(void)
{
	static const struct litmus none = LITMUS(sb, OF(0, 1) | OF(1, 0) | OF(1, 1), 0);
	static const struct litmus one = LITMUS(sb, OF(0, 0) | OF(0, 1) | OF(1, 0) | OF(1, 1), 0);

	return check(&none, (struct explore_bounds){ EXPLORE_ALL, 0 }) +
	       check(&one, (struct explore_bounds){ EXPLORE_ALL, 1 });
}

int main(void)
{
	int failed = 0;

	seen = explore_pages(sizeof *seen);
	for (size_t i = 0; i < sizeof litmus / sizeof litmus[0]; i++) {
		failed += check(&litmus[i], litmus[i].model.usual);
		failed += check(&litmus[i], litmus[i].model.whole);
		failed += check_naively(&litmus[i]);
	}
	failed += check_old_values();
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
