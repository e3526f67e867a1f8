/*
 * An mpsc against a plain reference: random sends, receives, reservations, waits, cuts and closes, each of which
 * must come to what the reference says. The seed is printed when it fails: CHANNEL_SEED replays.
 */
#include "rig.h"
#include <stdlib.h>

enum { WAITERS = 6, PERMITS = 3, STEPS = 400, MOST_INSIDE = 1024 };

enum fate { IDLE, QUEUED, GRANTED, REFUSED };

/* A sender's wait; `turn` says since when it stands in line. */
struct waiter {
	edo_mpsc_send_future send;
	struct sleeper sleeper;
	enum fate fate;
	unsigned turn;
	unsigned wakes; /* expected */
	int item;
};

/* The channel, and what it should be. */
static struct {
	edo_mpsc_tx *tx;
	edo_mpsc_rx *rx;
	uint64_t random;
	size_t capacity, granted;
	int inside[MOST_INSIDE];
	size_t len;
	bool is_closed;
	unsigned turns;
	int next;
	struct waiter waiters[WAITERS];
	edo_mpsc_permit permits[PERMITS];
	edo_mpsc_recv_future recv;
	struct sleeper receiver;
	bool is_receiving;
	unsigned receiver_wakes;
	bool is_receiver_woken;
	int received;
} m;

static uint64_t seed_in_play;

static unsigned draw(unsigned below)
{
	m.random ^= m.random << 13;
	m.random ^= m.random >> 7;
	m.random ^= m.random << 17;
	return (unsigned)(m.random >> 33) % below;
}

/* ---- the reference ---- */

static bool has_place(void)
{
	return m.len + m.granted < m.capacity;
}

static bool has_ended(void)
{
	return m.is_closed && m.len == 0 && m.granted == 0;
}

static void wake_receiver(void)
{
	if (m.is_receiving && !m.is_receiver_woken) {
		m.is_receiver_woken = true;
		m.receiver_wakes++;
	}
}

static void comes_in(int item)
{
	m.inside[m.len++] = item;
	wake_receiver();
}

static void place_comes_free(void)
{
	struct waiter *first = NULL;

	for (unsigned i = 0; i < WAITERS; i++)
		if (m.waiters[i].fate == QUEUED && (!first || m.waiters[i].turn < first->turn))
			first = &m.waiters[i];
	if (first) {
		first->fate = GRANTED;
		first->wakes++;
		m.granted++;
	}
	if (has_ended())
		wake_receiver();
}

static int goes_out(void)
{
	int item = m.inside[0];

	memmove(m.inside, m.inside + 1, --m.len * sizeof(int));
	place_comes_free();
	return item;
}

static int expected_send(void)
{
	return m.is_closed ? -EPIPE : has_place() ? 0 : -EAGAIN;
}

/* ---- the steps ---- */

static void try_send(void)
{
	int item = m.next++;
	int expected = expected_send();

	assert_int_equal(edo_mpsc_try_send(m.tx, &item), expected);
	if (expected == 0)
		comes_in(item);
}

static void try_recv(void)
{
	int item = -1;
	int rc = edo_mpsc_try_recv(m.rx, &item);

	if (m.is_receiving)
		assert_int_equal(rc, -EBUSY);
	else if (m.len == 0)
		assert_int_equal(rc, has_ended() ? -EPIPE : -EAGAIN);
	else
		assert_int_equal(rc, 0);
	if (rc == 0)
		assert_int_equal(item, goes_out());
}

static void poll_recv(void)
{
	edo_poll polled;

	if (!m.is_receiving)
		edo_mpsc_recv_start(&m.recv, m.rx, &m.received);
	polled = poll_as(&m.receiver, &m.recv.future);
	m.is_receiving = false;
	m.is_receiver_woken = false;
	if (m.len > 0) {
		assert_int_equal(polled, 0);
		assert_int_equal(m.received, goes_out());
	} else if (has_ended()) {
		assert_int_equal(polled, -EPIPE);
	} else {
		assert_int_equal(polled, EDO_PENDING);
		m.is_receiving = true;
		return;
	}
	edo_future_drop(&m.recv.future);
}

static void cut_recv(void)
{
	if (m.is_receiving)
		edo_future_drop(&m.recv.future);
	m.is_receiving = false;
	m.is_receiver_woken = false;
}

static int expected_poll(struct waiter *waiter)
{
	switch (waiter->fate) {
	case IDLE:
		return expected_send();
	case QUEUED:
		return -EAGAIN;
	case GRANTED:
		m.granted--;
		return 0;
	default:
		return -EPIPE;
	}
}

static void poll_send(void)
{
	struct waiter *waiter = &m.waiters[draw(WAITERS)];
	int expected;

	if (waiter->fate == IDLE) {
		waiter->item = m.next++;
		edo_mpsc_send_start(&waiter->send, m.tx, &waiter->item);
	}
	expected = expected_poll(waiter);
	assert_int_equal(poll_as(&waiter->sleeper, &waiter->send.future),
			 expected == -EAGAIN ? EDO_PENDING : expected);
	if (expected == -EAGAIN) {
		if (waiter->fate == IDLE)
			waiter->turn = m.turns++;
		waiter->fate = QUEUED;
		return;
	}
	waiter->fate = IDLE;
	edo_future_drop(&waiter->send.future);
	if (expected == 0)
		comes_in(waiter->item);
}

