/*
 * What an owner does with its timers: arm, move, disarm. Invariants W1-W3 of wheel.h; under the
 * wheel's lock, if it has one. How time passes is in turn.c.
 */
#include "wheel/wheel.h"

#include "wheel/place.h"
#include <errno.h>

void edo_wheel_init(edo_wheel *wheel, uint64_t start_tick)
{
	*wheel = (edo_wheel){ .present = start_tick, .dials = start_tick };
	edo_list_init(&wheel->cascading);
	for (unsigned level = 0; level < EDO_WHEEL_LEVELS; level++)
		for (unsigned slot = 0; slot < EDO_WHEEL_SLOTS; slot++)
			edo_list_init(&wheel->slots[level][slot]);
}

void edo_wheel_timer_init(edo_wheel_timer *timer)
{
	timer->node = (edo_list_node){ NULL, NULL };
	timer->when = 0;
	timer->level = 0;
	timer->slot = 0;
}

static inline bool disarm(edo_wheel *wheel, edo_wheel_timer *timer)
{
	if (!edo_list_is_linked(&timer->node))
		return false;
	edo_wheel_unlink(wheel, timer);
	wheel->count--;
	return true;
}

int edo_wheel_insert(edo_wheel *wheel, edo_wheel_timer *timer, uint64_t when)
{
	if (when > EDO_WHEEL_MAX)
		return -EINVAL;
	disarm(wheel, timer);
	if (when <= wheel->present)
		return -ETIME;

	edo_wheel_store_when(timer, when);
	edo_wheel_file(wheel, timer, when);
	wheel->count++;
	return 0;
}

/* Whether a linked timer finds `when` in time from where it lies. */
static bool may_stay(const edo_wheel *wheel, const edo_wheel_timer *timer, uint64_t when)
{
	return when > wheel->present && when >= edo_wheel_opens(wheel, timer->level, timer->slot);
}

int edo_wheel_reset(edo_wheel *wheel, edo_wheel_timer *timer, uint64_t when)
{
	if (when > EDO_WHEEL_MAX || !edo_wheel_is_armed(timer) || !may_stay(wheel, timer, when))
		return edo_wheel_insert(wheel, timer, when);

	edo_wheel_store_when(timer, when);
	return 0;
}

bool edo_wheel_remove(edo_wheel *wheel, edo_wheel_timer *timer)
{
	return disarm(wheel, timer);
}

void edo_wheel_refile(edo_wheel *wheel, edo_wheel_timer *timer)
{
	edo_wheel_file(wheel, timer, edo_wheel_load_when(timer));
	wheel->count++;
}

bool edo_wheel_is_armed(const edo_wheel_timer *timer)
{
	return edo_list_is_linked(&timer->node);
}

size_t edo_wheel_count(const edo_wheel *wheel)
{
	return wheel->count;
}

uint64_t edo_wheel_elapsed(const edo_wheel *wheel)
{
	return wheel->present;
}
