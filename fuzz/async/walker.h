/*
 * A stackless task whose way through its body is told by a script, one byte a choice, and who says of
 * everything it does what it was. Its body stands in two files, for the two forms of the macros.
 *
 * The script is shared by a walker and its children, which are awaited inside it: who runs reads on.
 */
#ifndef EDO_FUZZ_ASYNC_WALKER_H
#define EDO_FUZZ_ASYNC_WALKER_H

#include "../input.h"
#include <edo/async.h>
#include <edo/task.h>

enum { DEEPEST = 3, EVENTS_MAX = 4096 };

/* What is said, each with a number. */
enum event_kind {
	BEGUN,
	AWAITED, /* with the result of the wait */
	STEP_STARTED,
	STEP_POLLED,
	STEP_DROPPED,
	PASSED, /* with the place in the body */
	ENDED,
	DROPPED, /* with the depth */
};

struct event {
	enum event_kind kind;
	int number;
};

struct trace {
	struct event events[EVENTS_MAX];
	size_t count;
};

struct script {
	struct input input;
	struct trace *trace;
	unsigned
		steps_ready; /* waits that came to their result, without spending budget themselves */
	bool expects_polls; /* false: a poll is a fault */
};

/* What a walker awaits: pending so many times, then ready with a value. */
struct step {
	edo_future future;
	struct script *script;
	int pending;
	edo_poll value;
	bool is_live;
};

struct walker {
	edo_async async;
	struct step step;
	edo_yield_future yield;
	struct script *script;
	struct walker *child; /* ours while it is awaited */
	int depth;
	int kind, i, j;
	bool is_dropped;
};

void say(struct script *script, enum event_kind kind, int number);

/* A choice among `limit`; the first of them once the script has ended. */
int choose(struct script *script, unsigned limit);
bool script_goes_on(const struct script *script);

/* Any value: PENDING, the errors, small numbers. */
int choose_value(struct script *script);

/* Sets the next wait up, as the script tells. */
edo_future *step_begin(struct walker *me);
edo_future *yield_begin(struct walker *me);
/* A walker of its own, of either form. */
edo_future *child_begin(struct walker *me);
void child_end(struct walker *me);

void walker_init(struct walker *walker, struct script *script, int depth);
void walker_drop(edo_future *future);

/* The two bodies. They do the same. */
extern const edo_future_ops *const walker_with_labels;
extern const edo_future_ops *const walker_of_standard_c;

#endif
