/* The first of several futures, in every place where one can wait for it. */
#include "rig.h"
#include "support/allocations.h"

enum { MANY = 100 };

static edo_runtime *runtime;

static int begin(void **state)
{
	(void)state;
	runtime = paused_runtime(1);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	runtime_end(runtime);
	return 0;
}

/* ---- the winner ---- */

struct choice {
	struct gate gates[MANY];
	edo_future *futures[MANY];
	size_t n;
};

static void choice_init(struct choice *choice, size_t n)
{
	choice->n = n;
	for (size_t i = 0; i < n; i++) {
		gate_init(&choice->gates[i]);
		choice->futures[i] = &choice->gates[i].future;
	}
}

static int selects(void *arg)
{
	struct choice *choice = arg;

	return edo_select(choice->futures, choice->n);
}

static void one_of_so_many_wins(size_t n, size_t winner)
{
	struct choice choice;
	edo_task *task;
	int result = -1;

	choice_init(&choice, n);
	assert_int_equal(edo_spawn_fiber(runtime, selects, &choice, 0, &task), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_false(edo_task_is_finished(task));
	gate_open(&choice.gates[winner]);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, winner);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(choice.gates[i].drops, 1);
}

static void the_first_that_is_ready_wins_however_many_there_are(void **state)
{
	static const size_t counts[] = { 1, 2, 3, 4, 5, MANY };

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		one_of_so_many_wins(counts[i], 0);
		one_of_so_many_wins(counts[i], counts[i] / 2);
		one_of_so_many_wins(counts[i], counts[i] - 1);
	}
}

/* Either answer can be told from an error of the select. */
static int reads_what_the_winner_said(void *arg)
{
	struct scripted never = ready_at(0, 0), fails = ready_at(1, -EPIPE);
	edo_future *either[] = { &never.future, &fails.future };
	edo_select_future select;

	(void)arg;
	CHECK(edo_await(edo_select_start(&select, either, 2)) == 1);
	CHECK(select.winner == 1 && select.result == -EPIPE);
	return 0;
}

static void an_error_of_the_winner_is_none_of_the_select(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, reads_what_the_winner_said, NULL), 0);
}

static int selects_with_gaps(void *arg)
{
	(void)arg;
	for (int i = 0; i < 50; i++) {
		struct scripted never = ready_at(0, 0), ready = ready_at(1, 7);
		edo_future *with_gaps[] = { NULL, &never.future, NULL, &ready.future, NULL, NULL };

		CHECK(edo_select(with_gaps, 4) == 3);
		ready = ready_at(1, 7);
		CHECK(edo_select(with_gaps, 6) == 3);
		CHECK(never.drops == 2 && ready.drops == 1);
	}
	return 0;
}

static void entries_that_are_null_are_skipped(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, selects_with_gaps, NULL), 0);
}

static int selects_nothing(void *arg)
{
	edo_future *none[] = { NULL, NULL, NULL, NULL, NULL };
	struct scripted ready = ready_at(1, 0), unstarted = { .future = { NULL } };
	edo_future *unsound[] = { &ready.future, &unstarted.future };
	edo_select_future select;

	(void)arg;
	CHECK(edo_select(none, 0) == -EINVAL);
	CHECK(edo_select(NULL, 0) == -EINVAL);
	CHECK(edo_select(NULL, 2) == -EINVAL);
	CHECK(edo_select(none, 2) == -EINVAL);
	CHECK(edo_select(none, 5) == -EINVAL);
	CHECK(edo_select_in_order(none, 5) == -EINVAL);
	CHECK(edo_select_until(none, 2, EDO_FOREVER) == -EINVAL);
	CHECK(edo_select(none, (size_t)INT_MAX + 1) == -EINVAL);
	CHECK(edo_select(unsound, 2) == -EINVAL);
	CHECK(ready.polls == 0 && ready.drops == 1);
	CHECK(edo_await(edo_select_start(&select, none, 2)) == -EINVAL);
	CHECK(select.result == -EINVAL && select.winner == -EINVAL);
	return 0;
}

static void nothing_to_wait_for_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, selects_nothing, NULL), 0);
}

static int selects_one_twice(void *arg)
{
	(void)arg;
	for (int i = 0; i < 50; i++) {
		struct scripted never = ready_at(0, 0), twice = ready_at(1, 7);
		edo_future *futures[] = { &never.future, &twice.future, &never.future,
					  &twice.future, &twice.future };

		CHECK(edo_select(futures, 4) == 1);
		twice = ready_at(1, 7);
		CHECK(edo_select(futures, 5) == 1);
		CHECK(twice.polls == 1);
	}
	return 0;
}

