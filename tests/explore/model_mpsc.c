/*
 * A channel of many senders: grants, cuts, closes and releases in every order. Each item is received or dropped
 * once, or still its sender's; nobody who waits is forgotten; the receiver comes to the end when, and
 * only when, nothing can come any more; and the memory goes once.
 */
#include "explore/rig_sync.h"
#include <errno.h>
#include <stddef.h>

static edo_mpsc_tx *tx;
static edo_mpsc_rx *rx;
static edo_mpsc_permit permit;
static struct rig_sleeper sleepers[3], receiver;
/* Plain: of one thread each until all have been joined. */
static int sent[3], received, dropped;

static void begin(size_t capacity, unsigned senders)
{
	explore_check(edo_mpsc_create(&tx, &rx, sizeof(int), capacity) == 0);
	explore_check(edo_mpsc_set_drop(rx, rig_count_drop, &dropped) == 0);
	for (unsigned i = 1; i < senders; i++)
		(void)edo_mpsc_tx_retain(tx);
}

static void end(void)
{
	explore_join_all();
	explore_check(sent[0] + sent[1] + sent[2] == received + dropped);
	rig_is_alone(&receiver);
	for (unsigned i = 0; i < 3; i++)
		rig_is_alone(&sleepers[i]);
}

static void fill(void)
{
	int item = 100;

	explore_check(edo_mpsc_try_send(tx, &item) == 0);
	sent[2]++;
}

/* ---- who sends; the argument is its number ---- */

static void sends_one(void *number)
{
	uintptr_t n = (uintptr_t)number;
	edo_mpsc_send_future send;
	int item = (int)n;
	int rc = rig_await(&sleepers[n], edo_mpsc_send_start(&send, tx, &item));

	explore_check(rc == 0 || rc == -EPIPE);
	sent[n] += rc == 0;
	edo_mpsc_tx_release(tx);
}

/* Cut after one poll, wherever its wait is by then. */
static void is_cut(void *number)
{
	uintptr_t n = (uintptr_t)number;
	edo_mpsc_send_future send;
	int item = (int)n;

	sent[n] += rig_poll(&sleepers[n], edo_mpsc_send_start(&send, tx, &item)) == 0;
	edo_future_drop(&send.future);
	edo_mpsc_tx_release(tx);
}

static void sends_by_permit(void *number)
{
	uintptr_t n = (uintptr_t)number;
	int item = (int)n;

	sent[n] += edo_mpsc_permit_send(&permit, &item) == 0;
}

static void drops_permit(void *unused)
{
	(void)unused;
	edo_mpsc_permit_drop(&permit);
}

static void leaves(void *unused)
{
	(void)unused;
	edo_mpsc_tx_release(tx);
}

/* ---- who receives ---- */

static void receives_to_the_end(void)
{
	edo_mpsc_recv_future recv;
	int item;
	int rc;

	while ((rc = rig_await(&receiver, edo_mpsc_recv_start(&recv, rx, &item))) == 0)
		received++;
	explore_check(rc == -EPIPE);
	edo_mpsc_rx_release(rx);
}

/* ---- models ---- */

static void a_send(void)
{
	begin(1, 1);
	explore_start(sends_one, (void *)0);
	receives_to_the_end();
	end();
	explore_check(received == 1);
}

static void two_sends_one_place(void)
{
	begin(1, 2);
	explore_start(sends_one, (void *)0);
	explore_start(sends_one, (void *)1);
	receives_to_the_end();
	end();
	explore_check(received == 2);
}

static void a_cut_passes_its_grant_on(void)
{
	begin(1, 2);
	fill();
	explore_start(is_cut, (void *)0);
	explore_start(sends_one, (void *)1);
	receives_to_the_end();
	end();
	explore_check(sent[1] == 1);
}

static void a_close_meets_who_waits(void)
{
	begin(1, 1);
	fill();
	explore_start(sends_one, (void *)0);
	edo_mpsc_rx_close(rx);
	receives_to_the_end();
	end();
}

static void a_close_meets_a_grant_and_a_cut(void)
{
	edo_mpsc_recv_future recv;
	int item;

	begin(1, 1);
	fill();
	explore_start(is_cut, (void *)0);
	explore_check(rig_await(&receiver, edo_mpsc_recv_start(&recv, rx, &item)) == 0);
	received++;
	edo_mpsc_rx_close(rx);
	receives_to_the_end();
	end();
}

static void a_release_meets_who_waits(void)
{
	begin(1, 1);
	fill();
	explore_start(sends_one, (void *)0);
	edo_mpsc_rx_release(rx);
	end();
}

static void a_release_meets_a_grant(void)
{
	edo_mpsc_recv_future recv;
	int item;

	begin(1, 1);
	fill();
	explore_start(sends_one, (void *)0);
	explore_check(rig_await(&receiver, edo_mpsc_recv_start(&recv, rx, &item)) == 0);
	received++;
	edo_mpsc_rx_release(rx);
	end();
}

