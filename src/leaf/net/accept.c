/*
 * Waiting for a connection.
 *
 * The future names its listener by registration, from its start on: the listener may move meanwhile, and
 * its close ends the wait. One task accepts at a time.
 *
 * Nothing is held between polls: accept() is called in the poll that returns its result, so a future that
 * is dropped loses no connection, it stays in the kernel's queue.
 *
 * Out of descriptors or memory, the connection stays in the queue and no new edge comes. The future then
 * waits by its own timer and tries again. Meanwhile it waits for the listener's *other* direction too, in
 * which a listener never becomes ready: so it is woken when the listener is closed, and a second
 * task that accepts is still told that it is one too many.
 */
#include "base/sys.h"
#include "leaf/net/net.h"
#include <edo/fiber.h>
#include <errno.h>
#include <string.h>

#define FIRST_PAUSE EDO_MS(5)
#define LONGEST_PAUSE EDO_SEC(1)

/* In edo_claimed_: a bit for each direction claimed, and whether the pause's timer runs. */
enum { CLAIMED_READING = 1, CLAIMED_WRITING = 2, IN_PAUSE = 4 };

static edo_tcp_accept_future *accept_of(edo_future *future)
{
	return edo_container_of(future, edo_tcp_accept_future, future);
}

/* ---- what accept() may say ---- */

/* The connection died in the queue, or its network did: the next one may be better (accept(2)). */
static bool is_passed_over(int error)
{
	switch (error) {
	case -ECONNABORTED:
	case -ENETDOWN:
	case -EPROTO:
	case -ENOPROTOOPT:
	case -EHOSTDOWN:
	case -ENONET:
	case -EHOSTUNREACH:
	case -EOPNOTSUPP:
	case -ENETUNREACH:
		return true;
	default:
		return false;
	}
}

/* Times may get better. ENOSPC: the user's limit of epoll registrations. */
static bool is_shortage(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM ||
	       error == -ENOSPC;
}

/* ---- claims ---- */

static uint32_t bit_of(enum edo_direction direction)
{
	return direction == EDO_READING ? CLAIMED_READING : CLAIMED_WRITING;
}

static edo_poll poll_direction(edo_tcp_accept_future *accept, struct edo_scheduled_io *sio,
			       enum edo_direction direction, edo_context *cx, edo_ready *ready)
{
	bool claimed = accept->edo_claimed_ & bit_of(direction);
	edo_poll polled = edo_io_poll_ready(sio, accept->edo_listener_.edo_generation_, direction,
					    &claimed, cx, ready);

	if (claimed)
		accept->edo_claimed_ |= bit_of(direction);
	return polled;
}

static void unclaim(edo_tcp_accept_future *accept, enum edo_direction direction)
{
	const edo_tcp_listener *listener = &accept->edo_listener_;

	if (!(accept->edo_claimed_ & bit_of(direction)))
		return;
	accept->edo_claimed_ &= ~bit_of(direction);
	edo_net_let_go(listener->edo_driver_, listener->edo_index_, listener->edo_generation_,
		       direction);
}

static void end_pause(edo_tcp_accept_future *accept)
{
	if (!(accept->edo_claimed_ & IN_PAUSE))
		return;
	accept->edo_claimed_ &= ~(uint32_t)IN_PAUSE;
	edo_timer_drop(&accept->edo_retry_);
	unclaim(accept, EDO_WRITING);
}

static void drop_accept(edo_future *future)
{
	edo_tcp_accept_future *accept = accept_of(future);

	end_pause(accept);
	unclaim(accept, EDO_READING);
	unclaim(accept, EDO_WRITING);
}

static edo_poll finish(edo_tcp_accept_future *accept, int result)
{
	drop_accept(&accept->future);
	accept->result = result;
	return result;
}

/* ---- the pause ---- */

/* Each is twice as long as the last, until a connection comes through. */
static void begin_pause(edo_tcp_accept_future *accept, const struct edo_time_driver *time)
{
	if (accept->edo_pause_ == 0)
		accept->edo_pause_ = FIRST_PAUSE;
	else if (accept->edo_pause_ < LONGEST_PAUSE / 2)
		accept->edo_pause_ *= 2;
	else
		accept->edo_pause_ = LONGEST_PAUSE;
	edo_timer_init(&accept->edo_retry_,
		       edo_instant_add(edo_time_now(time), accept->edo_pause_));
	accept->edo_claimed_ |= IN_PAUSE;
}

/* EDO_READY: it is over. */
static edo_poll poll_pause(edo_tcp_accept_future *accept, struct edo_scheduled_io *sio,
			   edo_context *cx)
{
	edo_ready unused;
	edo_poll polled = poll_direction(accept, sio, EDO_WRITING, cx, &unused);

	if (polled != EDO_PENDING && polled != EDO_READY)
		return polled;
	polled = edo_future_poll(&accept->edo_retry_.future, cx);
	if (polled != EDO_PENDING)
		end_pause(accept);
	return polled;
}

