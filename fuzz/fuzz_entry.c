/*
 * Timer entries in time drivers, against a plain array of deadlines (entry/model.h): polled, moved,
 * armed, dropped, fired by a turn and ended by a shutdown, by one thread, which in the middle of a wake
 * does any of it again. The clock goes on by nothing, a little or years, back, stands, and is turned.
 *
 * After each step: every entry fired or not as its deadline says, each waker woken once for each fire
 * and all clones accounted for, the driver's next wake-up not after the earliest deadline, nobody unparked
 * who need not be, no clock read that need not be, and the wheels' own checker content.
 */
#include "driver/time/shard.h"
#include "entry/model.h"
#include <errno.h>
#include <string.h>

enum { DEEPEST = 3, FEW = 8, SOME = 48 };

static struct model model;
static struct input input;
static edo_context context;
static unsigned depth;       /* of wakes in wakes */
static bool may_be_moved;    /* while it is being fired */
static uint32_t last_number; /* of a driver */

/* ---- drawing ---- */

static uint64_t add(uint64_t number, uint64_t more)
{
	return more > UINT64_MAX - number ? UINT64_MAX : number + more;
}

/* Any magnitude as likely as any other. */
static uint64_t draw_magnitude(void)
{
	unsigned bits = input_below(&input, 65);
	uint64_t number = input_draw(&input, (bits + 7) / 8);

	return bits == 0 ?
		       0 :
		       (UINT64_C(1) << (bits - 1)) | (number & ((UINT64_C(1) << (bits - 1)) - 1));
}

static struct model_timer *draw_timer(void)
{
	return &model.timer[model.timers <= 256 ? input_below(&input, model.timers) :
						  input_draw(&input, 2) % model.timers];
}

static unsigned draw_target(void)
{
	return input_below(&input, RIG_TARGETS);
}

/* Where digits of the wheel carry: a small number times 64^n, or near. */
static uint64_t draw_boundary(void)
{
	unsigned level = input_below(&input, 10);
	uint64_t tick = (uint64_t)(1 + input_below(&input, 66)) << (6 * level);

	return tick + input_below(&input, 5) - 2;
}

/* A tick as callers compute it, which also compares how they do. */
static uint64_t tick_of_a_deadline(const struct model_host *host, uint64_t deadline)
{
	uint64_t tick = model_tick_of(host, deadline);

	EXPECT(edo_time_tick_of(host->time, deadline) == tick);
	EXPECT(edo_time_tick_at(host->time, deadline) == model_tick_at(host, deadline));
	EXPECT(edo_time_instant_of(host->time, tick) == model_instant_of(host, tick));
	return tick;
}

static uint64_t draw_tick(const struct model_host *host)
{
	uint64_t present = host->present[0];
	uint64_t tick;

	switch (input_below(&input, 8)) {
	case 0:
	case 1:
		tick = add(present, input_below(&input, 80));
		break;
	case 2:
		return tick_of_a_deadline(host, add(model_now(host), draw_magnitude()));
	case 3:
		tick = add(present & ~UINT64_C(63) << (6 * input_below(&input, 5)),
			   draw_boundary());
		break;
	case 4:
		tick = draw_timer()->tick + input_below(&input, 3) - 1;
		break;
	case 5:
		tick = EDO_TICK_MAX - input_below(&input, 6);
		break;
	case 6:
		tick = draw_magnitude();
		break;
	default:
		tick = add(present, draw_magnitude());
	}
	return tick < EDO_TICK_MAX ? tick : EDO_TICK_MAX;
}

/* ---- the owner's side ---- */

/* Of the host whose ticks are meant; that of another one when none is entered. */
static const struct model_host *any_host(void)
{
	return rig_entered ? model_entered(&model) : &model.host[0];
}

static struct edo_time_driver *entered_time(void)
{
	return rig_entered ? &rig_entered->time : NULL;
}

