/*
 * Atomic memory as C11 has it: a location is not a value but a history of stores, and a load may return
 * any of them that coherence and what its thread knows leave over.
 *
 * The history is the modification order: stores come in the order in which they are made. `view` says for
 * each thread which store of a location is the oldest it may still read: the newest it has read or
 * made itself, or knows of because somebody who knew released what it then acquired. A store with
 * release carries a stamp, all that its thread knew; a read-modify-write passes the stamp of what it
 * replaced on (a release sequence, as C++20 has it: read-modify-writes only). Sequentially consistent
 * operations are made in one order, the order of the run: a load among them reads nothing older than the
 * newest such store. (The views after Kang and others, POPL 2017.)
 *
 * The newest value also stands in the memory itself, so that plain accesses, which must be ordered
 * anyway (races.c), find it; a plain store to a location becomes part of its history at the next
 * atomic access.
 */
#include "explore/engine.h"

enum { MAX_STORES = 16384, STAMP_BYTES = 16 << 20, TABLE = 2048 };

struct store {
	uint64_t value;
	unsigned index; /* in the history, from 0 */
	const struct store *before;
	const struct stamp *stamp; /* NULL: nothing was released */
};

struct location {
	const volatile void *place;
	size_t size;
	unsigned number; /* its place in views */
	const struct store *newest;
	unsigned newest_consistent; /* index of the newest sequentially consistent store */
	bool is_stored_plainly;     /* since the newest store */
};

struct memory {
	uint32_t settled; /* how often: an entry of the table is valid for one value of it */
	struct {
		uint32_t settled;
		uint32_t number;
	} table[TABLE];
	struct location locations[MAX_LOCATIONS];
	unsigned location_count;
	struct store stores[MAX_STORES];
	unsigned store_count;
	char stamps[STAMP_BYTES];
	size_t stamps_used;
};

static struct memory *memory;

void memory_begin(void)
{
	if (!memory)
		memory = explore_pages(sizeof *memory);
	memory_settle();
}

void memory_settle(void)
{
	memory->settled++;
	memory->location_count = 0;
	memory->store_count = 0;
	memory->stamps_used = 0;
	if (!engine->self)
		return;
	memset(&engine->self->view, 0, sizeof engine->self->view);
	engine->self->looked_count = 0;
}

uint32_t memory_era(void)
{
	return memory->settled;
}

/* ---- plain memory ---- */

static uint64_t read_plainly(const volatile void *place, size_t size)
{
	switch (size) {
	case 1:
		return *(const volatile uint8_t *)place;
	case 2:
		return *(const volatile uint16_t *)place;
	case 4:
		return *(const volatile uint32_t *)place;
	default:
		return *(const volatile uint64_t *)place;
	}
}

static void write_plainly(volatile void *place, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(volatile uint8_t *)place = (uint8_t)value;
		return;
	case 2:
		*(volatile uint16_t *)place = (uint16_t)value;
		return;
	case 4:
		*(volatile uint32_t *)place = (uint32_t)value;
		return;
	default:
		*(volatile uint64_t *)place = value;
	}
}

static uint64_t cut_to(size_t size, uint64_t value)
{
	return size == 8 ? value : value & ((UINT64_C(1) << (8 * size)) - 1);
}

/* ---- stamps ---- */

const struct stamp *memory_stamp(struct explore_thread *thread)
{
	size_t size = sizeof(struct stamp) + memory->location_count * sizeof(uint16_t);
	struct stamp *stamp = (void *)(memory->stamps + memory->stamps_used);

	size = (size + 7) & ~(size_t)7;
	if (memory->stamps_used + size > STAMP_BYTES)
		engine_fail(EXPLORE_TOO_LARGE, "more stamps than fit");
	memory->stamps_used += size;
	stamp->known = thread->known;
	stamp->locations = memory->location_count;
	memcpy(stamp->oldest, thread->view.oldest, stamp->locations * sizeof(uint16_t));
	thread->known.of[thread->number]++;
	return stamp;
}

