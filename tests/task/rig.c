#include "rig.h"
#include <string.h>

static void schedule(struct edo_scheduler *scheduler, struct edo_task *task)
{
	struct rig *rig = edo_container_of(scheduler, struct rig, scheduler);

	assert_true(rig->last - rig->first < RIG_QUEUE);
	rig->scheduled++;
	rig->queue[rig->last++ % RIG_QUEUE] = task;
}

static void defer(struct edo_scheduler *scheduler, struct edo_task *task, enum edo_defer reason)
{
	struct rig *rig = edo_container_of(scheduler, struct rig, scheduler);

	rig->deferred[reason]++;
	schedule(scheduler, task);
}

static const struct edo_scheduler_ops rig_ops = { schedule, defer };

void rig_begin_with(struct rig *rig, const edo_allocator *allocator)
{
	memset(rig, 0, sizeof *rig);
	rig->scheduler.ops = &rig_ops;
	rig->scheduler.pool = edo_cell_pool_create(allocator);
	assert_non_null(rig->scheduler.pool);
}

void rig_begin(struct rig *rig)
{
	rig_begin_with(rig, &edo_default_allocator);
}

void rig_end(struct rig *rig)
{
	edo_owned_shut_down(&rig->scheduler.owned);
	(void)rig_run(rig);
	assert_int_equal(edo_owned_count(&rig->scheduler.owned), 0);
	assert_int_equal(edo_cell_pool_close(rig->scheduler.pool, NULL, 0), 0);
}

bool rig_run_one(struct rig *rig)
{
	if (rig->first == rig->last)
		return false;
	edo_task_run(rig->queue[rig->first++ % RIG_QUEUE]);
	return true;
}

unsigned rig_run(struct rig *rig)
{
	unsigned polls = 0;

	while (rig_run_one(rig))
		polls++;
	return polls;
}

size_t rig_queued(const struct rig *rig)
{
	return rig->last - rig->first;
}

static edo_poll puppet_poll(edo_future *future, edo_context *cx)
{
	struct puppet *puppet = edo_container_of(future, struct puppet, future);

	puppet->log->polls++;
	puppet->log->task = edo_task_of_context(cx);
	return puppet->act ? puppet->act(puppet, cx) : EDO_PENDING;
}

static void puppet_drop(edo_future *future)
{
	struct puppet *puppet = edo_container_of(future, struct puppet, future);

	puppet->log->drops++;
	if (puppet->on_drop)
		puppet->on_drop(puppet);
}

EDO_FUTURE_OPS(puppet_ops, struct puppet, future, puppet_poll, puppet_drop);

void puppet_init(struct puppet *puppet, struct puppet_log *log,
		 edo_poll (*act)(struct puppet *puppet, edo_context *cx))
{
	memset(log, 0, sizeof *log);
	*puppet = (struct puppet){ .future = { &puppet_ops }, .log = log, .act = act };
}

struct edo_task *rig_spawn(struct rig *rig, edo_future *future)
{
	struct edo_task *task = NULL;

	assert_return_code(edo_task_create(&rig->scheduler, future, future->ops->size, NULL, NULL,
					   &task),
			   0);
	schedule(&rig->scheduler, task);
	return task;
}

edo_poll puppet_ready(struct puppet *puppet, edo_context *cx)
{
	(void)puppet;
	(void)cx;
	return EDO_READY;
}

edo_poll puppet_keeps_waker(struct puppet *puppet, edo_context *cx)
{
	edo_waker_drop(&puppet->log->waker);
	puppet->log->waker = edo_waker_clone(cx->waker);
	return EDO_PENDING;
}

static const edo_waker_ops counting_ops;

static edo_waker clone(void *data)
{
	struct counting_waker *counting = data;

	__atomic_fetch_add(&counting->clones, 1, __ATOMIC_SEQ_CST);
	return (edo_waker){ data, &counting_ops };
}

static void wake(void *data)
{
	struct counting_waker *counting = data;

	__atomic_fetch_add(&counting->wakes, 1, __ATOMIC_SEQ_CST);
}

static void wake_by_ref(void *data)
{
	struct counting_waker *counting = data;

	__atomic_fetch_add(&counting->wakes_by_ref, 1, __ATOMIC_SEQ_CST);
}

static void drop(void *data)
{
	struct counting_waker *counting = data;

	__atomic_fetch_add(&counting->drops, 1, __ATOMIC_SEQ_CST);
}

static const edo_waker_ops counting_ops = { clone, wake, wake_by_ref, drop };

void counting_waker_init(struct counting_waker *counting)
{
	memset(counting, 0, sizeof *counting);
	counting->waker = (edo_waker){ counting, &counting_ops };
}

edo_context counting_context(const struct counting_waker *counting)
{
	edo_context cx;

	edo_context_init(&cx, &counting->waker);
	return cx;
}

unsigned counting_alive(const struct counting_waker *counting)
{
	return counting->clones - counting->wakes - counting->drops;
}

unsigned counting_wakes(const struct counting_waker *counting)
{
	return counting->wakes + counting->wakes_by_ref;
}