static void poll(struct model_timer *timer)
{
	uint64_t tick = draw_tick(any_host());
	unsigned target = draw_target();
	unsigned reads = rig_clock_reads + (timer->state == ARMED);
	edo_poll expected = model_poll(&model, timer, tick, target);

	context.waker = &rig_targets[target].waker;
	EXPECT(edo_entry_poll(entered_time(), &timer->entry, tick, &context) == expected);
	EXPECT(context.edo_now_ == model.poll_now);
	EXPECT(rig_clock_reads <= reads);
}

static void reset(struct model_timer *timer)
{
	uint64_t tick = draw_tick(any_host());
	int expected = model_reset(&model, timer, tick);
	bool is_armed = timer->state == ARMED;
	unsigned reads = rig_clock_reads;

	EXPECT(edo_entry_reset(entered_time(), &timer->entry, tick) == expected);
	/* T5; who was woken may have read it. */
	EXPECT(rig_clock_reads == reads || !is_armed);
}

static void arm(struct model_timer *timer)
{
	uint64_t tick = draw_tick(any_host());
	unsigned target = draw_target();
	int expected = model_arm(&model, timer, tick, target);

	EXPECT(edo_entry_arm(entered_time(), &timer->entry, tick, &rig_targets[target].waker) ==
	       expected);
}

static void drop(struct model_timer *timer)
{
	model_drop(timer);
	edo_entry_drop(&timer->entry);
}

/* Storage filled with zeros is as good as an entry that was initialised. */
static void renew(struct model_timer *timer)
{
	if (timer->state == ARMED)
		return;
	timer->state = AT_REST;
	if (input_below(&input, 2) == 0)
		edo_entry_init(&timer->entry);
	else
		memset(&timer->entry, 0, sizeof timer->entry);
}

static void use_a_timer(void)
{
	struct model_timer *timer = draw_timer();

	switch (input_below(&input, 8)) {
	case 0:
	case 1:
	case 2:
		poll(timer);
		break;
	case 3:
	case 4:
		reset(timer);
		break;
	case 5:
		arm(timer);
		break;
	case 6:
		drop(timer);
		break;
	default:
		renew(timer);
	}
}

/* Many at once, at equal distances. */
static void arm_a_crowd(void)
{
	unsigned first = (unsigned)(draw_timer() - model.timer);
	unsigned count = (unsigned)input_draw(&input, 2) % (model.timers + 1);
	uint64_t tick = draw_tick(any_host());
	uint64_t distance = draw_magnitude();

	for (unsigned i = 0; i < count && rig_entered; i++) {
		struct model_timer *timer = &model.timer[(first + i) % model.timers];
		unsigned target = i % RIG_TARGETS;
		int expected = model_arm(&model, timer, tick, target);

		EXPECT(edo_entry_arm(entered_time(), &timer->entry, tick,
				     &rig_targets[target].waker) == expected);
		tick = add(tick, distance) < EDO_TICK_MAX ? tick + distance : EDO_TICK_MAX;
	}
}

/* As if another worker had armed it. */
static void put_into_another_shard(void)
{
	struct model_timer *timer = draw_timer();
	struct model_host *host = &model.host[timer->host];
	unsigned shard = input_below(&input, MODEL_SHARDS);
	struct edo_time_shard *from, *to;

	if (timer->state != ARMED || shard >= host->shards || host->present[shard] >= timer->tick)
		return;
	from = &host->time->shards[timer->shard];
	to = &host->time->shards[shard];
	EXPECT(edo_wheel_remove(&from->wheel, &timer->entry.edo_node_));
	edo_entry_set_home(&timer->entry, host->time, to);
	EXPECT(edo_wheel_insert(&to->wheel, &timer->entry.edo_node_, timer->tick) == 0);
	timer->shard = shard;
}

