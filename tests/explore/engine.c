/*
 * The threads of a model. Each has a stack of its own and is always at the same kind of place: it has
 * announced its next visible step and waits to be told to do it. So at each moment it is known what
 * every thread would do next, which is what the search decides by.
 *
 * Whoever has announced a step picks who goes on, and switches to that thread directly.
 */
#include "explore/engine.h"
#include "fiber/switch.h"
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK_SIZE = 256 * 1024, MAX_LOCALS = 4096 };

struct engine *engine;

/* The program's own variables, and those of them that are thread-local. */
static char *variables;
static size_t variables_size;
extern char __start_explore_thread[] __attribute__((weak, visibility("hidden")));
extern char __stop_explore_thread[] __attribute__((weak, visibility("hidden")));

static char *pristine;
static char *stacks;

void *explore_pages_at(uintptr_t address, size_t size)
{
	void *pages = mmap((void *)address, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED) {
		perror("explore: mmap");
		_Exit(2);
	}
	return pages;
}

void *explore_pages(size_t size)
{
	return explore_pages_at(0, size);
}

/* ---- thread-locals ---- */

static size_t locals_size(void)
{
	return (size_t)(__stop_explore_thread - __start_explore_thread);
}

/* As a new thread finds them. */
static void reset_locals(struct explore_thread *thread)
{
	size_t offset = (size_t)(__start_explore_thread - variables);

	if (locals_size() > 0)
		memcpy(thread->locals, pristine + offset, locals_size());
}

static void change_locals(struct explore_thread *from, struct explore_thread *to)
{
	if (locals_size() == 0)
		return;
	memcpy(from->locals, __start_explore_thread, locals_size());
	memcpy(__start_explore_thread, to->locals, locals_size());
}

/* ---- going on ---- */

static void switch_to(struct explore_thread *to)
{
	struct explore_thread *from = engine->self;

	if (from == to)
		return;
	change_locals(from, to);
	engine->self = to;
	edo_switch(&from->sp, to->sp);
}

static bool children_have_ended(const struct explore_thread *thread)
{
	for (unsigned i = 0; i < engine->count; i++)
		if ((thread->children & (1U << i)) && !engine->threads[i].has_ended)
			return false;
	return true;
}

bool engine_can_go_on(const struct explore_thread *thread)
{
	switch (thread->next.kind) {
	case STEP_ACQUIRE:
		return order_meeting(thread->next.object)->holder == 0;
	case STEP_JOIN:
		return children_have_ended(thread);
	case STEP_MOMENT:
		return thread->writes_seen != engine->writes || memory_has_newer(thread);
	case STEP_RESUME:
		return thread->is_woken;
	default:
		return true;
	}
}

static unsigned possible(void)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < engine->count; i++)
		if (!engine->threads[i].has_ended && engine_can_go_on(&engine->threads[i]))
			mask |= 1U << i;
	return mask;
}

/* The earliest time-out that somebody waits for, or UINT64_MAX. */
static uint64_t next_deadline(void)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < engine->count; i++) {
		const struct explore_thread *thread = &engine->threads[i];

		if (!thread->has_ended && thread->futex && thread->deadline < next)
			next = thread->deadline;
	}
	return next;
}

void engine_expire(void)
{
	for (unsigned i = 0; i < engine->count; i++) {
		struct explore_thread *thread = &engine->threads[i];

		if (thread->futex && !thread->is_woken && thread->deadline <= engine->clock) {
			thread->is_woken = true;
			thread->outcome = 1; /* timed out */
			clock_join(&thread->before, &engine->self->before);
		}
	}
}

/*
 * Nobody can do anything, so time passes: after all that has been done, before all that comes. Stores become
 * visible in a finite time (C11 7.17.3), which this is.
 */
static bool let_time_pass(void)
{
	struct clock everything = { { 0 } };
	uint64_t deadline = next_deadline();

	if (deadline == UINT64_MAX)
		return false;
	if (deadline > engine->clock)
		engine->clock = deadline;
	engine->writes++;
	engine_expire();
	for (unsigned i = 0; i < engine->count; i++)
		if (!engine->threads[i].has_ended && engine->threads[i].next.kind == STEP_ACQUIRE)
			order_before_time_passes(&engine->threads[i]);
	for (unsigned i = 0; i < engine->count; i++)
		clock_join(&everything, &engine->threads[i].before);
	for (unsigned i = 0; i < engine->count; i++) {
		clock_join(&engine->threads[i].before, &everything);
		memory_catch_up(&engine->threads[i]);
	}
	report_trace(NULL, "time passes: now %llu ns", (unsigned long long)engine->clock);
	return true;
}

