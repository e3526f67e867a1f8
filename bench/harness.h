/*
 * What every benchmark program shares: parameters, repetitions, one line of JSON a workload.
 *
 *     edo-bench WORKLOAD... [key=value ...]     edo-bench list
 *
 * A workload sets up, then measures while bench_repeats() says so: one warm-up, whose figures are
 * dropped, and at least five counted repetitions (`repetitions=`), and records figures as it goes:
 *
 *     uint64_t n = bench_number(bench, "n", 100000);
 *     ...
 *     while (bench_repeats(bench)) {
 *             uint64_t start = bench_clock();
 *             ...
 *             bench_record_per_op(bench, "ns_per_op", start, ops);
 *     }
 *
 * The line holds the parameters that were asked for, defaults included, and of each figure least,
 * median and greatest. A parameter that no workload asked for is an error.
 */
#ifndef EDO_BENCH_HARNESS_H
#define EDO_BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench;

struct workload {
	const char *name;
	void (*run)(struct bench *bench);
	/* One line, parameters included. */
	const char *help;
};

/* The program: `tables` are NULL-terminated, each ending in a workload without a name. */
int bench_main(int argc, char **argv, const char *impl, const struct workload *const *tables);

/* Parameters. Unsigned, decimal or like 1e6; a word must be one of the NULL-terminated choices. */
uint64_t bench_number(struct bench *bench, const char *key, uint64_t otherwise);
const char *bench_word(struct bench *bench, const char *key, const char *const *choices);

/* Whether to measure (once more). */
bool bench_repeats(struct bench *bench);

/* A figure of this repetition. A workload's first figure says how many operations it stands for. */
void bench_record(struct bench *bench, const char *name, double value);
void bench_record_per_op(struct bench *bench, const char *figure, uint64_t start, uint64_t ops);

/* A plain number that goes into the line: bytes a timer. */
void bench_note(struct bench *bench, const char *key, double value);

/* The monotonic clock in ns, by a real system call: peers may replace the C library's clock. */
uint64_t bench_clock(void);

/* Seeded anew, alike, for each workload. */
uint64_t bench_random(struct bench *bench);
/* Uniform in [low, high]. */
uint64_t bench_random_between(struct bench *bench, uint64_t low, uint64_t high);

/* Ends the program with a message on failure. */
void *bench_allocate(size_t count, size_t size);
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * For the operations of structures written here for comparison: called, as those of a library are.
 * Inlined into a loop, a start and its cancel would cancel out in the compiler.
 */
#define BENCH_CALL static __attribute__((noinline, unused))

/* Keeps the compiler from dropping what computed the value. */
static inline void bench_use(const void *value)
{
	__asm__ volatile("" : : "r"(value) : "memory");
}

#endif
