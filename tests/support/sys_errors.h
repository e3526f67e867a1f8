/*
 * Which errors a system call can come back with: what its manual page lists, and what for the
 * protocols in use tcp(7), ip(7) and POSIX add.
 *
 * What is left out, everywhere:
 *   EBADF, EFAULT, EINVAL, ENOTSOCK, EDESTADDRREQ, EMSGSIZE, EISCONN, EALREADY, EPROTOTYPE, ELOOP and
 *     what is said of paths: they tell of arguments, which are the library's own; the kernel says
 *     them of a correct program never. Where the descriptor is the user's own, it stays in;
 *   EINTR where src/base/sys.c calls again: it never comes out of there (sweep/test_sys.c);
 *   what is true only of an object that the fault does not bring about: EEXIST and ENOENT of
 *     epoll_ctl, EPERM of removing a descriptor, EINPROGRESS of a connect that is not made.
 */
#ifndef EDO_TESTS_SUPPORT_SYS_ERRORS_H
#define EDO_TESTS_SUPPORT_SYS_ERRORS_H

#include "support/sys_fault.h"

/*
 * The errors of one call, ended by a 0; an empty list: it cannot fail. `detail` is epoll_ctl's operation,
 * getsockopt's option, whether a futex_wait has a limit; 0 elsewhere. A negative one: the call succeeds, and SO_ERROR holds it.
 */
const int *edo_sys_errors_of(enum edo_sys_call call, int detail);

unsigned edo_sys_errors_count(const int *errors);

#endif
