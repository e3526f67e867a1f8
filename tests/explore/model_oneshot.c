/*
 * A channel for one item: whatever the interleaving, the item is received, dropped or still the sender's, once;
 * who waits learns of what it waits for; and the memory goes once, with the end that leaves last.
 */
#include "explore/rig_sync.h"
#include <errno.h>

enum { ITEM = 7 };

static edo_oneshot_tx *tx;
static edo_oneshot_rx *rx;
static struct rig_sleeper receiver, sender;
/* Plain: of one thread each until all have been joined. */
static int sent, received, dropped;
/* Written plainly by who sends, read by who has the item. */
static int note;

static void begin(void)
{
	explore_check(edo_oneshot_create(&tx, &rx, sizeof(int)) == 0);
	explore_check(edo_oneshot_set_drop(rx, rig_count_drop, &dropped) == 0);
	sent = -1;
}

static void end(void)
{
	explore_join_all();
	explore_check((sent == 0) == (received + dropped == 1));
	rig_is_alone(&receiver);
	rig_is_alone(&sender);
}

static void sends_and_leaves(void *unused)
{
	int item = ITEM;

	(void)unused;
	note = 1;
	sent = edo_oneshot_send(tx, &item);
	explore_check(sent == 0 || sent == -EPIPE);
	explore_check(edo_oneshot_send(tx, &item) == (sent == 0 ? -EALREADY : -EPIPE));
	edo_oneshot_tx_release(tx);
}

static void only_leaves(void *unused)
{
	(void)unused;
	edo_oneshot_tx_release(tx);
}

static void leaves_the_receiver(void *unused)
{
	(void)unused;
	edo_oneshot_rx_release(rx);
}

static int receives(void)
{
	edo_oneshot_recv_future recv;
	int item = 0;
	int rc = rig_await(&receiver, edo_oneshot_recv_start(&recv, rx, &item));

	if (rc == 0) {
		explore_check(item == ITEM && note == 1);
		received++;
	}
	edo_oneshot_rx_release(rx);
	return rc;
}

static void a_send(void)
{
	begin();
	explore_start(sends_and_leaves, NULL);
	explore_check(receives() == 0);
	end();
}

static void nothing_is_sent(void)
{
	begin();
	explore_start(only_leaves, NULL);
	explore_check(receives() == -EPIPE);
	end();
}

static void nobody_receives(void)
{
	begin();
	explore_start(sends_and_leaves, NULL);
	edo_oneshot_rx_release(rx);
	end();
}

static void both_leave(void)
{
	begin();
	explore_start(only_leaves, NULL);
	edo_oneshot_rx_release(rx);
	end();
}

/* A wait that is cut, wherever it is by then; what comes later is found by the next. */
static void looks_once(void)
{
	edo_oneshot_recv_future recv;
	int item = 0;

	if (rig_poll(&receiver, edo_oneshot_recv_start(&recv, rx, &item)) == 0)
		received++;
	edo_future_drop(&recv.future);
}

static void a_wait_is_cut(void)
{
	begin();
	explore_start(sends_and_leaves, NULL);
	looks_once();
	edo_oneshot_rx_release(rx);
	end();
}

static void a_wait_is_cut_and_begun_anew(void)
{
	begin();
	explore_start(sends_and_leaves, NULL);
	looks_once();
	if (received == 0)
		explore_check(receives() == 0);
	else
		edo_oneshot_rx_release(rx);
	end();
}

static void the_sender_waits_for_the_receivers_end(void)
{
	edo_oneshot_closed_future closed;

	begin();
	explore_start(leaves_the_receiver, NULL);
	explore_check(rig_await(&sender, edo_oneshot_closed_start(&closed, tx)) == 0);
	edo_oneshot_tx_release(tx);
	end();
}

static void the_senders_wait_is_cut(void)
{
	edo_oneshot_closed_future closed;

	begin();
	explore_start(leaves_the_receiver, NULL);
	(void)rig_poll(&sender, edo_oneshot_closed_start(&closed, tx));
	edo_future_drop(&closed.future);
	sends_and_leaves(NULL);
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}

static const struct explore_model models[] = {
	{ "a send meets a receive", a_send, ALL, ALL },
	{ "a sender leaves without a send", nothing_is_sent, ALL, ALL },
	{ "a send meets a receiver that leaves", nobody_receives, ALL, ALL },
	{ "both leave", both_leave, ALL, ALL },
	{ "a receive is cut", a_wait_is_cut, ALL, ALL },
	{ "a receive is cut and begun anew", a_wait_is_cut_and_begun_anew, ALL, ALL },
	{ "the sender waits for the receiver's end", the_sender_waits_for_the_receivers_end, ALL,
	  ALL },
	{ "the sender's wait is cut", the_senders_wait_is_cut, ALL, ALL },
};

EXPLORE_MAIN(models)
