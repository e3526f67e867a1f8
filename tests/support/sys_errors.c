/* The tables of sys_errors.h. The usual error comes first: a short sweep takes only that one. */
#include "support/sys_errors.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define ERRORS(call, ...)                                                                          \
	[EDO_CALL_##call] = (const int[])                                                          \
	{                                                                                          \
		__VA_ARGS__, 0                                                                     \
	}
#define NO_ERRORS(call)                                                                            \
	[EDO_CALL_##call] = (const int[])                                                          \
	{                                                                                          \
		0                                                                                  \
	}

static const int *const errors_by_call[EDO_SYS_CALL_COUNT] = {
	NO_ERRORS(clock_now),
	/* EAGAIN: the word has changed. */
	ERRORS(futex_wait, EINTR, EAGAIN),
	/* Only of addresses that are none. */
	NO_ERRORS(futex_wake),
	ERRORS(epoll_create, EMFILE, ENFILE, ENOMEM),
	/* Of adding; see below for the others. EPERM: the user's descriptor may be a plain file. */
	ERRORS(epoll_ctl, ENOSPC, ENOMEM, EPERM),
	/* ENOSYS: before Linux 5.11; EPERM: what a sandbox says to calls that it does not know. */
	ERRORS(epoll_wait_ns, EINTR, ENOSYS, EPERM),
	ERRORS(epoll_wait_ms, EINTR),
	ERRORS(eventfd, EMFILE, ENFILE, ENODEV, ENOMEM),
	/* EPERM is of the clocks that wake the machine. */
	ERRORS(timerfd, EMFILE, ENFILE, ENODEV, ENOMEM),
	/* ECANCELED is of timers on the clock that is set. */
	NO_ERRORS(timerfd_set),
	/* EAGAIN: the counter is full; sweep/test_wake_up.c fills it. */
	NO_ERRORS(eventfd_signal),
	ERRORS(close, EIO, ENOSPC, EDQUOT),
	/* F_GETFL of the user's descriptor. */
	ERRORS(is_nonblocking, EBADF),
	ERRORS(socket, EMFILE, EACCES, EAFNOSUPPORT, ENFILE, ENOBUFS, ENOMEM, EPROTONOSUPPORT,
	       ESOCKTNOSUPPORT),
	ERRORS(bind, EADDRINUSE, EACCES, EPERM, EADDRNOTAVAIL, ENOMEM, ENOBUFS),
	ERRORS(listen, EADDRINUSE, EACCES, ENOBUFS),
	ERRORS(accept, EMFILE, EAGAIN, ECONNABORTED, ENFILE, ENOBUFS, ENOMEM, EPERM, EPROTO,
	       ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH,
	       ENOSR, ESOCKTNOSUPPORT, EPROTONOSUPPORT, ETIMEDOUT),
	ERRORS(connect, ECONNREFUSED, EACCES, EPERM, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT,
	       EAGAIN, ENETUNREACH, EHOSTUNREACH, ENETDOWN, ECONNRESET, ENOBUFS, ENOMEM, ETIMEDOUT),
	ERRORS(recv, ECONNRESET, EAGAIN, ECONNREFUSED, ENOMEM, ENOBUFS, ENOTCONN, ETIMEDOUT,
	       EHOSTUNREACH, ENETUNREACH, ENETDOWN, EIO),
	ERRORS(send, EPIPE, EAGAIN, ECONNRESET, EACCES, EPERM, ENOBUFS, ENOMEM, ENOTCONN,
	       EOPNOTSUPP, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EIO),
	ERRORS(readv, ECONNRESET, EAGAIN, EIO, ENOMEM, ENOBUFS, ENOTCONN, ETIMEDOUT, EHOSTUNREACH),
	ERRORS(sendv, EPIPE, EAGAIN, ECONNRESET, EACCES, EPERM, ENOBUFS, ENOMEM, ENOTCONN,
	       EOPNOTSUPP, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EIO),
	ERRORS(shutdown, ENOTCONN),
	ERRORS(getsockopt, ENOBUFS, EACCES, ENOPROTOOPT),
	ERRORS(setsockopt, ENOMEM, ENOBUFS, EACCES, EPERM, EDOM, ENOPROTOOPT),
	ERRORS(getsockname, ENOBUFS),
	ERRORS(getpeername, ENOBUFS, ENOTCONN),
	/* mmap: EAGAIN when memory is to be locked; mprotect: EACCES. */
	ERRORS(stack_map, ENOMEM, EAGAIN, ENFILE, EPERM, EACCES),
};

static const int errors_of_limited_futex_wait[] = { EINTR, EAGAIN, ETIMEDOUT, 0 };

/* The kernel keeps what it has; it may lack the memory to forget. */
static const int errors_of_removing[] = { ENOMEM, 0 };

/* An attempt to connect that has failed says so here (p52). */
static const int errors_of_so_error[] = {
	-ECONNREFUSED, ENOBUFS,        EACCES,    -ETIMEDOUT,  -ENETUNREACH,
	-EHOSTUNREACH, -EHOSTDOWN,     -ENETDOWN, -ECONNRESET, -EACCES,
	-EPERM,        -EADDRNOTAVAIL, -ENOBUFS,  -ENOMEM,     0,
};

const int *edo_sys_errors_of(enum edo_sys_call call, int detail)
{
	if (call == EDO_CALL_epoll_ctl && detail != EPOLL_CTL_ADD)
		return errors_of_removing;
	if (call == EDO_CALL_getsockopt && detail == SO_ERROR)
		return errors_of_so_error;
	if (call == EDO_CALL_futex_wait && detail)
		return errors_of_limited_futex_wait;
	return errors_by_call[call];
}

unsigned edo_sys_errors_count(const int *errors)
{
	unsigned n = 0;

	while (errors[n])
		n++;
	return n;
}
