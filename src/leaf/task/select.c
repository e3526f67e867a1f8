/*
 * The first of several futures.
 *
 * Whoever is not the winner is dropped in the poll that decides, not after it: between the two a fiber may be
 * suspended, and what it had armed on its stack would still be armed when that stack goes. The winner
 * is dropped with them, as with every wait that is over. After that the select names no future any more
 * (edo_count_ is 0), so the drop that follows touches none: they may long have been started anew.
 */
#include "leaf/task/several.h"
#include "runtime/runtime.h"
#include <edo/fiber.h>
#include <errno.h>

static edo_future *const *futures_of(const edo_select_future *select)
{
	return edo_several_are_few(select->edo_count_) ? select->edo_few_ : select->edo_futures_;
}

static void drop_all(edo_select_future *select)
{
	edo_future *const *futures = futures_of(select);
	uint32_t n = select->edo_count_;

	select->edo_count_ = 0;
	for (uint32_t i = 0; i < n; i++)
		edo_several_drop_one(futures[i]);
}

static edo_poll refuse(edo_select_future *select)
{
	drop_all(select);
	select->winner = select->result = -EINVAL;
	return -EINVAL;
}

/* A future that is there twice wins where it stands first. */
static uint32_t first_place_of(edo_future *const *futures, uint32_t winner)
{
	uint32_t at = 0;

	while (futures[at] != futures[winner])
		at++;
	return at;
}

static edo_poll decide(edo_select_future *select, uint32_t at, edo_poll polled)
{
	select->winner = (int)first_place_of(futures_of(select), at);
	select->result = polled;
	drop_all(select);
	return select->winner;
}

/* A choice of one is none. */
static uint32_t first_to_poll(const edo_select_future *select, const edo_context *cx)
{
	if (select->edo_is_in_order_ || select->edo_count_ == 1)
		return 0;
	return edo_runtime_draw(cx->edo_driver_, select->edo_count_);
}

static edo_poll select_poll(edo_future *future, edo_context *cx)
{
	edo_select_future *select = edo_container_of(future, edo_select_future, future);
	edo_future *const *futures = futures_of(select);
	uint32_t n = select->edo_count_;
	uint32_t at;

	if (n == 0 || !select->edo_is_sound_)
		return refuse(select);
	at = first_to_poll(select, cx);
	for (uint32_t polls = 0; polls < n; polls++) {
		edo_poll polled = futures[at] ? edo_future_poll(futures[at], cx) : EDO_PENDING;

		if (polled != EDO_PENDING)
			return decide(select, at, polled);
		at = at + 1 < n ? at + 1 : 0;
	}
	return EDO_PENDING;
}

static void select_drop(edo_future *future)
{
	drop_all(edo_container_of(future, edo_select_future, future));
}

static const edo_future *select_awaits(const edo_future *future, unsigned n)
{
	const edo_select_future *select =
		edo_container_of((uintptr_t)future, edo_select_future, future);

	return edo_several_nth(futures_of(select), select->edo_count_, n);
}

EDO_FUTURE_OPS_AWAITING(select_ops, edo_select_future, future, select_poll, select_drop,
			select_awaits);

static edo_future *start(edo_select_future *select, edo_future *const *futures, size_t n,
			 bool in_order)
{
	*select = (edo_select_future){ .future = { &select_ops }, .edo_is_in_order_ = in_order };
	if (!edo_several_are_named(futures, n))
		return &select->future;
	select->edo_is_sound_ = edo_several_are_sound(futures, n);
	select->edo_count_ = (uint32_t)n;
	select->edo_futures_ = futures;
	edo_several_keep(select->edo_few_, futures, n);
	return &select->future;
}

edo_future *edo_select_start(edo_select_future *select, edo_future *const *futures, size_t n)
{
	return start(select, futures, n, false);
}

edo_future *edo_select_in_order_start(edo_select_future *select, edo_future *const *futures,
				      size_t n)
{
	return start(select, futures, n, true);
}

int edo_select(edo_future *const *futures, size_t n)
{
	edo_select_future select;

	return edo_await(edo_select_start(&select, futures, n));
}

int edo_select_in_order(edo_future *const *futures, size_t n)
{
	edo_select_future select;

	return edo_await(edo_select_in_order_start(&select, futures, n));
}

int edo_select_until(edo_future *const *futures, size_t n, edo_instant instant)
{
	edo_select_future select;
	edo_timeout_future timeout;

	return edo_await(
		edo_timeout_until_start(&timeout, instant, edo_select_start(&select, futures, n)));
}
