/*
 * R2: readiness that the driver sets, and the tasks that wait for it, clear it and give the wait up, while
 * the registration is shut down, ended, or its slot given to somebody else. No event is lost; what the
 * driver knew when it set a bit is known to who sees it; each waker is woken or dropped exactly once.
 *
 * A bare slot where the driver does not matter: it costs no steps, but the models are easier to follow.
 */
#include "explore/rig_io.h"
#include <errno.h>

enum { FD = 1, OTHER_FD = 2 };

static struct edo_scheduled_io bare = { .generation = 1 };
static struct edo_io_driver io;

static struct rig_task tasks[3];
static struct rig_io_wait waits[3];

/* What the holder has learnt before it sets bits: plain, by direction. */
static int known[2];

/* How many bytes the kernel has to read, and room for how many: atomic, relaxed. */
static uint32_t kernel[2];

static const uint32_t plain_bit[2] = { EDO_IS_READABLE, EDO_IS_WRITABLE };

static struct rig_io_wait *wait_for(unsigned number, enum edo_direction direction)
{
	waits[number] = (struct rig_io_wait){
		.task = &tasks[number],
		.sio = &bare,
		.generation = 1,
		.direction = direction,
	};
	return &waits[number];
}

static struct rig_io_wait *wait_on(unsigned number, enum edo_direction direction,
				   const struct rig_registered *registered)
{
	struct rig_io_wait *wait = wait_for(number, direction);

	wait->sio = registered->sio;
	wait->generation = registered->registration.generation;
	return wait;
}

/* All waits are over: no waker is left over, none was used twice. */
static void end(void)
{
	for (unsigned i = 0; i < 3; i++) {
		if (waits[i].task)
			rig_io_unclaim(&waits[i]);
		explore_check(tasks[i].clones == 0);
	}
}

/* ---- who sets ---- */

static void set_what_is_known(enum edo_direction direction)
{
	known[direction] = 1;
	rig_io_event(&bare, plain_bit[direction]);
}

static void sets_readable(void *unused)
{
	(void)unused;
	set_what_is_known(EDO_READING);
}

static void sets_writable(void *unused)
{
	(void)unused;
	set_what_is_known(EDO_WRITING);
}

static void sets_both(void *unused)
{
	(void)unused;
	known[EDO_READING] = known[EDO_WRITING] = 1;
	rig_io_event(&bare, EDO_IS_READABLE | EDO_IS_WRITABLE);
}

static void sets_an_error(void *unused)
{
	(void)unused;
	rig_io_event(&bare, EDO_IS_ERROR);
}

/* A byte, or room for one, has come, and the holder hears of it. */
static void let_come(enum edo_direction direction)
{
	(void)edo_fetch_add(&kernel[direction], 1, relaxed);
	rig_io_event(&bare, plain_bit[direction]);
}

static void lets_a_byte_come(void *unused)
{
	(void)unused;
	let_come(EDO_READING);
}

static void lets_two_bytes_come(void *unused)
{
	(void)unused;
	let_come(EDO_READING);
	let_come(EDO_READING);
}

static void lets_a_byte_and_room_come(void *unused)
{
	(void)unused;
	let_come(EDO_READING);
	let_come(EDO_WRITING);
}

static void lets_room_come(void *unused)
{
	(void)unused;
	let_come(EDO_WRITING);
}

static void shuts_down(void *unused)
{
	struct edo_io_batch batch;

	(void)unused;
	known[EDO_READING] = 1;
	batch.count = 0;
	edo_readiness_shut_down(&bare, &batch);
	edo_io_batch_flush(&batch);
}

/* ---- who waits ---- */

static void awaits(void *argument)
{
	struct rig_io_wait *wait = argument;

	explore_check(rig_io_await(wait) == EDO_READY);
	explore_check(wait->ready.events ==
		      (wait->direction == EDO_READING ? EDO_READABLE : EDO_WRITABLE));
	explore_check(known[wait->direction] == 1);
}

