/*
 * libFuzzer's way into the wheel's model: the input says what is done, the model whether the wheel
 * does it right.
 */
#include "wheel/model.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
	struct wheel_model_source source;
	const uint8_t *data;
	size_t left;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Zeros once the input is exhausted. */
static uint64_t draw(struct wheel_model_source *source, unsigned bytes)
{
	struct input *input = (struct input *)source;
	uint64_t number = 0;

	for (; bytes > 0 && input->left > 0; bytes--, input->left--)
		number = number << 8 | *input->data++;
	return number;
}

static bool is_exhausted(const struct wheel_model_source *source)
{
	return ((const struct input *)source)->left == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { { draw, is_exhausted }, data, size };
	unsigned long step;
	const char *wrong = wheel_model_run(&input.source, (unsigned long)size, &step);

	if (wrong) {
		fprintf(stderr, "step %lu: not so: %s\n", step, wrong);
		abort();
	}
	return 0;
}
