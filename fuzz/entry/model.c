#include "model.h"
#include "driver/time/shard.h"
#include <errno.h>

static unsigned number_of(const struct model *model, const struct model_host *host)
{
	return (unsigned)(host - model->host);
}

struct model_host *model_entered(struct model *model)
{
	return rig_entered ? &model->host[rig_entered - rig_hosts] : NULL;
}

void model_start_host(struct model_host *host, struct edo_time_driver *time)
{
	*host = (struct model_host){
		.time = time,
		.resolution = time->resolution,
		.start = rig_clock,
		.is_paused = edo_time_is_paused(time),
		.shards = time->shard_count,
		.is_whole = true,
	};
}

/* ---- time ---- */

uint64_t model_now(const struct model_host *host)
{
	uint64_t since = rig_clock - host->start;

	if (host->is_paused)
		return host->paused_at;
	if (since > EDO_CLOCK_END) /* it stepped back to before the start */
		since = 0;
	return since > host->shown ? since : host->shown;
}

uint64_t model_tick_at(const struct model_host *host, uint64_t instant)
{
	return instant / host->resolution;
}

uint64_t model_tick_of(const struct model_host *host, uint64_t deadline)
{
	uint64_t tick = deadline / host->resolution + (deadline % host->resolution > 0);

	return tick < EDO_TICK_MAX ? tick : EDO_TICK_MAX;
}

uint64_t model_instant_of(const struct model_host *host, uint64_t tick)
{
	return tick > UINT64_MAX / host->resolution ? EDO_FOREVER : tick * host->resolution;
}

static bool is_in(const struct model *model, const struct model_timer *timer,
		  const struct model_host *host)
{
	return timer->state == ARMED && timer->host == number_of(model, host);
}

const struct model_timer *model_earliest(const struct model *model, const struct model_host *host)
{
	const struct model_timer *found = NULL;

	for (unsigned i = 0; i < model->timers; i++) {
		const struct model_timer *timer = &model->timer[i];

		if (is_in(model, timer, host) && (!found || timer->tick < found->tick))
			found = timer;
	}
	return found;
}

/* ---- the owner's side ---- */

/* Who sleeps for longer is woken, once; who is still finding out only learns of it (T3). */
static void disturb(struct model_host *host, uint64_t tick)
{
	if (tick >= host->next_wake)
		return;
	host->unparks += host->next_wake != EDO_WAKE_SCANNING;
	host->next_wake = EDO_WAKE_IDLE;
}

static void fire(struct model *model, struct model_timer *timer)
{
	timer->state = FIRED;
	model->wakes[timer->target]++;
}

/* Into the first shard. */
static int file(struct model *model, struct model_host *host, struct model_timer *timer,
		uint64_t tick, unsigned target)
{
	if (host->is_closed)
		return -ESHUTDOWN;
	timer->state = FIRED;
	if (tick <= host->present[0])
		return -ETIME;
	timer->state = ARMED;
	timer->tick = tick;
	timer->host = number_of(model, host);
	timer->shard = 0;
	timer->target = target;
	disturb(host, tick);
	return 0;
}

static edo_poll poll_armed(struct model *model, struct model_host *host, struct model_timer *timer,
			   unsigned target)
{
	if (!host || !is_in(model, timer, host))
		return -EXDEV;
	if (!host->is_paused && model->poll_now == 0)
		model->poll_now = model_now(host);
	if (!host->is_paused && model_instant_of(host, timer->tick) <= model->poll_now) {
		timer->state = FIRED;
		return EDO_READY;
	}
	timer->target = target;
	return EDO_PENDING;
}

edo_poll model_poll(struct model *model, struct model_timer *timer, uint64_t tick, unsigned target)
{
	struct model_host *host = model_entered(model);
	int rc;

	switch (timer->state) {
	case ARMED:
		return poll_armed(model, host, timer, target);
	case FIRED:
		return EDO_READY;
	case ENDED:
		return -ESHUTDOWN;
	default:
		if (!host)
			return -EINVAL;
		rc = file(model, host, timer, tick, target);
		if (rc == 0)
			return EDO_PENDING;
		return rc == -ETIME ? EDO_READY : rc;
	}
}

