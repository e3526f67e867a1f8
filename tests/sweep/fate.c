#include "fate.h"
#include <sys/epoll.h>

static bool is_one_of(int error, const int *errors)
{
	while (*errors && *errors != error)
		errors++;
	return *errors != 0;
}

/* Of another connection, or of times that may get better: accept() goes on. EAGAIN: its event comes. */
static enum sweep_fate fate_of_accept(int error)
{
	static const int told[] = { EPERM, ENOSR, ESOCKTNOSUPPORT, EPROTONOSUPPORT, ETIMEDOUT, 0 };

	return is_one_of(error, told) ? SWEEP_TOLD : SWEEP_SURVIVED;
}

/*
 * Of adding: by whoever wanted to register; if it was an accepted connection, by its peer, whose
 * connection is closed. Of removing: nobody, as the descriptor is closed, or edo_async_fd_drop()'s caller.
 */
static enum sweep_fate fate_of_epoll_ctl(int operation)
{
	return operation == EPOLL_CTL_ADD ? SWEEP_TOLD_OR_FELT : SWEEP_ANY;
}

enum sweep_fate sweep_fate_of(struct edo_sys_injected fault)
{
	switch (fault.call) {
	case EDO_CALL_futex_wait:
	case EDO_CALL_epoll_wait_ns:
	case EDO_CALL_epoll_wait_ms:
	case EDO_CALL_close: /* of a socket: it is closed, and nobody could do better */
		return SWEEP_SURVIVED;
	case EDO_CALL_accept:
		return fate_of_accept(fault.error);
	case EDO_CALL_epoll_ctl:
		return fate_of_epoll_ctl(fault.detail);
	case EDO_CALL_recv:
	case EDO_CALL_send:
	case EDO_CALL_readv:
	case EDO_CALL_sendv:
		return fault.error == EAGAIN ? SWEEP_SURVIVED : SWEEP_TOLD;
	case EDO_CALL_shutdown: /* a half's close ends its direction, if there still is one */
		return SWEEP_ANY;
	case EDO_CALL_getpeername: /* not yet connected is waited for; but of a caller's socket it is told */
		return fault.error == ENOTCONN ? SWEEP_ANY : SWEEP_TOLD;
	default:
		return SWEEP_TOLD;
	}
}

bool sweep_is_felt(int rc)
{
	/* Refused: by a listener that whoever was told has closed. */
	static const int felt[] = { -ECONNRESET, -EPIPE, -ENOTCONN, -ECONNREFUSED, 0 };

	return is_one_of(rc, felt);
}
