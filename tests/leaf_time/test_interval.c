#include "rig.h"

/* Work takes `work[i]` ms after tick i; ticks must be planned for planned[i] ms and met at met[i] ms. */
struct schedule {
	edo_missed missed;
	unsigned period, ticks;
	uint64_t work[8], planned[8], met[8];
};

static int keeps(void *arg)
{
	const struct schedule *schedule = arg;
	edo_interval interval;
	edo_instant start = edo_now(), at;

	CHECK(edo_interval_init(&interval, start, EDO_MS(schedule->period), schedule->missed) == 0);
	for (unsigned i = 0; i < schedule->ticks; i++) {
		CHECK(edo_interval_tick(&interval, &at) == 0);
		CHECK(at - start == EDO_MS(schedule->planned[i]));
		CHECK(edo_now() - start == EDO_MS(schedule->met[i]));
		CHECK(edo_advance(EDO_MS(schedule->work[i])) == 0);
	}
	edo_interval_drop(&interval);
	return 0;
}

/* p25: it does not drift by the time that the work takes. */
static void pitfall_p25_periods_count_from_the_instant_planned(void **state)
{
	struct schedule burst = {
		EDO_MISSED_BURST,     10, 5, { 3, 9, 1, 7 }, { 0, 10, 20, 30, 40 },
		{ 0, 10, 20, 30, 40 }
	};
	struct schedule delay = burst, skip = burst;

	(void)state;
	delay.missed = EDO_MISSED_DELAY;
	skip.missed = EDO_MISSED_SKIP;
	in_paused_runtime(keeps, &burst);
	in_paused_runtime(keeps, &delay);
	in_paused_runtime(keeps, &skip);
}

static void burst_catches_up_with_what_was_missed(void **state)
{
	struct schedule schedule = { EDO_MISSED_BURST,
				     10,
				     7,
				     { 0, 35 },
				     { 0, 10, 20, 30, 40, 50, 60 },
				     { 0, 10, 45, 45, 45, 50, 60 } };

	(void)state;
	in_paused_runtime(keeps, &schedule);
}

static void delay_starts_a_new_grid_at_the_late_tick(void **state)
{
	struct schedule schedule = { EDO_MISSED_DELAY,     10, 5, { 0, 35 }, { 0, 10, 20, 55, 65 },
				     { 0, 10, 45, 55, 65 } };

	(void)state;
	in_paused_runtime(keeps, &schedule);
}

/* Up to 5 ms every tick may be late, unless a whole period has passed. */
static void delay_keeps_its_grid_when_a_tick_is_only_usually_late(void **state)
{
	struct schedule usual = { EDO_MISSED_DELAY, 10, 4, { 15 }, { 0, 10, 20, 30 },
				  { 0, 15, 20, 30 } };
	struct schedule late = { EDO_MISSED_DELAY, 10, 4, { 16 }, { 0, 10, 26, 36 },
				 { 0, 16, 26, 36 } };
	struct schedule missed = {
		EDO_MISSED_DELAY, 3, 4, { 7 }, { 0, 3, 10, 13 }, { 0, 7, 10, 13 }
	};

	(void)state;
	in_paused_runtime(keeps, &usual);
	in_paused_runtime(keeps, &late);
	in_paused_runtime(keeps, &missed);
}

static void skip_goes_on_at_the_next_multiple(void **state)
{
	struct schedule schedule = { EDO_MISSED_SKIP,      10, 5, { 0, 35 }, { 0, 10, 20, 50, 60 },
				     { 0, 10, 45, 50, 60 } };
	struct schedule exactly = { EDO_MISSED_SKIP,      10, 5, { 0, 30 }, { 0, 10, 20, 50, 60 },
				    { 0, 10, 40, 50, 60 } };

	(void)state;
	in_paused_runtime(keeps, &schedule);
	in_paused_runtime(keeps, &exactly);
}

static int has_no_period(void *arg)
{
	edo_interval interval;

	(void)arg;
	CHECK(edo_interval_init(&interval, 0, 0, EDO_MISSED_BURST) == -EINVAL);
	CHECK(edo_interval_tick(&interval, NULL) == -EINVAL);
	edo_interval_drop(&interval);
	CHECK(edo_interval_init(&interval, 0, 5, (edo_missed)9) == -EINVAL);
	edo_interval_drop(&interval);
	return 0;
}

