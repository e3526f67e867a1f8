/*
 * See workloads.h, and docs/benchmarks.md for what each one is to show.
 *
 * All runs in one fiber. What needs a context (a first poll) runs inside the poll of a future that the
 * fiber awaits, so timers hold wakers of a real task; the clock is paused, and turned by edo_advance().
 */
#include "timer/workloads.h"
#include "timer/hold.h"
#include <edo/edo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND EDO_SEC(1)
#define MINUTE EDO_MIN(1)

/* What is drawn before the clock starts: which timer, and its deadline from the present. */
struct draw {
	edo_duration after;
	uint32_t pick;
};

struct scene {
	struct bench *bench;
	edo_timer *timers; /* n + 1, the last one extra */
	size_t n;
	struct draw *draws;
	size_t ops;
	int (*measure)(struct scene *scene);
	edo_duration low, high; /* of the draws */
	size_t ops_a_tick;      /* 0: the clock stands */
	bool tick_by_tick;
	bool clock_runs;
};

static void check(int rc, const char *what)
{
	if (rc < 0)
		bench_die("%s: %s", what, edo_strerror(rc));
}

/* ---- a piece of work inside the fiber's poll ---- */

struct piece {
	edo_future future;
	void (*work)(struct scene *scene, edo_context *cx);
	struct scene *scene;
};

static edo_poll piece_poll(edo_future *future, edo_context *cx)
{
	struct piece *piece = edo_container_of(future, struct piece, future);

	piece->work(piece->scene, cx);
	return EDO_READY;
}

static void piece_drop(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(piece_ops, struct piece, future, piece_poll, piece_drop);

static void in_a_poll(struct scene *scene, void (*work)(struct scene *scene, edo_context *cx))
{
	struct piece piece = { { &piece_ops }, work, scene };

	check(edo_await(&piece.future), "await");
}

/* ---- scenes ---- */

static size_t positive(struct bench *bench, const char *key, uint64_t otherwise)
{
	uint64_t number = bench_number(bench, key, otherwise);

	if (number < 1 || number > 1000000000)
		bench_die("%s must be 1 to 10^9", key);
	return (size_t)number;
}

static int play(void *arg)
{
	struct scene *scene = arg;
	int rc = scene->measure(scene);

	for (size_t i = 0; i <= scene->n; i++)
		edo_timer_drop(&scene->timers[i]);
	return rc;
}

static void run_scene(struct scene *scene)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;
	int result = 0;

	scene->timers = bench_allocate(scene->n + 1, sizeof(*scene->timers));
	scene->draws = bench_allocate(scene->ops, sizeof(*scene->draws));
	for (size_t i = 0; i <= scene->n; i++)
		edo_timer_init(&scene->timers[i], 0);
	config.flavor = EDO_CURRENT_THREAD;
	config.start_paused = !scene->clock_runs;
	check(edo_runtime_create(&runtime, &config), "runtime");
	check(edo_block_on(runtime, play, scene, &result), "block_on");
	check(result, "workload");
	check(edo_runtime_destroy(runtime), "destroy");
	free(scene->timers);
	free(scene->draws);
}

static void draw_all(struct scene *scene)
{
	for (size_t i = 0; i < scene->ops; i++) {
		scene->draws[i].pick =
			(uint32_t)bench_random_between(scene->bench, 0, scene->n - 1);
		scene->draws[i].after = bench_random_between(scene->bench, scene->low, scene->high);
	}
}

static void arm(edo_timer *timer, edo_instant deadline, edo_context *cx)
{
	edo_timer_init(timer, deadline);
	if (edo_future_poll(&timer->future, cx) != EDO_PENDING)
		bench_die("a timer did not wait");
}

static void arm_all(struct scene *scene, edo_context *cx)
{
	edo_instant now = edo_now();

	for (size_t i = 0; i < scene->n; i++)
		arm(&scene->timers[i],
		    now + bench_random_between(scene->bench, scene->low, scene->high), cx);
}

/* ---- insert and cancel ---- */

static void insert_and_cancel(struct scene *scene, edo_context *cx)
{
	edo_timer *extra = &scene->timers[scene->n];
	edo_instant now = edo_now();
	uint64_t start = bench_clock();

	for (size_t i = 0; i < scene->ops; i++) {
		arm(extra, now + scene->draws[i].after, cx);
		edo_timer_drop(extra);
	}
	bench_record_per_op(scene->bench, "ns_per_op", start, scene->ops);
}

static int measure_insert_cancel(struct scene *scene)
{
	in_a_poll(scene, arm_all);
	while (bench_repeats(scene->bench)) {
		draw_all(scene);
		in_a_poll(scene, insert_and_cancel);
	}
	return 0;
}

