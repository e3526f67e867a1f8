/* The stackless macros as compilers without labels as values get them: a switch over lines. */
#define EDO_ASYNC_STANDARD_C
#include "support/runner.h"
#include "task/task.h"
#include <errno.h>

struct walker {
	edo_async async;
	edo_yield_future yield;
	int i, sum;
};

static edo_poll walker_poll(edo_future *future, edo_context *cx)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	EDO_BEGIN(me, cx);
	for (me->i = 0; me->i < 4; me->i++) {
		if (me->i == 3)
			EDO_RETURN(me->sum);
		EDO_AWAIT(edo_yield_start(&me->yield));
		me->sum += 10;
		EDO_AWAIT(edo_yield_start(&me->yield));
		me->sum += 1;
	}
	EDO_END(-1);
}

static void walker_drop(edo_future *future)
{
	edo_async_drop(&edo_container_of(future, struct walker, async.future)->async);
}

EDO_FUTURE_OPS(walker_ops, struct walker, async.future, walker_poll, walker_drop);

static edo_poll pending_poll(edo_future *future, edo_context *cx)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	EDO_BEGIN(me, cx);
	EDO_END(EDO_PENDING);
}

EDO_FUTURE_OPS(pending_ops, struct walker, async.future, pending_poll, walker_drop);

static void it_resumes_where_it_was_left_and_stays_at_its_end(void **state)
{
	struct walker walker = { .async = EDO_ASYNC(walker_ops) };
	edo_waker none = { 0 };
	edo_context cx;

	(void)state;
	edo_context_init(&cx, &none);
	for (int i = 0; i < 6; i++)
		assert_int_equal(edo_future_poll(&walker.async.future, &cx), EDO_PENDING);
	assert_int_equal(edo_future_poll(&walker.async.future, &cx), 33);
	assert_int_equal(edo_future_poll(&walker.async.future, &cx), 33);
	assert_int_equal(walker.sum, 33);
	edo_future_drop(&walker.async.future);
}

static void it_cannot_end_with_pending(void **state)
{
	struct walker walker = { .async = EDO_ASYNC(pending_ops) };
	edo_waker none = { 0 };
	edo_context cx;

	(void)state;
	edo_context_init(&cx, &none);
	assert_int_equal(edo_future_poll(&walker.async.future, &cx), -ERANGE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(it_resumes_where_it_was_left_and_stays_at_its_end),
	cmocka_unit_test(it_cannot_end_with_pending),
};

EDO_TEST_MAIN(tests)