/* p20: a copy of what is armed is refused and leaves the original alone, unless their marks are equal. */
static void use_a_copy(void)
{
	static edo_timer_entry copy;
	struct model_timer *timer = draw_timer();
	unsigned misuses = rig_misuses;
	int expected = rig_entered == &rig_hosts[timer->host] ? -EINVAL : -EXDEV;

	copy = timer->entry;
	if (timer->state != ARMED ||
	    edo_entry_address_mark(&copy) == edo_entry_address_mark(&timer->entry))
		return;
	context.waker = &rig_targets[0].waker;
	EXPECT(edo_entry_poll(entered_time(), &copy, 1, &context) == expected);
	EXPECT(edo_entry_reset(entered_time(), &copy, 1) == expected);
	edo_entry_drop(&copy);
	EXPECT(!edo_entry_is_armed(&copy));
	EXPECT(rig_misuses == misuses || rig_misuses == misuses + (expected == -EINVAL ? 3 : 1));
	rig_misuses = 0;
}

/* ---- the holder's side ---- */

/* The holder is awake before it does anything else. */
static struct model_host *draw_awake_host(void)
{
	struct model_host *host = &model.host[input_below(&input, RIG_HOSTS)];

	edo_time_after_wait(host->time);
	host->next_wake = EDO_WAKE_IDLE;
	return host;
}

static void turn(struct model_host *host, bool is_to_the_end)
{
	unsigned limit = EDO_TURN_HOLDS * host->shards;
	unsigned fired;

	rig_holds = 0;
	model_begin_turn(host);
	may_be_moved = true;
	fired = is_to_the_end ? edo_time_process_all(host->time) : edo_time_process(host->time);
	may_be_moved = false;
	EXPECT(is_to_the_end || rig_holds <= limit); /* T7 */
	host->is_whole = is_to_the_end || rig_holds < limit;
	EXPECT(host->is_whole || model.timers > SOME);
	EXPECT(model_end_turn(&model, host) == fired);
}

/* What the wheels name as the next tick may be the start of a coarse slot; it is never too late. */
static uint64_t wait_for(const struct model_host *host, uint64_t max_wait)
{
	uint64_t now = model_now(host);
	uint64_t next, due;

	if (!edo_time_earliest(host->time, &next))
		return max_wait;
	due = model_instant_of(host, next);
	if (due <= now || max_wait == 0)
		return 0;
	if (host->is_paused || due == EDO_FOREVER || due - now > max_wait)
		return max_wait;
	return due - now;
}

/* R4: exact, to the earliest deadline at most, and not nothing without a reason. */
static void check_wait(const struct model_host *host, uint64_t wait, uint64_t max_wait)
{
	const struct model_timer *first = model_earliest(&model, host);
	uint64_t due = first ? model_instant_of(host, first->tick) : EDO_FOREVER;
	uint64_t now = model_now(host);
	bool is_turned = host->is_whole && host->present[0] == model_tick_at(host, now);

	EXPECT(wait == wait_for(host, max_wait));
	EXPECT(due > now || wait == 0);
	EXPECT(due == EDO_FOREVER || host->is_paused || wait <= edo_instant_since(due, now));
	EXPECT(wait > 0 || max_wait == 0 || !is_turned);
}

/* The holder goes to sleep; what other steps do until it is awake again, others do meanwhile. */
static void begin_to_wait(void)
{
	struct model_host *host = draw_awake_host();
	const struct model_timer *first = model_earliest(&model, host);
	uint64_t max_wait = input_below(&input, 2) == 0 ? EDO_FOREVER : draw_magnitude();
	uint64_t wait = edo_time_before_wait(host->time, max_wait);
	uint64_t published = host->time->next_wake;

	check_wait(host, wait, max_wait);
	if (max_wait == 0)
		EXPECT(published == EDO_WAKE_IDLE);
	else if (!first)
		EXPECT(published == EDO_WAKE_FOREVER);
	else
		EXPECT(published > 0 && published <= first->tick);
	host->next_wake = published;
	if (input_below(&input, 2) == 0 && wait != EDO_FOREVER)
		rig_clock += wait;
}

