/*
 * A session that waits in every way there is, cut at each of its waits: by an abort and by a deadline, as the wait
 * begins and while it lasts. Whatever is cut, all that it held is given back, and it says why.
 */
#include "fiber/private.h"
#include "leaf_net/rig.h"
#include "support/resources.h"
#include <stdio.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return -__LINE__ - 10000;                                                  \
	} while (0)

enum cut { ABORT, ABORT_WHILE_IT_WAITS, DEADLINE, DEADLINE_WHILE_IT_WAITS, CUTS };

static struct {
	enum cut cut;
	unsigned at; /* which of the session's waits */
	unsigned waits;
	bool is_cut;
	struct edo_fiber *session;
	edo_task *task;
	edo_deadline scope;
} plan;

/* ---- cutting ---- */

static int aborts_the_session(void *unused)
{
	(void)unused;
	edo_task_abort(plan.task);
	return 0;
}

static int cut(void)
{
	plan.is_cut = true;
	switch (plan.cut) {
	case ABORT:
		edo_task_abort(plan.task);
		return 0;
	case ABORT_WHILE_IT_WAITS:
		return edo_go(aborts_the_session, NULL, 0);
	case DEADLINE:
		return edo_deadline_begin(&plan.scope, 0);
	default:
		return edo_deadline_begin(&plan.scope, 1);
	}
}

int __real_edo_await(edo_future *future);
int __wrap_edo_await(edo_future *future);

/* Whoever waits comes through here. */
int __wrap_edo_await(edo_future *future)
{
	if (plan.session && edo_fiber_current() == plan.session && plan.waits++ == plan.at) {
		int rc = cut();

		if (rc < 0)
			return rc;
	}
	return __real_edo_await(future);
}

/* ---- the session ---- */

struct numbers {
	edo_mpsc_tx *tx;
};

static int sends_numbers(void *arg)
{
	struct numbers *numbers = arg;
	int rc = 0;

	for (int i = 0; i < 5 && rc == 0; i++)
		rc = edo_mpsc_send(numbers->tx, &i);
	return rc;
}

static void gives_its_end_back(void *arg)
{
	edo_mpsc_tx_release(((struct numbers *)arg)->tx);
}

static int says(edo_tcp *stream, const char *text)
{
	char echoed[16];
	size_t length = strlen(text), got = 0;
	ssize_t n = edo_tcp_write_all(stream, text, length);

	while (n >= 0 && got < length && (n = edo_tcp_read(stream, echoed, sizeof echoed)) > 0)
		got += (size_t)n;
	return n < 0 ? (int)n : 0;
}

static int says_goodbye(void *stream)
{
	return says(stream, "goodbye");
}

/* A channel between a child and this fiber, with whichever comes first of an item and a tick. */
static int receives_numbers(edo_mpsc_rx *rx, edo_interval *beat)
{
	for (;;) {
		edo_mpsc_recv_future recv;
		edo_interval_future tick;
		int number;
		edo_future *either[] = { edo_mpsc_recv_start(&recv, rx, &number),
					 edo_interval_tick_start(&tick, beat) };
		int which = edo_select(either, 2);

		if (which < 0)
			return which;
		if (which == 0 && recv.result == -EPIPE)
			return 0;
		if (which == 0 ? recv.result < 0 : tick.result < 0)
			return which == 0 ? recv.result : tick.result;
	}
}

static int counts_with_a_child(void)
{
	struct numbers numbers;
	edo_interval beat;
	edo_mpsc_rx *rx;
	edo_group *group;
	int first_error = 0;
	int rc = edo_mpsc_create(&numbers.tx, &rx, sizeof(int), 1);

	if (rc < 0)
		return rc;
	rc = edo_group_create(&group);
	if (rc < 0) {
		edo_mpsc_tx_release(numbers.tx);
		edo_mpsc_rx_release(rx);
		return rc;
	}
	edo_group_go_owned(group, sends_numbers, &numbers, sizeof numbers, gives_its_end_back);
	rc = edo_interval_init(&beat, edo_now(), EDO_MS(1), EDO_MISSED_SKIP);
	if (rc == 0) {
		rc = receives_numbers(rx, &beat);
		edo_interval_drop(&beat);
	}
	edo_mpsc_rx_release(rx);
	if (rc < 0) {
		edo_group_cancel(group);
		(void)edo_group_wait(group, NULL);
		return rc;
	}
	rc = edo_group_wait(group, &first_error);
	return rc < 0 ? rc : first_error;
}