static size_t describe(const struct explore_thread *thread, char *text, size_t size)
{
	const struct explore_site *site = thread->next.site;
	const char *what = thread->next.kind == STEP_MOMENT ? "goes round and round" : "sleeps";

	if (thread->next.kind == STEP_JOIN)
		return (size_t)snprintf(text, size, "thread %u waits for its children; ",
					thread->number);
	if (thread->next.kind == STEP_ACQUIRE)
		return (size_t)snprintf(text, size, "thread %u waits for a lock at %s:%d; ",
					thread->number, report_short_name(site->file), site->line);
	return (size_t)snprintf(text, size, "thread %u %s; ", thread->number, what);
}

static _Noreturn void fail_of_standstill(void)
{
	char text[400] = "";
	size_t used = 0;
	bool spins = false;

	for (unsigned i = 0; i < engine->count; i++) {
		const struct explore_thread *thread = &engine->threads[i];

		if (thread->has_ended || used >= sizeof text)
			continue;
		spins |= thread->next.kind == STEP_MOMENT;
		used += describe(thread, text + used, sizeof text - used);
	}
	engine_fail(spins ? EXPLORE_ENDLESS_LOOP : EXPLORE_DEADLOCK, "%s", text);
}

/* A thread that starts has announced its first step and goes back to who started it. */
static bool has_just_started(void)
{
	struct explore_thread *starter = engine->self->starter;

	if (!starter)
		return false;
	engine->self->starter = NULL;
	switch_to(starter);
	return true;
}

/*
 * Returns when it is this thread's turn. When all had to wait for time to pass, whoever goes on first has
 * preempted nobody.
 */
static void let_others(void)
{
	unsigned current = engine->self->number;
	unsigned mask;

	if (has_just_started())
		return;
	mask = possible();
	while (mask == 0) {
		if (!let_time_pass())
			fail_of_standstill();
		mask = possible();
		current = EXPLORE_THREADS;
	}
	switch_to(&engine->threads[search_pick(mask, current)]);
}

static void do_step(struct step step)
{
	if (engine->is_alone)
		return;
	engine->self->next = step;
	let_others();
	order_event(engine->self);
	search_done(engine->self);
}

void engine_step(enum step_kind kind, const void *object, const struct explore_site *site)
{
	do_step((struct step){ kind, object, site, .reads_clock = false });
}

void engine_step_in_time(enum step_kind kind, const void *object, const struct explore_site *site)
{
	do_step((struct step){ kind, object, site, .reads_clock = true });
}

/* ---- beginnings and ends ---- */

static _Noreturn void leave(void)
{
	void *nowhere;

	edo_switch(&nowhere, engine->native_sp);
	__builtin_unreachable();
}

_Noreturn void engine_fail(enum explore_outcome outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, two lines above. */
	(void)vsnprintf(engine->reason, sizeof engine->reason, format, arguments);
	va_end(arguments);
	engine->outcome = outcome;
	leave();
}

_Noreturn void engine_cut(void)
{
	engine->is_cut = true;
	leave();
}

void explore_check_failed(const char *condition, const char *file, int line)
{
	engine_fail(EXPLORE_CHECK_FAILED, "%s:%d: %s", report_short_name(file), line, condition);
}

static void end_of_thread(struct explore_thread *thread)
{
	if (thread->held_count > 0)
		engine_fail(EXPLORE_LOCK_MISUSE, "thread %u ended with a lock", thread->number);
	thread->has_ended = true;
	engine->writes++;
	report_trace(NULL, "ends");
	let_others();
}

static void thread_main(void *argument)
{
	struct explore_thread *thread = argument;

	thread->run(thread->argument);
	end_of_thread(thread);
}

static void main_thread(void *argument)
{
	(void)argument;
	engine->model->run();
	if (!engine->is_alone)
		engine_fail(EXPLORE_CHECK_FAILED, "the model has not joined its threads");
	arena_check_leaks();
	leave();
}

static struct explore_thread *new_thread(void (*run)(void *argument), void *argument)
{
	struct explore_thread *thread = &engine->threads[engine->count];
	char *locals = thread->locals;
	unsigned number = engine->count;

	if (number == EXPLORE_THREADS)
		engine_fail(EXPLORE_TOO_LARGE, "more than %d threads", EXPLORE_THREADS);
	engine->count++;
	memset(thread, 0, sizeof *thread);
	thread->number = number;
	thread->locals = locals;
	thread->run = run;
	thread->argument = argument;
	reset_locals(thread);
	return thread;
}

static void *prepare_stack(struct explore_thread *thread, void (*entry)(void *argument))
{
	return edo_switch_prepare(stacks + (thread->number + 1) * (size_t)STACK_SIZE, entry,
				  thread);
}

