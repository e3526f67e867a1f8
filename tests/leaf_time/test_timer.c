#include "rig.h"
#include "support/allocations.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int moves_it(void *arg)
{
	edo_timer timer;
	edo_instant start = edo_now();

	(void)arg;
	edo_timer_init(&timer, start + EDO_SEC(5));
	CHECK(edo_timer_reset(&timer, start + EDO_MS(20)) == 0);
	CHECK(edo_timer_deadline(&timer) == start + EDO_MS(20));
	CHECK(edo_await(&timer.future) == 0);
	CHECK(edo_now() == start + EDO_MS(20));
	CHECK(edo_timer_has_fired(&timer));
	CHECK(edo_await(&timer.future) == 0);

	CHECK(edo_timer_reset(&timer, start + EDO_MS(30)) == 0);
	CHECK(!edo_timer_has_fired(&timer));
	CHECK(edo_await(&timer.future) == 0);
	CHECK(edo_now() == start + EDO_MS(30));
	edo_timer_drop(&timer);
	CHECK(edo_timer_has_fired(&timer));
	return 0;
}

static void it_fires_where_it_was_last_moved_to(void **state)
{
	(void)state;
	in_paused_runtime(moves_it, NULL);
}

struct moved {
	edo_timer timer;
	edo_instant woken_at;
};

static int awaits_it(void *arg)
{
	struct moved *moved = arg;
	int rc = edo_await(&moved->timer.future);

	moved->woken_at = edo_now();
	return rc;
}

static int moves_what_another_awaits(void *arg)
{
	const edo_instant *deadlines = arg; /* where it is moved to at 1 s, and when it must fire */
	struct moved moved = { .woken_at = 0 };
	edo_task *task;
	int result = -1;

	edo_timer_init(&moved.timer, EDO_SEC(10));
	CHECK(edo_spawn_fiber(NULL, awaits_it, &moved, 0, &task) == 0);
	CHECK(edo_sleep_until(EDO_SEC(1)) == 0);
	CHECK(edo_timer_reset(&moved.timer, deadlines[0]) == 0);
	CHECK(edo_task_join(task, &result) == 0 && result == 0);
	CHECK(moved.woken_at == deadlines[1]);
	return 0;
}

static void who_waits_for_it_keeps_waiting_when_it_is_moved(void **state)
{
	const edo_instant later[] = { EDO_SEC(15), EDO_SEC(15) };
	const edo_instant earlier[] = { EDO_SEC(2), EDO_SEC(2) };

	(void)state;
	in_paused_runtime(moves_what_another_awaits, (void *)(uintptr_t)later);
	in_paused_runtime(moves_what_another_awaits, (void *)(uintptr_t)earlier);
}

static void pitfall_p10_moved_to_the_past_the_wait_ends_at_once(void **state)
{
	const edo_instant past[] = { EDO_MS(500), EDO_SEC(1) };

	(void)state;
	in_paused_runtime(moves_what_another_awaits, (void *)(uintptr_t)past);
}

/* ---- polled by hand, with a waker that is not a task's ---- */

static int polls_by_hand(void *arg)
{
	struct counting_waker waker;
	edo_context cx;
	edo_timer timer;

	(void)arg;
	counting_waker_init(&waker);
	edo_context_init(&cx, &waker.waker);
	edo_timer_init(&timer, edo_now() + EDO_MS(5));
	CHECK(edo_future_poll(&timer.future, &cx) == EDO_PENDING);
	CHECK(waker.clones == 1);
	CHECK(cx.edo_budget_ == 128); /* given back */
	CHECK(edo_sleep(EDO_MS(5)) == 0);
	CHECK(waker.wakes == 1 && waker.clones == 0);
	CHECK(edo_future_poll(&timer.future, &cx) == EDO_READY);
	CHECK(cx.edo_budget_ == 127);
	edo_future_drop(&timer.future);

	edo_timer_init(&timer, edo_now() + EDO_MS(5));
	CHECK(edo_future_poll(&timer.future, &cx) == EDO_PENDING);
	edo_future_drop(&timer.future);
	CHECK(waker.clones == 0);
	edo_future_drop(&timer.future);
	memset(&timer, 0xa5, sizeof timer);
	CHECK(edo_sleep(EDO_MS(50)) == 0);
	CHECK(waker.wakes == 1);
	return 0;
}

