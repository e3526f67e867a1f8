/*
 * R3: calls on a descriptor against the end of its registration. While a call is under way the descriptor's
 * number is the registration's: nobody closes it, so nobody else is given it. A call that comes too late
 * is not made, and does not disturb the next use of the slot.
 *
 * What stands for the descriptor is a plain variable: whose the number is. A call reads it, who has ended the
 * registration closes the descriptor and writes it; so a call that is not waited for shows, and so does an
 * order that is missing.
 */
#include "explore/rig_io.h"
#include <errno.h>

enum { FD = 1, OTHER_FD = 2 };
enum { CLOSED, OURS };

static struct edo_io_driver io;
static struct rig_registered registered;
static struct rig_registered successor;
static int number = OURS;              /* plain */
static int successors_number = CLOSED; /* plain */

static uint32_t ended; /* atomic: how many were the one to end it */

static void begin(void)
{
	rig_io_begin(&io);
	registered = rig_io_register(&io, FD, 0);
}

static void end(void)
{
	rig_io_end(&io);
}

/* ---- calls ---- */

static int call(enum edo_direction which)
{
	int rc = edo_io_call_begin(registered.sio, registered.registration.generation, which);

	if (rc < 0)
		return rc;
	explore_check(number == OURS);
	explore_check(registered.sio->fd == FD);
	edo_io_call_end(registered.sio, which);
	return 0;
}

static void reads(void *unused)
{
	int rc = call(EDO_READING);

	(void)unused;
	explore_check(rc == 0 || rc == -EBADF);
}

static void writes(void *unused)
{
	int rc = call(EDO_WRITING);

	(void)unused;
	explore_check(rc == 0 || rc == -EBADF);
}

static void reads_twice(void *unused)
{
	reads(unused);
	reads(unused);
}

/* What the call found out is noted in the same word, in which the end looks for calls. */
static void reads_and_clears(void *unused)
{
	edo_ready seen = { .events = EDO_READABLE,
			   .edo_seen_ = edo_load(&registered.sio->readiness, relaxed) };

	reads(unused);
	edo_io_clear(registered.sio, EDO_READING, seen);
}

/* Another task reads as well. */
static void reads_with_another(void *unused)
{
	int rc = call(EDO_READING);

	(void)unused;
	explore_check(rc == 0 || rc == -EBUSY || rc == -EBADF);
}

static void reads_until_shut_down(void *unused)
{
	int rc = call(EDO_READING);

	(void)unused;
	explore_check(rc == 0 || rc == -ESHUTDOWN);
}

/* ---- events ---- */

static void sets_readable(void *unused)
{
	(void)unused;
	rig_io_event(registered.sio, EDO_IS_READABLE);
}

/* ---- ends ---- */

static void closes(void *unused)
{
	int rc = rig_io_deregister(&registered);

	(void)unused;
	explore_check(rc == 0 || rc == -EBADF);
	if (rc < 0)
		return;
	explore_check(!fake_poller_watches(FD));
	(void)edo_fetch_add(&ended, 1, relaxed);
	number = CLOSED;
}

static void shuts_down(void *unused)
{
	(void)unused;
	edo_io_shutdown(&io);
}

/* ---- the next use of the slot ---- */

static void register_anew(void)
{
	edo_slab_release_retired(&io.slab);
	successor = rig_io_register(&io, OTHER_FD, 0);
	successors_number = OURS;
}

/* Nobody else calls there, so nobody is in its way. */
static void call_on_successor(void)
{
	explore_check(edo_io_call_begin(successor.sio, successor.registration.generation,
					EDO_READING) == 0);
	explore_check(successors_number == OURS);
	explore_check(successor.sio->fd == OTHER_FD);
	edo_io_call_end(successor.sio, EDO_READING);
}

static void closes_and_registers_anew(void *unused)
{
	closes(unused);
	register_anew();
	explore_check(successor.sio == registered.sio);
}

static void closes_registers_anew_and_reads(void *unused)
{
	closes_and_registers_anew(unused);
	call_on_successor();
}

/* The holder, in another thread than the one that closes: the slot may come round in time, or not. */
static void registers_anew_and_reads(void *unused)
{
	(void)unused;
	register_anew();
	call_on_successor();
}

/* The kernel has refused a registration, so the slot has had a use that nobody has seen. */
static void closes_fails_and_registers_anew(void *unused)
{
	struct edo_registration refused;

	closes(unused);
	edo_slab_release_retired(&io.slab);
	fake_poller_refuses_additions(1);
	explore_check(edo_io_register(&io, OTHER_FD, 0, &refused) == -ENOSPC);
	register_anew();
	call_on_successor();
}

