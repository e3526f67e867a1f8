/*
 * Is this the only thread of the process? glibc (2.32 and later) keeps a flag for that; elsewhere, and
 * where ThreadSanitizer watches, the answer is no.
 */
#ifndef EDO_BASE_ALONE_H
#define EDO_BASE_ALONE_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EDO_IS_NEVER_ALONE 1
#endif
#endif

#if defined(__SANITIZE_THREAD__) || !defined(__has_include)
#define EDO_IS_NEVER_ALONE 1
#elif !__has_include(<sys/single_threaded.h>)
#define EDO_IS_NEVER_ALONE 1
#endif

#ifdef EDO_IS_NEVER_ALONE
static inline int edo_is_alone(void)
{
	return 0;
}
#else
#include <sys/single_threaded.h>
static inline int edo_is_alone(void)
{
	return __libc_single_threaded;
}
#endif

#endif
