/*
 * The end of a current-thread runtime (S3): the owned list is closed, every stackless task dropped,
 * every fiber run until it returns (its awaits fail); what has not returned at the time limit, which is
 * of real time also when the runtime's clock is paused, ends where it stands. Then the queues are closed
 * and emptied.
 */
#include "core.h"
#include "inject.h"
#include "queue.h"
#include "round.h"
#include <errno.h>

static uint64_t real_now(void)
{
	return edo_sys_clock_now(EDO_SYS_MONOTONIC);
}

static void run_until_all_ended(struct edo_current_thread *rt, uint64_t limit)
{
	uint64_t start = real_now();
	uint64_t spent;

	while (edo_owned_count(&rt->scheduler.owned) > 0) {
		spent = edo_instant_since(real_now(), start); /* it may have stepped back */
		if (spent >= limit)
			return;
		if (!edo_round_run(rt, NULL) && edo_owned_count(&rt->scheduler.owned) > 0)
			edo_round_sleep(rt, NULL, limit - spent);
	}
}

static void drop_queue(struct edo_run_queue *queue)
{
	struct edo_task *task;

	while ((task = edo_queue_pop(queue)) != NULL)
		edo_task_drop_reference(task);
}

static void empty_queues(struct edo_current_thread *rt)
{
	edo_inject_close(rt);
	drop_queue(&rt->ready);
	drop_queue(&rt->yielded);
	drop_queue(&rt->quiet);
}

int edo_current_thread_shut_down(struct edo_current_thread *rt, uint64_t limit)
{
	struct edo_driver *outer_driver;
	bool was_driving;
	size_t given_up;

	if (!edo_core_try_take(rt))
		return -EBUSY;
	outer_driver = edo_current_driver_set(rt->scheduler.driver);
	was_driving = edo_thread_set_driving(true);
	edo_owned_shut_down(&rt->scheduler.owned);
	run_until_all_ended(rt, limit);
	given_up = edo_owned_give_up(&rt->scheduler.owned);
	empty_queues(rt);
	edo_driver_shutdown(rt->scheduler.driver);
	(void)edo_thread_set_driving(was_driving);
	(void)edo_current_driver_set(outer_driver == rt->scheduler.driver ? NULL : outer_driver);
	edo_core_release(rt);
	return (int)given_up;
}
