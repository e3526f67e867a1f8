/*
 * See workloads.h, and docs/benchmarks.md for what each one is to show. Each workload has its two
 * styles side by side: fiber_x() and the stackless struct x.
 */
#include "tasks/workloads.h"
#include "tasks/scene.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void drop_async(edo_future *future)
{
	edo_async_drop(edo_container_of(future, edo_async, future));
}

static void drop_nothing(edo_future *future)
{
	(void)future;
}

/* ---- a root that starts n tasks and joins them, as often as it takes ---- */

struct root {
	edo_async async;
	struct scene *scene;
	int (*start)(struct scene *scene, uint64_t i);
	uint64_t rounds, i;
	edo_task_wait_future wait;
};

static edo_poll root_poll(edo_future *future, edo_context *cx)
{
	struct root *me = edo_container_of(future, struct root, async.future);

	EDO_BEGIN(me, cx);
	for (; me->rounds > 0; me->rounds--) {
		for (me->i = 0; me->i < me->scene->n; me->i++) {
			int rc = me->start(me->scene, me->i);

			if (rc < 0)
				EDO_RETURN(rc);
		}
		for (me->i = 0; me->i < me->scene->n; me->i++) {
			EDO_AWAIT(edo_task_wait_start(&me->wait, me->scene->tasks[me->i]));
			edo_task_detach(me->scene->tasks[me->i]);
		}
	}
	EDO_END(0);
}

EDO_FUTURE_OPS(root_ops, struct root, async.future, root_poll, drop_async);

static int start_and_join_all(struct scene *scene, int (*start)(struct scene *, uint64_t),
			      uint64_t rounds)
{
	for (; rounds > 0; rounds--) {
		for (uint64_t i = 0; i < scene->n; i++) {
			int rc = start(scene, i);

			if (rc < 0)
				return rc;
		}
		for (uint64_t i = 0; i < scene->n; i++)
			edo_task_join(scene->tasks[i], NULL);
	}
	return 0;
}

static struct root root_of(struct scene *scene, int (*start)(struct scene *, uint64_t),
			   uint64_t rounds)
{
	return (struct root){ .async = EDO_ASYNC(root_ops),
			      .scene = scene,
			      .start = start,
			      .rounds = rounds };
}

/* ---- spawn_join: n at once that do nothing ---- */

static int fiber_nothing(void *arg)
{
	(void)arg;
	return 0;
}

struct nothing {
	edo_future future;
};

static edo_poll nothing_poll(edo_future *future, edo_context *cx)
{
	(void)future;
	(void)cx;
	return EDO_READY;
}

EDO_FUTURE_OPS(nothing_ops, struct nothing, future, nothing_poll, drop_nothing);

static int start_nothing(struct scene *scene, uint64_t i)
{
	struct nothing nothing = { { &nothing_ops } };

	if (scene->is_fiber)
		return edo_spawn_fiber(NULL, fiber_nothing, NULL, 0, &scene->tasks[i]);
	return edo_spawn(NULL, &nothing.future, &scene->tasks[i]);
}

static int fiber_spawn_join(void *arg)
{
	struct scene *scene = arg;

	return start_and_join_all(scene, start_nothing, scene->ops / scene->n);
}

static void run_spawn_join(struct bench *bench)
{
	struct scene scene;
	struct root root;

	scene_begin(&scene, bench, 1000, 100000);
	root = root_of(&scene, start_nothing, scene.ops / scene.n);
	scene_measure(&scene, fiber_spawn_join, &root.async.future);
	scene_end(&scene);
}

/* ---- yield: n tasks that yield by turns ---- */

static int fiber_yields(void *arg)
{
	for (uint64_t left = *(uint64_t *)arg; left > 0; left--)
		edo_yield();
	return 0;
}

struct yields {
	edo_async async;
	uint64_t left;
	edo_yield_future yield;
};

static edo_poll yields_poll(edo_future *future, edo_context *cx)
{
	struct yields *me = edo_container_of(future, struct yields, async.future);

	EDO_BEGIN(me, cx);
	for (; me->left > 0; me->left--)
		EDO_AWAIT(edo_yield_start(&me->yield));
	EDO_END(0);
}