static void end_successor(void)
{
	call_on_successor();
	explore_check(rig_io_deregister(&successor) == 0);
	end();
}

/* ---- models ---- */

static void a_call_and_a_close(void)
{
	begin();
	explore_start(reads, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	end();
}

static void two_calls_and_a_close(void)
{
	begin();
	explore_start(reads_twice, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	end();
}

static void a_call_its_clear_and_a_close(void)
{
	begin();
	sets_readable(NULL);
	explore_start(reads_and_clears, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	end();
}

static void a_call_its_clear_an_event_and_a_close(void)
{
	begin();
	sets_readable(NULL);
	explore_start(reads_and_clears, NULL);
	explore_start(sets_readable, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	end();
}

static void two_directions_and_a_close(void)
{
	begin();
	explore_start(reads, NULL);
	explore_start(writes, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	end();
}

/* Only one of them closes the number, which may be somebody else's by then (p45). */
static void two_closes(void)
{
	begin();
	explore_start(closes, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	explore_check(edo_load(&ended, relaxed) == 1);
	end();
}

static void a_call_and_two_closes(void)
{
	begin();
	explore_start(reads, NULL);
	explore_start(closes, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	explore_check(edo_load(&ended, relaxed) == 1);
	end();
}

static void two_calls_of_one_direction(void)
{
	begin();
	explore_start(reads_with_another, NULL);
	explore_start(reads_with_another, NULL);
	explore_join_all();
	explore_check(call(EDO_READING) == 0);
	closes(NULL);
	end();
}

static void two_calls_of_one_direction_and_a_close(void)
{
	begin();
	explore_start(reads_with_another, NULL);
	explore_start(reads_with_another, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	end();
}

static void a_call_and_a_shutdown(void)
{
	begin();
	explore_start(reads_until_shut_down, NULL);
	explore_start(shuts_down, NULL);
	explore_join_all();
	explore_check(call(EDO_READING) == -ESHUTDOWN);
	closes(NULL);
	end();
}

static void a_call_an_event_and_a_close(void)
{
	begin();
	explore_start(reads, NULL);
	explore_start(sets_readable, NULL);
	explore_start(closes, NULL);
	explore_join_all();
	end();
}

static void a_late_call_and_the_next_use(void)
{
	begin();
	explore_start(reads, NULL);
	explore_start(closes_registers_anew_and_reads, NULL);
	explore_join_all();
	end_successor();
}

static void two_late_calls_and_the_next_use(void)
{
	begin();
	explore_start(reads, NULL);
	explore_start(writes, NULL);
	explore_start(closes_registers_anew_and_reads, NULL);
	explore_join_all();
	end_successor();
}

static void a_close_a_late_call_and_a_registration(void)
{
	begin();
	explore_start(reads, NULL);
	explore_start(closes, NULL);
	explore_start(registers_anew_and_reads, NULL);
	explore_join_all();
	end_successor();
}

static void a_late_call_a_refusal_and_the_next_use(void)
{
	begin();
	explore_start(reads, NULL);
	explore_start(closes_fails_and_registers_anew, NULL);
	explore_join_all();
	end_successor();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

#define SOME                                                                                       \
	{                                                                                          \
		2, 2                                                                               \
	}

static const struct explore_model models[] = {
	{ "a call meets a close", a_call_and_a_close, ALL, ALL },
	{ "two calls meet a close", two_calls_and_a_close, ALL, ALL },
	{ "a call that clears meets a close", a_call_its_clear_and_a_close, ALL, ALL },
	{ "a call that clears meets an event and a close", a_call_its_clear_an_event_and_a_close,
	  ALL, ALL },
	{ "calls in two directions meet a close", two_directions_and_a_close, ALL, ALL },
	{ "two close at once", two_closes, ALL, ALL },
	{ "a call meets two closes", a_call_and_two_closes, ALL, ALL },
	{ "two call in one direction", two_calls_of_one_direction, ALL, ALL },
	{ "two call in one direction, and a close", two_calls_of_one_direction_and_a_close, ALL,
	  ALL },
	{ "a call meets a shutdown", a_call_and_a_shutdown, ALL, ALL },
	{ "a call meets an event and a close", a_call_an_event_and_a_close, ALL, ALL },
	{ "a late call meets the next use of the slot", a_late_call_and_the_next_use, ALL, ALL },
	{ "two late calls meet the next use of the slot", two_late_calls_and_the_next_use, SOME,
	  ALL },
	{ "a late call, a close and a registration", a_close_a_late_call_and_a_registration, ALL,
	  ALL },
	{ "a late call, a refused registration and the next use",
	  a_late_call_a_refusal_and_the_next_use, ALL, ALL },
};

EXPLORE_MAIN(models)
