/* A task's life: created, polled, ended, aborted in every state, detached in every state (K2, K3, K4). */
#include "rig.h"
#include "support/allocations.h"
#include <errno.h>
#include <string.h>

static struct rig rig;
static struct puppet_log log_;
static struct puppet puppet;
static struct edo_task *task;

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig);
	puppet_init(&puppet, &log_, NULL);
	return 0;
}

/* K4: dropped exactly once, whatever happened. */
static int finish(void **state)
{
	(void)state;
	edo_waker_drop(&log_.waker);
	rig_end(&rig);
	assert_int_equal(log_.drops, 1);
	return 0;
}

static void spawn(edo_poll (*act)(struct puppet *puppet, edo_context *cx))
{
	puppet_init(&puppet, &log_, act);
	task = rig_spawn(&rig, &puppet.future);
}

static void a_task_that_is_ready_ends_with_its_result(void **state)
{
	(void)state;
	spawn(puppet_ready);
	assert_false(edo_task_is_finished(task));
	rig_run(&rig);
	assert_true(edo_task_is_finished(task));
	assert_int_equal(task->result, EDO_READY);
	assert_int_equal(edo_owned_count(&rig.scheduler.owned), 0);
	assert_int_equal(log_.drops, 1);
	edo_task_detach(task);
}

static void the_future_is_copied_and_can_be_read_after_the_end(void **state)
{
	(void)state;
	spawn(puppet_ready);
	puppet.context = &rig; /* the original is dead */
	assert_ptr_not_equal(edo_task_output(task), &puppet);
	rig_run(&rig);
	assert_null(((struct puppet *)edo_task_output(task))->context);
	assert_ptr_equal(((struct puppet *)edo_task_output(task))->log, &log_);
	edo_task_detach(task);
}

static void aborted_before_its_first_poll_it_is_dropped_unpolled(void **state)
{
	(void)state;
	spawn(NULL);
	edo_task_abort(task);
	edo_task_abort(task);
	assert_int_equal(rig_queued(&rig), 1);
	assert_int_equal(log_.drops,
			 0); /* pitfall p70: a bit and a schedule, never on the caller's side */
	rig_run(&rig);
	assert_int_equal(log_.polls, 0);
	assert_true(edo_task_is_finished(task));
	assert_int_equal(task->result, -ECANCELED);
	edo_task_detach(task);
}

static void pitfall_p70_abort_only_schedules_and_the_handle_may_go_at_once(void **state)
{
	(void)state;
	spawn(puppet_keeps_waker);
	rig_run(&rig);
	edo_task_abort(task);
	assert_int_equal(log_.drops, 0);
	edo_task_detach(task);
	assert_int_equal(rig_run(&rig), 1);
	assert_int_equal(log_.polls, 1);
	assert_int_equal(log_.drops, 1);
}

static edo_poll aborts_itself(struct puppet *self, edo_context *cx)
{
	edo_task_abort(edo_task_of_context(cx));
	edo_task_abort(edo_task_of_context(cx));
	return self->context ? 7 : EDO_PENDING;
}

static void aborted_while_it_runs_it_ends_after_that_poll(void **state)
{
	(void)state;
	spawn(aborts_itself);
	assert_int_equal(rig_run(&rig), 1);
	assert_int_equal(log_.polls, 1);
	assert_int_equal(task->result, -ECANCELED);
	edo_task_detach(task);
}

static void a_result_wins_over_an_abort_in_the_same_poll(void **state)
{
	(void)state;
	puppet_init(&puppet, &log_, aborts_itself);
	puppet.context = &puppet;
	task = rig_spawn(&rig, &puppet.future);
	rig_run(&rig);
	assert_int_equal(task->result, 7);
	edo_task_detach(task);
}

static void aborted_while_notified_it_is_queued_once(void **state)
{
	(void)state;
	spawn(puppet_keeps_waker);
	rig_run(&rig);
	edo_waker_wake_by_ref(&log_.waker);
	edo_task_abort(task);
	edo_waker_wake_by_ref(&log_.waker);
	assert_int_equal(rig_queued(&rig), 1);
	rig_run(&rig);
	assert_int_equal(log_.polls, 1);
	assert_int_equal(task->result, -ECANCELED);
	edo_task_detach(task);
}

