/*
 * A group: its children leave, fail, are cancelled and spawn siblings while its owner waits, cancels, is cut or given
 * up. The owner's wait ends when all have left and not before; what they were lent is the owner's again; nobody who
 * came late is forgotten by a cancel; and the group goes once.
 *
 * Stacks are not switched here: a child is a task whose poll is a step of what its fiber would do, on a thread of
 * its own each time it is ready.
 */
#include "base/thread.h"
#include "explore/rig_sync.h"
#include "fiber/private.h"
#include <errno.h>
#include <string.h>

enum { CHILDREN = 3 };

static struct edo_runtime world;
static struct edo_fiber owner;
static edo_group *group;
static struct rig_sleeper sleeper;
static bool owner_is_cut; /* before its thread begins */
/* Plain, lent to the children: written by each, read by the owner when it has waited. */
static int lent[CHILDREN];
static int first_error;

/* ---- in place of the fiber room ---- */

static EDO_THREAD_LOCAL struct edo_fiber *current;

struct edo_fiber *edo_fiber_current(void)
{
	return current;
}

int edo_await(edo_future *future)
{
	edo_poll polled;

	if (!owner_is_cut)
		return rig_await(&sleeper, future);
	polled = rig_poll(&sleeper, future);
	edo_future_drop(future);
	return polled == EDO_PENDING ? -ECANCELED : polled;
}

void edo_await_uncut(struct edo_fiber *fiber, edo_future *future)
{
	explore_check(fiber == &owner);
	(void)rig_await(&sleeper, future);
}

static edo_poll child_poll(edo_future *future, edo_context *cx)
{
	struct edo_fiber *fiber = edo_container_of(future, struct edo_fiber, future);
	int rc;

	(void)cx;
	current = fiber;
	rc = fiber->fn(fiber->arg);
	current = NULL;
	if (rc != EDO_PENDING)
		fiber->result = rc;
	return rc;
}

static void child_drop(edo_future *future)
{
	struct edo_fiber *fiber = edo_container_of(future, struct edo_fiber, future);

	edo_group_leave(&fiber->member, fiber->result);
}

static const edo_future_ops child_ops = {
	child_poll,
	child_drop,
	sizeof(struct edo_fiber),
	_Alignof(struct edo_fiber),
	EDO_FUTURE_RUNS_TO_END,
	"child",
	NULL,
};

int edo_fiber_create(struct edo_runtime *runtime, const struct edo_fiber_spawn *spawn,
		     struct edo_task **created)
{
	struct edo_fiber fiber;

	memset(&fiber, 0, sizeof fiber);
	fiber.future.ops = &child_ops;
	fiber.fn = spawn->fn;
	fiber.arg = (void *)(uintptr_t)spawn->arg;
	fiber.member.group = spawn->group;
	return edo_task_create(&runtime->scheduler.scheduler, &fiber.future, sizeof fiber, NULL,
			       NULL, created);
}

/* ---- a scheduler that gives each ready task a thread ---- */

static void runs_task(void *task)
{
	edo_task_run(task);
	explore_join_all();
}

static void schedule(struct edo_scheduler *scheduler, struct edo_task *task)
{
	(void)scheduler;
	explore_start(runs_task, task);
}

static void defer(struct edo_scheduler *scheduler, struct edo_task *task, enum edo_defer reason)
{
	(void)reason;
	schedule(scheduler, task);
}

static const struct edo_scheduler_ops ops = { schedule, defer };

static void begin(bool is_cut)
{
	world.allocator = edo_default_allocator;
	world.scheduler.scheduler.ops = &ops;
	world.scheduler.scheduler.pool = edo_cell_pool_create(&edo_default_allocator);
	owner_is_cut = is_cut;
	current = &owner;
	(void)edo_current_driver_set(&world.driver);
	explore_check(edo_group_create(&group) == 0);
	current = NULL;
	(void)edo_current_driver_set(NULL);
}

static void end(void)
{
	explore_join_all();
	explore_check(owner.groups == NULL);
	explore_check(edo_cell_pool_close(world.scheduler.scheduler.pool, NULL, 0) == 0);
	rig_is_alone(&sleeper);
}

/* ---- children; the argument is what they are lent ---- */

