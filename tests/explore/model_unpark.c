/*
 * S2: the reactor's wake-up. Threads say something and unpark the holder, who turns until it has seen all of it:
 * a wake-up that is lost leaves it asleep, one that carries too little lets it look in vain and sleep on.
 *
 * What is said is relaxed, or plain: all order is the wake-up's. What several have said is seen through the
 * last of them, so the holder takes nothing but an end of a turn for a reason to look again.
 */
#include "explore/rig_io.h"

enum { FD = 1, SAYERS = 3 };

static struct edo_io_driver io;
static uint32_t said[SAYERS]; /* atomic, relaxed */
static unsigned told[SAYERS]; /* plain */

static unsigned number_of(const void *number)
{
	return (unsigned)(uintptr_t)number;
}

static void *number(unsigned n)
{
	return (void *)(uintptr_t)n;
}

static void begin(void)
{
	rig_io_begin(&io);
}

/* No wake-up is left over, and none was asked for while one was under way. */
static void end(void)
{
	(void)edo_io_turn(&io, 0);
	explore_check(!io.is_woken);
	explore_check(io.events == fake_poller_wakes());
	explore_check(edo_io_turn(&io, 0) == 0);
	rig_io_end(&io);
}

/* ---- those who unpark ---- */

static void says(void *which)
{
	edo_store(&said[number_of(which)], 1, relaxed);
	edo_io_unpark(&io);
}

static void says_twice(void *which)
{
	says(which);
	edo_store(&said[number_of(which)], 2, relaxed);
	edo_io_unpark(&io);
}

static void tells(void *which)
{
	told[number_of(which)] = 1;
	edo_store(&said[number_of(which)], 1, relaxed);
	edo_io_unpark(&io);
}

static void unparks(void *unused)
{
	(void)unused;
	edo_io_unpark(&io);
}

/* ---- the holder ---- */

static uint32_t sum_of_said(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < SAYERS; i++)
		sum += edo_load(&said[i], relaxed);
	return sum;
}

static void turns_until(uint32_t sum)
{
	while (sum_of_said() < sum)
		explore_check(edo_io_turn(&io, EDO_FOREVER) > 0);
}

static void turns_until_said(void *sum)
{
	turns_until((uint32_t)number_of(sum));
}

/* What the end of one turn has shown is all there, the plain too. */
static void turns_once_and_is_told(void *unused)
{
	(void)unused;
	explore_check(edo_io_turn(&io, EDO_FOREVER) == 1);
	explore_check(told[0] == 1);
}

/* By a time-out or by the wake-up. */
static void turns_with_a_limit(void *unused)
{
	(void)unused;
	(void)edo_io_turn(&io, 1);
	turns_until(1);
}

static void turns_without_waiting(void *unused)
{
	(void)unused;
	(void)edo_io_turn(&io, 0);
	turns_until(1);
}

/* ---- models ---- */

static void one_unparks(void)
{
	begin();
	explore_start(turns_until_said, number(1));
	explore_start(says, number(0));
	explore_join_all();
	explore_check(fake_poller_wakes() == 1);
	end();
}

static void what_was_told_is_seen(void)
{
	begin();
	explore_start(turns_once_and_is_told, NULL);
	explore_start(tells, number(0));
	explore_join_all();
	end();
}

static void unparked_before_the_wait(void)
{
	begin();
	says(number(0));
	unparks(NULL);
	explore_check(fake_poller_wakes() == 1);
	explore_start(says, number(1));
	explore_start(turns_until_said, number(2));
	explore_join_all();
	end();
}

static void two_unpark(void)
{
	begin();
	explore_start(turns_until_said, number(2));
	explore_start(says, number(0));
	explore_start(says, number(1));
	explore_join_all();
	end();
}

static void three_unpark(void)
{
	begin();
	explore_start(turns_until_said, number(3));
	explore_start(says, number(0));
	explore_start(says, number(1));
	explore_start(says, number(2));
	explore_join_all();
	end();
}

static void one_unparks_twice(void)
{
	begin();
	explore_start(turns_until_said, number(2));
	explore_start(says_twice, number(0));
	explore_join_all();
	end();
}

static void one_unparks_twice_and_another_once(void)
{
	begin();
	explore_start(turns_until_said, number(3));
	explore_start(says_twice, number(0));
	explore_start(says, number(1));
	explore_join_all();
	end();
}

