/* A kernel's part in models of the I/O driver. Everything is atomic: who calls is on any thread. */
#include "explore/fake_poller.h"
#include "base/atomic.h"
#include "base/sys.h"
#include "explore/explore.h"
#include <errno.h>

static uint64_t watched[FAKE_DESCRIPTORS]; /* the token, or 0 */
static uint32_t said[FAKE_DESCRIPTORS];    /* readiness that the wait has not handed out yet */
static uint32_t is_woken;
static uint32_t news; /* what the wait sleeps on: how much has come */
static uint32_t wakes;
static uint32_t refused_wakes;
static uint32_t refused_additions;

/* The holder's: what its last wait has found. */
static struct edo_poller_event events[FAKE_DESCRIPTORS + 1];

static void tell(void)
{
	(void)edo_fetch_add(&news, 1, relaxed);
	(void)edo_sys_futex_wake(&news, 1);
}

/* One of so many that are left; a kernel knows how many. */
static bool is_refused(uint32_t *left)
{
	uint32_t count = edo_load(left, relaxed);

	while (count > 0)
		if (edo_compare_exchange(left, &count, count - 1, relaxed, relaxed))
			return true;
	return false;
}

/* ---- what a model says ---- */

void fake_poller_says(int fd, uint32_t readiness)
{
	if (!fake_poller_watches(fd))
		return;
	(void)edo_fetch_or(&said[fd], readiness, relaxed);
	tell();
}

bool fake_poller_watches(int fd)
{
	return edo_load(&watched[fd], relaxed) != 0;
}

void fake_poller_refuses_wakes(uint32_t count)
{
	edo_store(&refused_wakes, count, relaxed);
}

void fake_poller_refuses_additions(uint32_t additions)
{
	edo_store(&refused_additions, additions, relaxed);
}

uint32_t fake_poller_wakes(void)
{
	return edo_load(&wakes, relaxed);
}

/* ---- the poller ---- */

int edo_poller_init(struct edo_poller *poller, uint32_t events_per_turn,
		    const edo_allocator *allocator)
{
	*poller = (struct edo_poller){ .capacity = events_per_turn, .allocator = allocator };
	return 0;
}

int edo_poller_follow_boottime(struct edo_poller *poller)
{
	(void)poller;
	return 0;
}

void edo_poller_destroy(struct edo_poller *poller)
{
	(void)poller;
}

int edo_poller_add(struct edo_poller *poller, int fd, uint64_t token)
{
	uint64_t none = 0;

	(void)poller;
	if (is_refused(&refused_additions))
		return -ENOSPC;
	return edo_compare_exchange(&watched[fd], &none, token, release, relaxed) ? 0 : -EEXIST;
}

int edo_poller_take_over(struct edo_poller *poller, int fd, uint64_t token)
{
	(void)poller;
	return edo_exchange(&watched[fd], token, release) != 0 ? 0 : -ENOENT;
}

int edo_poller_remove(struct edo_poller *poller, int fd)
{
	(void)poller;
	return edo_exchange(&watched[fd], 0, relaxed) != 0 ? 0 : -ENOENT;
}

static int collect(void)
{
	int count = 0;

	if (edo_exchange(&is_woken, 0, relaxed))
		events[count++] = (struct edo_poller_event){ EDO_POLLER_WAKE_TOKEN, 0 };
	for (int fd = 0; fd < FAKE_DESCRIPTORS; fd++) {
		uint32_t readiness = edo_exchange(&said[fd], 0, relaxed);
		uint64_t token = readiness ? edo_load(&watched[fd], acquire) : 0;

		if (token)
			events[count++] = (struct edo_poller_event){ token, readiness };
	}
	return count;
}

int edo_poller_wait(struct edo_poller *poller, uint64_t timeout)
{
	int count;

	(void)poller;
	for (;;) {
		uint32_t seen = edo_fetch_add(&news, 0, relaxed);

		count = collect();
		if (count > 0 || timeout == 0)
			return count;
		if (edo_sys_futex_wait(&news, seen, timeout) == -ETIMEDOUT)
			timeout = 0;
	}
}

struct edo_poller_event edo_poller_event(const struct edo_poller *poller, int index)
{
	(void)poller;
	return events[index];
}

int edo_poller_wake(struct edo_poller *poller)
{
	(void)poller;
	if (is_refused(&refused_wakes))
		return -EBADF;
	(void)edo_fetch_add(&wakes, 1, relaxed);
	edo_store(&is_woken, 1, relaxed);
	tell();
	return 0;
}
