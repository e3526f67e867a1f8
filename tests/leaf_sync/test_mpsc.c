/* A channel of many senders: order, the line for places, permits, and each way in which it can end. */
#include "rig.h"

static edo_mpsc_tx *tx;
static edo_mpsc_rx *rx;

static int begin_with(size_t capacity)
{
	return edo_mpsc_create(&tx, &rx, sizeof(int), capacity);
}

static int begin(void **state)
{
	(void)state;
	return begin_with(1);
}

static int begin_unbounded(void **state)
{
	(void)state;
	return edo_mpsc_create_unbounded(&tx, &rx, sizeof(int));
}

static void end(void)
{
	edo_mpsc_tx_release(tx);
	edo_mpsc_rx_release(rx);
}

static void expect(int value)
{
	int item = 0;

	assert_int_equal(edo_mpsc_try_recv(rx, &item), 0);
	assert_int_equal(item, value);
}

static void expect_rc(int rc)
{
	int item;

	assert_int_equal(edo_mpsc_try_recv(rx, &item), rc);
}

/* A sender that waits in line. */
struct sender {
	edo_mpsc_send_future send;
	struct sleeper sleeper;
	int item;
};

static void wait_in_line(struct sender *sender, int item)
{
	*sender = (struct sender){ .item = item };
	edo_mpsc_send_start(&sender->send, tx, &sender->item);
	assert_int_equal(poll_as(&sender->sleeper, &sender->send.future), EDO_PENDING);
}

/* The wait is over with rc, and left no waker. */
static void ends_with(struct sender *sender, int rc)
{
	assert_int_equal(poll_as(&sender->sleeper, &sender->send.future), rc);
	assert_int_equal(sender->send.result, rc);
	edo_future_drop(&sender->send.future);
	assert_int_equal(sender->sleeper.clones, 0);
}

static void drop(struct sender *sender)
{
	edo_future_drop(&sender->send.future);
	assert_int_equal(sender->sleeper.clones, 0);
}

/* ---- order ---- */

static void items_come_out_in_the_order_in_which_they_went_in(void **state)
{
	(void)state;
	end();
	begin_with(3);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 3; i++)
			assert_int_equal(edo_mpsc_try_send(tx, &(int){ round * 3 + i }), 0);
		assert_int_equal(edo_mpsc_try_send(tx, &(int){ 0 }), -EAGAIN);
		assert_int_equal(edo_mpsc_tx_len(tx), 3);
		expect(round * 3);
		assert_int_equal(edo_mpsc_try_send(tx, &(int){ 100 }), 0);
		expect(round * 3 + 1);
		expect(round * 3 + 2);
		expect(100);
		expect_rc(-EAGAIN);
	}
	assert_int_equal(edo_mpsc_capacity(tx), 3);
	assert_int_equal(edo_mpsc_rx_len(rx), 0);
	end();
}

static void senders_in_line_are_served_first_come_first_served(void **state)
{
	struct sender first, second;

	(void)state;
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	wait_in_line(&first, 2);
	wait_in_line(&second, 3);
	expect(1);
	assert_int_equal(first.sleeper.wakes, 1);
	assert_int_equal(second.sleeper.wakes, 0);
	ends_with(&first, 0);
	expect(2);
	ends_with(&second, 0);
	expect(3);
	end();
}

static void nobody_overtakes_a_sender_that_was_granted_its_place(void **state)
{
	struct sender waiting;

	(void)state;
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	wait_in_line(&waiting, 2);
	expect(1);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 9 }), -EAGAIN);
	expect_rc(-EAGAIN);
	ends_with(&waiting, 0);
	expect(2);
	end();
}

static void a_poll_in_between_keeps_the_place_in_line(void **state)
{
	struct sender first, second;
	struct sleeper other = { 0 };

	(void)state;
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	wait_in_line(&first, 2);
	wait_in_line(&second, 3);
	assert_int_equal(poll_as(&other, &first.send.future), EDO_PENDING);
	assert_int_equal(first.sleeper.clones, 0);
	expect(1);
	assert_int_equal(other.wakes, 1);
	assert_int_equal(first.sleeper.wakes, 0);
	ends_with(&first, 0);
	drop(&second);
	end();
}

/* ---- a wait is cut ---- */

static void a_sender_dropped_in_line_is_passed_over(void **state)
{
	struct sender first, second;

	(void)state;
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	wait_in_line(&first, 2);
	wait_in_line(&second, 3);
	drop(&first);
	drop(&first);
	expect(1);
	assert_int_equal(second.sleeper.wakes, 1);
	ends_with(&second, 0);
	expect(3);
	end();
}

