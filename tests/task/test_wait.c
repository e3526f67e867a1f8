/* Waiting for a task: JOIN_WAKER's two owners, a second wait, the waker swapped, both sides at once. */
#include "rig.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>

static struct rig rig;
static struct puppet_log log_;
static struct puppet puppet;
static struct edo_task *task;
static struct counting_waker first, second;
static edo_task_wait_future wait_;
static bool let_go;

static edo_poll waits_for_leave(struct puppet *self, edo_context *cx)
{
	(void)cx;
	(void)self;
	return let_go ? 42 : EDO_PENDING;
}

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig);
	let_go = false;
	puppet_init(&puppet, &log_, waits_for_leave);
	task = rig_spawn(&rig, &puppet.future);
	counting_waker_init(&first);
	counting_waker_init(&second);
	edo_task_wait_start(&wait_, task);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	edo_future_drop(&wait_.future);
	edo_task_detach(task);
	rig_end(&rig);
	assert_int_equal(counting_alive(&first), 0);
	assert_int_equal(counting_alive(&second), 0);
	return 0;
}

static edo_poll poll_wait(edo_task_wait_future *wait, struct counting_waker *counting)
{
	edo_context cx = counting_context(counting);

	return edo_future_poll(&wait->future, &cx);
}

static void end_task(void)
{
	let_go = true;
	if (!rig_run(&rig)) {
		edo_waker waker = { task, &edo_task_waker_ops };

		edo_waker_wake_by_ref(&waker);
		rig_run(&rig);
	}
	assert_true(edo_task_is_finished(task));
}

static void waited_for_before_its_end_the_joiner_is_woken_once(void **state)
{
	(void)state;
	assert_int_equal(poll_wait(&wait_, &first), EDO_PENDING);
	end_task();
	assert_int_equal(counting_wakes(&first), 1);
	assert_int_equal(poll_wait(&wait_, &first), EDO_READY);
	assert_int_equal(wait_.result, 42);
}

static void waited_for_after_its_end_it_is_ready_and_no_waker_is_kept(void **state)
{
	(void)state;
	end_task();
	assert_int_equal(poll_wait(&wait_, &first), EDO_READY);
	assert_int_equal(wait_.result, 42);
	assert_int_equal(first.clones, 0);
}

static void a_second_wait_gets_busy_and_does_not_disturb_the_first(void **state)
{
	edo_task_wait_future other;

	(void)state;
	edo_task_wait_start(&other, task);
	assert_int_equal(poll_wait(&wait_, &first), EDO_PENDING);
	assert_int_equal(poll_wait(&other, &second), -EBUSY);
	edo_future_drop(&other.future);
	end_task();
	assert_int_equal(counting_wakes(&first), 1);
	assert_int_equal(counting_wakes(&second), 0);
	assert_int_equal(poll_wait(&wait_, &first), EDO_READY);
}

static void the_first_wait_dropped_the_second_may_wait(void **state)
{
	edo_task_wait_future other;

	(void)state;
	edo_task_wait_start(&other, task);
	assert_int_equal(poll_wait(&wait_, &first), EDO_PENDING);
	edo_future_drop(&wait_.future);
	assert_int_equal(counting_alive(&first), 0);
	assert_int_equal(poll_wait(&other, &second), EDO_PENDING);
	end_task();
	assert_int_equal(counting_wakes(&first), 0);
	assert_int_equal(counting_wakes(&second), 1);
	assert_int_equal(poll_wait(&other, &second), EDO_READY);
	edo_future_drop(&other.future);
}

static void polled_with_another_waker_only_the_last_is_woken(void **state)
{
	(void)state;
	assert_int_equal(poll_wait(&wait_, &first), EDO_PENDING);
	assert_int_equal(poll_wait(&wait_, &first), EDO_PENDING);
	assert_int_equal(first.clones, 1);
	assert_int_equal(poll_wait(&wait_, &second), EDO_PENDING);
	assert_int_equal(counting_alive(&first), 0);
	end_task();
	assert_int_equal(counting_wakes(&first), 0);
	assert_int_equal(counting_wakes(&second), 1);
}

static void an_abort_is_seen_as_the_tasks_fate_not_as_the_waits(void **state)
{
	(void)state;
	assert_int_equal(poll_wait(&wait_, &first), EDO_PENDING);
	edo_task_abort(task);
	rig_run(&rig);
	assert_int_equal(poll_wait(&wait_, &first), EDO_READY);
	assert_int_equal(wait_.result, -ECANCELED);
}

static void detached_with_a_waker_registered_the_waker_goes_too(void **state)
{
	edo_waker own = { task, &edo_task_waker_ops };
	edo_waker keeps = edo_waker_clone(&own);

	(void)state;
	assert_int_equal(poll_wait(&wait_, &first), EDO_PENDING);
	wait_.edo_registered_ = false; /* as if its owner forgot it: misuse, but nothing may leak */
	edo_task_detach(task);
	assert_int_equal(counting_alive(&first), 0);
	let_go = true;
	rig_run(&rig);
	assert_int_equal(counting_wakes(&first), 0);
	task = NULL;
	edo_waker_drop(&keeps);
}

