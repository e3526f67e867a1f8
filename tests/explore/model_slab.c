/*
 * R3: slots given out, found without a lock, retired, released by the holder and given out again; the slab
 * that grows, and that is closed; and the table that says whose a descriptor's number is.
 *
 * The fields of a slot that are plain are written by whoever acquires it: that nobody else has it shows as
 * the want of a data race.
 */
#include "explore/rig_io.h"
#include <errno.h>

enum { FD = 1, OTHER_FD = 2, THIRD_FD = 3 };

static struct edo_io_driver io;

/* What each of two threads got. */
static struct edo_scheduled_io *got[2];
static struct rig_registered registered[2];

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

static void end(void)
{
	rig_io_end(&io);
}

/* ---- the slab by itself ---- */

static struct edo_scheduled_io *acquire(int fd)
{
	int rc;
	struct edo_scheduled_io *sio = edo_slab_acquire(&io, fd, 0, &rc);

	explore_check(rc == 0 && sio && sio->fd == fd && sio->generation & 1);
	return sio;
}

static void acquires(void *which)
{
	got[number_of(which)] = acquire((int)number_of(which));
}

/* What a registration does with a slot that it has for itself. */
static void end_use(struct edo_scheduled_io *sio)
{
	edo_store(&sio->generation, sio->generation + 1, release);
}

static void acquires_and_retires(void *which)
{
	struct edo_scheduled_io *sio = acquire((int)number_of(which));

	end_use(sio);
	edo_slab_retire(&io.slab, sio);
}

static void acquires_and_undoes(void *which)
{
	struct edo_scheduled_io *sio = acquire((int)number_of(which));

	end_use(sio);
	edo_slab_undo_acquire(&io.slab, sio);
}

static void retires(void *which)
{
	struct edo_scheduled_io *sio = got[number_of(which)];

	end_use(sio);
	edo_slab_retire(&io.slab, sio);
}

static void releases(void *unused)
{
	(void)unused;
	edo_slab_release_retired(&io.slab);
}

/* How many slots are in no use, by giving them out until a fresh one comes. */
static unsigned free_slots(void)
{
	uint32_t used = io.slab.used;
	unsigned count = 0;

	while (acquire(0)->index < used)
		count++;
	return count;
}

static void two_acquire(void)
{
	begin();
	explore_start(acquires, number(0));
	explore_start(acquires, number(1));
	explore_join_all();
	explore_check(got[0] != got[1]);
	explore_check(io.slab.live == 2 && io.slab.used == 2);
	end();
}

/* All slots that there is memory for are in use, but one, or none. */
static void fill_but(unsigned left)
{
	for (unsigned i = left; i < EDO_SLAB_FIRST; i++)
		(void)acquire(0);
}

static void two_grow(void)
{
	begin();
	fill_but(0);
	explore_start(acquires, number(0));
	explore_start(acquires, number(1));
	explore_join_all();
	explore_check(got[0] != got[1]);
	explore_check(io.slab.used == EDO_SLAB_FIRST + 2);
	end();
}

static void two_for_the_last_place(void)
{
	begin();
	fill_but(1);
	explore_start(acquires, number(0));
	explore_start(acquires, number(1));
	explore_join_all();
	explore_check(got[0] != got[1]);
	end();
}

static void retired_and_released(void)
{
	begin();
	got[0] = acquire(0);
	explore_start(retires, number(0));
	explore_start(releases, NULL);
	explore_start(acquires, number(1));
	explore_join_all();
	explore_check(io.slab.live == 1);
	edo_slab_release_retired(&io.slab);
	explore_check(free_slots() == (got[0] == got[1] ? 0 : 1));
	end();
}

static void two_retire(void)
{
	begin();
	got[0] = acquire(0);
	got[1] = acquire(1);
	explore_start(retires, number(0));
	explore_start(retires, number(1));
	explore_start(releases, NULL);
	explore_join_all();
	edo_slab_release_retired(&io.slab);
	explore_check(io.slab.live == 0 && io.slab.pending_count == 0);
	explore_check(free_slots() == 2);
	end();
}

static void two_come_and_go(void)
{
	begin();
	explore_start(acquires_and_retires, number(0));
	explore_start(acquires_and_retires, number(1));
	explore_start(releases, NULL);
	explore_join_all();
	edo_slab_release_retired(&io.slab);
	explore_check(io.slab.live == 0);
	explore_check(free_slots() == io.slab.used - 1);
	end();
}

static void one_is_undone(void)
{
	begin();
	explore_start(acquires_and_undoes, number(0));
	explore_start(acquires_and_retires, number(1));
	explore_join_all();
	edo_slab_release_retired(&io.slab);
	explore_check(free_slots() == io.slab.used - 1);
	end();
}

/* ---- finding ---- */

/* How another thread comes to know of a registration; relaxed, so that all order is the slab's. */
static uint32_t told_index;
static uint32_t told_generation; /* 0: not told yet */

