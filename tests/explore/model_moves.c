/*
 * Users' objects are copied by value, and a copy is a move: whichever is used first after it holds the
 * registration, and the other is dead (p45, p47: nor does an object of an earlier use of the slot ever hold the
 * next one). Two tasks may use one object at once, and two threads two copies of it.
 */
#include "explore/rig_io.h"
#include <errno.h>

enum { FD = 1, OTHER_FD = 2 };
enum { WHOLE, READER = 0, WRITER = 1 };

/* What of a user's object counts: where it lies, and the epoch in it. */
struct object {
	struct edo_scheduled_io *sio;
	unsigned half;
	uint32_t epoch; /* atomic */
};

static struct edo_io_driver io;
static struct rig_registered registered;
static struct rig_registered successor;
static struct object original, copy, another, of_successor;

static struct object object_of(const struct rig_registered *of, unsigned half)
{
	return (struct object){ of->sio, half, of->sio->epoch[half] };
}

static int use(struct object *object)
{
	return edo_io_adopt(object->sio, object->half, object, &object->epoch);
}

static void begin(void)
{
	rig_io_begin(&io);
	registered = rig_io_register(&io, FD, 0);
	explore_check(registered.registration.epoch == registered.sio->epoch[WHOLE]);
	original = object_of(&registered, WHOLE);
	explore_check(use(&original) == 0);
}

static void end(void)
{
	explore_check(rig_io_deregister(&registered) == 0);
	rig_io_end(&io);
}

/* ---- who uses what ---- */

static void must_use(void *object)
{
	explore_check(use(object) == 0);
}

static void must_use_twice(void *object)
{
	must_use(object);
	must_use(object);
}

static uint32_t in_vain; /* atomic: how many found their object dead */

static void may_use(void *object)
{
	int rc = use(object);

	explore_check(rc == 0 || rc == -EBADF);
	if (rc == -EBADF)
		(void)edo_fetch_add(&in_vain, 1, relaxed);
}

/* Once it is dead it stays so. */
static void may_use_twice(void *object)
{
	int first = use(object);
	int second = use(object);

	explore_check(first == 0 || second == -EBADF);
}

/* ---- models ---- */

/* A reader and a writer, of an object that has just been moved: neither finds it dead. */
static void two_use_a_moved_object(void)
{
	begin();
	copy = original;
	explore_start(must_use_twice, &copy);
	explore_start(must_use, &copy);
	explore_join_all();
	explore_check(use(&original) == -EBADF);
	explore_check(use(&copy) == 0);
	end();
}

static void three_use_a_moved_object(void)
{
	begin();
	copy = original;
	explore_start(must_use, &copy);
	explore_start(must_use, &copy);
	explore_start(must_use, &copy);
	explore_join_all();
	explore_check(use(&original) == -EBADF);
	end();
}

/* Not used since, the original is as good as the copy: then it is the copy that is dead. */
static void an_original_and_its_copy(void)
{
	begin();
	copy = original;
	explore_start(may_use_twice, &original);
	explore_start(must_use_twice, &copy);
	explore_join_all();
	explore_check(use(&original) == -EBADF);
	explore_check(use(&copy) == 0);
	end();
}

static void two_copies(void)
{
	begin();
	copy = original;
	another = original;
	explore_start(may_use, &copy);
	explore_start(may_use, &another);
	explore_join_all();
	explore_check(in_vain == 1);
	explore_check((use(&copy) == 0) != (use(&another) == 0));
	explore_check(use(&original) == -EBADF);
	end();
}

static void two_copies_and_their_original(void)
{
	begin();
	copy = original;
	another = original;
	explore_start(may_use, &copy);
	explore_start(may_use, &another);
	explore_start(may_use_twice, &original);
	explore_join_all();
	explore_check((use(&copy) == 0) != (use(&another) == 0));
	explore_check(use(&original) == -EBADF);
	end();
}

