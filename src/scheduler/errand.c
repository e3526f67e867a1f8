/*
 * Errands: what somebody else, perhaps in a signal handler, wants done while no task is being polled. The thread
 * that drives looks for one whenever it looks at the driver.
 */
#include "errand.h"
#include "base/thread.h"
#include "core.h"

void edo_errand_ask(struct edo_current_thread *rt, edo_errand_fn *fn, uint32_t errand)
{
	edo_store(&rt->do_errand, fn, relaxed);
	/* Release: pairs with the exchange in edo_errand_run(). The unpark comes after: who sleeps looks. */
	edo_store(&rt->errand, errand, release);
	edo_driver_unpark(rt->scheduler.driver);
}

void edo_errand_run(struct edo_current_thread *rt)
{
	uint32_t errand = edo_exchange(&rt->errand, 0, acquire);

	if (errand)
		edo_load(&rt->do_errand, relaxed)(rt, errand);
}

enum edo_errand_place edo_errand_begin(struct edo_current_thread *rt)
{
	if (edo_load(&rt->driven_by, relaxed) == edo_thread_self())
		return EDO_ERRAND_AMID_A_TASK;
	return edo_core_try_take(rt) ? EDO_ERRAND_HERE : EDO_ERRAND_ELSEWHERE;
}

void edo_errand_end(struct edo_current_thread *rt, enum edo_errand_place place)
{
	if (place == EDO_ERRAND_HERE)
		edo_core_release(rt);
}
