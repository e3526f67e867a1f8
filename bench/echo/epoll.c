/*
 * The floor: an echo server on bare epoll, as lean as we can make it. Level-triggered, so that one read
 * and one write make a request and nothing else does. All connections share one buffer.
 *
 * Idle limit: all have the same one, so a list in the order of their last read is sorted by deadline;
 * a touch moves a connection to its end. The clock is read once a turn.
 */
#include "server.h"
#include "socket.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 1024 };

struct connection {
	struct connection *next, *prev;
	uint64_t deadline; /* ms */
	int fd;
};

static struct connection idle = { .next = &idle, .prev = &idle, .fd = -1 };
static uint64_t idle_limit; /* ms; 0: none */
static uint64_t now;
static int epoll;

static uint64_t clock_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void append(struct connection *connection)
{
	connection->deadline = now + idle_limit;
	connection->prev = idle.prev;
	connection->next = &idle;
	idle.prev->next = connection;
	idle.prev = connection;
}

static void unlink_connection(struct connection *connection)
{
	connection->prev->next = connection->next;
	connection->next->prev = connection->prev;
}

static void touch(struct connection *connection)
{
	if (!idle_limit)
		return;
	unlink_connection(connection);
	append(connection);
}

static void drop(struct connection *connection)
{
	unlink_connection(connection);
	close(connection->fd);
	free(connection);
}

static void expire(void)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was dropped is out of the list */
	while (idle_limit && idle.next != &idle && idle.next->deadline <= now)
		drop(idle.next);
}

static int time_left(void)
{
	if (!idle_limit || idle.next == &idle)
		return -1;
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): as above */
	return idle.next->deadline > now ? (int)(idle.next->deadline - now) : 0;
}

static void accept_all(int listener)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct connection *connection = malloc(sizeof *connection);
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };

		if (!connection || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
			free(connection);
			close(fd);
			continue;
		}
		connection->fd = fd;
		append(connection);
	}
}

static void serve(struct connection *connection)
{
	static char buf[4096];
	ssize_t n = recv(connection->fd, buf, sizeof buf, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	/* A peer that does not read is dropped: the benchmark's does. */
	if (n <= 0 || send(connection->fd, buf, (size_t)n, MSG_NOSIGNAL) != n)
		drop(connection);
	else
		touch(connection);
}

int main(int argc, char **argv)
{
	static struct epoll_event events[EVENTS];
	int listener = echo_listen(echo_server_address(argc, argv));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };

	idle_limit = echo_server_idle(argc, argv) * 1000;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS, time_left());

		if (idle_limit)
			now = clock_ms();
		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				serve(events[i].data.ptr);
			else
				accept_all(listener);
		}
		expire();
	}
}
