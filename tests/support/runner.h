/*
 * The main of every test program.
 *
 * The runner, not each test, owns what no test may get wrong:
 *   - a time limit: a broken wheel spins rather than lies, and without a limit it hangs the suite.
 *     A test past its limit is named on stderr with a backtrace, and the program ends with 124;
 *   - descriptors: those open after a test are those open before it, both ways;
 *   - threads: as many run after a test as before it;
 *   - allocations: none of those made through a test is alive after it (allocations.h).
 * Setup and teardown are part of their test. A test that failed is not checked for leaks: its way
 * out was a jump past its cleanup.
 *
 * cmocka fails a test by a long jump, so assert only on the thread the test runs on.
 *
 *     static const struct CMUnitTest tests[] = {
 *             cmocka_unit_test(an_entry_expires_at_its_own_tick),
 *     };
 *
 *     EDO_TEST_MAIN(tests)
 *
 * `test_wheel_levels p01 lap` runs the tests whose name contains one of the words; `--list` lists.
 */
#ifndef EDO_TESTS_SUPPORT_RUNNER_H
#define EDO_TESTS_SUPPORT_RUNNER_H

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EDO_TEST_MAIN(tests)                                                                       \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return edo_test_main(argc, argv, (tests), sizeof(tests) / sizeof((tests)[0]));     \
	}

/* Runs the tests that the arguments select. Returns an exit status: how many failed, or 124. */
int edo_test_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

/* Runs all tests. */
int edo_test_run(const struct CMUnitTest *tests, size_t count);

/* How many times slower than natively this program runs: above 1 under a sanitizer or valgrind. For
 * scaling a test's work; the time limits are scaled already. */
unsigned edo_test_slowdown(void);

#endif