static void awaits_an_error(void *argument)
{
	struct rig_io_wait *wait = argument;

	explore_check(rig_io_await(wait) == EDO_READY);
	explore_check(wait->ready.error);
	rig_io_clear(wait);
	explore_check(rig_io_poll(wait) == EDO_PENDING);
}

/* One call: what is there is taken; EAGAIN, which clears, when there is nothing. */
static bool takes_one(const struct rig_io_wait *wait)
{
	if (edo_load(&kernel[wait->direction], relaxed) == 0) {
		rig_io_clear(wait);
		return false;
	}
	(void)edo_fetch_sub(&kernel[wait->direction], 1, relaxed);
	return true;
}

static void take(struct rig_io_wait *wait, unsigned count)
{
	while (count > 0) {
		explore_check(rig_io_await(wait) == EDO_READY);
		if (takes_one(wait))
			count--;
	}
}

static void takes(void *wait)
{
	take(wait, 1);
}

static void takes_two(void *wait)
{
	take(wait, 2);
}

/* A read that came short, and clears without asking for EAGAIN (p44). */
static void takes_two_and_trusts_a_short_count(void *argument)
{
	struct rig_io_wait *wait = argument;

	for (unsigned left = 2; left > 0;) {
		uint32_t there;

		explore_check(rig_io_await(wait) == EDO_READY);
		there = edo_exchange(&kernel[EDO_READING], 0, relaxed);
		left -= there;
		rig_io_clear(wait);
	}
}

static void awaits_either(void *argument)
{
	struct rig_io_wait *wait = argument;

	if (rig_io_await(wait) == -ESHUTDOWN)
		explore_check(known[EDO_READING] == 1);
	else
		explore_check(wait->ready.events == EDO_READABLE);
}

static void awaits_the_end(void *wait)
{
	explore_check(rig_io_await(wait) == -ESHUTDOWN);
	explore_check(known[EDO_READING] == 1);
}

static void polls_once(void *wait)
{
	(void)rig_io_poll(wait);
}

static void unclaims(void *wait)
{
	rig_io_unclaim(wait);
}

/* The first future is given up, another one waits for the same. */
static void gives_up_and_waits_anew(void *unused)
{
	(void)unused;
	rig_io_unclaim(&waits[0]);
	awaits(wait_for(1, EDO_READING));
}

static void gives_up_and_takes_anew(void *unused)
{
	(void)unused;
	rig_io_unclaim(&waits[0]);
	take(wait_for(1, EDO_READING), 1);
}

/* ---- models of a bare slot ---- */

static void an_event(void)
{
	explore_start(awaits, wait_for(0, EDO_READING));
	explore_start(sets_readable, NULL);
	explore_join_all();
	end();
}

static void two_directions_one_event(void)
{
	explore_start(awaits, wait_for(0, EDO_READING));
	explore_start(awaits, wait_for(1, EDO_WRITING));
	explore_start(sets_both, NULL);
	explore_join_all();
	end();
}

/* The holder is one thread: its two events come one after the other. */
static void sets_one_then_the_other(void *unused)
{
	(void)unused;
	sets_readable(NULL);
	sets_writable(NULL);
}

static void two_directions_two_events(void)
{
	explore_start(awaits, wait_for(0, EDO_READING));
	explore_start(awaits, wait_for(1, EDO_WRITING));
	explore_start(sets_one_then_the_other, NULL);
	explore_join_all();
	end();
}

/* An error is each direction's own; one's clear leaves the other's (p42). */
static void an_error(void)
{
	explore_start(awaits_an_error, wait_for(0, EDO_READING));
	explore_start(awaits_an_error, wait_for(1, EDO_WRITING));
	explore_start(sets_an_error, NULL);
	explore_join_all();
	end();
}

/* What was ready is not any more, and while that is found out a byte comes. */
static void a_clear_and_an_event(void)
{
	bare.readiness = EDO_IS_READABLE;
	explore_start(takes, wait_for(0, EDO_READING));
	explore_start(lets_a_byte_come, NULL);
	explore_join_all();
	end();
}

