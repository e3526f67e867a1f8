/*
 * The explorer's reduction leaves out only what would repeat something: small random programs are searched
 * with it and naively, every order of their steps, and must show the same outcomes: what was read, what
 * memory held at the end, and whether a run fails. Within a bound on preemptions too, and a wider bound
 * must show no less.
 *
 * Programs come from numbers, so that a failing one can be named: `explore_random 123` looks at that one
 * alone and prints it. EXPLORE=whole looks at more and larger ones.
 */
#include "base/atomic.h"
#include "base/lock.h"
#include "base/sys.h"
#include "explore/engine.h"
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, OPERATIONS = 5, PLACES = 3, LOCKS = 2, TIME = 10 };

/* ---- programs ---- */

enum kind {
	LOAD,
	STORE,
	EXCHANGE,
	FETCH_ADD,
	COMPARE_EXCHANGE,
	PLAIN_LOAD,
	PLAIN_STORE,
	LOCKED,      /* the next operation, under a lock */
	LOCKED_BOTH, /* the same under two, this one first */
	TRIED,       /* the same if a lock is free */
	SLEEP,       /* on a futex, if it holds 0 */
	SLEEP_A_TIME,
	WAKE,
	MOVE_CLOCK,
	READ_CLOCK,
	SPIN, /* until a place is not 0 */
	CHOOSE,
	KINDS
};

struct operation {
	enum kind kind;
	bool is_conditional; /* done only if the thread has read a 0 last */
	unsigned place;      /* or which lock */
	unsigned value, expected;
	enum explore_order order, failure;
};

struct program {
	unsigned number;
	unsigned threads;
	unsigned lengths[THREADS];
	struct operation operations[THREADS][OPERATIONS + 1];
};

/* Programs that have shown a fault of the reduction. */
#define SLEEPS(where, times)                                                                       \
	{                                                                                          \
		.kind = SLEEP_A_TIME, .place = (where), .value = (times)                           \
	}
#define DOES(what, where, number)                                                                  \
	{                                                                                          \
		.kind = (what), .place = (where), .value = (number), .order = EXPLORE_RELAXED      \
	}

static const struct {
	const char *name;
	struct program program;
} found[] = {
	{ "a sleep may begin after the clock was moved",
	  { .threads = 2,
	    .lengths = { 1, 2 },
	    .operations = { { SLEEPS(0, 1) }, { DOES(MOVE_CLOCK, 0, 1), DOES(WAKE, 0, 1) } } } },
	{ "nobody is preempted when time had to pass",
	  { .threads = 2,
	    .lengths = { 2, 2 },
	    .operations = { { SLEEPS(1, 2), DOES(MOVE_CLOCK, 0, 1) },
			    { SLEEPS(0, 2), SLEEPS(0, 2) } } } },
	{ "a block of steps begins when time had to pass",
	  { .threads = 2,
	    .lengths = { 3, 2 },
	    .operations = { { SLEEPS(0, 1), SLEEPS(0, 1), DOES(MOVE_CLOCK, 0, 2) },
			    { SLEEPS(1, 2), SLEEPS(2, 2) } } } },
	{ "who waits for a lock is not preempted",
	  { .threads = 3,
	    .lengths = { 2, 5, 5 },
	    .operations = { { DOES(TRIED, 0, 2), DOES(PLAIN_LOAD, 2, 1) },
			    { DOES(STORE, 2, 1), DOES(TRIED, 1, 2), DOES(STORE, 0, 2),
			      DOES(TRIED, 0, 2), DOES(PLAIN_STORE, 2, 1) },
			    { DOES(TRIED, 1, 1), DOES(LOAD, 0, 1), DOES(LOAD, 0, 1),
			      DOES(LOCKED_BOTH, 0, 1), DOES(LOAD, 0, 2) } } } },
};

