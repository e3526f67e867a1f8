#include "wheel/model.h"

#include "wheel/wheel.h"
#include <errno.h>
#include <stddef.h>

enum { TIMERS = 96 };

#define TICK_MAX (UINT64_MAX - 2)

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return #condition;                                                         \
	} while (0)

struct model_timer {
	edo_wheel_timer timer;
	bool is_armed;
	uint64_t when;
	/* It went to level 0 when it was inserted, as number `sequence`, and was not moved since:
	 * the timers of a tick for which this holds come out in order (W4). */
	bool is_in_order;
	uint64_t sequence;
};

struct model {
	struct wheel_model_source *source;
	edo_wheel wheel;
	uint64_t present;
	uint64_t sequence;
	struct model_timer timers[TIMERS];
};

static uint64_t draw_below(struct model *model, uint64_t limit)
{
	return model->source->draw(model->source, 1) % limit;
}

/* 64^n, or near, times a small number: where digits carry. */
static uint64_t draw_boundary(struct model *model)
{
	unsigned level = (unsigned)draw_below(model, 11);
	uint64_t tick = (1 + draw_below(model, 66)) << (6 * level);

	return tick + draw_below(model, 5) - 2;
}

/* Any magnitude as likely as any other. */
static uint64_t draw_magnitude(struct model *model)
{
	unsigned bits = (unsigned)draw_below(model, 65);

	return bits == 0 ? 0 : model->source->draw(model->source, 8) >> (64 - bits);
}

static uint64_t saturating_add(uint64_t tick, uint64_t ticks)
{
	return ticks > UINT64_MAX - tick ? UINT64_MAX : tick + ticks;
}

static uint64_t draw_start(struct model *model)
{
	switch (draw_below(model, 6)) {
	case 0:
		return draw_below(model, 4);
	case 1:
		return (UINT64_C(1) << 36) - 100 + draw_below(model, 200);
	case 2:
		return (UINT64_C(1) << 63) - 100 + draw_below(model, 200);
	case 3:
		return UINT64_MAX - draw_magnitude(model);
	case 4:
		return draw_magnitude(model);
	default:
		return draw_boundary(model);
	}
}

static uint64_t draw_tick(struct model *model)
{
	uint64_t lap = model->present & ~((UINT64_C(1) << (6 * draw_below(model, 11))) - 1);

	switch (draw_below(model, 8)) {
	case 0:
		return draw_boundary(model);
	case 1:
		return saturating_add(lap, draw_boundary(model));
	case 2:
		return model->timers[draw_below(model, TIMERS)].when;
	case 3:
		return UINT64_MAX - draw_below(model, 6);
	case 4:
		return draw_magnitude(model);
	case 5:
		return saturating_add(model->present, draw_below(model, 80));
	default:
		return saturating_add(model->present, draw_magnitude(model));
	}
}

static struct model_timer *draw_timer(struct model *model)
{
	return &model->timers[draw_below(model, TIMERS)];
}

static const struct model_timer *earliest(const struct model *model)
{
	const struct model_timer *found = NULL;

	for (unsigned i = 0; i < TIMERS; i++) {
		const struct model_timer *timer = &model->timers[i];

		if (timer->is_armed && (!found || timer->when < found->when))
			found = timer;
	}
	return found;
}

static size_t count_armed(const struct model *model)
{
	size_t count = 0;

	for (unsigned i = 0; i < TIMERS; i++)
		count += model->timers[i].is_armed;
	return count;
}

/* What insert and reset must return, and what is then true of the timer. */
static int arm(struct model *model, struct model_timer *timer, uint64_t when)
{
	if (when > TICK_MAX)
		return -EINVAL;
	timer->is_armed = when > model->present;
	if (!timer->is_armed)
		return -ETIME;
	timer->when = when;
	timer->sequence = model->sequence++;
	return 0;
}

static const char *step_insert(struct model *model)
{
	struct model_timer *timer = draw_timer(model);
	uint64_t when = draw_tick(model);
	int expected = arm(model, timer, when);

	EXPECT(edo_wheel_insert(&model->wheel, &timer->timer, when) == expected);
	if (expected == 0)
		timer->is_in_order = timer->timer.level == 0;
	return NULL;
}

static const char *step_reset(struct model *model)
{
	struct model_timer *timer = draw_timer(model);
	uint64_t when = draw_tick(model);
	int expected = arm(model, timer, when);

	EXPECT(edo_wheel_reset(&model->wheel, &timer->timer, when) == expected);
	if (expected == 0)
		timer->is_in_order = false;
	return NULL;
}

/* An owner's lock-free reset: the tick grows, and nothing else is touched. */
static const char *step_move_later(struct model *model)
{
	struct model_timer *timer = draw_timer(model);
	uint64_t when = saturating_add(timer->when, draw_magnitude(model));

	if (!timer->is_armed || when > TICK_MAX)
		return NULL;
	timer->when = when;
	timer->is_in_order = false;
	timer->timer.when = when;
	return NULL;
}

static const char *step_remove(struct model *model)
{
	struct model_timer *timer = draw_timer(model);
	bool was_armed = timer->is_armed;

	timer->is_armed = false;
	EXPECT(edo_wheel_remove(&model->wheel, &timer->timer) == was_armed);
	EXPECT(!edo_wheel_remove(&model->wheel, &timer->timer));
	return NULL;
}