static void aborted_after_its_end_it_keeps_its_result(void **state)
{
	(void)state;
	spawn(puppet_ready);
	rig_run(&rig);
	edo_task_abort(task);
	assert_int_equal(rig_queued(&rig), 0);
	assert_int_equal(task->result, EDO_READY);
	edo_task_detach(task);
}

static void detached_before_its_first_poll_it_runs(void **state)
{
	(void)state;
	spawn(puppet_ready);
	edo_task_detach(task);
	rig_run(&rig);
	assert_int_equal(log_.polls, 1);
}

static void detached_while_it_waits_it_runs_on(void **state)
{
	(void)state;
	spawn(puppet_keeps_waker);
	rig_run(&rig);
	edo_task_detach(task);
	edo_waker_wake_by_ref(&log_.waker);
	assert_int_equal(rig_run(&rig), 1);
	assert_int_equal(log_.polls, 2);
}

static edo_poll detaches_itself(struct puppet *self, edo_context *cx)
{
	(void)cx;
	edo_task_detach(self->log->task);
	return EDO_READY;
}

static void detached_while_it_runs_it_goes_on(void **state)
{
	(void)state;
	spawn(detaches_itself);
	rig_run(&rig);
	assert_int_equal(log_.polls, 1);
}

static void no_handle_is_no_matter(void **state)
{
	(void)state;
	edo_task_detach(NULL);
	spawn(puppet_ready);
	edo_task_detach(task);
	rig_run(&rig);
}

static void at_shutdown_idle_and_queued_tasks_are_dropped_where_they_stand(void **state)
{
	(void)state;
	spawn(puppet_keeps_waker);
	rig_run(&rig);
	edo_owned_shut_down(&rig.scheduler.owned);
	assert_int_equal(log_.drops, 1);
	assert_int_equal(edo_owned_count(&rig.scheduler.owned), 0);
	assert_true(edo_task_is_finished(task));
	assert_int_equal(task->result, -ECANCELED);
	edo_task_detach(task);
	assert_int_equal(rig_run(&rig), 0);
}

static void a_task_in_the_queue_at_shutdown_is_dropped_once(void **state)
{
	(void)state;
	spawn(puppet_keeps_waker);
	edo_owned_shut_down(&rig.scheduler.owned);
	assert_int_equal(log_.drops, 1);
	assert_int_equal(rig_run(&rig), 1); /* its notification is used up */
	assert_int_equal(log_.polls, 0);
	edo_task_detach(task);
}

static void after_shutdown_nothing_is_spawned_and_the_future_is_the_callers(void **state)
{
	struct edo_task *none = NULL;

	(void)state;
	edo_owned_shut_down(&rig.scheduler.owned);
	assert_int_equal(edo_task_create(&rig.scheduler, &puppet.future, sizeof puppet, NULL, NULL,
					 &none),
			 -ESHUTDOWN);
	assert_null(none);
	assert_int_equal(log_.drops, 0);
	edo_future_drop(&puppet.future);
}

static void an_allocation_that_fails_leaves_the_future_to_the_caller(void **state)
{
	struct edo_task *none = NULL;

	(void)state;
	edo_test_allocations_fail(0);
	assert_int_equal(edo_task_create(&rig.scheduler, &puppet.future, sizeof puppet, NULL, NULL,
					 &none),
			 -ENOMEM);
	assert_true(edo_test_allocations_failed());
	assert_null(none);
	assert_int_equal(edo_owned_count(&rig.scheduler.owned), 0);
	assert_int_equal(log_.drops, 0);
	edo_future_drop(&puppet.future);
}

static struct edo_task *woken_by_drop;

static void wakes_another(struct puppet *self)
{
	(void)self;
	edo_lock_assert_none();
	edo_task_abort(woken_by_drop);
}

