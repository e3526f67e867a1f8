/*
 * Making a connection: the system call, and the wait for its outcome.
 *
 * The attempt is a registered socket of the future's own, until it succeeds and becomes the caller's
 * stream. Whatever else ends the future, a failure or a drop, closes it: nothing is left.
 *
 * The socket is registered after connect() has been called, since an unconnected one reports a
 * hang-up for ever (p43). Its first writability means that the attempt has ended; how, SO_ERROR tells (p52).
 */
#include "base/sys.h"
#include "leaf/net/net.h"
#include <edo/fiber.h>
#include <errno.h>
#include <string.h>

static edo_tcp_connect_future *connect_of(edo_future *future)
{
	return edo_container_of(future, edo_tcp_connect_future, future);
}

static bool is_under_way(const edo_tcp_connect_future *connect)
{
	return connect->edo_attempt_.edo_driver_ != 0;
}

/* Deregistering wakes and forgets whoever waits, so the claim needs no word of its own. */
static void give_up(edo_tcp_connect_future *connect)
{
	edo_tcp attempt = connect->edo_attempt_;
	struct edo_net_use use;
	int rc;

	if (!is_under_way(connect))
		return;
	memset(&connect->edo_attempt_, 0, sizeof connect->edo_attempt_);
	connect->edo_claimed_ = 0;
	rc = edo_net_slot_begin(&use, attempt.edo_driver_, attempt.edo_index_,
				attempt.edo_generation_);
	if (rc == -ESHUTDOWN) /* the runtime is gone, the socket is still ours */
		(void)edo_sys_close(attempt.edo_fd_);
	if (rc < 0)
		return;
	(void)edo_net_close_slot(&use, attempt.edo_index_, attempt.edo_generation_);
	edo_net_end(&use);
}

static void drop_connect(edo_future *future)
{
	give_up(connect_of(future));
}

static edo_poll finish(edo_tcp_connect_future *connect, int result)
{
	if (result < 0)
		give_up(connect);
	connect->result = result;
	return result;
}

/* ---- beginning ---- */

/* 0: connected; -EINPROGRESS. The socket is registered then, and only then. */
static int connect_socket(edo_tcp_connect_future *connect, struct edo_driver *driver, int fd)
{
	const edo_addr *peer = &connect->edo_peer_;
	int connected = edo_sys_connect(fd, &peer->sockaddr.any, peer->len);
	int rc;

	if (connected == 0)
		rc = edo_net_adopt_socket(driver, fd, &connect->edo_attempt_);
	else if (connected == -EINPROGRESS)
		rc = edo_net_adopt_unready(driver, fd, &connect->edo_attempt_);
	else
		return connected;
	return rc < 0 ? rc : connected;
}

static int begin(edo_tcp_connect_future *connect, struct edo_driver *driver)
{
	int fd = edo_sys_socket(connect->edo_peer_.sockaddr.any.sa_family, SOCK_STREAM);
	int rc;

	if (fd < 0)
		return fd;
	rc = connect_socket(connect, driver, fd);
	if (rc < 0 && rc != -EINPROGRESS)
		(void)edo_sys_close(fd);
	return rc;
}

/* ---- waiting ---- */

/*
 * 0: connected; -EINPROGRESS: readiness was a hint, and wrong. A socket that hung up without leaving an
 * error will never say anything else.
 */
static int outcome(const struct edo_scheduled_io *sio, edo_ready ready)
{
	edo_addr peer = { .len = sizeof peer.sockaddr };
	int error;
	int rc = edo_net_get_int(sio->fd, SOL_SOCKET, SO_ERROR, &error);

	if (rc < 0 || error)
		return rc < 0 ? rc : -error;
	rc = edo_sys_getpeername(sio->fd, &peer.sockaddr.any, &peer.len);
	return rc == -ENOTCONN && !ready.write_closed ? -EINPROGRESS : rc;
}

static int checked_outcome(struct edo_scheduled_io *sio, uint32_t generation, edo_ready ready)
{
	int rc = edo_io_call_begin(sio, generation, EDO_WRITING);

	if (rc < 0)
		return rc;
	rc = outcome(sio, ready);
	edo_io_call_end(sio, EDO_WRITING);
	return rc;
}

