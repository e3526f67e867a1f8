/**
 * @file
 * What every public header leans on: visibility, C++ linkage, attributes, container_of.
 */
#ifndef EDO_DETAIL_BASE_H
#define EDO_DETAIL_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define EDO_BEGIN_DECLS extern "C" {
#define EDO_END_DECLS }
#define EDO_STATIC_ASSERT(condition, text) static_assert(condition, text)
#define EDO_ALIGNOF(type) alignof(type)
#else
#define EDO_BEGIN_DECLS
#define EDO_END_DECLS
#define EDO_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#define EDO_ALIGNOF(type) _Alignof(type)
#endif

#if defined(__GNUC__)
/** Marks what the shared library exports. */
#define EDO_API __attribute__((visibility("default")))
/** Marks results that lose something when they are ignored. */
#define EDO_NODISCARD __attribute__((warn_unused_result))
/** For conditions whose outcome is nearly always known. */
#define EDO_LIKELY(condition) __builtin_expect(!!(condition), 1)
#else
#define EDO_API
#define EDO_NODISCARD
#define EDO_LIKELY(condition) (condition)
#endif

#ifndef edo_container_of
/** The struct of type @p type whose member @p member is at @p pointer. */
#define edo_container_of(pointer, type, member)                                                    \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))
#endif

#endif