/* What drawn ones are made of: one word of letters is drawn, then operations by its letters. */
static const struct {
	const char *name;
	unsigned char kinds[16];
	unsigned count;
} mixtures[] = {
	{ "atomics", { LOAD, LOAD, LOAD, STORE, STORE, EXCHANGE, FETCH_ADD, COMPARE_EXCHANGE }, 8 },
	{ "loads and stores", { LOAD, STORE }, 2 },
	{ "locks",
	  { LOCKED, LOCKED, TRIED, LOAD, STORE, FETCH_ADD, PLAIN_STORE, COMPARE_EXCHANGE },
	  8 },
	{ "two locks", { LOCKED, LOCKED_BOTH, TRIED, TRIED, LOAD, STORE }, 6 },
	{ "publication",
	  { LOAD, LOAD, STORE, STORE, FETCH_ADD, EXCHANGE, PLAIN_LOAD, PLAIN_STORE },
	  8 },
	{ "futex",
	  { SLEEP_A_TIME, WAKE, WAKE, LOAD, STORE, FETCH_ADD, SLEEP_A_TIME, COMPARE_EXCHANGE },
	  8 },
	{ "clock", { SLEEP_A_TIME, SLEEP_A_TIME, WAKE, MOVE_CLOCK, READ_CLOCK, STORE, LOAD }, 7 },
	{ "wake-ups", { SLEEP, WAKE, WAKE, STORE, LOAD, EXCHANGE }, 6 },
	{ "spinning", { SPIN, STORE, STORE, FETCH_ADD, LOAD, CHOOSE }, 6 },
};

enum { MIXTURES = sizeof mixtures / sizeof mixtures[0] };

/* Kept over the runs. */
struct outcomes {
	uint64_t of[1 << 16]; /* a hash table; 0: free */
	unsigned count;
	unsigned runs, most_runs;
	bool is_given_up;
};

struct state {
	struct program program;
	const char *name;
	uint64_t random;
	struct outcomes *noted;
	struct outcomes naive, reduced, bounded, wider;
};

static struct state *state;

static unsigned draw(unsigned below)
{
	state->random ^= state->random << 13;
	state->random ^= state->random >> 7;
	state->random ^= state->random << 17;
	return (unsigned)((state->random >> 20) % below);
}

static const enum explore_order load_orders[] = { EXPLORE_RELAXED, EXPLORE_ACQUIRE,
						  EXPLORE_SEQ_CST };
static const enum explore_order store_orders[] = { EXPLORE_RELAXED, EXPLORE_RELEASE,
						   EXPLORE_SEQ_CST };

static enum explore_order draw_order(enum kind kind)
{
	if (kind == LOAD)
		return load_orders[draw(3)];
	if (kind == STORE)
		return store_orders[draw(3)];
	return (enum explore_order)draw(5);
}

static struct operation draw_operation(const unsigned char *kinds, unsigned count, unsigned places)
{
	struct operation operation = { .kind = (enum kind)kinds[draw(count)] };

	operation.is_conditional = draw(4) == 0;
	operation.place = draw(places);
	operation.value = 1 + draw(2);
	operation.expected = draw(3);
	operation.order = draw_order(operation.kind);
	operation.failure = load_orders[draw(3)];
	return operation;
}

static bool takes_the_next(enum kind kind)
{
	return kind == LOCKED || kind == LOCKED_BOTH || kind == TRIED;
}

/* An operation for a lock is one that does not block. */
static void draw_thread(unsigned thread, unsigned length, unsigned mixture)
{
	static const unsigned char inner[] = { LOAD, STORE, FETCH_ADD, PLAIN_LOAD, PLAIN_STORE };
	struct operation *operations = state->program.operations[thread];
	unsigned places = 2 + draw(PLACES - 1);
	unsigned i = 0;

	while (i < length) {
		operations[i] =
			draw_operation(mixtures[mixture].kinds, mixtures[mixture].count, places);
		if (takes_the_next(operations[i++].kind))
			operations[i++] = draw_operation(inner, 5, places);
	}
	state->program.lengths[thread] = i;
}

/* Two long threads or three short ones: a naive search of more does not end. */
static void draw_program(unsigned number, unsigned more)
{
	unsigned mixture = number % MIXTURES;
	unsigned length;

	memset(&state->program, 0, sizeof state->program);
	state->random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	(void)draw(2);
	state->program.number = number;
	state->name = mixtures[mixture].name;
	state->program.threads = 2 + draw(2);
	length = state->program.threads == 2 ? 2 : 1;
	for (unsigned i = 0; i < state->program.threads; i++)
		draw_thread(i, length + draw(3) + more, mixture);
}

/* ---- running them ---- */

static uint32_t places[PLACES];
static uint32_t plain[PLACES];
static struct edo_lock locks[LOCKS];
static uint64_t reads[THREADS]; /* a number made of all that was read */
static uint32_t last_read[THREADS];

static const struct explore_site site = { "operation", __FILE__, __LINE__ };

static uint32_t compare_exchange(const struct operation *operation)
{
	uint64_t seen = operation->expected;
	bool won = explore_compare_exchange(&places[operation->place], sizeof places[0], &seen,
					    operation->value, operation->order, operation->failure,
					    &site);

	return (uint32_t)seen + (won ? 16 : 0);
}

