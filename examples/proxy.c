/*
 * A TCP proxy: both directions at once, half-close, one deadline over the connect, an idle limit over the
 * rest.
 *
 * usage: proxy [ADDRESS [BACKEND]]      127.0.0.1:7001 and 127.0.0.1:7000 by default; port 0 takes a free one
 */
#include <edo/edo.h>
#include <errno.h>
#include <stdio.h>

struct addresses {
	const char *here, *backend;
};

struct client {
	edo_tcp conn;
	const char *backend;
};

struct pipe {
	edo_tcp *from, *to;
};

static int pump(void *arg)
{
	struct pipe *p = arg;
	char buf[16384];
	ssize_t n;

	while ((n = edo_tcp_read(p->from, buf, sizeof buf)) > 0)
		if ((n = edo_tcp_write_all(p->to, buf, (size_t)n)) < 0)
			return (int)n;
	return n < 0 ? (int)n :
		       edo_tcp_shutdown(p->to, EDO_SHUT_WR); /* pass the end of stream on */
}

struct dial {
	edo_tcp *conn;
	const char *where;
};

static int dial(void *arg)
{
	struct dial *d = arg;

	return edo_tcp_connect(d->conn, d->where);
}

static int session(void *arg)
{
	struct client *client = arg;
	edo_tcp server;
	edo_group *both;
	int rc, result = 0;

	rc = edo_with_deadline(EDO_SEC(5), dial, &(struct dial){ &server, client->backend },
			       &result);
	if (rc < 0 || result < 0) {
		edo_tcp_close(&client->conn);
		return rc < 0 ? rc : result;
	}
	edo_tcp_set_timeout(&client->conn, EDO_SEC(60));
	edo_tcp_set_timeout(&server, EDO_SEC(60));
	if ((rc = edo_group_create(&both)) == 0) {
		struct pipe up = { &client->conn, &server }, down = { &server, &client->conn };

		/* A spawn that fails is the group's first error: the other one is cancelled. */
		edo_group_go(both, pump, &up, sizeof up);
		edo_group_go(both, pump, &down, sizeof down);
		rc = edo_group_wait(both,
				    &result); /* our stack is lent to both: waits in any case */
	}
	edo_tcp_close(&server);
	edo_tcp_close(&client->conn);
	return rc < 0 ? rc : result;
}

static int say_where(edo_tcp_listener *listener)
{
	char text[EDO_ADDR_TEXT_MAX];
	edo_addr addr;
	int rc = edo_tcp_listener_addr(listener, &addr);

	if (rc == 0)
		rc = edo_addr_format(&addr, text, sizeof text);
	if (rc < 0)
		return rc;
	printf("proxy: listening at %s\n", text);
	return fflush(stdout) == 0 ? 0 : -EIO;
}

static int serve(void *arg)
{
	struct addresses *addresses = arg;
	struct client client = { .backend = addresses->backend };
	edo_tcp_listener listener;
	int rc = edo_tcp_listen(&listener, addresses->here);

	if (rc < 0)
		return rc;
	rc = say_where(&listener);
	while (rc >= 0 && (rc = edo_tcp_accept(&listener, &client.conn, NULL)) >= 0)
		if (edo_go(session, &client, sizeof client) < 0)
			edo_tcp_close(&client.conn); /* a failed spawn leaves it ours */
	edo_tcp_listener_close(&listener);
	return rc == -ECANCELED ? 0 : rc;
}

int main(int argc, char **argv)
{
	struct addresses addresses = { argc > 1 ? argv[1] : "127.0.0.1:7001",
				       argc > 2 ? argv[2] : "127.0.0.1:7000" };
	int rc = edo_run(serve, &addresses);

	if (rc < 0)
		fprintf(stderr, "proxy: %s\n", edo_strerror(rc));
	return rc < 0;
}
