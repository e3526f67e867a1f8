/* See workloads.h, and docs/benchmarks.md for what each one is to show. */
#include "wheel/workloads.h"

#include "adapter.h"
#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND };

/*
 * What is drawn before the clock starts: which timer, and its deadline (relative to the present).
 */
struct draw {
	uint32_t pick;
	uint32_t after;
};

struct scene {
	struct adapter set;
	struct adapter_timer *timers;
	size_t n;
	struct draw *draws;
	size_t ops;
};

static void set_scene(struct scene *scene, size_t n, size_t ops)
{
	scene->n = n;
	scene->ops = ops;
	scene->timers = bench_allocate(n + 1, sizeof(*scene->timers));
	scene->draws = bench_allocate(ops, sizeof(*scene->draws));
	adapter_init(&scene->set, n + 1);
	for (size_t i = 0; i <= n; i++)
		adapter_prepare(&scene->set, &scene->timers[i]);
}

static void clear_scene(struct scene *scene)
{
	for (size_t i = 0; i <= scene->n; i++)
		adapter_cancel(&scene->set, &scene->timers[i]);
	adapter_free(&scene->set);
	free(scene->timers);
	free(scene->draws);
}

static void draw_all(struct bench *bench, struct scene *scene, uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < scene->ops; i++) {
		scene->draws[i].pick = (uint32_t)bench_random_between(bench, 0, scene->n - 1);
		scene->draws[i].after = (uint32_t)bench_random_between(bench, low, high);
	}
}

static void insert_all(struct bench *bench, struct scene *scene, uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < scene->n; i++)
		adapter_insert(&scene->set, &scene->timers[i],
			       bench_random_between(bench, low, high));
}

static size_t positive(struct bench *bench, const char *key, uint64_t otherwise)
{
	uint64_t number = bench_number(bench, key, otherwise);

	if (number < 1 || number > 1000000000)
		bench_die("%s must be 1 to 10^9", key);
	return (size_t)number;
}

/* n live; one more is started at a random deadline and cancelled. */
static void run_insert_cancel(struct bench *bench)
{
	size_t n = positive(bench, "n", 100000);
	struct scene scene;

	set_scene(&scene, n, 1000000);
	insert_all(bench, &scene, SECOND, 10 * MINUTE);
	while (bench_repeats(bench)) {
		struct adapter_timer *extra = &scene.timers[n];
		uint64_t start;

		draw_all(bench, &scene, SECOND, 10 * MINUTE);
		start = bench_clock();
		for (size_t i = 0; i < scene.ops; i++) {
			adapter_insert(&scene.set, extra, scene.draws[i].after);
			adapter_cancel(&scene.set, extra);
		}
		bench_record_per_op(bench, "ns_per_op", start, scene.ops);
	}
	clear_scene(&scene);
}

/*
 * One of n at random is moved to a deadline in [low, high] from now; the clock goes on, or stands.
 */
static void measure_resets(struct bench *bench, uint64_t low, uint64_t high, size_t ops_a_tick)
{
	size_t n = positive(bench, "n", 100000);
	uint64_t now = 0;
	size_t fired = 0;
	struct scene scene;

	set_scene(&scene, n, 1000000);
	insert_all(bench, &scene, low, high);
	while (bench_repeats(bench)) {
		uint64_t start;

		draw_all(bench, &scene, low, high);
		start = bench_clock();
		for (size_t i = 0; i < scene.ops; i++) {
			const struct draw *draw = &scene.draws[i];

			adapter_reset(&scene.set, &scene.timers[draw->pick], now + draw->after);
			if (ops_a_tick && i % ops_a_tick == 0)
				fired += adapter_advance(&scene.set, ++now);
		}
		bench_record_per_op(bench, "ns_per_op", start, scene.ops);
	}
	bench_use(&fired);
	clear_scene(&scene);
}

static void run_reset(struct bench *bench)
{
	uint64_t jitter = bench_number(bench, "jitter", SECOND);

	measure_resets(bench, 30 * SECOND, 30 * SECOND + jitter, 0);
}

static void run_reset_random(struct bench *bench)
{
	measure_resets(bench, SECOND, 10 * MINUTE, 0);
}

static void run_reset_advance(struct bench *bench)
{
	uint64_t jitter = bench_number(bench, "jitter", SECOND);

	measure_resets(bench, 30 * SECOND, 30 * SECOND + jitter, 100);
}

/* What may fire late (the kernel's way) has all fired a quarter of the time later. */
static size_t fire_all(struct scene *scene, uint64_t now, bool tick_by_tick)
{
	uint64_t end = now + MINUTE + MINUTE / 4;
	size_t fired = 0;

	if (!tick_by_tick)
		return adapter_advance(&scene->set, end);
	while (now < end)
		fired += adapter_advance(&scene->set, ++now);
	return fired;
}

/* n timers over the next minute, inserted, then all fired. */
static void run_fire(struct bench *bench)
{
	static const char *const steps[] = { "jump", "1ms", NULL };
	size_t n = positive(bench, "n", 100000);
	bool tick_by_tick = strcmp(bench_word(bench, "step", steps), "1ms") == 0;
	uint64_t now = 0;
	struct scene scene;

	set_scene(&scene, n, n);
	while (bench_repeats(bench)) {
		uint64_t start;

		draw_all(bench, &scene, 1, MINUTE);
		start = bench_clock();
		for (size_t i = 0; i < n; i++)
			adapter_insert(&scene.set, &scene.timers[i], now + scene.draws[i].after);
		bench_record_per_op(bench, "insert_ns", start, n);
		start = bench_clock();
		if (fire_all(&scene, now, tick_by_tick) != n)
			bench_die("not all timers fired");
		bench_record_per_op(bench, "fire_ns", start, n);
		now += MINUTE + MINUTE / 4;
	}
	clear_scene(&scene);
}

static void run_mem(struct bench *bench)
{
	bench_note(bench, "bytes_per_timer", sizeof(struct adapter_timer));
	bench_note(bench, "bytes_per_set", sizeof(struct adapter));
}

const struct workload wheel_workloads[] = {
	{ "wheel_insert_cancel", run_insert_cancel, "n=: n live, one more started and cancelled" },
	{ "wheel_reset", run_reset, "n= jitter=: one at random moved to 30 s from now" },
	{ "wheel_reset_random", run_reset_random, "n=: one at random moved to 1 s to 10 min" },
	{ "wheel_reset_advance", run_reset_advance,
	  "n= jitter=: as wheel_reset, the clock going on 1 ms every 100 moves" },
	{ "wheel_fire", run_fire, "n= step=jump|1ms: n over the next minute inserted, then fired" },
	{ "wheel_mem", run_mem, "bytes a timer" },
	{ NULL, NULL, NULL },
};

const struct workload peer_timer_workloads[] = {
	{ "timer_insert_cancel", run_insert_cancel, "as wheel_insert_cancel" },
	{ "timer_reset", run_reset, "as wheel_reset" },
	{ "timer_reset_random", run_reset_random, "as wheel_reset_random" },
	{ "timer_reset_advance", run_reset_advance, "as wheel_reset_advance" },
	{ "timer_fire", run_fire, "as wheel_fire" },
	{ "timer_mem", run_mem, "as wheel_mem" },
	{ NULL, NULL, NULL },
};
