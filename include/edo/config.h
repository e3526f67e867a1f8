/**
 * @file
 * What a runtime is made of.
 */
#ifndef EDO_CONFIG_H
#define EDO_CONFIG_H

#include <edo/detail/base.h>
#include <stdbool.h>

EDO_BEGIN_DECLS

/** How tasks are scheduled. */
typedef enum edo_flavor {
	/** The library's default: at present EDO_CURRENT_THREAD. */
	EDO_DEFAULT_FLAVOR,
	/** All tasks run on the thread that waits (edo_block_on(), edo_await()); no thread is started. */
	EDO_CURRENT_THREAD,
	/** One worker a core. Not in this version: edo_runtime_create() says -EOPNOTSUPP. */
	EDO_MULTI_THREAD,
} edo_flavor;

/** Which clock timers follow. */
typedef enum edo_clock_source {
	/** CLOCK_MONOTONIC: stands still while the machine is suspended. The default. */
	EDO_CLOCK_MONOTONIC,
	/** CLOCK_BOOTTIME: goes on, so that a timer whose time has passed fires on resume. */
	EDO_CLOCK_BOOTTIME,
} edo_clock_source;

/**
 * Where memory comes from. Must outlive the last handle (task, waker), not only the runtime; both
 * functions are called from any thread.
 */
typedef struct edo_allocator {
	/** @return @p size bytes aligned to @p align (a power of two), or NULL. */
	void *(*allocate)(void *context, size_t size, size_t align);
	/** Takes back what allocate() returned, with the same size. */
	void (*release)(void *context, void *memory, size_t size);
	/** Handed to both functions as it is. */
	void *context;
} edo_allocator;

/**
 * A runtime's configuration. Start from EDO_CONFIG_INIT; zero means "default" in every field but `size`.
 *
 * What makes no sense is -EINVAL at creation, and edo_config_bad_field() names the field.
 */
typedef struct edo_config {
	/** sizeof(edo_config) as the program was compiled; set by EDO_CONFIG_INIT. */
	size_t size;
	/** How tasks are scheduled. */
	edo_flavor flavor;
	/** Which clock timers follow. */
	edo_clock_source clock;
	/** No poller: sockets and descriptors say -EOPNOTSUPP. Threads park on a futex instead. */
	bool disable_io;
	/** No timers: sleeps and time-outs say -EOPNOTSUPP. */
	bool disable_time;
	/** The clock starts paused, see edo_pause(). Current-thread only. */
	bool start_paused;
	/** Length of a timer tick in ns: 1 µs to 1 s; default 1 ms. Deadlines are rounded up to it. */
	uint64_t timer_resolution;
	/** Seed of every random choice (edo_select() makes some); 0: a different one each time. */
	uint64_t seed;
	/** Look at events and timers after this many polls at the latest; default 61. */
	uint32_t event_interval;
	/** Look at tasks woken by other threads after this many polls at the latest; default 31. */
	uint32_t global_queue_interval;
	/** Events taken from the poller in one turn; default 1024. */
	uint32_t events_per_turn;
	/** Stack of a fiber in bytes, rounded up to pages: 16 KiB to 1 GiB; default 64 KiB. */
	size_t stack_size;
	/**
	 * Ended fibers' stacks kept for the next ones; default 1024. A stack keeps the memory that it
	 * has ever used.
	 */
	uint32_t stack_cache;
	/** Threads' names, cut at 15 characters; default "edo". Copied at creation. */
	const char *thread_name;
	/** How long destroy waits for fibers that do not return, in ns; default 10 s. */
	uint64_t shutdown_timeout;
	/** NULL: malloc. Copied at creation. */
	const edo_allocator *allocator;
} edo_config;

/** An initialiser for edo_config: all defaults. */
#define EDO_CONFIG_INIT                                                                            \
	{                                                                                          \
		sizeof(edo_config), EDO_DEFAULT_FLAVOR, EDO_CLOCK_MONOTONIC, false, false, false,  \
			0, 0, 0, 0, 0, 0, 0, NULL, 0, NULL                                         \
	}

/**
 * Checks a configuration as edo_runtime_create() does.
 *
 * @return NULL when it is sound, else the name of the first field that is not
 */
EDO_API const char *edo_config_bad_field(const edo_config *config);

EDO_END_DECLS

#endif
