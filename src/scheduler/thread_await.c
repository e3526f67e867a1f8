/*
 * How a plain thread waits: it polls its future when it was notified, and in between drives the
 * runtime it belongs to, or parks while another thread does.
 */
#include "base/thread.h"
#include "core.h"
#include "round.h"
#include <errno.h>

static EDO_THREAD_LOCAL bool is_driving;

/* Not inlined: asked by fibers, which must not have the thread-local's address cached (S4). */
__attribute__((noinline)) bool edo_thread_is_driving(void)
{
	__asm__ __volatile__("");
	return is_driving;
}

__attribute__((noinline)) bool edo_thread_set_driving(bool driving)
{
	bool before = is_driving;

	is_driving = driving;
	return before;
}

static edo_poll poll_once(struct edo_current_thread *rt, struct edo_thread_waiter *waiter,
			  edo_future *future, enum edo_defer *defer)
{
	edo_waker waker = edo_waiter_waker_borrowed(waiter);
	edo_context cx = { .waker = &waker,
			   .edo_driver_ = rt ? rt->scheduler.driver : NULL,
			   .edo_budget_ = EDO_COOP_BUDGET };
	edo_poll polled = edo_future_poll(future, &cx);

	*defer = (enum edo_defer)cx.edo_reserved_;
	return polled;
}

/* One stretch of driving between two polls of the thread's own future. */
static void drive(struct edo_current_thread *rt, struct edo_thread_waiter *waiter,
		  enum edo_defer defer)
{
	/* A root that yields is a poll too: a loop of short waits must not starve the driver (p66). */
	rt->since_look++;
	if (defer == EDO_DEFER_UNTIL_QUIET) {
		(void)edo_round_run_until_quiet(rt);
		return;
	}
	if (!edo_round_run(rt, defer == EDO_DEFER_NOT ? waiter : NULL))
		edo_round_sleep(rt, waiter, UINT64_MAX);
}

static bool was_handed_core(struct edo_current_thread *rt, struct edo_thread_waiter *waiter)
{
	if (!(edo_load(&waiter->signals, acquire) & EDO_WAITER_HAS_CORE))
		return false;
	edo_fetch_and(&waiter->signals, ~(uint32_t)EDO_WAITER_HAS_CORE, acq_rel);
	edo_core_begin(rt);
	return true;
}

/* Polled before the core is taken: a wait that is over already touches no runtime. */
static int await_driving(struct edo_current_thread *rt, struct edo_thread_waiter *waiter,
			 edo_future *future)
{
	enum edo_defer defer = EDO_DEFER_NOT;
	bool has_core = false;
	edo_poll polled;

	for (;;) {
		if (edo_waiter_take_notified(waiter)) {
			polled = poll_once(rt, waiter, future, &defer);
			if (polled != EDO_PENDING)
				break;
		}
		if (!has_core)
			has_core = was_handed_core(rt, waiter) || edo_core_take(rt, waiter);
		if (has_core)
			drive(rt, waiter, defer);
		else
			edo_waiter_park(waiter);
		defer = EDO_DEFER_NOT;
	}
	if (has_core)
		edo_core_release(rt);
	else
		edo_core_leave(rt, waiter);
	return polled;
}

static int await_parking(struct edo_thread_waiter *waiter, edo_future *future)
{
	enum edo_defer defer;
	edo_poll polled;

	for (;;) {
		edo_waiter_park(waiter);
		(void)edo_waiter_take_notified(waiter);
		polled = poll_once(NULL, waiter, future, &defer);
		if (polled != EDO_PENDING)
			return polled;
	}
}

static int await_in(struct edo_current_thread *rt, struct edo_thread_waiter *waiter,
		    edo_future *future)
{
	struct edo_driver *outer_driver = edo_current_driver_set(rt->scheduler.driver);
	int rc;

	edo_waiter_set_drives(waiter, rt);
	rc = await_driving(rt, waiter, future);
	edo_waiter_set_drives(waiter, NULL);
	edo_future_drop(future);
	(void)edo_current_driver_set(outer_driver);
	return rc;
}

int edo_thread_await(struct edo_current_thread *rt, edo_future *future,
		     struct edo_thread_waiter *waiter)
{
	int rc;

	EDO_ASSERT(!is_driving);
	(void)edo_thread_set_driving(true);
	if (rt) {
		rc = await_in(rt, waiter, future);
	} else {
		rc = await_parking(waiter, future);
		edo_future_drop(future);
	}
	(void)edo_thread_set_driving(false);
	edo_thread_waiter_drop(waiter);
	return rc;
}
