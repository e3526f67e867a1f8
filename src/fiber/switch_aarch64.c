/* The first frame of a stack, as switch_aarch64.S loads it. */
#include "switch.h"
#include <stdint.h>

void edo_switch_trampoline(void);

struct frame {
	void *x19; /* the entry */
	void *x20; /* its argument */
	void *x21_to_x28[8];
	void *x29; /* 0: the end of the frame chain */
	void (*x30)(void);
	double d8_to_d15[8];
};

_Static_assert(sizeof(struct frame) == 160, "as in switch_aarch64.S");

void *edo_switch_prepare(void *top, void (*entry)(void *argument), void *argument)
{
	struct frame *frame = (struct frame *)top - 1;

	*frame = (struct frame){
		.x19 = (void *)(uintptr_t)entry,
		.x20 = argument,
		.x30 = edo_switch_trampoline,
	};
	return frame;
}
