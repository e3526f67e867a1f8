/*
 * A server under every failure: it listens, accepts and echoes, a fiber a connection, with idle limits; its
 * clients connect, ask, end their halves, idle, and leave.
 *
 * The clock runs, since the network may be late; what is waited for in vain has a limit of a moment.
 */
#include "sweep.h"

#define MOMENT EDO_US(50)

struct session {
	struct sweep_life *life;
	edo_tcp conn;
};

/* The first byte tells what the peer is going to do. */
enum { ECHO = 'e', IDLE = 'i' };

/* ---- the server ---- */

static int echo(edo_tcp *conn, char first)
{
	char buf[64] = { first };
	ssize_t n = 1;

	do {
		ssize_t rc = sweep_write(conn, buf, (size_t)n);

		if (rc < 0)
			return (int)rc;
	} while ((n = edo_tcp_read(conn, buf, sizeof buf)) > 0);
	return (int)n;
}

/* The peer will say nothing more: the limit must pass. The stream can be used afterwards. */
static int wait_in_vain(edo_tcp *conn)
{
	char byte;
	int rc = edo_tcp_set_timeout(conn, MOMENT);

	if (rc == 0)
		rc = (int)edo_tcp_read(conn, &byte, 1);
	if (rc == -ETIMEDOUT)
		rc = edo_tcp_last_error(conn);
	if (rc == -ETIMEDOUT)
		return sweep_write(conn, "t", 1);
	return rc >= 0 ? -EPROTO : rc;
}

static int serve_session(edo_tcp *conn)
{
	char first = 0;
	int rc = edo_tcp_set_timeout(conn, SWEEP_GUARD);

	if (rc == 0)
		rc = (int)edo_tcp_read(conn, &first, 1);
	if (rc <= 0)
		return rc;
	return first == IDLE ? wait_in_vain(conn) : echo(conn, first);
}

static int run_session(void *arg)
{
	struct session *session = arg;
	int rc = serve_session(&session->conn);

	(void)sweep_tell_unless(session->life, rc, -ECANCELED);
	(void)sweep_tell(session->life, edo_tcp_close(&session->conn));
	return 0;
}

static int accept_sessions(struct sweep_life *life, edo_tcp_listener *listener)
{
	struct session session = { .life = life };
	edo_addr peer;
	int rc;

	while ((rc = edo_tcp_accept(listener, &session.conn, &peer)) == 0) {
		if (sweep_tell(life, edo_go(run_session, &session, sizeof session)) < 0)
			(void)edo_tcp_close(&session.conn);
	}
	return rc;
}

struct server {
	struct sweep_life *life;
	edo_tcp_listener listener;
};

static int serve(void *arg)
{
	struct server *server = arg;
	int rc = accept_sessions(server->life, &server->listener);

	(void)sweep_tell_unless(server->life, rc, -ECANCELED);
	(void)sweep_tell(server->life, edo_tcp_listener_close(&server->listener));
	return 0;
}

/* ---- clients: each step 0, or what went wrong ---- */

static int set_options(edo_tcp *conn)
{
	bool on = false;
	int sent = 0;
	int received = 0;
	int rc = edo_tcp_set_nodelay(conn, true);

	if (rc == 0)
		rc = edo_tcp_get_nodelay(conn, &on);
	if (rc == 0)
		rc = edo_tcp_set_keepalive(conn, EDO_SEC(60), EDO_SEC(10), 3);
	if (rc == 0)
		rc = edo_tcp_set_buffers(conn, 8192, 8192);
	if (rc == 0)
		rc = edo_tcp_get_buffers(conn, &sent, &received);
	return rc == 0 && (!on || sent <= 0 || received <= 0) ? -EPROTO : rc;
}

static int ask_addresses(edo_tcp *conn, const edo_addr *server)
{
	edo_addr local;
	edo_addr peer;
	int rc = edo_tcp_local_addr(conn, &local);

	if (rc == 0)
		rc = edo_tcp_peer_addr(conn, &peer);
	if (rc == 0 && edo_addr_port(&peer) != edo_addr_port(server))
		rc = -EPROTO;
	return rc;
}

static int write_two_parts(edo_tcp *conn)
{
	char mark[] = { ECHO };
	char text[] = "hello";
	struct iovec parts[] = { { mark, 1 }, { text, 5 } };
	edo_tcp_io io;
	int rc = edo_timeout(SWEEP_GUARD, edo_tcp_writev_start(&io, conn, parts, 2));

	return rc == 6 ? 0 : rc < 0 ? rc : -EPROTO;
}