static void the_end_waits_for_a_permit(void)
{
	begin(1, 1);
	explore_check(edo_mpsc_try_reserve(tx, &permit) == 0);
	explore_start(sends_by_permit, (void *)0);
	explore_start(leaves, NULL);
	edo_mpsc_rx_close(rx);
	receives_to_the_end();
	end();
	explore_check(received == 1);
}

static void a_permits_drop_brings_the_end(void)
{
	begin(1, 1);
	explore_check(edo_mpsc_try_reserve(tx, &permit) == 0);
	explore_start(drops_permit, NULL);
	explore_start(leaves, NULL);
	receives_to_the_end();
	end();
}

static void a_permits_drop_meets_who_waits(void)
{
	begin(1, 1);
	explore_check(edo_mpsc_try_reserve(tx, &permit) == 0);
	explore_start(drops_permit, NULL);
	explore_start(sends_one, (void *)0);
	receives_to_the_end();
	end();
	explore_check(received == 1);
}

static void all_leave(void)
{
	begin(1, 1);
	explore_check(edo_mpsc_try_reserve(tx, &permit) == 0);
	explore_start(sends_by_permit, (void *)0);
	explore_start(leaves, NULL);
	edo_mpsc_rx_release(rx);
	end();
}

static void a_receive_is_cut(void)
{
	edo_mpsc_recv_future recv;
	int item;

	begin(1, 1);
	explore_start(sends_one, (void *)0);
	received += rig_poll(&receiver, edo_mpsc_recv_start(&recv, rx, &item)) == 0;
	edo_future_drop(&recv.future);
	receives_to_the_end();
	end();
	explore_check(received == 1);
}

static void waits_for_the_close(void *unused)
{
	edo_mpsc_closed_future closed;

	(void)unused;
	explore_check(rig_await(&sleepers[0], edo_mpsc_closed_start(&closed, tx)) == 0);
	edo_mpsc_tx_release(tx);
}

static void a_close_is_waited_for(void)
{
	begin(1, 1);
	explore_start(waits_for_the_close, NULL);
	edo_mpsc_rx_close(rx);
	edo_mpsc_rx_release(rx);
	end();
}

/* A block is full: both need another one. */
static void begin_unbounded(unsigned senders)
{
	explore_check(edo_mpsc_create_unbounded(&tx, &rx, sizeof(int)) == 0);
	explore_check(edo_mpsc_set_drop(rx, rig_count_drop, &dropped) == 0);
	for (unsigned i = 1; i < senders; i++)
		(void)edo_mpsc_tx_retain(tx);
	for (unsigned i = 0; i < 32; i++)
		fill();
}

static void two_need_a_block(void)
{
	begin_unbounded(2);
	explore_start(sends_one, (void *)0);
	explore_start(sends_one, (void *)1);
	explore_join_all();
	receives_to_the_end();
	end();
	explore_check(received == 34);
}

static void a_new_block_meets_a_release(void)
{
	begin_unbounded(1);
	explore_start(sends_one, (void *)0);
	edo_mpsc_rx_release(rx);
	end();
}

#define ALL                                                                                        \
	{                                                                                          \
		EXPLORE_ALL, EXPLORE_ALL                                                           \
	}
#define THREE                                                                                      \
	{                                                                                          \
		3, 2                                                                               \
	}

static const struct explore_model models[] = {
	{ "a send meets a receive", a_send, ALL, ALL },
	{ "two send into one place", two_sends_one_place, THREE, ALL },
	{ "a cut sender passes its grant on", a_cut_passes_its_grant_on, THREE, ALL },
	{ "a close meets a sender that waits", a_close_meets_who_waits, ALL, ALL },
	{ "a close meets a grant and a cut", a_close_meets_a_grant_and_a_cut, ALL, ALL },
	{ "a release meets a sender that waits", a_release_meets_who_waits, ALL, ALL },
	{ "a release meets a grant", a_release_meets_a_grant, ALL, ALL },
	{ "the end waits for a permit", the_end_waits_for_a_permit, THREE, ALL },
	{ "a permit's drop brings the end", a_permits_drop_brings_the_end, ALL, ALL },
	{ "a permit's drop meets a sender that waits", a_permits_drop_meets_who_waits, THREE, ALL },
	{ "all leave", all_leave, ALL, ALL },
	{ "a receive is cut", a_receive_is_cut, ALL, ALL },
	{ "a close is waited for", a_close_is_waited_for, ALL, ALL },
	{ "two need another block", two_need_a_block, THREE, ALL },
	{ "a new block meets a release", a_new_block_meets_a_release, THREE, ALL },
};

EXPLORE_MAIN(models)
