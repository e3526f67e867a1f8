/*
 * The explorer must be able to fail: six classic faults, and each of their cures.
 */
#include "base/atomic.h"
#include "base/lock.h"
#include "base/sys.h"
#include "explore/explore.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = EDO_RANK_POOL };

/* ---- a lost update: two increments as load and store ---- */

static uint32_t counter;

static void increments_by_load_and_store(void *argument)
{
	uint32_t seen = edo_load(&counter, relaxed);

	(void)argument;
	edo_store(&counter, seen + 1, relaxed);
}

static void increments_at_once(void *argument)
{
	(void)argument;
	(void)edo_fetch_add(&counter, 1, relaxed);
}

static void count_with(void (*increment)(void *argument))
{
	explore_start(increment, NULL);
	explore_start(increment, NULL);
	explore_join_all();
	explore_check(counter == 2);
}

static void lost_update(void)
{
	count_with(increments_by_load_and_store);
}

static void update(void)
{
	count_with(increments_at_once);
}

/* ---- a missing release: data is published by a flag ---- */

static int data;
static uint32_t is_published;

static void publishes_relaxed(void *argument)
{
	(void)argument;
	data = 1;
	edo_store(&is_published, 1, relaxed);
}

static void publishes(void *argument)
{
	(void)argument;
	data = 1;
	edo_store(&is_published, 1, release);
}

static void reads_what_is_published(void *argument)
{
	(void)argument;
	if (edo_load(&is_published, acquire))
		explore_check(data == 1);
}

static void reads_without_acquire(void *argument)
{
	(void)argument;
	if (edo_load(&is_published, relaxed))
		explore_check(data == 1);
}

static void missing_release(void)
{
	explore_start(publishes_relaxed, NULL);
	explore_start(reads_what_is_published, NULL);
	explore_join_all();
}

static void missing_acquire(void)
{
	explore_start(publishes, NULL);
	explore_start(reads_without_acquire, NULL);
	explore_join_all();
}

static void publication(void)
{
	explore_start(publishes, NULL);
	explore_start(reads_what_is_published, NULL);
	explore_join_all();
}

/* ---- ABA: a stack whose pop compares the top alone ---- */

struct node {
	struct node *next; /* atomic: a pop reads it of a node that may be gone */
	uint32_t owners;
};

static struct node nodes[2] = { { &nodes[1], 0 }, { NULL, 0 } };
static struct node *top = &nodes[0];
static struct edo_lock top_lock;

static struct node *pop_by_address(void)
{
	struct node *node = edo_load(&top, acquire);
	struct node *next;

	do {
		if (!node)
			return NULL;
		next = edo_load(&node->next, relaxed);
	} while (!edo_compare_exchange(&top, &node, next, acq_rel, acquire));
	return node;
}

static void push(struct node *node)
{
	struct node *seen = edo_load(&top, relaxed);

	do
		edo_store(&node->next, seen, relaxed);
	while (!edo_compare_exchange(&top, &seen, node, release, relaxed));
}

static void own(struct node *node)
{
	if (node)
		explore_check(edo_fetch_add(&node->owners, 1, acq_rel) == 0);
}

static void disown(struct node *node)
{
	if (node)
		(void)edo_fetch_sub(&node->owners, 1, acq_rel);
}

static void pops_one(void *argument)
{
	(void)argument;
	own(pop_by_address());
}

static void pops_two_and_pushes_the_first(void *argument)
{
	struct node *first = pop_by_address();

	(void)argument;
	own(first);
	own(pop_by_address());
	disown(first);
	if (first)
		push(first);
}

static void own_the_rest(void)
{
	struct node *node;

	while ((node = pop_by_address()) != NULL)
		own(node);
}

static void aba(void)
{
	explore_start(pops_one, NULL);
	explore_start(pops_two_and_pushes_the_first, NULL);
	explore_join_all();
	own_the_rest();
}

static struct node *pop_under_lock(void)
{
	struct node *node;

	edo_lock_acquire(&top_lock, RANK);
	node = pop_by_address();
	edo_lock_release(&top_lock, RANK);
	return node;
}

static void pops_one_under_lock(void *argument)
{
	(void)argument;
	own(pop_under_lock());
}

