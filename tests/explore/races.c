/*
 * Data races: two accesses to the same memory by two threads, at least one of them a plain one and at
 * least one a store, of which neither happens before the other. Told by clocks, so it does not
 * matter in which order this run happened to make them (FastTrack: Flanagan and Freund, PLDI 2009).
 *
 * Memory is watched in granules of 8 bytes; each keeps a record for every (offset, size) with which it has
 * been accessed, mostly one.
 */
#include "explore/engine.h"
#include <stdio.h>

enum { GRANULES = 1 << 15, RECORDS = 1 << 15 };

/* Of each thread the last access of each sort: its clock then, 0 for none. */
struct record {
	struct record *next;
	uint8_t offset, size;
	uint32_t plain_reads[EXPLORE_THREADS];
	uint32_t plain_writes[EXPLORE_THREADS];
	uint32_t atomic_reads[EXPLORE_THREADS];
	uint32_t atomic_writes[EXPLORE_THREADS];
	/* of the last plain access, and of the last atomic one */
	const void *caller;
	const struct explore_site *site;
};

struct granule {
	uintptr_t number;
	uint64_t age; /* which beginning it belongs to */
	struct record *records;
	bool has_atomic;
};

struct races {
	uint64_t age;
	struct granule granules[GRANULES];
	struct record records[RECORDS];
	unsigned record_count;
};

static struct races *races;

void races_begin(void)
{
	if (!races)
		races = explore_pages(sizeof *races);
	races->age++;
	races->record_count = 0;
}

static struct granule *granule_of(uintptr_t number)
{
	size_t hash = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 45);

	for (size_t tried = 0; tried < GRANULES; tried++) {
		struct granule *granule = &races->granules[(hash + tried) % GRANULES];

		if (granule->age != races->age) {
			*granule = (struct granule){ .number = number, .age = races->age };
			return granule;
		}
		if (granule->number == number)
			return granule;
	}
	engine_fail(EXPLORE_TOO_LARGE, "more than %d granules", GRANULES);
}

static struct record *record_of(struct granule *granule, unsigned offset, unsigned size)
{
	struct record *record;

	for (record = granule->records; record; record = record->next)
		if (record->offset == offset && record->size == size)
			return record;
	if (races->record_count == RECORDS)
		engine_fail(EXPLORE_TOO_LARGE, "more than %d records", RECORDS);
	record = &races->records[races->record_count++];
	memset(record, 0, sizeof *record);
	record->offset = (uint8_t)offset;
	record->size = (uint8_t)size;
	record->next = granule->records;
	granule->records = record;
	return record;
}

/* Whether another thread made such an access that does not happen before the present. */
static bool is_unordered(const uint32_t made[EXPLORE_THREADS])
{
	const struct explore_thread *self = engine->self;

	for (unsigned i = 0; i < engine->count; i++)
		if (i != self->number && made[i] > self->known.of[i])
			return true;
	return false;
}

static const char *conflict(const struct record *record, bool is_plain, bool is_write)
{
	if (is_unordered(record->plain_writes))
		return "plain store";
	if (is_write && is_unordered(record->plain_reads))
		return "plain load";
	if (is_plain && (is_unordered(record->atomic_writes) ||
			 (is_write && is_unordered(record->atomic_reads))))
		return record->site->text;
	return NULL;
}

static bool overlap(const struct record *record, unsigned offset, unsigned size)
{
	return record->offset < offset + size && offset < record->offset + record->size;
}

/* Where an access was made: an atomic one says so itself. */
static void locate(const char *what, const struct explore_site *site, const void *caller,
		   char *text, size_t size)
{
	if (site && what == site->text)
		(void)snprintf(text, size, "%s:%d", report_short_name(site->file), site->line);
	else
		report_caller(caller, text, size);
}

static _Noreturn void fail(const struct record *record, const char *other, const char *this,
			   const struct explore_site *site, const void *caller)
{
	char here[160], there[160];

	locate(this, site, caller, here, sizeof here);
	locate(other, record->site, record->caller, there, sizeof there);
	engine_fail(EXPLORE_DATA_RACE, "thread %u: %s (%s) and another thread's %s (%s)",
		    engine->self->number, this, here, other, there);
}

static void check_records(const struct granule *granule, unsigned offset, unsigned size,
			  bool is_write, const struct explore_site *site, const void *caller)
{
	const char *plain = is_write ? "plain store" : "plain load";

	for (const struct record *record = granule->records; record; record = record->next) {
		const char *other;

		if (!overlap(record, offset, size))
			continue;
		other = conflict(record, site == NULL, is_write);
		if (other)
			fail(record, other, site ? site->text : plain, site, caller);
	}
}

static void tell_memory(const struct granule *granule, unsigned offset, unsigned size)
{
	for (const struct record *record = granule->records; record; record = record->next)
		if (overlap(record, offset, size))
			memory_plain_store((const char *)(granule->number * 8) + record->offset);
}

static void plain_in_granule(uintptr_t number, unsigned offset, unsigned size, bool is_write,
			     const void *caller)
{
	struct granule *granule = granule_of(number);
	const struct explore_thread *self = engine->self;
	struct record *record;

	check_records(granule, offset, size, is_write, NULL, caller);
	record = record_of(granule, offset, size);
	record->caller = caller;
	if (is_write)
		record->plain_writes[self->number] = self->known.of[self->number];
	else
		record->plain_reads[self->number] = self->known.of[self->number];
	if (is_write && granule->has_atomic)
		tell_memory(granule, offset, size);
}

void races_plain(const void *place, size_t size, bool is_write, const void *caller)
{
	uintptr_t address = (uintptr_t)place;

	while (size > 0) {
		unsigned offset = address % 8;
		unsigned here = size < 8 - offset ? (unsigned)size : 8 - offset;

		plain_in_granule(address / 8, offset, here, is_write, caller);
		address += here;
		size -= here;
	}
}

/* Atomics are aligned, so they lie in one granule. */
void races_atomic(const void *place, size_t size, bool is_write, const struct explore_site *site)
{
	uintptr_t address = (uintptr_t)place;
	struct granule *granule = granule_of(address / 8);
	const struct explore_thread *self = engine->self;
	struct record *record;

	check_records(granule, address % 8, (unsigned)size, is_write, site, NULL);
	record = record_of(granule, address % 8, (unsigned)size);
	record->site = site;
	granule->has_atomic = true;
	if (is_write)
		record->atomic_writes[self->number] = self->known.of[self->number];
	else
		record->atomic_reads[self->number] = self->known.of[self->number];
}