static void a_waker_of_the_users_is_woken_once_and_forgotten(void **state)
{
	(void)state;
	in_paused_runtime(polls_by_hand, NULL);
}

static int has_no_budget(void *arg)
{
	struct counting_waker waker;
	edo_context cx;
	edo_timer timer;

	(void)arg;
	counting_waker_init(&waker);
	edo_context_init(&cx, &waker.waker);
	edo_timer_init(&timer, 0);
	cx.edo_budget_ = 0;
	CHECK(edo_future_poll(&timer.future, &cx) == EDO_PENDING);
	CHECK(waker.wakes == 1); /* told to come again */
	edo_context_init(&cx, &waker.waker);
	CHECK(edo_future_poll(&timer.future, &cx) == EDO_READY);
	return 0;
}

static void a_spent_budget_withholds_it_without_losing_it(void **state)
{
	(void)state;
	in_paused_runtime(has_no_budget, NULL);
}

static int drops_before_polling(void *arg)
{
	edo_timer timer, zeros;

	(void)arg;
	edo_timer_init(&timer, EDO_MS(5));
	edo_timer_drop(&timer);
	memset(&zeros, 0, sizeof zeros);
	edo_timer_drop(&zeros);
	CHECK(edo_sleep(EDO_MS(50)) == 0);
	CHECK(!edo_timer_has_fired(&timer));
	CHECK(edo_timer_deadline(&timer) == EDO_MS(5));
	return 0;
}

static void pitfall_p18_dropped_before_it_was_armed_it_never_is(void **state)
{
	(void)state;
	in_paused_runtime(drops_before_polling, NULL);
}

/* ---- of one runtime, on another; after its end ---- */

static int arms(void *arg)
{
	struct counting_waker *waker = ((void **)arg)[0];
	edo_timer *timer = ((void **)arg)[1];
	edo_context cx;

	edo_context_init(&cx, &waker->waker);
	CHECK(edo_future_poll(&timer->future, &cx) == EDO_PENDING);
	return 0;
}

static int uses_a_strangers(void *arg)
{
	edo_timer *timer = ((void **)arg)[1];

	CHECK(edo_await(&timer->future) == -EXDEV || !edo_timer_has_fired(timer));
	return 0;
}

static int resets_a_strangers(void *arg)
{
	edo_timer *timer = ((void **)arg)[1];

	CHECK(edo_timer_reset(timer, EDO_MS(7)) == -EXDEV);
	CHECK(edo_timer_deadline(timer) == EDO_MS(5));
	return uses_a_strangers(arg);
}

static void pitfall_p19_a_timer_of_another_runtime_is_an_error(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	struct counting_waker waker;
	edo_runtime *home, *stranger;
	edo_timer timer;
	void *both[] = { &waker, &timer };

	(void)state;
	config.start_paused = true;
	counting_waker_init(&waker);
	edo_timer_init(&timer, EDO_MS(5));
	start_runtime(&home, config);
	start_runtime(&stranger, config);
	run_on(home, arms, both);
	assert_int_equal(edo_timer_reset(&timer, EDO_MS(9)), -EXDEV); /* no runtime at all */
	run_on(stranger, resets_a_strangers, both);
	edo_timer_drop(&timer);
	assert_int_equal(waker.clones, 0);
	assert_int_equal(edo_runtime_destroy(stranger), 0);
	assert_int_equal(edo_runtime_destroy(home), 0);
}

static int finds_it_shut_down(void *arg)
{
	edo_timer *timer = ((void **)arg)[1];

	CHECK(edo_timer_reset(timer, EDO_MS(9)) == -ESHUTDOWN);
	CHECK(edo_await(&timer->future) == -ESHUTDOWN); /* and the wait is dropped */
	CHECK(edo_timer_reset(timer, EDO_MS(9)) == 0);
	CHECK(edo_await(&timer->future) == 0);
	return 0;
}

