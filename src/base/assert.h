/*
 * Assertions and complaints, debug builds only: in a release build the library neither prints nor
 * aborts. Assertions state invariants of ours; what a caller did wrong is an error it gets back,
 * and a line on stderr from edo_misuse().
 */
#ifndef EDO_BASE_ASSERT_H
#define EDO_BASE_ASSERT_H

#ifdef EDO_DEBUG

void edo_assert_failed(const char *condition, const char *file, int line);
void edo_misuse_line(const char *function, const char *text);

#define EDO_ASSERT(condition)                                                                      \
	((condition) ? (void)0 : edo_assert_failed(#condition, __FILE__, __LINE__))
#define edo_misuse(text) edo_misuse_line(__func__, (text))

#else

#define EDO_ASSERT(condition) ((void)sizeof(condition))
#define edo_misuse(text) ((void)0)

#endif
#endif
