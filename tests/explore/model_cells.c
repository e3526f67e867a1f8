/*
 * K1, K3: the owner takes cells from its own lists and puts them back there without a lock, others go through
 * the shared side; no cell is given to two, and the pool with all that is attached to it goes with
 * its last cell, whoever frees that.
 */
#include "base/thread.h"
#include "explore/explore.h"
#include "task/cell.h"

enum { SMALL = 8, LARGE_ONE = 4096, MOST_THAT_STAY = 256, ATTACHED = 64 };

static struct edo_cell_pool *pool;

/* ---- an allocator that is not called under a lock (T2) ---- */

static void *allocate(void *context, size_t size, size_t align)
{
	(void)context;
	edo_lock_assert_none();
	return edo_default_allocator.allocate(NULL, size, align);
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	edo_lock_assert_none();
	edo_default_allocator.release(NULL, memory, size);
}

static const edo_allocator allocator = { allocate, release, NULL };

/* ---- cells ---- */

/* Two who had the same cell would race for its core. */
static struct edo_task *allocate_cell(size_t size)
{
	struct edo_task *cell = edo_cell_allocate(pool, size);

	explore_check(cell != NULL);
	*(char *)(cell + 1) = 1;
	return cell;
}

static void free_cell(struct edo_task *cell)
{
	*(char *)(cell + 1) = 2;
	edo_cell_free(pool, cell);
}

static void begin(void)
{
	pool = edo_cell_pool_create(&allocator);
}

static void become_owner(void)
{
	edo_cell_pool_set_owner(pool, edo_thread_self());
}

static size_t close_pool(void)
{
	return edo_cell_pool_close(pool, allocate(NULL, ATTACHED, 16), ATTACHED);
}

/* All cells are back by now: what is left of the pool goes. */
static void end(void)
{
	explore_check(close_pool() == 0);
}

/* ---- who does what ---- */

static void frees(void *cell)
{
	free_cell(cell);
}

static void allocates_and_frees(void *unused)
{
	(void)unused;
	free_cell(allocate_cell(SMALL));
}

static void frees_and_allocates(void *cell)
{
	free_cell(cell);
	free_cell(allocate_cell(SMALL));
}

static void allocates_and_frees_a_large_one(void *unused)
{
	(void)unused;
	free_cell(allocate_cell(LARGE_ONE));
}

/* ---- both sides at once ---- */

static void local_and_shared(void)
{
	struct edo_task *cell;

	begin();
	become_owner();
	cell = allocate_cell(SMALL);
	explore_start(frees_and_allocates, cell);
	allocates_and_frees(NULL);
	explore_join_all();
	end();
}

static void two_share(void)
{
	struct edo_task *cell;

	begin();
	become_owner();
	cell = allocate_cell(SMALL);
	explore_start(frees_and_allocates, cell);
	explore_start(allocates_and_frees, NULL);
	allocates_and_frees(NULL);
	explore_join_all();
	end();
}

/* The owner's lists are full: with the next cell a batch goes to the shared side. */
static void a_batch_is_given(void)
{
	static struct edo_task *cells[MOST_THAT_STAY + 1];

	begin();
	become_owner();
	for (unsigned i = 0; i <= MOST_THAT_STAY; i++)
		cells[i] = allocate_cell(SMALL);
	for (unsigned i = 1; i <= MOST_THAT_STAY; i++)
		free_cell(cells[i]);
	explore_start(allocates_and_frees, NULL);
	explore_start(allocates_and_frees, NULL);
	free_cell(cells[0]);
	allocates_and_frees(NULL);
	explore_join_all();
	end();
}

/* The owner's list is empty: it takes what others have given back, or new ones. */
static void a_batch_is_taken(void)
{
	struct edo_task *cell;

	begin();
	cell = allocate_cell(SMALL);
	become_owner();
	explore_start(frees_and_allocates, cell);
	allocates_and_frees(NULL);
	explore_join_all();
	end();
}