static void pitfall_p11_after_its_runtimes_end_a_timer_says_so(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	struct counting_waker waker;
	edo_runtime *runtime;
	edo_timer timer;
	void *both[] = { &waker, &timer };

	(void)state;
	config.start_paused = true;
	counting_waker_init(&waker);
	edo_timer_init(&timer, EDO_MS(5));
	start_runtime(&runtime, config);
	run_on(runtime, arms, both);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
	assert_int_equal(waker.wakes, 1);
	assert_int_equal(waker.clones, 0);
	assert_int_equal(edo_timer_reset(&timer, EDO_MS(9)), -ESHUTDOWN);
	in_paused_runtime(finds_it_shut_down, both);
	edo_timer_drop(&timer);
}

static int copies_it(void *arg)
{
	edo_timer *copy = ((void **)arg)[1];
	struct counting_waker *waker = ((void **)arg)[0];
	edo_timer timer;
	edo_context cx;

	edo_context_init(&cx, &waker->waker);
	edo_timer_init(&timer, EDO_MS(5));
	CHECK(edo_future_poll(&timer.future, &cx) == EDO_PENDING);
	*copy = timer;
	CHECK(edo_future_poll(&copy->future, &cx) == -EINVAL);
	CHECK(edo_timer_reset(copy, EDO_MS(9)) == -EINVAL);
	edo_timer_drop(copy);
	CHECK(edo_future_poll(&timer.future, &cx) == EDO_PENDING);
	CHECK(edo_sleep(EDO_MS(5)) == 0);
	CHECK(edo_timer_has_fired(&timer));
	return 0;
}

static void pitfall_p20_a_timer_that_was_copied_while_armed_is_refused(void **state)
{
	struct counting_waker waker;
	edo_timer copy;
	void *both[] = { &waker, &copy };

	(void)state;
	counting_waker_init(&waker);
	in_paused_runtime(copies_it, both);
	assert_int_equal(waker.clones, 0);
}

static void *drop_it(void *timer)
{
	edo_timer_drop(timer);
	memset(timer, 0xa5, sizeof(edo_timer));
	return NULL;
}