static void run_insert_cancel(struct bench *bench)
{
	struct scene scene = { .bench = bench,
			       .n = positive(bench, "n", 100000),
			       .ops = 1000000,
			       .measure = measure_insert_cancel,
			       .low = SECOND,
			       .high = 10 * MINUTE };

	run_scene(&scene);
}

/* ---- resets ---- */

static void reset_once(struct scene *scene, const struct draw *draw, edo_instant now)
{
	check(edo_timer_reset(&scene->timers[draw->pick], now + draw->after), "reset");
}

static int measure_resets(struct scene *scene)
{
	in_a_poll(scene, arm_all);
	while (bench_repeats(scene->bench)) {
		edo_instant now = edo_now();
		uint64_t start;

		draw_all(scene);
		start = bench_clock();
		for (size_t i = 0; i < scene->ops; i++) {
			reset_once(scene, &scene->draws[i], now);
			if (scene->ops_a_tick && i % scene->ops_a_tick == 0) {
				check(edo_advance(EDO_MS(1)), "advance");
				now += EDO_MS(1);
			}
		}
		bench_record_per_op(scene->bench, "ns_per_op", start, scene->ops);
	}
	return 0;
}

static void run_resets(struct bench *bench, edo_duration low, edo_duration high, size_t ops_a_tick)
{
	struct scene scene = { .bench = bench,
			       .n = positive(bench, "n", 100000),
			       .ops = 1000000,
			       .measure = measure_resets,
			       .low = low,
			       .high = high,
			       .ops_a_tick = ops_a_tick };

	run_scene(&scene);
}

static edo_duration jitter_of(struct bench *bench)
{
	return EDO_MS(bench_number(bench, "jitter", 1000));
}

static void run_reset(struct bench *bench)
{
	run_resets(bench, 30 * SECOND, 30 * SECOND + jitter_of(bench), 0);
}

static void run_reset_random(struct bench *bench)
{
	run_resets(bench, SECOND, 10 * MINUTE, 0);
}

static void run_reset_advance(struct bench *bench)
{
	run_resets(bench, 30 * SECOND, 30 * SECOND + jitter_of(bench), 100);
}

/* ---- firing ---- */

static void insert_drawn(struct scene *scene, edo_context *cx)
{
	edo_instant now = edo_now();
	uint64_t start = bench_clock();

	for (size_t i = 0; i < scene->n; i++)
		arm(&scene->timers[i], now + scene->draws[i].after, cx);
	bench_record_per_op(scene->bench, "insert_ns", start, scene->n);
}

static void go_on(const struct scene *scene, edo_duration duration)
{
	edo_duration step = scene->tick_by_tick ? EDO_MS(1) : duration;

	for (edo_duration gone = 0; gone < duration; gone += step)
		check(edo_advance(step), "advance");
}

static int measure_fire(struct scene *scene)
{
	while (bench_repeats(scene->bench)) {
		uint64_t start;

		draw_all(scene);
		in_a_poll(scene, insert_drawn);
		start = bench_clock();
		go_on(scene, MINUTE + MINUTE / 4);
		bench_record_per_op(scene->bench, "fire_ns", start, scene->n);
		for (size_t i = 0; i < scene->n; i++)
			if (!edo_timer_has_fired(&scene->timers[i]))
				bench_die("a timer did not fire");
	}
	return 0;
}

static void run_fire(struct bench *bench)
{
	static const char *const steps[] = { "jump", "1ms", NULL };
	size_t n = positive(bench, "n", 100000);
	struct scene scene = { .bench = bench,
			       .n = n,
			       .ops = n,
			       .measure = measure_fire,
			       .low = EDO_MS(1),
			       .high = MINUTE,
			       .tick_by_tick = bench_word(bench, "step", steps)[0] == '1' };

	run_scene(&scene);
}

/* ---- stalls ---- */

/*
 * The clock runs: a repetition lasts as long as it takes the next coarse slot to open. The fiber touches
 * timers, sleeps a tick, and so on, as a server does.
 */
#define STALL EDO_MS(4200)

static void touch(struct scene *scene, const struct draw *draw, edo_context *cx)
{
	edo_timer *timer = &scene->timers[draw->pick];
	edo_instant deadline = edo_now() + draw->after;

	if (edo_timer_has_fired(timer))
		arm(timer, deadline, cx);
	else
		check(edo_timer_reset(timer, deadline), "reset");
}

static void touch_some(struct scene *scene, edo_context *cx)
{
	for (size_t i = 0; i < scene->ops; i++)
		touch(scene, &scene->draws[i], cx);
}

