/*
 * A load on an echo server: one thread, each connection a closed loop that sends `size` bytes, waits for
 * them to come back, compares each, and sends again.
 *
 *     echoload ADDRESS:PORT [connections=64] [seconds=5] [size=64] [server=PID] [probe=1]
 *              [format=json|lines] [impl=NAME]
 *
 * Connections come from 127.0.0.1 and on when the server is at 127.0.0.1, so that the ports of one
 * address do not run out, and are closed with a reset, so that a second run can follow at once. What the
 * limits allow is used, and said. server= adds what the server's process costs: CPU time of the traffic,
 * resident memory of a connection. probe=1 sends it SIGUSR1 right before and right after the
 * traffic. The status is 0 only when every connection was made and kept and no byte was wrong.
 */
#include "echo/observe.h"
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_SIZE = 65536,
	CONNECTING_AT_ONCE = 256,
	SOURCES = 16,
	EVENTS = 512,
	DESCRIPTORS_KEPT = 16,
	/* latencies: 64 steps in each power of two of ns */
	STEPS = 64,
	POWERS = 40,
};

enum phase { CONNECTING, IDLE, SENDING, RECEIVING, DEAD };

struct connection {
	int fd;
	enum phase phase;
	uint32_t sequence; /* what its bytes are made of */
	size_t done;       /* of the message, sent or received */
	uint64_t began;
};

static struct {
	struct sockaddr_in server;
	size_t connections;
	uint64_t seconds;
	size_t size;
	bool as_lines;
	bool probes;
	unsigned server_pid;
	const char *impl;
	size_t asked;
} options = { .connections = 64, .seconds = 5, .size = 64, .impl = "unnamed" };

static struct connection *connections;
static size_t connected, lost, wrong;
static uint64_t round_trips;
static uint64_t latencies[POWERS * STEPS];
static int epoll;
static bool is_over;

static void die(const char *what)
{
	fprintf(stderr, "echoload: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- latencies ---- */

static size_t step_of(uint64_t ns)
{
	unsigned power = ns < STEPS ? 0 : 63 - (unsigned)__builtin_clzll(ns) - 5;
	size_t step = power * (STEPS / 2) + (size_t)(ns >> power);

	return step < POWERS * STEPS ? step : POWERS * STEPS - 1;
}

static double us_of_step(size_t step)
{
	unsigned power = step < STEPS ? 0 : (unsigned)(step / (STEPS / 2)) - 1;

	return (double)((uint64_t)(step - power * (STEPS / 2)) << power) / 1000.0;
}

static double percentile(double share)
{
	uint64_t rank = (uint64_t)((double)round_trips * share);
	uint64_t seen = 0;

	for (size_t step = 0; step < POWERS * STEPS; step++) {
		seen += latencies[step];
		if (seen > rank)
			return us_of_step(step);
	}
	return 0;
}

/* ---- one connection ---- */

/* Every byte depends on the connection, the message and the place. */
static unsigned char byte_at(const struct connection *c, size_t i)
{
	return (unsigned char)((size_t)(c - connections) * 7 + c->sequence * 13 + i);
}

static void drop(struct connection *c)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };

	if (c->fd >= 0) {
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
		close(c->fd);
	}
	c->fd = -1;
	c->phase = DEAD;
}

static void lose(struct connection *c, const char *why)
{
	if (lost++ < 3)
		fprintf(stderr, "echoload: connection %zu lost: %s\n", (size_t)(c - connections),
			why);
	drop(c);
}

static void send_some(struct connection *c)
{
	static unsigned char message[MAX_SIZE];
	ssize_t n;

	if (c->done == 0)
		c->began = now();
	for (size_t i = c->done; i < options.size; i++)
		message[i] = byte_at(c, i);
	n = send(c->fd, message + c->done, options.size - c->done, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN) {
		lose(c, strerror(errno));
		return;
	}
	c->phase = SENDING;
	c->done += n > 0 ? (size_t)n : 0;
	if (c->done == options.size) {
		c->phase = RECEIVING;
		c->done = 0;
	}
}

static void finish_round_trip(struct connection *c)
{
	latencies[step_of(now() - c->began)]++;
	round_trips++;
	c->sequence++;
	c->done = 0;
	c->phase = IDLE;
	if (!is_over)
		send_some(c);
}

static void check(struct connection *c, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != byte_at(c, c->done + i))
			wrong++;
	c->done += n;
}