EDO_FUTURE_OPS(yields_ops, struct yields, async.future, yields_poll, drop_async);

static int start_yields(struct scene *scene, uint64_t i)
{
	uint64_t left = scene->ops / scene->n;
	struct yields yields = { .async = EDO_ASYNC(yields_ops), .left = left };

	if (scene->is_fiber)
		return edo_spawn_fiber(NULL, fiber_yields, &left, sizeof left, &scene->tasks[i]);
	return edo_spawn(NULL, &yields.async.future, &scene->tasks[i]);
}

static int fiber_yield(void *arg)
{
	return start_and_join_all(arg, start_yields, 1);
}

static void run_yield(struct bench *bench)
{
	struct scene scene;
	struct root root;

	scene_begin(&scene, bench, 10, 1000000);
	root = root_of(&scene, start_yields, 1);
	scene_measure(&scene, fiber_yield, &root.async.future);
	scene_end(&scene);
}

/* ---- ping_pong: n tasks; each spawns a partner, sends it a oneshot and awaits another ---- */

static int fiber_pong(void *arg)
{
	struct oneshot *there_and_back = *(struct oneshot **)arg;
	int rc = edo_await(&there_and_back[0].future);

	oneshot_send(&there_and_back[1]);
	return rc;
}

static int fiber_ping(void *arg)
{
	struct oneshot there_and_back[2], *both = there_and_back;
	int rc;

	(void)arg;
	oneshot_init(&there_and_back[0]);
	oneshot_init(&there_and_back[1]);
	rc = edo_go(fiber_pong, &both, sizeof both);
	if (rc < 0)
		return rc;
	oneshot_send(&there_and_back[0]);
	return edo_await(&there_and_back[1].future);
}

struct pong {
	edo_async async;
	struct oneshot *there_and_back;
};

static edo_poll pong_poll(edo_future *future, edo_context *cx)
{
	struct pong *me = edo_container_of(future, struct pong, async.future);

	EDO_BEGIN(me, cx);
	EDO_AWAIT(&me->there_and_back[0].future);
	oneshot_send(&me->there_and_back[1]);
	EDO_END(0);
}

EDO_FUTURE_OPS(pong_ops, struct pong, async.future, pong_poll, drop_async);

struct ping {
	edo_async async;
	struct oneshot there_and_back[2];
};

static int start_pong(struct ping *ping)
{
	struct pong pong = { .async = EDO_ASYNC(pong_ops), .there_and_back = ping->there_and_back };

	oneshot_init(&ping->there_and_back[0]);
	oneshot_init(&ping->there_and_back[1]);
	return edo_spawn_detached(&pong.async.future);
}

static edo_poll ping_poll(edo_future *future, edo_context *cx)
{
	struct ping *me = edo_container_of(future, struct ping, async.future);
	int rc;

	EDO_BEGIN(me, cx);
	rc = start_pong(me);
	if (rc < 0)
		EDO_RETURN(rc);
	oneshot_send(&me->there_and_back[0]);
	EDO_AWAIT(&me->there_and_back[1].future);
	EDO_END(0);
}

EDO_FUTURE_OPS(ping_ops, struct ping, async.future, ping_poll, drop_async);

static int start_ping(struct scene *scene, uint64_t i)
{
	struct ping ping = { .async = EDO_ASYNC(ping_ops) };

	if (scene->is_fiber)
		return edo_spawn_fiber(NULL, fiber_ping, NULL, 0, &scene->tasks[i]);
	return edo_spawn(NULL, &ping.async.future, &scene->tasks[i]);
}

static int fiber_ping_pong(void *arg)
{
	struct scene *scene = arg;

	return start_and_join_all(scene, start_ping, scene->ops / scene->n);
}

static void run_ping_pong(struct bench *bench)
{
	struct scene scene;
	struct root root;

	scene_begin(&scene, bench, 1000, 50000);
	root = root_of(&scene, start_ping, scene.ops / scene.n);
	scene_measure(&scene, fiber_ping_pong, &root.async.future);
	scene_end(&scene);
}

