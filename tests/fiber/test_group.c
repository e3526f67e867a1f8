/* Groups: children that nobody outlives, whatever cuts the owner's wait. */
#include "fiber/private.h"
#include "leaf_time/rig.h"
#include "support/allocations.h"
#include <string.h>

struct child {
	edo_duration sleeps;
	int returns;
	int *ended;     /* counts, may be NULL */
	int *cancelled; /* counts those whose sleep was cut, may be NULL */
};

static int child_runs(void *arg)
{
	const struct child *child = arg;
	int rc = edo_sleep(child->sleeps);

	if (rc == -ECANCELED && child->cancelled)
		++*child->cancelled;
	if (child->ended)
		++*child->ended;
	return rc < 0 ? rc : child->returns;
}

static int go(edo_group *group, struct child child)
{
	return edo_group_go(group, child_runs, &child, sizeof child);
}

/* ---- waiting ---- */

static int waits_for_three(void *arg)
{
	edo_group *group;
	int ended = 0;
	int first_error = 1;

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_live(group) == 0);
	for (int i = 1; i <= 3; i++)
		CHECK(go(group, (struct child){ EDO_MS((unsigned)i), i, &ended, NULL }) == 0);
	CHECK(edo_group_live(group) == 3);
	CHECK(edo_group_wait(group, &first_error) == 0);
	CHECK(first_error == 0 && ended == 3);
	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_wait(group, NULL) == 0);
	return 0;
}

static void the_wait_is_over_when_all_children_have_ended(void **state)
{
	(void)state;
	in_paused_runtime(waits_for_three, NULL);
}

static int spawns_many(void *arg)
{
	edo_group *group;
	int ended = 0;

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	for (unsigned i = 0; i < 1000; i++)
		CHECK(go(group, (struct child){ EDO_MS(i % 10), 0, &ended, NULL }) == 0);
	CHECK(edo_sleep(EDO_MS(5)) == 0);
	CHECK(ended > 0 && ended < 1000);
	CHECK(edo_group_live(group) == (size_t)(1000 - ended));
	CHECK(edo_group_wait(group, NULL) == 0);
	CHECK(ended == 1000);
	return 0;
}

static void a_thousand_children_are_waited_for(void **state)
{
	(void)state;
	in_paused_runtime(spawns_many, NULL);
}

static int cancels_many(void *arg)
{
	edo_group *group;
	int ended = 0, cancelled = 0, first_error = 1;

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	for (unsigned i = 0; i < 100; i++)
		CHECK(go(group, (struct child){ EDO_HOUR(1), 0, &ended, &cancelled }) == 0);
	edo_group_cancel(group);
	edo_group_cancel(group);
	CHECK(go(group, (struct child){ 0, 0, &ended, NULL }) == -ECANCELED);
	CHECK(edo_group_wait(group, &first_error) == 0);
	CHECK(ended == 100 && cancelled == 100 && first_error == 0);
	edo_group_cancel(NULL);
	return 0;
}

static void a_cancelled_group_ends_and_takes_no_more(void **state)
{
	(void)state;
	in_paused_runtime(cancels_many, NULL);
}

/* ---- errors ---- */

static int first_fails(void *arg)
{
	edo_group *group;
	int ended = 0, cancelled = 0, first_error = 0;
	edo_instant start = edo_now();

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	CHECK(go(group, (struct child){ EDO_HOUR(1), 0, &ended, &cancelled }) == 0);
	CHECK(go(group, (struct child){ EDO_MS(5), -EPIPE, &ended, NULL }) == 0);
	CHECK(go(group, (struct child){ EDO_MS(9), -EIO, &ended, &cancelled }) == 0);
	CHECK(edo_group_wait(group, &first_error) == 0);
	CHECK(first_error == -EPIPE && ended == 3 && cancelled == 2);
	CHECK(edo_now() == start + EDO_MS(5));
	return 0;
}

static void the_first_error_cancels_the_others(void **state)
{
	(void)state;
	in_paused_runtime(first_fails, NULL);
}

static int keeps_going(void *arg)
{
	edo_group *group;
	int ended = 0, cancelled = 0, first_error = 0;

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	edo_group_set_keep_going(group);
	CHECK(go(group, (struct child){ EDO_SEC(1), 0, &ended, &cancelled }) == 0);
	CHECK(go(group, (struct child){ EDO_MS(5), -EPIPE, &ended, &cancelled }) == 0);
	CHECK(go(group, (struct child){ EDO_MS(2), -EIO, &ended, &cancelled }) == 0);
	CHECK(edo_group_wait(group, &first_error) == 0);
	CHECK(first_error == -EIO && ended == 3 && cancelled == 0);
	return 0;
}