static void a_sender_dropped_after_its_grant_passes_it_on(void **state)
{
	struct sender first, second;

	(void)state;
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	wait_in_line(&first, 2);
	wait_in_line(&second, 3);
	expect(1);
	drop(&first);
	assert_int_equal(second.sleeper.wakes, 1);
	drop(&second);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 4 }), 0);
	expect(4);
	end();
}

static void a_receive_dropped_after_its_wake_loses_nothing(void **state)
{
	edo_mpsc_recv_future recv;
	struct sleeper sleeper = { 0 };
	int item = 0;

	(void)state;
	edo_mpsc_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	assert_int_equal(sleeper.wakes, 1);
	edo_future_drop(&recv.future);
	assert_int_equal(item, 0);
	expect(1);
	assert_int_equal(sleeper.clones, 0);
	end();
}

static void a_receive_dropped_while_it_waits_leaves_nothing(void **state)
{
	edo_mpsc_recv_future recv;
	struct sleeper sleeper = { 0 };
	int item;

	(void)state;
	edo_mpsc_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	edo_future_drop(&recv.future);
	edo_future_drop(&recv.future);
	assert_int_equal(sleeper.clones, 0);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	assert_int_equal(sleeper.wakes, 0);
	expect(1);
	end();
}

static void a_second_receive_is_busy_and_the_first_goes_on(void **state)
{
	edo_mpsc_recv_future first, second;
	struct sleeper sleeper = { 0 };
	int item;

	(void)state;
	edo_mpsc_recv_start(&first, rx, &item);
	edo_mpsc_recv_start(&second, rx, &item);
	assert_int_equal(poll_as(&sleeper, &first.future), EDO_PENDING);
	assert_int_equal(poll_as(&sleeper, &second.future), -EBUSY);
	edo_future_drop(&second.future);
	expect_rc(-EBUSY);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	assert_int_equal(poll_as(&sleeper, &first.future), 0);
	edo_future_drop(&first.future);
	assert_int_equal(item, 1);
	end();
}

/* ---- permits ---- */

static void a_permit_keeps_its_place_and_sends_into_it(void **state)
{
	edo_mpsc_permit permit, none;

	(void)state;
	assert_int_equal(edo_mpsc_try_reserve(tx, &permit), 0);
	assert_int_equal(edo_mpsc_try_reserve(tx, &none), -EAGAIN);
	edo_mpsc_permit_drop(&none);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 9 }), -EAGAIN);
	assert_int_equal(edo_mpsc_permit_send(&permit, NULL), -EINVAL);
	assert_int_equal(edo_mpsc_permit_send(&permit, &(int){ 1 }), 0);
	assert_int_equal(edo_mpsc_permit_send(&permit, &(int){ 2 }), -EINVAL);
	edo_mpsc_permit_drop(&permit);
	expect(1);
	end();
}

static void a_permit_that_is_dropped_gives_its_place_to_the_first_in_line(void **state)
{
	edo_mpsc_reserve_future reserve;
	edo_mpsc_permit held, next;
	struct sleeper sleeper = { 0 };

	(void)state;
	assert_int_equal(edo_mpsc_try_reserve(tx, &held), 0);
	edo_mpsc_reserve_start(&reserve, tx, &next);
	assert_int_equal(poll_as(&sleeper, &reserve.future), EDO_PENDING);
	edo_mpsc_permit_drop(&held);
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &reserve.future), 0);
	edo_future_drop(&reserve.future);
	assert_int_equal(edo_mpsc_permit_send(&next, &(int){ 1 }), 0);
	expect(1);
	assert_int_equal(sleeper.clones, 0);
	end();
}

static void a_permit_outlives_both_ends(void **state)
{
	edo_mpsc_permit permit;

	(void)state;
	assert_int_equal(edo_mpsc_try_reserve(tx, &permit), 0);
	end();
	assert_int_equal(edo_mpsc_permit_send(&permit, &(int){ 1 }), -EPIPE);
	begin(state);
	assert_int_equal(edo_mpsc_try_reserve(tx, &permit), 0);
	end();
	edo_mpsc_permit_drop(&permit);
}

/* ---- the end ---- */

