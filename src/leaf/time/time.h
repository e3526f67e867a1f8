/*
 * The door of what users hold of time. The rooms beside it use <edo/time.h>; this is for its own files.
 */
#ifndef EDO_LEAF_TIME_TIME_H
#define EDO_LEAF_TIME_TIME_H

#include "driver/driver.h"
#include <edo/time.h>

/* NULL: no runtime, or one without time. */
static inline struct edo_time_driver *edo_time_of(struct edo_driver *driver)
{
	return driver && driver->has_time ? &driver->time : NULL;
}

#endif