static void clears_and_two_events(void)
{
	bare.readiness = EDO_IS_READABLE;
	explore_start(takes_two, wait_for(0, EDO_READING));
	explore_start(lets_two_bytes_come, NULL);
	explore_join_all();
	end();
}

static void short_counts(void)
{
	explore_start(takes_two_and_trusts_a_short_count, wait_for(0, EDO_READING));
	explore_start(lets_two_bytes_come, NULL);
	explore_join_all();
	end();
}

static void a_clear_leaves_the_other_direction(void)
{
	bare.readiness = EDO_IS_READABLE;
	explore_start(takes, wait_for(0, EDO_READING));
	explore_start(takes, wait_for(1, EDO_WRITING));
	explore_start(lets_a_byte_and_room_come, NULL);
	explore_join_all();
	end();
}

/* Two clears of one tick, by the futures of two directions, and an event for one of them. */
static void two_clears_and_an_event(void)
{
	bare.readiness = EDO_IS_READABLE | EDO_IS_WRITABLE;
	(void)edo_fetch_add(&kernel[EDO_READING], 1, relaxed);
	explore_start(takes, wait_for(0, EDO_READING));
	explore_start(takes, wait_for(1, EDO_WRITING));
	explore_start(lets_room_come, NULL);
	explore_join_all();
	end();
}

static void clears_what_was_seen(void *wait)
{
	rig_io_clear(wait);
}

/* An event of one direction does not bring back what the other one has cleared. */
static void an_event_leaves_the_other_direction(void)
{
	bare.readiness = EDO_IS_WRITABLE;
	explore_check(rig_io_poll(wait_for(1, EDO_WRITING)) == EDO_READY);
	explore_start(clears_what_was_seen, &waits[1]);
	explore_start(sets_readable, NULL);
	explore_join_all();
	explore_check(rig_io_poll(&waits[1]) == EDO_PENDING);
	explore_check(rig_io_poll(wait_for(0, EDO_READING)) == EDO_READY);
	end();
}

static void calls(void *unused)
{
	(void)unused;
	explore_check(edo_io_call_begin(&bare, 1, EDO_READING) == 0);
	explore_check(edo_io_call_begin(&bare, 1, EDO_READING) == -EBUSY);
	edo_io_call_end(&bare, EDO_READING);
}

/* An event takes no call's mark away, and brings none back. */
static void an_event_and_a_call(void)
{
	explore_start(calls, NULL);
	explore_start(sets_readable, NULL);
	explore_join_all();
	explore_check(edo_io_call_begin(&bare, 1, EDO_READING) == 0);
	explore_check(rig_io_poll(wait_for(0, EDO_READING)) == EDO_READY);
	end();
}

/* The task has moved, or polls through another combinator: the old waker goes, the new one counts. */
static void another_waker(void)
{
	struct rig_io_wait *wait = wait_for(0, EDO_READING);

	explore_check(rig_io_poll(wait) == EDO_PENDING);
	wait->task = &tasks[1];
	explore_start(awaits, wait);
	explore_start(sets_readable, NULL);
	explore_join_all();
	end();
}

static void a_drop_and_an_event(void)
{
	struct rig_io_wait *wait = wait_for(0, EDO_READING);

	explore_check(rig_io_poll(wait) == EDO_PENDING);
	explore_start(unclaims, wait);
	explore_start(sets_readable, NULL);
	explore_join_all();
	explore_check(!edo_load(&bare.claimed[EDO_READING], relaxed));
	/* The event is there for the next. */
	explore_check(rig_io_poll(wait_for(1, EDO_READING)) == EDO_READY);
	end();
}

static void a_drop_a_new_wait_and_an_event(void)
{
	explore_check(rig_io_poll(wait_for(0, EDO_READING)) == EDO_PENDING);
	explore_start(gives_up_and_waits_anew, NULL);
	explore_start(sets_readable, NULL);
	explore_join_all();
	end();
}

