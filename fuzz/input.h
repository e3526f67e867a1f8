/*
 * What the fuzz targets share: an input that is read as numbers, and an expectation that ends the
 * program, which is how libFuzzer learns of it.
 */
#ifndef EDO_FUZZ_INPUT_H
#define EDO_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
	const uint8_t *data;
	size_t left;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline bool input_has_ended(const struct input *input)
{
	return input->left == 0;
}

/* The next bytes, up to 8, as a number; zeros once the input has ended. */
static inline uint64_t input_draw(struct input *input, unsigned bytes)
{
	uint64_t number = 0;

	for (; bytes > 0 && input->left > 0; bytes--, input->left--)
		number = number << 8 | *input->data++;
	return number;
}

/* A number below `limit`, at most 256, for one byte. */
static inline unsigned input_below(struct input *input, unsigned limit)
{
	return (unsigned)input_draw(input, 1) % limit;
}

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
