/**
 * @file
 * Channels: how tasks and threads hand values to one another.
 *
 * A **oneshot** carries one item from one sender to one receiver. An **mpsc** carries any number from many
 * senders to one receiver, in order; bounded, it makes senders wait while it is full.
 *
 * Items are copied by their size, as memcpy() does: what a send was given belongs to the channel once the
 * send has returned 0, and to the receiver once a receive has. **After any other result the item is
 * untouched and still the sender's.** Items inside a channel start at multiples of their size from an
 * address aligned to 16.
 *
 * **Ownership.** A channel is allocated by its create function and freed when all of its ends (and permits)
 * have been given up. Each end is released exactly once, by its release function, whatever happened
 * before: neither a send nor a receive nor an error consumes an end. A wait that was started must be over or
 * dropped before its end is released.
 *
 * **Threads.** Everything here may be called from any thread, from fibers, from poll functions of stackless
 * tasks (the `_start` and `try_` forms; what waits says -EDEADLK there), and from plain threads that know
 * nothing of edo. Channels belong to no runtime. They are not for use across fork(): a child must not touch
 * them.
 *
 * **Waiting** allocates nothing: who waits stands in line in the future that waits (a plain thread's wait
 * is the exception, see edo_await()). Senders are served first come, first served.
 *
 * **Cancellation** loses nothing. A wait that is cut (-ECANCELED, -ETIMEDOUT) or dropped has neither sent nor
 * received, and the place that was granted to a sender goes to the next in line.
 *
 * A fiber that did not return at its runtime's end (edo_runtime_destroy() said -ETIMEDOUT) never releases its
 * ends: who waits for it from outside waits for ever.
 */
#ifndef EDO_SYNC_H
#define EDO_SYNC_H

#include <edo/detail/list_node.h>
#include <edo/future.h>

EDO_BEGIN_DECLS

/** What is done with an item that nobody will receive. @p item is NULL when items have no size. */
typedef void edo_item_drop_fn(void *item, void *context);

/** A place in a line, inside the futures that wait. Private; public only for its size. */
typedef struct edo_sync_wait {
	/* private: the line; who is woken; what came of it; whether its owner has ever stood in line */
	edo_list_node edo_node_;
	edo_waker edo_waker_;
	uint32_t edo_outcome_;
	bool edo_is_begun_;
} edo_sync_wait;

/* ---- mpsc ---- */

/** A right to send; shared by any number of tasks, counted by edo_mpsc_tx_retain(). */
typedef struct edo_mpsc_tx edo_mpsc_tx;
/** The right to receive. */
typedef struct edo_mpsc_rx edo_mpsc_rx;

/**
 * Creates a channel that holds at most @p capacity items of @p item_size bytes.
 *
 * The memory for all of them is taken here; sends and receives allocate nothing. Items may have no size:
 * then the channel counts, and item pointers may be NULL.
 *
 * @param tx  receives a sender
 * @param rx  receives the receiver
 * @return 0; -EINVAL: a capacity of 0, or more bytes than SSIZE_MAX; -ENOMEM. On failure both are NULL
 */
EDO_API EDO_NODISCARD int edo_mpsc_create(edo_mpsc_tx **tx, edo_mpsc_rx **rx, size_t item_size,
					  size_t capacity);

/**
 * Creates a channel without a bound: a send never waits for room, and says -ENOMEM when there is no memory.
 *
 * Memory is taken in blocks of 32 items, and a few blocks are kept, so that a channel that is emptied as fast
 * as it is filled allocates nothing.
 *
 * @return 0; -EINVAL: 32 items are more bytes than SSIZE_MAX; -ENOMEM. On failure both are NULL
 */
EDO_API EDO_NODISCARD int edo_mpsc_create_unbounded(edo_mpsc_tx **tx, edo_mpsc_rx **rx,
						    size_t item_size);

/**
 * From now on @p drop is called for each item that is still inside when the receiver is released. It runs
 * in edo_mpsc_rx_release(), must not wait, and may release ends, this channel's too.
 *
 * @return 0; -EBUSY: there is an item inside already; -EINVAL: no receiver
 */
