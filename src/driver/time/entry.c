/*
 * Timer entries, their owner's side: poll, reset, arm, drop.
 *
 * T4. The cell (node.when) is what owner and driver share. What it holds says whose the entry is:
 *
 *     a tick             in a wheel: links, place and waker belong to the shard's lock. The owner may read
 *                        what it alone writes (waker, home), and make the tick later by compare-and-swap
 *     FIRED, SHUTDOWN    out of the wheel, stored by the driver as its last access: all is the owner's,
 *                        and the bytes in the waker field are nobody's
 *     UNARMED, 0         out of the wheel, stored by the owner: as FIRED
 *
 * So an owner that has read FIRED or SHUTDOWN (acquire) touches neither lock nor shard, and a timer
 * that has fired outlives its runtime. Any other look that matters is taken again under the lock.
 *
 * T2. A waker is cloned before the lock is taken, dropped and woken after it is released.
 * T5. Arming reads no clock, and makes a system call only to wake a driver that sleeps for longer.
 */
#include "base/thread.h"
#include "shard.h"
#include <errno.h>

/* What a reset found: the entry is in no wheel, to be armed by whoever waits for it. */
enum { NOT_IN_A_WHEEL = 1 };

void edo_entry_init(edo_timer_entry *entry)
{
	*entry = (edo_timer_entry){ .edo_node_ = { .when = EDO_TICK_UNARMED } };
}

bool edo_entry_has_fired(const edo_timer_entry *entry)
{
	/* Acquire: pairs with the release in fire(), turn.c. */
	return edo_load(&entry->edo_node_.when, acquire) == EDO_TICK_FIRED;
}

bool edo_entry_is_armed(const edo_timer_entry *entry)
{
	/* Acquire: when it says no, the storage is the caller's. */
	return edo_cell_is_tick(edo_load(&entry->edo_node_.when, acquire));
}

/* Relaxed: the entry is out of the wheel, so the driver does not look. */
static void set_cell(edo_timer_entry *entry, uint64_t signal)
{
	edo_store(edo_cell_of(entry), signal, relaxed);
}

/* Under its shard's lock, which orders it against the driver: relaxed. */
static bool is_still_armed(edo_timer_entry *entry)
{
	return edo_cell_is_tick(edo_load(edo_cell_of(entry), relaxed));
}

/* What a poll says of an entry that it has found, under the shard's lock, to be in no wheel any more. */
static edo_poll outcome(const edo_timer_entry *entry)
{
	/* Relaxed: the driver's last store was made under that lock. */
	return edo_load(&entry->edo_node_.when, relaxed) == EDO_TICK_SHUTDOWN ? -ESHUTDOWN :
										EDO_READY;
}

/* p20. Whatever the links of a copy say, they are the original's. */
static bool was_moved(const edo_timer_entry *entry)
{
	if (EDO_LIKELY(!edo_entry_has_moved(entry)))
		return false;
	edo_misuse("a timer was copied or moved while it was armed");
	return true;
}

/* Whether an armed entry may be used through this driver. 0, -EXDEV (p19), -EINVAL (p20). */
static int check_home(const struct edo_time_driver *time, const edo_timer_entry *entry)
{
	if (!time || entry->edo_node_.spare32 != time->driver_id)
		return -EXDEV;
	return was_moved(entry) ? -EINVAL : 0;
}

/* ---- arming ---- */

/* Under the lock. Whether the driver must be unparked comes back through *unpark. 0, -ETIME, -ESHUTDOWN. */
static int file(struct edo_time_driver *time, struct edo_time_shard *shard, edo_timer_entry *entry,
		uint64_t tick, bool *unpark)
{
	int rc;

	if (shard->closed)
		return -ESHUTDOWN;
	edo_entry_set_home(entry, time, shard);
	rc = edo_wheel_insert(&shard->wheel, &entry->edo_node_, tick);
	*unpark = rc == 0 && edo_next_wake_disturb(time, tick);
	return rc;
}

/*
 * Arms an entry that is in no wheel; the waker moves into it, unless it fails.
 * On -ETIME it has fired, on -ESHUTDOWN it is as it was.
 */
static int arm_with(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
		    edo_waker *waker)
{
	struct edo_time_shard *shard = edo_time_own_shard(time);
	bool unpark = false;
	int rc;

	edo_shard_lock(shard);
	rc = file(time, shard, entry, tick, &unpark);
	if (rc == 0)
		entry->edo_waker_ = *waker;
	edo_shard_unlock(shard);
	if (unpark)
		edo_time_unpark(time);
	if (rc == -ETIME)
		set_cell(entry, EDO_TICK_FIRED);
	return rc;
}