/* In the host's own shard it stays where it is; from another one it is out before the door is closed. */
static int move_earlier(struct model *model, struct model_host *host, struct model_timer *timer,
			uint64_t tick)
{
	if (host->is_closed && timer->shard > 0) {
		timer->state = AT_REST;
		model->wakes[timer->target]++;
	}
	if (host->is_closed)
		return -ESHUTDOWN;
	if (tick <= host->present[0])
		fire(model, timer);
	else
		(void)file(model, host, timer, tick, timer->target);
	return 0;
}

int model_reset(struct model *model, struct model_timer *timer, uint64_t tick)
{
	struct model_host *host = model_entered(model);

	if (timer->state == ENDED)
		return -ESHUTDOWN;
	if (timer->state != ARMED) {
		timer->state = AT_REST;
		return 0;
	}
	if (!host || !is_in(model, timer, host))
		return -EXDEV;
	if (tick < timer->tick)
		return move_earlier(model, host, timer, tick);
	timer->tick = tick;
	return 0;
}

int model_arm(struct model *model, struct model_timer *timer, uint64_t tick, unsigned target)
{
	struct model_host *host = model_entered(model);
	bool was_armed = timer->state == ARMED;
	int rc = model_reset(model, timer, tick);

	if (was_armed || rc < 0)
		return rc;
	return host ? file(model, host, timer, tick, target) : -EINVAL;
}

void model_drop(struct model_timer *timer)
{
	if (timer->state != FIRED)
		timer->state = AT_REST;
}

/* ---- the holder's side ---- */

void model_begin_turn(struct model_host *host)
{
	host->shown = model_now(host);
	host->present[0] = model_tick_at(host, host->shown);
	host->busy = IS_TURNING;
	host->fired = 0;
	host->was_moved = false;
	for (unsigned i = 0; i < MODEL_SHARDS; i++)
		host->latest_fired[i] = 0;
}

static void catch_up_with_a_turn(struct model *model, struct model_host *host,
				 struct model_timer *timer)
{
	if (!edo_entry_has_fired(&timer->entry))
		return;
	EXPECT(timer->tick <= model_tick_at(host, model_now(host)));
	EXPECT(model_instant_of(host, timer->tick) <= model_now(host));
	if (timer->tick > host->latest_fired[timer->shard])
		host->latest_fired[timer->shard] = timer->tick;
	host->fired++;
	fire(model, timer);
}

static void catch_up_with_a_shutdown(struct model *model, struct model_timer *timer)
{
	if (timer->entry.edo_node_.when != EDO_TICK_SHUTDOWN)
		return;
	timer->state = ENDED;
	model->wakes[timer->target]++;
}

void model_catch_up(struct model *model)
{
	for (unsigned i = 0; i < model->timers; i++) {
		struct model_timer *timer = &model->timer[i];
		struct model_host *host = &model->host[timer->host];

		if (timer->state != ARMED)
			continue;
		if (host->busy == IS_TURNING)
			catch_up_with_a_turn(model, host, timer);
		else if (host->busy == IS_ENDING)
			catch_up_with_a_shutdown(model, timer);
	}
}

/* A turn that was cut short has reached some shards, and in each the earlier timers first (T7). */
static void look_at_what_is_left(struct model *model, struct model_host *host)
{
	for (unsigned i = 0; i < model->timers; i++) {
		const struct model_timer *timer = &model->timer[i];

		if (!is_in(model, timer, host))
			continue;
		EXPECT(!host->is_whole || timer->tick > host->present[timer->shard]);
		EXPECT(host->was_moved || timer->tick >= host->latest_fired[timer->shard]);
	}
}

