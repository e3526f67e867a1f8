/*
 * A poller for models of the I/O driver: a kernel that watches a few descriptors, whose events come when the
 * model says so, and whose wait ends by an event, a wake-up or its time-out.
 *
 * It orders no more than it must. What is added is known to the wait that hands out an event of it, as it
 * is in any kernel. A wake-up ends the wait and orders nothing: that is the driver's affair.
 */
#ifndef EDO_TESTS_EXPLORE_FAKE_POLLER_H
#define EDO_TESTS_EXPLORE_FAKE_POLLER_H

#include "driver/poller/poller.h"

enum { FAKE_DESCRIPTORS = 4 };

/* An event of this descriptor; lost, as a kernel's is, when nobody watches it. */
void fake_poller_says(int fd, uint32_t readiness);
bool fake_poller_watches(int fd);
/* From now on so many wake-ups fail, and so many additions. */
void fake_poller_refuses_wakes(uint32_t count);
void fake_poller_refuses_additions(uint32_t additions);
/* How many wake-ups were asked for and not refused. */
uint32_t fake_poller_wakes(void);

#endif
