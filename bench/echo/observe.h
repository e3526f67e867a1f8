/*
 * What a process costs, as /proc tells: for the load generator, which looks at the server. A pid of 0, or
 * one that is gone, costs nothing.
 */
#ifndef EDO_BENCH_ECHO_OBSERVE_H
#define EDO_BENCH_ECHO_OBSERVE_H

#include <stdint.h>

/* CPU time of all its threads that live, in ns. */
uint64_t echo_cpu_ns(unsigned pid);
/* Resident memory in bytes. */
uint64_t echo_resident_bytes(unsigned pid);

void echo_set_nonblocking(int fd);

#endif