void memory_join(struct explore_thread *thread, const struct stamp *stamp)
{
	if (!stamp)
		return;
	clock_join(&thread->known, &stamp->known);
	for (unsigned i = 0; i < stamp->locations; i++)
		if (thread->view.oldest[i] < stamp->oldest[i])
			thread->view.oldest[i] = stamp->oldest[i];
}

/* What a read-modify-write releases: what it replaced has released, and its own if it does. */
static const struct stamp *both_stamps(struct explore_thread *thread, const struct stamp *replaced,
				       bool releases)
{
	struct explore_thread sum;

	if (!releases)
		return replaced;
	if (!replaced)
		return memory_stamp(thread);
	sum.number = thread->number;
	sum.known = thread->known;
	sum.view = thread->view;
	memory_join(&sum, replaced);
	thread->known.of[thread->number]++;
	return memory_stamp(&sum);
}

/* ---- histories ---- */

static void push_store(struct location *location, uint64_t value, const struct stamp *stamp)
{
	struct store *store = &memory->stores[memory->store_count];

	if (memory->store_count == MAX_STORES)
		engine_fail(EXPLORE_TOO_LARGE, "more than %d stores", MAX_STORES);
	memory->store_count++;
	*store = (struct store){ .value = value,
				 .index = location->newest ? location->newest->index + 1 : 0,
				 .before = location->newest,
				 .stamp = stamp };
	location->newest = store;
}

static struct location *add_location(const volatile void *place, size_t size)
{
	struct location *location = &memory->locations[memory->location_count];

	if (memory->location_count == MAX_LOCATIONS)
		engine_fail(EXPLORE_TOO_LARGE, "more than %d locations", MAX_LOCATIONS);
	*location = (struct location){ .place = place,
				       .size = size,
				       .number = memory->location_count++ };
	push_store(location, read_plainly(place, size), NULL);
	return location;
}

/* NULL, with *free saying where it would stand in the table. */
static struct location *find_location(const volatile void *place, size_t *free)
{
	size_t hash = (size_t)(((uintptr_t)place * UINT64_C(0x9e3779b97f4a7c15)) >> 40);

	for (;; hash++) {
		size_t entry = hash % TABLE;
		struct location *location = &memory->locations[memory->table[entry].number];

		*free = entry;
		if (memory->table[entry].settled != memory->settled)
			return NULL;
		if (location->place == place)
			return location;
	}
}

static struct location *location_of(const volatile void *place, size_t size)
{
	size_t free;
	struct location *location = find_location(place, &free);

	if (!location) {
		location = add_location(place, size);
		memory->table[free].settled = memory->settled;
		memory->table[free].number = location->number;
	}
	if (location->size != size)
		engine_fail(EXPLORE_CHECK_FAILED, "an atomic is used in two sizes");
	if (location->is_stored_plainly) {
		location->is_stored_plainly = false;
		push_store(location, read_plainly(place, size), NULL);
	}
	return location;
}

/* The value is not there yet; whoever knows of this store may read nothing older. */
void memory_plain_store(const void *place)
{
	size_t free;
	struct location *location = find_location(place, &free);

	if (!location)
		return;
	location->is_stored_plainly = true;
	engine->self->view.oldest[location->number] = (uint16_t)(location->newest->index + 1);
}

/* ---- what may be read ---- */

static bool is_consistent(enum explore_order order)
{
	return order == EXPLORE_SEQ_CST;
}

static bool acquires(enum explore_order order)
{
	return order == EXPLORE_ACQUIRE || order == EXPLORE_ACQ_REL || order == EXPLORE_SEQ_CST;
}

static bool releases(enum explore_order order)
{
	return order == EXPLORE_RELEASE || order == EXPLORE_ACQ_REL || order == EXPLORE_SEQ_CST;
}

static unsigned oldest_readable(const struct location *location, enum explore_order order)
{
	unsigned oldest = engine->self->view.oldest[location->number];

	if (is_consistent(order) && oldest < location->newest_consistent)
		oldest = location->newest_consistent;
	return oldest;
}

