/*
 * A stream's idle limit: one timer entry in the slot for two directions, which fires, is restarted by operations
 * and by progress, is given another limit, and ends with the registration; each against the others.
 *
 * A waiter does what a stream's operation does: it claims its direction and leaves its waker, begins the
 * limit, and looks whether it has passed whenever it is woken. One that nobody wakes although the limit has
 * passed, or that waits while no timer is armed, sleeps for ever.
 */
#include "driver/time/shard.h"
#include "explore/rig_io.h"
#include <errno.h>

#define TICK UINT64_C(1000000)

enum { NUMBER = 7, FD = 1, OTHER_FD = 2, LIMIT = 5, SHORTER = 2, LONGER = 9 };

static struct edo_time_driver time_driver;
static struct edo_io_driver io;
static struct rig_registered registered;

/* ---- the driver round the two ---- */

void edo_time_unpark(struct edo_time_driver *time)
{
	(void)time;
	edo_io_unpark(&io);
}

struct edo_time_driver *edo_time_own(uint32_t driver_id)
{
	return driver_id == NUMBER ? &time_driver : NULL;
}

struct edo_time_driver *edo_time_hold(uint32_t driver_id)
{
	(void)driver_id;
	return NULL;
}

void edo_time_release(struct edo_time_driver *time)
{
	(void)time;
}

/* ---- waiters ---- */

struct waiter {
	struct rig_task task;
	struct rig_io_wait wait;
	uint32_t seen;
	bool is_timed;
};

static struct waiter reader, writer;

static void init_waiter(struct waiter *waiter, enum edo_direction direction)
{
	waiter->wait = (struct rig_io_wait){
		.task = &waiter->task,
		.sio = registered.sio,
		.generation = registered.registration.generation,
		.direction = direction,
	};
	waiter->is_timed = false;
}

/* Read off the clock once, before: as operations do. */
static void begin_limit(struct waiter *waiter, uint64_t now)
{
	waiter->is_timed = true;
	edo_io_idle_begin(&time_driver, waiter->wait.sio, now, &waiter->seen);
}

static bool has_expired(struct waiter *waiter)
{
	return edo_io_idle_expired(&time_driver, waiter->wait.sio, waiter->wait.generation,
				   waiter->seen);
}

/* EDO_PENDING, -ETIMEDOUT, or as rig_io_poll(). */
static edo_poll poll_waiter(struct waiter *waiter)
{
	edo_poll polled = rig_io_poll(&waiter->wait);

	if (polled != EDO_PENDING)
		return polled;
	if (!waiter->is_timed)
		begin_limit(waiter, edo_time_now(&time_driver));
	else if (has_expired(waiter))
		return -ETIMEDOUT;
	return EDO_PENDING;
}

static edo_poll await(struct waiter *waiter)
{
	edo_poll polled;

	for (;;) {
		uint32_t wakes = edo_fetch_add(&waiter->task.wakes, 0, relaxed);

		polled = poll_waiter(waiter);
		if (polled != EDO_PENDING)
			break;
		(void)edo_sys_futex_wait(&waiter->task.wakes, wakes, UINT64_MAX);
	}
	rig_io_unclaim(&waiter->wait);
	waiter->is_timed = false;
	return polled;
}

static void awaits_the_expiry(void *waiter)
{
	explore_check(await(waiter) == -ETIMEDOUT);
}

/* Told of the expiry, or of the end. */
static void awaits_whatever(void *waiter)
{
	edo_poll polled = await(waiter);

	explore_check(polled == -ETIMEDOUT || polled == -EBADF || polled == -ESHUTDOWN);
}

/* ---- what is done to the limit ---- */

static void set_limit(uint64_t ticks)
{
	int rc = edo_io_idle_set(&time_driver, registered.sio, ticks * TICK);

	explore_check(rc == 0 || rc == -ESHUTDOWN);
}

static void sets(void *ticks)
{
	set_limit((uintptr_t)ticks);
}

static void *ticks(uintptr_t n)
{
	return (void *)n; /* NOLINT(performance-no-int-to-ptr) */
}

static void makes_progress(void *unused)
{
	(void)unused;
	edo_io_idle_progress(&time_driver, registered.sio, edo_time_now(&time_driver));
}

