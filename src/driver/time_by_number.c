/*
 * Time drivers by the number of the driver round them: what the time room asks of its surroundings,
 * since it may not know the stack it stands in.
 */
#include "driver/driver.h"

struct edo_time_driver *edo_time_own(uint32_t driver_id)
{
	struct edo_driver *driver = edo_current_driver();

	return driver && driver->id == driver_id ? &driver->time : NULL;
}

struct edo_time_driver *edo_time_hold(uint32_t driver_id)
{
	struct edo_driver *driver = edo_driver_hold(driver_id);

	return driver ? &driver->time : NULL;
}

void edo_time_release(struct edo_time_driver *time)
{
	edo_driver_release(edo_container_of(time, struct edo_driver, time));
}
