/*
 * T3: whoever sleeps in the driver is woken for a nearer timer, in whatever order scanning, inserting,
 * publishing and releasing come. A timer that was lost shows as one that fires late: the clock moves
 * only when nobody can do anything, to the end of somebody's wait.
 *
 * The driver is the real one, parked on a futex; who holds it holds the core of a current-thread
 * scheduler, as in the product.
 */
#include "driver/driver.h"
#include "explore/explore.h"
#include "scheduler/core.h"
#include "task/task.h"

#define TICK UINT64_C(1000000)

static struct edo_driver driver;
static struct edo_current_thread scheduler;
static struct edo_cell_pool *pool;

/* Changed by who holds the core. */
static unsigned expected;
static unsigned turns;

struct timer {
	edo_timer_entry entry;
	edo_waker waker;
	uint64_t tick;
	unsigned fired;
	unsigned owners; /* of the waker */
};

static struct timer timers[3];

static edo_waker clone_of(void *data);

/* Only the driver wakes, and it holds the core then. */
static void wake(void *data)
{
	struct timer *timer = data;

	explore_check(explore_clock() == timer->tick * TICK);
	timer->fired++;
	expected--;
}

static void ignore(void *data)
{
	(void)data;
}

static const edo_waker_ops timer_waker_ops = { clone_of, wake, wake, ignore };

static edo_waker clone_of(void *data)
{
	return (edo_waker){ data, &timer_waker_ops };
}

static struct timer *timer_at(unsigned index, uint64_t tick)
{
	struct timer *timer = &timers[index];

	edo_entry_init(&timer->entry);
	timer->waker = clone_of(timer);
	timer->tick = tick;
	expected++;
	return timer;
}

static void arm(struct timer *timer)
{
	edo_context cx = { .waker = &timer->waker,
			   .edo_driver_ = &driver,
			   .edo_budget_ = EDO_COOP_BUDGET };

	explore_check(edo_entry_poll(&driver.time, &timer->entry, timer->tick, &cx) == EDO_PENDING);
}

static void arms(void *timer)
{
	(void)edo_current_driver_set(&driver);
	arm(timer);
}

/* The last one ends the others' sleep: there is nothing more to come. */
static void holds_until_all_have_fired(void *argument)
{
	bool is_over = false;

	(void)argument;
	(void)edo_current_driver_set(&driver);
	while (!is_over) {
		if (!edo_core_try_take(&scheduler)) {
			explore_wait_a_moment();
			continue;
		}
		is_over = expected == 0;
		if (!is_over) {
			edo_driver_turn(&driver, UINT64_MAX, false);
			turns++;
		}
		edo_core_release(&scheduler);
	}
}

static void begin(void)
{
	static const struct edo_driver_options options = {
		.disable_io = true,
		.timer_resolution = TICK,
		.shards = 1,
		.allocator = &edo_default_allocator,
	};

	explore_check(edo_driver_init(&driver, &options) == 0);
	driver.time.clock.start = 0; /* the clock shows what the model's shows */
	pool = edo_cell_pool_create(&edo_default_allocator);
	edo_current_thread_init(&scheduler, &driver, pool, 61, 31);
	(void)edo_current_driver_set(&driver);
}

static void end(void)
{
	explore_check(expected == 0);
	edo_driver_shutdown(&driver);
	edo_driver_destroy(&driver);
	(void)edo_cell_pool_close(pool, NULL, 0);
}

/*
 * Each timer's own turn; and each insertion may end one wait, forbid another, or come late with its system
 * call and end the next one for nothing.
 */
static void check_turns(unsigned all, unsigned insertions)
{
	explore_check(turns <= all + 2 * insertions);
}

static void an_earlier_timer(void)
{
	begin();
	arm(timer_at(0, 9));
	explore_start(arms, timer_at(1, 5));
	explore_start(holds_until_all_have_fired, NULL);
	explore_join_all();
	check_turns(2, 1);
	end();
}

static void the_first_timer(void)
{
	begin();
	explore_start(arms, timer_at(0, 5));
	explore_start(holds_until_all_have_fired, NULL);
	explore_join_all();
	check_turns(1, 1);
	end();
}

static void a_later_timer(void)
{
	begin();
	arm(timer_at(0, 5));
	explore_start(arms, timer_at(1, 9));
	explore_start(holds_until_all_have_fired, NULL);
	explore_join_all();
	/* Nobody is disturbed by what comes later. */
	check_turns(2, 1);
	end();
}

/* A sleep is disturbed at most once. */
static void two_inserters(void)
{
	struct timer *earlier, *later;

	begin();
	earlier = timer_at(0, 5);
	later = timer_at(1, 9);
	explore_start(arms, earlier);
	explore_start(arms, later);
	explore_start(holds_until_all_have_fired, NULL);
	explore_join_all();
	check_turns(2, 2);
	end();
}

static void resets_to_earlier(void *argument)
{
	struct timer *timer = argument;

	(void)edo_current_driver_set(&driver);
	timer->tick = 5;
	explore_check(edo_entry_reset(&driver.time, &timer->entry, 5) == 0);
}

static void a_reset_to_earlier(void)
{
	struct timer *timer;

	begin();
	timer = timer_at(0, 9);
	arm(timer);
	explore_start(resets_to_earlier, timer);
	explore_start(holds_until_all_have_fired, NULL);
	explore_join_all();
	end();
}

/* One's IDLE must not fall on what the other has published. */
static void two_holders(void)
{
	struct timer *timer;

	begin();
	arm(timer_at(0, 9));
	timer = timer_at(1, 5);
	explore_start(holds_until_all_have_fired, NULL);
	explore_start(holds_until_all_have_fired, NULL);
	explore_start(arms, timer);
	explore_join_all();
	end();
}

static void two_holders_two_inserters(void)
{
	struct timer *later, *earlier;

	begin();
	later = timer_at(0, 9);
	earlier = timer_at(1, 5);
	explore_start(holds_until_all_have_fired, NULL);
	explore_start(holds_until_all_have_fired, NULL);
	explore_start(arms, later);
	explore_start(arms, earlier);
	explore_join_all();
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "the first timer ends a sleep without end", the_first_timer, ALL, ALL },
	{ "an earlier timer ends a sleep", an_earlier_timer, ALL, ALL },
	{ "a later timer waits for its turn", a_later_timer, ALL, ALL },
	{ "a reset to earlier ends a sleep", a_reset_to_earlier, ALL, ALL },
	{ "two insertions disturb one sleep", two_inserters, { 3, 2 }, ALL },
	{ "two hold the driver by turns", two_holders, ALL, ALL },
	{ "two hold, two insert", two_holders_two_inserters, { 1, 1 }, { 2, 1 } },
};

EXPLORE_MAIN(models)