static void the_last_senders_release_ends_the_channel_after_its_items(void **state)
{
	edo_mpsc_recv_future recv;
	struct sleeper sleeper = { 0 };
	int item;

	(void)state;
	assert_ptr_equal(edo_mpsc_tx_retain(tx), tx);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	edo_mpsc_tx_release(tx);
	expect(1);
	edo_mpsc_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	edo_mpsc_tx_release(tx);
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &recv.future), -EPIPE);
	edo_future_drop(&recv.future);
	expect_rc(-EPIPE);
	edo_mpsc_rx_release(rx);
}

static void a_close_refuses_who_waits_and_keeps_what_is_inside(void **state)
{
	struct sender waiting;

	(void)state;
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	wait_in_line(&waiting, 2);
	edo_mpsc_rx_close(rx);
	edo_mpsc_rx_close(rx);
	assert_int_equal(waiting.sleeper.wakes, 1);
	ends_with(&waiting, -EPIPE);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 3 }), -EPIPE);
	expect(1);
	expect_rc(-EPIPE);
	end();
}

/* Finding 35: closed and empty is not the end while somebody may still put something in. */
static void the_end_waits_for_permits(void **state)
{
	edo_mpsc_recv_future recv;
	edo_mpsc_permit permit;
	struct sleeper sleeper = { 0 };
	int item = 0;

	(void)state;
	assert_int_equal(edo_mpsc_try_reserve(tx, &permit), 0);
	edo_mpsc_rx_close(rx);
	edo_mpsc_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	assert_int_equal(edo_mpsc_permit_send(&permit, &(int){ 1 }), 0);
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &recv.future), 0);
	edo_future_drop(&recv.future);
	expect_rc(-EPIPE);
	end();
}

static void a_permit_that_is_dropped_last_wakes_the_receiver_to_its_end(void **state)
{
	edo_mpsc_recv_future recv;
	edo_mpsc_permit permit;
	struct sleeper sleeper = { 0 };
	int item;

	(void)state;
	assert_int_equal(edo_mpsc_try_reserve(tx, &permit), 0);
	edo_mpsc_tx_release(tx);
	edo_mpsc_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	edo_mpsc_permit_drop(&permit);
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &recv.future), -EPIPE);
	edo_future_drop(&recv.future);
	edo_mpsc_rx_release(rx);
}

static void the_end_waits_for_a_granted_sender_and_comes_with_its_drop(void **state)
{
	edo_mpsc_recv_future recv;
	struct sender sends, leaves;
	struct sleeper sleeper = { 0 };
	int item;

	(void)state;
	end();
	begin_with(2);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 2 }), 0);
	wait_in_line(&sends, 3);
	wait_in_line(&leaves, 4);
	expect(1);
	expect(2);
	edo_mpsc_rx_close(rx);
	ends_with(&sends, 0);
	expect(3);
	edo_mpsc_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	drop(&leaves);
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &recv.future), -EPIPE);
	edo_future_drop(&recv.future);
	end();
}

static void a_granted_sender_finds_its_receiver_gone(void **state)
{
	struct sender waiting;

	(void)state;
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	wait_in_line(&waiting, 2);
	expect(1);
	edo_mpsc_rx_release(rx);
	ends_with(&waiting, -EPIPE);
	edo_mpsc_tx_release(tx);
}

/* More than a batch of wakes. */
static void a_release_refuses_each_of_a_long_line(void **state)
{
	enum { LINE = 100 };
	static struct sender line[LINE];
	edo_mpsc_closed_future closed;
	struct sleeper sleeper = { 0 };

	(void)state;
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	for (int i = 0; i < LINE; i++)
		wait_in_line(&line[i], i);
	edo_mpsc_closed_start(&closed, tx);
	assert_int_equal(poll_as(&sleeper, &closed.future), EDO_PENDING);
	edo_mpsc_rx_release(rx);
	for (int i = 0; i < LINE; i++) {
		assert_int_equal(line[i].sleeper.wakes, 1);
		ends_with(&line[i], -EPIPE);
	}
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &closed.future), 0);
	edo_future_drop(&closed.future);
	assert_int_equal(sleeper.clones, 0);
	edo_mpsc_tx_release(tx);
}

static void what_is_left_inside_is_dropped_with_the_receiver(void **state)
{
	struct dropped dropped = { 0 };

	(void)state;
	assert_int_equal(edo_mpsc_set_drop(rx, note_drop, &dropped), 0);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 1 }), 0);
	assert_int_equal(edo_mpsc_set_drop(rx, NULL, NULL), -EBUSY);
	expect(1);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 2 }), 0);
	edo_mpsc_rx_release(rx);
	assert_int_equal(dropped.count, 1);
	assert_int_equal(dropped.last, 2);
	assert_int_equal(edo_mpsc_tx_len(tx), 0);
	edo_mpsc_tx_release(tx);
}

