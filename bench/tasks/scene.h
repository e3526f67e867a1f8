/* What the workloads on tasks share: a runtime, the style, and a root that is timed. */
#ifndef EDO_BENCH_TASKS_SCENE_H
#define EDO_BENCH_TASKS_SCENE_H

#include "harness.h"
#include <edo/edo.h>

struct scene {
	struct bench *bench;
	edo_runtime *runtime;
	bool is_fiber;
	uint64_t n;       /* tasks, pairs or links of a chain */
	uint64_t ops;     /* a repetition */
	edo_task **tasks; /* n of them */
};

/* Reads style, flavor, n and ops, and makes the runtime. */
void scene_begin(struct scene *scene, struct bench *bench, uint64_t n, uint64_t ops);
void scene_end(struct scene *scene);

/* Ends the program with a message when rc is an error. */
void scene_check(int rc, const char *what);

/*
 * Repeats: a root of the chosen style is started and waited for; ns_per_op over scene->ops. The stackless
 * root's struct must begin with its future and is copied for each repetition.
 */
void scene_measure(struct scene *scene, edo_fiber_fn *fiber, const edo_future *stackless);

/* A value handed over once, between tasks of one runtime. */
struct oneshot {
	edo_future future;
	edo_atomic_waker waker;
	int is_sent;
};

void oneshot_init(struct oneshot *oneshot);
void oneshot_send(struct oneshot *oneshot);

#endif
