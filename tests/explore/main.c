/*
 * Runs models: each again and again until the search has tried all, or one run fails, which is then made
 * once more with its steps printed.
 */
#include "explore/engine.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINE = 20000 };

static const char *const outcome_names[] = {
	[EXPLORE_PASSED] = "passed",       [EXPLORE_CHECK_FAILED] = "a check failed",
	[EXPLORE_DATA_RACE] = "data race", [EXPLORE_BAD_MEMORY] = "bad use of memory",
	[EXPLORE_LEAK] = "leak",           [EXPLORE_LOCK_MISUSE] = "misuse of a lock",
	[EXPLORE_DEADLOCK] = "deadlock",   [EXPLORE_ENDLESS_LOOP] = "endless loop",
	[EXPLORE_TOO_LARGE] = "too large", [EXPLORE_NOT_REPEATABLE] = "not repeatable",
};

const char *explore_outcome_name(enum explore_outcome outcome)
{
	return outcome_names[outcome];
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Whatever a run allocates comes from its arena; what this file does comes from the C library. */
static void run_once(void)
{
	engine_run_once();
	engine->self = NULL;
}

static void print_failure(struct explore_result *result)
{
	char *line = malloc(LINE);

	printf("explore: %s: %s: %s\n", engine->model->name, outcome_names[result->outcome],
	       result->reason);
	search_repeat();
	report_begin();
	engine->is_tracing = true;
	run_once();
	engine->is_tracing = false;
	report_end();
	if (engine->outcome != result->outcome)
		printf("explore:   but repeated it ends otherwise: %s\n",
		       outcome_names[engine->outcome]);
	if (line && search_print(line, LINE) > 0)
		printf("explore: to replay: EXPLORE_REPLAY=%s\n", line);
	free(line);
}

static void begin(const struct explore_model *model, struct explore_bounds bounds,
		  struct explore_way way)
{
	if (!engine)
		engine_begin();
	search_begin();
	engine->model = model;
	engine->bounds = bounds;
	engine->way = way;
}

/* Whether nothing forbids another run. */
static bool may_go_on(void)
{
	if (!engine->is_cut && engine->way.ended && !engine->way.ended(engine->outcome))
		return false;
	return engine->outcome == EXPLORE_PASSED;
}

static struct explore_result search_all(bool print)
{
	struct explore_result result = { .outcome = EXPLORE_PASSED };
	double start = now();

	do {
		run_once();
		if (engine->is_cut)
			result.cut++;
		else
			result.runs++;
		if (search_depth() > result.deepest)
			result.deepest = search_depth();
	} while (may_go_on() && search_next());
	result.seconds = now() - start;
	result.outcome = engine->outcome;
	if (result.outcome != EXPLORE_PASSED) {
		memcpy(result.reason, engine->reason, sizeof result.reason);
		if (print)
			print_failure(&result);
	}
	return result;
}

static const struct explore_way by_default;

struct explore_result explore_run(const struct explore_model *model, struct explore_bounds bounds,
				  bool print)
{
	begin(model, bounds, by_default);
	return search_all(print);
}

struct explore_result explore_run_by(const struct explore_model *model,
				     struct explore_bounds bounds, struct explore_way way)
{
	begin(model, bounds, way);
	return search_all(false);
}

/* ---- a program of models ---- */

static bool is_selected(const struct explore_model *model, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(model->name, argv[i]))
			return true;
	return argc == 1;
}

enum mode { USUAL, WHOLE, REJECTED };

/* A word that nobody knows must not quietly mean the usual. */
static enum mode mode_of(const char *wanted)
{
	if (!wanted || !*wanted)
		return USUAL;
	if (strcmp(wanted, "whole") == 0)
		return WHOLE;
	if (strcmp(wanted, "rejected") == 0)
		return REJECTED;
	printf("explore: EXPLORE is neither whole nor rejected: %s\n", wanted);
	exit(EXIT_FAILURE);
}

static struct explore_bounds bounds_of(const struct explore_model *model, enum mode mode)
{
	return mode == WHOLE ? model->whole : model->usual;
}

/* A fault of the model, not of the explorer, which may be too small for it. */
static bool is_rejection(enum explore_outcome outcome)
{
	return outcome != EXPLORE_PASSED && outcome != EXPLORE_TOO_LARGE &&
	       outcome != EXPLORE_NOT_REPEATABLE;
}

static void print_bounds(struct explore_bounds bounds)
{
	if (bounds.preemptions == EXPLORE_ALL)
		printf("all interleavings");
	else
		printf("at most %u preemptions", bounds.preemptions);
	if (bounds.stale == EXPLORE_ALL)
		printf(", all values\n");
	else
		printf(", at most %u old values\n", bounds.stale);
}

/* One schedule: that it passes says nothing of the others, so it never counts as passed. */
static bool replay(const char *script)
{
	struct explore_result result;

	search_replay(script);
	run_once();
	result = (struct explore_result){ .outcome = engine->outcome };
	memcpy(result.reason, engine->reason, sizeof result.reason);
	print_failure(&result);
	return false;
}

static void print_result(const struct explore_model *model, const struct explore_result *result,
			 struct explore_bounds bounds)
{
	printf("explore: %s: %s: %llu runs, %llu cut, %u steps, %.2f s; ", model->name,
	       outcome_names[result->outcome], (unsigned long long)result->runs,
	       (unsigned long long)result->cut, result->deepest, result->seconds);
	print_bounds(bounds);
}

/* Two threads that met nowhere have shown nothing, and bounds of nothing were forgotten. */
static bool is_vacuous(const struct explore_result *result, struct explore_bounds bounds)
{
	bool has_bounds = bounds.preemptions > 0 || bounds.stale > 0;

	if (has_bounds && result->runs > 0 && result->deepest > 0)
		return false;
	printf("explore:   nothing was explored\n");
	return true;
}

static bool explore_one(const struct explore_model *model, enum mode mode)
{
	struct explore_bounds bounds = bounds_of(model, mode);
	const char *script = getenv("EXPLORE_REPLAY");
	struct explore_result result;

	begin(model, bounds, by_default);
	if (script)
		return replay(script);
	result = search_all(mode != REJECTED);
	print_result(model, &result, bounds);
	if (mode == REJECTED)
		printf("explore:   %s\n", result.reason);
	(void)fflush(stdout);
	if (mode == REJECTED)
		return is_rejection(result.outcome);
	return result.outcome == EXPLORE_PASSED && !is_vacuous(&result, bounds);
}

int explore_main(int argc, char **argv, const struct explore_model *models, size_t count)
{
	enum mode mode = mode_of(getenv("EXPLORE"));
	unsigned failed = 0;
	unsigned made = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_selected(&models[i], argc, argv))
			continue;
		made++;
		failed += !explore_one(&models[i], mode);
	}
	if (made == 0)
		printf("explore: no model has that name\n");
	return failed > 0 || made == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
