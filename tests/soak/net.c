#include "net.h"
#include <string.h>

/* ---- places ---- */

struct soak_stream *soak_stream_take(struct soak_world *world, const edo_tcp *tcp)
{
	for (int i = 0; i < SOAK_STREAMS; i++) {
		struct soak_stream *stream = &world->streams[i];

		if (stream->is_taken)
			continue;
		*stream = (struct soak_stream){ .is_taken = true, .places = { *tcp } };
		return stream;
	}
	return NULL;
}

void soak_break(struct soak_stream *stream)
{
	if (stream->connection)
		stream->connection->is_broken = true;
}

void soak_stream_end(struct soak_stream *stream, bool has_ended_well)
{
	int rc;

	if (!has_ended_well)
		soak_break(stream);
	rc = edo_tcp_close(soak_tcp(stream));
	soak_expect(rc == 0 || rc == -EBADF, "a close said %s", edo_strerror(rc));
	if (stream->connection)
		soak_connection_end(stream->connection);
	stream->connection = NULL;
	stream->is_taken = false;
}

/* ---- what both ends know ---- */

struct soak_connection *soak_connection_begin(struct soak_world *world, struct soak_mix *mix)
{
	for (int i = 0; i < SOAK_STREAMS; i++) {
		struct soak_connection *connection = &world->connections[i];

		if (connection->ends > 0)
			continue;
		*connection =
			(struct soak_connection){ .ends = 1,
						  .key = (uint32_t)edo_random_next(&mix->random) };
		return connection;
	}
	return NULL;
}

void soak_connection_end(struct soak_connection *connection)
{
	connection->ends--;
}

void soak_header_write(struct soak_world *world, const struct soak_connection *connection,
		       unsigned char header[SOAK_HEADER])
{
	uint32_t index = (uint32_t)(connection - world->connections);

	memcpy(header, &index, sizeof index);
	memcpy(header + sizeof index, &connection->key, sizeof connection->key);
}

struct soak_connection *soak_connection_attach(struct soak_world *world,
					       const unsigned char header[SOAK_HEADER])
{
	struct soak_connection *connection;
	uint32_t index, key;

	memcpy(&index, header, sizeof index);
	memcpy(&key, header + sizeof index, sizeof key);
	if (index >= SOAK_STREAMS)
		return NULL;
	connection = &world->connections[index];
	if (connection->ends == 0 || connection->is_attached || connection->key != key)
		return NULL;
	connection->ends++;
	connection->is_attached = true;
	return connection;
}

/* ---- bytes ---- */

static unsigned char byte_at(const struct soak_connection *connection, unsigned end, uint64_t at)
{
	uint64_t z = ((uint64_t)connection->key + at * UINT64_C(0x9e3779b97f4a7c15)) ^ end;

	return (unsigned char)((z * UINT64_C(0xbf58476d1ce4e5b9)) >> 56);
}

void soak_fill(const struct soak_connection *connection, unsigned end, void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((unsigned char *)bytes)[i] = byte_at(connection, end, connection->sent[end] + i);
}

void soak_verify(const struct soak_connection *connection, unsigned end, uint64_t before,
		 const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		soak_expect(((const unsigned char *)bytes)[i] ==
				    byte_at(connection, !end, before + i),
			    "byte %llu of a connection is wrong", (unsigned long long)before + i);
	soak_count_many(SOAK_bytes_verified, len);
}

void soak_verify_end(const struct soak_connection *connection, unsigned end, uint64_t received)
{
	soak_count(SOAK_ends_of_stream);
	soak_expect(connection->is_broken || connection->sent[!end] == received,
		    "a stream of %llu bytes has ended after %llu",
		    (unsigned long long)connection->sent[!end], (unsigned long long)received);
}

/* ---- results ---- */

static bool is_one_of(ssize_t rc, const int *errors)
{
	while (*errors && -*errors != rc)
		errors++;
	return *errors != 0;
}

