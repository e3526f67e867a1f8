/*
 * Inside the explorer: what its files share.
 *
 *   engine.c   the model's threads: who is where, who goes on
 *   search.c   which way to try next
 *   order.c    clocks, and the conflicts between steps from which search.c learns what to try
 *   memory.c   atomic locations with their histories
 *   races.c    plain accesses
 *   arena.c    allocations
 *   lock.c, sys.c, hooks.c   the doors through which the explored code comes in
 *   report.c   failures, and the printed schedule
 *
 * Each run begins with the program's own variables as they were before the first one (engine.c restores
 * them), so that the library's globals need no care. What the explorer itself must remember
 * therefore lies in pages of its own (explore_pages()).
 *
 * Alone: while no second thread lives, nothing can be done in two orders. Then memory is just memory:
 * no histories, no steps.
 */
#ifndef EDO_TESTS_EXPLORE_ENGINE_H
#define EDO_TESTS_EXPLORE_ENGINE_H

#include "explore/explore.h"
#include "explore/route.h"

#include <string.h>

/* Zeroed pages that a run does not restore. */
void *explore_pages(size_t size);
void *explore_pages_at(uintptr_t address, size_t size);

/* ---- clocks ---- */

/* How much of each thread is known. */
struct clock {
	uint32_t of[EXPLORE_THREADS];
};

static inline void clock_join(struct clock *clock, const struct clock *other)
{
	for (int i = 0; i < EXPLORE_THREADS; i++)
		if (clock->of[i] < other->of[i])
			clock->of[i] = other->of[i];
}

/* ---- memory ---- */

enum { MAX_LOCATIONS = 512 };

/* For each atomic location the oldest store that may still be read: coherence. */
struct view {
	uint16_t oldest[MAX_LOCATIONS];
};

/* What a release hands to the acquire that reads it. */
struct stamp {
	struct clock known;
	unsigned locations;
	uint16_t oldest[];
};

/* ---- steps ---- */

/* What a step does to its object; which of these conflict says order.c. */
enum step_kind {
	STEP_READ,
	STEP_WRITE,
	STEP_ACQUIRE, /* of a lock; not possible while it is held */
	STEP_TRY,
	STEP_RELEASE,
	STEP_CONFLICTING,             /* how many of those above */
	STEP_JOIN = STEP_CONFLICTING, /* possible when all children have ended */
	STEP_MOMENT,                  /* possible when another thread has written */
	STEP_RESUME,                  /* from a futex; possible when woken */
};

struct step {
	enum step_kind kind;
	const void *object;
	const struct explore_site *site;
	bool reads_clock; /* besides */
};

/* ---- threads ---- */

enum { MAX_HELD = 16, LOOKED = 8 };

/* A load: where, and which store it read. */
struct looked {
	const struct location *location;
	unsigned index;
};

struct explore_thread {
	unsigned number;
	bool has_ended;
	struct step next; /* announced, not done */
	void *sp;
	void (*run)(void *argument);
	void *argument;
	unsigned children; /* a bit each, not joined yet */
	char *locals;      /* its copy of the section of thread-locals, while another runs */

	struct clock known;  /* C11's happens-before */
	struct clock before; /* dependence: which steps cannot be moved behind its next one */
	struct view view;
	uint64_t writes_seen;         /* when it began to wait a moment */
	struct looked looked[LOOKED]; /* its last loads since it waited before */
	unsigned looked_count;
	struct explore_thread *starter; /* until its first step */

	/* on a futex */
	const void *futex; /* NULL: on none */
	bool is_woken;
	uint64_t deadline; /* UINT64_MAX: none */
	unsigned turn;     /* order of arrival */
	int outcome;

	unsigned held[MAX_HELD]; /* ranks */
	unsigned held_count;
};

/* One object that steps meet at: an atomic location, a lock, the clock. */
struct meeting {
	const void *object;
	uint32_t run;
	uint16_t last[EXPLORE_THREADS][STEP_CONFLICTING]; /* event number + 1 */
	struct clock before[STEP_CONFLICTING];
	/* locks */
	int holder;                   /* thread number + 1 */
	const struct stamp *released; /* in the era in which it was */
	uint32_t era;
};

