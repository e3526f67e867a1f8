/* The clock of a runtime is paused and resumed by its holder while other threads read it (T1, p09). */
#include "driver/time/time.h"
#include "explore/explore.h"
#include "task/task.h"

enum { NUMBER = 7, PAUSED_AT = 100, STOOD_FOR = 1000 };

static struct edo_time_driver time_driver;

static void resumes(void *argument)
{
	(void)argument;
	explore_check(edo_time_resume(&time_driver) == 0);
}

static void pauses(void *argument)
{
	(void)argument;
	explore_check(edo_time_pause(&time_driver) == 0);
}

/* The clock of the system stands still meanwhile, so there is one right answer. */
static void reads(void *argument)
{
	(void)argument;
	explore_check(edo_time_now(&time_driver) == PAUSED_AT);
}

/* Running, then paused at an instant; the system's clock has gone on since. */
static void begin(void)
{
	explore_check(edo_time_init(&time_driver, NUMBER, EDO_SYS_MONOTONIC, 1, false, 1,
				    &edo_default_allocator) == 0);
	explore_clock_advance(PAUSED_AT);
	pauses(NULL);
	explore_clock_advance(STOOD_FOR);
}

static void end(void)
{
	edo_time_shutdown(&time_driver);
	edo_time_destroy(&time_driver);
}

static void resume_and_read(void)
{
	begin();
	explore_start(resumes, NULL);
	explore_start(reads, NULL);
	explore_join_all();
	reads(NULL);
	end();
}

static void pause_and_read(void)
{
	begin();
	resumes(NULL);
	explore_start(pauses, NULL);
	explore_start(reads, NULL);
	explore_join_all();
	reads(NULL);
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "read while it is resumed", resume_and_read, ALL, ALL },
	{ "read while it is paused", pause_and_read, ALL, ALL },
};

EXPLORE_MAIN(models)
