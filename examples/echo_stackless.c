/*
 * The echo server with a stackless task per connection: its whole state is one struct inside the task
 * cell: no stack, no allocation after the spawn. Use it where a million mostly idle connections
 * must fit in memory. What must survive an await lives in the struct, not in locals.
 *
 * usage: echo_stackless [ADDRESS]      127.0.0.1:7000 by default; port 0 takes a free one
 */
#include <edo/edo.h>
#include <errno.h>
#include <stdio.h>

struct session {
	edo_async async; /* first: where the task resumes, what it awaits */
	edo_tcp conn;
	edo_tcp_io io; /* the one I/O future in flight */
	char buf[512];
};

static edo_poll session_poll(edo_future *future, edo_context *cx)
{
	struct session *me = edo_container_of(future, struct session, async.future);

	EDO_BEGIN(me, cx);
	edo_tcp_set_timeout(&me->conn, EDO_SEC(30));
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

/* Runs once, whether the task finished, was aborted or the runtime shut down. */
static void session_drop(edo_future *future)
{
	struct session *me = edo_container_of(future, struct session, async.future);

	edo_async_drop(&me->async); /* the wait in progress, if any */
	edo_tcp_close(&me->conn);
}

EDO_ASYNC_OPS(session_ops, struct session, async, session_poll, session_drop);

static int start_session(edo_tcp *conn)
{
	struct session s = { .async = EDO_ASYNC(session_ops), .conn = *conn };

	/* Copied into the cell; on failure conn is still ours. */
	return edo_spawn_detached(&s.async.future);
}

/* One task accepts for all; what waits only here may as well be a fiber. */
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
	return rc == -ECANCELED ? 0 : rc;
}

int main(int argc, char **argv)
{
	int rc = edo_run(serve, (void *)(argc > 1 ? argv[1] : "127.0.0.1:7000"));

	if (rc < 0)
		fprintf(stderr, "echo_stackless: %s\n", edo_strerror(rc));
	return rc < 0;
}
