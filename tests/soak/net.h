/*
 * Connections whose every byte is known, and what may be said of them.
 *
 * A client begins with a header that names the connection; after it each byte follows from the key, the end
 * that sends it and its place. Whoever reads the end of the stream must have got all that was sent, unless
 * somebody gave the connection up before.
 */
#ifndef EDO_TESTS_SOAK_NET_H
#define EDO_TESTS_SOAK_NET_H

#include "world.h"

enum { SOAK_CHUNK = 4096, SOAK_HEADER = 8 };

/* A place for a stream; NULL: all are taken. */
struct soak_stream *soak_stream_take(struct soak_world *world, const edo_tcp *tcp);
/* Closes it. Unless both directions have ended it is given up thereby. */
void soak_stream_end(struct soak_stream *stream, bool has_ended_well);
static inline edo_tcp *soak_tcp(struct soak_stream *stream)
{
	return &stream->places[stream->at];
}
/* Before a close that may lose bytes: both ends may notice. */
void soak_break(struct soak_stream *stream);

/* The client's: a connection of its own, and the header that tells of it. NULL: all are in use. */
struct soak_connection *soak_connection_begin(struct soak_world *world, struct soak_mix *mix);
void soak_connection_end(struct soak_connection *connection);
void soak_header_write(struct soak_world *world, const struct soak_connection *connection,
		       unsigned char header[SOAK_HEADER]);
/* The server's: NULL: the header names none. */
struct soak_connection *soak_connection_attach(struct soak_world *world,
					       const unsigned char header[SOAK_HEADER]);

/* The next bytes that this end sends. */
void soak_fill(const struct soak_connection *connection, unsigned end, void *bytes, size_t len);
/* The bytes that this end has got after the first `before`. */
void soak_verify(const struct soak_connection *connection, unsigned end, uint64_t before,
		 const void *bytes, size_t len);
/* This end has read the end of the stream after so many bytes. */
void soak_verify_end(const struct soak_connection *connection, unsigned end, uint64_t received);

/* A result of an operation on the stream: well, or one that there is a reason for. */
void soak_expect_stream(struct soak_stream *stream, ssize_t rc, const char *what);
/* A result of making a socket. */
void soak_expect_made(int rc, const char *what);

/* Connects to some listener of this world. 0, -ENOENT: there is none; or why not. */
int soak_connect(struct soak_actor *self, edo_tcp *tcp);
/* As a client does: connects, begins a connection, sends its header. NULL with *rc, -ECANCELED or 0. */
struct soak_stream *soak_dial(struct soak_actor *self, int *rc);

#endif
