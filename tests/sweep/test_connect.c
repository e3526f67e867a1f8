/*
 * Connecting under every failure: to a port that listens, to one that refuses, to one that never answers,
 * for as long as a limit lets it or until it is given up; by address and by text.
 *
 * Whom it connects to are plain sockets of the test's own, which no failure reaches.
 */
#include "sweep.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOMENT EDO_US(50)

enum { FILLERS = 8 };

/* Made once: descriptors that are there before and after each life. */
static struct {
	int listening, refusing, silent;
	edo_addr listener, refuser, mute;
	int fillers[FILLERS];
} peers;

static int bound_socket(edo_addr *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_return_code(fd, errno);
	assert_int_equal(edo_addr_parse(addr, "127.0.0.1:0"), 0);
	assert_return_code(bind(fd, &addr->sockaddr.any, addr->len), errno);
	assert_return_code(getsockname(fd, &addr->sockaddr.any, &addr->len), errno);
	return fd;
}

/* The queue of one is full after two; what comes later gets no answer. */
static void fill_the_silent_one(void)
{
	for (int i = 0; i < FILLERS; i++) {
		peers.fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		assert_return_code(peers.fillers[i], errno);
		(void)connect(peers.fillers[i], &peers.mute.sockaddr.any, peers.mute.len);
	}
}

static int make_peers(void **state)
{
	(void)state;
	peers.listening = bound_socket(&peers.listener);
	peers.refusing = bound_socket(&peers.refuser);
	peers.silent = bound_socket(&peers.mute);
	assert_return_code(listen(peers.listening, 16), errno);
	assert_return_code(fcntl(peers.listening, F_SETFL, O_NONBLOCK), errno);
	assert_return_code(listen(peers.silent, 0), errno);
	fill_the_silent_one();
	return 0;
}

static int close_peers(void **state)
{
	(void)state;
	for (int i = 0; i < FILLERS; i++)
		close(peers.fillers[i]);
	close(peers.listening);
	close(peers.refusing);
	close(peers.silent);
	return 0;
}

/* ---- steps: each 0, or what went wrong ---- */

/* The queue must not fill up. What is under way still is taken the next time. */
static void empty_queue(void)
{
	int fd;

	while ((fd = accept(peers.listening, NULL, NULL)) >= 0)
		close(fd);
	assert_int_equal(errno, EAGAIN);
}

static int connect_and_look(const edo_addr *addr)
{
	edo_tcp conn = { 0 };
	edo_addr peer;
	int rc = sweep_connect(&conn, addr);

	if (rc < 0)
		return rc;
	rc = edo_tcp_peer_addr(&conn, &peer);
	(void)edo_tcp_close(&conn);
	return rc;
}

static int connect_by_text(const edo_addr *addr)
{
	char text[EDO_ADDR_TEXT_MAX];
	edo_tcp_connect_future connect;
	edo_tcp conn = { 0 };
	int rc = edo_addr_format(addr, text, sizeof text);

	if (rc < 0)
		return rc;
	rc = edo_timeout(SWEEP_GUARD, edo_tcp_connect_start(&connect, &conn, text));
	(void)edo_tcp_close(&conn);
	return rc;
}

/* A failed attempt leaves no stream. */
static int be_refused(void)
{
	edo_tcp conn = { 0 };
	int rc = sweep_connect(&conn, &peers.refuser);

	if (edo_tcp_close(&conn) != -EBADF)
		return -EPROTO;
	return rc == -ECONNREFUSED ? 0 : rc == 0 ? -EPROTO : rc;
}

static int run_out_of_time(void)
{
	edo_tcp_connect_future connect;
	edo_tcp conn = { 0 };
	int rc = edo_timeout(MOMENT, edo_tcp_connect_addr_start(&connect, &conn, &peers.mute));

	return rc == -ETIMEDOUT ? 0 : rc == 0 ? -EPROTO : rc;
}

static int connect_in_vain(void *arg)
{
	edo_tcp conn = { 0 };

	(void)arg;
	return sweep_connect(&conn, &peers.mute);
}

static int be_given_up(void)
{
	edo_task *task;
	int result = 0;
	int rc = edo_spawn_fiber(NULL, connect_in_vain, NULL, 0, &task);

	if (rc < 0)
		return rc;
	(void)edo_yield();
	edo_task_abort(task);
	rc = edo_task_join(task, &result);
	if (rc < 0)
		return rc;
	return result == -ECANCELED ? 0 : result == 0 ? -EPROTO : result;
}

/* A connected socket from elsewhere becomes a stream, and is taken out again. */
static int adopt_and_release(int fd)
{
	edo_tcp conn;
	int rc = edo_tcp_from_fd(&conn, fd);

	if (rc < 0)
		return rc;
	rc = edo_tcp_into_fd(&conn);
	return rc == fd ? 0 : rc < 0 ? rc : -EPROTO;
}

static int borrow_a_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc;

	assert_return_code(fd, errno);
	assert_return_code(connect(fd, &peers.listener.sockaddr.any, peers.listener.len), errno);
	assert_return_code(fcntl(fd, F_SETFL, O_NONBLOCK), errno);
	rc = adopt_and_release(fd);
	close(fd);
	return rc;
}

static int connect_to_all(void *arg)
{
	struct sweep_life *life = arg;
	int (*const steps[])(void) = { be_refused, run_out_of_time, be_given_up, borrow_a_socket };

	empty_queue();
	(void)sweep_tell(life, connect_and_look(&peers.listener));
	(void)sweep_tell(life, connect_by_text(&peers.listener));
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		(void)sweep_tell(life, steps[i]());
	return 0;
}

static void live(struct sweep_life *life)
{
	sweep_block_on(life, connect_to_all, life);
}

static void connecting_survives_or_tells_every_failure(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "connect",
		.config = { .timer_resolution = 20000 },
		.meant = { -ECONNREFUSED, -ETIMEDOUT },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(connecting_survives_or_tells_every_failure, make_peers,
					close_peers),
};

EDO_TEST_MAIN(tests)