static int talks(edo_tcp *stream)
{
	edo_timer timer;
	int rc = says(stream, "hello");

	if (rc == 0)
		rc = edo_sleep(EDO_MS(1));
	if (rc == 0)
		rc = counts_with_a_child();
	if (rc < 0)
		return rc;
	edo_timer_init(&timer, edo_instant_add(edo_now(), EDO_MS(1)));
	rc = edo_timeout(EDO_SEC(10), &timer.future);
	edo_timer_drop(&timer);
	return rc < 0 ? rc : says(stream, "and so on");
}

static int session(void *arg)
{
	const edo_addr *addr = arg;
	edo_tcp stream;
	int goodbye = 0;
	int rc;

	plan.session = edo_fiber_current();
	rc = edo_tcp_connect_addr(&stream, addr);
	if (rc < 0)
		return rc;
	edo_tcp_set_timeout(&stream, EDO_SEC(30));
	rc = talks(&stream);
	/* Whatever has happened, the peer is told; only a cut in here keeps that from being done. */
	CHECK(edo_shield(says_goodbye, &stream, &goodbye) == 0);
	CHECK(edo_tcp_close(&stream) == 0);
	plan.session = NULL;
	return rc < 0 ? rc : goodbye;
}

/* ---- its world ---- */

static int echoes(void *arg)
{
	edo_tcp *stream = arg;
	char buf[64];
	ssize_t n;

	while ((n = edo_tcp_read(stream, buf, sizeof buf)) > 0)
		if (edo_tcp_write_all(stream, buf, (size_t)n) < 0)
			break;
	edo_tcp_close(stream);
	return 0;
}

static int serves(void *arg)
{
	edo_tcp_listener *listener = arg;
	edo_group *group;
	edo_tcp stream;

	CHECK(edo_group_create(&group) == 0);
	while (edo_tcp_accept(listener, &stream, NULL) == 0)
		if (edo_group_go(group, echoes, &stream, sizeof stream) < 0)
			edo_tcp_close(&stream);
	return edo_group_wait(group, NULL) == -ECANCELED ? 0 : -1;
}

static size_t timers_armed(void)
{
	return edo_wheel_count(&edo_current_runtime()->driver.time.shards[0].wheel);
}

static int expected_fate(void)
{
	return plan.cut == ABORT || plan.cut == ABORT_WHILE_IT_WAITS ? -ECANCELED : -ETIMEDOUT;
}

/* Runs one session that is cut; 1: it came to its end before its time. */
static int world(void *unused)
{
	edo_tcp_listener listener;
	edo_addr addr;
	edo_group *servers;
	int result = 0;

	(void)unused;
	CHECK(edo_tcp_listen(&listener, "127.0.0.1:0") == 0);
	CHECK(edo_tcp_listener_addr(&listener, &addr) == 0);
	CHECK(edo_group_create(&servers) == 0);
	CHECK(edo_group_go(servers, serves, &listener, 0) == 0);
	CHECK(edo_spawn_fiber(NULL, session, &addr, sizeof addr, &plan.task) == 0);
	CHECK(edo_task_wait(plan.task, &result) == 0);
	plan.session = NULL;
	CHECK(!plan.is_cut || result == expected_fate() || result >= 0);
	CHECK(plan.is_cut || result == 0);
	edo_group_cancel(servers);
	CHECK(edo_group_wait(servers, NULL) == 0);
	edo_task_detach(plan.task);
	CHECK(edo_tcp_listener_close(&listener) == 0);
	CHECK(edo_yield() == 0); /* the last cells are given back by now */
	CHECK(timers_armed() == 0);
	return !plan.is_cut;
}

static int run_with_a_cut(enum cut how, unsigned at)
{
	edo_runtime *runtime;
	int result = -1;

	memset(&plan, 0, sizeof plan);
	plan.cut = how;
	plan.at = at;
	assert_int_equal(edo_runtime_create(&runtime, NULL), 0);
	assert_int_equal(edo_block_on(runtime, world, NULL, &result), 0);
	assert_int_equal(edo_runtime_destroy(runtime), 0);
	return result;
}

static void a_session_can_be_cut_at_each_of_its_waits(void **state)
{
	static struct edo_test_resources before;
	unsigned cuts = 0;

	(void)state;
	edo_test_resources_take(&before);
	for (enum cut how = ABORT; how < CUTS; how++) {
		unsigned at = 0;
		int result;

		while ((result = run_with_a_cut(how, at)) == 0) {
			assert_int_equal(edo_test_resources_compare(&before), 0);
			at++;
		}
		assert_int_equal(result, 1); /* else the negated number of the line that failed */
		assert_true(at > 12);
		cuts += at;
	}
	printf("a session was cut %u times\n", cuts);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_session_can_be_cut_at_each_of_its_waits),
};

EDO_TEST_MAIN(tests)
