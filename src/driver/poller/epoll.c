/*
 * The poller on Linux: one epoll instance, and an eventfd by which other threads end a wait.
 *
 * The descriptors that users register are watched for everything at once, edge-triggered (R1), so a
 * registration costs one system call in its life and a wait costs none to prepare. The eventfd is
 * edge-triggered too: every write to it is an event of its own, and it is never read.
 *
 * Who calls: add, remove and wake from any thread; wait and what reads its events from the one
 * thread that holds the driver. No lock is needed: the kernel has its own.
 */
#include "base/assert.h"
#include "base/sys.h"
#include "driver/poller/poller.h"
#include <errno.h>
#include <limits.h>

#define NS_PER_MS UINT64_C(1000000)
/* p26: an int of milliseconds ends at 24.8 days. Nobody minds waking once in an hour. */
#define LONGEST_WAIT (3600000 * NS_PER_MS)

enum {
	WATCHED = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI,
};
static const uint32_t edge_triggered = EPOLLET;

static size_t events_size(uint32_t capacity)
{
	return capacity * sizeof(struct epoll_event);
}

static int make_descriptors(struct edo_poller *poller)
{
	int rc = edo_sys_epoll_create();

	if (rc < 0)
		return rc;
	poller->epoll = rc;
	rc = edo_sys_eventfd();
	if (rc < 0)
		return rc;
	poller->wake_fd = rc;
	return edo_sys_epoll_ctl(poller->epoll, EPOLL_CTL_ADD, poller->wake_fd,
				 EPOLLIN | edge_triggered, EDO_POLLER_WAKE_TOKEN);
}

int edo_poller_init(struct edo_poller *poller, uint32_t events_per_turn,
		    const edo_allocator *allocator)
{
	int rc;

	*poller = (struct edo_poller){
		.epoll = -1,
		.wake_fd = -1,
		.timer_fd = -1,
		.has_ns_waits = true,
		.capacity = events_per_turn,
		.allocator = allocator,
	};
	poller->events = allocator->allocate(allocator->context, events_size(events_per_turn),
					     _Alignof(struct epoll_event));
	if (!poller->events)
		return -ENOMEM;
	rc = make_descriptors(poller);
	if (rc < 0)
		edo_poller_destroy(poller);
	return rc;
}

static void close_if_open(int *fd)
{
	if (*fd >= 0)
		(void)edo_sys_close(*fd);
	*fd = -1;
}

int edo_poller_follow_boottime(struct edo_poller *poller)
{
	int rc = edo_sys_timerfd();

	if (rc < 0)
		return rc;
	poller->timer_fd = rc;
	return edo_sys_epoll_ctl(poller->epoll, EPOLL_CTL_ADD, poller->timer_fd,
				 EPOLLIN | edge_triggered, EDO_POLLER_TIMER_TOKEN);
}

/* Undoes a half-made poller too. */
void edo_poller_destroy(struct edo_poller *poller)
{
	close_if_open(&poller->timer_fd);
	close_if_open(&poller->wake_fd);
	close_if_open(&poller->epoll);
	if (poller->events)
		poller->allocator->release(poller->allocator->context, poller->events,
					   events_size(poller->capacity));
	poller->events = NULL;
}

int edo_poller_add(struct edo_poller *poller, int fd, uint64_t token)
{
	return edo_sys_epoll_ctl(poller->epoll, EPOLL_CTL_ADD, fd, WATCHED | edge_triggered, token);
}

int edo_poller_take_over(struct edo_poller *poller, int fd, uint64_t token)
{
	return edo_sys_epoll_ctl(poller->epoll, EPOLL_CTL_MOD, fd, WATCHED | edge_triggered, token);
}

int edo_poller_remove(struct edo_poller *poller, int fd)
{
	return edo_sys_epoll_ctl(poller->epoll, EPOLL_CTL_DEL, fd, 0, 0);
}

/* p27: what is left of a millisecond is waited for as a whole one. */
static int whole_ms(uint64_t ns)
{
	return (int)((ns + NS_PER_MS - 1) / NS_PER_MS);
}

static int wait_ms(struct edo_poller *poller, int timeout)
{
	return edo_sys_epoll_wait_ms(poller->epoll, poller->events, (int)poller->capacity, timeout);
}

/*
 * Only a wait with an end needs ns. Kernels before 5.11 have no such call, and some sandboxes forbid
 * what they do not know; once told so, the poller does not ask again.
 */
static int wait_limited(struct edo_poller *poller, uint64_t timeout)
{
	int rc;

	/* A timer left from a wait that ended early ends a later one early too, which is harmless. */
	if (poller->timer_fd >= 0 && edo_sys_timerfd_set(poller->timer_fd, timeout) == 0)
		return wait_ms(poller, -1);
	if (!poller->has_ns_waits)
		return wait_ms(poller, whole_ms(timeout));
	rc = edo_sys_epoll_wait_ns(poller->epoll, poller->events, (int)poller->capacity, timeout);
	if (rc != -ENOSYS && rc != -EPERM)
		return rc;
	poller->has_ns_waits = false;
	return wait_ms(poller, whole_ms(timeout));
}

int edo_poller_wait(struct edo_poller *poller, uint64_t timeout)
{
	int rc;

	if (timeout == 0)
		rc = wait_ms(poller, 0);
	else if (timeout == UINT64_MAX)
		rc = wait_ms(poller, -1);
	else
		rc = wait_limited(poller, timeout < LONGEST_WAIT ? timeout : LONGEST_WAIT);
	return rc == -EINTR ? 0 : rc;
}

/*
 * RDHUP ends reading, HUP both directions (p43). An error ends nothing: it may be a passing one (a
 * datagram that was refused), and the next system call tells (p52).
 */
static uint32_t readiness_of(uint32_t events)
{
	uint32_t readiness = 0;

	if (events & EPOLLIN)
		readiness |= EDO_IS_READABLE;
	if (events & EPOLLOUT)
		readiness |= EDO_IS_WRITABLE;
	if (events & EPOLLPRI)
		readiness |= EDO_IS_PRIORITY;
	if (events & (EPOLLRDHUP | EPOLLHUP))
		readiness |= EDO_IS_READ_CLOSED;
	if (events & EPOLLHUP)
		readiness |= EDO_IS_WRITE_CLOSED;
	if (events & EPOLLERR)
		readiness |= EDO_IS_ERROR;
	return readiness;
}

struct edo_poller_event edo_poller_event(const struct edo_poller *poller, int index)
{
	const struct epoll_event *event = (const struct epoll_event *)poller->events + index;

	return (struct edo_poller_event){ .token = event->data.u64,
					  .readiness = readiness_of(event->events) };
}

/* -EAGAIN means that the counter is full, so an event is under way already. */
int edo_poller_wake(struct edo_poller *poller)
{
	int rc = edo_sys_eventfd_signal(poller->wake_fd);

	return rc < 0 && rc != -EAGAIN ? rc : 0;
}