static void registers_and_tells(void *unused)
{
	registered[0] = rig_io_register(&io, FD, EDO_IS_READABLE);
	edo_store(&told_index, registered[0].registration.index, relaxed);
	edo_store(&told_generation, registered[0].registration.generation, relaxed);
	(void)unused;
}

/* It is found, or not yet; found, all of it is there. */
static void finds(void *unused)
{
	uint32_t generation = edo_load(&told_generation, relaxed);
	struct edo_scheduled_io *sio = edo_io_find(&io, edo_load(&told_index, relaxed), generation);

	(void)unused;
	if (!sio)
		return;
	explore_check(sio->fd == FD);
	explore_check(edo_load(&sio->readiness, relaxed) & EDO_IS_READABLE);
}

static void a_registration_is_found(void)
{
	begin();
	explore_start(registers_and_tells, NULL);
	explore_start(finds, NULL);
	explore_join_all();
	explore_check(rig_io_deregister(&registered[0]) == 0);
	end();
}

/* In a slot that was used before: what is looked at is not the first use's. */
static void the_next_registration_is_found(void)
{
	struct rig_registered first;

	begin();
	first = rig_io_register(&io, OTHER_FD, 0);
	explore_check(rig_io_deregister(&first) == 0);
	edo_slab_release_retired(&io.slab);
	explore_start(registers_and_tells, NULL);
	explore_start(finds, NULL);
	explore_join_all();
	explore_check(registered[0].sio == first.sio);
	explore_check(!edo_io_find(&io, first.registration.index, first.registration.generation));
	explore_check(rig_io_deregister(&registered[0]) == 0);
	end();
}

/* Perhaps it is not over yet; if so, it is still what it was. */
static void finds_the_first(void *argument)
{
	const struct edo_registration *first = argument;
	struct edo_scheduled_io *sio = edo_io_find(&io, first->index, first->generation);

	explore_check(!sio || sio->index == first->index);
}

static void deregisters_the_first(void *first)
{
	explore_check(rig_io_deregister(first) == 0);
	edo_slab_release_retired(&io.slab);
	registers_and_tells(NULL);
}

static void a_use_ends_while_it_is_looked_for(void)
{
	struct rig_registered first;

	begin();
	first = rig_io_register(&io, OTHER_FD, 0);
	explore_start(deregisters_the_first, &first);
	explore_start(finds_the_first, &first.registration);
	explore_start(finds, NULL);
	explore_join_all();
	explore_check(rig_io_deregister(&registered[0]) == 0);
	end();
}

/* ---- the end ---- */

static int outcome;

static void registers_if_it_may(void *unused)
{
	(void)unused;
	outcome = edo_io_register(&io, FD, EDO_IS_READABLE, &registered[0].registration);
	explore_check(outcome == 0 || outcome == -ESHUTDOWN);
}

static void shuts_down(void *unused)
{
	(void)unused;
	edo_io_shutdown(&io);
}

/* Whoever got in is told of the end. */
static void check_that_it_is_over(void)
{
	struct edo_registration registration = registered[0].registration;
	struct edo_scheduled_io *sio;

	if (outcome < 0)
		return;
	sio = edo_io_find(&io, registration.index, registration.generation);
	explore_check(sio != NULL);
	explore_check(edo_io_call_begin(sio, registration.generation, EDO_READING) == -ESHUTDOWN);
	explore_check(edo_io_deregister(&io, registration.index, registration.generation) == 0);
}

static void a_registration_and_the_end(void)
{
	begin();
	explore_start(registers_if_it_may, NULL);
	explore_start(shuts_down, NULL);
	explore_join_all();
	check_that_it_is_over();
	end();
}

static struct rig_task task;

static void awaits_the_end(void *wait)
{
	explore_check(rig_io_await(wait) == -ESHUTDOWN);
}

static void a_wait_and_the_end(void)
{
	struct rig_io_wait wait = { .task = &task, .direction = EDO_READING };

	begin();
	registered[0] = rig_io_register(&io, FD, 0);
	wait.sio = registered[0].sio;
	wait.generation = registered[0].registration.generation;
	explore_start(awaits_the_end, &wait);
	explore_start(shuts_down, NULL);
	explore_join_all();
	rig_io_unclaim(&wait);
	explore_check(task.clones == 0);
	explore_check(rig_io_deregister(&registered[0]) == 0);
	end();
}

static void deregisters(void *which)
{
	explore_check(rig_io_deregister(&registered[number_of(which)]) == 0);
}

static void a_deregistration_and_the_end(void)
{
	begin();
	registered[0] = rig_io_register(&io, FD, 0);
	explore_start(deregisters, number(0));
	explore_start(shuts_down, NULL);
	explore_join_all();
	end();
}

/* ---- descriptors ---- */

/*
 * What the entry of FD protects: plain. Two at once are as many as can be tried: of three, two that wait would
 * take each other's looks for news, without end.
 */
static unsigned of_the_entry;

static void has_the_entry(void *unused)
{
	uint32_t slot;

	(void)unused;
	explore_check(edo_descriptors_reserve(&io, FD) == 0);
	slot = edo_descriptors_lock(&io, FD);
	explore_check(slot == of_the_entry);
	of_the_entry = slot + 1;
	edo_descriptors_unlock(&io, FD, slot + 1);
}