static uint32_t modify(const struct operation *operation, explore_modifier *modifier)
{
	return (uint32_t)explore_modify(&places[operation->place], sizeof places[0], modifier,
					operation->value, operation->order, &site);
}

static uint32_t load(const struct operation *operation)
{
	return (uint32_t)explore_load(&places[operation->place], sizeof places[0], operation->order,
				      &site);
}

static uint32_t spin(const struct operation *operation)
{
	uint32_t seen;

	while ((seen = load(operation)) == 0)
		edo_sys_cpu_relax();
	return seen;
}

static uint32_t wait_on_futex(const struct operation *operation, uint64_t timeout)
{
	return (uint32_t)-edo_sys_futex_wait(&places[operation->place], 0, timeout);
}

/* Returns what it has read. */
static uint32_t do_simple(const struct operation *operation)
{
	switch (operation->kind) {
	case LOAD:
		return load(operation);
	case STORE:
		explore_store(&places[operation->place], sizeof places[0], operation->value,
			      operation->order, &site);
		return 0;
	case EXCHANGE:
		return modify(operation, explore_exchange);
	case FETCH_ADD:
		return modify(operation, explore_fetch_add);
	case COMPARE_EXCHANGE:
		return compare_exchange(operation);
	case PLAIN_LOAD:
		return plain[operation->place];
	case PLAIN_STORE:
		plain[operation->place] = operation->value;
		return 0;
	case SLEEP:
		return wait_on_futex(operation, UINT64_MAX);
	case SLEEP_A_TIME:
		return wait_on_futex(operation, operation->value * TIME);
	case WAKE:
		return (uint32_t)edo_sys_futex_wake(&places[operation->place],
						    (int)operation->value);
	case MOVE_CLOCK:
		explore_clock_advance(operation->value * TIME);
		return 0;
	case READ_CLOCK:
		return (uint32_t)edo_sys_clock_now(EDO_SYS_MONOTONIC);
	case SPIN:
		return spin(operation);
	default:
		return explore_choose(operation->value + 1);
	}
}

static void note_read(unsigned thread, const struct operation *operation, uint32_t value)
{
	reads[thread] = reads[thread] * UINT64_C(0x100000001b3) + value + 1;
	if (operation->kind != STORE && operation->kind != PLAIN_STORE)
		last_read[thread] = value;
}

static void do_inner(unsigned thread, const struct operation *operation)
{
	note_read(thread, operation, do_simple(operation));
}

static void do_under_locks(unsigned thread, const struct operation *operation)
{
	struct edo_lock *first = &locks[operation->place % LOCKS];
	struct edo_lock *second = &locks[(operation->place + 1) % LOCKS];

	if (operation->kind == TRIED && !edo_lock_try(first, 1)) {
		note_read(thread, operation, 77);
		return;
	}
	if (operation->kind != TRIED)
		edo_lock_acquire(first, 1);
	if (operation->kind == LOCKED_BOTH) {
		edo_lock_acquire(second, 2);
		do_inner(thread, operation + 1);
		edo_lock_release(second, 2);
	} else {
		do_inner(thread, operation + 1);
	}
	edo_lock_release(first, 1);
}

static void do_thread(unsigned thread)
{
	const struct operation *operation = state->program.operations[thread];
	const struct operation *end = operation + state->program.lengths[thread];

	for (; operation < end; operation++) {
		bool is_done = !operation->is_conditional || last_read[thread] == 0;

		if (takes_the_next(operation->kind)) {
			if (is_done)
				do_under_locks(thread, operation);
			operation++;
		} else if (is_done) {
			do_inner(thread, operation);
		}
	}
}

static void first_thread(void *unused)
{
	(void)unused;
	do_thread(0);
}

static void second_thread(void *unused)
{
	(void)unused;
	do_thread(1);
}

static void third_thread(void *unused)
{
	(void)unused;
	do_thread(2);
}

static void run_program(void)
{
	static void (*const threads[THREADS])(void *) = { first_thread, second_thread,
							  third_thread };

	for (unsigned i = 0; i < THREADS && i < state->program.threads; i++)
		explore_start(threads[i], NULL);
	explore_join_all();
}

