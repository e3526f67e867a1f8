/*
 * Drives the proxy example with plain sockets: a backend and a client of our own, both directions at
 * once, the end of stream passed on either way, a backend that is not there.
 *
 * usage: proxy_client PROXY
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%d: %s (%s)\n", __LINE__, #condition, strerror(errno));   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct proxy {
	pid_t pid;
	FILE *out;
	uint16_t port;
};

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int listen_here(uint16_t *port)
{
	struct sockaddr_in address = loopback(0);
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 8) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
	*port = ntohs(address.sin_port);
	return fd;
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
	return fd;
}

static struct proxy start(const char *program, uint16_t backend)
{
	struct proxy proxy = { 0 };
	char where[32];
	int out[2];
	unsigned port;

	snprintf(where, sizeof where, "127.0.0.1:%u", (unsigned)backend);
	CHECK(pipe(out) == 0);
	proxy.pid = fork();
	CHECK(proxy.pid >= 0);
	if (proxy.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execl(program, program, "127.0.0.1:0", where, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	proxy.out = fdopen(out[0], "r");
	CHECK(proxy.out && fscanf(proxy.out, "proxy: listening at 127.0.0.1:%u", &port) == 1);
	proxy.port = (uint16_t)port;
	return proxy;
}

static void stop(struct proxy *proxy)
{
	CHECK(kill(proxy->pid, SIGKILL) == 0);
	CHECK(waitpid(proxy->pid, NULL, 0) == proxy->pid);
	fclose(proxy->out);
}

static char byte_at(size_t i, char salt)
{
	return (char)(i * 31 + i / 251 + (unsigned char)salt);
}

struct flow {
	int fd;
	char salt;
};

static void *writes(void *arg)
{
	const struct flow *flow = arg;
	static const size_t piece = 4096;

	for (size_t sent = 0; sent < BYTES; sent += piece) {
		char buf[4096];

		for (size_t i = 0; i < piece; i++)
			buf[i] = byte_at(sent + i, flow->salt);
		for (size_t at = 0; at < piece;) {
			ssize_t n = write(flow->fd, buf + at, piece - at);

			CHECK(n > 0);
			at += (size_t)n;
		}
	}
	CHECK(shutdown(flow->fd, SHUT_WR) == 0);
	return NULL;
}

/* All bytes in order, then the end of the stream. */
static void *reads(void *arg)
{
	const struct flow *flow = arg;
	char buf[5000];
	size_t got = 0;
	ssize_t n;

	while ((n = read(flow->fd, buf, sizeof buf)) > 0)
		for (ssize_t i = 0; i < n; i++)
			CHECK(buf[i] == byte_at(got++, flow->salt));
	CHECK(n == 0 && got == BYTES);
	return NULL;
}

static void both_directions_at_once(const struct proxy *proxy, int listener)
{
	int client = connect_to(proxy->port);
	int backend = accept(listener, NULL, NULL);
	struct flow flows[] = { { client, 'a' },
				{ backend, 'a' },
				{ backend, 'b' },
				{ client, 'b' } };
	pthread_t threads[4];

	CHECK(backend >= 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, i % 2 ? reads : writes, &flows[i]) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	close(client);
	close(backend);
}

/* The client has ended its stream, and still gets what the backend says after that. */
static void half_closed(const struct proxy *proxy, int listener)
{
	int client = connect_to(proxy->port);
	int backend = accept(listener, NULL, NULL);
	char byte;

	CHECK(backend >= 0);
	CHECK(shutdown(client, SHUT_WR) == 0);
	CHECK(read(backend, &byte, 1) == 0);
	CHECK(write(backend, "x", 1) == 1);
	CHECK(read(client, &byte, 1) == 1 && byte == 'x');
	close(backend);
	CHECK(read(client, &byte, 1) == 0);
	close(client);
}

static void without_a_backend_the_client_is_closed(const struct proxy *proxy)
{
	int client = connect_to(proxy->port);
	char byte;

	CHECK(read(client, &byte, 1) == 0);
	close(client);
}

int main(int argc, char **argv)
{
	uint16_t port;
	int listener = listen_here(&port);
	struct proxy proxy;

	CHECK(argc == 2);
	signal(SIGPIPE, SIG_IGN);
	alarm(60);
	proxy = start(argv[1], port);
	for (int i = 0; i < 4; i++) {
		both_directions_at_once(&proxy, listener);
		half_closed(&proxy, listener);
	}
	close(listener);
	without_a_backend_the_client_is_closed(&proxy);
	stop(&proxy);
	printf("proxy: all bytes, both ways\n");
	return 0;
}
