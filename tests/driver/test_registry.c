/* Drivers by number: held, released, gone, and never the same number twice. */
#include "driver/registry.h"
#include "driver/driver.h"
#include "support/allocations.h"
#include "support/runner.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static void *allocate(void *context, size_t size, size_t align)
{
	void *memory = NULL;

	(void)context;
	return posix_memalign(&memory, align < 8 ? 8 : align, size) == 0 ? memory : NULL;
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

static const edo_allocator allocator = { allocate, release, NULL };

static const struct edo_driver_options defaults = {
	.timer_resolution = 1000000,
	.events_per_turn = 16,
	.shards = 1,
	.allocator = &allocator,
};

static void make(struct edo_driver *driver)
{
	assert_int_equal(edo_driver_init(driver, &defaults), 0);
}

static void end(struct edo_driver *driver)
{
	edo_driver_shutdown(driver);
	edo_driver_destroy(driver);
}

static void a_driver_is_found_by_its_number_until_its_end(void **state)
{
	static struct edo_driver driver;
	uint32_t id;

	(void)state;
	make(&driver);
	id = driver.id;
	assert_int_not_equal(id, 0);
	assert_true(edo_driver_is_alive(id));
	assert_ptr_equal(edo_driver_hold(id), &driver);
	edo_driver_release(&driver);

	end(&driver);

	assert_false(edo_driver_is_alive(id));
	assert_null(edo_driver_hold(id));
	assert_null(edo_driver_hold(0));
}

static void each_of_several_is_found_and_numbers_are_not_reused(void **state)
{
	static struct edo_driver drivers[3];
	uint32_t old;

	(void)state;
	for (int i = 0; i < 3; i++)
		make(&drivers[i]);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(edo_driver_hold(drivers[i].id), &drivers[i]);
		edo_driver_release(&drivers[i]);
	}
	old = drivers[1].id;
	end(&drivers[1]);
	make(&drivers[1]);
	assert_int_not_equal(drivers[1].id, old);
	assert_null(edo_driver_hold(old));
	assert_true(edo_driver_is_alive(drivers[0].id));
	assert_true(edo_driver_is_alive(drivers[2].id));
	for (int i = 0; i < 3; i++)
		end(&drivers[i]);
}

struct holder {
	struct edo_driver *driver;
	uint32_t is_held;
	uint32_t is_released;
};

static void *hold_for_a_while(void *data)
{
	struct holder *holder = data;
	struct edo_driver *driver = edo_driver_hold(holder->driver->id);

	edo_store(&holder->is_held, 1, release);
	/* Until the shutdown waits for this thread: the bit that registry.c sets. */
	while (!(edo_load(&driver->holders, acquire) >> 31))
		sched_yield();
	edo_store(&holder->is_released, 1, release);
	edo_driver_release(driver);
	return NULL;
}

static void a_shutdown_waits_for_those_who_hold_it(void **state)
{
	static struct edo_driver driver;
	struct holder holder = { &driver, 0, 0 };
	pthread_t thread;

	(void)state;
	make(&driver);
	assert_int_equal(pthread_create(&thread, NULL, hold_for_a_while, &holder), 0);
	while (!edo_load(&holder.is_held, acquire))
		sched_yield();

	edo_driver_shutdown(&driver);

	assert_true(edo_load(&holder.is_released, acquire));
	edo_driver_destroy(&driver);
	pthread_join(thread, NULL);
}

static void *hold_and_release_until_gone(void *data)
{
	uint32_t id = *(uint32_t *)data;
	struct edo_driver *driver;

	while ((driver = edo_driver_hold(id)) != NULL) {
		edo_driver_unpark(driver);
		edo_driver_release(driver);
	}
	return NULL;
}

static void drivers_end_while_threads_use_them_by_number(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200 / edo_test_slowdown() + 1; i++) {
		struct edo_driver *driver = allocate(NULL, sizeof *driver, 128);
		pthread_t threads[2];
		uint32_t id;

		make(driver);
		id = driver->id;
		for (int t = 0; t < 2; t++)
			assert_int_equal(pthread_create(&threads[t], NULL,
							hold_and_release_until_gone, &id),
					 0);
		for (unsigned turns = 0; turns < i % 20; turns++)
			sched_yield(); /* the end comes at another place each time */
		end(driver);
		free(driver);
		for (int t = 0; t < 2; t++)
			pthread_join(threads[t], NULL);
	}
}

static void used_up_numbers_are_an_error_and_leave_nothing(void **state)
{
	static struct edo_driver driver, none;
	uint32_t before;

	(void)state;
	make(&driver);
	before = driver.id;
	end(&driver);
	edo_registry_set_next_number(UINT32_MAX);
	make(&driver);
	assert_int_equal(driver.id, UINT32_MAX);

	assert_int_equal(edo_driver_init(&none, &defaults), -EAGAIN);
	assert_int_equal(edo_driver_init(&none, &defaults), -EAGAIN);

	end(&driver);
	edo_registry_set_next_number(before + 1);
}

static void a_failed_allocation_leaves_no_driver_behind(void **state)
{
	static struct edo_driver driver;

	(void)state;
	for (uint64_t n = 0;; n++) {
		int rc;

		edo_test_allocations_fail(n);
		rc = edo_driver_init(&driver, &defaults);
		if (!edo_test_allocations_failed())
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_false(edo_driver_is_alive(driver.id));
	}
	edo_test_allocations_fail(EDO_TEST_NEVER);
	end(&driver);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_driver_is_found_by_its_number_until_its_end),
	cmocka_unit_test(each_of_several_is_found_and_numbers_are_not_reused),
	cmocka_unit_test(a_shutdown_waits_for_those_who_hold_it),
	cmocka_unit_test(drivers_end_while_threads_use_them_by_number),
	cmocka_unit_test(used_up_numbers_are_an_error_and_leave_nothing),
	cmocka_unit_test(a_failed_allocation_leaves_no_driver_behind),
};

EDO_TEST_MAIN(tests)
