/* Backtraces where the C library has <execinfo.h>. Addresses are for addr2line. */
#include "support/limit.h"
#include <execinfo.h>
#include <stdint.h>
#include <unistd.h>

#define DEEPEST 64

/* The first call loads a library, which a signal handler must not. */
void edo_test_backtrace_prepare(void)
{
	void *frames[1];

	backtrace(frames, 1);
}

void edo_test_backtrace(void)
{
	void *frames[DEEPEST];

	backtrace_symbols_fd(frames, backtrace(frames, DEEPEST), STDERR_FILENO);
}

void edo_test_say_address(const void *address)
{
	void *frames[1] = { (void *)(uintptr_t)address };

	backtrace_symbols_fd(frames, 1, STDERR_FILENO);
}