static int arm(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
	       const edo_waker *waker)
{
	edo_waker clone = edo_waker_clone(waker);
	int rc = arm_with(time, entry, tick, &clone);

	if (rc < 0)
		edo_waker_drop(&clone);
	return rc;
}

/* ---- polling ---- */

/*
 * p16: a combinator may poll again and again without coming back to the driver. The clock is read once a
 * task poll; one that stands has nothing new to say.
 */
static bool has_passed(const struct edo_time_driver *time, uint64_t tick, edo_context *cx)
{
	return !edo_time_is_paused(time) &&
	       edo_time_instant_of(time, tick) <= edo_time_poll_now(time, cx);
}

/* Takes an entry that may still be armed out of the wheel, leaving `signal`. Its waker, or none. */
static edo_waker take_out(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t signal)
{
	struct edo_time_shard *shard = edo_entry_shard(time, entry);
	edo_waker waker = { NULL, NULL };

	edo_shard_lock(shard);
	if (is_still_armed(entry)) {
		(void)edo_wheel_remove(&shard->wheel, &entry->edo_node_);
		waker = entry->edo_waker_;
		set_cell(entry, signal);
	}
	edo_shard_unlock(shard);
	return waker;
}

static edo_poll fire_on_the_spot(struct edo_time_driver *time, edo_timer_entry *entry)
{
	edo_waker waker = take_out(time, entry, EDO_TICK_FIRED);

	edo_waker_drop(&waker);
	return outcome(entry);
}

static edo_poll change_waker(struct edo_time_driver *time, edo_timer_entry *entry,
			     const edo_waker *waker)
{
	struct edo_time_shard *shard = edo_entry_shard(time, entry);
	edo_waker other = edo_waker_clone(waker);
	edo_waker old = other;
	bool is_armed;

	edo_shard_lock(shard);
	is_armed = is_still_armed(entry);
	if (is_armed) {
		old = entry->edo_waker_;
		entry->edo_waker_ = other;
	}
	edo_shard_unlock(shard);
	edo_waker_drop(&old);
	return is_armed ? EDO_PENDING : outcome(entry);
}

static edo_poll poll_armed(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
			   edo_context *cx)
{
	int rc = check_home(time, entry);

	if (rc < 0)
		return rc;
	if (has_passed(time, tick, cx))
		return fire_on_the_spot(time, entry);
	/* Without the lock: only the owner writes the waker. */
	if (edo_waker_will_wake(&entry->edo_waker_, cx->waker))
		return EDO_PENDING;
	return change_waker(time, entry, cx->waker);
}

static edo_poll poll_unarmed(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
			     edo_context *cx)
{
	int rc = time ? arm(time, entry, tick, cx->waker) : -EINVAL;

	if (rc == 0)
		return EDO_PENDING;
	return rc == -ETIME ? EDO_READY : rc;
}

edo_poll edo_entry_poll(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
			edo_context *cx)
{
	/* Acquire: pairs with the driver's last store (T4). */
	uint64_t cell = edo_load(edo_cell_of(entry), acquire);

	if (edo_cell_is_tick(cell))
		return poll_armed(time, entry, cell, cx);
	if (cell == EDO_TICK_FIRED)
		return EDO_READY;
	if (cell == EDO_TICK_SHUTDOWN)
		return -ESHUTDOWN;
	return poll_unarmed(time, entry, tick, cx);
}

/* ---- resetting ---- */

/* The entry is in no wheel: forget that it has fired. */
static int rearm_later(edo_timer_entry *entry, uint64_t cell)
{
	if (cell == EDO_TICK_SHUTDOWN)
		return -ESHUTDOWN;
	set_cell(entry, EDO_TICK_UNARMED);
	return NOT_IN_A_WHEEL;
}

/*
 * Under its shard's lock, which is this thread's own. When the tick has passed the entry fires here, and
 * its waker goes to *woken, for the caller to wake outside.
 */
static int refile(struct edo_time_driver *time, struct edo_time_shard *shard,
		  edo_timer_entry *entry, uint64_t tick, edo_waker *woken, bool *unpark)
{
	if (shard->closed)
		return -ESHUTDOWN;
	if (edo_wheel_reset(&shard->wheel, &entry->edo_node_, tick) == 0) {
		*unpark = edo_next_wake_disturb(time, tick);
		return 0;
	}
	*woken = entry->edo_waker_;
	set_cell(entry, EDO_TICK_FIRED);
	return 0;
}

