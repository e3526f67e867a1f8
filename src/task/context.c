/*
 * What a thread belongs to. The functions are not inlined: a compiler that saw the thread-local could
 * keep its address across a call that switches to another thread's stack (S4).
 */
#include "base/thread.h"
#include "task.h"

static EDO_THREAD_LOCAL struct edo_driver *current_driver;

__attribute__((noinline)) struct edo_driver *edo_current_driver(void)
{
	__asm__ __volatile__("");
	return current_driver;
}

__attribute__((noinline)) struct edo_driver *edo_current_driver_set(struct edo_driver *driver)
{
	struct edo_driver *before = current_driver;

	current_driver = driver;
	return before;
}

void edo_context_init(edo_context *cx, const edo_waker *waker)
{
	*cx = (edo_context){ .waker = waker,
			     .edo_driver_ = edo_current_driver(),
			     .edo_budget_ = EDO_COOP_BUDGET };
}
