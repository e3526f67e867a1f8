/*
 * Where the compiler's instrumentation for a race detector leads: every plain access of the explored code
 * comes by here before it is made. Atomics do not: base/atomic.h is routed, and an atomic operation that
 * goes round it has no hook to call and does not link.
 */
#include "explore/engine.h"

extern char __start_explore_thread[] __attribute__((weak, visibility("hidden")));
extern char __stop_explore_thread[] __attribute__((weak, visibility("hidden")));

/* The other threads' stacks, too, are memory that can be shared. Constants are not. */
static bool is_thread_local(const void *place)
{
	return (const char *)place >= __start_explore_thread &&
	       (const char *)place < __stop_explore_thread;
}

static void accessed(const void *place, size_t size, bool is_write, const void *caller)
{
	if (!engine || !engine->self)
		return;
	arena_check(place, size, is_write ? "store" : "load", caller);
	if (!engine->is_alone && !is_thread_local(place))
		races_plain(place, size, is_write, caller);
}

#define CALLER __builtin_return_address(0)

#define HOOKS(size)                                                                                \
	void __tsan_read##size(void *place);                                                       \
	void __tsan_write##size(void *place);                                                      \
	void __tsan_unaligned_read##size(void *place);                                             \
	void __tsan_unaligned_write##size(void *place);                                            \
	void __tsan_read##size(void *place)                                                        \
	{                                                                                          \
		accessed(place, size, false, CALLER);                                              \
	}                                                                                          \
	void __tsan_write##size(void *place)                                                       \
	{                                                                                          \
		accessed(place, size, true, CALLER);                                               \
	}                                                                                          \
	void __tsan_unaligned_read##size(void *place)                                              \
	{                                                                                          \
		accessed(place, size, false, CALLER);                                              \
	}                                                                                          \
	void __tsan_unaligned_write##size(void *place)                                             \
	{                                                                                          \
		accessed(place, size, true, CALLER);                                               \
	}

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_read_range(void *place, size_t size);
void __tsan_write_range(void *place, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memset(void *place, int value, size_t size);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(void *place, size_t size)
{
	accessed(place, size, false, CALLER);
}

void __tsan_write_range(void *place, size_t size)
{
	accessed(place, size, true, CALLER);
}

/* clang calls these for its copies; the explored code's own calls are led here by name (meson.build). */
void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	if (size > 0) {
		accessed(from, size, false, CALLER);
		accessed(to, size, true, CALLER);
	}
	return memcpy(to, from, size);
}

void *__tsan_memset(void *place, int value, size_t size)
{
	if (size > 0)
		accessed(place, size, true, CALLER);
	return memset(place, value, size);
}

/* Orders as the compiler numbers them. */
static enum explore_order order_of(int order)
{
	explore_check(order == __ATOMIC_RELAXED || order == __ATOMIC_RELEASE);
	return order == __ATOMIC_RELEASE ? EXPLORE_RELEASE : EXPLORE_RELAXED;
}

uint64_t __tsan_atomic64_load(const volatile uint64_t *place, int order);
void __tsan_atomic64_store(volatile uint64_t *place, uint64_t value, int order);

uint64_t __tsan_atomic64_load(const volatile uint64_t *place, int order)
{
	static const struct explore_site site = { "the wheel loads a key", "src/wheel/place.h", 0 };

	return explore_load(place, sizeof *place, order_of(order), &site);
}

void __tsan_atomic64_store(volatile uint64_t *place, uint64_t value, int order)
{
	static const struct explore_site site = { "the wheel stores a key", "src/wheel/place.h",
						  0 };

	explore_store(place, sizeof *place, value, order_of(order), &site);
}
