/*
 * Inside the fiber room: telling tools of the stacks. One file a tool, chosen by what the build is for.
 * All of it is inlined: between a switch and the return to its caller every return is mispredicted, so
 * there should be few.
 *
 * Each switch is announced on the side that leaves, right before it (edo_annotate_leave), and confirmed on
 * the side that arrives, right after it (edo_annotate_arrive); the two sides of a fiber keep what the tool
 * wants remembered. create and destroy frame a fiber's use of a stack. is_last: the side that leaves
 * is never resumed.
 */
#ifndef EDO_FIBER_ANNOTATE_H
#define EDO_FIBER_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>

/* One of two: the thread's side or the fiber's. */
struct edo_annotated_side {
	void *fake_stack;       /* asan: of a side that is left */
	const void *stack_base; /* asan: the bounds of this side's stack */
	size_t stack_size;
	void *context; /* tsan: its fiber; valgrind: its stack's number */
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EDO_WATCHED_BY_ASAN 1
#elif __has_feature(thread_sanitizer)
#define EDO_WATCHED_BY_TSAN 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(EDO_WATCHED_BY_ASAN)
#include "annotate_asan.h"
#elif defined(__SANITIZE_THREAD__) || defined(EDO_WATCHED_BY_TSAN)
#include "annotate_tsan.h"
#elif defined(EDO_VALGRIND)
#include "annotate_valgrind.h"
#else
#include "annotate_none.h"
#endif

#endif
