#include "tasks/scene.h"
#include <stdlib.h>

void scene_check(int rc, const char *what)
{
	if (rc < 0)
		bench_die("%s: %s", what, edo_strerror(rc));
}

void scene_begin(struct scene *scene, struct bench *bench, uint64_t n, uint64_t ops)
{
	static const char *const styles[] = { "stackless", "fiber", NULL };
	static const char *const flavors[] = { "current", NULL };
	edo_config config = EDO_CONFIG_INIT;

	scene->bench = bench;
	scene->is_fiber = bench_word(bench, "style", styles)[0] == 'f';
	(void)bench_word(bench, "flavor", flavors);
	scene->n = bench_number(bench, "n", n);
	scene->ops = bench_number(bench, "ops", ops);
	if (scene->n < 1 || scene->ops < scene->n)
		bench_die("n must be at least 1, and ops at least n");
	scene->tasks = bench_allocate(scene->n, sizeof(*scene->tasks));
	config.flavor = EDO_CURRENT_THREAD;
	config.stack_cache = UINT32_MAX;
	scene_check(edo_runtime_create(&scene->runtime, &config), "runtime");
}

void scene_end(struct scene *scene)
{
	scene_check(edo_runtime_destroy(scene->runtime), "destroy");
	free(scene->tasks);
}

static void run_root(struct scene *scene, edo_fiber_fn *fiber, const edo_future *stackless)
{
	edo_task *root;
	int result = 0;

	if (scene->is_fiber)
		scene_check(edo_spawn_fiber(scene->runtime, fiber, scene, 0, &root), "spawn");
	else
		scene_check(edo_spawn(scene->runtime, (edo_future *)(uintptr_t)stackless, &root),
			    "spawn");
	scene_check(edo_task_join(root, &result), "join");
	scene_check(result, "root");
}

void scene_measure(struct scene *scene, edo_fiber_fn *fiber, const edo_future *stackless)
{
	while (bench_repeats(scene->bench)) {
		uint64_t start = bench_clock();

		run_root(scene, fiber, stackless);
		bench_record_per_op(scene->bench, "ns_per_op", start, scene->ops);
	}
}

static edo_poll oneshot_poll(edo_future *future, edo_context *cx)
{
	struct oneshot *oneshot = edo_container_of(future, struct oneshot, future);

	if (__atomic_load_n(&oneshot->is_sent, __ATOMIC_ACQUIRE))
		return EDO_READY;
	edo_atomic_waker_register(&oneshot->waker, cx);
	return __atomic_load_n(&oneshot->is_sent, __ATOMIC_ACQUIRE) ? EDO_READY : EDO_PENDING;
}

static void oneshot_drop(edo_future *future)
{
	edo_atomic_waker_clear(&edo_container_of(future, struct oneshot, future)->waker);
}

EDO_FUTURE_OPS(oneshot_ops, struct oneshot, future, oneshot_poll, oneshot_drop);

void oneshot_init(struct oneshot *oneshot)
{
	*oneshot = (struct oneshot){ .future = { &oneshot_ops } };
}

void oneshot_send(struct oneshot *oneshot)
{
	__atomic_store_n(&oneshot->is_sent, 1, __ATOMIC_RELEASE);
	edo_atomic_waker_wake(&oneshot->waker);
}