static void told_to_keep_going_it_keeps_the_first_error(void **state)
{
	(void)state;
	in_paused_runtime(keeps_going, NULL);
}

static int fails_when_cancelled(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_HOUR(1)) == -ECANCELED ? -EPIPE : 0;
}

static int cancels_before_they_fail(void *arg)
{
	edo_group *group;
	int first_error = 1;

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_go(group, fails_when_cancelled, NULL, 0) == 0);
	CHECK(edo_group_go(group, fails_when_cancelled, NULL, 0) == 0);
	CHECK(edo_yield() == 0);
	edo_group_cancel(group);
	CHECK(edo_group_wait(group, &first_error) == 0);
	CHECK(first_error == 0);
	return 0;
}

static void what_fails_because_it_was_cancelled_is_no_error(void **state)
{
	(void)state;
	in_paused_runtime(cancels_before_they_fail, NULL);
}

static int returns_cancelled(void *arg)
{
	(void)arg;
	return -ECANCELED;
}

static int one_says_cancelled(void *arg)
{
	edo_group *group;
	int first_error = 0;

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_go(group, returns_cancelled, NULL, 0) == 0);
	CHECK(edo_group_wait(group, &first_error) == 0);
	CHECK(first_error == -ECANCELED);
	return 0;
}

static void cancelled_by_somebody_else_is_an_error_like_others(void **state)
{
	(void)state;
	in_paused_runtime(one_says_cancelled, NULL);
}

/* ---- the owner's wait is cut ---- */

static int is_past_its_deadline(void *arg)
{
	edo_deadline scope;
	edo_group *group;
	int ended = 0, cancelled = 0, first_error = 1;

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(go(group, (struct child){ EDO_HOUR(1), 0, &ended, &cancelled }) == 0);
	CHECK(edo_deadline_begin(&scope, EDO_MS(5)) == 0);
	CHECK(edo_group_wait(group, &first_error) == -ETIMEDOUT);
	CHECK(ended == 3 && cancelled == 3 && first_error == 0);
	CHECK(edo_deadline_end(&scope) == -ETIMEDOUT);
	return 0;
}

static void cut_by_a_deadline_it_cancels_and_waits_all_the_same(void **state)
{
	(void)state;
	in_paused_runtime(is_past_its_deadline, NULL);
}

static int takes_its_time(void *arg)
{
	int result = -1;

	CHECK(edo_sleep(EDO_HOUR(1)) == -ECANCELED);
	CHECK(edo_shield(child_runs, &(struct child){ EDO_MS(50), 0, arg, NULL }, &result) == 0);
	return result;
}

static int is_aborted_while_it_waits(void *arg)
{
	edo_group *group;
	int *ended = arg;

	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_go(group, takes_its_time, arg, 0) == 0);
	CHECK(edo_group_wait(group, NULL) == -ECANCELED);
	CHECK(*ended == 1);
	return 0;
}

static int aborts_an_owner(void *arg)
{
	edo_task *task;
	int result = -1;
	int ended = 0;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, is_aborted_while_it_waits, &ended, 0, &task) == 0);
	CHECK(edo_sleep(EDO_MS(5)) == 0);
	edo_task_abort(task);
	CHECK(edo_task_join(task, &result) == 0);
	return result;
}

static void aborted_it_waits_even_for_what_its_children_shield(void **state)
{
	(void)state;
	in_paused_runtime(aborts_an_owner, NULL);
}

/* ---- groups left behind ---- */

static int leaves_groups_behind(void *arg)
{
	edo_group *first, *second;
	struct child *child = arg;

	CHECK(edo_group_create(&first) == 0);
	CHECK(edo_group_create(&second) == 0);
	for (int i = 0; i < 3; i++) {
		CHECK(go(first, *child) == 0);
		CHECK(go(second, *child) == 0);
	}
	CHECK(edo_yield() == 0);
	return 0;
}

static int joins_who_left_groups_behind(void *arg)
{
	int ended = 0, cancelled = 0, result = -1;
	struct child child = { EDO_HOUR(1), 0, &ended, &cancelled };
	edo_task *task;

	(void)arg;
	CHECK(edo_spawn_fiber(NULL, leaves_groups_behind, &child, 0, &task) == 0);
	CHECK(edo_task_join(task, &result) == 0);
	CHECK(ended == 6 && cancelled == 6);
	return result;
}

