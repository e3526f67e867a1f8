/* Configurations, and making a runtime: every field's edges, every allocation and system call failing. */
#include "scheduler/gate.h"
#include "support/allocations.h"
#include "support/sys_fault.h"
#include <edo/error.h>

static const char *bad(const edo_config *config)
{
	edo_runtime *runtime = NULL;
	const char *field = edo_config_bad_field(config);

	if (field) {
		assert_int_equal(edo_runtime_create(&runtime, config), -EINVAL);
		assert_null(runtime);
	}
	return field;
}

static void assert_bad(edo_config config, const char *field)
{
	assert_non_null(bad(&config));
	assert_string_equal(bad(&config), field);
}

static void assert_sound(edo_config config)
{
	edo_runtime *runtime;

	assert_null(bad(&config));
	runtime = runtime_with(&config);
	assert_int_equal(run_on(runtime, fiber_does_nothing, NULL), 0);
	runtime_end(runtime);
}

#define CONFIG(...) ((edo_config){ .size = sizeof(edo_config), __VA_ARGS__ })

static void none_and_all_defaults_are_sound(void **state)
{
	edo_config config = EDO_CONFIG_INIT;

	(void)state;
	assert_null(edo_config_bad_field(NULL));
	assert_sound(config);
}

static void a_size_of_no_version_is_refused(void **state)
{
	(void)state;
	assert_bad((edo_config){ .size = 0 }, "size");
	assert_bad((edo_config){ .size = sizeof(edo_config) - 1 }, "size");
	assert_bad((edo_config){ .size = sizeof(edo_config) + 1 }, "size");
	assert_bad((edo_config){ .size = SIZE_MAX }, "size");
}

static void enumerations_out_of_range_are_refused(void **state)
{
	(void)state;
	assert_bad(CONFIG(.flavor = (edo_flavor)3), "flavor");
	assert_bad(CONFIG(.flavor = (edo_flavor)-1), "flavor");
	assert_bad(CONFIG(.clock = (edo_clock_source)2), "clock");
	assert_sound(CONFIG(.flavor = EDO_CURRENT_THREAD));
	assert_sound(CONFIG(.clock = EDO_CLOCK_BOOTTIME));
}

static void many_threads_are_not_in_this_version(void **state)
{
	edo_config config = CONFIG(.flavor = EDO_MULTI_THREAD);
	edo_runtime *runtime = NULL;

	(void)state;
	assert_null(edo_config_bad_field(&config));
	assert_int_equal(edo_runtime_create(&runtime, &config), -EOPNOTSUPP);
	assert_null(runtime);
}

static void pitfall_p72_numbers_are_checked_at_both_ends_and_zero_is_the_default(void **state)
{
	(void)state;
	assert_bad(CONFIG(.timer_resolution = 999), "timer_resolution");
	assert_sound(CONFIG(.timer_resolution = 1000));
	assert_sound(CONFIG(.timer_resolution = UINT64_C(1000000000)));
	assert_bad(CONFIG(.timer_resolution = UINT64_C(1000000001)), "timer_resolution");
	assert_bad(CONFIG(.stack_size = 16 * 1024 - 1), "stack_size");
	assert_sound(CONFIG(.stack_size = 16 * 1024));
	assert_sound(CONFIG(.stack_size = (size_t)1 << 30));
	assert_bad(CONFIG(.stack_size = ((size_t)1 << 30) + 1), "stack_size");
	assert_bad(CONFIG(.stack_size = SIZE_MAX), "stack_size");
	assert_sound(CONFIG(.events_per_turn = 1));
	assert_bad(CONFIG(.events_per_turn = UINT32_MAX), "events_per_turn");
	assert_sound(CONFIG(.event_interval = 1, .global_queue_interval = 1));
	assert_sound(CONFIG(.event_interval = UINT32_MAX, .global_queue_interval = UINT32_MAX));
	assert_sound(CONFIG(.stack_cache = 1));
	assert_sound(CONFIG(.stack_cache = UINT32_MAX));
	assert_sound(CONFIG(.shutdown_timeout = 1));
	assert_sound(CONFIG(.shutdown_timeout = UINT64_MAX));
	assert_sound(CONFIG(.seed = UINT64_MAX));
	assert_sound(CONFIG(.thread_name = "a name that is longer than a thread's can be"));
	assert_sound(CONFIG(.thread_name = ""));
}

static void a_clock_that_stands_needs_a_clock(void **state)
{
	(void)state;
	assert_bad(CONFIG(.start_paused = true, .disable_time = true), "start_paused");
	assert_bad(CONFIG(.start_paused = true, .flavor = EDO_MULTI_THREAD), "start_paused");
	assert_sound(CONFIG(.start_paused = true));
}

static void half_an_allocator_is_refused(void **state)
{
	edo_allocator no_release = { .allocate = (void *(*)(void *, size_t, size_t))abort };
	edo_allocator no_allocate = { .release = (void (*)(void *, void *, size_t))abort };

	(void)state;
	assert_bad(CONFIG(.allocator = &no_release), "allocator");
	assert_bad(CONFIG(.allocator = &no_allocate), "allocator");
}

static int sleeps_a_little(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_US(10));
}

