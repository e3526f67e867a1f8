/*
 * Lets an echo server be looked into while it runs, without a word in its own text: linked to it, with
 * edo_io_idle_begin() and edo_io_idle_progress() led through here by the linker (--wrap).
 *
 * At SIGUSR1 it writes one line to standard output:
 *
 *     timers N resets M
 *
 * N: timers in the wheel of the runtime that this thread runs; M: how often a stream's idle limit has been
 * started anew so far. The handler runs on the thread that turns the wheel and only reads numbers.
 */
#include "driver/driver.h"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t resets;

void __real_edo_io_idle_begin(struct edo_time_driver *time, struct edo_scheduled_io *sio,
			      uint64_t now, uint32_t *seen);
void __wrap_edo_io_idle_begin(struct edo_time_driver *time, struct edo_scheduled_io *sio,
			      uint64_t now, uint32_t *seen);
void __real_edo_io_idle_progress(struct edo_time_driver *time, struct edo_scheduled_io *sio,
				 uint64_t now);
void __wrap_edo_io_idle_progress(struct edo_time_driver *time, struct edo_scheduled_io *sio,
				 uint64_t now);

/* Only the first operation since the last progress starts the limit anew. */
void __wrap_edo_io_idle_begin(struct edo_time_driver *time, struct edo_scheduled_io *sio,
			      uint64_t now, uint32_t *seen)
{
	resets += edo_load(&sio->idle_limit, relaxed) && !edo_load(&sio->idle_started, relaxed);
	__real_edo_io_idle_begin(time, sio, now, seen);
}

void __wrap_edo_io_idle_progress(struct edo_time_driver *time, struct edo_scheduled_io *sio,
				 uint64_t now)
{
	resets += edo_load(&sio->idle_limit, relaxed) != 0;
	__real_edo_io_idle_progress(time, sio, now);
}

static void tell(int number)
{
	const struct edo_driver *driver = edo_current_driver();
	char line[80];
	size_t timers = 0;
	int len;

	(void)number;
	for (uint32_t i = 0; driver && i < driver->time.shard_count; i++)
		timers += driver->time.shards[i].wheel.count;
	len = snprintf(line, sizeof line, "timers %zu resets %llu\n", timers,
		       (unsigned long long)resets);
	if (write(STDOUT_FILENO, line, (size_t)len) < 0)
		return;
}

__attribute__((constructor)) static void install(void)
{
	struct sigaction action = { .sa_handler = tell, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
}
