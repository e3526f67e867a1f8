/* A channel for one item: every order in which its two ends can send, receive, wait and go. */
#include "rig.h"

static edo_oneshot_tx *tx;
static edo_oneshot_rx *rx;

static int begin(void **state)
{
	(void)state;
	return edo_oneshot_create(&tx, &rx, sizeof(int));
}

static void end(void)
{
	edo_oneshot_tx_release(tx);
	edo_oneshot_rx_release(rx);
}

static void what_is_sent_is_received_once(void **state)
{
	int item = 0;

	(void)state;
	assert_int_equal(edo_oneshot_try_recv(rx, &item), -EAGAIN);
	assert_int_equal(edo_oneshot_send(tx, &(int){ 7 }), 0);
	assert_int_equal(edo_oneshot_send(tx, &(int){ 8 }), -EALREADY);
	assert_int_equal(edo_oneshot_try_recv(rx, &item), 0);
	assert_int_equal(item, 7);
	assert_int_equal(edo_oneshot_try_recv(rx, &item), -EPIPE);
	end();
}

static void who_waits_is_woken_by_the_send(void **state)
{
	edo_oneshot_recv_future recv;
	struct sleeper sleeper = { 0 };
	int item = 0;

	(void)state;
	edo_oneshot_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	assert_int_equal(edo_oneshot_send(tx, &(int){ 7 }), 0);
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &recv.future), 0);
	assert_int_equal(recv.result, 0);
	edo_future_drop(&recv.future);
	assert_int_equal(item, 7);
	assert_int_equal(sleeper.clones, 0);
	end();
}

static void a_sender_that_goes_without_a_send_wakes_who_waits(void **state)
{
	edo_oneshot_recv_future recv;
	struct sleeper sleeper = { 0 };
	int item;

	(void)state;
	edo_oneshot_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	edo_oneshot_tx_release(tx);
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &recv.future), -EPIPE);
	edo_future_drop(&recv.future);
	assert_int_equal(sleeper.clones, 0);
	edo_oneshot_rx_release(rx);
}

static void an_item_outlives_its_sender(void **state)
{
	int item = 0;

	(void)state;
	assert_int_equal(edo_oneshot_send(tx, &(int){ 7 }), 0);
	edo_oneshot_tx_release(tx);
	assert_int_equal(edo_oneshot_try_recv(rx, &item), 0);
	assert_int_equal(item, 7);
	edo_oneshot_rx_release(rx);
}

static void a_receive_that_is_dropped_after_its_wake_leaves_the_item(void **state)
{
	edo_oneshot_recv_future recv;
	struct sleeper sleeper = { 0 };
	int item = 0;

	(void)state;
	edo_oneshot_recv_start(&recv, rx, &item);
	assert_int_equal(poll_as(&sleeper, &recv.future), EDO_PENDING);
	assert_int_equal(edo_oneshot_send(tx, &(int){ 7 }), 0);
	edo_future_drop(&recv.future);
	assert_int_equal(item, 0);
	assert_int_equal(edo_oneshot_try_recv(rx, &item), 0);
	assert_int_equal(item, 7);
	assert_int_equal(sleeper.clones, 0);
	end();
}

static void a_second_wait_is_busy_and_the_first_goes_on(void **state)
{
	edo_oneshot_recv_future first, second;
	struct sleeper sleeper = { 0 };
	int item;

	(void)state;
	edo_oneshot_recv_start(&first, rx, &item);
	edo_oneshot_recv_start(&second, rx, &item);
	assert_int_equal(poll_as(&sleeper, &first.future), EDO_PENDING);
	assert_int_equal(poll_as(&sleeper, &second.future), -EBUSY);
	assert_int_equal(edo_oneshot_try_recv(rx, &item), -EBUSY);
	edo_future_drop(&second.future);
	assert_int_equal(edo_oneshot_send(tx, &(int){ 7 }), 0);
	assert_int_equal(poll_as(&sleeper, &first.future), 0);
	edo_future_drop(&first.future);
	end();
}

static void a_send_to_nobody_is_a_broken_pipe_and_the_item_stays(void **state)
{
	struct dropped dropped = { 0 };

	(void)state;
	assert_int_equal(edo_oneshot_set_drop(rx, note_drop, &dropped), 0);
	edo_oneshot_rx_release(rx);
	assert_int_equal(edo_oneshot_send(tx, &(int){ 7 }), -EPIPE);
	edo_oneshot_tx_release(tx);
	assert_int_equal(dropped.count, 0);
}

