/* The stackless macros: awaits in loops, ifs and switches; every way out; and the coop budget (S1). */
#include "rig.h"
#include <errno.h>
#include <string.h>

/* What the tasks await: pending so many times, then ready with a value. */
struct step {
	edo_future future;
	int pending_polls;
	edo_poll value;
	unsigned polls, drops;
};

static edo_poll step_poll(edo_future *future, edo_context *cx)
{
	struct step *step = edo_container_of(future, struct step, future);

	step->polls++;
	if (step->pending_polls-- > 0) {
		edo_waker_wake_by_ref(cx->waker);
		return EDO_PENDING;
	}
	return step->value;
}

static void step_drop(edo_future *future)
{
	edo_container_of(future, struct step, future)->drops++;
}

EDO_FUTURE_OPS(step_ops, struct step, future, step_poll, step_drop);

static edo_future *step_start(struct step *step, int pending_polls, edo_poll value)
{
	*step = (struct step){ .future = { &step_ops },
			       .pending_polls = pending_polls,
			       .value = value };
	return &step->future;
}

static struct rig rig;
static struct edo_task *task;
static char trace[256];
static unsigned dropped;

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig);
	trace[0] = '\0';
	dropped = 0;
	return 0;
}

static int finish(void **state)
{
	(void)state;
	rig_end(&rig);
	return 0;
}

static void say(const char *text)
{
	strcat(trace, text);
}

struct walker {
	edo_async async;
	struct step step;
	struct step *outer; /* not the walker's */
	int i, kind, sum;
};

static void walker_drop(edo_future *future)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	edo_async_drop(&me->async);
	edo_async_drop(&me->async);
	dropped++;
}

static edo_poll loops_poll(edo_future *future, edo_context *cx)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	EDO_BEGIN(me, cx);
	for (me->i = 0; me->i < 3; me->i++) {
		EDO_AWAIT(step_start(&me->step, me->i, me->i * 10));
		me->sum += me->async.result;
		say("l");
	}
	while (me->i-- > 0) {
		if (me->i % 2) {
			EDO_AWAIT(step_start(&me->step, 1, 1));
			say("i");
		} else {
			EDO_AWAIT(step_start(&me->step, 0, 2));
			say("e");
		}
		me->sum += me->async.result;
	}
	EDO_END(me->sum);
}

EDO_FUTURE_OPS(loops_ops, struct walker, async.future, loops_poll, walker_drop);

static void awaits_may_stand_in_loops_and_ifs(void **state)
{
	struct walker walker = { .async = EDO_ASYNC(loops_ops) };

	(void)state;
	task = rig_spawn(&rig, &walker.async.future);
	rig_run(&rig);
	assert_true(edo_task_is_finished(task));
	assert_string_equal(trace, "llleie");
	assert_int_equal(task->result, 30 + 2 + 1 + 2);
	assert_int_equal(dropped, 1);
	edo_task_detach(task);
}

static edo_poll switch_poll(edo_future *future, edo_context *cx)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	EDO_BEGIN(me, cx);
	for (me->kind = 0; me->kind < 4; me->kind++) {
		switch (me->kind) {
		case 0:
			EDO_AWAIT(step_start(&me->step, 2, 5));
			say("0");
			break;
		case 1:
			EDO_AWAIT(step_start(&me->step, 0, -EPIPE));
			assert_int_equal(me->async.result, -EPIPE);
			say("1");
			__attribute__((fallthrough));
		case 2:
			EDO_AWAIT(step_start(&me->step, 1, 7));
			say("2");
			break;
		default:
			EDO_RETURN(99);
		}
	}
	say("never");
	EDO_END(0);
}

EDO_FUTURE_OPS(switch_ops, struct walker, async.future, switch_poll, walker_drop);

static void awaits_may_stand_in_the_users_own_switch(void **state)
{
	struct walker walker = { .async = EDO_ASYNC(switch_ops) };

	(void)state;
	task = rig_spawn(&rig, &walker.async.future);
	rig_run(&rig);
	assert_string_equal(trace, "0122");
	assert_int_equal(task->result, 99);
	edo_task_detach(task);
}

static edo_poll waits_poll(edo_future *future, edo_context *cx)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	EDO_BEGIN(me, cx);
	EDO_AWAIT(&me->outer[0].future);
	EDO_AWAIT(&me->outer[1].future);
	EDO_END(me->async.result);
}

EDO_FUTURE_OPS(waits_ops, struct walker, async.future, waits_poll, walker_drop);

static void each_wait_is_dropped_once_with_its_result(void **state)
{
	struct step steps[2];
	struct walker walker = { .outer = steps };

	(void)state;
	edo_async_init(&walker.async, &waits_ops);
	step_start(&steps[0], 1, 3);
	step_start(&steps[1], 1, 4);
	task = rig_spawn(&rig, &walker.async.future);
	rig_run(&rig);
	assert_int_equal(task->result, 4);
	assert_int_equal(steps[0].polls, 2);
	assert_int_equal(steps[0].drops, 1);
	assert_int_equal(steps[1].drops, 1);
	edo_task_detach(task);
}

