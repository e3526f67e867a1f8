/*
 * Tells AddressSanitizer that memory in a free list may not be touched; nothing in other builds.
 */
#ifndef EDO_BASE_POISON_H
#define EDO_BASE_POISON_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EDO_POISONS_MEMORY 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define EDO_POISONS_MEMORY 1
#endif

#ifdef EDO_POISONS_MEMORY
#include <sanitizer/asan_interface.h>
static inline void edo_poison(const void *memory, size_t size)
{
	__asan_poison_memory_region(memory, size);
}
static inline void edo_unpoison(const void *memory, size_t size)
{
	__asan_unpoison_memory_region(memory, size);
}
#else
static inline void edo_poison(const void *memory, size_t size)
{
	(void)memory;
	(void)size;
}
static inline void edo_unpoison(const void *memory, size_t size)
{
	(void)memory;
	(void)size;
}
#endif

#endif