static void groups_left_behind_are_cancelled_and_waited_for(void **state)
{
	(void)state;
	in_paused_runtime(joins_who_left_groups_behind, NULL);
}

static int writes_to_its_owners_frame(void *arg)
{
	int rc = edo_sleep(EDO_HOUR(1));

	memset(arg, 0x5a, 256);
	return rc;
}

static int returns_early(edo_group **outer, bool early)
{
	EDO_GROUP_SCOPE();
	char lent[256] = { 0 };
	edo_group *inner;

	CHECK(edo_group_create(&inner) == 0);
	CHECK(edo_group_go(inner, writes_to_its_owners_frame, lent, 0) == 0);
	CHECK(edo_yield() == 0);
	if (early)
		return lent[0]; /* 0: it is evaluated before the scope ends */
	edo_group_cancel(inner);
	CHECK(edo_group_wait(inner, NULL) == 0);
	CHECK(lent[255] == 0x5a);
	return edo_group_create(outer); /* made here, and closed here */
}

static int uses_the_scope_macro(void *arg)
{
	edo_group *before, *made_inside = NULL;
	int ended = 0;

	(void)arg;
	CHECK(edo_group_create(&before) == 0);
	CHECK(go(before, (struct child){ EDO_MS(5), 0, &ended, NULL }) == 0);
	CHECK(returns_early(&made_inside, true) == 0);
	CHECK(returns_early(&made_inside, false) == 0);
	CHECK(ended == 0);
	CHECK(edo_group_wait(before, NULL) == 0); /* the scopes left it alone */
	CHECK(ended == 1);
	return 0;
}

static void a_scope_closes_what_was_made_in_it_and_nothing_else(void **state)
{
	(void)state;
	in_paused_runtime(uses_the_scope_macro, NULL);
}

/* ---- nesting ---- */

static int has_children_of_its_own(void *arg)
{
	edo_group *group;
	int rc;

	CHECK(edo_group_create(&group) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(go(group, (struct child){ EDO_HOUR(1), 0, arg, NULL }) == 0);
	rc = edo_group_wait(group, NULL);
	return rc == -ECANCELED ? 0 : __LINE__;
}

static int has_grandchildren(void *arg)
{
	edo_group *group;
	int ended = 0, first_error = 1;

	(void)arg;
	CHECK(edo_group_create(&group) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(edo_group_go(group, has_children_of_its_own, &ended, 0) == 0);
	CHECK(edo_sleep(EDO_MS(1)) == 0);
	edo_group_cancel(group);
	CHECK(edo_group_wait(group, &first_error) == 0);
	CHECK(first_error == 0 && ended == 9);
	return 0;
}

static void a_cancellation_reaches_the_grandchildren(void **state)
{
	(void)state;
	in_paused_runtime(has_grandchildren, NULL);
}

struct tree {
	edo_group *group;
	int depth;
	int *ended;
};

static int spawns_siblings(void *arg)
{
	struct tree *tree = arg;
	struct tree below = { tree->group, tree->depth - 1, tree->ended };

	++*tree->ended;
	if (tree->depth == 0)
		return 0;
	CHECK(edo_group_go(tree->group, spawns_siblings, &below, sizeof below) == 0);
	CHECK(edo_group_go(tree->group, spawns_siblings, &below, sizeof below) == 0);
	return 0;
}

static int children_spawn_into_their_group(void *arg)
{
	struct tree tree = { NULL, 6, NULL };
	int ended = 0, first_error = 1;

	(void)arg;
	CHECK(edo_group_create(&tree.group) == 0);
	tree.ended = &ended;
	CHECK(edo_group_go(tree.group, spawns_siblings, &tree, sizeof tree) == 0);
	CHECK(edo_group_wait(tree.group, &first_error) == 0);
	CHECK(ended == 127 && first_error == 0);
	return 0;
}

static void children_may_spawn_siblings(void **state)
{
	(void)state;
	in_paused_runtime(children_spawn_into_their_group, NULL);
}

/* ---- arguments that belong to the group ---- */

static int dropped;

static void count_drop(void *arg)
{
	edo_instant before = edo_now();

	if (edo_sleep(EDO_MS(1)) == -EDEADLK && edo_now() == before)
		dropped += *(int *)arg;
}

static int looks_whether_it_was_dropped(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_MS(1)) < 0 || dropped != 0;
}

static int gives_arguments_away(void *arg)
{
	edo_group *group;
	int first_error = 1, whole = 1;

	(void)arg;
	dropped = 0;
	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_go_owned(group, looks_whether_it_was_dropped, &whole, 0, count_drop) == 0);
	CHECK(edo_group_go_owned(group, looks_whether_it_was_dropped, &(int){ 10 }, sizeof(int),
				 count_drop) == 0);
	CHECK(edo_group_go_owned(group, looks_whether_it_was_dropped, NULL, 0, NULL) == 0);
	CHECK(dropped == 0);
	CHECK(edo_group_wait(group, &first_error) == 0 && first_error == 0);
	CHECK(dropped == 11);

	CHECK(edo_group_create(&group) == 0);
	edo_group_cancel(group);
	CHECK(edo_group_go_owned(group, looks_whether_it_was_dropped, &whole, 0, count_drop) ==
	      -ECANCELED);
	CHECK(dropped == 12);
	CHECK(edo_group_wait(group, NULL) == 0);
	CHECK(edo_group_go_owned(NULL, child_runs, &whole, 0, count_drop) == -EINVAL);
	CHECK(dropped == 13);
	return 0;
}

