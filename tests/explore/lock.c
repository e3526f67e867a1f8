/*
 * The library's locks, one step each: an acquire is possible when the lock is free. What was done under a
 * lock is known to whoever acquires it next. Ranks are those of src/base/lock_rank.h, checked for each
 * of the model's threads.
 */
#include "explore/engine.h"

static void push_rank(struct explore_thread *thread, unsigned rank, const struct explore_site *site)
{
	if (thread->held_count == MAX_HELD)
		engine_fail(EXPLORE_LOCK_MISUSE, "%s:%d: too many locks",
			    report_short_name(site->file), site->line);
	if (thread->held_count > 0 && thread->held[thread->held_count - 1] >= rank)
		engine_fail(EXPLORE_LOCK_MISUSE, "%s:%d: %s out of rank",
			    report_short_name(site->file), site->line, site->text);
	thread->held[thread->held_count++] = rank;
}

static void pop_rank(struct explore_thread *thread, unsigned rank, const struct explore_site *site)
{
	if (thread->held_count == 0 || thread->held[thread->held_count - 1] != rank)
		engine_fail(EXPLORE_LOCK_MISUSE, "%s:%d: %s is not the last lock", site->file,
			    site->line, site->text);
	thread->held_count--;
}

/* The lock's word is used as an atomic is: so who frees it must be ordered with all its users. */
static void tell_of_use(const void *lock, bool is_write, const struct explore_site *site)
{
	if (!engine->is_alone)
		races_atomic(lock, sizeof(uint32_t), is_write, site);
}

static struct meeting *take(const void *lock, unsigned rank, const struct explore_site *site)
{
	struct explore_thread *self = engine->self;
	struct meeting *meeting = order_meeting(lock);

	push_rank(self, rank, site);
	meeting->holder = (int)self->number + 1;
	/* What was released in an era that is over is known to all, and its stamp is gone. */
	if (meeting->era == memory_era())
		memory_join(self, meeting->released);
	tell_of_use(lock, true, site);
	return meeting;
}

/* Alone a lock that is held is held by oneself, or by a thread that has ended. */
void explore_lock_acquire(const void *lock, unsigned rank, const struct explore_site *site)
{
	engine_step(STEP_ACQUIRE, lock, site);
	arena_check(lock, sizeof(uint32_t), site->text, NULL);
	if (order_meeting(lock)->holder != 0)
		engine_fail(EXPLORE_DEADLOCK, "%s:%d: %s waits for itself",
			    report_short_name(site->file), site->line, site->text);
	(void)take(lock, rank, site);
	report_trace(site, " ");
}

bool explore_lock_try(const void *lock, unsigned rank, const struct explore_site *site)
{
	bool is_free;

	engine_step(STEP_TRY, lock, site);
	arena_check(lock, sizeof(uint32_t), site->text, NULL);
	is_free = order_meeting(lock)->holder == 0;
	if (is_free)
		(void)take(lock, rank, site);
	else
		tell_of_use(lock, false, site);
	report_trace(site, is_free ? "-> taken" : "-> not free");
	return is_free;
}

void explore_lock_release(const void *lock, unsigned rank, const struct explore_site *site)
{
	struct meeting *meeting;

	engine_step(STEP_RELEASE, lock, site);
	arena_check(lock, sizeof(uint32_t), site->text, NULL);
	meeting = order_meeting(lock);
	if (meeting->holder != (int)engine->self->number + 1)
		engine_fail(EXPLORE_LOCK_MISUSE, "%s:%d: %s is not held by this thread", site->file,
			    site->line, site->text);
	pop_rank(engine->self, rank, site);
	tell_of_use(lock, true, site);
	meeting->holder = 0;
	meeting->era = memory_era();
	/* Alone there are no stamps, and nobody who does not know. */
	meeting->released = engine->is_alone ? NULL : memory_stamp(engine->self);
	engine->writes++;
	report_trace(site, " ");
}

void explore_lock_assert_none(const struct explore_site *site)
{
	if (engine->self->held_count > 0)
		engine_fail(EXPLORE_LOCK_MISUSE, "%s:%d: a lock is held",
			    report_short_name(site->file), site->line);
}
