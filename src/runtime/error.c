/* Names of errors, as edo means them. */
#include <edo/error.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

static const struct {
	int error;
	const char *text;
} names[] = {
	{ EINVAL, "invalid argument, or no runtime entered" },
	{ ENOMEM, "out of memory" },
	{ ECANCELED, "canceled" },
	{ ETIMEDOUT, "timed out" },
	{ ETIME, "the time has already passed" },
	{ EDEADLK, "would wait inside a poll, for itself, or in a nested runtime" },
	{ EXDEV, "belongs to another runtime" },
	{ ESHUTDOWN, "the runtime has shut down" },
	{ EOPNOTSUPP, "not supported by this runtime" },
	{ EBUSY, "already in use by another task or thread" },
	{ EBADF, "closed, moved, or not a descriptor" },
	{ EPIPE, "the other side takes no more" },
	{ EAGAIN, "not now" },
	{ EMFILE, "out of descriptors in this process" },
	{ ENFILE, "out of descriptors in the system" },
	{ EADDRINUSE, "address in use" },
	{ EADDRNOTAVAIL, "address not available" },
	{ ECONNREFUSED, "connection refused" },
	{ ECONNRESET, "connection reset by the peer" },
	{ ECONNABORTED, "connection aborted" },
	{ ENOTCONN, "not connected" },
	{ ENETUNREACH, "network unreachable" },
	{ EHOSTUNREACH, "host unreachable" },
	{ EACCES, "permission denied" },
	{ EPERM, "not permitted" },
	{ EEXIST, "already registered" },
	{ ENOSPC, "no space, or too many registrations" },
	{ ENOBUFS, "out of network buffers" },
	{ ECHILD, "used in a child process after a fork" },
	{ ERANGE, "out of range" },
};

const char *edo_strerror(int error)
{
	if (error >= 0)
		return "success";
	if (error == INT_MIN) /* EDO_PENDING, whose negative there is not */
		return "not yet";
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i].error == -error)
			return names[i].text;
	return strerror(-error);
}
