/* How often each thing was done, for the whole process, and what is said when something does not hold. */
#ifndef EDO_TESTS_SOAK_TALLY_H
#define EDO_TESTS_SOAK_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#define SOAK_DEEDS(X)                                                                              \
	X(generations)                                                                             \
	X(runtimes)                                                                                \
	X(runtimes_refused)                                                                        \
	X(destroyed_in_flight)                                                                     \
	X(checkpoints)                                                                             \
	X(fibers)                                                                                  \
	X(stackless)                                                                               \
	X(spawns_refused)                                                                          \
	X(aborts)                                                                                  \
	X(joins)                                                                                   \
	X(joins_canceled)                                                                          \
	X(detaches)                                                                                \
	X(handles_outliving)                                                                       \
	X(wakers_outliving)                                                                        \
	X(sleeps)                                                                                  \
	X(timers_fired)                                                                            \
	X(timer_resets)                                                                            \
	X(timer_drops)                                                                             \
	X(ticks)                                                                                   \
	X(timeouts)                                                                                \
	X(clock_pauses)                                                                            \
	X(clock_advances)                                                                          \
	X(waits_given_up)                                                                          \
	X(gates_passed)                                                                            \
	X(listens)                                                                                 \
	X(connects)                                                                                \
	X(connects_failed)                                                                         \
	X(accepts)                                                                                 \
	X(accepts_failed)                                                                          \
	X(ends_of_stream)                                                                          \
	X(half_closes)                                                                             \
	X(closes_by_others)                                                                        \
	X(resets_sent)                                                                             \
	X(resets_felt)                                                                             \
	X(idle_limits_passed)                                                                      \
	X(moves)                                                                                   \
	X(splits)                                                                                  \
	X(backlogs_filled)                                                                         \
	X(bytes_verified)                                                                          \
	X(pipes)                                                                                   \
	X(pipe_bytes_verified)                                                                     \
	X(outside_spawns)                                                                          \
	X(outside_joins)                                                                           \
	X(outside_awaits)                                                                          \
	X(outside_drives)                                                                          \
	X(outside_wakes)                                                                           \
	X(signals_thrown)                                                                          \
	X(signals_taken)                                                                           \
	X(clock_steps)                                                                             \
	X(descriptor_storms)                                                                       \
	X(descriptors_refused)                                                                     \
	X(stacks_refused)                                                                          \
	X(registrations_refused)                                                                   \
	X(bursts_of_refusals)                                                                      \
	X(allocations)                                                                             \
	X(allocations_refused)

#define SOAK_DEED_NAME(name) SOAK_##name,
enum soak_deed { SOAK_DEEDS(SOAK_DEED_NAME) SOAK_DEED_COUNT };
#undef SOAK_DEED_NAME

/* Any thread; legal in a signal handler. */
void soak_count(enum soak_deed deed);
void soak_count_many(enum soak_deed deed, uint64_t times);
uint64_t soak_counted(enum soak_deed deed);
/* All but the generations and the bytes. */
uint64_t soak_counted_all(void);

/* One line for each deed, on stdout. */
void soak_tally_print(void);

/* What to type to come here again; said with each failure. */
void soak_tell_replay(uint64_t seed, uint64_t generation);

/* Ends the process unless it holds, and says what did not. Any thread. */
void soak_expect(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
