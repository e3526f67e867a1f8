/*
 * Sweeps: a scenario is lived again and again, each time with another failure, until a life has none.
 *
 * One life is a runtime from its making to its end, with the scenario in between. Whoever in it can act on
 * a failure tells it (sweep_tell()): the thread that wanted a runtime, the fiber that wanted to read, the
 * peer whose connection broke off. After each life it is checked that
 *   - the failure was told as itself to one of them, or survived, whichever its kind must be (fate.h),
 *     and that nothing else was told;
 *   - nothing is left: descriptors, threads, stacks, and what was allocated;
 *   - the runtime, if it was made, lives a small scenario without failure, and a new one does.
 *
 * No wait is without a limit: what hangs is told as a time-out. Where tests are slowed down (a sanitizer,
 * valgrind, qemu) a sweep takes of each call's errors the usual one and one more, which goes round, unless
 * EDO_SWEEP=full is in the environment; elsewhere it takes all.
 */
#ifndef EDO_TESTS_SWEEP_SWEEP_H
#define EDO_TESTS_SWEEP_SWEEP_H

#include "support/runner.h"
#include "support/sys_fault.h"
#include <edo/edo.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Beyond every wait that ends by itself. */
#define SWEEP_GUARD EDO_SEC(20)

enum { SWEEP_TOLD_MAX = 32 };

struct sweep_life;

struct sweep_scenario {
	const char *name;
	edo_config config; /* but for the allocator */
	/* An error by which a part is meant to end; a failure that says the same may go unnoticed. 0: none. */
	int meant[2];
	/* On a plain thread that has entered nothing; ends before the runtime does. */
	void (*live)(struct sweep_life *life);
	/* After the runtime's end, which left `kept` handles behind; may be NULL. */
	void (*after)(struct sweep_life *life);
};

struct sweep_life {
	const struct sweep_scenario *scenario;
	edo_runtime *runtime;
	int kept; /* handles that outlive the runtime */
	void *own;
	/* atomic */
	unsigned told_count;
	int told[SWEEP_TOLD_MAX];
};

/* Tells a failure; passes rc on. 0 and counts are no failure. Any thread. */
int sweep_tell(struct sweep_life *life, int rc);

/* As sweep_tell(), but for the errors by which a part of the scenario is meant to end. */
int sweep_tell_unless(struct sweep_life *life, int rc, int meant);

/* edo_block_on(), and tells why not. The function tells for itself. */
void sweep_block_on(struct sweep_life *life, edo_fiber_fn *fn, void *arg);

/* All sweeps of one scenario: system calls, the configuration's allocator, malloc. Prints their counts. */
void sweep(const struct sweep_scenario *scenario);

/* ---- waits under the guard ---- */

int sweep_connect(edo_tcp *stream, const edo_addr *addr);
ssize_t sweep_read(edo_tcp *stream, void *buf, size_t len);
int sweep_write(edo_tcp *stream, const void *buf, size_t len);
/* Aborts the task, waits for its end and consumes the handle. The task must not fail to end. */
void sweep_end_task(edo_task *task);

#endif
