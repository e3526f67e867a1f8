/* Cells: sizes, alignment, both sides of the pool, the pool outliving its runtime (K1, K3), memory that ends. */
#include "task/cell.h"
#include "base/thread.h"
#include "support/allocations.h"
#include "support/runner.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* An allocator that counts, and fails when told. As the user's code it is called with no lock held (T2). */
static struct {
	size_t blocks, bytes;
	uint64_t calls, fail_at;
} memory;

static void *allocate(void *context, size_t size, size_t align)
{
	void *block;

	(void)context;
	edo_lock_assert_none();
	/* Sanitizers end the process at a size that cannot be had. */
	if (memory.calls++ == memory.fail_at || size > (size_t)1 << 40)
		return NULL;
	block = edo_default_allocator.allocate(NULL, size, align);
	memory.blocks += block != NULL;
	memory.bytes += block ? size : 0;
	return block;
}

static void release(void *context, void *block, size_t size)
{
	(void)context;
	edo_lock_assert_none();
	memory.blocks--;
	memory.bytes -= size;
	edo_default_allocator.release(NULL, block, size);
}

static const edo_allocator counting = { allocate, release, NULL };

static struct edo_cell_pool *pool;

static int begin(void **state)
{
	(void)state;
	memset(&memory, 0, sizeof memory);
	memory.fail_at = EDO_TEST_NEVER;
	pool = edo_cell_pool_create(&counting);
	return pool ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	assert_int_equal(memory.blocks, 0);
	assert_int_equal(memory.bytes, 0);
	return 0;
}

static void close_pool(void)
{
	assert_int_equal(edo_cell_pool_close(pool, NULL, 0), 0);
}

static void every_size_gets_an_aligned_cell_that_holds_it(void **state)
{
	enum { SIZES = 5000 };
	struct edo_task *task;

	(void)state;
	for (int owner = 0; owner < 2; owner++) {
		edo_cell_pool_set_owner(pool, owner ? edo_thread_self() : 0);
		for (size_t size = 0; size < SIZES; size += size < 2100 ? 1 : 97) {
			task = edo_cell_allocate(pool, size);
			assert_non_null(task);
			assert_int_equal((uintptr_t)task % 128, 0);
			memset(edo_task_core(task), 0xa5, size);
			edo_cell_free(pool, task);
		}
	}
	close_pool();
}

static void live_cells_do_not_overlap(void **state)
{
	enum { CELLS = 200 };
	static const size_t sizes[] = { 0, 64, 65, 128, 500, 1984, 1985, 4000 };
	struct edo_task *tasks[CELLS];

	(void)state;
	edo_cell_pool_set_owner(pool, edo_thread_self());
	for (int i = 0; i < CELLS; i++) {
		tasks[i] = edo_cell_allocate(pool, sizes[i % 8]);
		memset(edo_task_core(tasks[i]), i, sizes[i % 8]);
	}
	for (int i = 0; i < CELLS; i++) {
		const unsigned char *core = (void *)edo_task_core(tasks[i]);

		for (size_t at = 0; at < sizes[i % 8]; at++)
			assert_int_equal(core[at], (unsigned char)i);
		edo_cell_free(pool, tasks[i]);
	}
	close_pool();
}

static void a_size_that_overflows_or_cannot_be_had_is_no_memory(void **state)
{
	(void)state;
	assert_null(edo_cell_allocate(pool, SIZE_MAX));
	assert_null(edo_cell_allocate(pool, SIZE_MAX - 63));
	assert_null(edo_cell_allocate(pool, SIZE_MAX - 64));
	assert_null(edo_cell_allocate(pool, SIZE_MAX - 64 - 127));
	assert_null(edo_cell_allocate(pool, (size_t)1 << 62));
	close_pool();
}

static void freed_cells_are_used_again_on_both_sides(void **state)
{
	(void)state;
	for (int owner = 0; owner < 2; owner++) {
		uint64_t calls;

		edo_cell_pool_set_owner(pool, owner ? edo_thread_self() : 0);
		edo_cell_free(pool, edo_cell_allocate(pool, 100));
		calls = memory.calls;
		for (int i = 0; i < 1000; i++)
			edo_cell_free(pool, edo_cell_allocate(pool, 100));
		assert_int_equal(memory.calls, calls);
	}
	close_pool();
}

