/*
 * A runtime's end under every failure, with everything still alive: fibers that sleep, read, accept and
 * connect, stackless tasks, an armed timer of a plain thread's, a handle that is kept.
 */
#include "sweep.h"
#include <edo/async.h>

struct everything {
	struct sweep_life *life;
	edo_task *kept;
	edo_timer timer; /* the plain thread's */
	unsigned stackless_begun;
	unsigned stackless_dropped; /* as often as they were begun */
	unsigned fibers_begun;
	unsigned fibers_ended;
};

/* ---- fibers: each hangs in a wait until the end, and takes what it has with it ---- */

static int ended(struct everything *all, int rc)
{
	(void)sweep_tell_unless(all->life, rc, -ECANCELED);
	all->fibers_ended++;
	return rc;
}

static int sleeps(void *arg)
{
	struct everything *all = arg;

	all->fibers_begun++;
	return ended(all, edo_sleep(EDO_SEC(1000)));
}

/* Reads what nobody writes: the peer stays in the listener's queue. */
static int read_in_vain(edo_tcp_listener *listener, edo_tcp *conn)
{
	edo_addr addr;
	char byte;
	int rc = edo_tcp_listener_addr(listener, &addr);

	if (rc == 0)
		rc = sweep_connect(conn, &addr);
	if (rc == 0)
		rc = edo_tcp_set_timeout(conn, EDO_SEC(1000));
	return rc == 0 ? (int)edo_tcp_read(conn, &byte, 1) : rc;
}

static int reads(void *arg)
{
	struct everything *all = arg;
	edo_tcp_listener listener = { 0 };
	edo_tcp conn = { 0 };
	int rc = edo_tcp_listen(&listener, "127.0.0.1:0");

	all->fibers_begun++;
	if (rc == 0)
		rc = read_in_vain(&listener, &conn);
	(void)edo_tcp_close(&conn);
	(void)edo_tcp_listener_close(&listener);
	return ended(all, rc);
}

static int accepts(void *arg)
{
	struct everything *all = arg;
	edo_tcp_listener listener = { 0 };
	edo_tcp stream = { 0 };
	int rc = edo_tcp_listen(&listener, "127.0.0.1:0");

	all->fibers_begun++;
	if (rc == 0)
		rc = edo_tcp_accept(&listener, &stream, NULL);
	(void)edo_tcp_listener_close(&listener);
	return ended(all, rc);
}

/* ---- a stackless task ---- */

struct stackless {
	edo_async async;
	struct everything *all;
	bool has_begun;
	edo_timer timer;
	edo_timeout_future limit;
};

static edo_poll stackless_poll(edo_future *future, edo_context *cx)
{
	struct stackless *me = edo_container_of(future, struct stackless, async.future);

	EDO_BEGIN(me, cx);
	me->has_begun = true;
	me->all->stackless_begun++;
	edo_timer_init(&me->timer, EDO_FOREVER);
	EDO_AWAIT(edo_timeout_start(&me->limit, EDO_SEC(2000), &me->timer.future));
	EDO_END(-EPROTO);
}

static void stackless_drop(edo_future *future)
{
	struct stackless *me = edo_container_of(future, struct stackless, async.future);

	edo_async_drop(&me->async);
	if (me->has_begun)
		me->all->stackless_dropped++;
	me->has_begun = false;
}

EDO_FUTURE_OPS(stackless_ops, struct stackless, async, stackless_poll, stackless_drop);

static int spawn_stackless(struct everything *all, edo_task **task)
{
	struct stackless stackless = { .async = EDO_ASYNC(stackless_ops), .all = all };

	return edo_spawn(NULL, &stackless.async.future, task);
}

/* ---- all of it ---- */

static int begin_all(void *arg)
{
	struct everything *all = arg;
	edo_fiber_fn *const fibers[] = { sleeps, reads, accepts };

	for (size_t i = 0; i < sizeof fibers / sizeof fibers[0]; i++)
		(void)sweep_tell(all->life, edo_go(fibers[i], all, 0));
	(void)sweep_tell(all->life, spawn_stackless(all, NULL));
	if (sweep_tell(all->life, spawn_stackless(all, &all->kept)) == 0)
		all->life->kept = 1;
	/* Long enough for all to hang where they are meant to: the clock stands until they do. */
	return sweep_tell(all->life, edo_sleep(EDO_MS(1)));
}

static void nothing(void *data)
{
	(void)data;
}

static edo_waker clone_nothing(void *data);

static const edo_waker_ops nothing_ops = { clone_nothing, nothing, nothing, nothing };

static edo_waker clone_nothing(void *data)
{
	return (edo_waker){ data, &nothing_ops };
}

/* A plain thread polls a timer by hand and leaves it armed. */
static void leave_a_timer_armed(struct everything *all)
{
	edo_waker waker = clone_nothing(all);
	edo_enter_guard guard;
	edo_context cx;

	if (sweep_tell(all->life, edo_runtime_enter(all->life->runtime, &guard)) < 0)
		return;
	edo_context_init(&cx, &waker);
	edo_timer_init(&all->timer, edo_instant_add(edo_now(), EDO_SEC(3000)));
	assert_int_equal(edo_future_poll(&all->timer.future, &cx), EDO_PENDING);
	edo_runtime_leave(&guard);
}

static struct everything everything;

static void live(struct sweep_life *life)
{
	everything = (struct everything){ .life = life };
	life->own = &everything;
	sweep_block_on(life, begin_all, &everything);
	leave_a_timer_armed(&everything);
}

/* The kept handle still tells how its task ended; the armed timer is one that has been shut down. */
static void after(struct sweep_life *life)
{
	struct everything *all = life->own;
	int result = 0;

	assert_int_equal(all->fibers_ended, all->fibers_begun);
	assert_int_equal(all->stackless_dropped, all->stackless_begun);
	edo_timer_drop(&all->timer);
	if (!all->kept)
		return;
	if (sweep_tell(life, edo_task_join(all->kept, &result)) < 0)
		edo_task_detach(all->kept);
	else
		assert_int_equal(result, -ECANCELED);
}

static void a_runtime_ends_well_under_every_failure(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "shutdown",
		.config = { .start_paused = true },
		.live = live,
		.after = after,
	};

	(void)state;
	sweep(&scenario);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_runtime_ends_well_under_every_failure),
};

EDO_TEST_MAIN(tests)
