/* The first frame of a stack, as switch_x86_64.S pops it. */
#include "switch.h"
#include <stdint.h>

void edo_switch_trampoline(void);

struct frame {
	void *r15, *r14, *r13;
	void *r12; /* the entry's argument */
	void *rbx; /* the entry */
	void *rbp; /* 0: the end of the frame chain */
	void (*resume)(void);
};

/* All of it is popped, so the trampoline starts at the top, which is aligned to 16. */
_Static_assert(sizeof(struct frame) == 56, "as in switch_x86_64.S");

void *edo_switch_prepare(void *top, void (*entry)(void *argument), void *argument)
{
	struct frame *frame = (struct frame *)top - 1;

	*frame = (struct frame){
		.r12 = argument,
		.rbx = (void *)(uintptr_t)entry,
		.resume = edo_switch_trampoline,
	};
	return frame;
}