/* What one side allocates and the other frees must come back to the first: or memory grows for ever. */
static void cells_that_one_side_frees_come_back_to_the_other(void **state)
{
	size_t after_first = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct edo_task *tasks[50];

		edo_cell_pool_set_owner(pool, 0); /* as a foreign thread does */
		for (int i = 0; i < 50; i++)
			tasks[i] = edo_cell_allocate(pool, 100);
		edo_cell_pool_set_owner(pool, edo_thread_self());
		for (int i = 0; i < 50; i++)
			edo_cell_free(pool, tasks[i]);
		if (round == 10)
			after_first = memory.bytes;
	}
	assert_int_equal(memory.bytes, after_first);

	for (int round = 0; round < 200; round++) {
		struct edo_task *tasks[50];

		for (int i = 0; i < 50; i++)
			tasks[i] = edo_cell_allocate(pool, 100);
		edo_cell_pool_set_owner(pool, 0);
		for (int i = 0; i < 50; i++)
			edo_cell_free(pool, tasks[i]);
		edo_cell_pool_set_owner(pool, edo_thread_self());
		if (round == 10)
			after_first = memory.bytes;
	}
	assert_int_equal(memory.bytes, after_first);
	close_pool();
}

/* The same while the owner stays the owner: two threads for good. */
enum { BATCH = 40, BATCHES = 100 };

static struct {
	struct edo_task *tasks[BATCH];
	pthread_barrier_t full, empty;
} exchange;

static void *allocates_batches(void *arg)
{
	(void)arg;
	for (int batch = 0; batch < BATCHES; batch++) {
		for (int i = 0; i < BATCH; i++)
			exchange.tasks[i] = edo_cell_allocate(pool, 200);
		pthread_barrier_wait(&exchange.full);
		pthread_barrier_wait(&exchange.empty);
	}
	return NULL;
}

static void a_foreign_producer_does_not_make_memory_grow(void **state)
{
	pthread_t thread;
	size_t after_first = 0;

	(void)state;
	pthread_barrier_init(&exchange.full, NULL, 2);
	pthread_barrier_init(&exchange.empty, NULL, 2);
	edo_cell_pool_set_owner(pool, edo_thread_self());
	assert_int_equal(pthread_create(&thread, NULL, allocates_batches, NULL), 0);
	for (int batch = 0; batch < BATCHES; batch++) {
		pthread_barrier_wait(&exchange.full);
		for (int i = 0; i < BATCH; i++)
			edo_cell_free(pool, exchange.tasks[i]);
		if (batch == 10)
			after_first = memory.bytes;
		pthread_barrier_wait(&exchange.empty);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&exchange.full);
	pthread_barrier_destroy(&exchange.empty);
	assert_int_equal(memory.bytes, after_first);
	close_pool();
}

/* Which side a cell came from shows in what is left: a chunk holds more than one. */
static void who_is_not_the_owner_leaves_the_owners_cells_alone(void **state)
{
	struct edo_task *own, *foreign;
	uint64_t chunks;

	(void)state;
	edo_cell_pool_set_owner(pool, edo_thread_self());
	own = edo_cell_allocate(pool, 10);
	chunks = memory.calls;
	edo_cell_pool_set_owner(pool, edo_thread_self() + 1);
	foreign = edo_cell_allocate(pool, 10);
	assert_int_equal(memory.calls, chunks + 1);
	edo_cell_free(pool, foreign);
	edo_cell_free(pool, own);
	close_pool();
}

static void the_pool_outlives_its_close_until_the_last_cell(void **state)
{
	enum { SHARED = 0, LOCAL = 1, BIG = 2 };
	struct edo_task *tasks[3];
	void *attached = counting.allocate(NULL, 1000, 16);

	(void)state;
	tasks[SHARED] = edo_cell_allocate(pool, 10);
	edo_cell_pool_set_owner(pool, edo_thread_self());
	tasks[LOCAL] = edo_cell_allocate(pool, 10);
	tasks[BIG] = edo_cell_allocate(pool, 100000);
	assert_int_equal(edo_cell_pool_close(pool, attached, 1000), 3);
	edo_cell_free(pool, tasks[LOCAL]);
	edo_cell_free(pool, tasks[SHARED]);
	memset(attached, 1, 1000); /* it is still there */
	edo_cell_free(pool, tasks[BIG]);
	assert_int_equal(memory.blocks, 0);
}