static void release_sender(void *item, void *context)
{
	(void)context;
	edo_mpsc_tx_release(*(edo_mpsc_tx **)item);
}

static void an_item_may_be_the_channels_own_last_sender(void **state)
{
	edo_mpsc_tx *own;
	edo_mpsc_rx *receiver;

	(void)state;
	end();
	for (int is_unbounded = 0; is_unbounded < 2; is_unbounded++) {
		if (is_unbounded)
			assert_int_equal(edo_mpsc_create_unbounded(&own, &receiver, sizeof own), 0);
		else
			assert_int_equal(edo_mpsc_create(&own, &receiver, sizeof own, 2), 0);
		assert_int_equal(edo_mpsc_set_drop(receiver, release_sender, NULL), 0);
		assert_int_equal(edo_mpsc_try_send(own, &own), 0);
		edo_mpsc_rx_release(receiver);
	}
}

/* ---- unbounded ---- */

static void an_unbounded_channel_takes_any_number(void **state)
{
	struct dropped dropped = { 0 };

	(void)state;
	assert_int_equal(edo_mpsc_set_drop(rx, note_drop, &dropped), 0);
	assert_true(edo_mpsc_capacity(tx) == SIZE_MAX);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(edo_mpsc_try_send(tx, &i), 0);
	for (int i = 0; i < 700; i++)
		expect(i);
	end();
	assert_int_equal(dropped.count, 300);
	assert_int_equal(dropped.last, 999);
}

static void an_unbounded_channel_that_is_emptied_in_time_allocates_nothing(void **state)
{
	uint64_t made = 0;

	(void)state;
	for (int round = 0; round < 10; round++) {
		if (round == 2)
			made = edo_test_allocations_made();
		for (int i = 0; i < 128; i++)
			assert_int_equal(edo_mpsc_try_send(tx, &i), 0);
		for (int i = 0; i < 127; i++)
			expect(i);
		expect(127);
	}
	assert_true(edo_test_allocations_made() == made);
	end();
}

static void without_memory_an_unbounded_send_leaves_the_item_the_callers(void **state)
{
	(void)state;
	for (int i = 0; i < 32; i++)
		assert_int_equal(edo_mpsc_try_send(tx, &i), 0);
	edo_test_allocations_fail(0);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 32 }), -ENOMEM);
	assert_int_equal(edo_mpsc_tx_len(tx), 32);
	edo_test_allocations_fail(EDO_TEST_NEVER);
	assert_int_equal(edo_mpsc_try_send(tx, &(int){ 32 }), 0);
	for (int i = 0; i < 33; i++)
		expect(i);
	end();
}

static void an_unbounded_channel_has_no_places_to_reserve(void **state)
{
	edo_mpsc_permit permit;

	(void)state;
	assert_int_equal(edo_mpsc_try_reserve(tx, &permit), -EOPNOTSUPP);
	edo_mpsc_permit_drop(&permit);
	end();
}

/* ---- many at once ---- */

static void what_is_there_is_received_at_once_up_to_a_limit(void **state)
{
	edo_mpsc_recv_future recv;
	struct sleeper sleeper = { 0 };
	int items[100];

	(void)state;
	for (int i = 0; i < 150; i++)
		assert_int_equal(edo_mpsc_try_send(tx, &i), 0);
	edo_mpsc_recv_many_start(&recv, rx, items, 100);
	assert_int_equal(poll_as(&sleeper, &recv.future), 100);
	for (int i = 0; i < 100; i++)
		assert_int_equal(items[i], i);
	edo_mpsc_recv_many_start(&recv, rx, items, 100);
	assert_int_equal(poll_as(&sleeper, &recv.future), 50);
	assert_int_equal(items[49], 149);
	edo_mpsc_recv_many_start(&recv, rx, items, 100);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	edo_future_drop(&recv.future);
	assert_int_equal(poll_as(&sleeper, edo_mpsc_recv_many_start(&recv, rx, items, 0)), -EINVAL);
	end();
}

/* ---- edges and errors ---- */