/* It read the clock a tick ago, and was held up. */
static void makes_progress_late(void *unused)
{
	(void)unused;
	edo_io_idle_progress(&time_driver, registered.sio, edo_time_now(&time_driver) - TICK);
}

static void begins(void *waiter)
{
	explore_check(poll_waiter(waiter) == EDO_PENDING);
}

/* ---- the holder ---- */

static void turns(void *unused)
{
	(void)unused;
	(void)edo_time_process(&time_driver);
}

static void turn_and_wait(void)
{
	uint64_t wait = edo_time_before_wait(&time_driver, EDO_FOREVER);

	(void)edo_io_turn(&io, wait);
	edo_time_after_wait(&time_driver);
	(void)edo_time_process(&time_driver);
}

static uint32_t ended; /* atomic: how many of those that the holder turns for */

static void turns_until_ended(void *count)
{
	while (edo_load(&ended, relaxed) < (uintptr_t)count)
		turn_and_wait();
}

static void say_that_it_ended(void)
{
	(void)edo_fetch_add(&ended, 1, relaxed);
	edo_io_unpark(&io);
}

/* ---- beginning and end ---- */

static void begin(uint64_t limit)
{
	explore_check(edo_time_init(&time_driver, NUMBER, EDO_SYS_MONOTONIC, TICK, false, 1,
				    &rig_io_allocator) == 0);
	time_driver.clock.start = 0;
	explore_clock_advance(TICK - explore_clock());
	rig_io_begin(&io);
	registered = rig_io_register(&io, FD, 0);
	init_waiter(&reader, EDO_READING);
	init_waiter(&writer, EDO_WRITING);
	if (limit > 0)
		set_limit(limit);
}

/* A limit that one waiter has begun, which is due. */
static void begin_due(uint64_t limit)
{
	begin(limit);
	begins(&reader);
	explore_clock_advance(limit * TICK);
}

static void end(void)
{
	rig_io_unclaim(&reader.wait);
	rig_io_unclaim(&writer.wait);
	explore_check(rig_io_deregister(&registered) == 0);
	explore_check(!edo_entry_is_armed(&registered.sio->idle));
	edo_time_shutdown(&time_driver);
	edo_time_destroy(&time_driver);
	rig_io_end(&io);
	explore_check(reader.task.clones == 0 && writer.task.clones == 0);
}

static uint64_t armed_for(void)
{
	uint64_t cell = edo_load(&registered.sio->idle.edo_node_.when, relaxed);

	return edo_cell_is_tick(cell) ? cell : 0;
}

static uint64_t now_in_ticks(void)
{
	return edo_time_tick_at(&time_driver, explore_clock());
}

static uint32_t expirations(void)
{
	return edo_load(&registered.sio->idle_expirations, relaxed);
}

/* The limit runs from now on, by so much, and passes then. */
static void check_that_it_passes_in(struct waiter *waiter, uint64_t limit)
{
	uint32_t before = expirations();

	explore_check(armed_for() == now_in_ticks() + limit);
	explore_check(!has_expired(waiter));
	explore_clock_advance(limit * TICK);
	(void)edo_time_process(&time_driver);
	explore_check(has_expired(waiter));
	explore_check(expirations() == before + 1);
}

/* ---- it fires ---- */

static void fires_for_one(void)
{
	begin_due(LIMIT);
	explore_start(turns, NULL);
	explore_start(awaits_the_expiry, &reader);
	explore_join_all();
	explore_check(expirations() == 1);
	end();
}

static void fires_for_both(void)
{
	begin_due(LIMIT);
	begins(&writer);
	explore_start(turns, NULL);
	explore_start(awaits_the_expiry, &reader);
	explore_start(awaits_the_expiry, &writer);
	explore_join_all();
	explore_check(expirations() == 1);
	end();
}

static void two_look_at_what_has_fired(void)
{
	begin_due(LIMIT);
	begins(&writer);
	turns(NULL);
	explore_start(awaits_the_expiry, &reader);
	explore_start(awaits_the_expiry, &writer);
	explore_join_all();
	explore_check(expirations() == 1);
	end();
}

/* Bytes that come with the expiry win, unless somebody has been told of it. */
static void fires_while_bytes_move(void)
{
	begin_due(LIMIT);
	explore_start(turns, NULL);
	explore_start(makes_progress, NULL);
	explore_join_all();
	check_that_it_passes_in(&reader, LIMIT);
	end();
}