static void pops_two_under_lock_and_pushes_the_first(void *argument)
{
	struct node *first = pop_under_lock();

	(void)argument;
	own(first);
	own(pop_under_lock());
	disown(first);
	if (first)
		push(first);
}

static void no_aba(void)
{
	explore_start(pops_one_under_lock, NULL);
	explore_start(pops_two_under_lock_and_pushes_the_first, NULL);
	explore_join_all();
	own_the_rest();
}

/* ---- a double free: both who see the last reference, and a use after the free ---- */

struct counted {
	uint32_t references;
	int value;
};

static struct counted *shared;

static uint32_t is_freed;

static void frees_after_looking(void *argument)
{
	(void)argument;
	if (edo_load(&is_freed, acquire))
		return;
	edo_store(&is_freed, 1, release);
	free(shared);
}

static void drops(void *argument)
{
	(void)argument;
	if (edo_fetch_sub(&shared->references, 1, acq_rel) == 1)
		free(shared);
}

static void drops_without_order(void *argument)
{
	(void)argument;
	shared->value++;
	if (edo_fetch_sub(&shared->references, 1, relaxed) == 1)
		free(shared);
}

static void count_down_with(void (*drop)(void *argument))
{
	shared = malloc(sizeof *shared);
	*shared = (struct counted){ 2, 0 };
	explore_start(drop, NULL);
	explore_start(drop, NULL);
	explore_join_all();
}

static void double_free(void)
{
	count_down_with(frees_after_looking);
}

static void free_without_order(void)
{
	count_down_with(drops_without_order);
}

static void counted_free(void)
{
	count_down_with(drops);
}

static void drops_but_keeps(void *argument)
{
	(void)argument;
	(void)edo_fetch_sub(&shared->references, 1, acq_rel);
}

static void leak(void)
{
	count_down_with(drops_but_keeps);
}

/* ---- a lost wake-up: looks, then sleeps, and the wake comes between ---- */

static uint32_t is_ready;
static uint32_t is_asleep;

static void sleeps_after_looking(void *argument)
{
	(void)argument;
	if (edo_load(&is_ready, acquire))
		return;
	edo_store(&is_asleep, 1, release);
	(void)edo_sys_futex_wait(&is_asleep, 1, UINT64_MAX);
}

static void wakes_who_sleeps(void *argument)
{
	(void)argument;
	edo_store(&is_ready, 1, release);
	if (edo_exchange(&is_asleep, 0, acq_rel) == 1)
		(void)edo_sys_futex_wake(&is_asleep, 1);
}

static void lost_wake_up(void)
{
	explore_start(sleeps_after_looking, NULL);
	explore_start(wakes_who_sleeps, NULL);
	explore_join_all();
}

/* Announces itself first, and both sides in one order: one sees the other. */
static void sleeps_after_announcing(void *argument)
{
	(void)argument;
	edo_store(&is_asleep, 1, seq_cst);
	if (edo_load(&is_ready, seq_cst))
		return;
	(void)edo_sys_futex_wait(&is_asleep, 1, UINT64_MAX);
}

static void wakes_whoever(void *argument)
{
	(void)argument;
	edo_store(&is_ready, 1, seq_cst);
	if (edo_exchange(&is_asleep, 0, seq_cst) == 1)
		(void)edo_sys_futex_wake(&is_asleep, 1);
}

static void wake_up(void)
{
	explore_start(sleeps_after_announcing, NULL);
	explore_start(wakes_whoever, NULL);
	explore_join_all();
}

/* ---- a deadlock: two locks in two orders ---- */

static struct edo_lock left, right;

static void locks_left_then_right(void *argument)
{
	(void)argument;
	edo_lock_acquire(&left, 1);
	edo_lock_acquire(&right, 2);
	edo_lock_release(&right, 2);
	edo_lock_release(&left, 1);
}

static void locks_right_then_left(void *argument)
{
	(void)argument;
	edo_lock_acquire(&right, 1);
	edo_lock_acquire(&left, 2);
	edo_lock_release(&left, 2);
	edo_lock_release(&right, 1);
}

static void deadlock(void)
{
	explore_start(locks_left_then_right, NULL);
	explore_start(locks_right_then_left, NULL);
	explore_join_all();
}

static void no_deadlock(void)
{
	explore_start(locks_left_then_right, NULL);
	explore_start(locks_left_then_right, NULL);
	explore_join_all();
}

