#include "chaos.h"
#include "system.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* How long trouble lasts; nothing is right or wrong by it. */
static void last(uint64_t ns)
{
	const struct timespec moment = { .tv_sec = (time_t)(ns / 1000000000),
					 .tv_nsec = (long)(ns % 1000000000) };

	(void)nanosleep(&moment, NULL);
}

/* ---- signals ---- */

static void take_signal(int number)
{
	(void)number;
	soak_count(SOAK_signals_taken);
}

void soak_chaos_prepare(void)
{
	/* No SA_RESTART: calls are interrupted. */
	struct sigaction action = { .sa_handler = take_signal };
	sigset_t signals;

	(void)sigaction(SIGUSR1, &action, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	(void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/* At the process, which hands it to some thread that takes it, or at a thread that drives. */
static void throw_signal(struct soak_chaos *chaos)
{
	struct soak_world *world = &chaos->worlds[soak_below(&chaos->mix, chaos->count)];

	if (soak_one_in(&chaos->mix, 2))
		(void)kill(getpid(), SIGUSR1);
	else
		(void)pthread_kill(world->thread, SIGUSR1);
	soak_count(SOAK_signals_thrown);
}

/* ---- the clock ---- */

/* Forward as after a suspension, a little back, or for a moment to before any runtime's start. */
static void step_clock(struct soak_chaos *chaos)
{
	const int64_t far_back = INT64_C(3600) * 1000000000;

	switch (soak_below(&chaos->mix, 8)) {
	case 0:
		soak_clock_step(-far_back);
		last(soak_length(&chaos->mix, EDO_US(500)));
		soak_clock_step(far_back);
		break;
	case 1:
	case 2:
	case 3:
		soak_clock_step(-(int64_t)soak_length(&chaos->mix, EDO_MS(3)));
		break;
	default:
		soak_clock_step((int64_t)soak_length(&chaos->mix, EDO_MS(100)));
	}
	soak_count(SOAK_clock_steps);
}

/* ---- descriptors and memory ---- */

/* The next that is opened, or the one after some more, is refused. */
static void take_descriptors_away(struct soak_chaos *chaos)
{
	struct rlimit usual, little;
	int next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	if (next < 0 || getrlimit(RLIMIT_NOFILE, &usual) < 0)
		return;
	(void)close(next);
	little = usual;
	little.rlim_cur = (rlim_t)next + soak_below(&chaos->mix, 4);
	(void)setrlimit(RLIMIT_NOFILE, &little);
	last(soak_length(&chaos->mix, EDO_MS(5)));
	(void)setrlimit(RLIMIT_NOFILE, &usual);
	soak_count(SOAK_descriptor_storms);
}

static void refuse_memory(struct soak_chaos *chaos)
{
	struct soak_world *world = &chaos->worlds[soak_below(&chaos->mix, chaos->count)];

	soak_allocator_refuse(&world->allocator, 1 + (uint32_t)soak_length(&chaos->mix, 100));
	last(soak_length(&chaos->mix, EDO_MS(5)));
	soak_allocator_refuse(&world->allocator, 0);
	soak_count(SOAK_bursts_of_refusals);
}

/* Stacks and registrations, of all worlds. */
static void refuse_calls(struct soak_chaos *chaos)
{
	soak_system_refuse(1 + (uint32_t)soak_length(&chaos->mix, 100));
	last(soak_length(&chaos->mix, EDO_MS(5)));
	soak_system_refuse(0);
	soak_count(SOAK_bursts_of_refusals);
}

/* ---- the thread ---- */

static void *trouble(void *arg)
{
	static const unsigned weights[] = { 40, 6, 1, 4, 1 };
	static void (*const troubles[])(struct soak_chaos *) = { throw_signal, step_clock,
								 take_descriptors_away,
								 refuse_memory, refuse_calls };
	struct soak_chaos *chaos = arg;

	while (!__atomic_load_n(&chaos->stop, __ATOMIC_RELAXED)) {
		troubles[soak_weighted(&chaos->mix, weights, 5)](chaos);
		last(soak_length(&chaos->mix, EDO_US(400)));
	}
	return NULL;
}

void soak_chaos_start(struct soak_chaos *chaos, struct soak_world *worlds, unsigned count,
		      struct soak_mix mix)
{
	*chaos = (struct soak_chaos){ .mix = mix, .worlds = worlds, .count = count };
	soak_expect(pthread_create(&chaos->thread, NULL, trouble, chaos) == 0, "no thread");
}

void soak_chaos_end(struct soak_chaos *chaos)
{
	__atomic_store_n(&chaos->stop, true, __ATOMIC_RELAXED);
	(void)pthread_join(chaos->thread, NULL);
}
