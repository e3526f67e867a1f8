/*
 * A world: one runtime with everything that lives on it, driven by a thread of its own; several live side by
 * side. Its conductor, a fiber, makes actors at random; then it stops, lets everything drain by waiting for
 * the events themselves, and looks whether all is balanced (balance.h).
 *
 * Who may touch what: what is marked atomic anybody, the shelf under its lock, `mix` and `handles` the
 * conductor and, when the runtime is gone, the world's thread. All else belongs to the runtime's tasks, of
 * which one runs at a time.
 */
#ifndef EDO_TESTS_SOAK_WORLD_H
#define EDO_TESTS_SOAK_WORLD_H

#include "allocator.h"
#include "clock.h"
#include "futures.h"
#include "mix.h"
#include "runtime/runtime.h"
#include "tally.h"
#include <edo/edo.h>
#include <errno.h>
#include <pthread.h>

/* Every kind of runtime there is. */
enum soak_world_kind {
	SOAK_WORLD_WHOLE,
	SOAK_WORLD_BOOTTIME,
	SOAK_WORLD_PAUSED,
	SOAK_WORLD_NO_IO,
	SOAK_WORLD_NO_TIME,
	SOAK_WORLD_BARE, /* neither */
	SOAK_WORLD_KINDS
};

/* What lives in a world. Those after SOAK_STACKLESS have no stack. */
enum soak_actor_kind {
	SOAK_YIELDER,
	SOAK_WAITER,
	SOAK_KEEPER,
	SOAK_FAMILY,
	SOAK_NAPPER,
	SOAK_JUGGLER,
	SOAK_METRONOME,
	SOAK_LIMITER,
	SOAK_TURNER,
	SOAK_SERVER,
	SOAK_CLIENT,
	SOAK_VISITOR,
	SOAK_CROWD,
	SOAK_CLOSER,
	SOAK_PIPER,
	SOAK_SPLITTER,
	SOAK_SESSION,
	SOAK_PIPE_END,
	SOAK_WRITER_HALF,
	SOAK_STACKLESS,
	SOAK_DREAMER = SOAK_STACKLESS,
	SOAK_MIRROR,
	SOAK_ACTOR_KINDS
};

enum {
	SOAK_GATES = 24,
	SOAK_HANDLES = 48,
	SOAK_SHELF = 8,
	SOAK_LISTENERS = 4,
	SOAK_STREAMS = 96,
	SOAK_OUTSIDERS = 3,
	SOAK_CROWDED = 160, /* actors */
};

/* The right to join an actor. */
struct soak_handle {
	edo_task *task; /* NULL: none */
	int result;     /* what it ends with by itself */
	bool was_aborted;
};

/* A listener in a place where others find it. */
struct soak_listener {
	edo_tcp_listener listener;
	edo_addr addr;
	bool is_open;
	bool is_taken; /* by the actor that accepts */
};

/* What both ends know of a connection; index n of `sent` is what end n sends. The client is end 0. */
struct soak_connection {
	unsigned ends; /* that have not ended; 0: nobody's */
	uint32_t key;  /* of the bytes */
	uint64_t sent[2];
	bool is_broken;   /* somebody gave it up: it may break off anywhere */
	bool is_attached; /* the server has read the key */
};

/* A stream in a place where others find it. */
struct soak_stream {
	bool is_taken;
	edo_tcp places[2]; /* it moves between them */
	unsigned at;
	struct soak_connection *connection; /* NULL: not known yet */
};

struct soak_world {
	enum soak_world_kind kind;
	struct soak_mix mix;
	struct soak_allocator allocator;
	edo_config config;
	edo_runtime *runtime;

	uint64_t deeds;   /* of the conductor in a round; 0: until told to stop */
	const bool *stop; /* atomic */
	bool is_last;     /* this round is */
	bool is_left;     /* it ended with all alive */

	int alive[SOAK_ACTOR_KINDS]; /* atomic */
	int alive_in_all;            /* atomic */
	int outside;                 /* atomic: plain threads that use the runtime */
	bool is_draining;            /* atomic */
	bool is_ending;              /* atomic: destroy has begun, or will with all alive */
	struct soak_gate changed;    /* opened when something ends while it drains */
	struct soak_gate gates[SOAK_GATES];

	pthread_mutex_t shelf_lock;
	edo_waker shelf[SOAK_SHELF];

	struct soak_handle handles[SOAK_HANDLES];
	struct soak_listener listeners[SOAK_LISTENERS];
	struct soak_stream streams[SOAK_STREAMS];
	struct soak_connection connections[SOAK_STREAMS];