static void an_owned_argument_is_dropped_once_whatever_happens(void **state)
{
	(void)state;
	in_paused_runtime(gives_arguments_away, NULL);
}

static edo_group *dropping_in;
static size_t live_at_drop;

static void count_live(void *arg)
{
	(void)arg;
	live_at_drop = edo_group_live(dropping_in);
}

static int looks_at_its_group_in_a_drop(void *arg)
{
	(void)arg;
	CHECK(edo_group_create(&dropping_in) == 0);
	CHECK(edo_group_go_owned(dropping_in, looks_whether_it_was_dropped, NULL, 0, count_live) ==
	      0);
	dropped = 0;
	CHECK(edo_group_wait(dropping_in, NULL) == 0);
	CHECK(live_at_drop == 1);
	return 0;
}

static void a_child_is_its_groups_until_its_argument_is_dropped(void **state)
{
	(void)state;
	in_paused_runtime(looks_at_its_group_in_a_drop, NULL);
}

/* ---- failures ---- */

static int fails_to_spawn(void *arg)
{
	int ended = 0, cancelled = 0, first_error = 0;
	edo_group *group;

	(void)arg;
	dropped = 0;
	edo_test_allocations_fail(0);
	CHECK(edo_group_create(&group) == -ENOMEM);
	CHECK(edo_group_create(&group) == 0);
	CHECK(go(group, (struct child){ EDO_HOUR(1), 0, &ended, &cancelled }) == 0);
	CHECK(edo_yield() == 0);
	edo_test_allocations_fail(0);
	/* Larger than the cells that are there. */
	CHECK(edo_group_go_owned(group, child_runs, (int[1000]){ 1 }, sizeof(int[1000]),
				 count_drop) == -ENOMEM);
	CHECK(dropped == 1);
	CHECK(edo_group_go(group, NULL, NULL, 0) == -ECANCELED);
	CHECK(edo_group_wait(group, &first_error) == 0);
	CHECK(first_error == -ENOMEM && ended == 1 && cancelled == 1);
	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_go(group, NULL, NULL, 0) == -EINVAL);
	CHECK(edo_group_wait(group, &first_error) == 0 && first_error == -EINVAL);
	return 0;
}

static void a_spawn_that_failed_is_the_groups_first_error(void **state)
{
	(void)state;
	in_paused_runtime(fails_to_spawn, NULL);
}

static int waits_for_anothers(void *arg)
{
	CHECK(edo_group_wait(arg, NULL) == -EDEADLK);
	return 0;
}

static edo_poll misuses_groups(edo_future *future, edo_context *cx)
{
	edo_group *group = NULL;

	(void)future;
	(void)cx;
	CHECK(edo_group_create(&group) == (edo_fiber_current() ? -EDEADLK : -EINVAL));
	CHECK(!group);
	return 0;
}

static void no_drop(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(misuse_ops, edo_future, ops, misuses_groups, no_drop);

static int misuses(void *arg)
{
	edo_future future = { &misuse_ops };
	edo_task *task;
	edo_group *group;
	int first_error = 1;
	int result = -1;

	(void)arg;
	CHECK(edo_group_wait(NULL, NULL) == -EINVAL);
	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_go(group, waits_for_anothers, group, 0) == 0);
	CHECK(edo_group_wait(group, &first_error) == 0 && first_error == 0);
	CHECK(edo_await(&future) == 0);
	CHECK(edo_spawn(NULL, &future, &task) == 0);
	CHECK(edo_task_join(task, &result) == 0 && result == 0);
	return 0;
}

