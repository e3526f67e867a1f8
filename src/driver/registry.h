/* The process's drivers by number; private to the driver room. */
#ifndef EDO_DRIVER_REGISTRY_H
#define EDO_DRIVER_REGISTRY_H

#include "driver/driver.h"

/* A number that no driver had before; -EAGAIN when all are used up, never 0. */
int edo_registry_number(uint32_t *id);
void edo_registry_add(struct edo_driver *driver);
/* Nobody finds the driver any more when this returns, and nobody who had found it still uses it. */
void edo_registry_remove(struct edo_driver *driver);

/* For tests: the number given out next. */
void edo_registry_set_next_number(uint32_t next);

#endif
