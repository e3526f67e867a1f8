/*
 * The explorer: runs a small concurrent test in every way in which its threads can interleave.
 *
 * A model is a function that sets something up, starts a few threads, joins them and checks. Its threads
 * are contexts on one thread of the system; the explorer lets one of them go on at a time, and at
 * each visible step (an atomic operation, a lock, a futex, a join) decides which, and which of the values
 * that the C11 memory model allows a load gets. It runs the model again and again until each
 * combination that can make a difference has been seen (search.c), within the model's bounds.
 *
 * The code under test is the library's own, compiled with two things changed, neither in its text:
 *  - route/ stands before src/ in the search for headers, so that atomics, locks, poisoning and
 *    thread-locals come here (memory.c, lock.c, arena.c);
 *  - the compiler's hooks for a race detector (-fsanitize=thread, its run-time library left out) tell of
 *    every plain access (hooks.c), which must be ordered by what the atomics and locks promise.
 * The door to the operating system is sys.c's, where futexes and the clock belong to the explorer too.
 *
 * Found: a failed check or assertion of the library, a data race on plain memory, use of freed or
 * poisoned memory, a leak, a double free, a lock out of rank or held where none may be, a deadlock (a
 * lost wake-up is one), a loop that waits for nobody. The failing schedule is printed, and a line that
 * replays it.
 *
 * Not found: what needs a load to see a store that is made later (load buffering), or the stores of two
 * threads to two locations in an order that contradicts both programs (2+2W): modification order is the
 * order in which stores are made. Nor what needs a cycle of program order, reads, modification order and the
 * order of sequentially consistent operations together (Z6.U and its kin). All are legal in C11 and none is
 * known to matter to code whose loads acquire. And of course what the model does not do.
 */
#ifndef EDO_TESTS_EXPLORE_H
#define EDO_TESTS_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPLORE_THREADS = 6, EXPLORE_ALL = 1000000 };

/*
 * How much is tried. preemptions: how often a thread that could go on is made to wait for another;
 * EXPLORE_ALL: any number, and then steps that do not depend on each other are tried in one order
 * only. stale: how many loads of a run may return something else than the newest value.
 */
struct explore_bounds {
	unsigned preemptions;
	unsigned stale;
};

struct explore_model {
	const char *name; /* reads as a sentence */
	void (*run)(void);
	struct explore_bounds usual; /* in every run of the tests */
	struct explore_bounds whole; /* make explore */
};

/* ---- what a model calls ---- */

/* Starts a thread; what the caller has done happens before it. */
void explore_start(void (*run)(void *argument), void *argument);
/* Waits for all threads that this one has started; what they did happens before it returns. */
void explore_join_all(void);

#define explore_check(condition)                                                                   \
	((condition) ? (void)0 : explore_check_failed(#condition, __FILE__, __LINE__))
void explore_check_failed(const char *condition, const char *file, int line);

/* The present of the clock that edo_sys_clock_now() reads, in ns. It moves when nothing else can, to the
 * next time-out that somebody waits for, and by this. */
void explore_clock_advance(uint64_t ns);
uint64_t explore_clock(void);
/* From now on each wait on a futex may also end for no reason, this often in a run. */
void explore_interruptions(unsigned most);
/* From now on edo_sys_cpu_relax() waits for nobody: for loops that give up after some rounds. */
void explore_spin_in_vain(void);
/* One of n, each tried. */
unsigned explore_choose(unsigned n);
/* A moment in a loop that waits for another thread: does not come back before that has done something. */
void explore_wait_a_moment(void);

/* ---- what runs models ---- */

enum explore_outcome {
	EXPLORE_PASSED,
	EXPLORE_CHECK_FAILED,
	EXPLORE_DATA_RACE,
	EXPLORE_BAD_MEMORY, /* freed, freed twice, poisoned */
	EXPLORE_LEAK,
	EXPLORE_LOCK_MISUSE,
	EXPLORE_DEADLOCK,
	EXPLORE_ENDLESS_LOOP,
	EXPLORE_TOO_LARGE, /* the explorer's own tables are full */
	EXPLORE_NOT_REPEATABLE,
};

struct explore_result {
	enum explore_outcome outcome;
	uint64_t runs;    /* to their end */
	uint64_t cut;     /* given up on the way, because they would repeat another */
	unsigned deepest; /* steps */
	double seconds;
	char reason[512]; /* what failed; empty when nothing did */
};

/* Runs one model within bounds. Prints nothing; with `print` the failing schedule. */
struct explore_result explore_run(const struct explore_model *model, struct explore_bounds bounds,
				  bool print);

/* For the explorer's own tests: how the same choices are walked otherwise. */
struct explore_way {
	bool is_naive; /* tries every order of steps, also where it can make no difference */
	/* After each run that came to its end, well or not: whether to go on. May be NULL. */
	bool (*ended)(enum explore_outcome outcome);
};

struct explore_result explore_run_by(const struct explore_model *model,
				     struct explore_bounds bounds, struct explore_way way);
const char *explore_outcome_name(enum explore_outcome outcome);

/*
 * The main of a program of models: all must pass. Arguments select by parts of names. EXPLORE=whole takes
 * the wider bounds; EXPLORE=rejected demands that each fails by a fault of its own, for sources that were
 * broken on purpose; EXPLORE_REPLAY is the line that a failure has printed.
 */
int explore_main(int argc, char **argv, const struct explore_model *models, size_t count);

#define EXPLORE_MAIN(models)                                                                       \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return explore_main(argc, argv, (models), sizeof(models) / sizeof((models)[0]));   \
	}

#endif