/* ---- chained_spawn: each task spawns the next; the last one says so ---- */

struct link {
	edo_future future;
	uint64_t left;
	struct oneshot *end;
};

static edo_poll link_poll(edo_future *future, edo_context *cx);

EDO_FUTURE_OPS(link_ops, struct link, future, link_poll, drop_nothing);

static edo_poll link_poll(edo_future *future, edo_context *cx)
{
	struct link *me = edo_container_of(future, struct link, future);
	struct link next = { .future = { &link_ops }, .left = me->left - 1, .end = me->end };

	(void)cx;
	if (me->left > 0)
		return edo_spawn_detached(&next.future);
	oneshot_send(me->end);
	return EDO_READY;
}

static int fiber_link(void *arg)
{
	struct link *me = arg;
	struct link next = { .left = me->left - 1, .end = me->end };

	if (me->left > 0)
		return edo_go(fiber_link, &next, sizeof next);
	oneshot_send(me->end);
	return 0;
}

struct chain {
	edo_async async;
	struct scene *scene;
	struct oneshot end;
};

static int start_chain(struct scene *scene, struct oneshot *end)
{
	struct link first = { .future = { &link_ops }, .left = scene->ops, .end = end };

	oneshot_init(end);
	if (scene->is_fiber)
		return edo_go(fiber_link, &first, sizeof first);
	return edo_spawn_detached(&first.future);
}

static edo_poll chain_poll(edo_future *future, edo_context *cx)
{
	struct chain *me = edo_container_of(future, struct chain, async.future);
	int rc;

	EDO_BEGIN(me, cx);
	rc = start_chain(me->scene, &me->end);
	if (rc < 0)
		EDO_RETURN(rc);
	EDO_AWAIT(&me->end.future);
	EDO_END(0);
}

EDO_FUTURE_OPS(chain_ops, struct chain, async.future, chain_poll, drop_async);

static int fiber_chain(void *arg)
{
	struct oneshot end;
	int rc = start_chain(arg, &end);

	return rc < 0 ? rc : edo_await(&end.future);
}

static void run_chained_spawn(struct bench *bench)
{
	struct scene scene;
	struct chain chain = { .async = EDO_ASYNC(chain_ops), .scene = &scene };

	scene_begin(&scene, bench, 1, 100000);
	scene_measure(&scene, fiber_chain, &chain.async.future);
	scene_end(&scene);
}

/* ---- timeout_wrap: n tasks, each a time-out of 5 s round a yield, again and again ---- */

static int fiber_wraps(void *arg)
{
	edo_yield_future yield;

	for (uint64_t left = *(uint64_t *)arg; left > 0; left--) {
		int rc = edo_timeout(EDO_SEC(5), edo_yield_start(&yield));

		if (rc < 0)
			return rc;
	}
	return 0;
}

struct wraps {
	edo_async async;
	uint64_t left;
	edo_timeout_future timeout;
	edo_yield_future yield;
};

static edo_poll wraps_poll(edo_future *future, edo_context *cx)
{
	struct wraps *me = edo_container_of(future, struct wraps, async.future);

	EDO_BEGIN(me, cx);
	for (; me->left > 0; me->left--) {
		EDO_AWAIT(edo_timeout_start(&me->timeout, EDO_SEC(5), edo_yield_start(&me->yield)));
		if (me->async.result < 0)
			EDO_RETURN(me->async.result);
	}
	EDO_END(0);
}

EDO_FUTURE_OPS(wraps_ops, struct wraps, async.future, wraps_poll, drop_async);

static int start_wraps(struct scene *scene, uint64_t i)
{
	uint64_t left = scene->ops / scene->n;
	struct wraps wraps = { .async = EDO_ASYNC(wraps_ops), .left = left };

	if (scene->is_fiber)
		return edo_spawn_fiber(NULL, fiber_wraps, &left, sizeof left, &scene->tasks[i]);
	return edo_spawn(NULL, &wraps.async.future, &scene->tasks[i]);
}

