/*
 * See workloads.h. An operation is an item that was sent and received; in channel_ping_pong it is there and
 * back. n is the number of producers, or of pairs.
 */
#include "sync/workloads.h"
#include "tasks/scene.h"

static void drop_async(edo_future *future)
{
	edo_async_drop(edo_container_of(future, edo_async, future));
}

/* ---- what a workload's tasks do, in both styles ---- */

/* Sends `left` items into tx, and leaves. */
struct producer {
	edo_async async;
	edo_mpsc_tx *tx;
	uint64_t left;
	edo_mpsc_send_future send;
};

static int fiber_produces(void *arg)
{
	struct producer *me = arg;
	int rc = 0;

	for (; me->left > 0 && rc == 0; me->left--)
		rc = edo_mpsc_send(me->tx, &me->left);
	edo_mpsc_tx_release(me->tx);
	return rc;
}

static edo_poll producer_poll(edo_future *future, edo_context *cx)
{
	struct producer *me = edo_container_of(future, struct producer, async.future);

	EDO_BEGIN(me, cx);
	for (; me->left > 0; me->left--)
		EDO_AWAIT(edo_mpsc_send_start(&me->send, me->tx, &me->left));
	edo_mpsc_tx_release(me->tx);
	EDO_END(0);
}

EDO_FUTURE_OPS(producer_ops, struct producer, async.future, producer_poll, drop_async);

static int start(const struct scene *scene, edo_fiber_fn *fiber, edo_async *async, size_t size)
{
	if (scene->is_fiber)
		return edo_go(fiber, async, size);
	return edo_spawn_detached(&async->future);
}

static uint64_t capacity;

static int open_channel(edo_mpsc_tx **tx, edo_mpsc_rx **rx)
{
	if (capacity == 0)
		return edo_mpsc_create_unbounded(tx, rx, sizeof(uint64_t));
	return edo_mpsc_create(tx, rx, sizeof(uint64_t), capacity);
}

static int start_producers(struct scene *scene, edo_mpsc_rx **rx)
{
	edo_mpsc_tx *tx;
	int rc = open_channel(&tx, rx);

	for (uint64_t i = 0; i < scene->n && rc == 0; i++) {
		struct producer producer = { .async = EDO_ASYNC(producer_ops),
					     .tx = edo_mpsc_tx_retain(tx),
					     .left = scene->ops / scene->n };

		rc = start(scene, fiber_produces, &producer.async, sizeof producer);
	}
	edo_mpsc_tx_release(tx);
	return rc;
}

/* ---- mpsc, mpsc_unbounded: n producers, one consumer ---- */

static int fiber_mpsc(void *arg)
{
	struct scene *scene = arg;
	edo_mpsc_rx *rx;
	uint64_t item;
	int rc = start_producers(scene, &rx);

	while (rc == 0)
		rc = edo_mpsc_recv(rx, &item);
	edo_mpsc_rx_release(rx);
	return 0;
}

struct consumer {
	edo_async async;
	struct scene *scene;
	edo_mpsc_rx *rx;
	uint64_t item;
	edo_mpsc_recv_future recv;
};

static edo_poll consumer_poll(edo_future *future, edo_context *cx)
{
	struct consumer *me = edo_container_of(future, struct consumer, async.future);

	EDO_BEGIN(me, cx);
	if (start_producers(me->scene, &me->rx) < 0)
		EDO_RETURN(-1);
	do
		EDO_AWAIT(edo_mpsc_recv_start(&me->recv, me->rx, &me->item));
	while (me->recv.result == 0);
	edo_mpsc_rx_release(me->rx);
	EDO_END(0);
}

EDO_FUTURE_OPS(consumer_ops, struct consumer, async.future, consumer_poll, drop_async);

static void run_stream(struct bench *bench)
{
	struct scene scene;
	struct consumer consumer = { .async = EDO_ASYNC(consumer_ops), .scene = &scene };

	scene_begin(&scene, bench, 1, 1000000);
	scene_measure(&scene, fiber_mpsc, &consumer.async.future);
	scene_end(&scene);
}

static void run_mpsc(struct bench *bench)
{
	capacity = bench_number(bench, "capacity", 1000);
	run_stream(bench);
}

static void run_mpsc_unbounded(struct bench *bench)
{
	capacity = 0;
	run_stream(bench);
}

/* ---- channel_ping_pong: an item there and back over two channels of one place ---- */

struct echo {
	edo_async async;
	edo_mpsc_rx *in;
	edo_mpsc_tx *out;
	uint64_t item;
	union {
		edo_mpsc_recv_future recv;
		edo_mpsc_send_future send;
	} wait;
};

static int fiber_echoes(void *arg)
{
	struct echo *me = arg;

	while (edo_mpsc_recv(me->in, &me->item) == 0)
		if (edo_mpsc_send(me->out, &me->item) < 0)
			break;
	edo_mpsc_tx_release(me->out);
	edo_mpsc_rx_release(me->in);
	return 0;
}

static edo_poll echo_poll(edo_future *future, edo_context *cx)
{
	struct echo *me = edo_container_of(future, struct echo, async.future);

	EDO_BEGIN(me, cx);
	for (;;) {
		EDO_AWAIT(edo_mpsc_recv_start(&me->wait.recv, me->in, &me->item));
		if (me->async.result < 0)
			break;
		EDO_AWAIT(edo_mpsc_send_start(&me->wait.send, me->out, &me->item));
	}
	edo_mpsc_tx_release(me->out);
	edo_mpsc_rx_release(me->in);
	EDO_END(0);
}

