/* The atomic waker: no wake is lost, whatever the interleaving; clear and take. */
#include "rig.h"
#include "base/atomic.h"
#include <pthread.h>
#include <sched.h>

static struct counting_waker first, second;
static edo_atomic_waker place;

static int begin(void **state)
{
	(void)state;
	counting_waker_init(&first);
	counting_waker_init(&second);
	place = (edo_atomic_waker){ 0 };
	return 0;
}

static int finish(void **state)
{
	(void)state;
	edo_atomic_waker_clear(&place);
	assert_int_equal(counting_alive(&first), 0);
	assert_int_equal(counting_alive(&second), 0);
	return 0;
}

static void enter(struct counting_waker *counting)
{
	edo_context cx = counting_context(counting);

	edo_atomic_waker_register(&place, &cx);
}

static void a_wake_reaches_what_is_registered_once(void **state)
{
	(void)state;
	enter(&first);
	assert_int_equal(counting_wakes(&first), 0);
	edo_atomic_waker_wake(&place);
	edo_atomic_waker_wake(&place);
	assert_int_equal(counting_wakes(&first), 1);
}

static void registered_again_the_same_waker_is_kept_and_another_replaces_it(void **state)
{
	(void)state;
	enter(&first);
	enter(&first);
	assert_int_equal(first.clones, 1);
	enter(&second);
	assert_int_equal(counting_alive(&first), 0);
	assert_int_equal(first.drops, 1);
	edo_atomic_waker_wake(&place);
	assert_int_equal(counting_wakes(&first), 0);
	assert_int_equal(counting_wakes(&second), 1);
}

static void a_wake_of_an_empty_place_is_forgotten(void **state)
{
	(void)state;
	edo_atomic_waker_wake(&place);
	enter(&first);
	assert_int_equal(counting_wakes(&first), 0);
}

static void cleared_nobody_is_woken_and_it_can_be_used_again(void **state)
{
	(void)state;
	enter(&first);
	edo_atomic_waker_clear(&place);
	assert_int_equal(first.drops, 1);
	edo_atomic_waker_clear(&place);
	edo_atomic_waker_wake(&place);
	assert_int_equal(counting_wakes(&first), 0);
	enter(&first);
	edo_atomic_waker_wake(&place);
	assert_int_equal(counting_wakes(&first), 1);
}

static void taken_the_waker_is_the_callers(void **state)
{
	edo_waker waker, none;

	(void)state;
	enter(&first);
	waker = edo_atomic_waker_take(&place);
	none = edo_atomic_waker_take(&place);
	assert_true(edo_waker_will_wake(&waker, &first.waker));
	assert_false(edo_waker_is_set(&none));
	edo_waker_wake(&waker);
	assert_int_equal(counting_wakes(&first), 1);
}

/* A waker whose clone() wakes the place: the wake falls into the middle of the registration. */
static unsigned meddled_wakes, meddled_drops;
static const edo_waker_ops meddling_ops;

static edo_waker meddling_clone(void *data)
{
	edo_atomic_waker_wake(&place);
	return (edo_waker){ data, &meddling_ops };
}

static void meddling_wake(void *data)
{
	(void)data;
	meddled_wakes++;
}

static void meddling_drop(void *data)
{
	(void)data;
	meddled_drops++;
}

static const edo_waker_ops meddling_ops = { meddling_clone, meddling_wake, meddling_wake,
					    meddling_drop };

static void a_wake_during_the_registration_is_done_by_it(void **state)
{
	edo_waker waker = { &place, &meddling_ops };
	edo_context cx;

	(void)state;
	enter(&first);
	meddled_wakes = meddled_drops = 0;
	edo_context_init(&cx, &waker);
	edo_atomic_waker_register(&place, &cx);
	assert_int_equal(meddled_wakes, 1);
	assert_int_equal(meddled_drops, 0);
	assert_int_equal(counting_wakes(&first), 0);
	/* It is a place like any other again. */
	enter(&second);
	edo_atomic_waker_wake(&place);
	assert_int_equal(counting_wakes(&second), 1);
}

/* The moment between a wake's two steps, when another thread has the waker in its hands. */
static void a_registration_while_a_wake_is_under_way_is_woken_at_once(void **state)
{
	const uintptr_t waking = 2;

	(void)state;
	place.edo_state_ = waking;
	enter(&first);
	assert_int_equal(counting_wakes(&first), 1);
	assert_int_equal(counting_alive(&first), 0);
	place.edo_state_ = 0;
}

/* A waker whose wake() registers: allowed, since the place is free again by then. */
static edo_waker reentrant_clone(void *data);
static void reentrant_wake(void *data)
{
	(void)data;
	enter(&second);
}

static void reentrant_drop(void *data)
{
	(void)data;
}

static const edo_waker_ops reentrant_ops = { reentrant_clone, reentrant_wake, reentrant_wake,
					     reentrant_drop };