/* p69, T2: a drop function that reaches another task, with no lock of the runtime held. */
static void pitfall_p69_a_drop_function_may_end_another_task(void **state)
{
	struct puppet_log other_log;
	struct puppet other;

	(void)state;
	puppet_init(&other, &other_log, puppet_keeps_waker);
	woken_by_drop = rig_spawn(&rig, &other.future);
	puppet_init(&puppet, &log_, puppet_keeps_waker);
	puppet.on_drop = wakes_another;
	task = rig_spawn(&rig, &puppet.future);
	rig_run(&rig);
	edo_owned_shut_down(&rig.scheduler.owned);
	rig_run(&rig);
	assert_int_equal(other_log.drops, 1);
	edo_waker_drop(&other_log.waker);
	edo_task_detach(woken_by_drop);
	edo_task_detach(task);
}

/* Many tasks ended in another order than they were made in; then the rest at once. */
static void the_owned_list_holds_exactly_what_has_not_ended(void **state)
{
	enum { TASKS = 100 };
	struct puppet_log logs[TASKS];
	struct edo_task *tasks[TASKS];
	unsigned left = TASKS;

	(void)state;
	for (int i = 0; i < TASKS; i++) {
		struct puppet one;

		puppet_init(&one, &logs[i], NULL);
		tasks[i] = rig_spawn(&rig, &one.future);
	}
	rig_run(&rig);
	for (int i = 0; i < TASKS; i += 3) {
		edo_task_abort(tasks[(i * 37) % TASKS]);
		rig_run(&rig);
		assert_int_equal(edo_owned_count(&rig.scheduler.owned), --left);
	}
	edo_owned_shut_down(&rig.scheduler.owned);
	assert_int_equal(edo_owned_count(&rig.scheduler.owned), 0);
	for (int i = 0; i < TASKS; i++) {
		assert_int_equal(logs[i].drops, 1);
		edo_task_detach(tasks[i]);
	}
	edo_future_drop(&puppet.future); /* for the teardown's count */
}

/* The last one gone, the ring is empty and takes a first one again; the ended one's cell still lives. */
static void the_owned_list_can_be_emptied_and_filled_again(void **state)
{
	struct edo_task *ended;

	(void)state;
	spawn(puppet_ready);
	ended = task;
	rig_run(&rig);
	assert_null(rig.scheduler.owned.first);
	spawn(NULL);
	assert_ptr_equal(rig.scheduler.owned.first, task);
	assert_ptr_not_equal(task, ended);
	edo_task_abort(task);
	rig_run(&rig);
	edo_task_detach(task);
	edo_task_detach(ended);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_RIG(a_task_that_is_ready_ends_with_its_result),
	WITH_RIG(the_future_is_copied_and_can_be_read_after_the_end),
	WITH_RIG(aborted_before_its_first_poll_it_is_dropped_unpolled),
	WITH_RIG(pitfall_p70_abort_only_schedules_and_the_handle_may_go_at_once),
	WITH_RIG(aborted_while_it_runs_it_ends_after_that_poll),
	WITH_RIG(a_result_wins_over_an_abort_in_the_same_poll),
	WITH_RIG(aborted_while_notified_it_is_queued_once),
	WITH_RIG(aborted_after_its_end_it_keeps_its_result),
	WITH_RIG(detached_before_its_first_poll_it_runs),
	WITH_RIG(detached_while_it_waits_it_runs_on),
	WITH_RIG(detached_while_it_runs_it_goes_on),
	WITH_RIG(no_handle_is_no_matter),
	WITH_RIG(at_shutdown_idle_and_queued_tasks_are_dropped_where_they_stand),
	WITH_RIG(a_task_in_the_queue_at_shutdown_is_dropped_once),
	WITH_RIG(after_shutdown_nothing_is_spawned_and_the_future_is_the_callers),
	WITH_RIG(an_allocation_that_fails_leaves_the_future_to_the_caller),
	WITH_RIG(pitfall_p69_a_drop_function_may_end_another_task),
	WITH_RIG(the_owned_list_holds_exactly_what_has_not_ended),
	WITH_RIG(the_owned_list_can_be_emptied_and_filled_again),
};

EDO_TEST_MAIN(tests)