static void looks(void *waiter)
{
	edo_poll polled = poll_waiter(waiter);

	explore_check(polled == EDO_PENDING || (polled == -ETIMEDOUT && expirations() == 1));
}

/* Told of it or not, the limit runs anew. */
static void has_fired_and_bytes_move(void)
{
	begin_due(LIMIT);
	begins(&writer);
	turns(NULL);
	explore_start(makes_progress, NULL);
	explore_start(looks, &reader);
	explore_join_all();
	explore_check(has_expired(&writer) == (expirations() == 1));
	explore_check(armed_for() == now_in_ticks() + LIMIT);
	end();
}

/* The one who begins then has it with the other, or a limit of its own. */
static void fires_while_another_begins(void)
{
	begin_due(LIMIT);
	explore_start(turns, NULL);
	explore_start(begins, &writer);
	explore_join_all();
	explore_check(has_expired(&reader));
	if (writer.seen == 0)
		explore_check(has_expired(&writer));
	else
		check_that_it_passes_in(&writer, LIMIT);
	end();
}

/* ---- it has fired, one is told of it and another begins: that one has a limit too ---- */

static void awaits_and_ends(void *waiter)
{
	awaits_the_expiry(waiter);
	say_that_it_ended();
}

static void told_while_another_begins(void)
{
	begin_due(LIMIT);
	turns(NULL);
	explore_start(turns_until_ended, ticks(2));
	explore_start(awaits_and_ends, &reader);
	explore_start(awaits_and_ends, &writer);
	explore_join_all();
	end();
}

static void fires_is_told_and_another_begins(void)
{
	begin_due(LIMIT);
	explore_start(turns_until_ended, ticks(2));
	explore_start(awaits_and_ends, &reader);
	explore_start(awaits_and_ends, &writer);
	explore_join_all();
	end();
}

/* From its beginning to its end, on the tick. */
static void awaits_it_all(void *waiter)
{
	uint64_t began = explore_clock();

	awaits_the_expiry(waiter);
	explore_check(explore_clock() == began + LIMIT * TICK);
	say_that_it_ended();
}

static void waited_for_by_a_sleeping_holder(void)
{
	begin(LIMIT);
	explore_start(turns_until_ended, ticks(1));
	explore_start(awaits_it_all, &reader);
	explore_join_all();
	explore_check(expirations() == 1);
	end();
}

/* ---- it is restarted ---- */

/* By two clocks, read a tick apart: the later one stands. */
static void two_make_progress(void)
{
	begin(LIMIT);
	begins(&reader);
	begins(&writer);
	explore_clock_advance(2 * TICK);
	explore_start(makes_progress, NULL);
	explore_start(makes_progress_late, NULL);
	explore_join_all();
	explore_check(expirations() == 0);
	check_that_it_passes_in(&reader, LIMIT);
	end();
}

/* Nothing is armed: each may be the one to arm it, and both may find that the other has. */
static void two_arm_it(void)
{
	begin(LIMIT);
	edo_entry_drop(&registered.sio->idle);
	explore_clock_advance(2 * TICK);
	explore_start(makes_progress, NULL);
	explore_start(makes_progress_late, NULL);
	explore_start(begins, &reader);
	explore_join_all();
	explore_check(armed_for() == now_in_ticks() + LIMIT);
	end();
}

static void two_begin(void)
{
	begin(LIMIT);
	explore_clock_advance(TICK);
	explore_start(begins, &reader);
	explore_start(begins, &writer);
	explore_join_all();
	explore_check(reader.seen == 0 && writer.seen == 0);
	check_that_it_passes_in(&reader, LIMIT);
	explore_check(has_expired(&writer));
	end();
}

/* ---- another limit ---- */

static void fires_while_it_is_prolonged(void)
{
	begin_due(LIMIT);
	explore_start(turns, NULL);
	explore_start(sets, ticks(LONGER));
	explore_join_all();
	check_that_it_passes_in(&reader, LONGER);
	end();
}

static void fires_while_it_is_shortened(void)
{
	begin_due(LIMIT);
	explore_start(turns, NULL);
	explore_start(sets, ticks(SHORTER));
	explore_join_all();
	check_that_it_passes_in(&reader, SHORTER);
	end();
}

