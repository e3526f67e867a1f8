/**
 * @file
 * Stackless tasks: a function that is left at an await and entered again where it was left.
 *
 *     struct session {
 *             edo_async async;        // first
 *             edo_tcp conn;           // what must survive an await lives here,
 *             edo_tcp_io io;          // not in local variables
 *     };
 *
 *     static edo_poll session_poll(edo_future *future, edo_context *cx)
 *     {
 *             struct session *me = edo_container_of(future, struct session, async.future);
 *
 *             EDO_BEGIN(me, cx);
 *             ...
 *             EDO_AWAIT(&me->io.future);      // may be inside loops, ifs and switches
 *             ...
 *             EDO_END(0);
 *     }
 *
 *     EDO_ASYNC_OPS(session_ops, struct session, async, session_poll, session_drop);
 *
 * Local variables lose their values at each EDO_AWAIT. The whole state of the task is the struct:
 * no stack, no allocation after the spawn.
 *
 * With gcc and clang the body uses labels as values, of which -Wpedantic warns. EDO_ASYNC_STANDARD_C, defined
 * before this header is included, makes it standard C: then no EDO_AWAIT may stand inside a switch of the
 * task's own, nor two on one line.
 */
#ifndef EDO_ASYNC_H
#define EDO_ASYNC_H

#include <edo/future.h>
#include <errno.h>

EDO_BEGIN_DECLS

/** The head of a stackless task's struct: where it resumes and what it awaits. */
typedef struct edo_async {
	edo_future future;
	/** The result of the last EDO_AWAIT: 0 or a count, or a negated errno value. */
	int result;
	/* private: where it was left (NULL: not begun), what is awaited there */
	void *edo_resume_;
	edo_future *edo_awaiting_;
} edo_async;

/** An initialiser for the edo_async in a struct whose ops are @p ops_name. */
#define EDO_ASYNC(ops_name)                                                                        \
	{                                                                                          \
		{ &(ops_name) }, 0, NULL, NULL                                                     \
	}

/** Sets @p async up to run under @p ops, for storage that is not initialised in its declaration. */
static inline void edo_async_init(edo_async *async, const edo_future_ops *ops)
{
	async->future.ops = ops;
	async->result = 0;
	async->edo_resume_ = NULL;
	async->edo_awaiting_ = NULL;
}

/** Drops the wait in progress, if any. Call it from the task's drop function; again is harmless. */
static inline void edo_async_drop(edo_async *async)
{
	edo_future *awaiting = async->edo_awaiting_;

	async->edo_awaiting_ = NULL;
	if (awaiting)
		edo_future_drop(awaiting);
}

/** What a stackless task waits for: its edo_future_ops::awaits. */
EDO_API const edo_future *edo_async_awaits(const edo_future *future, unsigned n);