/* ---- what else must not pass ---- */

static void out_of_rank(void)
{
	edo_lock_acquire(&left, 2);
	edo_lock_acquire(&right, 1);
}

static void stores_plainly(void *argument)
{
	(void)argument;
	counter = 1;
}

static void plain_and_atomic(void)
{
	explore_start(stores_plainly, NULL);
	explore_start(increments_at_once, NULL);
	explore_join_all();
}

static void waits_for_a_flag(void *argument)
{
	(void)argument;
	while (!edo_load(&is_published, acquire))
		edo_sys_cpu_relax();
}

static void endless_loop(void)
{
	explore_start(waits_for_a_flag, NULL);
	explore_start(increments_at_once, NULL);
	explore_join_all();
}

static void spin(void)
{
	explore_start(waits_for_a_flag, NULL);
	explore_start(publishes, NULL);
	explore_join_all();
	explore_check(data == 1);
}

/* ---- a lock freed while somebody may still use it, and one freed by the last ---- */

struct guarded {
	struct edo_lock lock;
};

static struct guarded *guarded;
static uint32_t users;

static void locks_and_unlocks(void *argument)
{
	struct guarded *mine = argument;

	edo_lock_acquire(&mine->lock, EDO_RANK_OWNED);
	edo_lock_release(&mine->lock, EDO_RANK_OWNED);
	edo_store(&users, 0, relaxed);
}

static void frees_the_lock_without_order(void *argument)
{
	struct guarded *mine = argument;

	while (edo_load(&users, relaxed) != 0)
		explore_wait_a_moment();
	free(mine);
}

static void begin_guarded(void)
{
	guarded = malloc(sizeof *guarded);
	*guarded = (struct guarded){ { 0 } };
	users = 1;
}

static void lock_freed_without_order(void)
{
	begin_guarded();
	explore_start(locks_and_unlocks, guarded);
	explore_start(frees_the_lock_without_order, guarded);
	explore_join_all();
}

static void lock_freed_by_the_last(void)
{
	begin_guarded();
	explore_start(locks_and_unlocks, guarded);
	explore_join_all();
	free(guarded);
}

/* ---- a block freed in the middle of what is written at once ---- */

static void write_over_a_freed_block(void)
{
	char *first = malloc(64);
	char *middle = malloc(64);
	char *last = malloc(64);

	free(middle);
	memset(first, 0, (size_t)(last + 64 - first));
	free(first);
	free(last);
}

/* ---- a lock held while time passes: who waits for it may also have come first ---- */

static uint32_t naps;
static uint32_t order_of_holders;

static void holds_while_time_passes(void *argument)
{
	(void)argument;
	edo_lock_acquire(&left, EDO_RANK_OWNED);
	order_of_holders = order_of_holders * 10 + 1;
	(void)edo_sys_futex_wait(&naps, 0, 1000);
	edo_lock_release(&left, EDO_RANK_OWNED);
}

static void holds_briefly(void *argument)
{
	(void)argument;
	edo_lock_acquire(&left, EDO_RANK_OWNED);
	order_of_holders = order_of_holders * 10 + 2;
	edo_lock_release(&left, EDO_RANK_OWNED);
}

static void second_before_the_sleeper(void)
{
	order_of_holders = 0;
	explore_start(holds_while_time_passes, NULL);
	explore_start(holds_briefly, NULL);
	explore_join_all();
	explore_check(order_of_holders != 21);
}

static void sleeper_before_the_second(void)
{
	order_of_holders = 0;
	explore_start(holds_while_time_passes, NULL);
	explore_start(holds_briefly, NULL);
	explore_join_all();
	explore_check(order_of_holders != 12);
}

/* ---- two phases with one lock: what the first one released is over ---- */

static void writes_under_lock(void *argument)
{
	(void)argument;
	edo_lock_acquire(&left, EDO_RANK_OWNED);
	data++;
	edo_lock_release(&left, EDO_RANK_OWNED);
}

static void writes_without_lock(void *argument)
{
	(void)argument;
	data++;
}

static void race_in_a_second_phase(void)
{
	explore_start(writes_under_lock, NULL);
	explore_start(writes_under_lock, NULL);
	explore_join_all();
	explore_start(writes_under_lock, NULL);
	explore_start(writes_without_lock, NULL);
	explore_join_all();
}

