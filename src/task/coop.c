/*
 * The coop budget (S1): how many ready results a task may take in one poll before others have their
 * turn. It lives in the poll's context, so it needs no thread-local and goes where the context goes.
 */
#include "base/hot.h"
#include "task.h"

EDO_HOT bool edo_coop_spend(edo_context *cx)
{
	if (EDO_LIKELY(cx->edo_budget_ > 0)) {
		cx->edo_budget_--;
		return true;
	}
	cx->edo_reserved_ = EDO_DEFER_YIELD;
	edo_waker_wake_by_ref(cx->waker);
	return false;
}

void edo_coop_refund(edo_context *cx)
{
	cx->edo_budget_++;
}