/* Who waits is told of the old limit's expiry, or of the new one's. */
static void is_shortened_while_one_waits(void)
{
	begin(LIMIT);
	begins(&reader);
	explore_start(turns_until_ended, ticks(1));
	explore_start(awaits_and_ends, &reader);
	explore_start(sets, ticks(SHORTER));
	explore_join_all();
	explore_check(expirations() == 1);
	end();
}

static void fires_while_it_is_lifted(void)
{
	begin_due(LIMIT);
	explore_start(turns, NULL);
	explore_start(sets, ticks(0));
	explore_join_all();
	explore_check(!edo_entry_is_armed(&registered.sio->idle));
	explore_check(!has_expired(&reader));
	set_limit(SHORTER);
	check_that_it_passes_in(&reader, SHORTER);
	end();
}

static void is_lifted_while_bytes_move(void)
{
	begin_due(LIMIT);
	explore_start(makes_progress, NULL);
	explore_start(sets, ticks(0));
	explore_join_all();
	explore_check(!edo_entry_is_armed(&registered.sio->idle));
	end();
}

static void is_lifted_while_one_begins(void)
{
	begin(LIMIT);
	explore_start(begins, &reader);
	explore_start(sets, ticks(0));
	explore_join_all();
	explore_check(!edo_entry_is_armed(&registered.sio->idle));
	explore_check(!has_expired(&reader));
	end();
}

/* Two set a limit at once: the one that stands is the one that runs. */
static void two_set_a_limit(void *first, void *second)
{
	uint64_t limit;

	begin(LIMIT);
	begins(&reader);
	explore_start(sets, first);
	explore_start(sets, second);
	explore_join_all();
	limit = edo_load(&registered.sio->idle_limit, relaxed) / TICK;
	explore_check(armed_for() == (limit ? now_in_ticks() + limit : 0));
	end();
}

static void is_lifted_and_set_at_once(void)
{
	two_set_a_limit(ticks(0), ticks(SHORTER));
}

static void is_set_twice_at_once(void)
{
	two_set_a_limit(ticks(SHORTER), ticks(LONGER));
}

static void is_shortened_while_bytes_move(void)
{
	begin(LONGER);
	begins(&reader);
	explore_clock_advance(TICK);
	explore_start(makes_progress, NULL);
	explore_start(sets, ticks(SHORTER));
	explore_join_all();
	check_that_it_passes_in(&reader, SHORTER);
	end();
}

static void is_shortened_while_one_begins(void)
{
	begin(LONGER);
	explore_clock_advance(TICK);
	explore_start(begins, &reader);
	explore_start(sets, ticks(SHORTER));
	explore_join_all();
	check_that_it_passes_in(&reader, SHORTER);
	end();
}

/* The first limit of a stream: what is armed then has never been armed before. */
static void is_first_set_while_one_begins(void)
{
	begin(0);
	explore_start(begins, &reader);
	explore_start(sets, ticks(SHORTER));
	explore_join_all();
	check_that_it_passes_in(&reader, SHORTER);
	end();
}

/* ---- the end of the registration ---- */

static void deregisters(void *unused)
{
	(void)unused;
	explore_check(rig_io_deregister(&registered) == 0);
}

static void end_of_all(void)
{
	explore_check(!edo_entry_is_armed(&registered.sio->idle));
	explore_clock_advance(LONGER * TICK);
	explore_check(edo_time_process(&time_driver) == 0);
	edo_time_shutdown(&time_driver);
	edo_time_destroy(&time_driver);
	rig_io_end(&io);
	explore_check(reader.task.clones == 0 && writer.task.clones == 0);
}

static void fires_while_it_ends(void)
{
	begin_due(LIMIT);
	explore_start(turns, NULL);
	explore_start(deregisters, NULL);
	explore_start(awaits_whatever, &reader);
	explore_join_all();
	end_of_all();
}

static void ends_while_bytes_move(void)
{
	begin_due(LIMIT);
	explore_start(makes_progress, NULL);
	explore_start(deregisters, NULL);
	explore_join_all();
	end_of_all();
}

static void begins_if_it_may(void *waiter)
{
	edo_poll polled = poll_waiter(waiter);

	explore_check(polled == EDO_PENDING || polled == -EBADF);
}