static edo_poll poll_outcome(edo_tcp_connect_future *connect, struct edo_scheduled_io *sio,
			     edo_context *cx)
{
	uint32_t generation = connect->edo_attempt_.edo_generation_;
	bool claimed = connect->edo_claimed_;
	edo_ready ready;
	edo_poll polled;
	int rc;

	for (;;) {
		polled = edo_io_poll_ready(sio, generation, EDO_WRITING, &claimed, cx, &ready);
		connect->edo_claimed_ = claimed;
		if (polled != EDO_READY)
			return polled;
		if (!edo_coop_spend(cx))
			return EDO_PENDING;
		rc = checked_outcome(sio, generation, ready);
		if (rc != -EINPROGRESS)
			break;
		edo_coop_refund(cx);
		edo_io_clear(sio, EDO_WRITING, ready);
	}
	edo_io_unclaim(sio, generation, EDO_WRITING, &claimed);
	connect->edo_claimed_ = 0;
	return rc;
}

static edo_poll hand_over(edo_tcp_connect_future *connect)
{
	*connect->edo_stream_ = connect->edo_attempt_;
	memset(&connect->edo_attempt_, 0, sizeof connect->edo_attempt_);
	return finish(connect, 0);
}

static edo_poll poll_attempt(edo_tcp_connect_future *connect, edo_context *cx)
{
	const edo_tcp *attempt = &connect->edo_attempt_;
	struct edo_scheduled_io *sio;
	struct edo_driver *driver;
	edo_poll polled;
	int rc = edo_net_poll_own_driver(cx, attempt->edo_driver_, &driver);

	if (rc < 0)
		return finish(connect, rc);
	sio = edo_io_find(&driver->io, attempt->edo_index_, attempt->edo_generation_);
	if (!sio)
		return finish(connect, -EBADF);
	polled = poll_outcome(connect, sio, cx);
	if (polled == EDO_PENDING)
		return polled;
	return polled < 0 ? finish(connect, polled) : hand_over(connect);
}

static edo_poll poll_connect(edo_future *future, edo_context *cx)
{
	edo_tcp_connect_future *connect = connect_of(future);
	struct edo_driver *driver;
	int rc;

	if (connect->result < 0) /* at the start */
		return connect->result;
	if (is_under_way(connect))
		return poll_attempt(connect, cx);
	rc = edo_net_poll_driver(cx, &driver);
	if (rc == 0)
		rc = begin(connect, driver);
	if (rc == -EINPROGRESS)
		return poll_attempt(connect, cx);
	return rc < 0 ? finish(connect, rc) : hand_over(connect);
}

EDO_FUTURE_OPS(connect_ops, edo_tcp_connect_future, future, poll_connect, drop_connect);

static edo_future *start(edo_tcp_connect_future *connect, edo_tcp *stream)
{
	memset(connect, 0, sizeof *connect);
	connect->future.ops = &connect_ops;
	connect->edo_stream_ = stream;
	return &connect->future;
}

edo_future *edo_tcp_connect_start(edo_tcp_connect_future *connect, edo_tcp *stream,
				  const char *address)
{
	edo_future *future = start(connect, stream);

	connect->result = edo_addr_parse(&connect->edo_peer_, address);
	return future;
}

edo_future *edo_tcp_connect_addr_start(edo_tcp_connect_future *connect, edo_tcp *stream,
				       const edo_addr *address)
{
	edo_future *future = start(connect, stream);

	connect->edo_peer_ = *address;
	connect->result = edo_net_is_address(address) ? 0 : -EINVAL;
	return future;
}

int edo_tcp_connect(edo_tcp *stream, const char *address)
{
	edo_tcp_connect_future connect;

	return edo_await(edo_tcp_connect_start(&connect, stream, address));
}

int edo_tcp_connect_addr(edo_tcp *stream, const edo_addr *address)
{
	edo_tcp_connect_future connect;

	return edo_await(edo_tcp_connect_addr_start(&connect, stream, address));
}