static void a_drop_a_new_wait_that_clears_and_an_event(void)
{
	bare.readiness = EDO_IS_READABLE;
	wait_for(0, EDO_READING)->is_claimed = true;
	bare.claimed[EDO_READING] = 1;
	explore_start(gives_up_and_takes_anew, NULL);
	explore_start(lets_a_byte_come, NULL);
	explore_join_all();
	end();
}

static edo_poll outcomes[2];

static void polls_as_first(void *wait)
{
	outcomes[0] = rig_io_poll(wait);
}

static void polls_as_second(void *wait)
{
	outcomes[1] = rig_io_poll(wait);
}

/* One claims, the other is told; whatever the order. */
static void two_futures_of_one_direction(void)
{
	explore_start(polls_as_first, wait_for(0, EDO_READING));
	explore_start(polls_as_second, wait_for(1, EDO_READING));
	explore_join_all();
	explore_check((outcomes[0] == EDO_PENDING && outcomes[1] == -EBUSY) ||
		      (outcomes[0] == -EBUSY && outcomes[1] == EDO_PENDING));
	end();
}

static void one_future_of_both_directions(void *unused)
{
	edo_waker waker = rig_io_waker(&tasks[0]);
	edo_context cx = { .waker = &waker };
	struct edo_io_claim claim = { .held = { false, false } };
	edo_ready ready = { .events = 0 };
	edo_poll polled;

	(void)unused;
	for (;;) {
		uint32_t wakes = edo_fetch_add(&tasks[0].wakes, 0, relaxed);

		polled = edo_io_poll_interest(&bare, 1, EDO_READABLE_OR_WRITABLE, &claim, &cx,
					      &ready);
		if (polled != EDO_PENDING)
			break;
		(void)edo_sys_futex_wait(&tasks[0].wakes, wakes, UINT64_MAX);
	}
	explore_check(polled == EDO_READY && ready.events == EDO_WRITABLE);
	explore_check(known[EDO_WRITING] == 1);
	edo_io_unclaim(&bare, 1, EDO_READING, &claim.held[EDO_READING]);
	edo_io_unclaim(&bare, 1, EDO_WRITING, &claim.held[EDO_WRITING]);
}

static void a_wait_for_both_directions(void)
{
	explore_start(one_future_of_both_directions, NULL);
	explore_start(sets_writable, NULL);
	explore_join_all();
	end();
}

static void a_shutdown(void)
{
	explore_start(awaits_the_end, wait_for(0, EDO_READING));
	explore_start(shuts_down, NULL);
	explore_join_all();
	end();
}

static void lets_come_and_shuts_down(void *unused)
{
	(void)unused;
	rig_io_event(&bare, EDO_IS_READABLE);
	shuts_down(NULL);
}

static void an_event_and_a_shutdown(void)
{
	explore_start(awaits_either, wait_for(0, EDO_READING));
	explore_start(lets_come_and_shuts_down, NULL);
	explore_join_all();
	end();
}

static void awaits_the_end_however_ready(void *argument)
{
	struct rig_io_wait *wait = argument;
	edo_poll polled;

	while ((polled = rig_io_await(wait)) == EDO_READY)
		rig_io_clear(wait);
	explore_check(polled == -ESHUTDOWN);
	explore_check(known[EDO_READING] == 1);
}

static void a_clear_and_a_shutdown(void)
{
	bare.readiness = EDO_IS_READABLE;
	explore_start(awaits_the_end_however_ready, wait_for(0, EDO_READING));
	explore_start(shuts_down, NULL);
	explore_join_all();
	end();
}

/* ---- models of a registration that ends ---- */

static struct rig_registered registered;
static struct rig_registered successor;

static void deregisters(void *unused)
{
	(void)unused;
	explore_check(rig_io_deregister(&registered) == 0);
}

