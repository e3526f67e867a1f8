/*
 * A future of your own, woken from a thread that knows nothing of edo.
 */
#include <edo/edo.h>
#include <pthread.h>
#include <stdio.h>

struct flag {
	edo_future future;
	edo_atomic_waker waker; /* register, then check: no wake is ever lost */
	int raised;             /* touched only through the compiler's atomics */
};

static edo_poll flag_poll(edo_future *future, edo_context *cx)
{
	struct flag *f = edo_container_of(future, struct flag, future);

	edo_atomic_waker_register(&f->waker, cx);
	return __atomic_load_n(&f->raised, __ATOMIC_ACQUIRE) ? EDO_READY : EDO_PENDING;
}

static void flag_drop(edo_future *future)
{
	edo_atomic_waker_clear(&edo_container_of(future, struct flag, future)->waker);
}

EDO_FUTURE_OPS(flag_ops, struct flag, future, flag_poll, flag_drop);

static void *from_outside(void *arg)
{
	struct flag *f = arg;

	__atomic_store_n(&f->raised, 1, __ATOMIC_RELEASE);
	edo_atomic_waker_wake(&f->waker);
	return NULL;
}

static int wait_for_thread(void)
{
	struct flag f = { .future = { &flag_ops } };
	pthread_t t;
	int rc = pthread_create(&t, NULL, from_outside, &f);

	if (rc != 0)
		return -rc;
	rc = edo_await(&f.future); /* in a fiber: suspends it; in a plain thread: parks it */
	pthread_join(t, NULL);     /* f lives on this stack: nobody may hold it when we leave */
	return rc;
}

static int in_a_fiber(void *arg)
{
	(void)arg;
	return wait_for_thread();
}

int main(void)
{
	int in_fiber = edo_run(in_a_fiber, NULL);
	int in_thread = wait_for_thread();

	printf("woken in a fiber: %s; in a plain thread: %s\n", edo_strerror(in_fiber),
	       edo_strerror(in_thread));
	return in_fiber != 0 || in_thread != 0;
}
