/* What must become of a failed system call: who is told of it, and whether anybody is. */
#ifndef EDO_TESTS_SWEEP_FATE_H
#define EDO_TESTS_SWEEP_FATE_H

#include "sweep.h"

enum sweep_fate {
	/* Nobody notices: the library tries again, waits for better times or does without. */
	SWEEP_SURVIVED,
	/* Somebody is told exactly this error. */
	SWEEP_TOLD,
	/* Somebody is told it, or the peer is told that the connection broke off. */
	SWEEP_TOLD_OR_FELT,
	/* Any of these. */
	SWEEP_ANY,
};

enum sweep_fate sweep_fate_of(struct edo_sys_injected fault);

/* Whether it is how a peer feels that a connection broke off. */
bool sweep_is_felt(int rc);

#endif