static void receive_some(struct connection *c)
{
	static unsigned char bytes[MAX_SIZE];
	ssize_t n = recv(c->fd, bytes, options.size - c->done, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		lose(c, n == 0 ? "the server closed" : strerror(errno));
		return;
	}
	check(c, bytes, (size_t)n);
	if (c->done == options.size)
		finish_round_trip(c);
}

static void finish_connecting(struct connection *c)
{
	int error = 0;
	socklen_t len = sizeof error;

	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error) {
		lose(c, strerror(error));
		return;
	}
	c->phase = IDLE;
	connected++;
}

static void handle(struct connection *c, uint32_t events)
{
	if (c->phase == CONNECTING && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
		finish_connecting(c);
	if (c->phase == SENDING && (events & EPOLLOUT))
		send_some(c);
	if (c->phase == RECEIVING && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		receive_some(c);
	else if (c->phase == IDLE && (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)))
		lose(c, "hung up");
}

static void wait_for_events(int timeout)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(epoll, events, EVENTS, timeout);

	for (int i = 0; i < n; i++)
		handle(&connections[events[i].data.u64], events[i].events);
}

/* ---- connecting ---- */

static void bind_to_source(int fd, size_t i)
{
	struct sockaddr_in source = { .sin_family = AF_INET };
	int on = 1;

	if (ntohl(options.server.sin_addr.s_addr) != INADDR_LOOPBACK)
		return;
	source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (uint32_t)(i % SOURCES));
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&source, sizeof source) < 0)
		die("bind");
}

/* False: out of descriptors. */
static bool start_connecting(size_t i)
{
	struct connection *c = &connections[i];
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
				     .data.u64 = i };
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return false;
	bind_to_source(c->fd, i);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	c->phase = CONNECTING;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event) < 0)
		die("epoll_ctl");
	if (connect(c->fd, (struct sockaddr *)&options.server, sizeof options.server) < 0 &&
	    errno != EINPROGRESS)
		lose(c, strerror(errno));
	return true;
}

static void connect_all(void)
{
	size_t begun = 0;

	while (connected + lost < options.connections) {
		while (begun < options.connections &&
		       begun - connected - lost < CONNECTING_AT_ONCE) {
			if (!start_connecting(begun)) {
				fprintf(stderr, "echoload: %zu connections fit: %s\n", begun,
					strerror(errno));
				options.connections = begun;
				break;
			}
			begun++;
		}
		wait_for_events(5000);
	}
}

static void raise_limit(void)
{
	struct rlimit limit;
	size_t fits;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	fits = limit.rlim_cur > DESCRIPTORS_KEPT ? limit.rlim_cur - DESCRIPTORS_KEPT : 1;
	if (fits >= options.connections)
		return;
	fprintf(stderr, "echoload: %zu connections fit into the limit of %zu descriptors\n", fits,
		(size_t)limit.rlim_cur);
	options.connections = fits;
}

/* ---- the run ---- */

static double exchange(void)
{
	uint64_t start = now();
	uint64_t end = start + options.seconds * 1000000000u;

	for (size_t i = 0; i < options.connections; i++)
		if (connections[i].phase == IDLE)
			send_some(&connections[i]);
	while (now() < end && lost < options.connections)
		wait_for_events(100);
	is_over = true;
	return (double)(now() - start) / 1e9;
}

/* What is under way comes back too, so that its bytes are compared. */
static void drain(void)
{
	uint64_t end = now() + 5000000000u;
	size_t busy;

	do {
		busy = 0;
		for (size_t i = 0; i < options.connections; i++)
			busy += connections[i].phase == SENDING ||
				connections[i].phase == RECEIVING;
		if (busy > 0)
			wait_for_events(100);
	} while (busy > 0 && now() < end);
	if (busy > 0)
		fprintf(stderr, "echoload: %zu messages never came back\n", busy);
	lost += busy;
}

static void probe(void)
{
	if (options.probes && options.server_pid)
		kill((pid_t)options.server_pid, SIGUSR1);
}

struct outcome {
	double seconds;
	double cpu_ns_per_op;
	double bytes_a_connection;
};

static void print_json(const struct outcome *o)
{
	printf("{\"impl\":\"%s\",\"workload\":\"echo\",\"params\":{\"connections\":%zu,\"size\":%zu},"
	       "\"ops\":%" PRIu64 ",\"req_per_s\":%.0f,\"p50_us\":%.1f,\"p99_us\":%.1f,"
	       "\"p999_us\":%.1f,\"errors\":%zu,\"mismatches\":%zu",
	       options.impl, connected, options.size, round_trips, (double)round_trips / o->seconds,
	       percentile(0.5), percentile(0.99), percentile(0.999), lost, wrong);
	if (options.server_pid)
		printf(",\"server_cpu_ns_per_op\":%.0f,\"server_bytes_per_connection\":%.0f",
		       o->cpu_ns_per_op, o->bytes_a_connection);
	printf("}\n");
}