/* As after a select, where nothing but the future tells. */
static int reads_results(void *arg)
{
	edo_interval_future tick;
	edo_interval interval;

	(void)arg;
	CHECK(edo_interval_init(&interval, edo_now(), EDO_MS(10), EDO_MISSED_BURST) == 0);
	CHECK(edo_await(edo_interval_tick_start(&tick, &interval)) == 0 && tick.result == 0);
	edo_interval_drop(&interval);
	CHECK(edo_interval_init(&interval, 0, 0, EDO_MISSED_BURST) == -EINVAL);
	CHECK(edo_await(edo_interval_tick_start(&tick, &interval)) == -EINVAL);
	CHECK(tick.result == -EINVAL);
	edo_interval_drop(&interval);
	return 0;
}

static void a_ticks_future_says_what_it_came_to(void **state)
{
	(void)state;
	in_paused_runtime(reads_results, NULL);
}

static void a_period_of_nothing_is_an_error(void **state)
{
	(void)state;
	in_paused_runtime(has_no_period, NULL);
}

static int has_the_shortest_period(void *arg)
{
	const edo_missed *missed = arg;
	edo_interval interval;
	edo_instant at, before = 0;

	CHECK(edo_interval_init(&interval, edo_now(), 1, *missed) == 0);
	for (int i = 0; i < 500; i++) {
		CHECK(edo_interval_tick(&interval, &at) == 0);
		CHECK(at <= edo_now()); /* never early */
		CHECK(i == 0 || at > before);
		before = at;
	}
	edo_interval_drop(&interval);
	return 0;
}

static void a_period_of_1_ns_is_served_as_fast_as_ticks_go(void **state)
{
	edo_missed missed[] = { EDO_MISSED_BURST, EDO_MISSED_DELAY, EDO_MISSED_SKIP };

	(void)state;
	for (int i = 0; i < 3; i++)
		in_paused_runtime(has_the_shortest_period, &missed[i]);
	in_running_runtime(has_the_shortest_period, &missed[0]);
}

static int has_the_longest_period(void *arg)
{
	const edo_missed *missed = arg;
	edo_interval interval;
	edo_timer soon;
	edo_instant at;
	edo_interval_future tick;

	CHECK(edo_sleep(EDO_MS(3)) == 0);
	CHECK(edo_interval_init(&interval, 0, EDO_FOREVER, *missed) == 0);
	CHECK(edo_interval_tick(&interval, &at) == 0 && at == 0);
	CHECK(edo_timeout(EDO_HOUR(1), edo_interval_tick_start(&tick, &interval)) == -ETIMEDOUT);
	CHECK(edo_interval_reset(&interval) == 0);
	CHECK(edo_timeout(EDO_HOUR(1), edo_interval_tick_start(&tick, &interval)) == -ETIMEDOUT);
	CHECK(edo_interval_reset_at(&interval, EDO_FOREVER) == 0);
	CHECK(edo_timeout(EDO_HOUR(1), edo_interval_tick_start(&tick, &interval)) == -ETIMEDOUT);
	edo_interval_drop(&interval);

	/* Planned long ago, with a period that does not fit behind the present. */
	CHECK(edo_interval_init(&interval, 5, EDO_FOREVER - 2, *missed) == 0);
	CHECK(edo_interval_tick(&interval, &at) == 0 && at == 5);
	CHECK(edo_timeout(EDO_HOUR(1), edo_interval_tick_start(&tick, &interval)) == -ETIMEDOUT);
	edo_interval_drop(&interval);
	edo_timer_init(&soon, 0);
	CHECK(edo_await(&soon.future) == 0);
	return 0;
}

static void pitfall_p08_no_sum_of_an_interval_overflows(void **state)
{
	edo_missed missed[] = { EDO_MISSED_BURST, EDO_MISSED_DELAY, EDO_MISSED_SKIP };

	(void)state;
	for (int i = 0; i < 3; i++)
		in_paused_runtime(has_the_longest_period, &missed[i]);
}