static void an_item_that_nobody_received_is_dropped_with_the_receiver(void **state)
{
	struct dropped dropped = { 0 };

	(void)state;
	assert_int_equal(edo_oneshot_set_drop(rx, note_drop, &dropped), 0);
	assert_int_equal(edo_oneshot_send(tx, &(int){ 7 }), 0);
	assert_int_equal(edo_oneshot_set_drop(rx, note_drop, NULL), -EBUSY);
	edo_oneshot_rx_release(rx);
	assert_int_equal(dropped.count, 1);
	assert_int_equal(dropped.last, 7);
	edo_oneshot_tx_release(tx);
	assert_int_equal(dropped.count, 1);
}

static void an_item_that_was_received_is_not_dropped(void **state)
{
	struct dropped dropped = { 0 };
	int item;

	(void)state;
	assert_int_equal(edo_oneshot_set_drop(rx, note_drop, &dropped), 0);
	assert_int_equal(edo_oneshot_send(tx, &(int){ 7 }), 0);
	assert_int_equal(edo_oneshot_try_recv(rx, &item), 0);
	end();
	assert_int_equal(dropped.count, 0);
}

static void release_sender(void *item, void *context)
{
	(void)context;
	edo_oneshot_tx_release(*(edo_oneshot_tx **)item);
}

static void an_item_may_be_the_channels_own_sender(void **state)
{
	edo_oneshot_tx *own;
	edo_oneshot_rx *receiver;

	(void)state;
	end();
	assert_int_equal(edo_oneshot_create(&own, &receiver, sizeof own), 0);
	assert_int_equal(edo_oneshot_set_drop(receiver, release_sender, NULL), 0);
	assert_int_equal(edo_oneshot_send(own, &own), 0);
	edo_oneshot_rx_release(receiver);
}

static void who_waits_for_the_receivers_end_is_woken_by_it(void **state)
{
	edo_oneshot_closed_future closed, second;
	struct sleeper sleeper = { 0 };

	(void)state;
	edo_oneshot_closed_start(&closed, tx);
	edo_oneshot_closed_start(&second, tx);
	assert_int_equal(poll_as(&sleeper, &closed.future), EDO_PENDING);
	assert_int_equal(poll_as(&sleeper, &second.future), -EBUSY);
	edo_oneshot_rx_release(rx);
	assert_int_equal(sleeper.wakes, 1);
	assert_int_equal(poll_as(&sleeper, &closed.future), 0);
	edo_future_drop(&closed.future);
	edo_future_drop(&second.future);
	assert_int_equal(sleeper.clones, 0);
	edo_oneshot_tx_release(tx);
}

static void a_wait_for_the_end_that_is_dropped_leaves_nothing(void **state)
{
	edo_oneshot_closed_future closed;
	struct sleeper sleeper = { 0 };

	(void)state;
	edo_future_drop(edo_oneshot_closed_start(&closed, tx));
	assert_int_equal(poll_as(&sleeper, &closed.future), EDO_PENDING);
	edo_future_drop(&closed.future);
	edo_future_drop(&closed.future);
	assert_int_equal(sleeper.clones, 0);
	end();
	assert_int_equal(sleeper.wakes, 0);
}

static void items_without_a_size_are_events(void **state)
{
	struct dropped dropped = { 0 };
	edo_oneshot_tx *event_tx;
	edo_oneshot_rx *event_rx;

	(void)state;
	end();
	assert_int_equal(edo_oneshot_create(&event_tx, &event_rx, 0), 0);
	assert_int_equal(edo_oneshot_set_drop(event_rx, note_drop, &dropped), 0);
	assert_int_equal(edo_oneshot_send(event_tx, NULL), 0);
	edo_oneshot_rx_release(event_rx);
	assert_int_equal(dropped.last, -1);
	edo_oneshot_tx_release(event_tx);
}

