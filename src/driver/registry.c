/*
 * The process's drivers by number.
 *
 * Users' objects name their driver by a number that is never given out twice, so an object that
 * outlives its driver finds nothing instead of a stranger. Who has found a driver holds it by a count;
 * counting up happens only under the registry's lock and while the driver is in the list, so once it
 * has been taken out the count only falls, and its end is when the count is 0.
 *
 * There are few drivers in a process, so the table is a list.
 */
#include "driver/registry.h"
#include <errno.h>

/* In edo_driver.holders: its end waits for the count below to become 0. */
#define IS_WAITED_FOR (UINT32_C(1) << 31)

static struct edo_lock lock;
static struct edo_driver *first; /* under the lock */
static uint32_t last_number;     /* under the lock */

int edo_registry_number(uint32_t *id)
{
	int rc = 0;

	edo_lock_acquire(&lock, EDO_RANK_REGISTRY);
	if (last_number == UINT32_MAX)
		rc = -EAGAIN;
	else
		*id = ++last_number;
	edo_lock_release(&lock, EDO_RANK_REGISTRY);
	return rc;
}

void edo_registry_set_next_number(uint32_t next)
{
	edo_lock_acquire(&lock, EDO_RANK_REGISTRY);
	last_number = next - 1;
	edo_lock_release(&lock, EDO_RANK_REGISTRY);
}

void edo_registry_add(struct edo_driver *driver)
{
	edo_lock_acquire(&lock, EDO_RANK_REGISTRY);
	driver->registry_next = first;
	first = driver;
	edo_lock_release(&lock, EDO_RANK_REGISTRY);
}

/* Under the lock. Where the driver with this number is linked, or the end of the list. */
static struct edo_driver **place_of(uint32_t id)
{
	struct edo_driver **place = &first;

	while (*place && (*place)->id != id)
		place = &(*place)->registry_next;
	return place;
}

static void unlink_driver(struct edo_driver *driver)
{
	struct edo_driver **place;

	edo_lock_acquire(&lock, EDO_RANK_REGISTRY);
	place = place_of(driver->id);
	if (*place)
		*place = driver->registry_next;
	edo_lock_release(&lock, EDO_RANK_REGISTRY);
}

void edo_registry_remove(struct edo_driver *driver)
{
	uint32_t holders;

	unlink_driver(driver);
	/* Acquire: what the holders did happened before the driver's end. Pairs with their release. */
	holders = edo_fetch_or(&driver->holders, IS_WAITED_FOR, acquire) | IS_WAITED_FOR;
	while (holders != IS_WAITED_FOR) {
		(void)edo_sys_futex_wait(&driver->holders, holders, UINT64_MAX);
		holders = edo_load(&driver->holders, acquire); /* as above */
	}
}

struct edo_driver *edo_driver_hold(uint32_t id)
{
	struct edo_driver *driver;

	edo_lock_acquire(&lock, EDO_RANK_REGISTRY);
	driver = *place_of(id);
	if (driver) /* Relaxed: counting up is ordered by the lock. */
		(void)edo_fetch_add(&driver->holders, 1, relaxed);
	edo_lock_release(&lock, EDO_RANK_REGISTRY);
	return driver;
}

/*
 * The driver may be gone as soon as the count is down; only its address is used after that, and only
 * as a name: whoever sleeps on that word by now is woken for nothing, and looks again.
 */
void edo_driver_release(struct edo_driver *driver)
{
	uint32_t *holders = &driver->holders;

	/* Release: pairs with the acquire in edo_registry_remove(). */
	if (edo_fetch_sub(holders, 1, release) == (IS_WAITED_FOR | 1))
		(void)edo_sys_futex_wake(holders, 1);
}

bool edo_driver_is_alive(uint32_t id)
{
	bool is_alive;

	edo_lock_acquire(&lock, EDO_RANK_REGISTRY);
	is_alive = *place_of(id) != NULL;
	edo_lock_release(&lock, EDO_RANK_REGISTRY);
	return is_alive;
}
