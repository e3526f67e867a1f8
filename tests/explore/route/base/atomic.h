/*
 * In place of src/base/atomic.h in what is explored: the same names, led to the explorer (memory.c),
 * which is also told how the operation reads and where it stands.
 */
#ifndef EDO_BASE_ATOMIC_H
#define EDO_BASE_ATOMIC_H

#include "explore/route.h"

#define EDO_ORDER_relaxed EXPLORE_RELAXED
#define EDO_ORDER_acquire EXPLORE_ACQUIRE
#define EDO_ORDER_release EXPLORE_RELEASE
#define EDO_ORDER_acq_rel EXPLORE_ACQ_REL
#define EDO_ORDER_seq_cst EXPLORE_SEQ_CST

/* A value as the explorer keeps it, and back; `+ 0` takes a const away. */
#define EXPLORE_WORD(place, value) ((uint64_t)(uintptr_t)(__typeof__(*(place) + 0))(value))
#define EXPLORE_VALUE(place, word) ((__typeof__(*(place) + 0))(uintptr_t)(word))

#define edo_load(place, order)                                                                     \
	__extension__({                                                                            \
		static const struct explore_site site_ = { "load(" #place ", " #order ")",         \
							   __FILE__, __LINE__ };                   \
		__typeof__(place) place_ = (place);                                                \
		EXPLORE_VALUE(place_,                                                              \
			      explore_load(place_, sizeof(*place_), EDO_ORDER_##order, &site_));   \
	})

#define edo_store(place, value, order)                                                             \
	__extension__({                                                                            \
		static const struct explore_site site_ = { "store(" #place ", " #value ", " #order \
							   ")",                                    \
							   __FILE__, __LINE__ };                   \
		__typeof__(place) place_ = (place);                                                \
		explore_store(place_, sizeof(*place_), EXPLORE_WORD(place_, (value)),              \
			      EDO_ORDER_##order, &site_);                                          \
	})

#define edo_exchange(place, value, order) EXPLORE_RMW(exchange, place, value, order)
#define edo_fetch_add(place, value, order) EXPLORE_RMW(fetch_add, place, value, order)
#define edo_fetch_sub(place, value, order) EXPLORE_RMW(fetch_sub, place, value, order)
#define edo_fetch_or(place, value, order) EXPLORE_RMW(fetch_or, place, value, order)
#define edo_fetch_and(place, value, order) EXPLORE_RMW(fetch_and, place, value, order)
#define edo_fetch_xor(place, value, order) EXPLORE_RMW(fetch_xor, place, value, order)

#define EXPLORE_RMW(name, place, value, order)                                                     \
	__extension__({                                                                            \
		static const struct explore_site site_ = { #name "(" #place ", " #value            \
								 ", " #order ")",                  \
							   __FILE__, __LINE__ };                   \
		__typeof__(place) place_ = (place);                                                \
		EXPLORE_VALUE(place_, explore_modify(place_, sizeof(*place_), explore_##name,      \
						     EXPLORE_WORD(place_, (value)),                \
						     EDO_ORDER_##order, &site_));                  \
	})

#define edo_compare_exchange(place, expected, desired, success, failure)                           \
	__extension__({                                                                            \
		static const struct explore_site site_ = { "compare_exchange(" #place              \
							   ", " #desired ", " #success             \
							   ", " #failure ")",                      \
							   __FILE__, __LINE__ };                   \
		__typeof__(place) place_ = (place);                                                \
		__typeof__(place) expected_ = (expected);                                          \
		uint64_t seen_ = EXPLORE_WORD(place_, *expected_);                                 \
		_Bool won_ = explore_compare_exchange(place_, sizeof(*place_), &seen_,             \
						      EXPLORE_WORD(place_, (desired)),             \
						      EDO_ORDER_##success, EDO_ORDER_##failure,    \
						      &site_);                                     \
		if (!won_)                                                                         \
			*expected_ = EXPLORE_VALUE(place_, seen_);                                 \
		won_;                                                                              \
	})

#endif