/* All that comes back, in pieces: the end of the stream before that is a connection that broke off. */
static int read_back(edo_tcp *conn, size_t wanted)
{
	char buf[2][8];
	struct iovec parts[] = { { buf[0], sizeof buf[0] }, { buf[1], sizeof buf[1] } };
	size_t got = 0;

	while (got < wanted) {
		edo_tcp_io io;
		int n = edo_timeout(SWEEP_GUARD, edo_tcp_readv_start(&io, conn, parts, 2));

		if (n <= 0)
			return n < 0 ? n : -ECONNRESET;
		got += (size_t)n;
	}
	return got == wanted ? 0 : -EPROTO;
}

static int read_end(edo_tcp *conn)
{
	char byte;
	ssize_t n = sweep_read(conn, &byte, 1);

	return n > 0 ? -EPROTO : (int)n;
}

/* The writer's close ends the server's reading, and so the server's writing. */
static int end_by_halves(edo_tcp *conn)
{
	edo_tcp reader = { 0 };
	edo_tcp writer = { 0 };
	int rc = edo_tcp_split(conn, &reader, &writer);

	if (rc < 0)
		return rc;
	rc = edo_tcp_close(&writer);
	if (rc == 0)
		rc = read_end(&reader);
	(void)edo_tcp_close(&reader);
	return rc;
}

static int end_by_shutdown(edo_tcp *conn)
{
	int rc = edo_tcp_shutdown(conn, EDO_SHUT_WR);

	return rc == 0 ? read_end(conn) : rc;
}

static int ask_for_echo(edo_tcp *conn, const edo_addr *addr)
{
	int rc = set_options(conn);

	if (rc == 0)
		rc = ask_addresses(conn, addr);
	if (rc == 0)
		rc = write_two_parts(conn);
	return rc == 0 ? read_back(conn, 6) : rc;
}

static int echoing_client(struct sweep_life *life, const edo_addr *addr, int (*end)(edo_tcp *conn))
{
	edo_tcp conn = { 0 };
	int rc = sweep_connect(&conn, addr);

	if (rc == 0)
		rc = ask_for_echo(&conn, addr);
	if (rc == 0)
		rc = end(&conn);
	(void)edo_tcp_close(&conn);
	return sweep_tell(life, rc);
}

static int idling_client(struct sweep_life *life, const edo_addr *addr)
{
	const char mark = IDLE;
	edo_tcp conn = { 0 };
	int rc = sweep_connect(&conn, addr);

	if (rc == 0)
		rc = sweep_write(&conn, &mark, 1);
	if (rc == 0)
		rc = read_back(&conn, 1);
	if (rc == 0)
		rc = read_end(&conn);
	(void)edo_tcp_close(&conn);
	return sweep_tell(life, rc);
}

/* ---- the whole ---- */

static void run_clients(struct sweep_life *life, const edo_addr *addr)
{
	if (echoing_client(life, addr, end_by_halves) == 0 &&
	    echoing_client(life, addr, end_by_shutdown) == 0)
		(void)idling_client(life, addr);
}

/* The listener moves into the server's task; if that fails it is still ours. */
static int run_server(struct sweep_life *life, edo_tcp_listener *listener, const edo_addr *addr)
{
	struct server server = { life, *listener };
	edo_task *task;
	int rc = edo_spawn_fiber(NULL, serve, &server, sizeof server, &task);

	if (rc < 0) {
		(void)edo_tcp_listener_close(listener);
		return rc;
	}
	run_clients(life, addr);
	sweep_end_task(task);
	return 0;
}

static int serve_and_ask(void *arg)
{
	struct sweep_life *life = arg;
	edo_tcp_listener listener;
	edo_addr addr;
	int rc = edo_tcp_listen(&listener, "127.0.0.1:0");

	if (rc < 0)
		return sweep_tell(life, rc);
	rc = edo_tcp_listener_addr(&listener, &addr);
	if (rc == 0)
		rc = run_server(life, &listener, &addr);
	else
		(void)edo_tcp_listener_close(&listener);
	return sweep_tell(life, rc);
}

static void live(struct sweep_life *life)
{
	sweep_block_on(life, serve_and_ask, life);
}

static void a_server_survives_or_tells_every_failure(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "server",
		.config = { .timer_resolution = 20000 },
		.meant = { -ETIMEDOUT },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static void a_server_survives_or_tells_every_failure_on_the_clock_that_knows_of_suspension(
	void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "server, boottime",
		.config = { .timer_resolution = 20000, .clock = EDO_CLOCK_BOOTTIME },
		.meant = { -ETIMEDOUT },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_server_survives_or_tells_every_failure),
	cmocka_unit_test(
		a_server_survives_or_tells_every_failure_on_the_clock_that_knows_of_suspension),
};

EDO_TEST_MAIN(tests)