static void what_makes_no_sense_is_an_error(void **state)
{
	edo_oneshot_recv_future recv;
	edo_oneshot_closed_future closed;
	edo_oneshot_tx *no_tx;
	edo_oneshot_rx *no_rx;
	struct sleeper sleeper = { 0 };
	int item;

	(void)state;
	assert_int_equal(edo_oneshot_create(&no_tx, &no_rx, SIZE_MAX), -EINVAL);
	assert_null(no_tx);
	assert_null(no_rx);
	assert_int_equal(edo_oneshot_send(NULL, &item), -EINVAL);
	assert_int_equal(edo_oneshot_send(tx, NULL), -EINVAL);
	assert_int_equal(edo_oneshot_try_recv(NULL, &item), -EINVAL);
	assert_int_equal(edo_oneshot_try_recv(rx, NULL), -EINVAL);
	assert_int_equal(edo_oneshot_recv(NULL, &item), -EINVAL);
	assert_int_equal(poll_as(&sleeper, edo_oneshot_recv_start(&recv, NULL, &item)), -EINVAL);
	assert_int_equal(poll_as(&sleeper, edo_oneshot_closed_start(&closed, NULL)), -EINVAL);
	assert_int_equal(edo_oneshot_set_drop(NULL, note_drop, NULL), -EINVAL);
	edo_oneshot_tx_release(NULL);
	edo_oneshot_rx_release(NULL);
	end();
}

static void without_memory_there_is_no_channel(void **state)
{
	edo_oneshot_tx *no_tx;
	edo_oneshot_rx *no_rx;

	(void)state;
	edo_test_allocations_fail(0);
	assert_int_equal(edo_oneshot_create(&no_tx, &no_rx, 8), -ENOMEM);
	assert_null(no_tx);
	assert_null(no_rx);
	end();
}

/* ---- threads ---- */

static void *sends_and_leaves(void *own)
{
	(void)!edo_oneshot_send(own, &(int){ 7 });
	edo_oneshot_tx_release(own);
	return NULL;
}

static void *only_leaves(void *own)
{
	edo_oneshot_tx_release(own);
	return NULL;
}

static void threads_meet_in_every_order_of_ends(void **state)
{
	(void)state;
	end();
	for (unsigned i = 0; i < 3000 / edo_test_slowdown() + 10; i++) {
		struct dropped dropped = { 0 };
		pthread_t thread;
		int item = 0;

		assert_int_equal(edo_oneshot_create(&tx, &rx, sizeof(int)), 0);
		assert_int_equal(edo_oneshot_set_drop(rx, note_drop, &dropped), 0);
		pthread_create(&thread, NULL, i % 3 == 2 ? only_leaves : sends_and_leaves, tx);
		if (i % 3 == 0)
			assert_int_equal(edo_oneshot_recv(rx, &item), 0);
		else if (i % 3 == 2)
			assert_int_equal(edo_oneshot_recv(rx, &item), -EPIPE);
		edo_oneshot_rx_release(rx);
		pthread_join(thread, NULL);
		assert_true(dropped.count <= 1);
	}
}

#define WITH_CHANNEL(test) cmocka_unit_test_setup(test, begin)

static const struct CMUnitTest tests[] = {
	WITH_CHANNEL(what_is_sent_is_received_once),
	WITH_CHANNEL(who_waits_is_woken_by_the_send),
	WITH_CHANNEL(a_sender_that_goes_without_a_send_wakes_who_waits),
	WITH_CHANNEL(an_item_outlives_its_sender),
	WITH_CHANNEL(a_receive_that_is_dropped_after_its_wake_leaves_the_item),
	WITH_CHANNEL(a_second_wait_is_busy_and_the_first_goes_on),
	WITH_CHANNEL(a_send_to_nobody_is_a_broken_pipe_and_the_item_stays),
	WITH_CHANNEL(an_item_that_nobody_received_is_dropped_with_the_receiver),
	WITH_CHANNEL(an_item_that_was_received_is_not_dropped),
	WITH_CHANNEL(an_item_may_be_the_channels_own_sender),
	WITH_CHANNEL(who_waits_for_the_receivers_end_is_woken_by_it),
	WITH_CHANNEL(a_wait_for_the_end_that_is_dropped_leaves_nothing),
	WITH_CHANNEL(items_without_a_size_are_events),
	WITH_CHANNEL(what_makes_no_sense_is_an_error),
	WITH_CHANNEL(without_memory_there_is_no_channel),
	WITH_CHANNEL(threads_meet_in_every_order_of_ends),
};

EDO_TEST_MAIN(tests)