/* p31: by this clock a wait ends through a timer of the system's. */
static void pitfall_p31_a_runtime_goes_by_the_clock_it_was_given(void **state)
{
	uint64_t timers = edo_sys_calls_of(EDO_CALL_timerfd);

	(void)state;
	assert_sound(CONFIG(.clock = EDO_CLOCK_MONOTONIC));
	assert_int_equal(edo_sys_calls_of(EDO_CALL_timerfd), timers);
	assert_sound(CONFIG(.clock = EDO_CLOCK_BOOTTIME));
	assert_int_equal(edo_sys_calls_of(EDO_CALL_timerfd), timers + 1);
}

static void without_time_or_io_tasks_still_run(void **state)
{
	edo_config configs[] = { CONFIG(.disable_io = true), CONFIG(.disable_time = true),
				 CONFIG(.disable_io = true, .disable_time = true) };

	(void)state;
	for (int i = 0; i < 3; i++) {
		edo_runtime *runtime = runtime_with(&configs[i]);

		assert_int_equal(run_on(runtime, sleeps_a_little, NULL),
				 configs[i].disable_time ? -EOPNOTSUPP : 0);
		runtime_end(runtime);
	}
}

static void each_failed_allocation_leaves_nothing_behind(void **state)
{
	edo_runtime *runtime = NULL;
	uint64_t n = 0;

	(void)state;
	for (;; n++) {
		int rc;

		edo_test_allocations_fail(n);
		rc = edo_runtime_create(&runtime, NULL);
		if (rc == 0 && !edo_test_allocations_failed())
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(runtime);
	}
	edo_test_allocations_fail(EDO_TEST_NEVER);
	assert_true(n >= 2);
	runtime_end(runtime);
}

static void each_failed_system_call_leaves_nothing_behind(void **state)
{
	edo_runtime *runtime = NULL;
	uint64_t n = 0;

	(void)state;
	for (;; n++) {
		int rc;

		edo_sys_fault_sweep(n);
		rc = edo_runtime_create(&runtime, NULL);
		if (!edo_sys_fault_happened()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_true(rc < 0);
		assert_null(runtime);
	}
	edo_sys_fault_clear();
	assert_true(n >= 3); /* epoll, eventfd, its registration */
	runtime_end(runtime);
}

static void the_systems_limit_of_descriptors_is_told_as_such(void **state)
{
	edo_runtime *runtime = NULL;

	(void)state;
	edo_sys_fault_order(EDO_CALL_epoll_create, ENFILE, 0, 1);
	assert_int_equal(edo_runtime_create(&runtime, NULL), -ENFILE);
	edo_sys_fault_clear();
}

/* The whole of a small program under each failing allocation and call: an error or success, never a leak. */
static int small_program(void *arg)
{
	edo_task *task;
	int rc = edo_spawn_fiber(NULL, sleeps_a_little, NULL, 0, &task);

	(void)arg;
	if (rc < 0)
		return rc;
	rc = edo_task_join(task, NULL);
	return rc < 0 ? rc : edo_sleep(EDO_US(10));
}

static void each_failed_allocation_of_a_program_is_an_error_and_no_leak(void **state)
{
	(void)state;
	for (uint64_t n = 0;; n++) {
		int rc;

		edo_test_allocations_fail(n);
		rc = edo_run(small_program, NULL);
		if (!edo_test_allocations_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -ENOMEM);
	}
	edo_test_allocations_fail(EDO_TEST_NEVER);
}

static void each_failed_call_of_a_program_is_an_error_and_no_leak(void **state)
{
	(void)state;
	for (uint64_t n = 0;; n++) {
		int rc;

		edo_sys_fault_sweep(n);
		rc = edo_run(small_program, NULL);
		if (!edo_sys_fault_happened()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_true(rc <= 0); /* an interrupted wait is none */
	}
	edo_sys_fault_clear();
}

static void errors_have_names(void **state)
{
	(void)state;
	assert_string_equal(edo_strerror(0), "success");
	assert_string_equal(edo_strerror(17), "success");
	assert_string_equal(edo_strerror(-ECANCELED), "canceled");
	assert_non_null(edo_strerror(-ELOOP));
	assert_non_null(edo_strerror(-99999));
	assert_non_null(edo_strerror(INT_MIN));
	assert_non_null(edo_strerror(INT_MAX));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(none_and_all_defaults_are_sound),
	cmocka_unit_test(a_size_of_no_version_is_refused),
	cmocka_unit_test(enumerations_out_of_range_are_refused),
	cmocka_unit_test(many_threads_are_not_in_this_version),
	cmocka_unit_test(pitfall_p72_numbers_are_checked_at_both_ends_and_zero_is_the_default),
	cmocka_unit_test(a_clock_that_stands_needs_a_clock),
	cmocka_unit_test(half_an_allocator_is_refused),
	cmocka_unit_test(pitfall_p31_a_runtime_goes_by_the_clock_it_was_given),
	cmocka_unit_test(without_time_or_io_tasks_still_run),
	cmocka_unit_test(each_failed_allocation_leaves_nothing_behind),
	cmocka_unit_test(each_failed_system_call_leaves_nothing_behind),
	cmocka_unit_test(the_systems_limit_of_descriptors_is_told_as_such),
	cmocka_unit_test(each_failed_allocation_of_a_program_is_an_error_and_no_leak),
	cmocka_unit_test(each_failed_call_of_a_program_is_an_error_and_no_leak),
	cmocka_unit_test(errors_have_names),
};

EDO_TEST_MAIN(tests)