EDO_API int edo_mpsc_set_drop(edo_mpsc_rx *rx, edo_item_drop_fn *drop, void *context);

/** @return @p tx, counted once more: it is to be released once more. */
EDO_API edo_mpsc_tx *edo_mpsc_tx_retain(edo_mpsc_tx *tx);

/** Gives a sender up. The last one's release ends the channel. NULL is ignored. */
EDO_API void edo_mpsc_tx_release(edo_mpsc_tx *tx);

/**
 * Gives the receiver up: every send fails from now on with -EPIPE, permits' sends too, and who waits to send
 * is woken to find out. Items inside go to the drop function. NULL is ignored.
 */
EDO_API void edo_mpsc_rx_release(edo_mpsc_rx *rx);

/**
 * Takes no more, but what is inside can still be received: every send that begins now fails with -EPIPE,
 * and so does each that waits and has not been granted its place. Permits and granted places may still be
 * used; the receiver gets -EPIPE when all items and all of those are gone. Again is harmless.
 */
EDO_API void edo_mpsc_rx_close(edo_mpsc_rx *rx);

/** @return how many items are inside, as of some moment during the call. Threads: any, either end. */
EDO_API size_t edo_mpsc_tx_len(const edo_mpsc_tx *tx);
/** As edo_mpsc_tx_len(). */
EDO_API size_t edo_mpsc_rx_len(const edo_mpsc_rx *rx);
/** @return how many items it can hold; SIZE_MAX: no bound. */
EDO_API size_t edo_mpsc_capacity(const edo_mpsc_tx *tx);

/** A send that waits. Storage: the caller's; the item and the sender must outlive it. */
typedef struct edo_mpsc_send_future {
	edo_future future;
	/** What the poll said last. */
	int result;
	/* private */
	uint32_t edo_reserved_;
	edo_mpsc_tx *edo_tx_;
	const void *edo_item_;
	edo_sync_wait edo_wait_;
} edo_mpsc_send_future;

/**
 * Sets @p send up; the item is copied when its place is there, not before. Results as edo_mpsc_send().
 */
EDO_API edo_future *edo_mpsc_send_start(edo_mpsc_send_future *send, edo_mpsc_tx *tx,
					const void *item);

/**
 * Sends @p item, waiting while the channel is full.
 *
 * A send always spends budget, also where it cannot have to wait, so a fiber that sends in a loop lets others
 * run; and it can be cut. For cleanup, and where nothing may come in between, there is edo_mpsc_try_send().
 *
 * @return 0: the channel has it; -EPIPE: nobody will receive it; -ENOMEM: an unbounded channel's; -EINVAL: no
 *         sender or no item; else as edo_await(). The item is the caller's unless it is 0.
 *         Cancel safe: nothing was sent
 */
EDO_API EDO_NODISCARD int edo_mpsc_send(edo_mpsc_tx *tx, const void *item);

/**
 * Sends @p item if that needs no wait. Looks at neither budget nor cancellation.
 *
 * @return 0; -EAGAIN: it is full, or others stand in line; else as edo_mpsc_send()
 */
EDO_API EDO_NODISCARD int edo_mpsc_try_send(edo_mpsc_tx *tx, const void *item);

/**
 * A place in a bounded channel that nobody else can take: what is sent by it never waits. It is used up by a
 * send or a drop, exactly one of them; until then the channel stays, and does not end. May be copied: then
 * one of the copies counts.
 */
typedef struct edo_mpsc_permit {
	/* private: the channel; NULL: none, or used up */
	edo_mpsc_tx *edo_channel_;
} edo_mpsc_permit;

/** A reservation that waits. Storage: the caller's; the permit's place and the sender must outlive it. */
typedef struct edo_mpsc_reserve_future {
	edo_future future;
	/** What the poll said last. */
	int result;
	/* private */
	uint32_t edo_reserved_;
	edo_mpsc_tx *edo_tx_;
	edo_mpsc_permit *edo_permit_;
	edo_sync_wait edo_wait_;
} edo_mpsc_reserve_future;