static int fiber_timeout_wrap(void *arg)
{
	return start_and_join_all(arg, start_wraps, 1);
}

static void run_timeout_wrap(struct bench *bench)
{
	struct scene scene;
	struct root root;

	scene_begin(&scene, bench, 100, 200000);
	root = root_of(&scene, start_wraps, 1);
	scene_measure(&scene, fiber_timeout_wrap, &root.async.future);
	scene_end(&scene);
}

/* ---- task_mem: resident bytes a task that waits ---- */

static int fiber_sleeps(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_HOUR(1));
}

struct sleeps {
	edo_async async;
	edo_timer timer;
};

static edo_poll sleeps_poll(edo_future *future, edo_context *cx)
{
	struct sleeps *me = edo_container_of(future, struct sleeps, async.future);

	EDO_BEGIN(me, cx);
	edo_timer_init(&me->timer, edo_instant_add(edo_now(), EDO_HOUR(1)));
	EDO_AWAIT(&me->timer.future);
	EDO_END(0);
}

EDO_FUTURE_OPS(sleeps_ops, struct sleeps, async.future, sleeps_poll, drop_async);

static int start_sleeps(struct scene *scene, uint64_t i)
{
	struct sleeps sleeps = { .async = EDO_ASYNC(sleeps_ops) };

	if (scene->is_fiber)
		return edo_spawn_fiber(NULL, fiber_sleeps, NULL, 0, &scene->tasks[i]);
	return edo_spawn(NULL, &sleeps.async.future, &scene->tasks[i]);
}

static int fiber_starts_sleepers(void *arg)
{
	struct scene *scene = arg;

	for (uint64_t i = 0; i < scene->n; i++) {
		int rc = start_sleeps(scene, i);

		if (rc < 0)
			return rc;
	}
	return edo_yield();
}

static int fiber_ends_sleepers(void *arg)
{
	struct scene *scene = arg;

	for (uint64_t i = 0; i < scene->n; i++) {
		edo_task_abort(scene->tasks[i]);
		edo_task_join(scene->tasks[i], NULL);
	}
	return 0;
}

static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long total = 0, pages = 0;

	if (!file || fscanf(file, "%lu %lu", &total, &pages) != 2)
		bench_die("/proc/self/statm cannot be read");
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void run_task_mem(struct bench *bench)
{
	struct scene scene;
	double before;

	scene_begin(&scene, bench, 10000, 10000);
	for (uint64_t i = 0; i < scene.n; i++)
		scene.tasks[i] = NULL; /* resident before the count begins */
	while (bench_repeats(bench)) {
		/* A runtime of its own each time, or its free lists would hide what tasks take. */
		scene_end(&scene);
		scene_begin(&scene, bench, 10000, 10000);
		for (uint64_t i = 0; i < scene.n; i++)
			scene.tasks[i] = (edo_task *)(uintptr_t)&scene;
		before = resident_bytes();
		scene_check(edo_block_on(scene.runtime, fiber_starts_sleepers, &scene, NULL),
			    "run");
		bench_record(bench, "bytes_per_task",
			     (resident_bytes() - before) / (double)scene.n);
		scene_check(edo_block_on(scene.runtime, fiber_ends_sleepers, &scene, NULL), "run");
	}
	scene_end(&scene);
}

const struct workload tasks_workloads[] = {
	{ "spawn_join", run_spawn_join, "n tasks at once that do nothing: style, flavor, n, ops" },
	{ "yield", run_yield, "n tasks yield by turns: style, flavor, n, ops" },
	{ "ping_pong", run_ping_pong,
	  "n pairs of tasks and two oneshots each: style, flavor, n, ops" },
	{ "chained_spawn", run_chained_spawn, "each task spawns the next: style, flavor, ops" },
	{ "timeout_wrap", run_timeout_wrap,
	  "n tasks, a time-out of 5 s round a yield in a loop: style, flavor, n, ops" },
	{ "task_mem", run_task_mem, "resident bytes a sleeping task: style, flavor, n" },
	{ 0 },
};