/* ---- the poll ---- */

/* On a failure the peer sees its connection closed. */
static int admit(edo_tcp_accept_future *accept, struct edo_driver *driver, int fd)
{
	int rc = edo_net_adopt_socket(driver, fd, accept->edo_stream_);

	if (rc < 0)
		(void)edo_sys_close(fd);
	return rc;
}

static int call_accept(edo_tcp_accept_future *accept, struct edo_scheduled_io *sio)
{
	edo_addr unwanted;
	edo_addr *peer = accept->edo_peer_ ? accept->edo_peer_ : &unwanted;
	int rc = edo_io_call_begin(sio, accept->edo_listener_.edo_generation_, EDO_READING);

	if (rc < 0)
		return rc;
	memset(peer, 0, sizeof *peer);
	peer->len = sizeof peer->sockaddr;
	rc = edo_sys_accept(sio->fd, &peer->sockaddr.any, &peer->len);
	edo_io_call_end(sio, EDO_READING);
	return rc;
}

/* One connection, if one is there: 0, or a negated errno; -EAGAIN: none. */
static int try_accept(edo_tcp_accept_future *accept, struct edo_driver *driver,
		      struct edo_scheduled_io *sio)
{
	int fd = call_accept(accept, sio);

	return fd < 0 ? fd : admit(accept, driver, fd);
}

/* What to do about what accept() said. EDO_READY: try again. */
static edo_poll recover(edo_tcp_accept_future *accept, const struct edo_driver *driver, int error)
{
	if (is_passed_over(error))
		return EDO_READY;
	if (is_shortage(error) && driver->has_time) {
		begin_pause(accept, &driver->time);
		return EDO_READY;
	}
	return error;
}

/* Returns when it has a result, or when there is something to be waited for. */
static edo_poll poll_listener(edo_tcp_accept_future *accept, struct edo_driver *driver,
			      struct edo_scheduled_io *sio, edo_context *cx)
{
	edo_ready ready;
	edo_poll polled = EDO_READY;
	int rc;

	do {
		if (accept->edo_claimed_ & IN_PAUSE)
			polled = poll_pause(accept, sio, cx);
		if (polled == EDO_READY)
			polled = poll_direction(accept, sio, EDO_READING, cx, &ready);
		if (polled != EDO_READY)
			return polled;
		if (!edo_coop_spend(cx))
			return EDO_PENDING;
		rc = try_accept(accept, driver, sio);
		if (rc == 0)
			return EDO_READY;
		if (rc == -EAGAIN) {
			edo_coop_refund(cx);
			edo_io_clear(sio, EDO_READING, ready);
		} else {
			polled = recover(accept, driver, rc);
		}
	} while (polled == EDO_READY);
	return polled;
}

static edo_poll poll_accept(edo_future *future, edo_context *cx)
{
	edo_tcp_accept_future *accept = accept_of(future);
	const edo_tcp_listener *listener = &accept->edo_listener_;
	struct edo_scheduled_io *sio;
	struct edo_driver *driver;
	edo_poll polled;
	int rc;

	if (accept->result < 0) /* at the start */
		return accept->result;
	rc = edo_net_poll_own_driver(cx, listener->edo_driver_, &driver);
	if (rc < 0)
		return finish(accept, rc);
	sio = edo_io_find(&driver->io, listener->edo_index_, listener->edo_generation_);
	if (!sio)
		return finish(accept, -EBADF);
	polled = poll_listener(accept, driver, sio, cx);
	return polled == EDO_PENDING ? polled : finish(accept, polled);
}

EDO_FUTURE_OPS(accept_ops, edo_tcp_accept_future, future, poll_accept, drop_accept);

/* A dead listener is told of at the first poll. */
edo_future *edo_tcp_accept_start(edo_tcp_accept_future *accept, edo_tcp_listener *listener,
				 edo_tcp *stream, edo_addr *peer)
{
	struct edo_net_use use;

	memset(accept, 0, sizeof *accept);
	accept->future.ops = &accept_ops;
	accept->edo_stream_ = stream;
	accept->edo_peer_ = peer;
	accept->result = edo_net_listener_begin(&use, listener);
	if (accept->result == 0)
		edo_net_end(&use);
	accept->edo_listener_ = *listener;
	return &accept->future;
}

int edo_tcp_accept(edo_tcp_listener *listener, edo_tcp *stream, edo_addr *peer)
{
	edo_tcp_accept_future accept;

	return edo_await(edo_tcp_accept_start(&accept, listener, stream, peer));
}
