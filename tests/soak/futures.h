/*
 * Futures of the soak's own: a gate that anybody opens, a wait that is given up after some polls, and the
 * first of two. They need neither time nor I/O.
 */
#ifndef EDO_TESTS_SOAK_FUTURES_H
#define EDO_TESTS_SOAK_FUTURES_H

#include <edo/future.h>

/* One waits, anybody opens. */
struct soak_gate {
	bool is_open;    /* atomic */
	bool is_claimed; /* atomic: by the one who waits */
	edo_atomic_waker waiting;
};

struct soak_gate_future {
	edo_future future;
	struct soak_gate *gate;
};

/* Shuts the gate for the caller to wait at; false: somebody else waits there. */
bool soak_gate_claim(struct soak_gate *gate);
edo_future *soak_gate_start(struct soak_gate_future *wait, struct soak_gate *gate);
/* The wait is over. */
void soak_gate_leave(struct soak_gate *gate);
/* Any thread. */
void soak_gate_open(struct soak_gate *gate);

/* No edo function says it. */
#define SOAK_GAVE_UP (-ETIME)

/* The inner future's result, or SOAK_GAVE_UP after so many polls; then its wait has been dropped. */
struct soak_give_up {
	edo_future future;
	edo_future *inner;
	unsigned polls_left;
};

edo_future *soak_give_up_start(struct soak_give_up *wait, unsigned polls, edo_future *inner);

/* Which of the two is ready, 0 or 1; its result is in `result`. The wait of the other has been dropped. */
struct soak_either {
	edo_future future;
	edo_future *inner[2];
	edo_poll result;
};

edo_future *soak_either_start(struct soak_either *wait, edo_future *first, edo_future *second);

/* Polls the inner future once and leaves it waiting: its result, or SOAK_GAVE_UP. */
struct soak_peek {
	edo_future future;
	edo_future *inner;
};

edo_future *soak_peek_start(struct soak_peek *wait, edo_future *inner);

#endif
