/*
 * Deadline scopes, shields and checkpoints: what a fiber's function says of its own waits. What they
 * change is limit.h's.
 */
#include "private.h"
#include <errno.h>

static struct edo_time_driver *time_of(const struct edo_fiber *fiber)
{
	struct edo_driver *driver = fiber->cx->edo_driver_;

	return driver->has_time ? &driver->time : NULL;
}

/* ---- scopes ---- */

static void open_scope(struct edo_fiber *fiber, edo_deadline *scope, edo_instant deadline)
{
	struct edo_limit *limit = &fiber->limit;

	if (deadline > limit->deadline)
		deadline = limit->deadline;
	*scope = (edo_deadline){
		.edo_fiber_ = fiber,
		.edo_deadline_ = deadline,
		.edo_outer_deadline_ = limit->deadline,
		.edo_outer_cut_by_ = limit->cut_by,
		.edo_number_ = ++limit->scopes,
		.edo_outer_number_ = limit->innermost,
		.edo_depth_ = ++limit->depth,
		.edo_outer_was_cancelled_ = limit->was_cancelled,
	};
	limit->deadline = deadline;
	limit->innermost = scope->edo_number_;
	limit->cut_by = EDO_FOREVER;
	limit->was_cancelled = false;
}

/* Not if an outer one's end has ended it, whatever was begun since. */
static bool is_open(const struct edo_limit *limit, const edo_deadline *scope)
{
	return scope->edo_number_ != 0 &&
	       (scope->edo_depth_ < limit->depth ||
		(scope->edo_depth_ == limit->depth && scope->edo_number_ == limit->innermost));
}

/* What cut it has cut the outer scope too if that has the same deadline. */
static void close_scope(struct edo_limit *limit, const edo_deadline *scope)
{
	limit->deadline = scope->edo_outer_deadline_;
	limit->innermost = scope->edo_outer_number_;
	limit->depth = scope->edo_depth_ - 1;
	if (limit->cut_by != limit->deadline)
		limit->cut_by = scope->edo_outer_cut_by_;
	limit->was_cancelled |= scope->edo_outer_was_cancelled_ != 0;
}

static bool was_cut(const struct edo_limit *limit, const edo_deadline *scope)
{
	return limit->cut_by != EDO_FOREVER && limit->cut_by == scope->edo_deadline_;
}

/* Returns whether a wait in it was cut by its deadline. */
static bool end_scope(struct edo_limit *limit, edo_deadline *scope)
{
	bool cut = false;

	if (is_open(limit, scope)) {
		cut = was_cut(limit, scope);
		close_scope(limit, scope);
	}
	scope->edo_number_ = 0;
	return cut;
}

/* The clock is read afresh: by an older reading the deadline would be early (T1). */
static int begin_in(struct edo_fiber *fiber, edo_deadline *scope, edo_duration duration)
{
	struct edo_time_driver *time = time_of(fiber);
	edo_instant now;

	if (duration == EDO_FOREVER) {
		open_scope(fiber, scope, EDO_FOREVER);
		return 0;
	}
	if (!time)
		return -EOPNOTSUPP;
	now = edo_time_now(time);
	if (now > fiber->limit.come)
		fiber->limit.come = now;
	open_scope(fiber, scope, edo_instant_add(now, duration));
	return 0;
}

int edo_deadline_begin(edo_deadline *scope, edo_duration limit)
{
	struct edo_fiber *fiber = edo_fiber_current();

	*scope = (edo_deadline){ 0 };
	if (fiber && !fiber->is_polling)
		return begin_in(fiber, scope, limit);
	edo_misuse("deadlines belong to fibers, not to polls");
	return fiber ? -EDEADLK : -EINVAL;
}

int edo_deadline_end(edo_deadline *scope)
{
	struct edo_fiber *fiber = edo_fiber_current();

	if (scope->edo_number_ == 0)
		return 0;
	if (scope->edo_fiber_ == fiber)
		return end_scope(&fiber->limit, scope) ? -ETIMEDOUT : 0;
	edo_misuse("another fiber's deadline");
	return -EINVAL;
}

/* Fails closed: who asked for a limit must not run without one. */
edo_deadline edo_deadline_open_(edo_duration limit)
{
	struct edo_fiber *fiber = edo_fiber_current();
	edo_deadline scope;

	if (edo_deadline_begin(&scope, limit) < 0 && fiber)
		open_scope(fiber, &scope, 0);
	return scope;
}

void edo_deadline_close_(edo_deadline *scope)
{
	(void)edo_deadline_end(scope);
}

/* ---- a function under a deadline ---- */

static int fate_of_failure(const struct edo_limit *limit, const edo_deadline *scope)
{
	if (limit->was_cancelled)
		return -ECANCELED;
	return was_cut(limit, scope) ? -ETIMEDOUT : 0;
}

int edo_with_deadline(edo_duration limit, edo_fiber_fn *fn, void *arg, int *result)
{
	edo_deadline scope;
	int outcome;
	int rc = fn ? edo_deadline_begin(&scope, limit) : -EINVAL;

	if (rc < 0) {
		outcome = rc;
	} else {
		struct edo_fiber *fiber = scope.edo_fiber_;

		outcome = fn(arg);
		rc = outcome < 0 ? fate_of_failure(&fiber->limit, &scope) : 0;
		end_scope(&fiber->limit, &scope);
	}
	if (result)
		*result = outcome;
	return rc;
}

edo_instant edo_deadline_current(void)
{
	struct edo_fiber *fiber = edo_fiber_current();

	return fiber ? fiber->limit.deadline : EDO_FOREVER;
}

edo_duration edo_deadline_left(void)
{
	edo_instant deadline = edo_deadline_current();

	return deadline == EDO_FOREVER ? EDO_FOREVER : edo_instant_since(deadline, edo_now());
}

/* ---- shields ---- */

int edo_shield(edo_fiber_fn *fn, void *arg, int *result)
{
	struct edo_fiber *fiber = edo_fiber_current();
	struct edo_limit_outside outside;
	int outcome;

	if (!fn)
		return -EINVAL;
	if (fiber ? fiber->is_polling : edo_thread_is_driving()) {
		edo_misuse("a poll function cannot wait, shielded or not");
		return -EDEADLK;
	}
	if (fiber)
		outside = edo_limit_shield(&fiber->limit);
	outcome = fn(arg);
	if (fiber)
		edo_limit_unshield(&fiber->limit, &outside);
	if (result)
		*result = outcome;
	return 0;
}
