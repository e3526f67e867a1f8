/*
 * The table of drivers: who has found a driver by its number keeps it alive until it lets go; the end of a driver
 * waits for that, and then its memory is gone.
 */
#include "driver/registry.h"
#include "explore/explore.h"
#include <stdlib.h>

static uint32_t number;

static struct edo_driver *new_driver(void)
{
	struct edo_driver *driver = malloc(sizeof *driver);

	*driver = (struct edo_driver){ .holders = 0 };
	explore_check(edo_registry_number(&driver->id) == 0);
	number = driver->id;
	edo_registry_add(driver);
	return driver;
}

static void ends(void *argument)
{
	struct edo_driver *driver = argument;

	edo_registry_remove(driver);
	free(driver);
}

/* has_io stands for all that is plain in a driver. */
static void uses_it(void *argument)
{
	struct edo_driver *driver = edo_driver_hold(number);

	(void)argument;
	if (!driver)
		return;
	explore_check(driver->id == number);
	driver->has_io = true;
	edo_driver_release(driver);
}

static void looks(void *argument)
{
	struct edo_driver *driver = edo_driver_hold(number);

	(void)argument;
	if (!driver)
		return;
	explore_check(driver->id == number);
	edo_driver_release(driver);
}

static void adds_another(void *argument)
{
	struct edo_driver **other = argument;

	*other = malloc(sizeof **other);
	**other = (struct edo_driver){ .holders = 0 };
	explore_check(edo_registry_number(&(*other)->id) == 0);
	explore_check((*other)->id != number);
	edo_registry_add(*other);
}

static void one_user(void)
{
	explore_start(ends, new_driver());
	explore_start(uses_it, NULL);
	explore_join_all();
	explore_check(!edo_driver_is_alive(number));
}

static void two_users(void)
{
	explore_start(ends, new_driver());
	explore_start(looks, NULL);
	explore_start(looks, NULL);
	explore_join_all();
}

static void an_interrupted_end(void)
{
	explore_interruptions(1);
	one_user();
}

static void another_begins(void)
{
	struct edo_driver *other = NULL;

	explore_start(ends, new_driver());
	explore_start(adds_another, &other);
	explore_join_all();
	explore_check(edo_driver_is_alive(other->id));
	ends(other);
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "a driver ends while it is used", one_user, ALL, ALL },
	{ "a driver ends while two use it", two_users, ALL, ALL },
	{ "a driver's end is interrupted", an_interrupted_end, ALL, ALL },
	{ "a driver ends while another begins", another_begins, ALL, ALL },
};

EXPLORE_MAIN(models)