static void another_thread_may_drop_it(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	struct counting_waker waker;
	edo_runtime *runtime;
	edo_timer timer;
	void *both[] = { &waker, &timer };
	pthread_t thread;

	(void)state;
	config.start_paused = true;
	counting_waker_init(&waker);
	edo_timer_init(&timer, EDO_MS(5));
	start_runtime(&runtime, config);
	run_on(runtime, arms, both);
	assert_int_equal(pthread_create(&thread, NULL, drop_it, &timer), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(waker.clones, 0);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
	assert_int_equal(waker.wakes, 0);
}

/* ---- p17: wakers that drop and arm ---- */

struct meddler {
	edo_waker waker;
	edo_timer *victims, *armed;
	edo_context *cx;
	int wakes;
};

static edo_waker meddler_clone(void *data);

static void meddler_wake(void *data)
{
	struct meddler *meddler = data;

	meddler->wakes++;
	for (int i = 0; i < 3; i++)
		edo_timer_drop(&meddler->victims[i]);
	edo_timer_init(meddler->armed, EDO_SEC(2));
	(void)edo_future_poll(&meddler->armed->future, meddler->cx);
}

static void meddler_drop(void *data)
{
	(void)data;
}

static const edo_waker_ops meddler_ops = { meddler_clone, meddler_wake, meddler_wake,
					   meddler_drop };

static edo_waker meddler_clone(void *data)
{
	return (edo_waker){ data, &meddler_ops };
}

static int meddles(void *arg)
{
	struct counting_waker plain;
	edo_context plainly, cx;
	edo_timer first, armed, victims[3];
	struct meddler meddler = { .victims = victims, .armed = &armed, .cx = &plainly };

	(void)arg;
	counting_waker_init(&plain);
	meddler.waker = meddler_clone(&meddler);
	edo_context_init(&plainly, &plain.waker);
	edo_context_init(&cx, &meddler.waker);
	edo_timer_init(&armed, 0);
	edo_timer_init(&first, EDO_SEC(1));
	CHECK(edo_future_poll(&first.future, &cx) == EDO_PENDING);
	for (int i = 0; i < 3; i++) {
		edo_timer_init(&victims[i], EDO_SEC(1) + EDO_MS(i));
		CHECK(edo_future_poll(&victims[i].future, &plainly) == EDO_PENDING);
	}
	CHECK(edo_sleep_until(EDO_SEC(3)) == 0);
	CHECK(meddler.wakes == 1);
	CHECK(edo_timer_has_fired(&armed));
	CHECK(!edo_timer_has_fired(&victims[1]) && !edo_timer_has_fired(&victims[2]));
	CHECK(plain.clones == 0);
	return 0;
}

static void pitfall_p17_a_waker_may_drop_and_arm_timers(void **state)
{
	(void)state;
	in_paused_runtime(meddles, NULL);
}

/* ---- a combinator that never gives way ---- */

static int polls_on_and_on(void *arg)
{
	struct counting_waker waker;
	edo_timer timer;
	edo_context cx;
	edo_poll polled = EDO_PENDING;

	(void)arg;
	counting_waker_init(&waker);
	edo_timer_init(&timer, edo_now() + EDO_MS(2));
	while (polled == EDO_PENDING) { /* the runner ends it if it never does */
		edo_context_init(&cx,
				 &waker.waker); /* a new poll of a task, which no driver sees */
		polled = edo_future_poll(&timer.future, &cx);
	}
	CHECK(polled == EDO_READY);
	CHECK(waker.clones == 0);
	return 0;
}

static void pitfall_p16_a_loop_that_never_yields_sees_its_sleep_end(void **state)
{
	(void)state;
	in_running_runtime(polls_on_and_on, NULL);
}

static int uses_every_timer(void *arg)
{
	edo_interval interval;
	edo_timer timer;
	edo_yield_future yield;
	uint64_t made = edo_test_allocations_made();

	(void)arg;
	edo_timer_init(&timer, EDO_SEC(1));
	CHECK(edo_timer_reset(&timer, EDO_MS(1)) == 0);
	CHECK(edo_await(&timer.future) == 0);
	CHECK(edo_timeout(EDO_SEC(1), edo_yield_start(&yield)) == 0);
	CHECK(edo_timer_reset(&timer, EDO_FOREVER) == 0);
	CHECK(edo_timeout(EDO_SEC(1), &timer.future) == -ETIMEDOUT);
	CHECK(edo_interval_init(&interval, 0, 1, EDO_MISSED_DELAY) == 0);
	for (int i = 0; i < 200; i++)
		CHECK(edo_interval_tick(&interval, NULL) == 0);
	edo_interval_drop(&interval);
	edo_timer_drop(&timer);
	CHECK(edo_test_allocations_made() == made);
	return 0;
}

static void nothing_of_time_allocates(void **state)
{
	(void)state;
	in_paused_runtime(uses_every_timer, NULL);
}

static void a_timer_takes_64_bytes(void **state)
{
	(void)state;
	assert_int_equal(sizeof(edo_timer), 64);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(it_fires_where_it_was_last_moved_to),
	cmocka_unit_test(who_waits_for_it_keeps_waiting_when_it_is_moved),
	cmocka_unit_test(pitfall_p10_moved_to_the_past_the_wait_ends_at_once),
	cmocka_unit_test(a_waker_of_the_users_is_woken_once_and_forgotten),
	cmocka_unit_test(a_spent_budget_withholds_it_without_losing_it),
	cmocka_unit_test(pitfall_p18_dropped_before_it_was_armed_it_never_is),
	cmocka_unit_test(pitfall_p19_a_timer_of_another_runtime_is_an_error),
	cmocka_unit_test(pitfall_p11_after_its_runtimes_end_a_timer_says_so),
	cmocka_unit_test(pitfall_p20_a_timer_that_was_copied_while_armed_is_refused),
	cmocka_unit_test(another_thread_may_drop_it),
	cmocka_unit_test(pitfall_p17_a_waker_may_drop_and_arm_timers),
	cmocka_unit_test(pitfall_p16_a_loop_that_never_yields_sees_its_sleep_end),
	cmocka_unit_test(nothing_of_time_allocates),
	cmocka_unit_test(a_timer_takes_64_bytes),
};

EDO_TEST_MAIN(tests)