static void has_another_entry(void *unused)
{
	(void)unused;
	explore_check(edo_descriptors_reserve(&io, OTHER_FD) == 0);
	explore_check(edo_descriptors_lock(&io, OTHER_FD) == 0);
	edo_descriptors_unlock(&io, OTHER_FD, 7);
}

static void two_have_one_entry(void)
{
	begin();
	explore_start(has_the_entry, NULL);
	explore_start(has_the_entry, NULL);
	explore_join_all();
	explore_check(of_the_entry == 2);
	end();
}

static void two_have_two_entries(void)
{
	begin();
	explore_start(has_the_entry, NULL);
	explore_start(has_another_entry, NULL);
	explore_join_all();
	end();
}

/* One number, which one of them gets. */
static void registers_the_same(void *which)
{
	int rc = edo_io_register(&io, FD, 0, &registered[number_of(which)].registration);

	explore_check(rc == 0 || rc == -EEXIST);
	registered[number_of(which)].io = rc == 0 ? &io : NULL;
}

static void two_register_one_number(void)
{
	begin();
	explore_start(registers_the_same, number(0));
	explore_start(registers_the_same, number(1));
	explore_join_all();
	explore_check(!registered[0].io != !registered[1].io);
	deregisters(number(registered[0].io ? 0 : 1));
	explore_check(!fake_poller_watches(FD));
	explore_check(io.slab.live == 0);
	end();
}

static void registers_another(void *which)
{
	registered[number_of(which)] = rig_io_register(&io, OTHER_FD, 0);
}

static void two_register_two_numbers(void)
{
	begin();
	explore_start(registers_the_same, number(0));
	explore_start(registers_another, number(1));
	explore_join_all();
	deregisters(number(0));
	deregisters(number(1));
	end();
}

/*
 * The descriptor was closed under its registration, and the number given out again (p45, p47): the kernel has
 * forgotten the old one. The late end of the old registration leaves the new one's alone.
 */
static void ends_late(void *which)
{
	int rc = rig_io_deregister(&registered[number_of(which)]);

	explore_check(rc == 0 || rc == -EBADF || rc == -ENOENT);
}

static void registers_anew(void *which)
{
	registered[number_of(which)] = rig_io_register(&io, FD, 0);
}

static void an_old_end_and_a_new_registration(void)
{
	begin();
	registered[0] = rig_io_register(&io, FD, 0);
	explore_check(edo_poller_remove(&io.poller, FD) == 0); /* what the kernel does at a close */
	explore_start(ends_late, number(0));
	explore_start(registers_anew, number(1));
	explore_join_all();
	explore_check(fake_poller_watches(FD));
	deregisters(number(1));
	explore_check(!fake_poller_watches(FD));
	end();
}

/* Ends a registration and begins another for the same number; meanwhile somebody else tries. */
static void registers_in_turn(void *which)
{
	deregisters(which);
	registers_the_same(which);
}

static void a_number_changes_hands(void)
{
	begin();
	registered[0] = rig_io_register(&io, FD, 0);
	explore_start(registers_in_turn, number(0));
	explore_start(registers_the_same, number(1));
	explore_join_all();
	explore_check(!registered[0].io != !registered[1].io);
	deregisters(number(registered[0].io ? 0 : 1));
	explore_check(!fake_poller_watches(FD));
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "two acquire the first slots", two_acquire, ALL, ALL },
	{ "two let the slab grow", two_grow, ALL, ALL },
	{ "two acquire, and there is one place left", two_for_the_last_place, ALL, ALL },
	{ "a slot is retired, released and acquired", retired_and_released, ALL, ALL },
	{ "two retire, and the holder releases", two_retire, ALL, ALL },
	{ "two acquire and retire, and the holder releases", two_come_and_go, ALL, ALL },
	{ "one acquires in vain, another retires", one_is_undone, ALL, ALL },
	{ "a registration is found", a_registration_is_found, ALL, ALL },
	{ "the next registration of a slot is found", the_next_registration_is_found, ALL, ALL },
	{ "a use ends while it is looked for", a_use_ends_while_it_is_looked_for, ALL, ALL },
	{ "a registration meets the end", a_registration_and_the_end, ALL, ALL },
	{ "a wait meets the end", a_wait_and_the_end, ALL, ALL },
	{ "a deregistration meets the end", a_deregistration_and_the_end, ALL, ALL },
	{ "two have one descriptor's entry", two_have_one_entry, ALL, ALL },
	{ "two have the entries of two descriptors", two_have_two_entries, ALL, ALL },
	{ "two register one number", two_register_one_number, ALL, ALL },
	{ "two register two numbers", two_register_two_numbers, ALL, ALL },
	{ "an old end meets a new registration", an_old_end_and_a_new_registration, ALL, ALL },
	{ "a number changes hands", a_number_changes_hands, ALL, ALL },
};

EXPLORE_MAIN(models)
