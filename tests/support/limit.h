/*
 * The time limit of a test: SIGALRM on a stack of its own, for a test may hang on a fiber's stack.
 */
#ifndef EDO_TESTS_SUPPORT_LIMIT_H
#define EDO_TESTS_SUPPORT_LIMIT_H

/* Once, on the main thread. */
void edo_test_limit_prepare(void);

/* From now until edo_test_limit_end() at most this many seconds may pass. */
void edo_test_limit_begin(const char *test_name, unsigned seconds);
void edo_test_limit_end(void);

/* Writes the calls under way on this thread to stderr; legal in a signal handler once prepared. */
void edo_test_backtrace_prepare(void);
void edo_test_backtrace(void);

/* Writes where in the program an address is, for addr2line. */
void edo_test_say_address(const void *address);

#endif