static void what_is_freed_by_the_wrong_side_is_still_counted(void **state)
{
	struct edo_task *tasks[2];

	(void)state;
	tasks[0] = edo_cell_allocate(pool, 10);
	edo_cell_pool_set_owner(pool, edo_thread_self());
	tasks[1] = edo_cell_allocate(pool, 10);
	edo_cell_free(pool, tasks[0]);
	edo_cell_pool_set_owner(pool, 0);
	edo_cell_free(pool, tasks[1]);
	close_pool();
}

static void every_failed_allocation_is_a_null_and_nothing_else(void **state)
{
	static const size_t sizes[] = { 10, 300, 3000 };

	(void)state;
	for (int owner = 0; owner < 2; owner++)
		for (int i = 0; i < 3; i++) {
			struct edo_cell_pool *fresh;

			memory.calls = 0;
			memory.fail_at = 0;
			assert_null(edo_cell_pool_create(&counting));
			memory.calls = 0;
			memory.fail_at = 1;
			fresh = edo_cell_pool_create(&counting);
			edo_cell_pool_set_owner(fresh, owner ? edo_thread_self() : 0);
			assert_null(edo_cell_allocate(fresh, sizes[i]));
			edo_cell_free(fresh, edo_cell_allocate(fresh, sizes[i]));
			assert_int_equal(edo_cell_pool_close(fresh, NULL, 0), 0);
		}
	memory.fail_at = EDO_TEST_NEVER;
	close_pool();
}

/* Threads that allocate and free all at once, cells going from hand to hand; one of them owns the pool. */
enum { THREADS = 3, EXCHANGES = 20000, PLACES = 64 };

static struct edo_task *places[PLACES]; /* atomic */

static void *exchanges_cells(void *arg)
{
	uint64_t seed = (uintptr_t)arg + 1;

	if (arg == NULL)
		edo_cell_pool_set_owner(pool, edo_thread_self());
	for (unsigned i = 0; i < EXCHANGES / edo_test_slowdown(); i++) {
		struct edo_task *task;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		task = edo_cell_allocate(pool, seed >> 61 ? 100 : 3000);
		memset(edo_task_core(task), (int)(uintptr_t)arg, 100);
		task = __atomic_exchange_n(&places[(seed >> 33) % PLACES], task, __ATOMIC_ACQ_REL);
		if (task)
			edo_cell_free(pool, task);
	}
	if (arg == NULL)
		edo_cell_pool_set_owner(pool, 0);
	return NULL;
}

static void cells_may_be_freed_by_any_thread(void **state)
{
	pthread_t threads[THREADS];
	int left = 0;

	(void)state;
	/* The counting allocator is for one thread. */
	close_pool();
	pool = edo_cell_pool_create(&edo_default_allocator);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, exchanges_cells, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PLACES; i++)
		left += places[i] != NULL;
	assert_int_equal(edo_cell_pool_close(pool, NULL, 0), left);
	for (int i = 0; i < PLACES; i++) {
		if (places[i])
			edo_cell_free(pool, places[i]);
		places[i] = NULL;
	}
}

#define WITH_POOL(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_POOL(every_size_gets_an_aligned_cell_that_holds_it),
	WITH_POOL(live_cells_do_not_overlap),
	WITH_POOL(a_size_that_overflows_or_cannot_be_had_is_no_memory),
	WITH_POOL(freed_cells_are_used_again_on_both_sides),
	WITH_POOL(cells_that_one_side_frees_come_back_to_the_other),
	WITH_POOL(a_foreign_producer_does_not_make_memory_grow),
	WITH_POOL(who_is_not_the_owner_leaves_the_owners_cells_alone),
	WITH_POOL(the_pool_outlives_its_close_until_the_last_cell),
	WITH_POOL(what_is_freed_by_the_wrong_side_is_still_counted),
	WITH_POOL(every_failed_allocation_is_a_null_and_nothing_else),
	WITH_POOL(cells_may_be_freed_by_any_thread),
};

EDO_TEST_MAIN(tests)
