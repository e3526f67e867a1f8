/*
 * Assertions and complaints, debug builds only: in a release build the library neither prints nor
 * aborts. Assertions state invariants of ours; what a caller did wrong is an error it gets back,
 * and a line on stderr from edo_misuse().
 */
#ifndef EDO_BASE_ASSERT_H
#define EDO_BASE_ASSERT_H

#include <stddef.h>

#ifdef EDO_DEBUG

void edo_assert_failed(const char *condition, const char *file, int line);
void edo_misuse_line(const char *function, const char *text, const char *what);

#define EDO_ASSERT(condition)                                                                      \
	((condition) ? (void)0 : edo_assert_failed(#condition, __FILE__, __LINE__))
#define edo_misuse(text) edo_misuse_line(__func__, (text), NULL)
#define edo_misuse_of(text, what) edo_misuse_line(__func__, (text), (what))

#else

#define EDO_ASSERT(condition) ((void)sizeof(condition))
#define edo_misuse(text) ((void)0)
#define edo_misuse_of(text, what) ((void)(what))

#endif
#endif
