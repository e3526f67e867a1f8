/* An echo server on libev: one read and one write a request, ev_timer_again at each read. */
#include "server.h"
#include "socket.h"
#include <errno.h>
#include <ev.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
	ev_io io;
	ev_timer timer;
};

static double idle_limit; /* s; 0: none */

static void drop(struct ev_loop *loop, struct connection *connection)
{
	ev_io_stop(loop, &connection->io);
	ev_timer_stop(loop, &connection->timer);
	close(connection->io.fd);
	free(connection);
}

static void on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)events;
	drop(loop, timer->data);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
	static char buf[4096];
	struct connection *connection = io->data;
	ssize_t n = recv(io->fd, buf, sizeof buf, 0);

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	/* A peer that does not read is dropped: the benchmark's does. */
	if (n <= 0 || send(io->fd, buf, (size_t)n, MSG_NOSIGNAL) != n)
		drop(loop, connection);
	else if (idle_limit > 0)
		ev_timer_again(loop, &connection->timer);
}

static void add(struct ev_loop *loop, int fd)
{
	struct connection *connection = malloc(sizeof *connection);

	if (!connection) {
		close(fd);
		return;
	}
	ev_io_init(&connection->io, on_readable, fd, EV_READ);
	ev_timer_init(&connection->timer, on_idle, 0., idle_limit);
	connection->io.data = connection->timer.data = connection;
	ev_io_start(loop, &connection->io);
	if (idle_limit > 0)
		ev_timer_again(loop, &connection->timer);
}

static void on_connection(struct ev_loop *loop, ev_io *listener, int events)
{
	int fd;

	(void)events;
	while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		add(loop, fd);
}

int main(int argc, char **argv)
{
	struct ev_loop *loop = ev_default_loop(EVBACKEND_EPOLL);
	ev_io listener;

	idle_limit = (double)echo_server_idle(argc, argv);
	ev_io_init(&listener, on_connection, echo_listen(echo_server_address(argc, argv)), EV_READ);
	ev_io_start(loop, &listener);
	return ev_run(loop, 0);
}
