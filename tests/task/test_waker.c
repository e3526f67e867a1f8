/* Wakers: anybody's, and a task's own: what each call does to the task and to its references (K2, K3). */
#include "rig.h"
#include "support/allocations.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static struct rig rig;
static struct puppet_log log_;
static struct puppet puppet;

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig);
	puppet_init(&puppet, &log_, puppet_keeps_waker);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	rig_end(&rig);
	return 0;
}

static void an_empty_waker_can_be_woken_cloned_and_dropped(void **state)
{
	edo_waker none = { 0 };
	edo_waker clone = edo_waker_clone(&none);

	(void)state;
	assert_false(edo_waker_is_set(&none));
	assert_false(edo_waker_is_set(&clone));
	edo_waker_wake_by_ref(&none);
	edo_waker_wake(&none);
	edo_waker_drop(&none);
	edo_waker_drop(&none);
}

static void a_users_waker_gets_exactly_the_calls_made(void **state)
{
	struct counting_waker counting;
	edo_waker first, second;

	(void)state;
	counting_waker_init(&counting);
	first = edo_waker_clone(&counting.waker);
	second = edo_waker_clone(&counting.waker);
	assert_true(edo_waker_will_wake(&first, &second));
	edo_waker_wake_by_ref(&first);
	edo_waker_wake(&first);
	assert_false(edo_waker_is_set(&first));
	assert_false(edo_waker_will_wake(&first, &second));
	edo_waker_wake(&first);
	edo_waker_drop(&second);
	edo_waker_drop(&second);
	assert_int_equal(counting.clones, 2);
	assert_int_equal(counting.wakes_by_ref, 1);
	assert_int_equal(counting.wakes, 1);
	assert_int_equal(counting.drops, 1);
}

/* A new task, polled once, idle; its waker is in the log. */
static struct edo_task *idle_task(void)
{
	struct edo_task *task = rig_spawn(&rig, &puppet.future);

	rig_run(&rig);
	assert_int_equal(log_.polls, 1);
	return task;
}

static void five_wakes_make_one_poll(void **state)
{
	struct edo_task *task = idle_task();
	edo_waker clones[2];

	(void)state;
	clones[0] = edo_waker_clone(&log_.waker);
	clones[1] = edo_waker_clone(&log_.waker);
	edo_waker_wake_by_ref(&log_.waker);
	edo_waker_wake_by_ref(&log_.waker);
	edo_waker_wake(&clones[0]);
	edo_waker_wake_by_ref(&clones[1]);
	edo_waker_wake(&clones[1]);
	assert_int_equal(rig_queued(&rig), 1);
	assert_int_equal(rig_run(&rig), 1);
	assert_int_equal(log_.polls, 2);
	edo_waker_drop(&log_.waker);
	edo_task_detach(task);
}

static edo_poll wakes_itself_once(struct puppet *self, edo_context *cx)
{
	if (self->log->polls > 1)
		return EDO_READY;
	for (int i = 0; i < 3; i++)
		edo_waker_wake_by_ref(cx->waker);
	return EDO_PENDING;
}

static void a_wake_while_it_runs_makes_one_more_poll(void **state)
{
	struct edo_task *task;

	(void)state;
	puppet_init(&puppet, &log_, wakes_itself_once);
	task = rig_spawn(&rig, &puppet.future);
	assert_true(rig_run_one(&rig));
	assert_int_equal(rig_queued(&rig), 1);
	assert_int_equal(rig_run(&rig), 1);
	assert_true(edo_task_is_finished(task));
	edo_task_detach(task);
}

static edo_poll ready_at_second(struct puppet *self, edo_context *cx)
{
	return self->log->polls == 2 ? EDO_READY : puppet_keeps_waker(self, cx);
}

static void waking_a_completed_task_does_nothing_and_frees_it_at_last(void **state)
{
	struct edo_task *task;
	edo_waker late[3];

	(void)state;
	puppet_init(&puppet, &log_, ready_at_second);
	task = rig_spawn(&rig, &puppet.future);
	rig_run(&rig);
	for (int i = 0; i < 3; i++)
		late[i] = edo_waker_clone(&log_.waker);
	edo_waker_wake(&log_.waker);
	rig_run(&rig);
	assert_int_equal(log_.polls, 2);
	edo_task_detach(task);
	edo_waker_wake_by_ref(&late[0]);
	edo_waker_drop(&late[0]);
	edo_waker_wake_by_ref(&late[1]);
	edo_waker_wake(&late[1]);
	edo_waker_wake(&late[2]); /* the last reference: the pool's count is checked at the end */
	assert_int_equal(rig_queued(&rig), 0);
	assert_int_equal(log_.drops, 1);
}