static void a_future_that_is_there_twice_wins_where_it_stands_first(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, selects_one_twice, NULL), 0);
}

static int waits_twice_for_one_task(void *arg)
{
	edo_task_wait_future first, second;
	edo_future *both[] = { edo_task_wait_start(&first, arg),
			       edo_task_wait_start(&second, arg) };
	int which = edo_select(both, 2);

	CHECK(which == 0 || which == 1);
	CHECK((which == 0 ? first : second).fate == -EBUSY);
	CHECK((which == 0 ? first : second).result == -EBUSY);
	CHECK((which == 0 ? second : first).fate == 0);
	return 0;
}

static void of_two_waits_for_one_thing_the_busy_one_wins_and_says_so(void **state)
{
	struct gate gate;
	edo_task *task;

	(void)state;
	gate_init(&gate);
	assert_int_equal(edo_spawn_fiber(runtime, fiber_awaits_gate, &gate, 0, &task), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(run_on(runtime, waits_twice_for_one_task, task), 0);
	gate_open(&gate);
	assert_int_equal(edo_task_join(task, NULL), 0);
}

static int selects_in_order(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++) {
		struct scripted never = ready_at(0, 0), a = ready_at(1, 0), b = ready_at(1, 0);
		edo_future *futures[] = { &never.future, &a.future, &b.future };

		CHECK(edo_select_in_order(futures, 3) == 1);
		CHECK(b.polls == 0 && b.drops == 1);
	}
	return 0;
}

static void in_order_the_lower_index_wins_every_time(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, selects_in_order, NULL), 0);
}

/* ---- what becomes of the losers ---- */

static int polls_by_hand(void *arg)
{
	struct scripted lost = ready_at(0, 0), won = ready_at(2, 7);
	edo_future *either[] = { &lost.future, &won.future };
	edo_context cx = context_of_nobody();
	edo_select_future select;

	(void)arg;
	edo_select_start(&select, either, 2);
	CHECK(edo_future_poll(&select.future, &cx) == EDO_PENDING);
	CHECK(lost.drops == 0 && won.drops == 0);
	CHECK(edo_future_poll(&select.future, &cx) == 1);
	CHECK(lost.drops == 1 && won.drops == 1); /* before anything else can happen */
	edo_future_drop(&select.future);
	edo_future_drop(&select.future);
	CHECK(lost.drops == 1 && won.drops == 1); /* they may wait for something else by now */
	CHECK(edo_future_poll(&select.future, &cx) == -EINVAL);
	return 0;
}

static void all_are_dropped_in_the_poll_that_decides_and_never_again(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, polls_by_hand, NULL), 0);
}

static int drops_by_hand(void *arg)
{
	struct scripted scripted[5];
	edo_future *futures[5];
	edo_context cx = context_of_nobody();
	edo_select_future select;

	(void)arg;
	for (size_t n = 2; n <= 5; n += 3) {
		never_ready_ones(scripted, futures, 5);
		edo_select_start(&select, futures, n);
		edo_future_drop(&select.future); /* never polled */
		CHECK(scripted[0].drops == 1 && scripted[n - 1].drops == 1);
		edo_select_start(&select, futures, n);
		CHECK(edo_future_poll(&select.future, &cx) == EDO_PENDING);
		edo_future_drop(&select.future);
		edo_future_drop(&select.future);
		CHECK(scripted[0].drops == 2 && scripted[n - 1].drops == 2);
	}
	return 0;
}

static void dropped_in_any_state_it_drops_all(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, drops_by_hand, NULL), 0);
}

static int selects_and_is_cut(void *arg)
{
	struct choice *choice = arg;

	CHECK(edo_select(choice->futures, choice->n) == -ECANCELED);
	CHECK(edo_select(choice->futures, choice->n) == -ECANCELED); /* does not begin any more */
	CHECK(edo_select_until(choice->futures, choice->n, 0) == -ECANCELED);
	return 0;
}