static void no_task_is_an_error(void **state)
{
	edo_task_wait_future none;

	(void)state;
	edo_task_wait_start(&none, NULL);
	assert_int_equal(poll_wait(&none, &first), -EINVAL);
	edo_future_drop(&none.future);
	rig_run(&rig);
}

static edo_task_wait_future own_wait;

static edo_poll waits_for_itself(struct puppet *self, edo_context *cx)
{
	(void)self;
	edo_task_wait_start(&own_wait, edo_task_of_context(cx));
	return edo_future_poll(&own_wait.future, cx);
}

static void a_wait_for_oneself_is_a_deadlock_told(void **state)
{
	struct puppet_log log;
	struct puppet narcissus;
	struct edo_task *itself;

	(void)state;
	puppet_init(&narcissus, &log, waits_for_itself);
	itself = rig_spawn(&rig, &narcissus.future);
	rig_run(&rig);
	assert_true(edo_task_is_finished(itself));
	assert_int_equal(itself->result, -EDEADLK);
	edo_task_detach(itself);
}

/* The budget spent, the result is not lost. */
static void without_budget_the_wait_gives_way_and_is_ready_next_time(void **state)
{
	edo_context cx = counting_context(&first);

	(void)state;
	end_task();
	cx.edo_budget_ = 0;
	assert_int_equal(edo_future_poll(&wait_.future, &cx), EDO_PENDING);
	assert_int_equal(counting_wakes(&first), 1);
	assert_int_equal(poll_wait(&wait_, &first), EDO_READY);
	assert_int_equal(wait_.result, 42);
}

/* One thread completes, the other registers, swaps wakers, takes back, detaches, at every moment. */
enum { ROUNDS = 20000 };

static struct edo_task *handed; /* atomic */

static void *completes(void *arg)
{
	unsigned rounds = *(unsigned *)arg;

	for (unsigned i = 0; i < rounds; i++) {
		struct edo_task *next;

		while (!(next = __atomic_exchange_n(&handed, NULL, __ATOMIC_ACQUIRE)))
			sched_yield();
		edo_task_run(next);
	}
	return NULL;
}

static void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		__asm__ volatile("");
}

static void joiner_and_completer_may_meet_at_any_moment(void **state)
{
	unsigned rounds = ROUNDS / edo_test_slowdown();
	pthread_t thread;

	(void)state;
	end_task();
	assert_int_equal(pthread_create(&thread, NULL, completes, &rounds), 0);
	for (unsigned i = 0; i < rounds; i++) {
		edo_task_wait_future wait;
		struct puppet_log log;
		struct puppet one;
		struct edo_task *joined;
		edo_poll polled;

		puppet_init(&one, &log, puppet_ready);
		assert_return_code(edo_task_create(&rig.scheduler, &one.future, sizeof one, NULL,
						   NULL, &joined),
				   0);
		edo_task_wait_start(&wait, joined);
		if (i % 2)
			assert_int_equal(poll_wait(&wait, &first), EDO_PENDING);
		__atomic_store_n(&handed, joined, __ATOMIC_RELEASE);
		spin(i % 97);
		polled = poll_wait(&wait, i % 3 ? &first : &second);
		spin(i % 13);
		if (i % 7 == 0)
			polled = poll_wait(&wait, &second);
		if (i % 5 == 0) {
			edo_future_drop(&wait.future);
			polled = EDO_READY;
		}
		while (polled == EDO_PENDING) {
			if (edo_task_is_finished(joined))
				polled = poll_wait(&wait, &second);
		}
		assert_int_equal(polled, EDO_READY);
		edo_future_drop(&wait.future);
		edo_task_detach(joined);
		while (edo_owned_count(&rig.scheduler.owned) > 0)
			sched_yield();
		assert_int_equal(__atomic_load_n(&log.drops, __ATOMIC_RELAXED), 1);
	}
	pthread_join(thread, NULL);
}

#define WITH_WAIT(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_WAIT(waited_for_before_its_end_the_joiner_is_woken_once),
	WITH_WAIT(waited_for_after_its_end_it_is_ready_and_no_waker_is_kept),
	WITH_WAIT(a_second_wait_gets_busy_and_does_not_disturb_the_first),
	WITH_WAIT(the_first_wait_dropped_the_second_may_wait),
	WITH_WAIT(polled_with_another_waker_only_the_last_is_woken),
	WITH_WAIT(an_abort_is_seen_as_the_tasks_fate_not_as_the_waits),
	WITH_WAIT(detached_with_a_waker_registered_the_waker_goes_too),
	WITH_WAIT(no_task_is_an_error),
	WITH_WAIT(a_wait_for_oneself_is_a_deadlock_told),
	WITH_WAIT(without_budget_the_wait_gives_way_and_is_ready_next_time),
	WITH_WAIT(joiner_and_completer_may_meet_at_any_moment),
};

EDO_TEST_MAIN(tests)
