/*
 * Inside the fiber room: how long a fiber may go on waiting. Deadline scopes and shields change it, every
 * await looks at it.
 *
 * Scopes keep only what was in force before them, on their callers' stacks, and nothing here points at them: a
 * scope whose end was forgotten leaves a deadline that is too strict, until an outer one ends.
 *
 * One timer serves them all. It is armed only when the fiber suspends, so that a scope in which nothing
 * waits never enters the wheel, and left alone when a scope ends, so that the next one moves it without
 * a lock. What it holds is a reference to its own task: it is disarmed when the fiber suspends with no deadline in
 * force, and when the fiber has ended, or an idle or a dead cell would live until its tick.
 */
#ifndef EDO_FIBER_LIMIT_H
#define EDO_FIBER_LIMIT_H

#include "driver/driver.h"
#include <edo/deadline.h>

struct edo_fiber;

struct edo_limit {
	edo_instant deadline; /* the strictest in force; EDO_FOREVER: none */
	edo_instant come;     /* a moment that has come for certain; no clock is read in an await */
	edo_instant cut_by; /* the deadline that cut a wait in this scope; EDO_FOREVER: none did */
	edo_instant armed_for;
	uint64_t scopes;    /* begun so far; numbers the next one */
	uint64_t innermost; /* the number of the scope that the fiber is in; 0: none */
	uint32_t depth;
	bool is_shielded;
	bool was_cancelled; /* a wait in this scope was cut by an abort */
	bool is_armed;      /* the timer may be in the wheel, or have fired for armed_for */
	edo_timer_entry timer;
};

/* What a shield puts aside. */
struct edo_limit_outside {
	edo_instant deadline;
	uint64_t innermost;
	uint32_t depth;
	bool is_shielded;
};

void edo_limit_init(struct edo_limit *limit);
/* The fiber ends, or is dropped where it stands. */
void edo_limit_drop(struct edo_limit *limit);

/* From here on nothing cuts a wait but deadlines begun inside. */
struct edo_limit_outside edo_limit_shield(struct edo_limit *limit);
void edo_limit_unshield(struct edo_limit *limit, const struct edo_limit_outside *outside);

/* Reads the clock, if a deadline is in force. */
void edo_limit_look(struct edo_fiber *fiber);
/* What edo_fiber_fate() and edo_fiber_watch() are when there is something to look at. */
int edo_limit_fate(struct edo_fiber *fiber);
bool edo_limit_watch(struct edo_fiber *fiber);

#endif
