/*
 * What can be asked of a stream's socket and told to it. Nothing here waits; any thread may call.
 *
 * Each function finds the registration, makes its system calls on the descriptor, and lets go. A half of a
 * stream may ask and tell everything but what ends the other half's direction (tcp.c).
 */
#include "base/sys.h"
#include "leaf/net/net.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

#define NS_PER_SEC UINT64_C(1000000000)

static int set_option(edo_tcp *stream, int level, int name, int value)
{
	struct edo_net_use use;
	int rc = edo_net_stream_call_begin(&use, stream);

	if (rc < 0)
		return rc;
	rc = edo_net_set_int(use.sio->fd, level, name, value);
	edo_net_end(&use);
	return rc;
}

static int get_option(edo_tcp *stream, int level, int name, int *value)
{
	struct edo_net_use use;
	int rc = edo_net_stream_call_begin(&use, stream);

	if (rc < 0)
		return rc;
	rc = edo_net_get_int(use.sio->fd, level, name, value);
	edo_net_end(&use);
	return rc;
}

int edo_tcp_set_nodelay(edo_tcp *stream, bool on)
{
	return set_option(stream, IPPROTO_TCP, TCP_NODELAY, on);
}

int edo_tcp_get_nodelay(edo_tcp *stream, bool *on)
{
	int value = 0;
	int rc = get_option(stream, IPPROTO_TCP, TCP_NODELAY, &value);

	if (rc == 0)
		*on = value != 0;
	return rc;
}

/* Rounded up; what is beyond an int the system refuses as it does any number too large. */
static int whole_seconds(edo_duration duration)
{
	uint64_t seconds = duration / NS_PER_SEC + (duration % NS_PER_SEC != 0);

	return seconds > INT32_MAX ? INT32_MAX : (int)seconds;
}

/* The probing is turned on last, when all that it needs has been accepted. */
static int set_keepalive(int fd, edo_duration idle, edo_duration every, int probes)
{
	int rc = 0;

	if (idle > 0)
		rc = edo_net_set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, whole_seconds(idle));
	if (rc == 0 && every > 0)
		rc = edo_net_set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, whole_seconds(every));
	if (rc == 0 && probes > 0)
		rc = edo_net_set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
	if (rc == 0)
		rc = edo_net_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, idle > 0);
	return rc;
}

int edo_tcp_set_keepalive(edo_tcp *stream, edo_duration idle, edo_duration every, int probes)
{
	struct edo_net_use use;
	int rc;

	if (probes < 0)
		return -EINVAL;
	rc = edo_net_stream_call_begin(&use, stream);
	if (rc < 0)
		return rc;
	rc = set_keepalive(use.sio->fd, idle, every, probes);
	edo_net_end(&use);
	return rc;
}

int edo_tcp_set_buffers(edo_tcp *stream, int send, int receive)
{
	struct edo_net_use use;
	int rc = edo_net_stream_call_begin(&use, stream);

	if (rc < 0)
		return rc;
	rc = edo_net_set_buffers(use.sio->fd, send, receive);
	edo_net_end(&use);
	return rc;
}

int edo_tcp_get_buffers(edo_tcp *stream, int *send, int *receive)
{
	int rc = get_option(stream, SOL_SOCKET, SO_SNDBUF, send);

	return rc < 0 ? rc : get_option(stream, SOL_SOCKET, SO_RCVBUF, receive);
}

int edo_tcp_set_reset_on_close(edo_tcp *stream, bool on)
{
	const struct linger linger = { .l_onoff = on, .l_linger = 0 };
	struct edo_net_use use;
	int rc = edo_net_stream_call_begin(&use, stream);

	if (rc < 0)
		return rc;
	rc = edo_sys_setsockopt(use.sio->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	edo_net_end(&use);
	return rc;
}

/* ---- addresses ---- */

typedef int get_address_fn(int fd, struct sockaddr *address, socklen_t *len);

static int get_address(edo_tcp *stream, get_address_fn *get, edo_addr *addr)
{
	struct edo_net_use use;
	int rc = edo_net_stream_call_begin(&use, stream);

	if (rc < 0)
		return rc;
	memset(addr, 0, sizeof *addr);
	addr->len = sizeof addr->sockaddr;
	rc = get(use.sio->fd, &addr->sockaddr.any, &addr->len);
	edo_net_end(&use);
	return rc;
}

int edo_tcp_local_addr(edo_tcp *stream, edo_addr *addr)
{
	return get_address(stream, edo_sys_getsockname, addr);
}

int edo_tcp_peer_addr(edo_tcp *stream, edo_addr *addr)
{
	return get_address(stream, edo_sys_getpeername, addr);
}

/* ---- the idle limit ---- */

static int set_limit(const struct edo_net_use *use, edo_duration limit)
{
	if (limit == EDO_FOREVER)
		limit = 0;
	if (use->driver->has_time)
		return edo_io_idle_set(&use->driver->time, use->sio, limit);
	return limit ? -EOPNOTSUPP : 0;
}

int edo_tcp_set_timeout(edo_tcp *stream, edo_duration limit)
{
	struct edo_net_use use;
	int rc = edo_net_stream_begin(&use, stream);

	if (rc < 0)
		return rc;
	rc = set_limit(&use, limit);
	edo_net_end(&use);
	return rc;
}

int edo_tcp_last_error(edo_tcp *stream)
{
	struct edo_net_use use;
	int rc = edo_net_stream_begin(&use, stream);

	if (rc < 0)
		return rc;
	rc = edo_load(&use.sio->last_error, relaxed); /* a number by itself */
	edo_net_end(&use);
	return rc;
}