static void items_without_a_size_are_counted(void **state)
{
	(void)state;
	end();
	for (int is_unbounded = 0; is_unbounded < 2; is_unbounded++) {
		struct dropped dropped = { 0 };

		if (is_unbounded)
			assert_int_equal(edo_mpsc_create_unbounded(&tx, &rx, 0), 0);
		else
			assert_int_equal(edo_mpsc_create(&tx, &rx, 0, SIZE_MAX - 1), 0);
		assert_int_equal(edo_mpsc_set_drop(rx, note_drop, &dropped), 0);
		for (int i = 0; i < 100; i++)
			assert_int_equal(edo_mpsc_try_send(tx, NULL), 0);
		assert_int_equal(edo_mpsc_try_recv(rx, NULL), 0);
		assert_int_equal(edo_mpsc_tx_len(tx), 99);
		end();
		assert_int_equal(dropped.count, 99);
		assert_int_equal(dropped.last, -1);
	}
}

static void what_makes_no_sense_is_an_error(void **state)
{
	edo_mpsc_closed_future closed;
	edo_mpsc_permit permit;
	struct sleeper sleeper = { 0 };
	edo_mpsc_tx *no_tx;
	edo_mpsc_rx *no_rx;
	int item;

	(void)state;
	assert_int_equal(edo_mpsc_create(&no_tx, &no_rx, 4, 0), -EINVAL);
	assert_int_equal(edo_mpsc_create(&no_tx, &no_rx, 4, SIZE_MAX / 2), -EINVAL);
	assert_int_equal(edo_mpsc_create(&no_tx, &no_rx, SIZE_MAX / 2, 1), -EINVAL);
	assert_int_equal(edo_mpsc_create_unbounded(&no_tx, &no_rx, SIZE_MAX / 32), -EINVAL);
	assert_null(no_tx);
	assert_null(no_rx);
	assert_int_equal(edo_mpsc_send(NULL, &item), -EINVAL);
	assert_int_equal(edo_mpsc_send(tx, NULL), -EINVAL);
	assert_int_equal(edo_mpsc_try_send(NULL, &item), -EINVAL);
	assert_int_equal(edo_mpsc_recv(NULL, &item), -EINVAL);
	assert_int_equal(edo_mpsc_recv(rx, NULL), -EINVAL);
	assert_int_equal(edo_mpsc_try_recv(rx, NULL), -EINVAL);
	assert_int_equal(edo_mpsc_reserve(NULL, &permit), -EINVAL);
	assert_int_equal(edo_mpsc_reserve(tx, NULL), -EINVAL);
	assert_int_equal(edo_mpsc_set_drop(NULL, note_drop, NULL), -EINVAL);
	assert_int_equal(poll_as(&sleeper, edo_mpsc_closed_start(&closed, NULL)), -EINVAL);
	assert_int_equal(edo_mpsc_permit_send(NULL, &item), -EINVAL);
	edo_mpsc_permit_drop(NULL);
	assert_null(edo_mpsc_tx_retain(NULL));
	edo_mpsc_tx_release(NULL);
	edo_mpsc_rx_release(NULL);
	edo_mpsc_rx_close(NULL);
	end();
}

static void without_memory_there_is_no_channel(void **state)
{
	edo_mpsc_tx *no_tx;
	edo_mpsc_rx *no_rx;

	(void)state;
	edo_test_allocations_fail(0);
	assert_int_equal(edo_mpsc_create(&no_tx, &no_rx, 4, 4), -ENOMEM);
	for (uint64_t n = 0; n < 2; n++) {
		edo_test_allocations_fail(n);
		assert_int_equal(edo_mpsc_create_unbounded(&no_tx, &no_rx, 4), -ENOMEM);
		assert_null(no_tx);
		assert_null(no_rx);
	}
	end();
}

/* ---- in a runtime, and from threads ---- */

enum { EACH = 1000, PRODUCERS = 4 };

static int produces(void *arg)
{
	edo_mpsc_tx *own = *(edo_mpsc_tx **)arg;
	int rc = 0;

	for (int i = 0; i < EACH && rc == 0; i++)
		rc = edo_mpsc_send(own, &i);
	edo_mpsc_tx_release(own);
	return rc;
}

static int consumes(void *arg)
{
	long *sum = arg;
	int item, rc;

	while ((rc = edo_mpsc_recv(rx, &item)) == 0)
		*sum += item;
	return rc;
}

static int dispatches(void *arg)
{
	uint64_t made = 0;
	long *sum = arg;

	for (int i = 0; i < PRODUCERS; i++) {
		edo_mpsc_tx *own = edo_mpsc_tx_retain(tx);

		assert_int_equal(edo_go(produces, &own, sizeof own), 0);
	}
	edo_mpsc_tx_release(tx);
	made = edo_test_allocations_made();
	assert_int_equal(consumes(sum), -EPIPE);
	assert_true(edo_test_allocations_made() == made);
	return 0;
}