unsigned model_end_turn(struct model *model, struct model_host *host)
{
	model_catch_up(model);
	host->busy = IS_FREE;
	for (unsigned i = 1; i < host->shards; i++) {
		uint64_t elapsed = edo_wheel_elapsed(&host->time->shards[i].wheel);

		EXPECT(elapsed == host->present[0] ||
		       (!host->is_whole && elapsed == host->present[i]));
		host->present[i] = elapsed;
	}
	look_at_what_is_left(model, host);
	return host->fired;
}

/* It may have passed the starts of coarse slots, and turned the wheels there. */
void model_follow_jump(struct model_host *host)
{
	uint64_t now = edo_time_now(host->time);
	uint64_t shown = host->time->clock.shown;

	EXPECT(now >= host->paused_at && now <= EDO_CLOCK_END);
	EXPECT(shown == now || (shown == host->shown && now == host->paused_at));
	host->paused_at = now;
	host->shown = shown;
	for (unsigned i = 0; i < host->shards; i++) {
		uint64_t elapsed = edo_wheel_elapsed(&host->time->shards[i].wheel);

		EXPECT(elapsed == model_tick_at(host, shown) || elapsed == host->present[i]);
		host->present[i] = elapsed;
	}
}

/* ---- between two steps ---- */

static void check_timer(const struct model_timer *timer)
{
	uint64_t cell = timer->entry.edo_node_.when;

	EXPECT(edo_entry_is_armed(&timer->entry) == (timer->state == ARMED));
	EXPECT(edo_entry_has_fired(&timer->entry) == (timer->state == FIRED));
	EXPECT((cell == EDO_TICK_SHUTDOWN) == (timer->state == ENDED));
	EXPECT(timer->state != ARMED || cell == timer->tick);
	EXPECT(edo_wheel_is_armed(&timer->entry.edo_node_) == (timer->state == ARMED));
}

static void check_targets(const struct model *model)
{
	unsigned references[RIG_TARGETS] = { 0 };

	for (unsigned i = 0; i < model->timers; i++)
		if (model->timer[i].state == ARMED)
			references[model->timer[i].target]++;
	for (unsigned i = 0; i < RIG_TARGETS; i++) {
		EXPECT(rig_targets[i].references == references[i]);
		EXPECT(rig_targets[i].wakes == model->wakes[i]);
	}
}

static void check_wheels(const struct model *model, const struct model_host *host)
{
	size_t armed[MODEL_SHARDS] = { 0 };

	for (unsigned i = 0; i < model->timers; i++)
		if (is_in(model, &model->timer[i], host))
			armed[model->timer[i].shard]++;
	for (unsigned i = 0; i < host->shards; i++) {
		const edo_wheel *wheel = &host->time->shards[i].wheel;

		EXPECT(edo_wheel_check(wheel) == 0);
		EXPECT(edo_wheel_count(wheel) == armed[i]);
		EXPECT(edo_wheel_elapsed(wheel) == host->present[i]);
		EXPECT(host->time->shards[i].closed == host->is_closed);
		EXPECT(host->time->shards[i].lock.word == 0);
	}
}

static void check_host(const struct model *model, const struct model_host *host)
{
	const struct model_timer *first = model_earliest(model, host);
	const struct rig_host *rig = &rig_hosts[number_of(model, host)];
	uint64_t tick = 0;
	bool found = edo_time_earliest(host->time, &tick);

	check_wheels(model, host);
	EXPECT(found == (first != NULL));
	EXPECT(!first || tick <= first->tick);
	EXPECT(edo_time_now(host->time) == model_now(host));
	EXPECT(host->time->clock.shown == host->shown);
	EXPECT(host->time->next_wake == host->next_wake);
	EXPECT(rig->unparks == host->unparks);
	EXPECT(rig->holders == 0);
}

void model_check(struct model *model)
{
	for (unsigned i = 0; i < model->timers; i++)
		check_timer(&model->timer[i]);
	check_targets(model);
	for (unsigned i = 0; i < RIG_HOSTS; i++)
		check_host(model, &model->host[i]);
}