static void ends_while_one_begins(void)
{
	begin(LIMIT);
	explore_start(begins_if_it_may, &reader);
	explore_start(deregisters, NULL);
	explore_join_all();
	end_of_all();
}

static void ends_while_a_limit_is_set(void)
{
	begin(LIMIT);
	begins(&reader);
	explore_start(sets, ticks(SHORTER));
	explore_start(deregisters, NULL);
	explore_join_all();
	end_of_all();
}

/* ---- the slot's next use ---- */

static struct rig_registered first_use;

static void register_anew(void)
{
	explore_check(rig_io_deregister(&first_use) == 0);
	edo_slab_release_retired(&io.slab);
	registered = rig_io_register(&io, OTHER_FD, 0);
	explore_check(registered.sio == first_use.sio);
}

static void registers_anew(void *unused)
{
	(void)unused;
	register_anew();
}

/* By whoever found the slot before its use ended, and was held up. */
static void makes_old_progress(void *unused)
{
	(void)unused;
	edo_io_idle_progress(&time_driver, first_use.sio, edo_time_now(&time_driver));
}

static void begins_in_vain(void *waiter)
{
	begin_limit(waiter, edo_time_now(&time_driver));
}

static void looks_late(void *waiter)
{
	(void)has_expired(waiter);
}

/* Without a limit, and nothing of the last use's runs on. */
static void check_next_use(void)
{
	explore_check(armed_for() == 0);
	init_waiter(&writer, EDO_WRITING);
	begins(&writer);
	explore_clock_advance(LONGER * TICK);
	explore_check(edo_time_process(&time_driver) == 0);
	explore_check(!has_expired(&writer));
	set_limit(SHORTER);
	check_that_it_passes_in(&writer, SHORTER);
	end();
}

static void next_use_and_a_firing(void)
{
	begin_due(LIMIT);
	first_use = registered;
	explore_start(turns, NULL);
	explore_start(registers_anew, NULL);
	explore_join_all();
	check_next_use();
}

static void next_use_and_old_progress(void)
{
	begin_due(LIMIT);
	first_use = registered;
	explore_start(makes_old_progress, NULL);
	explore_start(registers_anew, NULL);
	explore_join_all();
	check_next_use();
}

static void next_use_and_old_progress_after_firing(void)
{
	begin_due(LIMIT);
	first_use = registered;
	turns(NULL);
	explore_start(makes_old_progress, NULL);
	explore_start(registers_anew, NULL);
	explore_join_all();
	check_next_use();
}

static void next_use_and_an_old_begin(void)
{
	begin(LIMIT);
	first_use = registered;
	explore_start(begins_in_vain, &reader);
	explore_start(registers_anew, NULL);
	explore_join_all();
	check_next_use();
}

static void next_use_and_an_old_look(void)
{
	begin_due(LIMIT);
	first_use = registered;
	turns(NULL);
	explore_start(looks_late, &reader);
	explore_start(registers_anew, NULL);
	explore_join_all();
	check_next_use();
}

/* What has fired in the next use is not counted for the last one. */
static void registers_anew_with_a_limit(void *unused)
{
	(void)unused;
	register_anew();
	set_limit(SHORTER);
}

static void next_use_s_limit_and_old_progress(void)
{
	begin(LONGER);
	begins(&reader);
	first_use = registered;
	explore_start(makes_old_progress, NULL);
	explore_start(registers_anew_with_a_limit, NULL);
	explore_join_all();
	init_waiter(&writer, EDO_WRITING);
	begins(&writer);
	check_that_it_passes_in(&writer, SHORTER);
	end();
}

static void next_use_s_limit_and_an_old_look(void)
{
	begin_due(LIMIT);
	first_use = registered;
	turns(NULL);
	explore_start(looks_late, &reader);
	explore_start(registers_anew_with_a_limit, NULL);
	explore_join_all();
	init_waiter(&writer, EDO_WRITING);
	begins(&writer);
	check_that_it_passes_in(&writer, SHORTER);
	end();
}

/* ---- the driver's end ---- */

static void shuts_down(void *unused)
{
	(void)unused;
	edo_io_shutdown(&io);
	edo_time_shutdown(&time_driver);
}