static void fibers_produce_and_consume_without_an_allocation(void **state)
{
	edo_runtime *runtime = runtime_new();
	long sum = 0;

	(void)state;
	assert_int_equal(run_on(runtime, dispatches, &sum), 0);
	assert_int_equal(sum, (long)PRODUCERS * EACH * (EACH - 1) / 2);
	edo_mpsc_rx_release(rx);
	runtime_end(runtime);
}

static void *produces_in_thread(void *own)
{
	(void)produces(&own);
	return NULL;
}

static void threads_produce_for_a_fiber_and_for_a_thread(void **state)
{
	edo_runtime *runtime = runtime_new();

	(void)state;
	end();
	for (int in_fiber = 0; in_fiber < 2; in_fiber++) {
		pthread_t threads[PRODUCERS];
		long sum = 0;

		assert_int_equal(edo_mpsc_create(&tx, &rx, sizeof(int), 3), 0);
		for (int i = 0; i < PRODUCERS; i++)
			pthread_create(&threads[i], NULL, produces_in_thread,
				       edo_mpsc_tx_retain(tx));
		edo_mpsc_tx_release(tx);
		assert_int_equal(in_fiber ? run_on(runtime, consumes, &sum) : consumes(&sum),
				 -EPIPE);
		assert_int_equal(sum, (long)PRODUCERS * EACH * (EACH - 1) / 2);
		edo_mpsc_rx_release(rx);
		for (int i = 0; i < PRODUCERS; i++)
			pthread_join(threads[i], NULL);
	}
	runtime_end(runtime);
}

#define BOUNDED(test) cmocka_unit_test_setup(test, begin)
#define UNBOUNDED(test) cmocka_unit_test_setup(test, begin_unbounded)

static const struct CMUnitTest tests[] = {
	BOUNDED(items_come_out_in_the_order_in_which_they_went_in),
	BOUNDED(senders_in_line_are_served_first_come_first_served),
	BOUNDED(nobody_overtakes_a_sender_that_was_granted_its_place),
	BOUNDED(a_poll_in_between_keeps_the_place_in_line),
	BOUNDED(a_sender_dropped_in_line_is_passed_over),
	BOUNDED(a_sender_dropped_after_its_grant_passes_it_on),
	BOUNDED(a_receive_dropped_after_its_wake_loses_nothing),
	BOUNDED(a_receive_dropped_while_it_waits_leaves_nothing),
	BOUNDED(a_second_receive_is_busy_and_the_first_goes_on),
	BOUNDED(a_permit_keeps_its_place_and_sends_into_it),
	BOUNDED(a_permit_that_is_dropped_gives_its_place_to_the_first_in_line),
	BOUNDED(a_permit_outlives_both_ends),
	BOUNDED(the_last_senders_release_ends_the_channel_after_its_items),
	BOUNDED(a_close_refuses_who_waits_and_keeps_what_is_inside),
	BOUNDED(the_end_waits_for_permits),
	BOUNDED(a_permit_that_is_dropped_last_wakes_the_receiver_to_its_end),
	BOUNDED(the_end_waits_for_a_granted_sender_and_comes_with_its_drop),
	BOUNDED(a_granted_sender_finds_its_receiver_gone),
	BOUNDED(a_release_refuses_each_of_a_long_line),
	BOUNDED(what_is_left_inside_is_dropped_with_the_receiver),
	BOUNDED(an_item_may_be_the_channels_own_last_sender),
	UNBOUNDED(an_unbounded_channel_takes_any_number),
	UNBOUNDED(an_unbounded_channel_that_is_emptied_in_time_allocates_nothing),
	UNBOUNDED(without_memory_an_unbounded_send_leaves_the_item_the_callers),
	UNBOUNDED(an_unbounded_channel_has_no_places_to_reserve),
	UNBOUNDED(what_is_there_is_received_at_once_up_to_a_limit),
	BOUNDED(items_without_a_size_are_counted),
	BOUNDED(what_makes_no_sense_is_an_error),
	BOUNDED(without_memory_there_is_no_channel),
	BOUNDED(fibers_produce_and_consume_without_an_allocation),
	BOUNDED(threads_produce_for_a_fiber_and_for_a_thread),
};

EDO_TEST_MAIN(tests)