static void a_select_that_is_cut_drops_all(void **state)
{
	struct choice choice;
	edo_task *task;
	int result = -1;

	(void)state;
	choice_init(&choice, 5);
	assert_int_equal(edo_spawn_fiber(runtime, selects_and_is_cut, &choice, 0, &task), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	edo_task_abort(task);
	assert_int_equal(edo_task_join(task, &result), 0);
	assert_int_equal(result, 0);
	for (size_t i = 0; i < choice.n; i++) {
		assert_int_equal(choice.gates[i].polls, 1);
		assert_int_equal(choice.gates[i].drops, 3);
	}
}

static int beats_and_waits(void *arg)
{
	struct scripted wins = ready_at(2, 0);
	edo_interval_future tick;
	edo_interval interval;
	edo_instant start = edo_now(), at;
	edo_timer timer;

	(void)arg;
	CHECK(edo_interval_init(&interval, start + EDO_MS(10), EDO_MS(10), EDO_MISSED_BURST) == 0);
	edo_timer_init(&timer, start + EDO_MS(5));
	for (int i = 0; i < 20; i++) {
		edo_future *futures[] = { edo_interval_tick_start(&tick, &interval), &wins.future,
					  &timer.future };
		edo_context cx = context_of_nobody();
		edo_select_future select;

		wins = ready_at(2, 0);
		edo_select_in_order_start(&select, futures, 3);
		CHECK(edo_future_poll(&select.future, &cx) == EDO_PENDING);
		CHECK(edo_future_poll(&select.future, &cx) == 1);
		CHECK(!edo_timer_has_fired(&timer));
	}
	CHECK(edo_await(&timer.future) == 0 && edo_now() == start + EDO_MS(5));
	CHECK(edo_interval_tick(&interval, &at) == 0);
	CHECK(at == start + EDO_MS(10) && edo_now() == at);
	edo_interval_drop(&interval);
	return 0;
}

static void timers_and_intervals_that_lost_keep_their_time(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, beats_and_waits, NULL), 0);
}

/* Program 5's loop: a tick that cannot come must not read as one that has. */
static int beats_without_time(void *arg)
{
	struct scripted never = ready_at(0, 0);
	edo_interval_future tick;
	edo_interval interval;
	edo_future *either[] = { &never.future, edo_interval_tick_start(&tick, &interval) };

	(void)arg;
	CHECK(edo_interval_init(&interval, 0, EDO_SEC(1), EDO_MISSED_SKIP) == 0);
	CHECK(edo_select(either, 2) == 1);
	CHECK(tick.result == -EOPNOTSUPP);
	edo_interval_drop(&interval);
	return 0;
}

static void a_tick_that_cannot_come_says_so(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *timeless;

	(void)state;
	config.disable_time = true;
	timeless = runtime_with(&config);
	assert_int_equal(run_on(timeless, beats_without_time, NULL), 0);
	runtime_end(timeless);
}

/* ---- where it waits ---- */

struct stackless {
	edo_async async;
	edo_select_future select;
	edo_join_all_future join;
	int results[2];
	struct gate *gates;
	int seen;
};

static edo_poll stackless_poll(edo_future *future, edo_context *cx)
{
	struct stackless *me = edo_container_of(future, struct stackless, async.future);
	edo_future *both[2] = { NULL, NULL }; /* gone at each await */

	EDO_BEGIN(me, cx);
	both[0] = &me->gates[0].future;
	both[1] = &me->gates[1].future;
	EDO_AWAIT(edo_select_start(&me->select, both, 2));
	me->seen = me->async.result;
	both[0] = &me->gates[0].future;
	both[1] = &me->gates[1].future;
	EDO_AWAIT(edo_join_all_start(&me->join, both, 2, me->results));
	if (me->async.result < 0)
		EDO_RETURN(me->async.result);
	EDO_END(me->seen);
}

static void stackless_drop(edo_future *future)
{
	edo_async_drop(&edo_container_of(future, struct stackless, async.future)->async);
}

EDO_FUTURE_OPS(stackless_ops, struct stackless, async.future, stackless_poll, stackless_drop);