/* The time-out has come when it begins, or not. */
static void says_late_or_not(void *which)
{
	if (explore_choose(2) == 1)
		explore_clock_advance(1);
	says(which);
}

static void an_unpark_and_a_time_out(void)
{
	begin();
	explore_start(turns_with_a_limit, NULL);
	explore_start(says_late_or_not, number(0));
	explore_join_all();
	end();
}

static void an_unpark_and_a_look(void)
{
	begin();
	explore_start(turns_without_waiting, NULL);
	explore_start(says, number(0));
	explore_start(unparks, NULL);
	explore_join_all();
	end();
}

/* ---- with what the wake-up comes together with ---- */

static struct rig_registered registered;

static void comes(void *unused)
{
	(void)unused;
	fake_poller_says(FD, EDO_IS_READABLE);
}

static bool is_readable(void)
{
	return edo_load(&registered.sio->readiness, relaxed) & EDO_IS_READABLE;
}

static void turns_until_both(void *unused)
{
	(void)unused;
	while (sum_of_said() < 1 || !is_readable())
		explore_check(edo_io_turn(&io, EDO_FOREVER) > 0);
}

static void an_unpark_and_an_event(void)
{
	begin();
	registered = rig_io_register(&io, FD, 0);
	explore_start(turns_until_both, NULL);
	explore_start(comes, NULL);
	explore_start(says, number(0));
	explore_join_all();
	(void)edo_io_turn(&io, 0);
	explore_check(!io.is_woken && io.events == fake_poller_wakes() + 1);
	explore_check(rig_io_deregister(&registered) == 0);
	rig_io_end(&io);
}

/* ---- a wake-up that the system refuses ---- */

static uint32_t was_refused; /* atomic, relaxed */

static void says_in_vain(void *which)
{
	says(which);
	edo_store(&was_refused, 1, relaxed);
}

/* The next one is made, and shows also what the one in vain would have shown. */
static void says_after_the_refused(void *which)
{
	while (!edo_load(&was_refused, relaxed))
		explore_wait_a_moment();
	says(which);
}

static void the_next_unpark_tries_again(void)
{
	begin();
	fake_poller_refuses_wakes(1);
	explore_start(turns_until_said, number(2));
	explore_start(says_in_vain, number(0));
	explore_start(says_after_the_refused, number(1));
	explore_join_all();
	explore_check(fake_poller_wakes() == 1);
	end();
}

/* ---- the holder changes ---- */

static uint32_t is_free; /* 1: the driver may be had */

/* Turns once, and leaves the rest to whoever has the driver next. */
static void turns_once_and_gives_it_up(void *unused)
{
	(void)unused;
	explore_check(edo_io_turn(&io, EDO_FOREVER) == 1);
	edo_store(&is_free, 1, release);
}

static void holds_it_next(void *sum)
{
	while (!edo_load(&is_free, acquire))
		explore_wait_a_moment();
	turns_until_said(sum);
}

static void two_hold_it_in_turn(void)
{
	begin();
	explore_start(turns_once_and_gives_it_up, NULL);
	explore_start(holds_it_next, number(2));
	explore_start(says, number(0));
	explore_start(says, number(1));
	explore_join_all();
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "one unparks", one_unparks, ALL, ALL },
	{ "what was told before an unpark is seen after the turn", what_was_told_is_seen, ALL,
	  ALL },
	{ "unparked before the wait", unparked_before_the_wait, ALL, ALL },
	{ "one unparks twice", one_unparks_twice, ALL, ALL },
	{ "two unpark", two_unpark, ALL, ALL },
	{ "one unparks twice, another once", one_unparks_twice_and_another_once, { 3, 2 }, ALL },
	{ "three unpark", three_unpark, { 2, 2 }, { 3, 2 } },
	{ "an unpark meets a time-out", an_unpark_and_a_time_out, ALL, ALL },
	{ "an unpark meets a turn that does not wait", an_unpark_and_a_look, ALL, ALL },
	{ "an unpark meets an event", an_unpark_and_an_event, ALL, ALL },
	{ "an unpark after one that was refused", the_next_unpark_tries_again, ALL, ALL },
	{ "the holder changes while two unpark", two_hold_it_in_turn, ALL, ALL },
};

EXPLORE_MAIN(models)