/* ---- */

struct expectation {
	struct explore_model model;
	enum explore_outcome outcome;
};

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}
#define BOUNDED                                                                                    \
	{                                                                                          \
		2, 2                                                                               \
	}
#define EXPECT(function, outcome)                                                                  \
	{                                                                                          \
		{ #function, function, ALL, BOUNDED }, outcome                                     \
	}

static const struct expectation expectations[] = {
	EXPECT(lost_update, EXPLORE_CHECK_FAILED),
	EXPECT(update, EXPLORE_PASSED),
	EXPECT(missing_release, EXPLORE_DATA_RACE),
	EXPECT(missing_acquire, EXPLORE_DATA_RACE),
	EXPECT(publication, EXPLORE_PASSED),
	EXPECT(aba, EXPLORE_CHECK_FAILED),
	EXPECT(no_aba, EXPLORE_PASSED),
	EXPECT(double_free, EXPLORE_BAD_MEMORY),
	EXPECT(free_without_order, EXPLORE_DATA_RACE),
	EXPECT(counted_free, EXPLORE_PASSED),
	EXPECT(leak, EXPLORE_LEAK),
	EXPECT(lost_wake_up, EXPLORE_DEADLOCK),
	EXPECT(wake_up, EXPLORE_PASSED),
	EXPECT(deadlock, EXPLORE_DEADLOCK),
	EXPECT(no_deadlock, EXPLORE_PASSED),
	EXPECT(out_of_rank, EXPLORE_LOCK_MISUSE),
	EXPECT(plain_and_atomic, EXPLORE_DATA_RACE),
	EXPECT(endless_loop, EXPLORE_ENDLESS_LOOP),
	EXPECT(spin, EXPLORE_PASSED),
	EXPECT(lock_freed_without_order, EXPLORE_DATA_RACE),
	EXPECT(lock_freed_by_the_last, EXPLORE_PASSED),
	EXPECT(write_over_a_freed_block, EXPLORE_BAD_MEMORY),
	EXPECT(second_before_the_sleeper, EXPLORE_CHECK_FAILED),
	EXPECT(sleeper_before_the_second, EXPLORE_CHECK_FAILED),
	EXPECT(race_in_a_second_phase, EXPLORE_DATA_RACE),
};

/* Both ways of searching must find it. */
static int check(const struct expectation *expectation, struct explore_bounds bounds)
{
	struct explore_result result = explore_run(&expectation->model, bounds, false);
	bool is_right = result.outcome == expectation->outcome;

	printf("%s %s: %s after %llu runs and %llu cut (%s)\n", is_right ? "ok  " : "FAIL",
	       expectation->model.name, explore_outcome_name(result.outcome),
	       (unsigned long long)result.runs, (unsigned long long)result.cut, result.reason);
	return !is_right;
}

/* A bound is not one lower than it says: an increment is lost by one preemption, and by none it is not. */
static int check_preemptions(void)
{
	struct explore_model model = { .name = "lost_update", .run = lost_update };
	struct explore_bounds none = { 0, 0 }, one = { 1, 0 };
	struct explore_result within_none = explore_run(&model, none, false);
	struct explore_result within_one = explore_run(&model, one, false);
	bool is_right =
		within_none.outcome == EXPLORE_PASSED && within_one.outcome == EXPLORE_CHECK_FAILED;

	printf("%s lost_update needs one preemption\n", is_right ? "ok  " : "FAIL");
	return !is_right;
}

/* What is printed of a long schedule is its beginning and its end. */
static void increments_often(void *argument)
{
	for (int i = 0; i < 1000; i++)
		increments_at_once(argument);
	stores_plainly(argument);
}

static void a_long_way(void)
{
	explore_start(increments_often, NULL);
	explore_start(increments_at_once, NULL);
	explore_join_all();
}

static int print_a_long_way(void)
{
	struct explore_model model = { .name = "a_long_way", .run = a_long_way };
	struct explore_result result = explore_run(&model, (struct explore_bounds){ 0, 0 }, true);

	return result.outcome != EXPLORE_DATA_RACE;
}

int main(void)
{
	int failed = print_a_long_way();

	for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
		failed += check(&expectations[i], expectations[i].model.usual);
		failed += check(&expectations[i], expectations[i].model.whole);
	}
	failed += check_preemptions();
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
