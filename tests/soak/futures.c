#include "futures.h"
#include "tally.h"
#include <errno.h>

/* ---- gates ---- */

/* Sequentially consistent: who sees nobody drain after this is found waiting by whoever opens all gates. */
bool soak_gate_claim(struct soak_gate *gate)
{
	if (__atomic_exchange_n(&gate->is_claimed, true, __ATOMIC_ACQUIRE))
		return false;
	__atomic_store_n(&gate->is_open, false, __ATOMIC_SEQ_CST);
	return true;
}

void soak_gate_leave(struct soak_gate *gate)
{
	__atomic_store_n(&gate->is_claimed, false, __ATOMIC_RELEASE);
}

void soak_gate_open(struct soak_gate *gate)
{
	__atomic_store_n(&gate->is_open, true, __ATOMIC_SEQ_CST);
	edo_atomic_waker_wake(&gate->waiting);
}

static edo_poll poll_gate(edo_future *future, edo_context *cx)
{
	struct soak_gate *gate = edo_container_of(future, struct soak_gate_future, future)->gate;

	edo_atomic_waker_register(&gate->waiting, cx);
	return __atomic_load_n(&gate->is_open, __ATOMIC_ACQUIRE) ? EDO_READY : EDO_PENDING;
}

static void drop_gate(edo_future *future)
{
	struct soak_gate *gate = edo_container_of(future, struct soak_gate_future, future)->gate;

	edo_atomic_waker_clear(&gate->waiting);
}

EDO_FUTURE_OPS(gate_ops, struct soak_gate_future, future, poll_gate, drop_gate);

edo_future *soak_gate_start(struct soak_gate_future *wait, struct soak_gate *gate)
{
	*wait = (struct soak_gate_future){ { &gate_ops }, gate };
	return &wait->future;
}

/* ---- giving up ---- */

static void drop_inner(edo_future **inner)
{
	edo_future *dropped = *inner;

	*inner = NULL;
	if (dropped)
		edo_future_drop(dropped);
}

/* Wakes itself, so that it is polled again also when nothing happens. */
static edo_poll poll_give_up(edo_future *future, edo_context *cx)
{
	struct soak_give_up *wait = edo_container_of(future, struct soak_give_up, future);
	edo_poll polled = edo_future_poll(wait->inner, cx);

	if (polled != EDO_PENDING)
		return polled;
	if (wait->polls_left-- > 1) {
		edo_waker_wake_by_ref(cx->waker);
		return EDO_PENDING;
	}
	drop_inner(&wait->inner);
	soak_count(SOAK_waits_given_up);
	return SOAK_GAVE_UP;
}

static void drop_give_up(edo_future *future)
{
	drop_inner(&edo_container_of(future, struct soak_give_up, future)->inner);
}

EDO_FUTURE_OPS(give_up_ops, struct soak_give_up, future, poll_give_up, drop_give_up);

edo_future *soak_give_up_start(struct soak_give_up *wait, unsigned polls, edo_future *inner)
{
	*wait = (struct soak_give_up){ { &give_up_ops }, inner, polls > 0 ? polls : 1 };
	return &wait->future;
}

/* ---- the first of two ---- */

static edo_poll poll_either(edo_future *future, edo_context *cx)
{
	struct soak_either *wait = edo_container_of(future, struct soak_either, future);

	for (int which = 0; which < 2; which++) {
		edo_poll polled = edo_future_poll(wait->inner[which], cx);

		if (polled == EDO_PENDING)
			continue;
		wait->result = polled;
		drop_inner(&wait->inner[!which]);
		return which;
	}
	return EDO_PENDING;
}

static void drop_either(edo_future *future)
{
	struct soak_either *wait = edo_container_of(future, struct soak_either, future);

	drop_inner(&wait->inner[0]);
	drop_inner(&wait->inner[1]);
}

EDO_FUTURE_OPS(either_ops, struct soak_either, future, poll_either, drop_either);

edo_future *soak_either_start(struct soak_either *wait, edo_future *first, edo_future *second)
{
	*wait = (struct soak_either){ { &either_ops }, { first, second }, 0 };
	return &wait->future;
}

/* ---- a look ---- */

static edo_poll poll_peek(edo_future *future, edo_context *cx)
{
	edo_poll polled =
		edo_future_poll(edo_container_of(future, struct soak_peek, future)->inner, cx);

	return polled == EDO_PENDING ? SOAK_GAVE_UP : polled;
}

static void drop_peek(edo_future *future)
{
	(void)future;
}

EDO_FUTURE_OPS(peek_ops, struct soak_peek, future, poll_peek, drop_peek);

edo_future *soak_peek_start(struct soak_peek *wait, edo_future *inner)
{
	*wait = (struct soak_peek){ { &peek_ops }, inner };
	return &wait->future;
}
