/* The inject queue and the sleep from inside (S2): moments that no thread can be made to hit from outside. */
#include "scheduler/inject.h"
#include "runtime/runtime.h"
#include "scheduler/gate.h"
#include "scheduler/waiter.h"

static edo_runtime *runtime;

static struct edo_current_thread *inside(void)
{
	return &runtime->scheduler;
}

static int begin(void **state)
{
	(void)state;
	runtime = runtime_new();
	return 0;
}

static void spawn_from_outside(void)
{
	struct actor actor = actor_of(never_ready, NULL);

	assert_return_code(edo_spawn(runtime, &actor.future, NULL), 0);
}

static void who_is_about_to_sleep_sees_a_task_that_has_just_come(void **state)
{
	(void)state;
	assert_true(edo_inject_fall_asleep(inside()));
	edo_inject_wake_up(inside());
	spawn_from_outside();
	assert_false(edo_inject_fall_asleep(inside()));
	assert_false(inside()->asleep);
	edo_inject_wake_up(inside());
	runtime_end(runtime);
}

static void a_task_that_comes_to_a_sleeper_ends_the_sleep_once(void **state)
{
	(void)state;
	assert_true(edo_inject_fall_asleep(inside()));
	assert_true(inside()->asleep);
	spawn_from_outside();
	assert_false(inside()->asleep); /* the next one makes no system call */
	spawn_from_outside();
	assert_int_equal(inside()->inject_length, 2);
	edo_driver_turn(&runtime->driver, UINT64_MAX, true); /* would hang without the wake-up */
	edo_inject_wake_up(inside());
	runtime_end(runtime);
}

static void a_wake_of_the_drivers_own_wait_ends_its_sleep(void **state)
{
	(void)state;
	assert_true(edo_inject_fall_asleep(inside()));
	edo_current_thread_unpark(inside());
	edo_driver_turn(&runtime->driver, UINT64_MAX, true);
	edo_inject_wake_up(inside());
	runtime_end(runtime);
}

/* A spawn that is overtaken by the whole shutdown between its two steps. */
static void a_task_that_comes_after_the_close_gives_its_reference_back(void **state)
{
	struct actor actor = actor_of(never_ready, NULL);
	struct edo_scheduler *scheduler = &inside()->scheduler;
	struct edo_task *task;

	(void)state;
	assert_return_code(edo_task_create(scheduler, &actor.future, sizeof actor, NULL, NULL,
					   &task),
			   0);
	edo_task_detach(task);
	edo_inject_close(inside());
	edo_scheduler_submit(scheduler, task);
	runtime_end(runtime); /* 0: no cell is held for ever */
}

/* The runner sees whether a cell is held for ever, and with it the runtime's memory. */
static void so_does_one_that_comes_after_the_runtimes_end(void **state)
{
	struct actor actor = actor_of(never_ready, NULL);
	struct edo_scheduler *scheduler = &inside()->scheduler;
	struct edo_task *task;

	(void)state;
	assert_return_code(edo_task_create(scheduler, &actor.future, sizeof actor, NULL, NULL,
					   &task),
			   0);
	edo_task_detach(task);
	assert_int_equal(edo_runtime_destroy(runtime), 1);
	edo_scheduler_submit(scheduler, task);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(who_is_about_to_sleep_sees_a_task_that_has_just_come, begin),
	cmocka_unit_test_setup(a_task_that_comes_to_a_sleeper_ends_the_sleep_once, begin),
	cmocka_unit_test_setup(a_wake_of_the_drivers_own_wait_ends_its_sleep, begin),
	cmocka_unit_test_setup(a_task_that_comes_after_the_close_gives_its_reference_back, begin),
	cmocka_unit_test_setup(so_does_one_that_comes_after_the_runtimes_end, begin),
};

EDO_TEST_MAIN(tests)