/* It runs up to its first step, which nobody can tell from later: so it has announced one. */
void explore_start(void (*run)(void *argument), void *argument)
{
	struct explore_thread *parent = engine->self;
	struct explore_thread *thread = new_thread(run, argument);

	engine->is_alone = false;
	parent->children |= 1U << thread->number;
	thread->known = parent->known;
	parent->known.of[parent->number]++; /* what it does from now on the child does not know */
	thread->known.of[thread->number]++;
	thread->before = parent->before;
	thread->view = parent->view;
	thread->sp = prepare_stack(thread, thread_main);
	thread->starter = parent;
	switch_to(thread);
}

static void join_children(struct explore_thread *thread)
{
	for (unsigned i = 0; i < engine->count; i++) {
		if (!(thread->children & (1U << i)))
			continue;
		clock_join(&thread->known, &engine->threads[i].known);
		clock_join(&thread->before, &engine->threads[i].before);
		for (unsigned j = 0; j < MAX_LOCATIONS; j++)
			if (thread->view.oldest[j] < engine->threads[i].view.oldest[j])
				thread->view.oldest[j] = engine->threads[i].view.oldest[j];
	}
	thread->children = 0;
}

static bool all_others_have_ended(void)
{
	for (unsigned i = 0; i < engine->count; i++)
		if (&engine->threads[i] != engine->self && !engine->threads[i].has_ended)
			return false;
	return true;
}

/* Numbers of threads are given out anew: what the ended ones knew is the present thread's. */
void explore_join_all(void)
{
	static const struct explore_site site = { "join", __FILE__, __LINE__ };
	struct explore_thread *self = engine->self;

	engine_step(STEP_JOIN, NULL, &site);
	join_children(self);
	if (self->number == 0 && all_others_have_ended()) {
		engine->is_alone = true;
		memory_settle();
		races_begin();
	}
}

void explore_wait_a_moment(void)
{
	static const struct explore_site site = { "a moment", __FILE__, __LINE__ };

	if (engine->is_alone)
		engine_fail(EXPLORE_ENDLESS_LOOP, "waits for a thread, and there is none");
	engine->self->writes_seen = engine->writes;
	engine_step(STEP_MOMENT, NULL, &site);
	memory_catch_up(engine->self);
}

uintptr_t explore_thread_number(void)
{
	return engine->self->number + 1;
}

void explore_spin_in_vain(void)
{
	engine->spins_in_vain = true;
}

void explore_interruptions(unsigned most)
{
	engine->interruptions_left = most;
}

unsigned explore_choose(unsigned n)
{
	return search_choose(n);
}

/* ---- runs ---- */

/* The part of the program's writable segment that its start has not made read-only. */
static int find_variables(struct dl_phdr_info *program, size_t size, void *unused)
{
	uintptr_t start = 0, end = 0, constant = 0;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)unused;
	for (int i = 0; i < program->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &program->dlpi_phdr[i];
		uintptr_t address = program->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_GNU_RELRO)
			constant = (address + part->p_memsz + page - 1) / page * page;
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
			continue;
		start = address;
		end = address + part->p_memsz;
	}
	variables = (char *)(start > constant ? start : constant);
	variables_size = end - (uintptr_t)variables;
	return 1; /* the first is the program itself */
}

void engine_begin(void)
{
	engine = explore_pages(sizeof *engine);
	stacks = explore_pages((size_t)STACK_SIZE * EXPLORE_THREADS);
	for (unsigned i = 0; i < EXPLORE_THREADS; i++)
		engine->threads[i].locals = explore_pages(MAX_LOCALS);
	order_begin();
	search_begin();
	memory_begin();
	races_begin();
	arena_begin();
	report_begin();
	(void)dl_iterate_phdr(find_variables, NULL);
	if (locals_size() > MAX_LOCALS) {
		(void)fprintf(stderr, "explore: more than %d bytes of thread-locals\n", MAX_LOCALS);
		_Exit(2);
	}
	pristine = explore_pages(variables_size);
	memcpy(pristine, variables, variables_size);
}

static void restore_variables(void)
{
	memcpy(variables, pristine, variables_size);
}

void engine_run_once(void)
{
	struct explore_thread *first;
	uint32_t run = engine->run + 1;

	engine->run = run;
	engine->count = 0;
	engine->is_alone = true;
	engine->writes = 0;
	engine->clock = 1;
	engine->stale_left = engine->bounds.stale;
	engine->interruptions_left = 0;
	engine->spins_in_vain = false;
	engine->outcome = EXPLORE_PASSED;
	engine->is_cut = false;
	restore_variables();
	order_begin();
	memory_begin();
	races_begin();
	arena_begin();
	search_begin_run();
	first = new_thread(NULL, NULL);
	first->sp = prepare_stack(first, main_thread);
	engine->self = first;
	edo_switch(&engine->native_sp, first->sp);
}
