/* Actors that hold a connection: the fibers at both its ends, and the stackless mirror. */
#include "net.h"
#include <stdlib.h>

/* ---- one end of a connection ---- */

struct session {
	struct soak_actor *self;
	struct soak_stream *stream;
	unsigned end; /* 0: client */
	uint64_t to_send;
	uint64_t received;
	bool in_ended, out_ended;
	bool is_given_up;
	unsigned char in[SOAK_CHUNK];
	unsigned char out[SOAK_CHUNK];
	struct iovec parts[2];
	edo_tcp_io reading;
	edo_tcp_io writing;
};

static uint64_t *sent(struct session *session)
{
	return &session->stream->connection->sent[session->end];
}

static void split_buffer(struct session *session, unsigned char *bytes, size_t len)
{
	size_t first = soak_below(&session->self->mix, (uint32_t)len + 1);

	session->parts[0] = (struct iovec){ bytes, first };
	session->parts[1] = (struct iovec){ bytes + first, len - first };
}

static edo_future *start_read(struct session *session)
{
	edo_tcp *tcp = soak_tcp(session->stream);
	size_t len = 1 + soak_length(&session->self->mix, SOAK_CHUNK - 1);

	if (!soak_one_in(&session->self->mix, 4))
		return edo_tcp_read_start(&session->reading, tcp, session->in, len);
	split_buffer(session, session->in, len);
	return edo_tcp_readv_start(&session->reading, tcp, session->parts, 2);
}

static edo_future *start_write(struct session *session)
{
	edo_tcp *tcp = soak_tcp(session->stream);
	uint64_t left = session->to_send - *sent(session);
	size_t len =
		1 + soak_length(&session->self->mix, (left < SOAK_CHUNK ? left : SOAK_CHUNK) - 1);

	soak_fill(session->stream->connection, session->end, session->out, len);
	if (soak_one_in(&session->self->mix, 2))
		return edo_tcp_write_start(&session->writing, tcp, session->out, len);
	return edo_tcp_write_all_start(&session->writing, tcp, session->out, len);
}

/* What has moved counts also when the wait was given up. */
static void see_written(struct session *session, int rc)
{
	soak_expect_stream(session->stream, rc, "a write");
	*sent(session) += session->writing.done;
}

static void see_read(struct session *session, ssize_t rc)
{
	soak_expect_stream(session->stream, rc, "a read");
	if (rc > 0) {
		soak_verify(session->stream->connection, session->end, session->received,
			    session->in, (size_t)rc);
		session->received += (uint64_t)rc;
	} else if (rc == 0) {
		soak_verify_end(session->stream->connection, session->end, session->received);
		session->in_ended = true;
	}
}

/* Whether the session cannot go on after this. */
static bool is_fatal(ssize_t rc)
{
	return rc < 0 && rc != SOAK_GAVE_UP && rc != -ETIMEDOUT;
}

static int read_some(struct session *session, bool is_given_up)
{
	struct soak_give_up give_up;
	edo_future *future = start_read(session);
	int rc;

	if (is_given_up)
		future = soak_give_up_start(&give_up, 1 + soak_below(&session->self->mix, 4),
					    future);
	rc = edo_await(future);
	see_read(session, rc);
	return rc;
}

static int write_some(struct session *session, bool is_given_up)
{
	struct soak_give_up give_up;
	edo_future *future = start_write(session);
	int rc;

	if (is_given_up)
		future = soak_give_up_start(&give_up, 1 + soak_below(&session->self->mix, 4),
					    future);
	rc = edo_await(future);
	see_written(session, rc);
	return rc;
}

/* The one of the two that is not ready is dropped; a cancelled wait drops both. */
static int read_or_write(struct session *session)
{
	struct soak_either either;
	edo_future *reading = start_read(session);
	int rc = edo_await(soak_either_start(&either, reading, start_write(session)));

	if (rc < 0) {
		see_written(session, rc);
		return rc;
	}
	see_written(session, rc == 1 ? either.result : SOAK_GAVE_UP);
	if (rc == 0)
		see_read(session, either.result);
	return either.result;
}