static int registers_only_when_pending(void *arg)
{
	struct counting_waker waker;
	edo_interval_future tick;
	edo_interval interval;
	edo_context cx;

	(void)arg;
	counting_waker_init(&waker);
	edo_context_init(&cx, &waker.waker);
	CHECK(edo_interval_init(&interval, edo_now(), EDO_MS(10), EDO_MISSED_BURST) == 0);
	edo_interval_tick_start(&tick, &interval);
	CHECK(edo_future_poll(&tick.future, &cx) == EDO_READY);
	CHECK(waker.clones == 0);
	edo_future_drop(&tick.future);
	CHECK(edo_sleep(EDO_SEC(1)) == 0);
	CHECK(waker.wakes == 0);

	for (int i = 0; i < 100; i++) { /* the missed ones are ready too */
		edo_interval_tick_start(&tick, &interval);
		CHECK(edo_future_poll(&tick.future, &cx) == EDO_READY);
		edo_future_drop(&tick.future);
	}
	CHECK(waker.clones == 0);
	edo_interval_tick_start(&tick, &interval);
	CHECK(edo_future_poll(&tick.future, &cx) == EDO_PENDING);
	CHECK(waker.clones == 1);
	edo_future_drop(&tick.future);
	CHECK(waker.clones == 0);
	edo_interval_drop(&interval);
	return 0;
}

static void pitfall_p15_a_ready_interval_leaves_no_wake_behind(void **state)
{
	(void)state;
	in_paused_runtime(registers_only_when_pending, NULL);
}

static int drops_a_wait(void *arg)
{
	edo_interval_future first, second;
	struct counting_waker waker;
	edo_interval interval;
	edo_context cx;
	edo_instant at;

	(void)arg;
	counting_waker_init(&waker);
	edo_context_init(&cx, &waker.waker);
	CHECK(edo_interval_init(&interval, EDO_MS(10), EDO_MS(10), EDO_MISSED_BURST) == 0);
	edo_interval_tick_start(&first, &interval);
	CHECK(edo_future_poll(&first.future, &cx) == EDO_PENDING);
	edo_future_drop(&first.future);
	CHECK(edo_future_poll(&first.future, &cx) == -EINVAL);
	edo_interval_tick_start(&second, &interval);
	CHECK(edo_future_poll(&second.future, &cx) == EDO_PENDING);
	edo_future_drop(&first.future); /* again: not the other's wait */
	CHECK(waker.clones == 1);
	edo_future_drop(&second.future);
	CHECK(edo_interval_tick(&interval, &at) == 0);
	CHECK(at == EDO_MS(10) && edo_now() == EDO_MS(10));
	edo_interval_drop(&interval);
	edo_interval_drop(&interval);
	return 0;
}

static void a_dropped_wait_loses_no_tick(void **state)
{
	(void)state;
	in_paused_runtime(drops_a_wait, NULL);
}

static int resets(void *arg)
{
	edo_interval interval;
	edo_instant at;

	(void)arg;
	CHECK(edo_interval_init(&interval, 0, EDO_MS(10), EDO_MISSED_BURST) == 0);
	CHECK(edo_interval_tick(&interval, &at) == 0 && at == 0);
	CHECK(edo_sleep(EDO_MS(7)) == 0);
	CHECK(edo_interval_reset(&interval) == 0);
	CHECK(edo_interval_tick(&interval, &at) == 0 && at == EDO_MS(17));
	CHECK(edo_interval_reset_at(&interval, EDO_MS(40)) == 0);
	CHECK(edo_interval_tick(&interval, &at) == 0 && at == EDO_MS(40));
	CHECK(edo_interval_tick(&interval, &at) == 0 && at == EDO_MS(50));
	edo_interval_drop(&interval);
	return 0;
}

static void a_reset_plans_the_next_tick_anew(void **state)
{
	(void)state;
	in_paused_runtime(resets, NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pitfall_p25_periods_count_from_the_instant_planned),
	cmocka_unit_test(burst_catches_up_with_what_was_missed),
	cmocka_unit_test(delay_starts_a_new_grid_at_the_late_tick),
	cmocka_unit_test(delay_keeps_its_grid_when_a_tick_is_only_usually_late),
	cmocka_unit_test(skip_goes_on_at_the_next_multiple),
	cmocka_unit_test(a_ticks_future_says_what_it_came_to),
	cmocka_unit_test(a_period_of_nothing_is_an_error),
	cmocka_unit_test(a_period_of_1_ns_is_served_as_fast_as_ticks_go),
	cmocka_unit_test(pitfall_p08_no_sum_of_an_interval_overflows),
	cmocka_unit_test(pitfall_p15_a_ready_interval_leaves_no_wake_behind),
	cmocka_unit_test(a_dropped_wait_loses_no_tick),
	cmocka_unit_test(a_reset_plans_the_next_tick_anew),
};

EDO_TEST_MAIN(tests)
