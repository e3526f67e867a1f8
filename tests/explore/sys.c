/*
 * The door to the operating system (src/base/sys.h) as the explored code finds it: a futex and a clock.
 * What is not here the explored code does not reach; the linker says so if it does.
 *
 * The clock stands still while anybody can do anything. A futex compares and queues in one step with the
 * newest value, as the kernel does, and orders nothing. Waiters are woken in the order in which they came.
 */
#include "explore/engine.h"
#include "base/assert.h"
#include "base/sys.h"
#include <errno.h>

uint64_t explore_clock(void)
{
	return engine->clock;
}

uint64_t edo_sys_clock_now(enum edo_sys_clock clock)
{
	static const struct explore_site site = { "reads the clock", __FILE__, __LINE__ };

	(void)clock;
	engine_step(STEP_READ, &engine->clock, &site);
	report_trace(&site, "-> %llu ns", (unsigned long long)engine->clock);
	return engine->clock;
}

void explore_clock_advance(uint64_t ns)
{
	static const struct explore_site site = { "moves the clock", __FILE__, __LINE__ };

	engine_step(STEP_WRITE, &engine->clock, &site);
	engine->clock += ns;
	engine->writes++;
	engine_expire();
	report_trace(&site, "to %llu ns", (unsigned long long)engine->clock);
}

void edo_sys_cpu_relax(void)
{
	if (!engine->spins_in_vain)
		explore_wait_a_moment();
}

/* One of the times that the model allows for. */
static bool is_interrupted(void)
{
	if (engine->interruptions_left == 0 || explore_choose(2) == 0)
		return false;
	engine->interruptions_left--;
	return true;
}

static int sleep_on(const void *word, uint64_t timeout)
{
	static const struct explore_site site = { "is woken", __FILE__, __LINE__ };
	struct explore_thread *self = engine->self;

	self->futex = word;
	self->is_woken = false;
	self->outcome = 0;
	self->turn = engine->futex_turn++;
	self->deadline =
		timeout < UINT64_MAX - engine->clock ? engine->clock + timeout : UINT64_MAX;
	engine_step(STEP_RESUME, NULL, &site);
	self->futex = NULL;
	report_trace(&site, self->outcome ? "by its time-out" : " ");
	return self->outcome ? -ETIMEDOUT : 0;
}

/* The seed of nothing that a model looks at. */
uint64_t edo_sys_entropy(void)
{
	return 1;
}

int edo_sys_futex_wait(uint32_t *word, uint32_t value, uint64_t timeout)
{
	static const struct explore_site site = { "futex_wait", __FILE__, __LINE__ };

	/* When a time-out ends depends on when it began. */
	if (timeout < UINT64_MAX)
		engine_step_in_time(STEP_WRITE, word, &site);
	else
		engine_step(STEP_WRITE, word, &site);
	arena_check(word, sizeof *word, "futex_wait", NULL);
	if (memory_newest(word, sizeof *word) != value) {
		report_trace(&site, "-> the value has changed");
		return -EAGAIN;
	}
	if (is_interrupted()) {
		report_trace(&site, "-> interrupted");
		return -EINTR;
	}
	if (engine->is_alone && timeout == UINT64_MAX)
		engine_fail(EXPLORE_DEADLOCK, "sleeps, and nobody is there to wake it");
	if (engine->is_alone) {
		engine->clock += timeout;
		return -ETIMEDOUT;
	}
	report_trace(&site, "-> sleeps");
	return sleep_on(word, timeout);
}

static struct explore_thread *first_sleeper(const void *word)
{
	struct explore_thread *first = NULL;

	for (unsigned i = 0; i < engine->count; i++) {
		struct explore_thread *thread = &engine->threads[i];

		if (thread->futex == word && !thread->is_woken &&
		    (!first || thread->turn < first->turn))
			first = thread;
	}
	return first;
}

/* The word itself may be gone by now: only its address counts. */
int edo_sys_futex_wake(uint32_t *word, int n)
{
	static const struct explore_site site = { "futex_wake", __FILE__, __LINE__ };
	struct explore_thread *sleeper;
	int woken = 0;

	/* Before the clock is moved there may be somebody to wake who has gone afterwards. */
	engine_step_in_time(STEP_WRITE, word, &site);
	while (woken < n && (sleeper = first_sleeper(word)) != NULL) {
		sleeper->is_woken = true;
		clock_join(&sleeper->before, &engine->self->before);
		woken++;
	}
	report_trace(&site, "-> %d woken", woken);
	return woken;
}

size_t edo_sys_page_size(void)
{
	return 4096;
}

/* ---- what a debug build says ---- */

void edo_assert_failed(const char *condition, const char *file, int line)
{
	engine_fail(EXPLORE_CHECK_FAILED, "%s:%d: broken invariant: %s", report_short_name(file),
		    line, condition);
}

void edo_misuse_line(const char *function, const char *text, const char *what)
{
	engine_fail(EXPLORE_CHECK_FAILED, "%s: %s%s%s", function, text, what ? ": " : "",
		    what ? what : "");
}
