/* An errand that is asked for while a thread drives: what was done before the asking is seen by who runs it. */
#include "explore/explore.h"
#include "scheduler/errand.h"

static struct edo_driver driver;
static struct edo_current_thread rt;
static int prepared; /* plain: by who asks, before it asks */
static uint32_t seen;
static bool was_run; /* by the thread that drives */

static void run(struct edo_current_thread *of, uint32_t errand)
{
	explore_check(of == &rt && errand == 7 && prepared == 1);
	seen++;
	was_run = true;
}

static void asks(void *unused)
{
	(void)unused;
	prepared = 1;
	edo_errand_ask(&rt, run, 7);
}

/* As a round does: looks after each sleep. */
static void drives(void *unused)
{
	(void)unused;
	while (!was_run) {
		(void)edo_thread_park_wait(&driver.park, UINT64_MAX);
		edo_errand_look(&rt);
	}
}

static void who_sleeps_is_asked(void)
{
	rt.scheduler.driver = &driver;
	explore_start(drives, NULL);
	explore_start(asks, NULL);
	explore_join_all();
	explore_check(seen == 1);
}

/* Between two tasks, without a sleep. */
static void drives_busily(void *unused)
{
	(void)unused;
	for (;;) {
		edo_errand_look(&rt);
		if (was_run)
			return;
		explore_wait_a_moment();
	}
}

static void who_is_busy_is_asked(void)
{
	rt.scheduler.driver = &driver;
	explore_start(drives_busily, NULL);
	explore_start(asks, NULL);
	explore_join_all();
	explore_check(seen == 1);
}

static const struct explore_model models[] = {
	{ "who is busy is asked",
	  who_is_busy_is_asked,
	  { EXPLORE_ALL, EXPLORE_ALL },
	  { EXPLORE_ALL, EXPLORE_ALL } },
	{ "who sleeps is asked",
	  who_sleeps_is_asked,
	  { EXPLORE_ALL, EXPLORE_ALL },
	  { EXPLORE_ALL, EXPLORE_ALL } },
};

EXPLORE_MAIN(models)
