/* The poller for models whose driver has no I/O: linked, never reached. */
#include "driver/poller/poller.h"
#include "explore/explore.h"

static int unreachable(void)
{
	bool a_driver_without_io_reached_its_poller = true;

	explore_check(!a_driver_without_io_reached_its_poller);
	return -1;
}

int edo_poller_init(struct edo_poller *poller, uint32_t events_per_turn,
		    const edo_allocator *allocator)
{
	(void)poller;
	(void)events_per_turn;
	(void)allocator;
	return unreachable();
}

int edo_poller_follow_boottime(struct edo_poller *poller)
{
	(void)poller;
	return unreachable();
}

void edo_poller_destroy(struct edo_poller *poller)
{
	(void)poller;
	(void)unreachable();
}

int edo_poller_add(struct edo_poller *poller, int fd, uint64_t token)
{
	(void)poller;
	(void)fd;
	(void)token;
	return unreachable();
}

int edo_poller_take_over(struct edo_poller *poller, int fd, uint64_t token)
{
	return edo_poller_add(poller, fd, token);
}

int edo_poller_remove(struct edo_poller *poller, int fd)
{
	return edo_poller_add(poller, fd, 0);
}

int edo_poller_wait(struct edo_poller *poller, uint64_t timeout)
{
	return edo_poller_add(poller, 0, timeout);
}

struct edo_poller_event edo_poller_event(const struct edo_poller *poller, int index)
{
	(void)poller;
	return (struct edo_poller_event){ (uint64_t)index, (uint32_t)unreachable() };
}

int edo_poller_wake(struct edo_poller *poller)
{
	(void)poller;
	return unreachable();
}
