/*
 * Who am I: a number that differs for every live thread and costs no call. It is the address of a
 * thread-local byte, so a dead thread's number may come again.
 */
#ifndef EDO_BASE_THREAD_H
#define EDO_BASE_THREAD_H

#include <stdint.h>

/* The library's few thread-locals are reached without a call, also from the shared library. */
#define EDO_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

extern EDO_THREAD_LOCAL char edo_thread_anchor;

static inline uintptr_t edo_thread_self(void)
{
	return (uintptr_t)&edo_thread_anchor;
}

#endif
