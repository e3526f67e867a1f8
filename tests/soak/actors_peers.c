/* Actors round the connections: who listens, who comes without manners, who closes what is not theirs. */
#include "net.h"
#include <fcntl.h>
#include <netinet/tcp.h>
#include <unistd.h>

/* ---- servers ---- */

static struct soak_listener *take_listener(struct soak_world *world)
{
	for (int i = 0; i < SOAK_LISTENERS; i++)
		if (!world->listeners[i].is_taken)
			return &world->listeners[i];
	return NULL;
}

static int listen_at(struct soak_actor *self, struct soak_listener *place, int backlog)
{
	edo_listen_options options = EDO_LISTEN_INIT;
	edo_addr any;
	int rc = edo_addr_parse(&any, "127.0.0.1:0");

	soak_expect(rc == 0, "an address said %s", edo_strerror(rc));
	options.backlog = backlog;
	options.reuse_port = soak_one_in(&self->mix, 4);
	if (soak_one_in(&self->mix, 3))
		options.send_buffer = 4096;
	rc = edo_tcp_listen_with(&place->listener, &any, &options);
	soak_expect_made(rc, "a listen");
	if (rc < 0)
		return rc;
	soak_count(SOAK_listens);
	return edo_tcp_listener_addr(&place->listener, &place->addr);
}

static int accept_one(struct soak_actor *self, struct soak_listener *place, edo_tcp *tcp)
{
	edo_tcp_accept_future accept;
	edo_timeout_future timeout;
	struct soak_give_up give_up;
	edo_addr peer;
	edo_future *future = edo_tcp_accept_start(&accept, &place->listener, tcp, &peer);

	if (soak_one_in(&self->mix, 3))
		future = soak_give_up_start(&give_up, 1 + soak_below(&self->mix, 6), future);
	else if (soak_has_time(self->world) && soak_one_in(&self->mix, 2))
		future = edo_timeout_start(&timeout, soak_length(&self->mix, EDO_MS(3)), future);
	return edo_await(future);
}

static void serve(struct soak_actor *self, const edo_tcp *tcp)
{
	struct soak_stream *stream = soak_stream_take(self->world, tcp);
	edo_tcp unwanted = *tcp;
	enum soak_actor_kind kind = soak_one_in(&self->mix, 3) ? SOAK_MIRROR : SOAK_SESSION;

	if (!stream)
		(void)edo_tcp_close(&unwanted);
	else if (soak_spawn_kind(self->world, &self->mix, kind, 0, stream, NULL) < 0)
		soak_stream_end(stream, false);
}

/* -EBADF: closed by somebody who told so. */
static void see_accepted(const struct soak_listener *place, int rc)
{
	soak_count(rc == 0 ? SOAK_accepts : SOAK_accepts_failed);
	if (rc != -EBADF || place->is_open)
		soak_expect_made(rc, "an accept");
}

static int accept_all(struct soak_actor *self, struct soak_listener *place)
{
	int rc = 0;

	for (uint32_t left = 4 + soak_below(&self->mix, 60); left > 0 && place->is_open; left--) {
		edo_tcp tcp;

		if (soak_is_draining(self->world))
			break;
		rc = accept_one(self, place, &tcp);
		see_accepted(place, rc);
		if (rc == 0)
			serve(self, &tcp);
		if (rc == -ECANCELED)
			break;
	}
	return rc;
}

int soak_server(struct soak_actor *self)
{
	struct soak_listener *place = take_listener(self->world);
	int rc;

	if (!place || soak_is_draining(self->world))
		return 0;
	rc = listen_at(self, place, 64);
	if (rc < 0)
		return 0;
	place->is_taken = true;
	place->is_open = true;
	rc = accept_all(self, place);
	if (place->is_open)
		soak_expect(edo_tcp_listener_close(&place->listener) == 0,
			    "the close of a listener failed");
	place->is_open = false;
	place->is_taken = false;
	return rc == -ECANCELED ? rc : 0;
}

/* ---- those who come without manners: plain sockets ---- */

