/* The echo server of examples/echo.c, its idle limit a parameter. */
#include "server.h"
#include <edo/edo.h>
#include <errno.h>
#include <stdio.h>

static edo_duration idle_limit;

static int session(void *arg)
{
	edo_tcp *conn = arg;
	char buf[4096];
	ssize_t n;

	edo_tcp_set_timeout(conn, idle_limit);
	while ((n = edo_tcp_read(conn, buf, sizeof buf)) > 0)
		if ((n = edo_tcp_write_all(conn, buf, (size_t)n)) < 0)
			break;
	edo_tcp_close(conn);
	return (int)n;
}

static int serve(void *arg)
{
	edo_tcp_listener listener;
	edo_tcp conn;
	int rc = edo_tcp_listen(&listener, arg);

	if (rc < 0)
		return rc;
	while ((rc = edo_tcp_accept(&listener, &conn, NULL)) >= 0)
		if (edo_go(session, &conn, sizeof conn) < 0)
			edo_tcp_close(&conn);
	edo_tcp_listener_close(&listener);
	return rc;
}

int main(int argc, char **argv)
{
	int rc;

	idle_limit = EDO_SEC(echo_server_idle(argc, argv));
	rc = edo_run(serve, (void *)echo_server_address(argc, argv));
	fprintf(stderr, "%s: %s\n", argv[0], edo_strerror(rc));
	return 1;
}