static void awaits_to_be_gone(void *wait)
{
	explore_check(rig_io_await(wait) == -EBADF);
}

/* The holder found the slot before its end: what it sets is harmless. */
static void sets_late(void *unused)
{
	(void)unused;
	rig_io_event(registered.sio, EDO_IS_READABLE);
}

static void awaits_whatever_comes_first(void *wait)
{
	edo_poll polled = rig_io_await(wait);

	explore_check(polled == -EBADF || polled == EDO_READY);
}

static void begin_registered(uint32_t readiness)
{
	rig_io_begin(&io);
	registered = rig_io_register(&io, FD, readiness);
}

static void end_registered(void)
{
	end();
	rig_io_end(&io);
}

static void an_end_and_a_wait(void)
{
	begin_registered(0);
	explore_start(awaits_to_be_gone, wait_on(0, EDO_READING, &registered));
	explore_start(deregisters, NULL);
	explore_join_all();
	end_registered();
}

static void an_end_and_two_waits(void)
{
	begin_registered(0);
	explore_start(awaits_to_be_gone, wait_on(0, EDO_READING, &registered));
	explore_start(awaits_to_be_gone, wait_on(1, EDO_WRITING, &registered));
	explore_start(deregisters, NULL);
	explore_join_all();
	end_registered();
}

static void an_end_and_a_late_event(void)
{
	begin_registered(0);
	explore_start(awaits_whatever_comes_first, wait_on(0, EDO_READING, &registered));
	explore_start(deregisters, NULL);
	explore_start(sets_late, NULL);
	explore_join_all();
	end_registered();
}

static void an_end_and_a_drop(void)
{
	begin_registered(0);
	explore_check(rig_io_poll(wait_on(0, EDO_READING, &registered)) == EDO_PENDING);
	explore_start(unclaims, &waits[0]);
	explore_start(deregisters, NULL);
	explore_join_all();
	end_registered();
}

/* ---- models of a slot that is used again ---- */

/* As the holder between two turns; the slot is the same, its use is another. */
static void deregisters_and_registers_anew(void *readiness)
{
	explore_check(rig_io_deregister(&registered) == 0);
	edo_slab_release_retired(&io.slab);
	successor = rig_io_register(&io, OTHER_FD, (uint32_t)(uintptr_t)readiness);
	explore_check(successor.sio == registered.sio);
}

static void *saying(uint32_t readiness)
{
	return (void *)(uintptr_t)readiness;
}

static void end_successor(void)
{
	end();
	explore_check(rig_io_deregister(&successor) == 0);
	rig_io_end(&io);
}

/* The first use was never ready, so nothing may tell its waiter so. */
static void a_wait_and_the_next_use(void)
{
	begin_registered(0);
	explore_start(awaits_to_be_gone, wait_on(0, EDO_READING, &registered));
	explore_start(deregisters_and_registers_anew, saying(EDO_IS_READABLE));
	explore_join_all();
	end_successor();
}

/* What was seen of the first use is cleared when the next one has begun, or before. */
static void a_clear_and_the_next_use(void)
{
	begin_registered(EDO_IS_READABLE);
	explore_check(rig_io_poll(wait_on(0, EDO_READING, &registered)) == EDO_READY);
	explore_start(clears_what_was_seen, &waits[0]);
	explore_start(deregisters_and_registers_anew, saying(EDO_IS_READABLE));
	explore_join_all();
	explore_check(rig_io_poll(wait_on(1, EDO_READING, &successor)) == EDO_READY);
	end_successor();
}

/* A late event sets bits between two uses: the next one does not have them, but for what it is told itself. */
static void a_late_event_and_the_next_use(void)
{
	begin_registered(0);
	explore_start(sets_late, NULL);
	explore_start(deregisters, NULL);
	explore_join_all();
	edo_slab_release_retired(&io.slab);
	successor = rig_io_register(&io, OTHER_FD, 0);
	explore_check(rig_io_poll(wait_on(1, EDO_READING, &successor)) == EDO_PENDING);
	end_successor();
}

