/* Stackless tasks (<edo/async.h>), as far as they are not macros. */
#include <edo/async.h>

const edo_future *edo_async_awaits(const edo_future *future, unsigned n)
{
	const edo_async *async = edo_container_of((uintptr_t)future, edo_async, future);

	return n == 0 ? async->edo_awaiting_ : NULL;
}