/* As if the holder were in the middle of its scan. */
static void begin_to_scan(void)
{
	struct model_host *host = draw_awake_host();

	host->next_wake = host->time->next_wake = EDO_WAKE_SCANNING;
}

static void jump(struct model_host *host)
{
	const struct model_timer *first = model_earliest(&model, host);
	uint64_t due = first ? model_instant_of(host, first->tick) : EDO_FOREVER;

	if (due <= EDO_CLOCK_END) {
		host->paused_at = due > host->paused_at ? due : host->paused_at;
		host->is_whole = true;
		model_begin_turn(host);
		EXPECT(edo_time_jump(host->time));
		EXPECT(model_end_turn(&model, host) > 0);
		return;
	}
	EXPECT(!edo_time_jump(host->time));
	model_follow_jump(host);
}

static void handle_the_clock(void)
{
	struct model_host *host = draw_awake_host();
	uint64_t duration;

	switch (input_below(&input, 4)) {
	case 0:
		EXPECT(edo_time_pause(host->time) == (host->is_paused ? -EINVAL : 0));
		if (!host->is_paused)
			host->paused_at = model_now(host);
		host->is_paused = true;
		break;
	case 1:
		EXPECT(edo_time_resume(host->time) == (host->is_paused ? 0 : -EINVAL));
		if (host->is_paused)
			host->start = rig_clock - host->paused_at;
		host->is_paused = false;
		break;
	case 2:
		duration = draw_magnitude();
		EXPECT(edo_time_advance(host->time, duration) == (host->is_paused ? 0 : -EINVAL));
		host->paused_at = add(host->paused_at, duration);
		if (host->paused_at > EDO_CLOCK_END)
			host->paused_at = EDO_CLOCK_END;
		break;
	default:
		if (host->is_paused)
			jump(host);
	}
}

/* To just before, at or after a deadline. */
static void step_clock_to_a_deadline(void)
{
	const struct model_timer *timer = draw_timer();
	const struct model_host *host = &model.host[timer->host];
	uint64_t due = model_instant_of(host, timer->tick);

	if (timer->state == ARMED && due <= EDO_CLOCK_END)
		rig_clock = host->start + due + input_below(&input, 3) - 1;
}

static void step_clock(void)
{
	switch (input_below(&input, 8)) {
	case 0:
		rig_clock++;
		break;
	case 1:
	case 2:
		step_clock_to_a_deadline();
		break;
	case 3:
		rig_clock -= draw_magnitude();
		break;
	case 4:
		rig_clock += draw_boundary() * any_host()->resolution;
		break;
	case 5:
		rig_clock += draw_magnitude();
		break;
	default:
		rig_clock += input_below(&input, 80) * any_host()->resolution;
	}
}

/* ---- hosts ---- */

static void start(unsigned number)
{
	static const uint64_t resolutions[] = {
		1, 1000000, 3, 1000, 1 << 20, 999983, UINT64_C(1000000000), 64, UINT64_C(1) << 40,
	};
	struct rig_host *host = &rig_hosts[number];
	unsigned choice = input_below(&input, sizeof resolutions / sizeof *resolutions);
	unsigned shards = 1 + input_below(&input, MODEL_SHARDS);
	bool is_paused = input_below(&input, 4) == 1;

	EXPECT(edo_time_init(&host->time, ++last_number, EDO_SYS_MONOTONIC, resolutions[choice],
			     is_paused, shards, &rig_allocator) == 0);
	host->is_known = true;
	host->unparks = 0;
	model_start_host(&model.host[number], &host->time);
}