/* Only this waits as long as it takes, so that two ends never wait for each other. */
static int wait_for_either(struct session *session)
{
	if (session->out_ended)
		return read_some(session, false);
	if (session->in_ended)
		return write_some(session, false);
	return read_or_write(session);
}

/* ---- what else is done to a stream ---- */

static void move_stream(struct session *session)
{
	struct soak_stream *stream = session->stream;
	edo_tcp *before = soak_tcp(stream);
	int rc;

	stream->places[!stream->at] = *before;
	stream->at = !stream->at;
	rc = edo_tcp_set_nodelay(soak_tcp(stream), soak_one_in(&session->self->mix, 2));
	soak_expect_stream(stream, rc, "an option");
	rc = edo_tcp_set_nodelay(before, true);
	soak_expect(rc == -EBADF, "a stream that was moved away said %s", edo_strerror(rc));
	soak_count(SOAK_moves);
}

/* Out of edo and in again. */
static void take_round(struct session *session)
{
	struct soak_stream *stream = session->stream;
	int fd = edo_tcp_into_fd(soak_tcp(stream));
	int rc;

	soak_expect_stream(stream, fd, "taking a descriptor out");
	if (fd < 0)
		return;
	rc = edo_tcp_from_fd(soak_tcp(stream), fd);
	if (rc !=
	    -ENOTCONN) /* both ends have ended it, which leaves at most what was not read yet */
		soak_expect_made(rc, "taking a descriptor in");
	if (rc < 0) {
		soak_break(stream);
		(void)edo_sys_close(fd);
		session->is_given_up = true;
	}
}

/* No small buffer to receive in: the system would drop what has no room, and send it again after seconds. */
static void set_options(struct session *session)
{
	struct soak_mix *mix = &session->self->mix;
	edo_tcp *tcp = soak_tcp(session->stream);
	edo_addr addr;

	soak_expect_stream(session->stream, edo_tcp_set_buffers(tcp, 4096, 0), "buffers");
	soak_expect_stream(session->stream,
			   edo_tcp_set_keepalive(tcp, EDO_SEC(1 + soak_below(mix, 9)), 0, 0),
			   "keepalive");
	soak_expect_stream(session->stream, edo_tcp_local_addr(tcp, &addr), "its address");
	(void)edo_tcp_last_error(tcp);
}

static void limit_idleness(struct session *session)
{
	edo_duration limit = soak_length(&session->self->mix, EDO_MS(5));
	int rc = edo_tcp_set_timeout(soak_tcp(session->stream), limit);

	if (soak_has_time(session->self->world))
		soak_expect_stream(session->stream, rc, "an idle limit");
}

/* Closes with a reset, or as if it had read all. */
static void vanish(struct session *session)
{
	soak_break(session->stream);
	if (soak_one_in(&session->self->mix, 2)) {
		(void)edo_tcp_set_reset_on_close(soak_tcp(session->stream), true);
		soak_count(SOAK_resets_sent);
	}
	session->is_given_up = true;
}

static int do_something_else(struct session *session)
{
	switch (soak_below(&session->self->mix, 24)) {
	case 0:
		vanish(session);
		return 0;
	case 1:
	case 2:
		take_round(session);
		return 0;
	case 3:
	case 4:
	case 5:
		set_options(session);
		return 0;
	case 6:
	case 7:
	case 8:
		limit_idleness(session);
		return 0;
	case 9:
	case 10:
	case 11:
	case 12:
	case 13:
		move_stream(session);
		return 0;
	default:
		return soak_rest(session->self->world, &session->self->mix);
	}
}

/* ---- the whole session ---- */

static int end_sending(struct session *session)
{
	int rc = edo_tcp_shutdown(soak_tcp(session->stream), EDO_SHUT_WR);

	soak_expect_stream(session->stream, rc, "a half-close");
	session->out_ended = true;
	soak_count(SOAK_half_closes);
	return rc;
}

