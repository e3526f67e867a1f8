/* The echo server of examples/echo_stackless.c, its idle limit a parameter. */
#include "server.h"
#include <edo/edo.h>
#include <errno.h>
#include <stdio.h>

struct session {
	edo_async async;
	edo_tcp conn;
	edo_tcp_io io;
	char buf[512];
};

static edo_duration idle_limit;

static edo_poll session_poll(edo_future *future, edo_context *cx)
{
	struct session *me = edo_container_of(future, struct session, async.future);

	EDO_BEGIN(me, cx);
	edo_tcp_set_timeout(&me->conn, idle_limit);
	for (;;) {
		edo_tcp_read_start(&me->io, &me->conn, me->buf, sizeof me->buf);
		EDO_AWAIT(&me->io.future);
		if (me->io.result <= 0)
			break;
		edo_tcp_write_all_start(&me->io, &me->conn, me->buf, (size_t)me->io.result);
		EDO_AWAIT(&me->io.future);
		if (me->io.result < 0)
			break;
	}
	EDO_END((int)me->io.result);
}

static void session_drop(edo_future *future)
{
	struct session *me = edo_container_of(future, struct session, async.future);

	edo_async_drop(&me->async);
	edo_tcp_close(&me->conn);
}

EDO_FUTURE_OPS(session_ops, struct session, async.future, session_poll, session_drop);

static int start_session(edo_tcp *conn)
{
	struct session s = { .async = EDO_ASYNC(session_ops), .conn = *conn };

	return edo_spawn_detached(&s.async.future);
}

static int serve(void *arg)
{
	edo_tcp_listener listener;
	edo_tcp conn;
	int rc = edo_tcp_listen(&listener, arg);

	if (rc < 0)
		return rc;
	while ((rc = edo_tcp_accept(&listener, &conn, NULL)) >= 0)
		if (start_session(&conn) < 0)
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
