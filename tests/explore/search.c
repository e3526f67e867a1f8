/*
 * Which way to try next: a depth-first walk over all choices, of who goes on and of which value is read. A
 * run follows the choices on the stack and goes on by default where the stack ends; then the last choice
 * that has an alternative takes it, and what was below is forgotten.
 *
 * Not all alternatives are worth a run. Of who goes on, only those are tried that order.c has found to
 * be able to change something (`wanted`). With any number of preemptions the wanted ones are source sets,
 * and sleep sets keep a thread waiting whose next step was tried already and that nothing has touched
 * since: so steps that do not depend on each other are tried in one order. Within a bound on preemptions
 * that would lose some: an equivalent order may be over the bound. There every thread that could
 * go on is wanted where one of them might, and once more where the block of steps began
 * (Coons, Musuvathi and McKinley, OOPSLA 2013), and whoever waits for a lock is tried before its release
 * too: one that waits is not preempted.
 */
#include "explore/engine.h"

enum { MAX_CHOICES = 16384 };

/* All sets are bits by thread number. */
struct choice {
	bool is_value;
	uint8_t chosen;
	uint8_t count;    /* of values */
	uint8_t current;  /* who went last */
	uint8_t possible; /* who could go on */
	uint8_t wanted;   /* worth a run */
	uint8_t done;     /* tried completely */
	uint8_t asleep;
	uint16_t preemptions; /* before this choice */
};

struct search {
	struct choice choices[MAX_CHOICES];
	unsigned depth;    /* how many are on the stack */
	unsigned position; /* how many of them this run has made */
	unsigned asleep;
	unsigned preemptions;
	uint16_t event_choice[MAX_CHOICES]; /* by event: at which choice it was picked */
	unsigned events;
	bool is_repeating;
	const char *script; /* what is left of a replay, or NULL */
};

static struct search *search;

void search_begin(void)
{
	if (!search)
		search = explore_pages(sizeof *search);
	search->depth = 0;
	search->is_repeating = false;
	search->script = NULL;
}

void search_begin_run(void)
{
	search->position = 0;
	search->asleep = 0;
	search->preemptions = 0;
	search->events = 0;
}

static bool is_bounded(void)
{
	return engine->bounds.preemptions != EXPLORE_ALL;
}

/* Which of `possible` are tried whatever is found, when `chosen` is tried first. */
static unsigned wanted_from_the_start(unsigned possible, unsigned chosen)
{
	return engine->way.is_naive ? possible : 1U << chosen;
}

static unsigned lowest(unsigned set)
{
	return (unsigned)__builtin_ctz(set);
}

/* A switch away from a thread that could go on. One that waits for a moment has asked for it. */
static bool is_preemption(const struct choice *choice, unsigned chosen)
{
	return chosen != choice->current && (choice->possible & (1U << choice->current));
}

static bool is_within_bound(const struct choice *choice, unsigned chosen)
{
	return !is_bounded() || !is_preemption(choice, chosen) ||
	       choice->preemptions < engine->bounds.preemptions;
}

static struct choice *push(void)
{
	if (search->depth == MAX_CHOICES)
		engine_fail(EXPLORE_TOO_LARGE, "more than %d choices", MAX_CHOICES);
	return &search->choices[search->depth++];
}

static const char digits[SEARCH_VALUES + 1] = "0123456789abcdefghijklmnopqrstuvwxyz";

/* What a replay says; `otherwise` when there is none, or it is at its end. */
static unsigned scripted(unsigned otherwise)
{
	const char *digit;

	if (!search->script || *search->script == '\0')
		return otherwise;
	digit = strchr(digits, *search->script++);
	return digit ? (unsigned)(digit - digits) : otherwise;
}

/* Who went last goes on, if it may: fewest switches, shortest schedules. */
static unsigned pick_by_default(unsigned possible, unsigned current)
{
	unsigned awake = possible & ~search->asleep;

	if (awake == 0)
		engine_cut();
	return awake & (1U << current) ? current : lowest(awake);
}

/* What a run did must not depend on anything but the choices. */
static void check_repeats(bool is_same)
{
	if (!is_same)
		engine_fail(EXPLORE_NOT_REPEATABLE, "the same choices led elsewhere");
}

static bool is_one_of(unsigned thread, unsigned set)
{
	return thread < EXPLORE_THREADS && (set & (1U << thread));
}

static struct choice *new_pick(unsigned possible, unsigned current)
{
	unsigned chosen = pick_by_default(possible, current);
	struct choice *choice = push();

	if (possible & (possible - 1))
		chosen = scripted(chosen);
	check_repeats(is_one_of(chosen, possible));

	*choice = (struct choice){ .chosen = (uint8_t)chosen,
				   .current = (uint8_t)current,
				   .possible = (uint8_t)possible,
				   .wanted = (uint8_t)wanted_from_the_start(possible, chosen),
				   .asleep = (uint8_t)search->asleep,
				   .preemptions = (uint16_t)search->preemptions };
	return choice;
}