/* Nothing that was inserted for the same tick before it, and kept its place, is still there. */
static const char *check_order(const struct model *model, const struct model_timer *expired)
{
	for (unsigned i = 0; i < TIMERS; i++) {
		const struct model_timer *other = &model->timers[i];
		bool is_comparable = other->is_armed && other->is_in_order && expired->is_in_order;

		EXPECT(!is_comparable || other->when != expired->when ||
		       other->sequence > expired->sequence);
	}
	return NULL;
}

static const char *check_expired(struct model *model, edo_wheel_timer *timer)
{
	struct model_timer *expired = edo_container_of(timer, struct model_timer, timer);

	EXPECT(expired->is_armed);
	EXPECT(expired->when == timer->when);
	EXPECT(expired->when <= model->present);
	EXPECT(expired->when == earliest(model)->when);
	EXPECT(!edo_wheel_is_armed(timer));
	expired->is_armed = false;
	return check_order(model, expired);
}

/* The driver finds, having been handed the timer, that its owner had moved it meanwhile. */
static void refile(struct model *model, edo_wheel_timer *timer)
{
	struct model_timer *moved = edo_container_of(timer, struct model_timer, timer);
	uint64_t when = saturating_add(moved->when, 1 + draw_magnitude(model));

	if (when > TICK_MAX)
		return;
	moved->when = timer->when = when;
	moved->is_armed = true;
	moved->is_in_order = false;
	edo_wheel_refile(&model->wheel, timer);
}

static uint64_t draw_now(struct model *model)
{
	uint64_t at;

	switch (draw_below(model, 8)) {
	case 0:
		return draw_tick(model);
	case 1:
	case 2:
		return edo_wheel_next(&model->wheel, &at) ? at - draw_below(model, 2) : 0;
	case 3:
		return saturating_add(model->present, draw_magnitude(model) >> 24);
	default:
		return saturating_add(model->present, draw_below(model, 70));
	}
}

/* Polls with a budget that may end before the work does; the wheel is used in that state, too. */
static const char *step_poll(struct model *model)
{
	uint64_t now = draw_now(model);
	unsigned budget = (unsigned)draw_below(model, 24);
	edo_wheel_timer *timer;

	if (now > model->present)
		model->present = now;
	while ((timer = edo_wheel_poll_budget(&model->wheel, now, &budget))) {
		const char *wrong = check_expired(model, timer);

		if (wrong)
			return wrong;
		if (draw_below(model, 16) == 0)
			refile(model, timer);
	}
	EXPECT(budget == 0 || !earliest(model) || earliest(model)->when > model->present);
	return NULL;
}

static const char *step_poll_all(struct model *model)
{
	uint64_t now = draw_now(model);
	edo_wheel_timer *timer;

	if (now > model->present)
		model->present = now;
	while ((timer = edo_wheel_poll(&model->wheel, now))) {
		const char *wrong = check_expired(model, timer);

		if (wrong)
			return wrong;
	}
	EXPECT(!earliest(model) || earliest(model)->when > model->present);

	uint64_t at;
	EXPECT(!edo_wheel_next(&model->wheel, &at) || at > model->present);
	return NULL;
}

static const char *step_drain(struct model *model)
{
	uint64_t few = draw_below(model, 64) == 0 ? TIMERS : draw_below(model, 4);

	while (few-- > 0) {
		edo_wheel_timer *timer = edo_wheel_drain(&model->wheel);
		struct model_timer *drained =
			timer ? edo_container_of(timer, struct model_timer, timer) : NULL;

		EXPECT(timer || count_armed(model) == 0);
		if (!timer)
			break;
		EXPECT(drained->is_armed && !edo_wheel_is_armed(timer));
		drained->is_armed = false;
	}
	return NULL;
}

static const char *check_all(const struct model *model)
{
	const struct model_timer *first = earliest(model);
	uint64_t at = 0;
	bool has_next = edo_wheel_next(&model->wheel, &at);

	EXPECT(has_next == (first != NULL));
	EXPECT(!first || at <= first->when);
	EXPECT(edo_wheel_count(&model->wheel) == count_armed(model));
	EXPECT(edo_wheel_elapsed(&model->wheel) == model->present);
	EXPECT(edo_wheel_check(&model->wheel) == 0);
	for (unsigned i = 0; i < TIMERS; i++)
		EXPECT(edo_wheel_is_armed(&model->timers[i].timer) == model->timers[i].is_armed);
	return NULL;
}

static const char *take_step(struct model *model)
{
	uint64_t kind = draw_below(model, 32);

	if (kind < 10)
		return step_insert(model);
	if (kind < 15)
		return step_reset(model);
	if (kind < 18)
		return step_move_later(model);
	if (kind < 21)
		return step_remove(model);
	if (kind < 27)
		return step_poll(model);
	if (kind < 31)
		return step_poll_all(model);
	return step_drain(model);
}

const char *wheel_model_run(struct wheel_model_source *source, unsigned long steps,
			    unsigned long *step)
{
	static struct model model;
	const char *wrong = NULL;

	model = (struct model){ .source = source };
	model.present = draw_start(&model);
	edo_wheel_init(&model.wheel, model.present);
	for (*step = 0; *step < steps && !source->is_exhausted(source); ++*step) {
		wrong = take_step(&model);
		if (!wrong)
			wrong = check_all(&model);
		if (wrong)
			break;
	}
	return wrong;
}
