/* Tests that must fail, each for its own reason, and some that must not: see check_runner.sh. */
#include "support/allocations.h"
#include "support/runner.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept;

static void leaks_an_allocation(void **state)
{
	(void)state;
	kept = malloc(24);
	assert_non_null(kept);
	kept = NULL;
}

static void leaks_a_descriptor(void **state)
{
	(void)state;
	assert_true(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
}

static void closes_the_descriptor_of_another(void **state)
{
	(void)state;
	assert_return_code(close(STDIN_FILENO), 0);
}

static void *wait_for_ever(void *arg)
{
	while (!arg)
		pause();
	return NULL;
}

static void leaves_a_thread(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
	pthread_detach(thread);
}

static void hangs(void **state)
{
	(void)state;
	for (;;)
		kept = NULL;
}

static void fails_and_leaks(void **state)
{
	(void)state;
	kept = malloc(24);
	assert_true(!kept);
}

static int make_setup(void **state)
{
	*state = malloc(1);
	return *state ? 0 : -1;
}

static int drop_setup(void **state)
{
	free(*state);
	return 0;
}

static void is_clean_with_a_setup(void **state)
{
	char *copy = strdup("text");

	assert_non_null(*state);
	assert_string_equal(copy, "text");
	copy = realloc(copy, 1000);
	assert_non_null(copy);
	free(copy);
}

static void lets_the_chosen_allocation_fail(void **state)
{
	uint64_t before = edo_test_allocations_made();
	void *blocks[3];

	(void)state;
	edo_test_allocations_fail(1);
	for (int i = 0; i < 3; i++)
		blocks[i] = malloc(1);

	assert_non_null(blocks[0]);
	assert_null(blocks[1]);
	assert_non_null(blocks[2]);
	assert_true(edo_test_allocations_failed());
	assert_int_equal(edo_test_allocations_made() - before, 3);
	for (int i = 0; i < 3; i++)
		free(blocks[i]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(leaks_an_allocation),
	cmocka_unit_test(leaks_a_descriptor),
	cmocka_unit_test(closes_the_descriptor_of_another),
	cmocka_unit_test(leaves_a_thread),
	cmocka_unit_test(hangs),
	cmocka_unit_test(fails_and_leaks),
	cmocka_unit_test_setup_teardown(is_clean_with_a_setup, make_setup, drop_setup),
	cmocka_unit_test(lets_the_chosen_allocation_fail),
};

EDO_TEST_MAIN(tests)