static void large_ones(void)
{
	struct edo_task *cell;

	begin();
	become_owner();
	cell = allocate_cell(LARGE_ONE);
	explore_start(frees, cell);
	explore_start(allocates_and_frees_a_large_one, NULL);
	allocates_and_frees_a_large_one(NULL);
	explore_join_all();
	end();
}

/* ---- the owner changes ---- */

/* Atomic: somebody has the scheduler's core. Whoever has it owns the lists. */
static uint32_t is_taken;

static void take_core(void)
{
	uint32_t nobody = 0;

	while (!edo_compare_exchange(&is_taken, &nobody, 1, acquire, relaxed)) {
		explore_wait_a_moment();
		nobody = 0;
	}
	become_owner();
}

static void hand_core_on(void)
{
	edo_cell_pool_set_owner(pool, 0);
	edo_store(&is_taken, 0, release);
}

static void owns_for_a_while(void *unused)
{
	take_core();
	allocates_and_frees(unused);
	hand_core_on();
}

/* The cell comes from the owner's lists and goes back to the shared side. */
static void owns_and_frees_later(void *unused)
{
	struct edo_task *cell;

	(void)unused;
	take_core();
	cell = allocate_cell(SMALL);
	hand_core_on();
	free_cell(cell);
}

/* And the other way round. */
static void owns_later(void *unused)
{
	struct edo_task *cell = allocate_cell(SMALL);

	(void)unused;
	take_core();
	free_cell(cell);
	hand_core_on();
}

static void owners_by_turns(void)
{
	begin();
	explore_start(owns_for_a_while, NULL);
	explore_start(owns_and_frees_later, NULL);
	explore_join_all();
	end();
}

static void an_owner_and_a_later_one(void)
{
	begin();
	explore_start(owns_and_frees_later, NULL);
	explore_start(owns_later, NULL);
	explore_join_all();
	end();
}

/* ---- the end ---- */

static void the_last_cell(void)
{
	struct edo_task *cell;

	begin();
	become_owner();
	cell = allocate_cell(SMALL);
	explore_start(frees, cell);
	(void)close_pool();
	explore_join_all();
}

static void two_last_cells(void)
{
	struct edo_task *first, *second;

	begin();
	become_owner();
	first = allocate_cell(SMALL);
	second = allocate_cell(SMALL);
	explore_start(frees, first);
	explore_start(frees, second);
	(void)close_pool();
	explore_join_all();
}

/* The owner frees one of its own, closes the pool, and is the owner no more. */
static void the_owner_closes(void)
{
	struct edo_task *own, *late, *others;

	begin();
	become_owner();
	own = allocate_cell(SMALL);
	late = allocate_cell(SMALL);
	others = allocate_cell(SMALL);
	explore_start(frees, others);
	free_cell(own);
	explore_check(close_pool() >= 1);
	free_cell(late);
	explore_join_all();
}

static void the_last_large_one(void)
{
	struct edo_task *large, *small;

	begin();
	become_owner();
	large = allocate_cell(LARGE_ONE);
	small = allocate_cell(SMALL);
	explore_start(frees, large);
	explore_start(frees, small);
	(void)close_pool();
	explore_join_all();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "the owner's side and the shared one", local_and_shared, ALL, ALL },
	{ "two use the shared side", two_share, ALL, ALL },
	{ "the owner gives a batch to the shared side", a_batch_is_given, ALL, ALL },
	{ "the owner takes a batch from the shared side", a_batch_is_taken, ALL, ALL },
	{ "large cells", large_ones, ALL, ALL },
	{ "two own the lists by turns", owners_by_turns, ALL, ALL },
	{ "a cell comes from one side and goes to the other", an_owner_and_a_later_one, ALL, ALL },
	{ "the last cell meets the end of the pool", the_last_cell, ALL, ALL },
	{ "two last cells meet the end of the pool", two_last_cells, ALL, ALL },
	{ "the owner closes the pool and frees a cell", the_owner_closes, ALL, ALL },
	{ "a last large cell meets the end of the pool", the_last_large_one, ALL, ALL },
};

EXPLORE_MAIN(models)
