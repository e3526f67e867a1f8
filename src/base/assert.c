/* What a failed assertion and a seen misuse print. Compiled into every build, called in debug ones. */
#ifndef EDO_DEBUG
#define EDO_DEBUG 1
#endif
#include "base/assert.h"
#include <stdio.h>
#include <stdlib.h>

void edo_assert_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "edo: %s:%d: broken invariant: %s\n", file, line, condition);
	abort();
}

void edo_misuse_line(const char *function, const char *text, const char *what)
{
	fprintf(stderr, "edo: %s: %s%s%s\n", function, text, what ? ": " : "", what ? what : "");
}
