/*
 * S2: nothing is lost between "the queue is empty" and "asleep". Who holds the core falls asleep in the
 * driver while others push tasks, unpark it, or it closes the queue and the driver goes: a lost wake-up shows
 * as a deadlock, a lost task as a count, an unpark after the end as a use of freed memory.
 */
#include "scheduler/inject.h"
#include "explore/explore.h"
#include "scheduler/queue.h"
#include "scheduler/round.h"
#include <stdlib.h>

/* The scheduler as the runtime has it, and a driver that can be freed before it. */
static struct edo_current_thread scheduler;
static struct edo_driver *driver;
static uint32_t unparked; /* atomic: what the last unpark wants to be seen */

/* ---- tasks that are never polled ---- */

static edo_poll never(edo_future *future, edo_context *cx)
{
	(void)future;
	(void)cx;
	return EDO_PENDING;
}

static void nothing(edo_future *future)
{
	(void)future;
}

struct plain_future {
	edo_future future;
	unsigned note; /* plain: written before the push */
};

EDO_FUTURE_OPS(plain_ops, struct plain_future, future, never, nothing);

static struct plain_future *core_of(const struct edo_task *task)
{
	return edo_container_of(edo_task_core(task), struct plain_future, future);
}

/* Notified, with the notification's reference only. */
static struct edo_task *new_task(void)
{
	struct plain_future future = { { &plain_ops }, 0 };
	struct edo_task *task;

	explore_check(edo_task_create(&scheduler.scheduler, &future.future, sizeof future, NULL,
				      NULL, &task) == 0);
	edo_task_detach(task);
	explore_check(edo_owned_remove(&scheduler.scheduler.owned, task));
	edo_task_drop_reference(task);
	return task;
}

/* ---- threads ---- */

static void push(struct edo_task *task)
{
	core_of(task)->note = 1;
	edo_inject_push(&scheduler, task);
}

static void pushes(void *task)
{
	push(task);
}

static void pushes_two(void *argument)
{
	struct edo_task **tasks = argument;

	push(tasks[0]);
	push(tasks[1]);
}

static void unparks(void *argument)
{
	(void)argument;
	edo_store(&unparked, 1, relaxed);
	edo_current_thread_unpark(&scheduler);
}

/* What a thread that drives does when nothing is ready. */
static struct edo_task *next_or_sleep(void)
{
	struct edo_task *task;

	edo_inject_take(&scheduler);
	task = edo_queue_pop(&scheduler.ready);
	if (!task)
		edo_round_sleep(&scheduler, NULL, UINT64_MAX);
	return task;
}

static void use(struct edo_task *task)
{
	explore_check(core_of(task)->note == 1);
	edo_task_drop_reference(task);
}

static void take_until(unsigned all)
{
	unsigned taken = 0;

	while (taken < all) {
		struct edo_task *task = next_or_sleep();

		if (task) {
			use(task);
			taken++;
		}
	}
}

static void takes_one(void *argument)
{
	(void)argument;
	take_until(1);
}

static void takes_two(void *argument)
{
	(void)argument;
	take_until(2);
}

/* As a thread whose own wait has ended: an unpark promises that it looks once more. */
static void sleeps_until_unparked(void *argument)
{
	(void)argument;
	while (edo_inject_fall_asleep(&scheduler) && !edo_load(&unparked, relaxed))
		edo_driver_turn(driver, UINT64_MAX, false);
	edo_inject_wake_up(&scheduler);
	explore_check(edo_load(&unparked, relaxed) == 1);
}

static void takes_one_and_is_unparked(void *argument)
{
	take_until(1);
	sleeps_until_unparked(argument);
}

/* The end, as at shutdown: the queue is closed and emptied, then the driver goes. */
static void closes(void *argument)
{
	struct edo_task *task;

	(void)argument;
	edo_inject_close(&scheduler);
	while ((task = edo_queue_pop(&scheduler.ready)) != NULL)
		use(task);
	edo_driver_shutdown(driver);
	edo_driver_destroy(driver);
	free(driver);
	driver = NULL;
}

