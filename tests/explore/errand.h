/*
 * What the models of the task room share: a task that waits until some others have told it something, and
 * the smallest scheduler there is, a place for one notification.
 *
 * The place orders what any queue does: whoever put the task there is done with it. A second notification in it
 * is one too many (K3).
 */
#ifndef EDO_TESTS_EXPLORE_ERRAND_H
#define EDO_TESTS_EXPLORE_ERRAND_H

#include "explore/explore.h"
#include "task/task.h"

/*
 * So large a core is no cell of a chunk: its memory is gone with the last reference, and whoever still touches
 * it is found out.
 */
enum { ERRAND_CORE = 4096 };

enum { ERRAND_TELLERS = 3, ERRAND_RESULT = 5, ERRAND_OUTPUT = 7 };

/* The future. Its fields are plain: who polls or drops it must have it alone. */
struct errand {
	edo_future future;
	/* Every poll after the first. */
	edo_poll (*go_on)(struct errand *errand, edo_context *cx);
	unsigned tellers;
	unsigned polls;
	unsigned drops;
	int output;
};

extern struct edo_task *errand_task;
/* Cloned from the context of the first poll, one for each teller. */
extern edo_waker errand_wakers[ERRAND_TELLERS];
/* Atomic; what is told, before the wake. */
extern uint32_t errand_is_told[ERRAND_TELLERS];
/* Written by one teller, read by the poll that its wake brings about. */
extern int errand_note;
/* How often the future was dropped: 1 in the end. Plain, of whoever ends the task. */
extern unsigned errand_drops;

/* Creates the task and polls it once, so that it waits for tellers. Before any thread is started. */
void errand_begin(unsigned tellers);
/* The same, with a poll of one's own; RUNS_TO_END: as a fiber does. */
void errand_begin_with(unsigned tellers, edo_poll (*go_on)(struct errand *errand, edo_context *cx));
void errand_begin_running_to_end(unsigned tellers,
				 edo_poll (*go_on)(struct errand *errand, edo_context *cx));
/* All threads have ended: polls what is left to poll, and sees that everything is gone. */
void errand_end(void);

/* The default for go_on: ready when all tellers have told. */
edo_poll errand_needs_all(struct errand *errand, edo_context *cx);
/* Ready, having read what the one teller has written. */
edo_poll errand_reads_note(struct errand *errand, edo_context *cx);

/* Polls until the task has ended. Only for models in which nobody else ends it. */
void errand_runs_until_it_ends(void *unused);
/* Polls if there is a notification just now. */
void errand_runs_what_is_there(void *unused);

struct edo_scheduler *errand_scheduler(void);
struct errand *errand_core(void);

#endif