static void aborted_in_a_wait_that_wait_is_dropped_once(void **state)
{
	struct step steps[2];
	struct walker walker = { .async = EDO_ASYNC(waits_ops), .outer = steps };

	(void)state;
	step_start(&steps[0], 0, 3);
	step_start(&steps[1], 1000000, 4);
	task = rig_spawn(&rig, &walker.async.future);
	for (int i = 0; i < 3; i++)
		rig_run_one(&rig);
	assert_int_equal(steps[1].drops, 0);
	edo_task_abort(task);
	rig_run(&rig);
	assert_int_equal(task->result, -ECANCELED);
	assert_int_equal(steps[0].drops, 1);
	assert_int_equal(steps[1].drops, 1);
	assert_int_equal(dropped, 1);
	edo_task_detach(task);
}

/* Stands for a combinator that polls once too often: the end is a place, not a beginning. */
static void polled_after_its_end_it_says_the_same_and_begins_nothing(void **state)
{
	struct counting_waker counting;
	struct step steps[2];
	struct walker walker = { .async = EDO_ASYNC(waits_ops), .outer = steps };
	edo_context cx;

	(void)state;
	counting_waker_init(&counting);
	cx = counting_context(&counting);
	step_start(&steps[0], 0, 3);
	step_start(&steps[1], 0, 4);
	assert_int_equal(edo_future_poll(&walker.async.future, &cx), 4);
	assert_int_equal(edo_future_poll(&walker.async.future, &cx), 4);
	assert_int_equal(steps[0].polls, 1);
	assert_int_equal(steps[1].polls, 1);
	edo_future_drop(&walker.async.future);
}

static void dropped_before_its_first_poll_there_is_nothing_to_drop(void **state)
{
	struct walker walker = { .async = EDO_ASYNC(waits_ops) };

	(void)state;
	edo_future_drop(&walker.async.future);
	assert_int_equal(dropped, 1);
}

/* Until its first poll a future may be moved. */
static void a_stackless_task_may_be_moved_until_it_is_polled(void **state)
{
	struct walker walker = { .async = EDO_ASYNC(loops_ops) };
	struct walker moved = walker;

	(void)state;
	memset(&walker, 0xff, sizeof walker);
	task = rig_spawn(&rig, &moved.async.future);
	memset(&moved, 0xff, sizeof moved);
	rig_run(&rig);
	assert_int_equal(task->result, 35);
	edo_task_detach(task);
}

/* ---- the budget ---- */

static unsigned rounds;

static edo_poll always_ready(struct puppet *self, edo_context *cx)
{
	(void)self;
	while (edo_coop_spend(cx))
		rounds++;
	return EDO_PENDING;
}

static void a_task_that_never_runs_out_of_work_is_cut_at_128(void **state)
{
	struct puppet_log log;
	struct puppet puppet;

	(void)state;
	rounds = 0;
	puppet_init(&puppet, &log, always_ready);
	task = rig_spawn(&rig, &puppet.future);
	assert_true(rig_run_one(&rig));
	assert_int_equal(rounds, 128);
	assert_int_equal(rig.deferred[EDO_DEFER_YIELD], 1); /* behind all that is ready */
	assert_true(rig_run_one(&rig));
	assert_int_equal(rounds, 256);
	edo_task_abort(task);
	rig_run(&rig);
	edo_task_detach(task);
}

static void a_refunded_unit_can_be_spent_again(void **state)
{
	struct counting_waker counting;
	edo_context cx;

	(void)state;
	counting_waker_init(&counting);
	cx = counting_context(&counting);
	for (int i = 0; i < 1000; i++) {
		assert_true(edo_coop_spend(&cx));
		edo_coop_refund(&cx);
	}
	for (int i = 0; i < 128; i++)
		assert_true(edo_coop_spend(&cx));
	assert_int_equal(counting_wakes(&counting), 0);
	assert_false(edo_coop_spend(&cx));
	assert_int_equal(counting_wakes(&counting), 1);
}

static void yield_gives_way_once_through_the_deferred(void **state)
{
	struct counting_waker counting;
	edo_yield_future yield;
	edo_context cx;

	(void)state;
	counting_waker_init(&counting);
	cx = counting_context(&counting);
	edo_yield_start(&yield);
	assert_int_equal(edo_future_poll(&yield.future, &cx), EDO_PENDING);
	assert_int_equal(cx.edo_reserved_, EDO_DEFER_YIELD);
	assert_int_equal(counting_wakes(&counting), 1);
	assert_int_equal(edo_future_poll(&yield.future, &cx), EDO_READY);
	edo_future_drop(&yield.future);
	edo_future_drop(&yield.future);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RIG(awaits_may_stand_in_loops_and_ifs),
	WITH_RIG(awaits_may_stand_in_the_users_own_switch),
	WITH_RIG(each_wait_is_dropped_once_with_its_result),
	WITH_RIG(aborted_in_a_wait_that_wait_is_dropped_once),
	WITH_RIG(polled_after_its_end_it_says_the_same_and_begins_nothing),
	WITH_RIG(dropped_before_its_first_poll_there_is_nothing_to_drop),
	WITH_RIG(a_stackless_task_may_be_moved_until_it_is_polled),
	WITH_RIG(a_task_that_never_runs_out_of_work_is_cut_at_128),
	WITH_RIG(a_refunded_unit_can_be_spent_again),
	WITH_RIG(yield_gives_way_once_through_the_deferred),
};

EDO_TEST_MAIN(tests)