unsigned search_pick(unsigned possible, unsigned current)
{
	struct choice *choice;

	if (search->position == search->depth) {
		choice = new_pick(possible, current);
	} else {
		choice = &search->choices[search->position];
		check_repeats(!choice->is_value && choice->possible == possible &&
			      choice->current == current);
	}
	search->event_choice[search->events] = (uint16_t)search->position;
	search->position++;
	search->preemptions += is_preemption(choice, choice->chosen);
	search->asleep = choice->asleep | choice->done;
	return choice->chosen;
}

void search_done(const struct explore_thread *thread)
{
	search->events++;
	search->asleep &= ~(1U << thread->number);
	if (is_bounded() || engine->way.is_naive) {
		search->asleep = 0;
		return;
	}
	for (unsigned i = 0; i < engine->count; i++)
		if (!order_are_independent(&engine->threads[i].next, &thread->next))
			search->asleep &= ~(1U << i);
}

unsigned search_choose(unsigned n)
{
	struct choice *choice;

	if (n <= 1)
		return 0;
	if (n > SEARCH_VALUES)
		engine_fail(EXPLORE_TOO_LARGE, "a choice of more than %d", SEARCH_VALUES);
	if (search->position == search->depth) {
		choice = push();
		*choice = (struct choice){ .is_value = true,
					   .count = (uint8_t)n,
					   .chosen = (uint8_t)scripted(0) };
		check_repeats(choice->chosen < n);
	} else {
		choice = &search->choices[search->position];
		check_repeats(choice->is_value && choice->count == n);
	}
	search->position++;
	return choice->chosen;
}

/* ---- what conflicts ask for ---- */

static void want(struct choice *choice, unsigned thread)
{
	if (choice->possible & (1U << thread))
		choice->wanted |= (uint8_t)(1U << thread);
	else
		choice->wanted |= choice->possible;
}

/* Where the block of steps began that this choice belongs to: a switch there costs no preemption. */
static struct choice *block_of(struct choice *choice)
{
	unsigned thread = choice->chosen;

	for (struct choice *at = choice; at >= search->choices; at--) {
		if (at->is_value)
			continue;
		if (at->chosen != thread)
			break;
		choice = at;
		if (at->current != thread)
			break;
	}
	return choice;
}

static void want_source(struct choice *choice, unsigned initials, unsigned thread)
{
	if (choice->wanted & initials)
		return;
	want(choice, initials & (1U << thread) ? thread : lowest(initials));
}

void search_reverse(unsigned number, const struct explore_thread *thread)
{
	struct choice *choice = &search->choices[search->event_choice[number]];

	if (search->is_repeating)
		return;
	if (is_bounded()) {
		want(choice, thread->number);
		want(block_of(choice), thread->number);
		return;
	}
	want_source(choice, order_initials(number), thread->number);
}

static void want_if_possible(struct choice *choice, unsigned thread)
{
	choice->wanted |= choice->possible & (uint8_t)(1U << thread);
}

/* One that cannot go on there waits already. */
void search_wait_before(unsigned number, const struct explore_thread *thread)
{
	struct choice *choice = &search->choices[search->event_choice[number]];

	if (!is_bounded() || search->is_repeating)
		return;
	want_if_possible(choice, thread->number);
	want_if_possible(block_of(choice), thread->number);
}

/* ---- from run to run ---- */

static bool take_next_value(struct choice *choice)
{
	if (choice->chosen + 1 >= choice->count)
		return false;
	choice->chosen++;
	return true;
}

static bool take_next_thread(struct choice *choice)
{
	unsigned left;

	choice->done |= (uint8_t)(1U << choice->chosen);
	left = choice->wanted & choice->possible & ~(unsigned)(choice->done | choice->asleep);
	for (; left; left &= left - 1) {
		if (!is_within_bound(choice, lowest(left)))
			continue;
		choice->chosen = (uint8_t)lowest(left);
		return true;
	}
	return false;
}

bool search_next(void)
{
	for (; search->depth > 0; search->depth--) {
		struct choice *last = &search->choices[search->depth - 1];

		if (last->is_value ? take_next_value(last) : take_next_thread(last))
			return true;
	}
	return false;
}

unsigned search_depth(void)
{
	return search->events;
}

/* ---- replay ---- */

/* Where there was something to choose: a thread's number, or which value, newest first. */
static bool is_worth_printing(const struct choice *choice)
{
	return choice->is_value || (choice->possible & (choice->possible - 1U));
}

size_t search_print(char *line, size_t size)
{
	size_t used = 0;

	for (unsigned i = 0; i < search->position && used + 1 < size; i++)
		if (is_worth_printing(&search->choices[i]))
			line[used++] = digits[search->choices[i].chosen];
	line[used] = '\0';
	return used;
}

void search_replay(const char *line)
{
	search->depth = 0;
	search->script = line;
}

void search_repeat(void)
{
	search->depth = search->position;
	search->is_repeating = true;
}