static struct soak_listener *open_listener(struct soak_world *world)
{
	for (int i = 0; i < SOAK_LISTENERS; i++)
		if (world->listeners[i].is_open)
			return &world->listeners[i];
	return NULL;
}

static void leave_with_reset(int fd)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	soak_count(SOAK_resets_sent);
}

/* Sends no header, or nonsense, and goes. */
int soak_visitor(struct soak_actor *self)
{
	struct soak_listener *place = open_listener(self->world);
	unsigned char nonsense[32] = { 0xff, 0xff, 0xff, 0xff };
	int rc = 0;
	int fd;

	if (!place)
		return 0;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		soak_expect_made(-errno, "a visitor's socket");
		return 0;
	}
	(void)connect(fd, &place->addr.sockaddr.any, place->addr.len);
	if (soak_one_in(&self->mix, 2))
		rc = soak_rest(self->world, &self->mix);
	(void)send(fd, nonsense, soak_below(&self->mix, sizeof nonsense), MSG_NOSIGNAL);
	if (rc == 0 && soak_one_in(&self->mix, 2))
		rc = soak_rest(self->world, &self->mix);
	if (soak_one_in(&self->mix, 2))
		leave_with_reset(fd);
	(void)close(fd);
	return rc == -ECANCELED ? rc : 0;
}

/* ---- more than a queue holds ---- */

enum { CROWD = 6 };

/* Nobody accepts: two or three get in, the others' attempts are given up under way. */
int soak_crowd(struct soak_actor *self)
{
	struct soak_listener place = { 0 };
	edo_tcp tcp[CROWD] = { 0 };
	int rc = listen_at(self, &place, 1);

	if (rc < 0)
		return 0;
	for (int i = 0; i < CROWD && rc != -ECANCELED; i++) {
		edo_tcp_connect_future connect;
		struct soak_give_up give_up;

		rc = edo_await(soak_give_up_start(&give_up, 1 + soak_below(&self->mix, 30),
						  edo_tcp_connect_addr_start(&connect, &tcp[i],
									     &place.addr)));
		if (rc != -ECONNREFUSED)
			soak_expect_made(rc, "a connect in a crowd");
	}
	if (rc == 0 && soak_one_in(&self->mix, 2))
		rc = soak_rest(self->world, &self->mix);
	soak_expect(edo_tcp_listener_close(&place.listener) == 0, "a crowd's close failed");
	for (int i = 0; i < CROWD; i++)
		(void)edo_tcp_close(&tcp[i]);
	soak_count(SOAK_backlogs_filled);
	return rc == -ECANCELED ? rc : 0;
}

/* ---- closing what others use ---- */

static void close_a_listener(struct soak_world *world, struct soak_mix *mix)
{
	struct soak_listener *place = &world->listeners[soak_below(mix, SOAK_LISTENERS)];

	if (!place->is_open)
		return;
	place->is_open = false;
	soak_expect(edo_tcp_listener_close(&place->listener) == 0,
		    "the close of another's listener failed");
	soak_count(SOAK_closes_by_others);
}

static void close_a_stream(struct soak_world *world, struct soak_mix *mix)
{
	struct soak_stream *stream = &world->streams[soak_below(mix, SOAK_STREAMS)];
	int rc;

	if (!stream->is_taken || !stream->connection)
		return;
	soak_break(stream);
	rc = soak_one_in(mix, 2) ? edo_tcp_close(soak_tcp(stream)) :
				   edo_tcp_shutdown(soak_tcp(stream), EDO_SHUT_RDWR);
	soak_expect_stream(stream, rc, "the close of another's stream");
	soak_count(SOAK_closes_by_others);
}

int soak_closer(struct soak_actor *self)
{
	int rc = 0;

	for (uint32_t left = soak_below(&self->mix, 20); left > 0 && rc == 0; left--) {
		if (soak_one_in(&self->mix, 16))
			close_a_listener(self->world, &self->mix);
		else
			close_a_stream(self->world, &self->mix);
		rc = soak_rest(self->world, &self->mix);
	}
	return rc == -ECANCELED ? rc : 0;
}
