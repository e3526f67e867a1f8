/* An echo server on libuv: one read and one write a request, uv_try_write first, a timer a connection. */
#include "server.h"
#include "socket.h"
#include <stdio.h>
#include <uv.h>

struct connection {
	uv_tcp_t tcp;
	uv_timer_t timer;
	int handles;
};

static uint64_t idle_limit; /* ms; 0: none */

static void on_closed(uv_handle_t *handle)
{
	struct connection *connection = handle->data;

	if (--connection->handles == 0)
		free(connection);
}

static void drop(struct connection *connection)
{
	if (uv_is_closing((uv_handle_t *)&connection->tcp))
		return;
	uv_close((uv_handle_t *)&connection->tcp, on_closed);
	uv_close((uv_handle_t *)&connection->timer, on_closed);
}

static void on_idle(uv_timer_t *timer)
{
	drop(timer->data);
}

static void touch(struct connection *connection)
{
	if (idle_limit)
		uv_timer_start(&connection->timer, on_idle, idle_limit, 0);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	static char shared[4096];

	(void)handle;
	(void)suggested;
	*buf = uv_buf_init(shared, sizeof shared);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct connection *connection = stream->data;
	uv_buf_t out = uv_buf_init(buf->base, (unsigned)(n > 0 ? n : 0));

	if (n == 0)
		return;
	/* A peer that does not read is dropped: the benchmark's does. */
	if (n < 0 || uv_try_write(stream, &out, 1) != n)
		drop(connection);
	else
		touch(connection);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct connection *connection = status == 0 ? calloc(1, sizeof *connection) : NULL;

	if (!connection)
		return;
	uv_tcp_init(listener->loop, &connection->tcp);
	uv_timer_init(listener->loop, &connection->timer);
	connection->tcp.data = connection->timer.data = connection;
	connection->handles = 2;
	if (uv_accept(listener, (uv_stream_t *)&connection->tcp) < 0 ||
	    uv_read_start((uv_stream_t *)&connection->tcp, on_alloc, on_read) < 0)
		drop(connection);
	else
		touch(connection);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = echo_parse_address(echo_server_address(argc, argv));
	uv_loop_t *loop = uv_default_loop();
	uv_tcp_t listener;

	idle_limit = echo_server_idle(argc, argv) * 1000;
	uv_tcp_init(loop, &listener);
	if (uv_tcp_bind(&listener, (struct sockaddr *)&address, 0) < 0 ||
	    uv_listen((uv_stream_t *)&listener, 4096, on_connection) < 0) {
		fprintf(stderr, "%s: cannot listen\n", argv[0]);
		return 1;
	}
	return uv_run(loop, UV_RUN_DEFAULT);
}
