/* The calls that wait: each a future of this room, awaited. */
#include "base/hot.h"
#include <edo/fiber.h>
#include <edo/sync.h>

EDO_HOT int edo_mpsc_send(edo_mpsc_tx *tx, const void *item)
{
	edo_mpsc_send_future send;

	return edo_await(edo_mpsc_send_start(&send, tx, item));
}

int edo_mpsc_reserve(edo_mpsc_tx *tx, edo_mpsc_permit *permit)
{
	edo_mpsc_reserve_future reserve;

	return edo_await(edo_mpsc_reserve_start(&reserve, tx, permit));
}

EDO_HOT int edo_mpsc_recv(edo_mpsc_rx *rx, void *item)
{
	edo_mpsc_recv_future recv;

	return edo_await(edo_mpsc_recv_start(&recv, rx, item));
}

int edo_mpsc_recv_many(edo_mpsc_rx *rx, void *items, size_t max)
{
	edo_mpsc_recv_future recv;

	return edo_await(edo_mpsc_recv_many_start(&recv, rx, items, max));
}

int edo_oneshot_recv(edo_oneshot_rx *rx, void *item)
{
	edo_oneshot_recv_future recv;

	return edo_await(edo_oneshot_recv_start(&recv, rx, item));
}