/** Sets @p reserve up. Results as edo_mpsc_reserve(). The permit is "none" until the result is 0. */
EDO_API edo_future *edo_mpsc_reserve_start(edo_mpsc_reserve_future *reserve, edo_mpsc_tx *tx,
					   edo_mpsc_permit *permit);

/**
 * Waits for a place, in one line with those who send.
 *
 * @param permit  receives the place; "none" on failure
 * @return 0: the permit is the caller's to use up; -EPIPE: closed; -EOPNOTSUPP: the channel has no bound;
 *         -EINVAL: no sender or no permit; else as edo_await(). Cancel safe: no place is lost
 */
EDO_API EDO_NODISCARD int edo_mpsc_reserve(edo_mpsc_tx *tx, edo_mpsc_permit *permit);

/** @return as edo_mpsc_reserve(), without a wait; -EAGAIN: it is full, or others stand in line. */
EDO_API EDO_NODISCARD int edo_mpsc_try_reserve(edo_mpsc_tx *tx, edo_mpsc_permit *permit);

/**
 * Sends @p item by @p permit, which is used up whatever this returns. Does not wait.
 *
 * @return 0; -EPIPE: the receiver was released, the item is still the caller's; -EINVAL: no permit, or no item
 *         (the permit then stays). After edo_mpsc_rx_close() it still works
 */
EDO_API EDO_NODISCARD int edo_mpsc_permit_send(edo_mpsc_permit *permit, const void *item);

/** Gives the place back: to the next in line, if there is one. "None" is ignored. */
EDO_API void edo_mpsc_permit_drop(edo_mpsc_permit *permit);

/** A receive that waits. Storage: the caller's; the item's place and the receiver must outlive it. */
typedef struct edo_mpsc_recv_future {
	edo_future future;
	/** What the poll said last. */
	int result;
	/* private */
	bool edo_is_waiting_;
	edo_mpsc_rx *edo_rx_;
	void *edo_items_;
	size_t edo_max_;
} edo_mpsc_recv_future;

/** Sets @p recv up for one item. Results as edo_mpsc_recv(). */
EDO_API edo_future *edo_mpsc_recv_start(edo_mpsc_recv_future *recv, edo_mpsc_rx *rx, void *item);

/**
 * Receives an item into @p item, waiting while there is none.
 *
 * @return 0; -EPIPE: the end: nothing is inside, and nothing will come; -EBUSY: another wait of this receiver
 *         is going on; -EINVAL: no receiver or no place for the item; else as edo_await().
 *         Cancel safe: no item is lost
 */
EDO_API EDO_NODISCARD int edo_mpsc_recv(edo_mpsc_rx *rx, void *item);

/** @return as edo_mpsc_recv(), without a wait; -EAGAIN: there is none now. Looks at no cancellation. */
EDO_API EDO_NODISCARD int edo_mpsc_try_recv(edo_mpsc_rx *rx, void *item);

/** Sets @p recv up for what is there, at most @p max items. Results as edo_mpsc_recv_many(). */
EDO_API edo_future *edo_mpsc_recv_many_start(edo_mpsc_recv_future *recv, edo_mpsc_rx *rx,
					     void *items, size_t max);

/**
 * Receives what is there, at most @p max items, into the array @p items; waits while there is nothing.
 * Costs one unit of budget however many they are.
 *
 * @return how many, at least 1; -EINVAL also when @p max is 0; else as edo_mpsc_recv()
 */
EDO_API EDO_NODISCARD int edo_mpsc_recv_many(edo_mpsc_rx *rx, void *items, size_t max);

/** A wait for the end of a channel's receiver. Storage: the caller's; the sender must outlive it. */
typedef struct edo_mpsc_closed_future {
	edo_future future;
	/** What the poll said last. */
	int result;
	/* private */
	uint32_t edo_reserved_;
	edo_mpsc_tx *edo_tx_;
	edo_sync_wait edo_wait_;
} edo_mpsc_closed_future;