/* ---- outcomes ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
	return hash ^ (hash >> 32);
}

static uint64_t present_outcome(void)
{
	uint64_t hash = explore_clock();

	for (unsigned i = 0; i < PLACES; i++)
		hash = mix(mix(hash, places[i]), plain[i]);
	for (unsigned i = 0; i < THREADS; i++)
		hash = mix(hash, reads[i]);
	return hash | 1;
}

static unsigned place_of(const struct outcomes *outcomes, uint64_t outcome)
{
	unsigned size = sizeof outcomes->of / sizeof outcomes->of[0];
	unsigned at = (unsigned)(outcome >> 17) % size;

	while (outcomes->of[at] != 0 && outcomes->of[at] != outcome)
		at = (at + 1) % size;
	return at;
}

static bool has(const struct outcomes *outcomes, uint64_t outcome)
{
	return outcomes->of[place_of(outcomes, outcome)] != 0;
}

/* After each run. */
static bool note_outcome(enum explore_outcome verdict)
{
	struct outcomes *noted = state->noted;

	if (verdict != EXPLORE_PASSED)
		return false;
	if (!has(noted, present_outcome())) {
		noted->of[place_of(noted, present_outcome())] = present_outcome();
		noted->count++;
	}
	noted->is_given_up = ++noted->runs == noted->most_runs;
	return !noted->is_given_up;
}

static bool is_part_of(const struct outcomes *part, const struct outcomes *whole)
{
	for (unsigned i = 0; i < sizeof part->of / sizeof part->of[0] && part->count > 0; i++)
		if (part->of[i] != 0 && !has(whole, part->of[i]))
			return false;
	return true;
}

static bool are_equal(const struct outcomes *a, const struct outcomes *b)
{
	return a->count == b->count && is_part_of(a, b);
}

/* ---- the comparison ---- */

struct tally {
	unsigned compared, given_up, failing[EXPLORE_NOT_REPEATABLE + 1], wrong;
	uint64_t runs_naive, runs_reduced, outcomes;
};

static const struct explore_model model = { .name = "a random program", .run = run_program };
static bool is_verbose;

static struct explore_result search(struct outcomes *outcomes, struct explore_bounds bounds,
				    bool is_naive)
{
	struct explore_way way = { .is_naive = is_naive, .ended = note_outcome };
	unsigned most_runs = outcomes->most_runs;

	memset(outcomes, 0, sizeof *outcomes);
	outcomes->most_runs = most_runs;
	state->noted = outcomes;
	return explore_run_by(&model, bounds, way);
}

static bool complain(struct explore_bounds bounds, const char *what)
{
	printf("FAIL program %u (%s), %u preemptions, %u old values: %s\n", state->program.number,
	       state->name, bounds.preemptions, bounds.stale, what);
	return false;
}

/* A verdict that says something about the program, not about the explorer. */
static bool is_verdict(enum explore_outcome outcome)
{
	return outcome != EXPLORE_TOO_LARGE && outcome != EXPLORE_NOT_REPEATABLE;
}

/*
 * Which failure is found first may differ, and what comes after it is not looked at: so a program that
 * can fail must fail by both, and all others must show the same.
 */
static bool compare(struct explore_bounds bounds, struct outcomes *reduced, struct tally *tally)
{
	struct explore_result all = search(&state->naive, bounds, true);
	struct explore_result few;

	if (state->naive.is_given_up) {
		tally->given_up++;
		return true;
	}
	few = search(reduced, bounds, false);
	tally->compared++;
	tally->failing[all.outcome]++;
	tally->runs_naive += all.runs;
	tally->runs_reduced += few.runs + few.cut;
	tally->outcomes += state->naive.count;
	if (is_verbose)
		printf("%s by %llu runs, reduced %s by %llu and %llu cut; outcomes %u and %u\n",
		       explore_outcome_name(all.outcome), (unsigned long long)all.runs,
		       explore_outcome_name(few.outcome), (unsigned long long)few.runs,
		       (unsigned long long)few.cut, state->naive.count, reduced->count);
	if (!is_verdict(all.outcome) || !is_verdict(few.outcome))
		return complain(bounds, "not searched to the end");
	if ((all.outcome == EXPLORE_PASSED) != (few.outcome == EXPLORE_PASSED))
		return complain(bounds, "one of them misses a failure");
	if (all.outcome == EXPLORE_PASSED && !are_equal(&state->naive, reduced))
		return complain(bounds, "the outcomes differ");
	return true;
}