/* In the order in which a driver ends: its number first. */
static void end(unsigned number)
{
	struct model_host *host = &model.host[number];

	rig_hosts[number].is_known = false;
	host->is_closed = true;
	host->busy = IS_ENDING;
	edo_time_shutdown(host->time);
	model_catch_up(&model);
	host->busy = IS_FREE;
	EXPECT(!model_earliest(&model, host));
}

static void end_or_begin_anew(void)
{
	unsigned number = input_below(&input, RIG_HOSTS);

	if (!model.host[number].is_closed) {
		end(number);
		return;
	}
	edo_time_destroy(model.host[number].time);
	start(number);
}

static void begin_a_poll(void)
{
	context = (edo_context){ .edo_budget_ = 128 };
	model.poll_now = 0;
}

static void enter(void)
{
	unsigned number = input_below(&input, RIG_HOSTS + 1);

	rig_entered = number < RIG_HOSTS ? &rig_hosts[number] : NULL;
	begin_a_poll();
}

/* ---- what happens in the middle ---- */

static void in_a_wake(struct rig_target *target)
{
	(void)target;
	if (depth == DEEPEST || input_below(&input, 4) < 3)
		return;
	depth++;
	model_catch_up(&model);
	use_a_timer();
	depth--;
}

/* T4: an owner moves it on, at the last moment. */
static void between_wheel_and_fire(edo_timer_entry *entry)
{
	struct model_timer *timer = edo_container_of(entry, struct model_timer, entry);
	struct model_host *host = &model.host[timer->host];
	uint64_t tick;

	if (!may_be_moved || input_below(&input, 8) != 1)
		return;
	tick = add(timer->tick, draw_magnitude());
	timer->tick = tick < EDO_TICK_MAX ? tick : EDO_TICK_MAX;
	host->was_moved = true;
	EXPECT(edo_entry_reset(host->time, entry, timer->tick) == 0);
}

/* ---- an input ---- */

static void take_step(void)
{
	unsigned kind = input_below(&input, 32);
	struct model_host *host;

	if (kind < 14) {
		use_a_timer();
	} else if (kind < 18) {
		step_clock();
	} else if (kind < 22) {
		host = draw_awake_host();
		turn(host, input_below(&input, 4) == 0);
	} else if (kind < 24) {
		begin_to_wait();
	} else if (kind < 26) {
		handle_the_clock();
	} else {
		static void (*const seldom[])(void) = {
			begin_to_scan, enter,       begin_a_poll,      put_into_another_shard,
			use_a_copy,    arm_a_crowd, end_or_begin_anew,
		};

		seldom[input_below(&input, sizeof seldom / sizeof *seldom)]();
	}
}

static void begin(void)
{
	static const unsigned sizes[] = { FEW, SOME, FEW, SOME, FEW, SOME, FEW, MODEL_TIMERS };

	rig_begin();
	rig_when_woken = in_a_wake;
	rig_when_handed_out = between_wheel_and_fire;
	depth = 0;
	last_number = 0;
	may_be_moved = false;
	memset(&model, 0, sizeof model);
	model.timers = sizes[input_below(&input, sizeof sizes / sizeof *sizes)];
	for (unsigned i = 0; i < model.timers; i++)
		edo_entry_init(&model.timer[i].entry);
	for (unsigned i = 0; i < RIG_HOSTS; i++)
		start(i);
	rig_entered = &rig_hosts[0];
	begin_a_poll();
}

static void finish(void)
{
	for (unsigned i = 0; i < RIG_HOSTS; i++)
		if (!model.host[i].is_closed)
			end(i);
	model_check(&model);
	for (unsigned i = 0; i < RIG_TARGETS; i++)
		EXPECT(rig_targets[i].references == 0);
	for (unsigned i = 0; i < RIG_HOSTS; i++)
		edo_time_destroy(model.host[i].time);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = (struct input){ data, size };
	begin();
	while (!input_has_ended(&input)) {
		take_step();
		model_check(&model);
		EXPECT(rig_misuses == 0);
	}
	finish();
	return 0;
}