static void an_array_in_a_stackless_tasks_frame_will_do(void **state)
{
	struct stackless task = { .async = EDO_ASYNC(stackless_ops) };
	struct gate gates[2];
	edo_task *handle;
	int result = -1;

	(void)state;
	gate_init(&gates[0]);
	gate_init(&gates[1]);
	task.gates = gates;
	assert_int_equal(edo_spawn(runtime, &task.async.future, &handle), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	gate_open(&gates[1]);
	run_on(runtime, fiber_does_nothing, NULL);
	assert_false(edo_task_is_finished(handle));
	gate_open(&gates[0]);
	assert_int_equal(edo_task_join(handle, &result), 0);
	assert_int_equal(result, 1);
}

static void an_aborted_stackless_task_drops_all(void **state)
{
	struct stackless task = { .async = EDO_ASYNC(stackless_ops) };
	struct gate gates[2];
	edo_task *handle;

	(void)state;
	gate_init(&gates[0]);
	gate_init(&gates[1]);
	task.gates = gates;
	assert_int_equal(edo_spawn(runtime, &task.async.future, &handle), 0);
	run_on(runtime, fiber_does_nothing, NULL);
	edo_task_abort(handle);
	assert_int_equal(edo_task_join(handle, NULL), 0);
	assert_int_equal(gates[0].drops, 1);
	assert_int_equal(gates[1].drops, 1);
}

/* Up to four are the select's own, and go where it goes until it is polled. */
static int forgets_the_array(void *arg)
{
	(void)arg;
	for (size_t n = 1; n <= EDO_SELECT_COPIED; n++) {
		edo_context cx = context_of_nobody();
		struct scripted scripted[EDO_SELECT_COPIED];
		edo_future *futures[EDO_SELECT_COPIED];
		edo_select_future original, moved;

		never_ready_ones(scripted, futures, n);
		scripted[n - 1].at = 2;
		edo_select_start(&original, futures, n);
		memset(futures, 0xff, sizeof futures);
		moved = original;
		memset(&original, 0xff, sizeof original);
		CHECK(edo_future_poll(&moved.future, &cx) == EDO_PENDING);
		CHECK(edo_future_poll(&moved.future, &cx) == (int)n - 1);
		CHECK(scripted[0].drops == 1);
	}
	return 0;
}

static void a_short_array_is_copied(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, forgets_the_array, NULL), 0);
}

struct thread {
	pthread_t thread;
	struct choice choice;
	edo_runtime *runtime; /* entered, or NULL */
	int is_waiting, which;
};

static edo_poll says_that_it_waits(struct actor *actor, edo_context *cx)
{
	(void)cx;
	set(actor->arg);
	return EDO_PENDING;
}

static void *selects_in_a_thread(void *arg)
{
	struct thread *thread = arg;
	struct actor says = actor_of(says_that_it_waits, &thread->is_waiting);
	edo_enter_guard guard = { 0 };

	thread->choice.futures[2] = &says.future;
	if (thread->runtime && edo_runtime_enter(thread->runtime, &guard) < 0)
		return NULL;
	thread->which = edo_select(thread->choice.futures, 3);
	edo_runtime_leave(&guard);
	return NULL;
}

static void a_thread_is_woken_by(unsigned winner, edo_runtime *entered)
{
	struct thread thread = { .runtime = entered, .which = -1 };

	choice_init(&thread.choice, 3);
	assert_int_equal(pthread_create(&thread.thread, NULL, selects_in_a_thread, &thread), 0);
	wait_until_set(&thread.is_waiting);
	gate_open(&thread.choice.gates[winner]);
	pthread_join(thread.thread, NULL);
	assert_int_equal(thread.which, winner);
	assert_int_equal(thread.choice.gates[1 - winner].drops, 1);
}

static void plain_threads_select_with_and_without_a_runtime(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		a_thread_is_woken_by(i % 2, NULL);
		a_thread_is_woken_by(i % 2, runtime);
	}
}

static int selects_selects(void *arg)
{
	struct scripted never[] = { ready_at(0, 0), ready_at(0, 0), ready_at(0, 0) };
	struct scripted ready = ready_at(3, 7);
	edo_future *left[] = { &never[0].future, &ready.future };
	edo_future *right[] = { &never[1].future, &never[2].future };
	edo_select_future inner_left, inner_right;
	edo_context cx = context_of_nobody();
	edo_select_future outer;
	edo_future *sides[] = { edo_select_start(&inner_right, right, 2),
				edo_select_start(&inner_left, left, 2) };

	(void)arg;
	edo_select_start(&outer, sides, 2);
	CHECK(edo_future_poll(&outer.future, &cx) == EDO_PENDING);
	CHECK(edo_future_poll(&outer.future, &cx) == EDO_PENDING);
	CHECK(edo_future_poll(&outer.future, &cx) == 1);
	CHECK(outer.result == 1 && inner_left.winner == 1 && inner_left.result == 7);
	CHECK(never[0].drops == 1 && never[1].drops == 1 && never[2].drops == 1);
	CHECK(ready.drops == 1);
	return 0;
}

static void selects_nest(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, selects_selects, NULL), 0);
}

