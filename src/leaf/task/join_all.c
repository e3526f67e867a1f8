/*
 * All of several futures. The results are the state: EDO_PENDING is one whose wait goes on, anything else
 * one whose wait has been dropped, in the poll that had its result. No place for them: it was refused.
 */
#include "leaf/task/several.h"
#include <edo/fiber.h>
#include <errno.h>

static edo_future *const *futures_of(const edo_join_all_future *join)
{
	return edo_several_are_few(join->edo_count_) ? join->edo_few_ : join->edo_futures_;
}

/* For each place at which it stands: what has had its result is not polled again. */
static void take(edo_join_all_future *join, edo_future *ready, edo_poll polled)
{
	edo_future *const *futures = futures_of(join);

	for (uint32_t i = 0; i < join->edo_count_; i++)
		if (futures[i] == ready)
			join->edo_results_[i] = polled;
	edo_future_drop(ready);
}

static void poll_pending(edo_join_all_future *join, edo_context *cx)
{
	edo_future *const *futures = futures_of(join);

	for (uint32_t i = 0; i < join->edo_count_; i++) {
		edo_poll polled;

		if (join->edo_results_[i] != EDO_PENDING)
			continue;
		polled = edo_future_poll(futures[i], cx);
		if (polled != EDO_PENDING)
			take(join, futures[i], polled);
	}
}

/* Looked at last: one that stands at two places may have been pending at the first and ready at the second. */
static bool is_any_pending(const edo_join_all_future *join)
{
	for (uint32_t i = 0; i < join->edo_count_; i++)
		if (join->edo_results_[i] == EDO_PENDING)
			return true;
	return false;
}

/* What has a result has been dropped. Without a place for results none was ever polled. */
static void drop_pending(edo_join_all_future *join)
{
	edo_future *const *futures = futures_of(join);
	uint32_t n = join->edo_count_;

	join->edo_count_ = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!join->edo_results_ || join->edo_results_[i] == EDO_PENDING)
			edo_several_drop_one(futures[i]);
}

static edo_poll end(edo_join_all_future *join, int result)
{
	drop_pending(join);
	join->result = result;
	return result;
}

static edo_poll join_all_poll(edo_future *future, edo_context *cx)
{
	edo_join_all_future *join = edo_container_of(future, edo_join_all_future, future);

	if (join->edo_count_ == 0 || !join->edo_results_)
		return end(join, -EINVAL);
	poll_pending(join, cx);
	return is_any_pending(join) ? EDO_PENDING : end(join, 0);
}

static void join_all_drop(edo_future *future)
{
	drop_pending(edo_container_of(future, edo_join_all_future, future));
}

static const edo_future *join_all_awaits(const edo_future *future, unsigned n)
{
	const edo_join_all_future *join =
		edo_container_of((uintptr_t)future, edo_join_all_future, future);

	return edo_several_nth(futures_of(join), join->edo_count_, n);
}

EDO_FUTURE_OPS_AWAITING(join_all_ops, edo_join_all_future, future, join_all_poll, join_all_drop,
			join_all_awaits);

edo_future *edo_join_all_start(edo_join_all_future *join, edo_future *const *futures, size_t n,
			       int *results)
{
	*join = (edo_join_all_future){ .future = { &join_all_ops } };
	if (!edo_several_are_named(futures, n))
		return &join->future;
	for (size_t i = 0; results && i < n; i++)
		results[i] = futures[i] ? EDO_PENDING : 0;
	join->edo_results_ = edo_several_are_sound(futures, n) ? results : NULL;
	join->edo_count_ = (uint32_t)n;
	join->edo_futures_ = futures;
	edo_several_keep(join->edo_few_, futures, n);
	return &join->future;
}

int edo_join_all(edo_future *const *futures, size_t n, int *results)
{
	edo_join_all_future join;

	return edo_await(edo_join_all_start(&join, futures, n, results));
}
