/*
 * The names of atomic operations. All of the library's atomics go through here, so that the
 * explorer can route them to its scheduler and nobody reads an order that is not written out.
 *
 * They work on plain aligned integers and pointers (public structs must be readable by C++, which
 * has no _Atomic). Orders are written as words: edo_load(&x, acquire).
 *
 * Alone. A locked instruction costs as much as ten plain ones, and most programs with a current-thread
 * runtime have one thread. The C library knows (alone.h); while there is no second thread, a
 * read-modify-write is done plainly. The C library says "no longer alone" before it starts a thread, and
 * starting one orders all that was done before. Wakers are not for signal handlers, in any case.
 */
#ifndef EDO_BASE_ATOMIC_H
#define EDO_BASE_ATOMIC_H

#include "base/alone.h"

#define EDO_ORDER_relaxed __ATOMIC_RELAXED
#define EDO_ORDER_acquire __ATOMIC_ACQUIRE
#define EDO_ORDER_release __ATOMIC_RELEASE
#define EDO_ORDER_acq_rel __ATOMIC_ACQ_REL
#define EDO_ORDER_seq_cst __ATOMIC_SEQ_CST

#define edo_load(place, order) __atomic_load_n((place), EDO_ORDER_##order)
#define edo_store(place, value, order) __atomic_store_n((place), (value), EDO_ORDER_##order)

/* All of these return what was there before. */
#define edo_exchange(place, value, order)                                                          \
	EDO_READ_MODIFY_WRITE(place, value, given_, __atomic_exchange_n, order)
#define edo_fetch_add(place, value, order)                                                         \
	EDO_READ_MODIFY_WRITE(place, value, before_ + given_, __atomic_fetch_add, order)
#define edo_fetch_sub(place, value, order)                                                         \
	EDO_READ_MODIFY_WRITE(place, value, before_ - given_, __atomic_fetch_sub, order)
#define edo_fetch_or(place, value, order)                                                          \
	EDO_READ_MODIFY_WRITE(place, value, before_ | given_, __atomic_fetch_or, order)
#define edo_fetch_and(place, value, order)                                                         \
	EDO_READ_MODIFY_WRITE(place, value, before_ &given_, __atomic_fetch_and, order)
#define edo_fetch_xor(place, value, order)                                                         \
	EDO_READ_MODIFY_WRITE(place, value, before_ ^ given_, __atomic_fetch_xor, order)

#define EDO_READ_MODIFY_WRITE(place, value, next, atomically, order)                               \
	__extension__({                                                                            \
		__typeof__(place) place_ = (place);                                                \
		__typeof__(*place_ + 0) given_ = (value);                                          \
		__typeof__(*place_ + 0) before_;                                                   \
		if (edo_is_alone()) {                                                              \
			before_ = *place_;                                                         \
			*place_ = (__typeof__(*place_))(next);                                     \
		} else {                                                                           \
			before_ = atomically(place_, (__typeof__(*place_))given_,                  \
					     EDO_ORDER_##order);                                   \
		}                                                                                  \
		(__typeof__(*place_))before_;                                                      \
	})

/* Strong. *expected receives what was there when it fails. */
#define edo_compare_exchange(place, expected, desired, success, failure)                           \
	__extension__({                                                                            \
		__typeof__(place) place_ = (place);                                                \
		__typeof__(place) expected_ = (expected);                                          \
		_Bool won_;                                                                        \
		if (edo_is_alone()) {                                                              \
			won_ = *place_ == *expected_;                                              \
			if (won_)                                                                  \
				*place_ = (desired);                                               \
			else                                                                       \
				*expected_ = *place_;                                              \
		} else {                                                                           \
			won_ = __atomic_compare_exchange_n(place_, expected_, (desired), 0,        \
							   EDO_ORDER_##success,                    \
							   EDO_ORDER_##failure);                   \
		}                                                                                  \
		won_;                                                                              \
	})

#endif