/* Moved on and on by who uses it; a copy made on the way is dead. */
static void moves_it_away_and_back(void *unused)
{
	(void)unused;
	another = copy;
	explore_check(use(&another) == 0);
	copy = another;
	explore_check(use(&copy) == 0);
	explore_check(use(&another) == -EBADF);
}

static void an_object_goes_away_and_comes_back(void)
{
	begin();
	copy = original;
	explore_check(use(&copy) == 0);
	explore_start(moves_it_away_and_back, NULL);
	explore_start(may_use_twice, &original);
	explore_join_all();
	explore_check(use(&original) == -EBADF);
	end();
}

/* Each half has its own holder: one's move is none of the other. */
static void two_halves(void)
{
	struct object reader, writer;

	begin();
	reader = object_of(&registered, READER);
	writer = object_of(&registered, WRITER);
	copy = reader;
	another = writer;
	explore_start(must_use_twice, &copy);
	explore_start(must_use_twice, &another);
	explore_join_all();
	explore_check(use(&reader) == -EBADF && use(&writer) == -EBADF);
	end();
}

/* ---- the slot's next use ---- */

static void register_anew(void)
{
	explore_check(rig_io_deregister(&registered) == 0);
	edo_slab_release_retired(&io.slab);
	successor = rig_io_register(&io, OTHER_FD, 0);
	explore_check(successor.sio == registered.sio);
	of_successor = object_of(&successor, WHOLE);
}

static void registers_anew_and_uses_it(void *unused)
{
	(void)unused;
	register_anew();
	must_use_twice(&of_successor);
}

static void end_successor(void)
{
	explore_check(use(&original) == -EBADF && use(&copy) == -EBADF);
	must_use(&of_successor);
	explore_check(rig_io_deregister(&successor) == 0);
	rig_io_end(&io);
}

/* Whoever found the slot before its use ended, and was held up. */
static void an_old_object_and_the_next_use(void)
{
	begin();
	copy = original;
	explore_start(may_use_twice, &copy);
	explore_start(registers_anew_and_uses_it, NULL);
	explore_join_all();
	end_successor();
}

static void two_old_objects_and_the_next_use(void)
{
	begin();
	copy = original;
	explore_start(may_use, &copy);
	explore_start(may_use, &original);
	explore_start(registers_anew_and_uses_it, NULL);
	explore_join_all();
	end_successor();
}

/*
 * The writer's half is some epochs behind the whole. Its epoch does not go back to where it was: then the
 * next stream's writer would be dead.
 */
static void an_old_half_and_the_next_use(void)
{
	struct object writer;

	begin();
	copy = original;
	explore_check(use(&copy) == 0);
	copy = original; /* dead, for the end */
	writer = object_of(&registered, WRITER);
	another = writer;
	explore_start(may_use, &another);
	explore_start(registers_anew_and_uses_it, NULL);
	explore_join_all();
	writer = object_of(&successor, WRITER);
	explore_check(writer.epoch == successor.registration.epoch);
	explore_check(use(&another) == -EBADF);
	explore_check(use(&writer) == 0);
	end_successor();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "two use a moved object", two_use_a_moved_object, ALL, ALL },
	{ "three use a moved object", three_use_a_moved_object, ALL, ALL },
	{ "an original is used beside its copy", an_original_and_its_copy, ALL, ALL },
	{ "two copies are used at once", two_copies, ALL, ALL },
	{ "two copies and their original are used", two_copies_and_their_original, ALL, ALL },
	{ "an object goes away and comes back", an_object_goes_away_and_comes_back, ALL, ALL },
	{ "two halves are moved", two_halves, ALL, ALL },
	{ "an old object meets the slot's next use", an_old_object_and_the_next_use, ALL, ALL },
	{ "two old objects meet the next use", two_old_objects_and_the_next_use, ALL, ALL },
	{ "an old half meets the slot's next use", an_old_half_and_the_next_use, ALL, ALL },
};

EXPLORE_MAIN(models)
