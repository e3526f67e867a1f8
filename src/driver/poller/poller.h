/*
 * The door of the poller: the operating system's way to wait for many descriptors at once. One file
 * a system, chosen by the build; epoll.c is Linux's.
 *
 * Edge-triggered, both directions, one registration a descriptor (R1). Tokens are opaque here.
 */
#ifndef EDO_DRIVER_POLLER_POLLER_H
#define EDO_DRIVER_POLLER_POLLER_H

#include <edo/config.h>
#include <stdbool.h>
#include <stdint.h>

/* What an event says, and what a registration's readiness word holds. */
enum edo_readiness {
	EDO_IS_READABLE = 1,
	EDO_IS_WRITABLE = 2,
	EDO_IS_READ_CLOSED = 4,
	EDO_IS_WRITE_CLOSED = 8,
	EDO_IS_PRIORITY = 16,
	EDO_IS_ERROR = 32,
};

struct edo_poller_event {
	uint64_t token;
	uint32_t readiness;
};

/* Event storage belongs to the poller, so that a turn allocates nothing. */
struct edo_poller {
	int epoll;
	int wake_fd;
	int timer_fd;      /* -1, unless waits end by CLOCK_BOOTTIME */
	bool has_ns_waits; /* until the kernel says otherwise; the holder's */
	uint32_t capacity;
	void *events; /* as many as capacity, in the system's form; the holder's */
	const edo_allocator *allocator;
};

/* The token of the poller's own wake-up; no registration may use it. */
#define EDO_POLLER_WAKE_TOKEN UINT64_MAX
/* Of the timer that ends a wait by CLOCK_BOOTTIME; such an event says nothing more. */
#define EDO_POLLER_TIMER_TOKEN (UINT64_MAX - 1)

/* 0, or a negated errno with nothing left behind. All descriptors are close-on-exec (p48). */
int edo_poller_init(struct edo_poller *poller, uint32_t events_per_turn,
		    const edo_allocator *allocator);
/*
 * The time-out of a wait stands still while the machine is suspended (p31). From now on waits with a limit
 * are ended by a timer that does not, at the price of a system call each. 0, or a negated errno.
 */
int edo_poller_follow_boottime(struct edo_poller *poller);
void edo_poller_destroy(struct edo_poller *poller);

/* 0; -EEXIST, -EPERM, -EBADF, -ENOMEM, -ENOSPC. */
int edo_poller_add(struct edo_poller *poller, int fd, uint64_t token);
/* Gives a new token to what edo_poller_add() found there already; events that stand come anew. */
int edo_poller_take_over(struct edo_poller *poller, int fd, uint64_t token);
int edo_poller_remove(struct edo_poller *poller, int fd);

/*
 * Waits at most timeout ns (UINT64_MAX: for ever; capped inside and waited for again by the caller,
 * p26; never rounded to 0, p27). Returns the number of events, 0 also when interrupted; wake-ups are
 * counted as events with EDO_POLLER_WAKE_TOKEN, and need nothing more. Anything negative means that
 * somebody has closed the poller's own descriptor.
 */
int edo_poller_wait(struct edo_poller *poller, uint64_t timeout);
struct edo_poller_event edo_poller_event(const struct edo_poller *poller, int index);

/* Ends a wait, from any thread. 0, or why it could not be done: then the wait goes on. */
int edo_poller_wake(struct edo_poller *poller);

#endif
