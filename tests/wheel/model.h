/*
 * The wheel against a plain array that is searched from end to end. Whoever draws decides what is
 * done: the model test draws from a seeded generator, the fuzzer from its input.
 *
 * What is compared after each step: results, membership, count, `next` against the earliest, the
 * order in which timers come out, the checker's verdict. Owners that move a timer later without the
 * lock (src/wheel/wheel.h) are played too.
 */
#ifndef EDO_TESTS_WHEEL_MODEL_H
#define EDO_TESTS_WHEEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct wheel_model_source {
	/* The next `bytes` (1 to 8) random bytes as a number. */
	uint64_t (*draw)(struct wheel_model_source *source, unsigned bytes);
	bool (*is_exhausted)(const struct wheel_model_source *source);
};

/*
 * One wheel's life, from a start tick that is drawn, until `steps` are done or the source is
 * exhausted. Returns NULL, or what went wrong; *step is then the step at which it did.
 */
const char *wheel_model_run(struct wheel_model_source *source, unsigned long steps,
			    unsigned long *step);

#endif