/* The only reference to an idle detached task, besides the owned list's, is a waker: it lives on. */
static void a_waker_keeps_its_task(void **state)
{
	struct edo_task *task = idle_task();

	(void)state;
	edo_task_detach(task);
	assert_int_equal(edo_owned_count(&rig.scheduler.owned), 1);
	edo_waker_wake(&log_.waker);
	assert_int_equal(rig_run(&rig), 1);
	assert_int_equal(log_.polls, 2);
	edo_waker_drop(&log_.waker);
}

static void the_context_says_whose_it_is(void **state)
{
	struct edo_task *task = idle_task();
	struct counting_waker counting;
	edo_context cx;

	(void)state;
	assert_ptr_equal(log_.task, task);
	counting_waker_init(&counting);
	cx = counting_context(&counting);
	assert_null(edo_task_of_context(&cx));
	edo_waker_drop(&log_.waker);
	edo_task_detach(task);
}

/* A waker held by another thread, waking while the test's thread polls, and dropping at the very end. */
enum { WAKERS = 3, WAKES = 3000 };

static void *wakes_often(void *arg)
{
	edo_waker *waker = arg;

	for (int i = 0; i < WAKES; i++) {
		edo_waker clone = edo_waker_clone(waker);

		edo_waker_wake_by_ref(waker);
		edo_waker_drop(&clone);
	}
	edo_waker_wake(waker);
	return NULL;
}

/* The rig's queue is not for threads: this counts what is submitted and lets the test's thread run it. */
static struct edo_task *volatile submitted;
static unsigned submissions;

static void submit_from_anywhere(struct edo_scheduler *scheduler, struct edo_task *task)
{
	(void)scheduler;
	__atomic_fetch_add(&submissions, 1, __ATOMIC_RELAXED);
	/* K3: at most once in all queues together. */
	if (__atomic_exchange_n(&submitted, task, __ATOMIC_ACQ_REL))
		abort();
}

static void defer_anywhere(struct edo_scheduler *scheduler, struct edo_task *task,
			   enum edo_defer reason)
{
	(void)reason;
	submit_from_anywhere(scheduler, task);
}

static const struct edo_scheduler_ops anywhere_ops = { submit_from_anywhere, defer_anywhere };

static edo_poll stays_pending(struct puppet *self, edo_context *cx)
{
	(void)cx;
	return *(bool *)self->context ? EDO_READY : EDO_PENDING;
}

static void wakes_from_threads_queue_a_task_at_most_once(void **state)
{
	const struct edo_scheduler_ops *rig_ops = rig.scheduler.ops;
	bool let_go = false;
	edo_waker wakers[WAKERS];
	pthread_t threads[WAKERS];
	struct edo_task *task, *next;
	int alive = WAKERS;

	(void)state;
	puppet_init(&puppet, &log_, stays_pending);
	puppet.context = &let_go;
	rig.scheduler.ops = &anywhere_ops;
	assert_return_code(edo_task_create(&rig.scheduler, &puppet.future, sizeof puppet, NULL,
					   NULL, &task),
			   0);
	edo_task_run(task); /* its first notification */
	for (int i = 0; i < WAKERS; i++) {
		edo_waker own = { task, &edo_task_waker_ops };

		wakers[i] = edo_waker_clone(&own);
		assert_int_equal(pthread_create(&threads[i], NULL, wakes_often, &wakers[i]), 0);
	}
	while (alive > 0) {
		next = __atomic_exchange_n(&submitted, NULL, __ATOMIC_ACQ_REL);
		if (next)
			edo_task_run(next);
		else if (pthread_tryjoin_np(threads[alive - 1], NULL) == 0)
			alive--;
	}
	next = __atomic_exchange_n(&submitted, NULL, __ATOMIC_ACQ_REL);
	if (next)
		edo_task_run(next);
	assert_int_equal(log_.polls, 1 + submissions);
	let_go = true;
	edo_task_abort(task);
	edo_task_run(__atomic_exchange_n(&submitted, NULL, __ATOMIC_ACQ_REL));
	assert_true(edo_task_is_finished(task));
	edo_task_detach(task);
	rig.scheduler.ops = rig_ops;
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(an_empty_waker_can_be_woken_cloned_and_dropped),
	cmocka_unit_test(a_users_waker_gets_exactly_the_calls_made),
	WITH_RIG(five_wakes_make_one_poll),
	WITH_RIG(a_wake_while_it_runs_makes_one_more_poll),
	WITH_RIG(waking_a_completed_task_does_nothing_and_frees_it_at_last),
	WITH_RIG(a_waker_keeps_its_task),
	WITH_RIG(the_context_says_whose_it_is),
	WITH_RIG(wakes_from_threads_queue_a_task_at_most_once),
};

EDO_TEST_MAIN(tests)