static int measure_stall(struct scene *scene)
{
	in_a_poll(scene, arm_all);
	while (bench_repeats(scene->bench)) {
		edo_instant end = edo_now() + STALL;

		hold_forget();
		hold_measure(true);
		while (edo_now() < end) {
			draw_all(scene);
			in_a_poll(scene, touch_some);
			check(edo_sleep(EDO_MS(1)), "sleep");
		}
		hold_measure(false);
		bench_record(scene->bench, "hold_p999_us", (double)hold_quantile(0.999) / 1e3);
		bench_record(scene->bench, "longest_hold_us", (double)hold_longest() / 1e3);
		bench_record(scene->bench, "longest_turn_us", (double)hold_longest_turn() / 1e3);
	}
	return 0;
}

static void run_stall(struct bench *bench)
{
	struct scene scene = { .bench = bench,
			       .n = positive(bench, "n", 1000000),
			       .ops = positive(bench, "resets_a_ms", 100),
			       .measure = measure_stall,
			       .low = 30 * SECOND,
			       .high = 30 * SECOND,
			       .clock_runs = true };

	run_scene(&scene);
}

/* ---- memory ---- */

static size_t bytes_taken;

static void *take(void *context, size_t size, size_t align)
{
	void *memory = NULL;

	(void)context;
	if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, size) != 0)
		return NULL;
	bytes_taken += size;
	return memory;
}

static void give(void *context, void *memory, size_t size)
{
	(void)context;
	bytes_taken -= size;
	free(memory);
}

/* The least that a task which sleeps can be. */
struct sleeper {
	edo_async async;
	edo_timer timer;
};

static edo_poll sleeper_poll(edo_future *future, edo_context *cx)
{
	struct sleeper *me = edo_container_of(future, struct sleeper, async.future);

	EDO_BEGIN(me, cx);
	EDO_AWAIT(&me->timer.future);
	EDO_END(me->async.result);
}

static void sleeper_drop(edo_future *future)
{
	edo_async_drop(edo_container_of(future, edo_async, future));
}

EDO_FUTURE_OPS(sleeper_ops, struct sleeper, async.future, sleeper_poll, sleeper_drop);

static int sleep_in_fiber(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_HOUR(1));
}

static size_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t total, pages = 0;

	if (!file || fscanf(file, "%zu %zu", &total, &pages) != 2)
		bench_die("no /proc/self/statm");
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

enum { SLEEPERS = 10000 };

static int measure_memory(void *arg)
{
	struct bench *bench = arg;
	size_t before = bytes_taken, resident_before;

	for (int i = 0; i < SLEEPERS; i++) {
		struct sleeper sleeper = { .async = EDO_ASYNC(sleeper_ops) };

		edo_timer_init(&sleeper.timer, EDO_HOUR(1));
		check(edo_spawn_detached(&sleeper.async.future), "spawn");
	}
	check(edo_yield(), "yield");
	bench_note(bench, "bytes_per_task", (double)(bytes_taken - before) / SLEEPERS);

	resident_before = resident();
	for (int i = 0; i < SLEEPERS; i++)
		check(edo_go(sleep_in_fiber, NULL, 0), "go");
	check(edo_yield(), "yield");
	bench_note(bench, "resident_per_fiber", (double)(resident() - resident_before) / SLEEPERS);
	return 0;
}

static void run_mem(struct bench *bench)
{
	const edo_allocator counting = { take, give, NULL };
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;
	int result = 0;

	bench_note(bench, "bytes_per_timer", sizeof(edo_timer));
	config.flavor = EDO_CURRENT_THREAD;
	config.start_paused = true;
	config.allocator = &counting;
	check(edo_runtime_create(&runtime, &config), "runtime");
	check(edo_block_on(runtime, measure_memory, bench, &result), "block_on");
	check(result, "workload");
	check(edo_runtime_destroy(runtime), "destroy");
}

const struct workload timer_workloads[] = {
	{ "timer_insert_cancel", run_insert_cancel,
	  "n=: n live, one more polled and dropped, inside a task's poll" },
	{ "timer_reset", run_reset, "n= jitter=: one at random moved to 30 s from now" },
	{ "timer_reset_random", run_reset_random, "n=: one at random moved to 1 s to 10 min" },
	{ "timer_reset_advance", run_reset_advance,
	  "n= jitter=: as timer_reset, the clock going on 1 ms every 100 moves" },
	{ "timer_fire", run_fire, "n= step=jump|1ms: n over the next minute polled, then fired" },
	{ "timer_stall", run_stall,
	  "n= resets_a_ms=: time-outs of 30 s; the longest hold of the lock and turn, us" },
	{ "timer_mem", run_mem, "bytes a timer, a sleeping task, a sleeping fiber" },
	{ NULL, NULL, NULL },
};
