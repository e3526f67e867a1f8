/**
 * @file
 * Errors are negated errno values: 0 or a count means that it worked.
 */
#ifndef EDO_ERROR_H
#define EDO_ERROR_H

#include <edo/detail/base.h>

EDO_BEGIN_DECLS

/**
 * Names an error as edo means it.
 *
 * @param error  a negated errno value; 0 and counts are "success"
 * @return a static string, never NULL. Threads: any
 */
EDO_API const char *edo_strerror(int error);

EDO_END_DECLS

#endif
