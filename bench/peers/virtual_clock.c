/* See virtual_clock.h. One thread. */
#include "virtual_clock.h"

uint64_t virtual_clock_ms = VIRTUAL_CLOCK_START_MS;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = (time_t)(virtual_clock_ms / 1000);
	now->tv_nsec = (long)(virtual_clock_ms % 1000) * 1000000;
	return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	(void)zone;
	now->tv_sec = (time_t)(virtual_clock_ms / 1000);
	now->tv_usec = (suseconds_t)(virtual_clock_ms % 1000) * 1000;
	return 0;
}