static void end_after_shutdown(void)
{
	explore_check(!edo_entry_is_armed(&registered.sio->idle));
	explore_check(await(&reader) == -ESHUTDOWN);
	end();
}

static void shut_down_while_one_waits(void)
{
	begin_due(LIMIT);
	explore_start(shuts_down, NULL);
	explore_start(awaits_whatever, &reader);
	explore_join_all();
	end_after_shutdown();
}

static void shut_down_while_bytes_move(void)
{
	begin_due(LIMIT);
	explore_start(shuts_down, NULL);
	explore_start(makes_progress, NULL);
	explore_join_all();
	end_after_shutdown();
}

static void shut_down_while_a_limit_is_set(void)
{
	begin_due(LIMIT);
	explore_start(shuts_down, NULL);
	explore_start(sets, ticks(SHORTER));
	explore_join_all();
	end_after_shutdown();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "fires, and one is told", fires_for_one, ALL, ALL },
	{ "fires, and both are told", fires_for_both, { 3, 2 }, ALL },
	{ "has fired, and two look", two_look_at_what_has_fired, ALL, ALL },
	{ "fires while bytes move", fires_while_bytes_move, ALL, ALL },
	{ "has fired, and is looked at while bytes move", has_fired_and_bytes_move, ALL, ALL },
	{ "fires while another begins", fires_while_another_begins, ALL, ALL },
	{ "has fired, one is told, another begins", told_while_another_begins, { 2, 2 }, { 3, 2 } },
	{ "fires, one is told, another begins",
	  fires_is_told_and_another_begins,
	  { 2, 2 },
	  { 3, 2 } },
	{ "passes while the holder sleeps", waited_for_by_a_sleeping_holder, { 3, 2 }, { 4, 3 } },
	{ "two make progress by two clocks", two_make_progress, ALL, ALL },
	{ "three find it unarmed", two_arm_it, { 3, 2 }, ALL },
	{ "two begin", two_begin, ALL, ALL },
	{ "fires while it is prolonged", fires_while_it_is_prolonged, ALL, ALL },
	{ "fires while it is shortened", fires_while_it_is_shortened, ALL, ALL },
	{ "is shortened while one waits", is_shortened_while_one_waits, { 2, 2 }, { 3, 2 } },
	{ "fires while it is lifted", fires_while_it_is_lifted, ALL, ALL },
	{ "is lifted while bytes move", is_lifted_while_bytes_move, ALL, ALL },
	{ "is lifted while one begins", is_lifted_while_one_begins, ALL, ALL },
	{ "is lifted and set at once", is_lifted_and_set_at_once, ALL, ALL },
	{ "is set twice at once", is_set_twice_at_once, ALL, ALL },
	{ "is shortened while bytes move", is_shortened_while_bytes_move, ALL, ALL },
	{ "is shortened while one begins", is_shortened_while_one_begins, ALL, ALL },
	{ "is set for the first time while one begins", is_first_set_while_one_begins, ALL, ALL },
	{ "fires while the registration ends", fires_while_it_ends, { 3, 2 }, ALL },
	{ "the registration ends while bytes move", ends_while_bytes_move, ALL, ALL },
	{ "the registration ends while one begins", ends_while_one_begins, ALL, ALL },
	{ "the registration ends while a limit is set", ends_while_a_limit_is_set, ALL, ALL },
	{ "fires while the slot is used anew", next_use_and_a_firing, ALL, ALL },
	{ "old progress meets the slot's next use", next_use_and_old_progress, ALL, ALL },
	{ "old progress, after it has fired, meets the next use",
	  next_use_and_old_progress_after_firing, ALL, ALL },
	{ "an old beginning meets the slot's next use", next_use_and_an_old_begin, ALL, ALL },
	{ "an old look meets the slot's next use", next_use_and_an_old_look, ALL, ALL },
	{ "old progress meets the next use's limit", next_use_s_limit_and_old_progress, ALL, ALL },
	{ "an old look meets the next use's limit", next_use_s_limit_and_an_old_look, ALL, ALL },
	{ "shut down while one waits", shut_down_while_one_waits, ALL, ALL },
	{ "shut down while bytes move", shut_down_while_bytes_move, ALL, ALL },
	{ "shut down while a limit is set", shut_down_while_a_limit_is_set, ALL, ALL },
};

EXPLORE_MAIN(models)