/* Inside one run; engine.c. */
struct engine {
	struct explore_thread threads[EXPLORE_THREADS];
	unsigned count;
	struct explore_thread *self;
	bool is_alone;
	uint64_t writes; /* so far, for those who wait a moment */
	uint64_t clock;
	unsigned futex_turn;
	unsigned stale_left;
	unsigned interruptions_left;
	bool spins_in_vain;
	/* of the whole search */
	uint32_t run;
	bool is_tracing;
	struct explore_bounds bounds;
	struct explore_way way;
	const struct explore_model *model;
	void *native_sp;
	enum explore_outcome outcome;
	bool is_cut;
	char reason[512];
};

extern struct engine *engine;

/*
 * Announces a step, lets others go first if the search wants so, and returns when it is this thread's to
 * do. Nothing when alone.
 */
void engine_step(enum step_kind kind, const void *object, const struct explore_site *site);
/* The same for one that another outcome would have had before or after the clock is moved. */
void engine_step_in_time(enum step_kind kind, const void *object, const struct explore_site *site);
/* Ends the run. */
_Noreturn void engine_fail(enum explore_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Ends the run because it would repeat another. */
_Noreturn void engine_cut(void);
/* Wakes those who wait on a futex with a time-out that has passed, by what the present thread has done. */
void engine_expire(void);
bool engine_can_go_on(const struct explore_thread *thread);

/* Once a program, then for each run: returns when it has ended, failed or been cut. */
void engine_begin(void);
void engine_run_once(void);

/* ---- order.c ---- */

void order_begin(void);
/* The step that its thread announced is done now: tells the search of conflicts, joins clocks. */
void order_event(struct explore_thread *thread);
struct meeting *order_meeting(const void *object);
/* Before time passes, for a thread that is blocked. */
void order_before_time_passes(struct explore_thread *thread);
bool order_are_independent(const struct step *a, const struct step *b);
/*
 * Event `number` conflicts with the one just done: who could go first instead. The threads (bits) whose
 * first step among those that do not depend on the event has nothing before it.
 */
unsigned order_initials(unsigned number);

/* ---- search.c ---- */

/* What one choice can be of: a replay writes it as one digit. */
enum { SEARCH_VALUES = 36 };

void search_begin(void);
void search_begin_run(void);
/* Which of `possible` (bits) goes on; `current` is who went last, EXPLORE_THREADS: nobody. Does not return when the run is cut. */
unsigned search_pick(unsigned possible, unsigned current);
/* What has just been done: who may sleep on. */
void search_done(const struct explore_thread *thread);
unsigned search_choose(unsigned n);
/* Event `number` and what `thread` has just done could come the other way round. */
void search_reverse(unsigned number, const struct explore_thread *thread);
/* What `thread` has just done was not possible before event `number`: it could have begun to wait. */
void search_wait_before(unsigned number, const struct explore_thread *thread);
/* Prepares the next run; false: all has been tried. */
bool search_next(void);
unsigned search_depth(void);
size_t search_print(char *line, size_t size);
/* The choices of the next run, as search_print() wrote them. */
void search_replay(const char *line);
/* The same run once more. */
void search_repeat(void);

/* ---- memory.c ---- */

void memory_begin(void);
/* Back to plain memory: all that was stored happened before what comes. */
/* How often it was settled; stamps are valid in one era. */
uint32_t memory_era(void);
void memory_settle(void);
/* All that the thread knows and has done; what it does from now on is not in it. */
const struct stamp *memory_stamp(struct explore_thread *thread);
void memory_join(struct explore_thread *thread, const struct stamp *stamp);
/* A plain store to `place` is about to be made. */
void memory_plain_store(const void *place);
/* Whether something that it looked at has been stored to since. */
bool memory_has_newer(const struct explore_thread *thread);
/* After a moment: what it looked at shows the newest store. */
void memory_catch_up(struct explore_thread *thread);
/* What is there, for the futex: the system reads it for this thread, which then reads nothing older. */
uint64_t memory_newest(const volatile void *place, size_t size);

/* ---- races.c ---- */

void races_begin(void);
void races_plain(const void *place, size_t size, bool is_write, const void *caller);
void races_atomic(const void *place, size_t size, bool is_write, const struct explore_site *site);

/* ---- arena.c ---- */

void arena_begin(void);
void arena_check(const void *place, size_t size, const char *what, const void *caller);
bool arena_has(const void *place);
/* Fails the run when something is left. */
void arena_check_leaks(void);

/* ---- report.c ---- */

/* Around the run that is printed. */
void report_begin(void);
void report_end(void);
void report_trace(const struct explore_site *site, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Without the folders above the tree. */
const char *report_short_name(const char *file);
/* "function at file:line" of an address in the program. */
void report_caller(const void *caller, char *text, size_t size);

#endif