static edo_poll selects_in_a_poll(struct actor *actor, edo_context *cx)
{
	struct scripted *ready = actor->arg;
	edo_future *futures[] = { &ready->future };

	(void)cx;
	return edo_select(futures, 1);
}

static int awaits_a_poll_that_selects(void *arg)
{
	struct scripted ready = ready_at(1, 0);
	struct actor actor = actor_of(selects_in_a_poll, &ready);

	(void)arg;
	CHECK(edo_await(&actor.future) == -EDEADLK);
	CHECK(ready.polls == 0 && ready.drops == 1);
	return 0;
}

static void a_select_inside_a_poll_is_a_deadlock_told(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, awaits_a_poll_that_selects, NULL), 0);
}

/* ---- budget, memory ---- */

static int sets_a_flag(void *arg)
{
	set(arg);
	return 0;
}

static int selects_what_is_always_ready(void *arg)
{
	int has_run = 0;
	int turns = 0;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, sets_a_flag, &has_run, 0, NULL) == 0);
	while (!__atomic_load_n(&has_run, __ATOMIC_ACQUIRE) && turns < 10000) {
		struct scripted ready = ready_at(1, 0), never = ready_at(0, 0);
		edo_future *either[] = { &ready.future, &never.future };

		CHECK(edo_select(either, 2) == 0);
		turns++;
	}
	CHECK(turns <= 2 * 128);
	return 0;
}

/* S1. */
static void a_select_that_is_always_ready_lets_others_run(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, selects_what_is_always_ready, NULL), 0);
}

/* It has work at each poll, and takes the whole budget for it. */
static edo_poll spends_all(struct actor *actor, edo_context *cx)
{
	while (edo_coop_spend(cx))
		actor->n++;
	return EDO_PENDING;
}

static int selects_beside_a_spender(void *arg)
{
	struct actor spender = actor_of(spends_all, NULL);
	edo_timer timer;
	edo_future *either[] = { &spender.future, &timer.future };

	(void)arg;
	edo_timer_init(&timer, 0);
	CHECK(edo_select(either, 2) == 1);
	CHECK(spender.n < 128 * 100);
	return 0;
}

static void a_branch_that_spends_all_budget_does_not_starve_the_others(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, selects_beside_a_spender, NULL), 0);
}

static int counts_allocations(void *arg)
{
	struct choice *choice = arg;
	uint64_t made = edo_test_allocations_made();

	CHECK(edo_select_until(choice->futures, MANY, EDO_MS(1)) == -ETIMEDOUT);
	CHECK(edo_select_until(choice->futures, 2, edo_now() + EDO_MS(1)) == -ETIMEDOUT);
	gate_open(&choice->gates[0]);
	CHECK(edo_select(choice->futures, MANY) == 0);
	CHECK(edo_select_in_order(choice->futures, 2) == 0);
	CHECK(edo_test_allocations_made() == made);
	return 0;
}

static void nothing_is_allocated(void **state)
{
	struct choice choice;

	(void)state;
	choice_init(&choice, MANY);
	assert_int_equal(run_on(runtime, counts_allocations, &choice), 0);
}

/* ---- until ---- */

static int selects_until(void *arg)
{
	struct scripted never[2];
	edo_future *futures[2];
	edo_timer timer;
	edo_future *timed[] = { &never[0].future, &timer.future };
	edo_instant start = edo_now();

	(void)arg;
	never_ready_ones(never, futures, 2);
	CHECK(edo_select_until(futures, 2, start + EDO_MS(20)) == -ETIMEDOUT);
	CHECK(edo_now() == start + EDO_MS(20));
	CHECK(never[0].drops == 1 && never[1].drops == 1);
	edo_timer_init(&timer, start + EDO_MS(30));
	CHECK(edo_select_until(timed, 2, EDO_FOREVER) == 1);
	CHECK(edo_now() == start + EDO_MS(30));
	edo_timer_init(&timer, start + EDO_MS(40));
	CHECK(edo_select_until(timed, 2, start + EDO_MS(40)) == 1); /* both: what is ready wins */
	CHECK(edo_now() == start + EDO_MS(40));
	return 0;
}

static void until_its_instant_it_waits_and_no_longer(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, selects_until, NULL), 0);
}