static int move_within_shard(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick)
{
	struct edo_time_shard *shard = edo_time_own_shard(time);
	edo_waker woken = { NULL, NULL };
	bool unpark = false, is_armed;
	int rc = 0;

	edo_shard_lock(shard);
	is_armed = is_still_armed(entry);
	if (is_armed)
		rc = refile(time, shard, entry, tick, &woken, &unpark);
	edo_shard_unlock(shard);
	if (!is_armed) /* Relaxed: the driver's last store was made under the lock. */
		return rearm_later(entry, edo_load(edo_cell_of(entry), relaxed));
	if (unpark)
		edo_time_unpark(time);
	edo_waker_wake(&woken);
	return rc;
}

/* Two locks of one rank are never held together, so between them the entry is unarmed. */
static int move_to_own_shard(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick)
{
	edo_waker waker = take_out(time, entry, EDO_TICK_UNARMED);
	/* Relaxed: whoever took it out of the wheel did so under the lock that we had. */
	uint64_t cell = edo_load(edo_cell_of(entry), relaxed);
	int rc;

	if (cell != EDO_TICK_UNARMED)
		return rearm_later(entry, cell);
	rc = arm_with(time, entry, tick, &waker);
	if (rc < 0)
		edo_waker_wake(&waker);
	return rc == -ETIME ? 0 : rc;
}

/* 0: moved, or fired at once; NOT_IN_A_WHEEL; or an error, and nothing has changed. */
static int move(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick)
{
	/* Acquire: pairs with the driver's last store (T4). */
	uint64_t cell = edo_load(edo_cell_of(entry), acquire);

	while (edo_cell_is_tick(cell)) {
		int rc = check_home(time, entry);

		if (rc < 0)
			return rc;
		if (tick < cell)
			return edo_entry_shard(time, entry) == edo_time_own_shard(time) ?
				       move_within_shard(time, entry, tick) :
				       move_to_own_shard(time, entry, tick);
		/*
		 * Later: the wheel finds out when the entry's place opens. Won, it needs no order, for
		 * the tick carries nothing else; lost, the driver has fired it: acquire, which C
		 * demands of both.
		 */
		if (edo_compare_exchange(edo_cell_of(entry), &cell, tick, acquire, acquire))
			return 0;
	}
	return rearm_later(entry, cell);
}

int edo_entry_reset(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick)
{
	int rc = move(time, entry, tick);

	return rc < 0 ? rc : 0;
}

int edo_entry_arm(struct edo_time_driver *time, edo_timer_entry *entry, uint64_t tick,
		  const edo_waker *waker)
{
	int rc = move(time, entry, tick);

	if (rc != NOT_IN_A_WHEEL)
		return rc;
	return time ? arm(time, entry, tick, waker) : -EINVAL;
}

/* ---- dropping ---- */

enum { NAP_NS = 50000 };

/*
 * The entry's driver has left the table of numbers, on another thread, which has not emptied its wheels
 * yet but is about to. Only then may the storage go.
 */
static void await_shutdown(const edo_timer_entry *entry)
{
	uint32_t word = 0;

	while (edo_entry_is_armed(entry))
		(void)edo_sys_futex_wait(&word, 0, NAP_NS);
}

/* Of another runtime than this thread's, or of one that is ending. */
static edo_waker take_out_from_afar(edo_timer_entry *entry)
{
	struct edo_time_driver *time = edo_time_shutting_down(entry->edo_node_.spare32);
	edo_waker waker = { NULL, NULL };

	if (time)
		return take_out(time, entry, EDO_TICK_UNARMED);
	time = edo_time_hold(entry->edo_node_.spare32);
	if (!time) {
		await_shutdown(entry);
		return waker;
	}
	waker = take_out(time, entry, EDO_TICK_UNARMED);
	edo_time_release(time);
	return waker;
}

static void drop_armed(edo_timer_entry *entry)
{
	struct edo_time_driver *time = edo_time_own(entry->edo_node_.spare32);
	edo_waker waker =
		time ? take_out(time, entry, EDO_TICK_UNARMED) : take_out_from_afar(entry);

	edo_waker_drop(&waker);
}

edo_waker edo_entry_take(struct edo_time_driver *time, edo_timer_entry *entry)
{
	if (edo_entry_is_armed(entry))
		return take_out(time, entry, EDO_TICK_UNARMED);
	return (edo_waker){ NULL, NULL };
}

void edo_entry_drop(edo_timer_entry *entry)
{
	if (edo_entry_is_armed(entry)) {
		if (was_moved(entry))
			edo_entry_init(entry);
		else
			drop_armed(entry);
	}
	/* Relaxed: it is out of the wheel, and this thread has seen that. */
	if (edo_load(edo_cell_of(entry), relaxed) == EDO_TICK_SHUTDOWN)
		set_cell(entry, EDO_TICK_UNARMED);
}