/**
 * Sets @p closed up to be ready when the receiver has closed the channel or was released: whoever produces
 * for it may stop. Any number may wait so. Results: 0; -EINVAL: no sender.
 */
EDO_API edo_future *edo_mpsc_closed_start(edo_mpsc_closed_future *closed, edo_mpsc_tx *tx);

/* ---- oneshot ---- */

/** The right to send one item. */
typedef struct edo_oneshot_tx edo_oneshot_tx;
/** The right to receive it. */
typedef struct edo_oneshot_rx edo_oneshot_rx;

/**
 * Creates a channel for one item of @p size bytes; 0 is legal (an event).
 *
 * Threads: each end may be used from any thread, by one at a time; its waits may be going on meanwhile.
 *
 * @return 0; -EINVAL: a size above SSIZE_MAX; -ENOMEM. On failure both are NULL
 */
EDO_API EDO_NODISCARD int edo_oneshot_create(edo_oneshot_tx **tx, edo_oneshot_rx **rx, size_t size);

/**
 * @p drop is called for an item that was sent and not received when the receiver is released; as
 * edo_mpsc_set_drop().
 *
 * @return 0; -EBUSY: the item is inside already, or was; -EINVAL: no receiver
 */
EDO_API int edo_oneshot_set_drop(edo_oneshot_rx *rx, edo_item_drop_fn *drop, void *context);

/**
 * Sends @p item. Never waits, and looks at neither budget nor cancellation.
 *
 * @return 0; -EPIPE: the receiver has gone, the item is untouched and the caller's; -EALREADY: one was sent
 *         already; -EINVAL: no sender or no item
 */
EDO_API EDO_NODISCARD int edo_oneshot_send(edo_oneshot_tx *tx, const void *item);

/** A receive that waits. Storage: the caller's; the item's place and the receiver must outlive it. */
typedef struct edo_oneshot_recv_future {
	edo_future future;
	/** What the poll said last. */
	int result;
	/* private */
	bool edo_is_waiting_;
	edo_oneshot_rx *edo_rx_;
	void *edo_item_;
} edo_oneshot_recv_future;

/** Sets @p recv up. Results as edo_oneshot_recv(). */
EDO_API edo_future *edo_oneshot_recv_start(edo_oneshot_recv_future *recv, edo_oneshot_rx *rx,
					   void *item);

/**
 * Receives the item, waiting until it is sent.
 *
 * @return 0; -EPIPE: none will come: the sender was released, or the item was received already; -EBUSY: another
 *         wait of this receiver is going on; -EINVAL: no receiver or no place for the item; else as
 *         edo_await(). Cancel safe: the item stays
 */
EDO_API EDO_NODISCARD int edo_oneshot_recv(edo_oneshot_rx *rx, void *item);

/** @return as edo_oneshot_recv(), without a wait; -EAGAIN: nothing was sent yet. Looks at no cancellation. */
EDO_API EDO_NODISCARD int edo_oneshot_try_recv(edo_oneshot_rx *rx, void *item);

/** A wait for the receiver's end. Storage: the caller's; the sender must outlive it. */
typedef struct edo_oneshot_closed_future {
	edo_future future;
	/** What the poll said last. */
	int result;
	/* private */
	bool edo_is_waiting_;
	edo_oneshot_tx *edo_tx_;
} edo_oneshot_closed_future;

/**
 * Sets @p closed up to be ready when the receiver was released: whoever works on the answer may stop.
 * Results: 0; -EBUSY: another wait of this sender is going on; -EINVAL: no sender.
 */
EDO_API edo_future *edo_oneshot_closed_start(edo_oneshot_closed_future *closed, edo_oneshot_tx *tx);

/** Gives the sender up; with nothing sent the receiver gets -EPIPE. NULL is ignored. */
EDO_API void edo_oneshot_tx_release(edo_oneshot_tx *tx);

/** Gives the receiver up; an item that is inside goes to the drop function. NULL is ignored. */
EDO_API void edo_oneshot_rx_release(edo_oneshot_rx *rx);

EDO_END_DECLS

#endif
