/* Where the C library cannot unwind: the limit still names the test. */
#include "support/limit.h"

void edo_test_backtrace_prepare(void)
{
}

void edo_test_backtrace(void)
{
}

void edo_test_say_address(const void *address)
{
	(void)address;
}
