/*
 * In place of src/base/thread.h: all of a model's threads run on one thread of the system, so what is
 * thread-local lies in a section of its own, which the explorer changes with the thread (engine.c).
 */
#ifndef EDO_BASE_THREAD_H
#define EDO_BASE_THREAD_H

#include "explore/route.h"

#define EDO_THREAD_LOCAL __attribute__((section("explore_thread")))

static inline uintptr_t edo_thread_self(void)
{
	return explore_thread_number();
}

#endif