static int looks_only(void *arg)
{
	struct scripted never = ready_at(0, 0), other = ready_at(0, 0);
	edo_future *either[] = { &never.future, &other.future };
	edo_instant start;

	(void)arg;
	CHECK(edo_advance(EDO_SEC(1) + EDO_US(300)) == 0); /* between two ticks */
	start = edo_now();
	CHECK(edo_select_until(either, 2, 0) == -ETIMEDOUT);
	CHECK(never.polls == 1 && other.polls == 1 && never.drops == 1 && other.drops == 1);
	CHECK(edo_select_until(either, 2, EDO_MS(5)) == -ETIMEDOUT);
	CHECK(edo_select_until(either, 2, start - 1) == -ETIMEDOUT);
	CHECK(edo_select_until(either, 2, start) == -ETIMEDOUT);
	CHECK(never.polls == 4 && other.polls == 4);
	CHECK(edo_now() == start);
	other.at = 5;
	CHECK(edo_select_until(either, 2, 0) == 1);
	other = ready_at(1, 0);
	CHECK(edo_select_until(either, 2, start - 1) == 1);
	CHECK(other.drops == 1 && edo_now() == start);
	return 0;
}

static void until_a_moment_that_has_passed_it_looks_and_does_not_wait(void **state)
{
	(void)state;
	assert_int_equal(run_on(runtime, looks_only, NULL), 0);
}

/* A time-out that was begun in a thread outside, on whose runtime it is polled. */
static void until_is_on_the_clock_of_the_runtime_that_polls(void **state)
{
	struct scripted never = ready_at(0, 0), ready = ready_at(1, 5);
	edo_future *futures[] = { &never.future };
	edo_select_future select;
	edo_timeout_future timeout;
	edo_enter_guard guard;

	(void)state;
	assert_int_equal(edo_select_until(futures, 1, 0), -EINVAL); /* whose clock? */
	futures[0] = &ready.future;
	assert_int_equal(edo_select_until(futures, 1, 0), 0); /* but what is ready wins */
	futures[0] = &never.future;
	edo_timeout_until_start(&timeout, EDO_MS(50), edo_select_start(&select, futures, 1));
	assert_int_equal(edo_runtime_enter(runtime, &guard), 0);
	assert_int_equal(edo_await(&timeout.future), -ETIMEDOUT);
	assert_int_equal(timeout.result, -ETIMEDOUT);
	assert_int_equal(edo_now(), EDO_MS(50));
	never = ready_at(0, 0);
	assert_int_equal(edo_timeout_until(EDO_MS(70), &never.future), -ETIMEDOUT);
	assert_int_equal(edo_now(), EDO_MS(70));
	edo_runtime_leave(&guard);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RUNTIME(the_first_that_is_ready_wins_however_many_there_are),
	WITH_RUNTIME(an_error_of_the_winner_is_none_of_the_select),
	WITH_RUNTIME(entries_that_are_null_are_skipped),
	WITH_RUNTIME(nothing_to_wait_for_is_an_error),
	WITH_RUNTIME(a_future_that_is_there_twice_wins_where_it_stands_first),
	WITH_RUNTIME(of_two_waits_for_one_thing_the_busy_one_wins_and_says_so),
	WITH_RUNTIME(in_order_the_lower_index_wins_every_time),
	WITH_RUNTIME(all_are_dropped_in_the_poll_that_decides_and_never_again),
	WITH_RUNTIME(dropped_in_any_state_it_drops_all),
	WITH_RUNTIME(a_select_that_is_cut_drops_all),
	WITH_RUNTIME(timers_and_intervals_that_lost_keep_their_time),
	WITH_RUNTIME(a_tick_that_cannot_come_says_so),
	WITH_RUNTIME(an_array_in_a_stackless_tasks_frame_will_do),
	WITH_RUNTIME(an_aborted_stackless_task_drops_all),
	WITH_RUNTIME(a_short_array_is_copied),
	WITH_RUNTIME(plain_threads_select_with_and_without_a_runtime),
	WITH_RUNTIME(selects_nest),
	WITH_RUNTIME(a_select_inside_a_poll_is_a_deadlock_told),
	WITH_RUNTIME(a_select_that_is_always_ready_lets_others_run),
	WITH_RUNTIME(a_branch_that_spends_all_budget_does_not_starve_the_others),
	WITH_RUNTIME(nothing_is_allocated),
	WITH_RUNTIME(until_its_instant_it_waits_and_no_longer),
	WITH_RUNTIME(until_a_moment_that_has_passed_it_looks_and_does_not_wait),
	WITH_RUNTIME(until_is_on_the_clock_of_the_runtime_that_polls),
};

EDO_TEST_MAIN(tests)
