/*
 * Inside the fiber room: changing stacks, switch_<arch>.S.
 *
 * edo_switch() saves the callee-saved registers on the present stack, stores its pointer in *save and
 * goes on where `to` was saved. It is left by an indirect jump, not by a return: the return-address
 * predictor would be wrong every time. The floating-point control word is not part of it: a fiber that
 * changes the rounding mode puts it back before it waits.
 */
#ifndef EDO_FIBER_SWITCH_H
#define EDO_FIBER_SWITCH_H

void edo_switch(void **save, void *to);

/*
 * Writes a first frame at the top of a stack (aligned to 16), so that the first switch to what is
 * returned calls entry(argument) there. entry must not return.
 */
void *edo_switch_prepare(void *top, void (*entry)(void *argument), void *argument);

#endif
