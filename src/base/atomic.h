/*
 * The names of atomic operations. All of the library's atomics go through here, so that the
 * explorer can route them to its scheduler and nobody reads an order that is not written out.
 *
 * They work on plain aligned integers and pointers (public structs must be readable by C++, which
 * has no _Atomic). Orders are written as words: edo_load(&x, acquire).
 */
#ifndef EDO_BASE_ATOMIC_H
#define EDO_BASE_ATOMIC_H

#define EDO_ORDER_relaxed __ATOMIC_RELAXED
#define EDO_ORDER_acquire __ATOMIC_ACQUIRE
#define EDO_ORDER_release __ATOMIC_RELEASE
#define EDO_ORDER_acq_rel __ATOMIC_ACQ_REL
#define EDO_ORDER_seq_cst __ATOMIC_SEQ_CST

#define edo_load(place, order) __atomic_load_n((place), EDO_ORDER_##order)
#define edo_store(place, value, order) __atomic_store_n((place), (value), EDO_ORDER_##order)
#define edo_exchange(place, value, order) __atomic_exchange_n((place), (value), EDO_ORDER_##order)
#define edo_fetch_add(place, value, order) __atomic_fetch_add((place), (value), EDO_ORDER_##order)
#define edo_fetch_sub(place, value, order) __atomic_fetch_sub((place), (value), EDO_ORDER_##order)
#define edo_fetch_or(place, value, order) __atomic_fetch_or((place), (value), EDO_ORDER_##order)
#define edo_fetch_and(place, value, order) __atomic_fetch_and((place), (value), EDO_ORDER_##order)
#define edo_fetch_xor(place, value, order) __atomic_fetch_xor((place), (value), EDO_ORDER_##order)

/* Strong. *expected receives what was there when it fails. */
#define edo_compare_exchange(place, expected, desired, success, failure)                           \
	__atomic_compare_exchange_n((place), (expected), (desired), 0, EDO_ORDER_##success,        \
				    EDO_ORDER_##failure)

#endif