static void remember_look(struct explore_thread *thread, const struct location *location,
			  const struct store *store)
{
	for (unsigned i = 0; i < LOOKED && i < thread->looked_count; i++) {
		if (thread->looked[i].location != location)
			continue;
		thread->looked[i].index = store->index;
		return;
	}
	thread->looked[thread->looked_count++ % LOOKED] = (struct looked){ location, store->index };
}

static uint64_t read_store(struct location *location, const struct store *store,
			   enum explore_order order)
{
	struct explore_thread *self = engine->self;

	if (store != location->newest)
		engine->stale_left--;
	if (self->view.oldest[location->number] < store->index)
		self->view.oldest[location->number] = (uint16_t)store->index;
	if (acquires(order))
		memory_join(self, store->stamp);
	remember_look(self, location, store);
	return store->value;
}

/*
 * One of the stores that can be read, newest first; those that hold `unwanted` are left out but for the
 * newest (a compare-and-swap that finds what it expected in an older store has not failed).
 */
static const struct store *choose_store(const struct location *location, enum explore_order order,
					const uint64_t *unwanted)
{
	const struct store *readable[SEARCH_VALUES];
	unsigned oldest = oldest_readable(location, order);
	unsigned count = 0;

	for (const struct store *store = location->newest; store && store->index >= oldest;
	     store = store->before) {
		if (count > 0 && unwanted && store->value == *unwanted)
			continue;
		if (count == SEARCH_VALUES)
			engine_fail(EXPLORE_TOO_LARGE, "a load may return more than %d values",
				    SEARCH_VALUES);
		readable[count++] = store;
		if (engine->stale_left == 0)
			break;
	}
	if (count == 0)
		engine_fail(EXPLORE_NOT_REPEATABLE, "a load finds no store");
	return readable[search_choose(count)];
}

bool memory_has_newer(const struct explore_thread *thread)
{
	for (unsigned i = 0; i < LOOKED && i < thread->looked_count; i++)
		if (thread->looked[i].location->newest->index != thread->looked[i].index)
			return true;
	return false;
}

void memory_catch_up(struct explore_thread *thread)
{
	for (unsigned i = 0; i < LOOKED && i < thread->looked_count; i++) {
		const struct location *location = thread->looked[i].location;

		thread->view.oldest[location->number] = (uint16_t)location->newest->index;
	}
	thread->looked_count = 0;
}

uint64_t memory_newest(const volatile void *place, size_t size)
{
	size_t free;
	const struct location *location = find_location(place, &free);

	if (location)
		engine->self->view.oldest[location->number] = (uint16_t)location->newest->index;
	return read_plainly(place, size);
}

/* ---- operations ---- */

static void check_place(const volatile void *place, size_t size, const struct explore_site *site)
{
	arena_check((const void *)place, size, site->text, NULL);
}

uint64_t explore_load(const volatile void *place, size_t size, enum explore_order order,
		      const struct explore_site *site)
{
	struct location *location;
	uint64_t value;

	if (!engine->is_alone)
		engine_step(STEP_READ, (const void *)place, site);
	check_place(place, size, site);
	if (engine->is_alone)
		return read_plainly(place, size);
	location = location_of(place, size);
	races_atomic((const void *)place, size, false, site);
	value = read_store(location, choose_store(location, order, NULL), order);
	report_trace(site, "-> %#llx%s", (unsigned long long)value,
		     value == location->newest->value ? "" : ", an older value");
	return value;
}

static void write_store(struct location *location, uint64_t value, const struct stamp *stamp,
			enum explore_order order)
{
	push_store(location, cut_to(location->size, value), stamp);
	engine->self->view.oldest[location->number] = (uint16_t)location->newest->index;
	if (is_consistent(order))
		location->newest_consistent = location->newest->index;
	write_plainly((volatile void *)(uintptr_t)location->place, location->size, value);
	engine->writes++;
	remember_look(engine->self, location, location->newest);
}