static int step(struct session *session)
{
	struct soak_mix *mix = &session->self->mix;

	if (soak_is_draining(session->self->world))
		session->to_send = *sent(session);
	if (!session->out_ended && *sent(session) == session->to_send)
		return end_sending(session);
	if (soak_one_in(mix, 5))
		return do_something_else(session);
	if (soak_one_in(mix, 3))
		return wait_for_either(session);
	if (session->out_ended || (!session->in_ended && soak_one_in(mix, 2)))
		return read_some(session, true);
	return write_some(session, true);
}

/* Returns -ECANCELED or 0. */
static int converse(struct session *session)
{
	int rc = 0;

	session->to_send = soak_length(&session->self->mix, 200000);
	while (!session->is_given_up && !(session->in_ended && session->out_ended)) {
		rc = step(session);
		if (is_fatal(rc))
			break;
	}
	soak_stream_end(session->stream,
			session->in_ended && session->out_ended && !session->is_given_up);
	return rc == -ECANCELED ? rc : 0;
}

int soak_client(struct soak_actor *self)
{
	struct session session = { .self = self, .end = 0 };
	int rc;

	session.stream = soak_dial(self, &rc);
	if (!session.stream)
		return rc == -ECANCELED ? rc : 0;
	return converse(&session);
}

/* The header; a visitor may never send all of it, but then ends. */
static int read_header(struct soak_stream *stream, unsigned char header[SOAK_HEADER])
{
	size_t done = 0;

	while (done < SOAK_HEADER) {
		ssize_t rc = edo_tcp_read(soak_tcp(stream), header + done, SOAK_HEADER - done);

		soak_expect_stream(stream, rc, "a header's read");
		if (rc <= 0)
			return rc < 0 ? (int)rc : -EPROTO;
		done += (size_t)rc;
	}
	return 0;
}

int soak_session(struct soak_actor *self)
{
	struct session session = { .self = self, .stream = self->own, .end = 1 };
	unsigned char header[SOAK_HEADER];
	int rc = read_header(session.stream, header);

	if (rc == 0)
		session.stream->connection = soak_connection_attach(self->world, header);
	if (session.stream->connection)
		return converse(&session);
	soak_stream_end(session.stream, false);
	return rc == -ECANCELED ? rc : 0;
}

/* ---- split ---- */

/* The writing half, with its maker's stream: either may end first. */
struct half {
	edo_tcp writer;
	struct soak_connection *connection;
};

static int write_all(struct soak_actor *self, struct half *half, uint64_t to_send)
{
	struct soak_connection *connection = half->connection;
	/* what soak_expect_stream() looks at */
	struct soak_stream stand_in = { .connection = connection };
	unsigned char bytes[SOAK_CHUNK];
	edo_tcp_io io;
	int rc = 0;

	while (connection->sent[0] < to_send && !soak_is_draining(self->world) && !is_fatal(rc)) {
		size_t len = 1 + soak_length(&self->mix, SOAK_CHUNK - 1);

		soak_fill(connection, 0, bytes, len);
		rc = edo_await(edo_tcp_write_start(&io, &half->writer, bytes, len));
		soak_expect_stream(&stand_in, rc, "a half's write");
		connection->sent[0] += io.done;
	}
	return rc;
}

/* Its close ends the direction, as a half-close does. */
int soak_writer_half(struct soak_actor *self)
{
	struct half *half = self->own;
	int rc = write_all(self, half, soak_length(&self->mix, 200000));

	if (is_fatal(rc))
		half->connection->is_broken = true;
	soak_expect(edo_tcp_close(&half->writer) == 0, "the close of a half failed");
	soak_connection_end(half->connection);
	free(half);
	soak_count(SOAK_half_closes);
	return rc == -ECANCELED ? rc : 0;
}

static int spawn_writer(struct soak_actor *self, struct soak_connection *connection,
			const edo_tcp *writer)
{
	struct half *half = malloc(sizeof *half);
	int rc;

	if (!half)
		return -ENOMEM;
	*half = (struct half){ *writer, connection };
	connection->ends++;
	rc = soak_spawn_kind(self->world, &self->mix, SOAK_WRITER_HALF, 0, half, NULL);
	if (rc < 0) {
		(void)edo_tcp_close(&half->writer);
		soak_connection_end(connection);
		free(half);
	}
	return rc;
}