EDO_FUTURE_OPS(echo_ops, struct echo, async.future, echo_poll, drop_async);

static int start_echo(const struct scene *scene, edo_mpsc_tx **there, edo_mpsc_rx **back)
{
	struct echo echo = { .async = EDO_ASYNC(echo_ops) };
	int rc = edo_mpsc_create(there, &echo.in, sizeof(uint64_t), 1);

	if (rc == 0)
		rc = edo_mpsc_create(&echo.out, back, sizeof(uint64_t), 1);
	return rc < 0 ? rc : start(scene, fiber_echoes, &echo.async, sizeof echo);
}

static int fiber_pings(void *arg)
{
	struct scene *scene = arg;
	edo_mpsc_tx *there = NULL;
	edo_mpsc_rx *back = NULL;
	int rc = start_echo(scene, &there, &back);

	for (uint64_t i = 0; i < scene->ops && rc == 0; i++) {
		rc = edo_mpsc_send(there, &i);
		if (rc == 0)
			rc = edo_mpsc_recv(back, &(uint64_t){ 0 });
	}
	edo_mpsc_tx_release(there);
	edo_mpsc_rx_release(back);
	return rc;
}

struct pinger {
	edo_async async;
	struct scene *scene;
	edo_mpsc_tx *there;
	edo_mpsc_rx *back;
	uint64_t i, item;
	union {
		edo_mpsc_recv_future recv;
		edo_mpsc_send_future send;
	} wait;
};

static edo_poll pinger_poll(edo_future *future, edo_context *cx)
{
	struct pinger *me = edo_container_of(future, struct pinger, async.future);

	EDO_BEGIN(me, cx);
	if (start_echo(me->scene, &me->there, &me->back) < 0)
		EDO_RETURN(-1);
	for (; me->i < me->scene->ops; me->i++) {
		EDO_AWAIT(edo_mpsc_send_start(&me->wait.send, me->there, &me->i));
		EDO_AWAIT(edo_mpsc_recv_start(&me->wait.recv, me->back, &me->item));
	}
	edo_mpsc_tx_release(me->there);
	edo_mpsc_rx_release(me->back);
	EDO_END(0);
}

EDO_FUTURE_OPS(pinger_ops, struct pinger, async.future, pinger_poll, drop_async);

static void run_channel_ping_pong(struct bench *bench)
{
	struct scene scene;
	struct pinger pinger = { .async = EDO_ASYNC(pinger_ops), .scene = &scene };

	scene_begin(&scene, bench, 1, 1000000);
	scene_measure(&scene, fiber_pings, &pinger.async.future);
	scene_end(&scene);
}

/* ---- oneshot: made, sent, awaited and released by one task ---- */

static int make_and_send(edo_oneshot_tx **tx, edo_oneshot_rx **rx, const uint64_t *item)
{
	int rc = edo_oneshot_create(tx, rx, sizeof *item);

	return rc < 0 ? rc : edo_oneshot_send(*tx, item);
}

static int fiber_oneshots(void *arg)
{
	struct scene *scene = arg;
	int rc = 0;

	for (uint64_t i = 0; i < scene->ops && rc == 0; i++) {
		edo_oneshot_tx *tx;
		edo_oneshot_rx *rx;
		uint64_t item;

		rc = make_and_send(&tx, &rx, &i);
		if (rc == 0)
			rc = edo_oneshot_recv(rx, &item);
		edo_oneshot_tx_release(tx);
		edo_oneshot_rx_release(rx);
	}
	return rc;
}

struct oneshots {
	edo_async async;
	edo_oneshot_tx *tx;
	edo_oneshot_rx *rx;
	uint64_t left, item;
	edo_oneshot_recv_future recv;
};

static edo_poll oneshots_poll(edo_future *future, edo_context *cx)
{
	struct oneshots *me = edo_container_of(future, struct oneshots, async.future);

	EDO_BEGIN(me, cx);
	for (; me->left > 0; me->left--) {
		if (make_and_send(&me->tx, &me->rx, &me->left) < 0)
			EDO_RETURN(-1);
		EDO_AWAIT(edo_oneshot_recv_start(&me->recv, me->rx, &me->item));
		edo_oneshot_tx_release(me->tx);
		edo_oneshot_rx_release(me->rx);
	}
	EDO_END(0);
}

EDO_FUTURE_OPS(oneshots_ops, struct oneshots, async.future, oneshots_poll, drop_async);

static void run_oneshot(struct bench *bench)
{
	struct scene scene;
	struct oneshots oneshots = { .async = EDO_ASYNC(oneshots_ops) };

	scene_begin(&scene, bench, 1, 1000000);
	oneshots.left = scene.ops;
	scene_measure(&scene, fiber_oneshots, &oneshots.async.future);
	scene_end(&scene);
}

const struct workload sync_workloads[] = {
	{ "mpsc", run_mpsc, "n producers, one consumer: style, flavor, n, ops, capacity" },
	{ "mpsc_unbounded", run_mpsc_unbounded, "the same without a bound: style, flavor, n, ops" },
	{ "channel_ping_pong", run_channel_ping_pong,
	  "an item there and back, two channels of one place: style, flavor, ops" },
	{ "oneshot", run_oneshot, "made, sent, awaited, released: style, flavor, ops" },
	{ 0 },
};