static void nobody_but_its_owner_waits_for_a_group(void **state)
{
	edo_group *group = NULL;

	(void)state;
	in_paused_runtime(misuses, NULL);
	assert_int_equal(edo_group_create(&group), -EINVAL);
	assert_null(group);
	{
		EDO_GROUP_SCOPE();
	}
}

/* ---- a shutdown's limit ---- */

struct lent {
	edo_interval interval;
	char padding[1700]; /* a cell that nobody else would use again at once */
};

static int waits_in_its_owners_frame(void *arg)
{
	return edo_interval_tick(arg, NULL);
}

static int waits_shielded_in_its_owners_frame(void *arg)
{
	return edo_shield(waits_in_its_owners_frame, arg, NULL);
}

/* Lends two children what is in its frame, and what is in its argument. */
static int owner_never_returns(void *arg)
{
	struct lent *argument = arg;
	struct lent frame;
	struct lent *both[] = { argument, &frame };
	edo_group *group;

	CHECK(edo_group_create(&group) == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(edo_interval_init(&both[i]->interval, edo_now() + EDO_HOUR(1), EDO_HOUR(1),
					EDO_MISSED_SKIP) == 0);
		CHECK(edo_group_go(group, waits_shielded_in_its_owners_frame, &both[i]->interval,
				   0) == 0);
	}
	return edo_group_wait(group, NULL);
}

static int spawns_an_owner(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++)
		CHECK(edo_go(owner_never_returns, &(struct lent){ 0 }, sizeof(struct lent)) == 0);
	CHECK(edo_sleep(EDO_MS(1)) == 0);
	return 0;
}

/* The owner comes first in the ring: its frame and its group must stay until its child's wait is dropped. */
static void given_up_together_owner_and_child_touch_nothing_that_is_gone(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	(void)state;
	config.shutdown_timeout = EDO_MS(1);
	config.stack_cache = 1;
	start_runtime(&runtime, config);
	run_on(runtime, spawns_an_owner, NULL);
	assert_int_equal(edo_runtime_destroy(runtime), -ETIMEDOUT);
}

static int owner_waits(void *arg)
{
	edo_group *group;
	int rc;

	CHECK(edo_group_create(&group) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(go(group, (struct child){ EDO_HOUR(1), 0, arg, NULL }) == 0);
	rc = edo_group_wait(group, NULL);
	++*(int *)arg;
	return rc;
}

static int spawns_who_waits(void *arg)
{
	CHECK(edo_go(owner_waits, arg, 0) == 0);
	CHECK(edo_yield() == 0);
	return 0;
}

static void a_shutdown_ends_children_and_owner(void **state)
{
	int ended = 0;

	(void)state;
	in_running_runtime(spawns_who_waits, &ended);
	assert_int_equal(ended, 4);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_wait_is_over_when_all_children_have_ended),
	cmocka_unit_test(a_thousand_children_are_waited_for),
	cmocka_unit_test(a_cancelled_group_ends_and_takes_no_more),
	cmocka_unit_test(the_first_error_cancels_the_others),
	cmocka_unit_test(told_to_keep_going_it_keeps_the_first_error),
	cmocka_unit_test(what_fails_because_it_was_cancelled_is_no_error),
	cmocka_unit_test(cancelled_by_somebody_else_is_an_error_like_others),
	cmocka_unit_test(cut_by_a_deadline_it_cancels_and_waits_all_the_same),
	cmocka_unit_test(aborted_it_waits_even_for_what_its_children_shield),
	cmocka_unit_test(groups_left_behind_are_cancelled_and_waited_for),
	cmocka_unit_test(a_scope_closes_what_was_made_in_it_and_nothing_else),
	cmocka_unit_test(a_cancellation_reaches_the_grandchildren),
	cmocka_unit_test(children_may_spawn_siblings),
	cmocka_unit_test(an_owned_argument_is_dropped_once_whatever_happens),
	cmocka_unit_test(a_child_is_its_groups_until_its_argument_is_dropped),
	cmocka_unit_test(a_spawn_that_failed_is_the_groups_first_error),
	cmocka_unit_test(nobody_but_its_owner_waits_for_a_group),
	cmocka_unit_test(given_up_together_owner_and_child_touch_nothing_that_is_gone),
	cmocka_unit_test(a_shutdown_ends_children_and_owner),
};

EDO_TEST_MAIN(tests)