	pthread_t thread;
	pthread_t outsiders[SOAK_OUTSIDERS];
	unsigned outsider_count;
	bool has_ended; /* atomic */
};

/* An actor's beginning; copied into its task. */
struct soak_actor {
	struct soak_world *world;
	struct soak_mix mix;
	enum soak_actor_kind kind;
	unsigned depth; /* of the family tree */
	void *own;      /* what its maker gave it */
};

static inline bool soak_has_time(const struct soak_world *world)
{
	return !world->config.disable_time;
}

static inline bool soak_has_io(const struct soak_world *world)
{
	return !world->config.disable_io;
}

static inline bool soak_is_draining(const struct soak_world *world)
{
	return __atomic_load_n(&world->is_draining, __ATOMIC_SEQ_CST);
}

static inline bool soak_is_ending(const struct soak_world *world)
{
	return __atomic_load_n(&world->is_ending, __ATOMIC_ACQUIRE);
}

static inline int soak_alive(const struct soak_world *world)
{
	return __atomic_load_n(&world->alive_in_all, __ATOMIC_ACQUIRE);
}

/* Sets up and starts the thread; it ends by itself after its rounds. */
void soak_world_start(struct soak_world *world, enum soak_world_kind kind, struct soak_mix mix,
		      uint64_t deeds, const bool *stop);
void soak_world_join(struct soak_world *world);
/* Tells on stderr what is alive in it. */
void soak_world_dump(const struct soak_world *world);

/* ---- actors (actors.c) ---- */

/* An actor of a random kind that this world can have. 0 with its handle, or the spawn's error. Any thread. */
int soak_spawn(struct soak_world *world, struct soak_mix *mix, unsigned depth,
	       struct soak_handle *handle);
/* Of this kind; handle NULL: detached. */
int soak_spawn_kind(struct soak_world *world, struct soak_mix *mix, enum soak_actor_kind kind,
		    unsigned depth, void *own, struct soak_handle *handle);
/* What becomes of a handle. */
void soak_abort(struct soak_handle *handle);
void soak_detach(struct soak_handle *handle);
/* Waits, as edo_task_join(); checks what the task ended with. A cancelled wait leaves the handle. */
int soak_join(struct soak_world *world, struct soak_handle *handle);
/* Gives up after some polls. */
int soak_try_join(struct soak_world *world, struct soak_handle *handle, unsigned polls);
/* An actor is gone. Also from drop functions, hence from any thread. */
void soak_actor_ended(struct soak_world *world, enum soak_actor_kind kind);

/* Checks a result of whatever waits for time or nothing: it worked, or this task was told to end. */
void soak_expect_wait(const struct soak_world *world, int rc, const char *what);
/*
 * The time has come: by the system's clock it had come at some moment; by the runtime's it has come now, unless
 * the clock may run back.
 */
void soak_expect_come(const struct soak_world *world, edo_instant deadline, const char *what);
/* As long has passed: where the clock runs back nobody knows from when the library counted. */
static inline void soak_expect_passed(const struct soak_world *world, edo_instant begun,
				      edo_duration length, const char *what)
{
	if (!soak_clock_may_run_back())
		soak_expect_come(world, edo_instant_add(begun, length), what);
}
/* Some short rest: a sleep, or where there is no time a yield. */
int soak_rest(struct soak_world *world, struct soak_mix *mix);

/* The kinds. They return 0, or a negated errno when they were told to end. */
typedef int soak_act(struct soak_actor *self);
soak_act soak_yielder, soak_waiter, soak_keeper, soak_family;
soak_act soak_napper, soak_juggler, soak_metronome, soak_limiter, soak_turner;
soak_act soak_server, soak_client, soak_visitor, soak_crowd, soak_closer, soak_splitter,
	soak_session, soak_writer_half;
soak_act soak_piper, soak_pipe_end;

/* Stackless ones: spawn themselves. */
int soak_dreamer_spawn(const struct soak_actor *self, edo_task **task);
int soak_mirror_spawn(const struct soak_actor *self, edo_task **task);

/* ---- outside (outside.c) ---- */

void soak_outside_start(struct soak_world *world);
void soak_outside_join(struct soak_world *world);
/* Keeps a waker for others; takes one out ("none" if there is none). Any thread. */
void soak_shelve(struct soak_world *world, struct soak_mix *mix, edo_waker waker);
edo_waker soak_unshelve(struct soak_world *world, struct soak_mix *mix);

#endif
