/**
 * @file
 * Futures: values that are not there yet.
 *
 * A future is a struct that begins with an edo_future and knows how to be polled: each poll does
 * what can be done without waiting, and either has the result or arranges for the context's waker
 * to be woken and says EDO_PENDING. Nothing happens between polls, and nothing is allocated.
 *
 * **Ownership.** The caller owns the storage. A future may be copied (moved) until it is polled for
 * the first time, never after that until its result is there or it has been dropped.
 */
#ifndef EDO_FUTURE_H
#define EDO_FUTURE_H

#include <edo/detail/base.h>
#include <edo/waker.h>
#include <limits.h>
#include <stdbool.h>

EDO_BEGIN_DECLS

/**
 * What a poll says: EDO_PENDING, or the future's result. A result is 0 (EDO_READY) or a count when
 * it worked, a negated errno value when not. Larger results are fields of the future's own struct.
 */
typedef int edo_poll;

/** The future is done and all went well. */
#define EDO_READY 0
/** Not yet: the waker of the context will be woken. No errno value is as small as this. */
#define EDO_PENDING INT_MIN

/** The head of every future; a pointer to it is how a future is handed about. */
typedef struct edo_future edo_future;

/** What a kind of future can do, and how large it is. Made by EDO_FUTURE_OPS(). */
typedef struct edo_future_ops {
	/**
	 * Does what can be done now. Must not block, and must not call anything that waits
	 * (edo_await() and its kin say -EDEADLK inside a poll). A wake may be spurious: look again.
	 * After it has returned a result it is not polled again.
	 */
	edo_poll (*poll)(edo_future *future, edo_context *cx);
	/**
	 * Drops the wait: forgets the waker, and lets go of what the future itself owns. Complete
	 * on return. Legal at any time, before the first poll and after the result too, and called
	 * at least once by whoever owns the future; so it must bear being called again.
	 */
	void (*drop)(edo_future *future);
	/** The size of the whole struct, which a spawn copies into its task. */
	uint32_t size;
	/** Its alignment, at most 16. */
	uint16_t align;
	/** For the library: EDO_FUTURE_… flags, 0 in yours. */
	uint16_t flags;
	/** The struct's name, for dumps. */
	const char *name;
	/**
	 * For dumps: the @p n-th future that this one waits for, counted from 0; NULL: it waits for no more. NULL here:
	 * it waits for none. Called while nobody polls it.
	 */
	const edo_future *(*awaits)(const edo_future *future, unsigned n);
} edo_future_ops;

/** The first member of every future's struct. */
struct edo_future {
	/** What it can do; set by its `_start` or `_init` function, or by you in futures of your own. */
	const edo_future_ops *ops;
};

/**
 * Defines `static const edo_future_ops name` for futures of type @p type, whose first member is (or
 * begins with) the edo_future @p member; compilation fails when it does not come first.
 */
#define EDO_FUTURE_OPS(name, type, member, poll_fn, drop_fn)                                       \
	EDO_FUTURE_OPS_AWAITING(name, type, member, poll_fn, drop_fn, NULL)

/** As EDO_FUTURE_OPS(), for futures round others: with edo_future_ops::awaits. */
#define EDO_FUTURE_OPS_AWAITING(name, type, member, poll_fn, drop_fn, awaits_fn)                   \
	EDO_STATIC_ASSERT(offsetof(type, member) == 0, "the future must come first in " #type);    \
	EDO_STATIC_ASSERT(EDO_ALIGNOF(type) <= 16, #type " must not be aligned to more than 16");  \
	static const edo_future_ops name = {                                                       \
		poll_fn, drop_fn,  (uint32_t)sizeof(type), (uint16_t)EDO_ALIGNOF(type), 0,         \
		#type,   awaits_fn                                                                 \
	}

struct edo_driver;

/**
 * What a poll is given: the waker to be woken, and what lasts for one poll of a task only.
 *
 * A future that polls others inside it hands them the same context. Whoever polls futures by hand
 * (from a loop of their own) makes one with edo_context_init() for each round of polls.
 */
struct edo_context {
	/** Woken when it is worth polling again. Clone it to keep it beyond the poll. */
	const edo_waker *waker;
	/* private: the drivers of the runtime that polls, or NULL; the clock as read in this poll, 0
	 * when it was not; what is left of the coop budget */
	struct edo_driver *edo_driver_;
	uint64_t edo_now_;
	uint32_t edo_budget_;
	uint32_t edo_reserved_;
};

/**
 * Makes a context for one round of polls by hand, with a full coop budget and the drivers of the
 * runtime that this thread has entered, if any. @p waker must outlive it.
 */
EDO_API void edo_context_init(edo_context *cx, const edo_waker *waker);

/** Polls @p future once. */
static inline edo_poll edo_future_poll(edo_future *future, edo_context *cx)
{
	return future->ops->poll(future, cx);
}

/** Drops the wait of @p future; see edo_future_ops::drop. */
static inline void edo_future_drop(edo_future *future)
{
	future->ops->drop(future);
}

/**
 * Spends one unit of the task's budget for this poll (128), so that a task that never runs out of
 * work lets others run. Call it in a poll function just before a result is handed out.
 *
 * @return true: go on. False: the budget is used up, the task has been woken and the poll must
 *         return EDO_PENDING with nothing lost
 */
EDO_API EDO_NODISCARD bool edo_coop_spend(edo_context *cx);

/** Gives back a unit that edo_coop_spend() took, for a poll that then made no progress. */
EDO_API void edo_coop_refund(edo_context *cx);

EDO_END_DECLS

#endif