/* The store itself is part of what it releases. */
static const struct stamp *stamp_of_store(struct location *location)
{
	struct explore_thread *self = engine->self;

	self->view.oldest[location->number] = (uint16_t)(location->newest->index + 1);
	return memory_stamp(self);
}

void explore_store(volatile void *place, size_t size, uint64_t value, enum explore_order order,
		   const struct explore_site *site)
{
	struct location *location;

	if (!engine->is_alone)
		engine_step(STEP_WRITE, (const void *)place, site);
	check_place(place, size, site);
	if (engine->is_alone) {
		write_plainly(place, size, value);
		return;
	}
	location = location_of(place, size);
	races_atomic((const void *)place, size, true, site);
	write_store(location, value, releases(order) ? stamp_of_store(location) : NULL, order);
	report_trace(site, "= %#llx", (unsigned long long)cut_to(size, value));
}

uint64_t explore_exchange(uint64_t before, uint64_t operand)
{
	(void)before;
	return operand;
}

uint64_t explore_fetch_add(uint64_t before, uint64_t operand)
{
	return before + operand;
}

uint64_t explore_fetch_sub(uint64_t before, uint64_t operand)
{
	return before - operand;
}

uint64_t explore_fetch_or(uint64_t before, uint64_t operand)
{
	return before | operand;
}

uint64_t explore_fetch_and(uint64_t before, uint64_t operand)
{
	return before & operand;
}

uint64_t explore_fetch_xor(uint64_t before, uint64_t operand)
{
	return before ^ operand;
}

/* Reads the newest store, always, and puts `value` right behind it. */
static void replace_newest(struct location *location, uint64_t value, enum explore_order order)
{
	const struct stamp *replaced = location->newest->stamp;
	struct explore_thread *self = engine->self;

	(void)read_store(location, location->newest, order);
	self->view.oldest[location->number] = (uint16_t)(location->newest->index + 1);
	write_store(location, value, both_stamps(self, replaced, releases(order)), order);
}

uint64_t explore_modify(volatile void *place, size_t size, explore_modifier *modifier,
			uint64_t operand, enum explore_order order, const struct explore_site *site)
{
	struct location *location;
	uint64_t before;

	if (!engine->is_alone)
		engine_step(STEP_WRITE, (const void *)place, site);
	check_place(place, size, site);
	if (engine->is_alone) {
		before = read_plainly(place, size);
		write_plainly(place, size, modifier(before, operand));
		return before;
	}
	location = location_of(place, size);
	races_atomic((const void *)place, size, true, site);
	before = location->newest->value;
	replace_newest(location, modifier(before, operand), order);
	report_trace(site, "%#llx -> %#llx", (unsigned long long)before,
		     (unsigned long long)location->newest->value);
	return before;
}

static bool compare_exchange_alone(volatile void *place, size_t size, uint64_t *expected,
				   uint64_t desired)
{
	uint64_t seen = read_plainly(place, size);
	bool won = seen == *expected;

	if (won)
		write_plainly(place, size, desired);
	*expected = seen;
	return won;
}

bool explore_compare_exchange(volatile void *place, size_t size, uint64_t *expected,
			      uint64_t desired, enum explore_order success,
			      enum explore_order failure, const struct explore_site *site)
{
	struct location *location;
	const struct store *store;

	*expected = cut_to(size, *expected);
	if (!engine->is_alone)
		engine_step(STEP_WRITE, (const void *)place, site);
	check_place(place, size, site);
	if (engine->is_alone)
		return compare_exchange_alone(place, size, expected, desired);
	location = location_of(place, size);
	store = choose_store(location, failure, expected);
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a location has a store from the start. */
	if (store == location->newest && store->value == *expected) {
		races_atomic((const void *)place, size, true, site);
		replace_newest(location, desired, success);
		report_trace(site, "won: %#llx -> %#llx", (unsigned long long)*expected,
			     (unsigned long long)location->newest->value);
		return true;
	}
	races_atomic((const void *)place, size, false, site);
	*expected = read_store(location, store, failure);
	report_trace(site, "lost to %#llx", (unsigned long long)*expected);
	return false;
}
