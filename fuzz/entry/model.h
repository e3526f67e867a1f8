/*
 * What timer entries must do, as plainly as can be said: an array of deadlines that is searched from
 * end to end, and for each driver the clock, how far its wheels were turned, and for how long it sleeps.
 *
 * The model is told first what is done, and says what must come of it; then it is done. So what a
 * waker does in the middle of a step finds the model as the library's own state is at that moment.
 * What a turn or a shutdown has ended by then is looked up (model_catch_up()).
 */
#ifndef EDO_FUZZ_ENTRY_MODEL_H
#define EDO_FUZZ_ENTRY_MODEL_H

#include "../input.h"
#include "rig.h"

/* More than a turn's EDO_TURN_HOLDS holds of EDO_TURN_BUDGET entries. */
enum { MODEL_TIMERS = 1100, MODEL_SHARDS = 3 };

enum model_state { AT_REST, ARMED, FIRED, ENDED };

struct model_timer {
	edo_timer_entry entry;
	enum model_state state;
	/* While armed. */
	uint64_t tick;
	unsigned host, shard, target;
};

enum model_busy { IS_FREE, IS_TURNING, IS_ENDING };

struct model_host {
	struct edo_time_driver *time;
	uint64_t resolution, start, shown, paused_at;
	bool is_paused, is_closed;
	unsigned shards;
	uint64_t present[MODEL_SHARDS]; /* the tick to which each shard was turned */
	bool is_whole;                  /* the last turn left nothing for the next */
	uint64_t next_wake;
	unsigned unparks;
	enum model_busy busy;
	unsigned fired; /* in this turn */
	bool was_moved; /* something, while it was being fired in this turn */
	uint64_t latest_fired[MODEL_SHARDS];
};

struct model {
	unsigned timers;
	struct model_timer timer[MODEL_TIMERS];
	struct model_host host[RIG_HOSTS];
	unsigned wakes[RIG_TARGETS];
	uint64_t poll_now; /* the reading that this poll goes by; 0: none yet */
};

/* The host that this thread has entered, or NULL. */
struct model_host *model_entered(struct model *model);

void model_start_host(struct model_host *host, struct edo_time_driver *time);

uint64_t model_now(const struct model_host *host);
/* A deadline's tick, and the tick an instant lies in. */
uint64_t model_tick_of(const struct model_host *host, uint64_t deadline);
uint64_t model_tick_at(const struct model_host *host, uint64_t instant);
uint64_t model_instant_of(const struct model_host *host, uint64_t tick);
/* Over all shards, or NULL. */
const struct model_timer *model_earliest(const struct model *model, const struct model_host *host);

/* What the calls of the same names must return in the host entered. */
edo_poll model_poll(struct model *model, struct model_timer *timer, uint64_t tick, unsigned target);
int model_reset(struct model *model, struct model_timer *timer, uint64_t tick);
int model_arm(struct model *model, struct model_timer *timer, uint64_t tick, unsigned target);
void model_drop(struct model_timer *timer);

void model_begin_turn(struct model_host *host);
/* Returns how many must have fired. */
unsigned model_end_turn(struct model *model, struct model_host *host);
/* Takes over how far a jump has come that found nothing to fire. */
void model_follow_jump(struct model_host *host);
/* Takes over what a turn or a shutdown has ended so far; never early, nothing else. */
void model_catch_up(struct model *model);

/* Everything, between two steps. */
void model_check(struct model *model);

#endif