static void begins_a_new_use_and_waits(void *unused)
{
	deregisters_and_registers_anew(unused);
	explore_check(rig_io_poll(wait_on(1, EDO_READING, &successor)) == EDO_PENDING);
}

/* The claim of the next use is not the drop's to let go of. */
static void a_drop_and_the_next_use(void)
{
	begin_registered(0);
	explore_check(rig_io_poll(wait_on(0, EDO_READING, &registered)) == EDO_PENDING);
	explore_start(unclaims, &waits[0]);
	explore_start(begins_a_new_use_and_waits, NULL);
	explore_join_all();
	explore_check(edo_load(&successor.sio->claimed[EDO_READING], relaxed));
	explore_check(edo_waker_is_set(&successor.sio->waiting[EDO_READING]));
	end_successor();
}

/* A poll of the first use stores no waker, and takes no claim, in the next one. */
static void a_poll_and_the_next_use(void)
{
	begin_registered(0);
	explore_start(polls_once, wait_on(0, EDO_READING, &registered));
	explore_start(begins_a_new_use_and_waits, NULL);
	explore_join_all();
	end_successor();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

/* Seconds in a run of the tests are for others; `make explore` tries all there is. */
#define SOME                                                                                       \
	{                                                                                          \
		2, 2                                                                               \
	}

static const struct explore_model models[] = {
	{ "an event meets a wait", an_event, ALL, ALL },
	{ "one event for two directions", two_directions_one_event, ALL, ALL },
	{ "two events for two directions", two_directions_two_events, ALL, ALL },
	{ "an error for two directions", an_error, SOME, ALL },
	{ "a clear meets an event", a_clear_and_an_event, ALL, ALL },
	{ "clears meet two events", clears_and_two_events, SOME, ALL },
	{ "a short count is trusted, and more comes", short_counts, ALL, ALL },
	{ "a clear leaves the other direction", a_clear_leaves_the_other_direction, SOME, ALL },
	{ "two clears meet an event", two_clears_and_an_event, ALL, ALL },
	{ "an event leaves the other direction", an_event_leaves_the_other_direction, ALL, ALL },
	{ "an event meets a call", an_event_and_a_call, ALL, ALL },
	{ "a wait with another waker meets an event", another_waker, ALL, ALL },
	{ "a drop meets an event", a_drop_and_an_event, ALL, ALL },
	{ "a drop, a new wait and an event", a_drop_a_new_wait_and_an_event, ALL, ALL },
	{ "a drop, a new wait that clears and an event", a_drop_a_new_wait_that_clears_and_an_event,
	  ALL, ALL },
	{ "two futures claim one direction", two_futures_of_one_direction, ALL, ALL },
	{ "one future waits for both directions", a_wait_for_both_directions, ALL, ALL },
	{ "a shutdown meets a wait", a_shutdown, ALL, ALL },
	{ "a shutdown meets a wait and an event", an_event_and_a_shutdown, ALL, ALL },
	{ "a shutdown meets a clear", a_clear_and_a_shutdown, ALL, ALL },
	{ "an end meets a wait", an_end_and_a_wait, ALL, ALL },
	{ "an end meets two waits", an_end_and_two_waits, ALL, ALL },
	{ "an end meets a wait and a late event", an_end_and_a_late_event, ALL, ALL },
	{ "an end meets a drop", an_end_and_a_drop, ALL, ALL },
	{ "a wait meets the next use of the slot", a_wait_and_the_next_use, ALL, ALL },
	{ "a clear meets the next use of the slot", a_clear_and_the_next_use, ALL, ALL },
	{ "a late event, and the next use of the slot", a_late_event_and_the_next_use, ALL, ALL },
	{ "a drop meets the next use of the slot", a_drop_and_the_next_use, ALL, ALL },
	{ "a poll meets the next use of the slot", a_poll_and_the_next_use, ALL, ALL },
};

EXPLORE_MAIN(models)
