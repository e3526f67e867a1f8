/*
 * A TCP echo server: one fiber per connection, straight-line code, a 30 s idle limit.
 *
 * usage: echo [ADDRESS]      127.0.0.1:7000 by default; port 0 takes a free one
 */
#include <edo/edo.h>
#include <errno.h>
#include <stdio.h>

static int session(void *arg)
{
	edo_tcp *conn = arg; /* our own copy, moved in by edo_go() */
	char buf[4096];
	ssize_t n;

	edo_tcp_set_timeout(conn, EDO_SEC(30)); /* since the last progress */
	while ((n = edo_tcp_read(conn, buf, sizeof buf)) > 0)
		if ((n = edo_tcp_write_all(conn, buf, (size_t)n)) < 0)
			break;
	edo_tcp_close(conn);
	return (int)n; /* 0: the peer closed; -ETIMEDOUT: idle; -ECANCELED: shutting down */
}

static int serve(void *arg)
{
	edo_tcp_listener listener;
	edo_tcp conn;
	int rc = edo_tcp_listen(&listener, arg);

	if (rc < 0)
		return rc;
	/* Out of descriptors or memory, accept waits for better times by itself. */
	while ((rc = edo_tcp_accept(&listener, &conn, NULL)) >= 0)
		if (edo_go(session, &conn, sizeof conn) < 0)
			edo_tcp_close(&conn); /* a failed spawn leaves it ours */
	edo_tcp_listener_close(&listener);
	return rc == -ECANCELED ? 0 : rc;
}

int main(int argc, char **argv)
{
	int rc = edo_run(serve, (void *)(argc > 1 ? argv[1] : "127.0.0.1:7000"));

	if (rc < 0)
		fprintf(stderr, "echo: %s\n", edo_strerror(rc));
	return rc < 0;
}
