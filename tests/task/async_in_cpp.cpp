/* The face in C++17: a stackless task, a fiber and a future of one's own, written in C++. */
#include <cstdio>
#include <edo/edo.h>

struct walker {
	edo_async async;
	edo_yield_future yield;
	int i;
	int sum;
};

static edo_poll walker_poll(edo_future *future, edo_context *cx)
{
	walker *me = edo_container_of(future, walker, async.future);

	EDO_BEGIN(me, cx);
	for (me->i = 0; me->i < 5; me->i++) {
		if (me->i == 4)
			EDO_RETURN(me->sum);
		EDO_AWAIT(edo_yield_start(&me->yield));
		me->sum += me->i;
	}
	EDO_END(-1);
}

static void walker_drop(edo_future *future)
{
	edo_async_drop(&edo_container_of(future, walker, async.future)->async);
}

EDO_FUTURE_OPS(walker_ops, walker, async.future, walker_poll, walker_drop);

static int joins_a_walker(void *)
{
	walker w = walker();
	edo_task *task;
	int result = 0;
	int rc;

	edo_async_init(&w.async, &walker_ops);
	rc = edo_spawn(nullptr, &w.async.future, &task);
	if (rc < 0)
		return rc;
	rc = edo_task_join(task, &result);
	return rc < 0 ? rc : result;
}

int main()
{
	edo_config config = EDO_CONFIG_INIT;
	int result = edo_run(joins_a_walker, nullptr);

	if (edo_config_bad_field(&config) != nullptr || result != 6) {
		std::fprintf(stderr, "expected 6, got %d\n", result);
		return 1;
	}
	return 0;
}