static edo_waker reentrant_clone(void *data)
{
	return (edo_waker){ data, &reentrant_ops };
}

static void a_wake_may_register_anew(void **state)
{
	edo_waker waker = { &place, &reentrant_ops };
	edo_context cx;

	(void)state;
	edo_context_init(&cx, &waker);
	edo_atomic_waker_register(&place, &cx);
	edo_atomic_waker_wake(&place);
	assert_int_equal(counting_wakes(&second), 0);
	edo_atomic_waker_wake(&place);
	assert_int_equal(counting_wakes(&second), 1);
}

/*
 * Several threads raise the condition and wake; one registers, then checks. Whenever the condition is found
 * not to hold, the wake for its change must arrive.
 */
enum { ROUNDS = 20000, WAKERS = 2 };

static struct {
	unsigned raised; /* atomic */
	unsigned stop;   /* atomic */
} hammer;

static void *raises_and_wakes(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&hammer.stop, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&hammer.raised, 1, __ATOMIC_RELEASE);
		edo_atomic_waker_wake(&place);
		if ((__atomic_load_n(&hammer.raised, __ATOMIC_RELAXED) & 15) == 0)
			sched_yield();
	}
	/* Nobody waits for ever because the last ones were seen before they were waited for. */
	__atomic_fetch_add(&hammer.raised, 1, __ATOMIC_RELEASE);
	edo_atomic_waker_wake(&place);
	return NULL;
}

static unsigned woken_so_far(const struct counting_waker *counting)
{
	return __atomic_load_n(&counting->wakes, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&counting->wakes_by_ref, __ATOMIC_ACQUIRE);
}

static void no_wake_is_lost_between_threads(void **state)
{
	unsigned rounds = ROUNDS / edo_test_slowdown();
	pthread_t threads[WAKERS];

	(void)state;
	hammer.raised = hammer.stop = 0;
	for (int i = 0; i < WAKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, raises_and_wakes, NULL), 0);
	for (unsigned i = 0; i < rounds; i++) {
		struct counting_waker *counting = i % 3 ? &first : &second;
		unsigned before = woken_so_far(counting);
		unsigned seen = __atomic_load_n(&hammer.raised, __ATOMIC_ACQUIRE);

		enter(counting);
		/* The threads go on raising: what is registered must be woken, or the limit hits. */
		while (woken_so_far(counting) == before)
			sched_yield();
		assert_true(__atomic_load_n(&hammer.raised, __ATOMIC_ACQUIRE) >= seen);
		if (i % 5 == 0)
			edo_atomic_waker_clear(&place);
	}
	__atomic_store_n(&hammer.stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < WAKERS; i++)
		pthread_join(threads[i], NULL);
}

/* One raise for each registration: a single lost wake hangs it. */
static unsigned turn; /* atomic; odd: the raiser's */

static void *raises_when_asked(void *arg)
{
	unsigned rounds = *(unsigned *)arg;

	for (unsigned i = 0; i < rounds; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2 * i + 1)
			sched_yield();
		__atomic_store_n(&hammer.raised, i + 1, __ATOMIC_RELEASE);
		edo_atomic_waker_wake(&place);
		__atomic_store_n(&turn, 2 * i + 2, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void register_then_check_sees_each_single_change(void **state)
{
	unsigned rounds = ROUNDS / edo_test_slowdown();
	pthread_t thread;

	(void)state;
	hammer.raised = 0;
	turn = 0;
	assert_int_equal(pthread_create(&thread, NULL, raises_when_asked, &rounds), 0);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned before = woken_so_far(&first);

		__atomic_store_n(&turn, 2 * i + 1, __ATOMIC_RELEASE);
		for (unsigned spin = 0; spin < i % 64; spin++)
			__asm__ volatile("");
		enter(&first);
		if (__atomic_load_n(&hammer.raised, __ATOMIC_ACQUIRE) != i + 1)
			while (woken_so_far(&first) == before)
				sched_yield();
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2 * i + 2)
			sched_yield();
		assert_int_equal(__atomic_load_n(&hammer.raised, __ATOMIC_ACQUIRE), i + 1);
	}
	pthread_join(thread, NULL);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_PLACE(a_wake_reaches_what_is_registered_once),
	WITH_PLACE(registered_again_the_same_waker_is_kept_and_another_replaces_it),
	WITH_PLACE(a_wake_of_an_empty_place_is_forgotten),
	WITH_PLACE(cleared_nobody_is_woken_and_it_can_be_used_again),
	WITH_PLACE(taken_the_waker_is_the_callers),
	WITH_PLACE(a_wake_during_the_registration_is_done_by_it),
	WITH_PLACE(a_registration_while_a_wake_is_under_way_is_woken_at_once),
	WITH_PLACE(a_wake_may_register_anew),
	WITH_PLACE(no_wake_is_lost_between_threads),
	WITH_PLACE(register_then_check_sees_each_single_change),
};

EDO_TEST_MAIN(tests)