static void sleeps_once_and_closes(void *argument)
{
	struct edo_task *task = next_or_sleep();

	if (task)
		use(task);
	closes(argument);
}

/* ---- models ---- */

static void begin(void)
{
	static const struct edo_driver_options options = {
		.disable_io = true,
		.disable_time = true,
		.allocator = &edo_default_allocator,
	};

	driver = malloc(sizeof *driver);
	explore_check(edo_driver_init(driver, &options) == 0);
	edo_current_thread_init(&scheduler, driver, edo_cell_pool_create(&edo_default_allocator),
				61, 31);
}

static void end(void)
{
	explore_check(edo_inject_is_empty(&scheduler));
	if (driver)
		closes(NULL);
	explore_check(edo_cell_pool_close(scheduler.scheduler.pool, NULL, 0) == 0);
}

static void a_push(void)
{
	begin();
	explore_start(takes_one, NULL);
	explore_start(pushes, new_task());
	explore_join_all();
	end();
}

static void two_pushes(void)
{
	struct edo_task *tasks[2];

	begin();
	tasks[0] = new_task();
	tasks[1] = new_task();
	explore_start(takes_two, NULL);
	explore_start(pushes_two, tasks);
	explore_join_all();
	end();
}

static void two_pushers(void)
{
	struct edo_task *tasks[2];

	begin();
	tasks[0] = new_task();
	tasks[1] = new_task();
	explore_start(takes_two, NULL);
	explore_start(pushes, tasks[0]);
	explore_start(pushes, tasks[1]);
	explore_join_all();
	end();
}

static void an_unpark(void)
{
	begin();
	explore_start(sleeps_until_unparked, NULL);
	explore_start(unparks, NULL);
	explore_join_all();
	end();
}

static void a_push_and_an_unpark(void)
{
	begin();
	explore_start(takes_one_and_is_unparked, NULL);
	explore_start(pushes, new_task());
	explore_start(unparks, NULL);
	explore_join_all();
	end();
}

static void a_push_at_the_end(void)
{
	begin();
	scheduler.asleep = true; /* as if it had been told so a moment ago */
	explore_start(closes, NULL);
	explore_start(pushes, new_task());
	explore_join_all();
	end();
}

static void two_pushes_at_the_end(void)
{
	struct edo_task *tasks[2];

	begin();
	tasks[0] = new_task();
	tasks[1] = new_task();
	explore_start(sleeps_once_and_closes, NULL);
	explore_start(pushes_two, tasks);
	explore_join_all();
	end();
}

static void an_unpark_at_the_end(void)
{
	begin();
	scheduler.asleep = true; /* as above */
	explore_start(closes, NULL);
	explore_start(unparks, NULL);
	explore_join_all();
	end();
}

static void a_push_and_an_unpark_at_the_end(void)
{
	begin();
	explore_start(sleeps_once_and_closes, NULL);
	explore_start(pushes, new_task());
	explore_start(unparks, NULL);
	explore_join_all();
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "a push meets a holder that falls asleep", a_push, ALL, ALL },
	{ "two pushes, two sleeps", two_pushes, ALL, ALL },
	{ "two threads push", two_pushers, ALL, ALL },
	{ "an unpark meets a holder that falls asleep", an_unpark, ALL, ALL },
	{ "a push and an unpark", a_push_and_an_unpark, ALL, ALL },
	{ "a push meets the end", a_push_at_the_end, ALL, ALL },
	{ "two pushes meet a sleep and the end", two_pushes_at_the_end, ALL, ALL },
	{ "an unpark meets the end", an_unpark_at_the_end, ALL, ALL },
	{ "a push, an unpark and the end", a_push_and_an_unpark_at_the_end, ALL, ALL },
};

EXPLORE_MAIN(models)
