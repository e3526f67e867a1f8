/*
 * Time drivers without the drivers round them: a clock that the fuzzer sets, an unpark that only counts,
 * and wakers that count and may do anything when woken. One thread; what other threads could do
 * between two steps of a turn is done from rig_when_handed_out.
 */
#ifndef EDO_FUZZ_ENTRY_RIG_H
#define EDO_FUZZ_ENTRY_RIG_H

#include "driver/time/time.h"

enum { RIG_HOSTS = 2, RIG_TARGETS = 6 };

/* In place of a driver. */
struct rig_host {
	struct edo_time_driver time;
	bool is_known; /* by its number, to every thread */
	unsigned holders;
	unsigned unparks;
};

/* What wakers point at. */
struct rig_target {
	edo_waker waker; /* hand out by clone; the rig holds this one */
	unsigned references;
	unsigned wakes;
};

extern struct rig_host rig_hosts[RIG_HOSTS];
extern struct rig_target rig_targets[RIG_TARGETS];
extern struct rig_host *rig_entered; /* whose runtime this thread is on; NULL: none */
extern const edo_allocator rig_allocator;

extern uint64_t rig_clock;
extern unsigned rig_clock_reads;
/* Holds of a shard's lock in turns. */
extern unsigned rig_holds;
/* Copied timers that the library complained of. */
extern unsigned rig_misuses;

/* Called in the middle of a wake, and between a wheel's giving a timer up and its being fired. */
extern void (*rig_when_woken)(struct rig_target *target);
extern void (*rig_when_handed_out)(edo_timer_entry *entry);

void rig_begin(void);

#endif