/* For scripts: a name and a value a line. */
static void print_lines(const struct outcome *o)
{
	if (connected < options.asked)
		printf("fewer %zu descriptors a process are allowed\n",
		       options.connections + DESCRIPTORS_KEPT);
	printf("connections %zu\nrequests %" PRIu64 "\nseconds %.3f\nreq_per_s %.0f\n", connected,
	       round_trips, o->seconds, (double)round_trips / o->seconds);
	printf("p50_us %.1f\np99_us %.1f\np999_us %.1f\nerrors %zu\nmismatches %zu\n",
	       percentile(0.5), percentile(0.99), percentile(0.999), lost, wrong);
	printf("server_cpu_ns_per_op %.0f\nserver_bytes_per_connection %.0f\n", o->cpu_ns_per_op,
	       o->bytes_a_connection);
}

static void measure(struct outcome *o)
{
	uint64_t memory = echo_resident_bytes(options.server_pid);
	uint64_t cpu;

	connect_all();
	probe();
	cpu = echo_cpu_ns(options.server_pid);
	o->seconds = exchange();
	drain();
	o->cpu_ns_per_op = (double)(echo_cpu_ns(options.server_pid) - cpu) /
			   (double)(round_trips ? round_trips : 1);
	o->bytes_a_connection = (double)(echo_resident_bytes(options.server_pid) - memory) /
				(double)(connected ? connected : 1);
	probe();
}

static void run(void)
{
	struct outcome o;

	options.asked = options.connections;
	raise_limit();
	epoll = epoll_create1(EPOLL_CLOEXEC);
	connections = calloc(options.connections, sizeof *connections);
	if (epoll < 0 || !connections)
		die("setting up");
	measure(&o);
	for (size_t i = 0; i < options.connections; i++)
		drop(&connections[i]);
	if (options.as_lines)
		print_lines(&o);
	else
		print_json(&o);
	free(connections);
}

/* ---- arguments ---- */

static bool take_number(const char *argument, const char *key, uint64_t least, uint64_t most,
			uint64_t *value)
{
	size_t len = strlen(key);
	char *end;

	if (strncmp(argument, key, len) != 0 || argument[len] != '=')
		return false;
	*value = strtoull(argument + len + 1, &end, 10);
	if (*end || *value < least || *value > most) {
		fprintf(stderr, "echoload: %s: from %llu to %llu\n", key, (unsigned long long)least,
			(unsigned long long)most);
		exit(2);
	}
	return true;
}

static void take(const char *argument)
{
	uint64_t value;

	if (take_number(argument, "connections", 1, 1000000, &value))
		options.connections = value;
	else if (take_number(argument, "seconds", 1, 86400, &value))
		options.seconds = value;
	else if (take_number(argument, "size", 1, MAX_SIZE, &value))
		options.size = value;
	else if (take_number(argument, "server", 1, INT32_MAX, &value))
		options.server_pid = (unsigned)value;
	else if (take_number(argument, "probe", 0, 1, &value))
		options.probes = value;
	else if (strncmp(argument, "impl=", 5) == 0)
		options.impl = argument + 5;
	else if (strcmp(argument, "format=lines") == 0)
		options.as_lines = true;
	else if (strcmp(argument, "format=json") != 0) {
		fprintf(stderr, "echoload: what is %s?\n", argument);
		exit(2);
	}
}

static void take_server(const char *address)
{
	char host[64];
	unsigned port;

	if (sscanf(address, "%63[0-9.]:%u", host, &port) != 2 || port > 65535 ||
	    inet_pton(AF_INET, host, &options.server.sin_addr) != 1) {
		fprintf(stderr, "echoload: %s is no address like 127.0.0.1:7000\n", address);
		exit(2);
	}
	options.server.sin_family = AF_INET;
	options.server.sin_port = htons((uint16_t)port);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: echoload ADDRESS:PORT [connections=N] [seconds=N] [size=N] "
				"[server=PID] [probe=1] [format=json|lines] [impl=NAME]\n");
		return 2;
	}
	take_server(argv[1]);
	for (int i = 2; i < argc; i++)
		take(argv[i]);
	run();
	return lost > 0 || wrong > 0 || connected == 0 || round_trips == 0;
}
