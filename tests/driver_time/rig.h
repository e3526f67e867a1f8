/*
 * A time driver without the driver round it: a clock that tests set, an unpark that only counts, and
 * wakers that count and may do anything when woken.
 */
#ifndef EDO_TESTS_DRIVER_TIME_RIG_H
#define EDO_TESTS_DRIVER_TIME_RIG_H

#include "driver/time/time.h"
#include "support/runner.h"

#define MS UINT64_C(1000000)

enum { RIG_DRIVER = 7 };

struct rig_waker {
	edo_waker waker; /* hand out by clone; the rig holds this one */
	uint32_t references;
	uint32_t wakes;
	void (*when_woken)(struct rig_waker *waker);
	void *context;
};

/* What the running clock of the system says; any thread. */
void rig_set_clock(uint64_t ns);
uint64_t rig_clock(void);

/* A driver with ticks of `resolution` ns, its clock running from 0, or standing at 0. */
void rig_start(struct edo_time_driver *time, uint64_t resolution, bool paused);
void rig_start_sharded(struct edo_time_driver *time, uint64_t resolution, uint32_t shards);
/* Shuts down and frees; asserts that all wheels hold together first. */
void rig_end(struct edo_time_driver *time);

/* Which time driver this thread's runtime has (NULL: outside), and which others can be found. */
void rig_enter(struct edo_time_driver *time);
void rig_register(struct edo_time_driver *time);
void rig_unregister(struct edo_time_driver *time);

unsigned rig_unparks(void);

void rig_waker_init(struct rig_waker *waker);
unsigned rig_wakes(const struct rig_waker *waker);
/* Clones that nobody has consumed. */
unsigned rig_clones(const struct rig_waker *waker);

/* A context as the runtime would make it, with a clock not read yet. */
edo_context rig_context(const struct rig_waker *waker);

/* edo_entry_poll() in a poll of its own. */
edo_poll rig_poll(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
		  const struct rig_waker *waker);

/* The clock goes to the instant, and the wheels with it. Returns how many fired. */
unsigned rig_turn_to(struct edo_time_driver *time, uint64_t instant);

size_t rig_armed(const struct edo_time_driver *time);

/* A replayable stream of numbers; EDO_TEST_SEED in the environment chooses another one. */
uint64_t rig_random(uint64_t *state);
uint64_t rig_seed(void);

#endif