/* Wider and wider, to where the bound forbids nothing. */
static bool compare_bounded(struct tally *tally)
{
	static const unsigned bounds[] = { 0, 1, 2, 20 };
	bool is_right = true;

	memset(&state->bounded, 0, sizeof state->bounded);
	for (unsigned i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
		struct explore_bounds bound = { bounds[i], EXPLORE_ALL };

		is_right &= compare(bound, &state->wider, tally);
		if (state->naive.is_given_up)
			return is_right;
		if (!is_part_of(&state->bounded, &state->wider) && state->wider.count > 0)
			is_right = complain(bound, "less than within a narrower bound");
		state->bounded = state->wider;
	}
	return is_right;
}

static bool check_program(struct tally *tally)
{
	static const struct explore_bounds all = { EXPLORE_ALL, EXPLORE_ALL };
	static const struct explore_bounds one_old_value = { EXPLORE_ALL, 1 };
	unsigned failing = tally->failing[EXPLORE_PASSED];
	bool is_right = compare(all, &state->reduced, tally);

	/* The others would only fail as well. */
	if (tally->failing[EXPLORE_PASSED] == failing)
		return is_right;
	is_right &= compare(one_old_value, &state->wider, tally);
	is_right &= compare_bounded(tally);
	if (!state->naive.is_given_up && !are_equal(&state->reduced, &state->wider))
		is_right = complain(all, "the widest bound shows something else");
	return is_right;
}

/* ---- */

static void print_program(void)
{
	static const char *const names[KINDS] = {
		"load",       "store",        "exchange", "fetch_add",   "compare_exchange",
		"plain load", "plain store",  "locked",   "locked both", "tried",
		"sleep",      "sleep a time", "wake",     "move clock",  "read clock",
		"spin",       "choose"
	};

	for (unsigned i = 0; i < state->program.threads; i++) {
		printf("thread %u:\n", i + 1);
		for (unsigned j = 0; j < state->program.lengths[i]; j++) {
			const struct operation *operation = &state->program.operations[i][j];

			printf("  %s%s at %u, %u, expected %u, order %d, %d\n",
			       operation->is_conditional ? "if 0 was read: " : "",
			       names[operation->kind], operation->place, operation->value,
			       operation->expected, (int)operation->order, (int)operation->failure);
		}
	}
}

static void check_numbers(unsigned first, unsigned end, unsigned more, struct tally *tally)
{
	for (unsigned number = first; number < end; number++) {
		draw_program(number, more);
		if (is_verbose)
			print_program();
		if (!check_program(tally)) {
			tally->wrong++;
			print_program();
		}
	}
}

static void check_found(struct tally *tally)
{
	for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
		state->program = found[i].program;
		state->name = found[i].name;
		tally->wrong += !check_program(tally);
	}
}

/* That something was compared, and that programs fail as often as not. */
static bool is_worth_something(const struct tally *tally)
{
	return tally->given_up * 4 < tally->compared && tally->failing[EXPLORE_PASSED] > 0 &&
	       tally->failing[EXPLORE_DATA_RACE] > 0 && tally->failing[EXPLORE_DEADLOCK] > 0 &&
	       tally->failing[EXPLORE_ENDLESS_LOOP] > 0 && tally->runs_reduced < tally->runs_naive;
}

static void print_tally(const struct tally *tally)
{
	printf("explore: random programs: %u searches compared, %u given up, %u wrong; %llu naive "
	       "runs, %llu reduced, %llu outcomes\n",
	       tally->compared, tally->given_up, tally->wrong,
	       (unsigned long long)tally->runs_naive, (unsigned long long)tally->runs_reduced,
	       (unsigned long long)tally->outcomes);
	for (unsigned i = 0; i <= EXPLORE_NOT_REPEATABLE; i++)
		if (tally->failing[i] > 0)
			printf("explore:   %s: %u\n", explore_outcome_name((enum explore_outcome)i),
			       tally->failing[i]);
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("EXPLORE");
	bool is_whole = wanted && strcmp(wanted, "whole") == 0;
	struct tally tally = { 0 };

	state = explore_pages(sizeof *state);
	if (argc > 1) {
		unsigned number = (unsigned)strtoul(argv[1], NULL, 10);

		is_verbose = true;
		state->naive.most_runs = 1000000;
		check_numbers(number, number + 1, is_whole, &tally);
		return tally.wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	state->naive.most_runs = 200000;
	check_found(&tally);
	state->naive.most_runs = is_whole ? 200000 : 20000;
	check_numbers(0, is_whole ? 6000 : 1500, is_whole, &tally);
	print_tally(&tally);
	return tally.wrong == 0 && is_worth_something(&tally) ? EXIT_SUCCESS : EXIT_FAILURE;
}