static int ends(void *arg)
{
	*(int *)arg = 1;
	return 0;
}

static int fails(void *arg)
{
	*(int *)arg = 2;
	return -EIO;
}

static int waits_until_cancelled(void *arg)
{
	if (!edo_task_is_cancelled(edo_task_of_core(&current->future)))
		return EDO_PENDING;
	*(int *)arg = 3;
	return -ECANCELED;
}

static int spawns_a_sibling(void *arg)
{
	int rc = edo_group_go(group, waits_until_cancelled, &lent[2], 0);

	explore_check(rc == 0 || rc == -ECANCELED);
	if (rc < 0)
		lent[2] = 4;
	*(int *)arg = 1;
	return 0;
}

static void go(edo_fiber_fn *fn, int *place)
{
	explore_check(edo_group_go(group, fn, place, 0) == 0);
}

/* ---- the owner, on its thread ---- */

static void waits(int expected)
{
	current = &owner;
	explore_check(edo_group_wait(group, &first_error) == expected || owner_is_cut);
	current = NULL;
}

static void waits_for_two(void *unused)
{
	(void)unused;
	go(ends, &lent[0]);
	go(ends, &lent[1]);
	waits(0);
	explore_check(lent[0] == 1 && lent[1] == 1 && first_error == 0);
	explore_join_all();
}

static void two_leave(void)
{
	begin(false);
	explore_start(waits_for_two, NULL);
	end();
}

static void waits_for_one_that_fails(void *unused)
{
	(void)unused;
	go(waits_until_cancelled, &lent[0]);
	go(fails, &lent[1]);
	waits(0);
	explore_check(lent[0] == 3 && lent[1] == 2 && first_error == -EIO);
	explore_join_all();
}

static void one_fails(void)
{
	begin(false);
	explore_start(waits_for_one_that_fails, NULL);
	end();
}

static void waits_for_two_that_fail(void *unused)
{
	int rc;

	(void)unused;
	go(fails, &lent[0]);
	rc = edo_group_go(group, fails, &lent[1], 0);
	explore_check(rc == 0 || rc == -ECANCELED); /* the first may have failed by now */
	waits(0);
	explore_check(lent[0] == 2 && lent[1] == (rc == 0 ? 2 : 0) && first_error == -EIO);
	explore_join_all();
}

static void two_fail(void)
{
	begin(false);
	explore_start(waits_for_two_that_fail, NULL);
	end();
}

static void is_cut(void *unused)
{
	(void)unused;
	go(ends, &lent[0]);
	go(waits_until_cancelled, &lent[1]);
	waits(-ECANCELED);
	explore_check(lent[0] == 1 && lent[1] == 3 && first_error == 0);
	explore_join_all();
}

static void the_wait_is_cut(void)
{
	begin(true);
	explore_start(is_cut, NULL);
	end();
}

static void cancels(void *unused)
{
	(void)unused;
	go(spawns_a_sibling, &lent[0]);
	edo_group_cancel(group);
	waits(0);
	explore_check(lent[0] == 1 && (lent[2] == 3 || lent[2] == 4) && first_error == 0);
	explore_join_all();
}

static void a_cancel_meets_a_spawn(void)
{
	begin(false);
	explore_start(cancels, NULL);
	end();
}

static void is_given_up(void *unused)
{
	(void)unused;
	go(ends, &lent[0]);
	go(fails, &lent[1]);
	edo_groups_abandon(&owner);
	explore_join_all();
}

static void the_owner_is_given_up(void)
{
	begin(false);
	explore_start(is_given_up, NULL);
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "two leave", two_leave, ALL, ALL },
	{ "one fails, another is cancelled", one_fails, { 3, 2 }, { 4, 3 } },
	{ "two fail", two_fail, { 3, 2 }, { 4, 3 } },
	{ "the owner's wait is cut", the_wait_is_cut, { 2, 2 }, { 3, 2 } },
	{ "a cancel meets a spawn", a_cancel_meets_a_spawn, { 3, 2 }, { 4, 3 } },
	{ "the owner is given up", the_owner_is_given_up, { 3, 2 }, { 4, 3 } },
};

EXPLORE_MAIN(models)