/** As EDO_FUTURE_OPS(), for structs that begin with an edo_async: a dump then says where such a task waits. */
#define EDO_ASYNC_OPS(name, type, member, poll_fn, drop_fn)                                        \
	EDO_STATIC_ASSERT(offsetof(type, member) == 0, "the edo_async must come first in " #type); \
	EDO_FUTURE_OPS_AWAITING(name, type, member.future, poll_fn, drop_fn, edo_async_awaits)

/* The one int that a task cannot end with would read as "not yet". */
static inline void edo_async_set_result(edo_async *async, int result)
{
	async->result = result == EDO_PENDING ? -ERANGE : result;
}

/*
 * One poll of what is awaited; the wait is dropped as soon as its result is there. A future that spends
 * no budget by itself must not let the task go on for ever: then the await spends a unit. With none left
 * the task gives way once, its result in hand, and goes on at its next poll.
 */
static inline bool edo_async_step(edo_async *async, edo_context *cx)
{
	uint32_t budget = cx->edo_budget_;
	edo_poll polled;

	if (!async->edo_awaiting_)
		return true;
	polled = edo_future_poll(async->edo_awaiting_, cx);
	if (polled == EDO_PENDING)
		return false;
	async->result = polled;
	edo_async_drop(async);
	return cx->edo_budget_ != budget || edo_coop_spend(cx);
}

EDO_END_DECLS

#define EDO_DETAIL_JOIN_(a, b) a##b
#define EDO_DETAIL_JOIN(a, b) EDO_DETAIL_JOIN_(a, b)

#define EDO_DETAIL_ENDED ((void *)UINTPTR_MAX)

#if defined(__GNUC__) && !defined(EDO_ASYNC_STANDARD_C)
/* Through a register that says nothing: gcc takes a label kept in the struct for a dangling pointer. */
static inline void edo_async_resume_at(edo_async *async, void *label)
{
	__asm__("" : "+r"(label));
	async->edo_resume_ = label;
}

/* Labels as values: an await may stand inside the task's own switch. */
#define EDO_DETAIL_RESUME_POINT(async, label)                                                      \
	edo_async_resume_at((async), __extension__ &&label);                                       \
label:
#define EDO_DETAIL_OPEN(async)                                                                     \
	if ((async)->edo_resume_ == EDO_DETAIL_ENDED)                                              \
		goto edo_ended_;                                                                   \
	if ((async)->edo_resume_)                                                                  \
	goto *(async)->edo_resume_
#define EDO_DETAIL_CLOSE(async)                                                                    \
edo_ended_:                                                                                        \
	(async)->edo_resume_ = EDO_DETAIL_ENDED;
#else
/*
 * Standard C (other compilers, or EDO_ASYNC_STANDARD_C defined): the body of the task is one switch over
 * the lines of its awaits, so none may stand inside a switch of the task's own, nor two on one line.
 */
/* clang-format off */
#define EDO_DETAIL_RESUME_POINT(async, label)                                                      \
	(async)->edo_resume_ = (void *)(uintptr_t)__LINE__;                                        \
	if (0) {                                                                                   \
	case __LINE__:;                                                                            \
	}
#define EDO_DETAIL_OPEN(async)                                                                     \
	switch ((uintptr_t)(async)->edo_resume_) {                                                 \
	case 0:
#define EDO_DETAIL_CLOSE(async)                                                                    \
	default:                                                                                   \
	edo_ended_:                                                                                \
		(async)->edo_resume_ = EDO_DETAIL_ENDED;                                           \
	}
/* clang-format on */
#endif

/** Opens the body of a poll function; @p me points at the struct whose member `async` is. */
#define EDO_BEGIN(me, cx)                                                                          \
	edo_async *const edo_async_ = &(me)->async;                                                \
	edo_context *const edo_cx_ = (cx);                                                         \
	(void)edo_cx_; /* a body without an await */                                               \
	EDO_DETAIL_OPEN(edo_async_)

/**
 * Waits for @p future, which must live in the struct (or outlive the wait otherwise). Its result is
 * in `me->async.result` afterwards, and where the future keeps one, in its own `result` field.
 * The wait is dropped on every way out: with the result, and when the task is aborted.
 */
#define EDO_AWAIT(awaited)                                                                         \
	do {                                                                                       \
		edo_async_->edo_awaiting_ = (awaited);                                             \
		EDO_DETAIL_RESUME_POINT(edo_async_, EDO_DETAIL_JOIN(edo_resume_at_, __LINE__))     \
		if (!edo_async_step(edo_async_, edo_cx_))                                          \
			return EDO_PENDING;                                                        \
	} while (0)

/** Ends the task early with @p value; anywhere between EDO_BEGIN and EDO_END. */
#define EDO_RETURN(value)                                                                          \
	do {                                                                                       \
		edo_async_set_result(edo_async_, (value));                                         \
		goto edo_ended_;                                                                   \
	} while (0)

/** Closes the body: the task ends with the int @p value. */
#define EDO_END(value)                                                                             \
	EDO_RETURN(value);                                                                         \
	EDO_DETAIL_CLOSE(edo_async_)                                                               \
	return edo_async_->result

#endif