/* Who has not been attached may have been turned away for any reason. */
void soak_expect_stream(struct soak_stream *stream, ssize_t rc, const char *what)
{
	static const int always[] = { ECANCELED, -SOAK_GAVE_UP, ETIMEDOUT, 0 };
	static const int broken[] = { EBADF, ECONNRESET, EPIPE, ENOTCONN, 0 };
	const struct soak_connection *connection = stream->connection;
	bool may_break = !connection || connection->is_broken || !connection->is_attached;

	if (rc == -ECONNRESET || rc == -EPIPE)
		soak_count(SOAK_resets_felt);
	if (rc == -ETIMEDOUT)
		soak_count(SOAK_idle_limits_passed);
	soak_expect(rc >= 0 || is_one_of(rc, always) || (may_break && is_one_of(rc, broken)),
		    "%s said %s", what, edo_strerror((int)rc));
}

void soak_expect_made(int rc, const char *what)
{
	static const int errors[] = { ECANCELED,  -SOAK_GAVE_UP, ETIMEDOUT, EMFILE,
				      ENFILE,     ENOMEM,        ENOBUFS,   ENOSPC,
				      EADDRINUSE, EADDRNOTAVAIL, 0 };

	if (rc == -EMFILE)
		soak_count(SOAK_descriptors_refused);
	soak_expect(rc >= 0 || is_one_of(rc, errors), "%s said %s", what, edo_strerror(rc));
}

/* ---- connecting ---- */

static struct soak_listener *some_listener(struct soak_actor *self)
{
	unsigned first = soak_below(&self->mix, SOAK_LISTENERS);

	for (unsigned i = 0; i < SOAK_LISTENERS; i++) {
		struct soak_listener *listener =
			&self->world->listeners[(first + i) % SOAK_LISTENERS];

		if (listener->is_open)
			return listener;
	}
	return NULL;
}

/* Where the queue is full the system would try for seconds. */
static edo_future *limited(struct soak_actor *self, edo_future *connect,
			   edo_timeout_future *timeout, struct soak_give_up *give_up)
{
	if (soak_has_time(self->world) && !soak_one_in(&self->mix, 4))
		return edo_timeout_start(timeout, EDO_MS(1 + soak_below(&self->mix, 20)), connect);
	return soak_give_up_start(give_up, 1 + soak_below(&self->mix, 30), connect);
}

int soak_connect(struct soak_actor *self, edo_tcp *tcp)
{
	struct soak_listener *listener = some_listener(self);
	edo_tcp_connect_future connect;
	edo_timeout_future timeout;
	struct soak_give_up give_up;
	edo_addr addr;
	int rc;

	if (!listener)
		return -ENOENT;
	addr = listener->addr;
	rc = edo_await(limited(self, edo_tcp_connect_addr_start(&connect, tcp, &addr), &timeout,
			       &give_up));
	soak_count(rc == 0 ? SOAK_connects : SOAK_connects_failed);
	if (rc != -ECONNREFUSED && rc != -ECONNRESET)
		soak_expect_made(rc, "a connect");
	return rc;
}

static int send_header(struct soak_actor *self, struct soak_stream *stream)
{
	unsigned char header[SOAK_HEADER];
	edo_tcp_io io;
	int rc;

	soak_header_write(self->world, stream->connection, header);
	rc = edo_await(edo_tcp_write_all_start(&io, soak_tcp(stream), header, sizeof header));
	soak_expect_stream(stream, rc, "a header's write");
	return rc;
}

struct soak_stream *soak_dial(struct soak_actor *self, int *rc)
{
	struct soak_stream *stream;
	edo_tcp tcp;

	*rc = soak_connect(self, &tcp);
	if (*rc < 0)
		return NULL;
	stream = soak_stream_take(self->world, &tcp);
	if (!stream) {
		(void)edo_tcp_close(&tcp);
		return NULL;
	}
	stream->connection = soak_connection_begin(self->world, &self->mix);
	*rc = stream->connection ? send_header(self, stream) : 0;
	if (stream->connection && *rc == 0)
		return stream;
	soak_stream_end(stream, false);
	return NULL;
}