static void cut(struct waiter *waiter)
{
	enum fate fate = waiter->fate;

	if (fate == IDLE)
		return;
	edo_future_drop(&waiter->send.future);
	waiter->fate = IDLE;
	if (fate == GRANTED) {
		m.granted--;
		place_comes_free();
	}
}

static void cut_send(void)
{
	cut(&m.waiters[draw(WAITERS)]);
}

static void reserve(void)
{
	edo_mpsc_permit *permit = &m.permits[draw(PERMITS)];
	int expected = expected_send();

	if (permit->edo_channel_)
		return;
	assert_int_equal(edo_mpsc_try_reserve(m.tx, permit), expected);
	if (expected == 0)
		m.granted++;
}

static void use_permit(edo_mpsc_permit *permit, bool sends)
{
	int item = m.next++;

	if (!permit->edo_channel_)
		return;
	m.granted--;
	if (sends) {
		assert_int_equal(edo_mpsc_permit_send(permit, &item), 0);
		comes_in(item);
	} else {
		edo_mpsc_permit_drop(permit);
		place_comes_free();
	}
}

static void some_permit(void)
{
	use_permit(&m.permits[draw(PERMITS)], draw(2));
}

static void close_rarely(void)
{
	if (draw(40) > 0)
		return;
	edo_mpsc_rx_close(m.rx);
	m.is_closed = true;
	for (unsigned i = 0; i < WAITERS; i++) {
		if (m.waiters[i].fate != QUEUED)
			continue;
		m.waiters[i].fate = REFUSED;
		m.waiters[i].wakes++;
	}
	if (has_ended())
		wake_receiver();
}

static void check(void)
{
	assert_int_equal(edo_mpsc_tx_len(m.tx), m.len);
	assert_int_equal(m.receiver.wakes, m.receiver_wakes);
	for (unsigned i = 0; i < WAITERS; i++)
		assert_int_equal(m.waiters[i].sleeper.wakes, m.waiters[i].wakes);
}

static void open_channel(void)
{
	size_t capacity = 1 + draw(5);

	memset((char *)&m + offsetof(__typeof__(m), capacity), 0,
	       sizeof m - offsetof(__typeof__(m), capacity));
	m.capacity = draw(4) == 0 ? MOST_INSIDE : capacity;
	if (m.capacity == MOST_INSIDE)
		assert_int_equal(edo_mpsc_create_unbounded(&m.tx, &m.rx, sizeof(int)), 0);
	else
		assert_int_equal(edo_mpsc_create(&m.tx, &m.rx, sizeof(int), m.capacity), 0);
}

static void let_go(void)
{
	struct dropped dropped = { 0 };

	cut_recv();
	for (unsigned i = 0; i < WAITERS; i++)
		cut(&m.waiters[i]);
	for (unsigned i = 0; i < PERMITS; i++)
		use_permit(&m.permits[i], false);
	if (m.len == 0)
		assert_int_equal(edo_mpsc_set_drop(m.rx, note_drop, &dropped), 0);
	edo_mpsc_rx_release(m.rx);
	edo_mpsc_tx_release(m.tx);
	assert_int_equal(m.receiver.clones, 0);
	for (unsigned i = 0; i < WAITERS; i++)
		assert_int_equal(m.waiters[i].sleeper.clones, 0);
}

static void play(void)
{
	static void (*const steps[])(void) = { try_send,     try_recv,  poll_recv, cut_recv,
					       poll_send,    cut_send,  reserve,   some_permit,
					       close_rarely, poll_send, poll_recv };
	bool is_unbounded;

	open_channel();
	is_unbounded = m.capacity == MOST_INSIDE;
	for (unsigned i = 0; i < STEPS; i++) {
		void (*step)(void) = steps[draw(sizeof steps / sizeof steps[0])];

		if (is_unbounded && step == reserve)
			continue;
		step();
		check();
	}
	let_go();
}

static void random_steps_come_to_what_the_reference_says(void **state)
{
	const char *given = getenv("CHANNEL_SEED");
	uint64_t first = given ? strtoull(given, NULL, 10) : 1;
	unsigned rounds = given ? 1 : 2000 / edo_test_slowdown() + 10;

	(void)state;
	for (uint64_t seed = first; seed < first + rounds; seed++) {
		seed_in_play = seed;
		m.random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
		play();
		seed_in_play = 0;
	}
}

/* A failed assertion jumps past the rest of the test, and comes here. */
static int tell_seed(void **state)
{
	(void)state;
	if (seed_in_play)
		print_error("CHANNEL_SEED=%llu replays\n", (unsigned long long)seed_in_play);
	return 0;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_teardown(random_steps_come_to_what_the_reference_says, tell_seed),
};

EDO_TEST_MAIN(tests)
