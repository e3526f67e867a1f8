#include "support/runner.h"
#include "support/allocations.h"
#include "support/limit.h"
#include "support/resources.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_SECONDS 30

/* The test that runs. cmocka knows the wrapped one; this is what it stands for. */
static struct {
	const struct CMUnitTest *tests; /* the selected ones, as written */
	size_t next;
	const struct CMUnitTest *test;
	bool ran_through; /* the body was left by its end, not by a jump */
	uint64_t made;
	struct edo_test_resources before;
} run;

static unsigned number_from_environment(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

unsigned edo_test_slowdown(void)
{
	unsigned told = number_from_environment("EDO_TEST_SLOWDOWN");

	return told ? told : EDO_TEST_BUILT_SLOWDOWN;
}

static unsigned seconds_allowed(void)
{
	unsigned told = number_from_environment("EDO_TEST_SECONDS");

	return (told ? told : USUAL_SECONDS) * edo_test_slowdown();
}

static int begin(void **state)
{
	run.test = &run.tests[run.next++];
	run.ran_through = false;
	fflush(NULL);
	edo_test_limit_begin(run.test->name, seconds_allowed());
	edo_test_resources_take(&run.before);
	run.made = edo_test_allocations_made();
	*state = run.test->initial_state;
	return run.test->setup_func ? run.test->setup_func(state) : 0;
}

static void body(void **state)
{
	run.test->test_func(state);
	run.ran_through = true;
}

static int leaks(void)
{
	int found = edo_test_resources_compare(&run.before);

	found += edo_test_allocations_compare(run.made);
	if (found)
		fprintf(stderr, "[   LEAK   ] %s\n", run.test->name);
	return found;
}

static int end(void **state)
{
	int failed = run.test->teardown_func ? run.test->teardown_func(state) : 0;

	edo_test_allocations_fail(EDO_TEST_NEVER);
	if (run.ran_through && !failed)
		failed = leaks() ? -1 : 0;
	edo_test_limit_end();
	return failed;
}

static bool is_selected(const char *name, int argc, char **argv)
{
	bool found = argc < 2;

	for (int i = 1; i < argc && !found; i++)
		found = strstr(name, argv[i]) != NULL;
	return found;
}

static int list(const struct CMUnitTest *tests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		puts(tests[i].name);
	return 0;
}

static int run_selected(const struct CMUnitTest *tests, size_t count)
{
	struct CMUnitTest *wrapped = calloc(count + 1, sizeof *wrapped);
	int failed;

	if (!wrapped)
		return 1;
	for (size_t i = 0; i < count; i++)
		wrapped[i] = (struct CMUnitTest){ tests[i].name, body, begin, end, NULL };
	run.tests = tests;
	run.next = 0;
	failed = _cmocka_run_group_tests("tests", wrapped, count, NULL, NULL);
	free(wrapped);
	return failed;
}

static void *return_at_once(void *nothing)
{
	return nothing;
}

/* ThreadSanitizer starts a thread of its own beside the first one: before anybody counts. */
static void start_the_first_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, return_at_once, NULL) == 0)
		pthread_join(thread, NULL);
}

int edo_test_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count)
{
	struct CMUnitTest *selected;
	size_t n = 0;
	int failed = 1;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list(tests, count);
	selected = calloc(count + 1, sizeof *selected);
	for (size_t i = 0; selected && i < count; i++)
		if (is_selected(tests[i].name, argc, argv))
			selected[n++] = tests[i];
	setvbuf(stdout, NULL, _IOLBF, 0); /* in step with stderr */
	edo_test_limit_prepare();
	start_the_first_thread();
	if (n)
		failed = run_selected(selected, n);
	else
		fprintf(stderr, "no test has such a name; --list shows all\n");
	free(selected);
	return failed;
}

int edo_test_run(const struct CMUnitTest *tests, size_t count)
{
	return edo_test_main(1, NULL, tests, count);
}