int soak_splitter(struct soak_actor *self)
{
	struct session session = { .self = self, .out_ended = true };
	edo_tcp whole, writer;
	int rc;

	session.stream = soak_dial(self, &rc);
	if (!session.stream)
		return rc == -ECANCELED ? rc : 0;
	whole = *soak_tcp(session.stream);
	rc = edo_tcp_split(&whole, soak_tcp(session.stream), &writer);
	soak_expect_stream(session.stream, rc, "a split");
	if (rc == 0)
		rc = spawn_writer(self, session.stream->connection, &writer);
	soak_count(SOAK_splits);
	while (rc >= 0 && !session.in_ended)
		rc = read_some(&session, soak_one_in(&self->mix, 3));
	soak_stream_end(session.stream, session.in_ended);
	return rc == -ECANCELED ? rc : 0;
}

/* ---- stackless ---- */

struct mirror {
	edo_async async;
	struct soak_actor actor;
	struct soak_stream *stream;
	uint64_t received;
	size_t done;
	bool is_writing;
	bool has_ended_well;
	edo_tcp_io io;
	unsigned char bytes[512];
};

/* Called with the result, and by the drop when there is none. */
static void see_mirrored(struct mirror *me)
{
	if (me->is_writing)
		me->stream->connection->sent[1] += me->io.done;
	me->is_writing = false;
}

static edo_future *read_more(struct mirror *me, size_t from, size_t len)
{
	return edo_tcp_read_start(&me->io, soak_tcp(me->stream), me->bytes + from, len);
}

static edo_future *write_as_many(struct mirror *me, size_t len)
{
	soak_fill(me->stream->connection, 1, me->bytes, len);
	me->is_writing = true;
	return edo_tcp_write_all_start(&me->io, soak_tcp(me->stream), me->bytes, len);
}

/* Whether there is something to be answered. */
static bool see_got(struct mirror *me)
{
	ssize_t got = me->io.result;

	soak_expect_stream(me->stream, got, "a mirror's read");
	if (got > 0)
		soak_verify(me->stream->connection, 1, me->received, me->bytes, (size_t)got);
	else if (got == 0)
		soak_verify_end(me->stream->connection, 1, me->received);
	me->has_ended_well = got == 0;
	me->received += got > 0 ? (uint64_t)got : 0;
	return got > 0;
}

static edo_poll poll_mirror(edo_future *future, edo_context *cx)
{
	struct mirror *me = edo_container_of(future, struct mirror, async.future);

	EDO_BEGIN(me, cx);
	while (me->done < SOAK_HEADER) {
		EDO_AWAIT(read_more(me, me->done, SOAK_HEADER - me->done));
		if (me->io.result <= 0)
			EDO_RETURN(1000 + SOAK_MIRROR);
		me->done += (size_t)me->io.result;
	}
	me->stream->connection = soak_connection_attach(me->actor.world, me->bytes);
	if (!me->stream->connection)
		EDO_RETURN(1000 + SOAK_MIRROR);
	for (;;) {
		EDO_AWAIT(read_more(me, 0, sizeof me->bytes));
		if (!see_got(me))
			break;
		EDO_AWAIT(write_as_many(me, (size_t)me->io.result));
		see_mirrored(me);
		soak_expect_stream(me->stream, me->async.result, "a mirror's write");
		if (me->async.result < 0)
			break;
	}
	EDO_END(1000 + SOAK_MIRROR);
}

static void drop_mirror(edo_future *future)
{
	struct mirror *me = edo_container_of(future, struct mirror, async.future);
	struct soak_world *world = me->actor.world;

	edo_async_drop(&me->async);
	see_mirrored(me);
	soak_stream_end(me->stream, me->has_ended_well);
	soak_actor_ended(world, SOAK_MIRROR);
}

EDO_FUTURE_OPS(mirror_ops, struct mirror, async.future, poll_mirror, drop_mirror);

int soak_mirror_spawn(const struct soak_actor *self, edo_task **task)
{
	struct mirror mirror = { .async = EDO_ASYNC(mirror_ops),
				 .actor = *self,
				 .stream = self->own };

	return edo_spawn(self->world->runtime, &mirror.async.future, task);
}
