/*
 * Reading and writing: one future for all of it.
 *
 * Each poll finds the registration by the identity that the first one took down, so a stream closed,
 * moved or opened anew under a wait is -EBADF. Then, as often as it takes:
 *
 *   ready by the cached readiness?  no: wait, unless the stream has been idle too long
 *   spend budget, make the call     mark it, so that a close by another thread waits for it
 *   EAGAIN, or a short count        clear exactly the readiness that was seen (R2)
 *
 * A short count, more than nothing and less than asked for, means that the socket was drained, or is full:
 * the EAGAIN that would say so is saved. Not once the peer has ended its stream, for the end
 * is still to be read (p44); and not when out-of-band data has been seen, at which reads stop short.
 *
 * Idle limit. Bytes that move restart it. An operation that waits begins it, if it is the first one to do
 * so since then. What is ready is never timed out: the call is tried first.
 *
 * What a future holds between polls is a claim on its direction and the task's waker; a drop and a
 * result let both go. No lock is held over a call.
 */
#include "base/hot.h"
#include "base/assert.h"
#include "base/sys.h"
#include "leaf/net/net.h"
#include <edo/fiber.h>
#include <errno.h>

enum { IOV_COUNT_MAX = 1024 };

enum kind { READ, READV, WRITE, WRITEV, WRITE_ALL };

/* One poll's view of an operation. */
struct operation {
	edo_tcp_io *io;
	struct edo_driver *driver;
	struct edo_scheduled_io *sio;
	enum edo_direction direction;
};

static edo_tcp_io *io_of(edo_future *future)
{
	return edo_container_of(future, edo_tcp_io, future);
}

static enum edo_direction direction_of(const edo_tcp_io *io)
{
	return io->edo_kind_ <= READV ? EDO_READING : EDO_WRITING;
}

/* ---- the end ---- */

static void drop_io(edo_future *future)
{
	edo_tcp_io *io = io_of(future);

	if (!io->edo_is_claimed_)
		return;
	io->edo_is_claimed_ = false;
	edo_net_let_go(io->edo_driver_, io->edo_index_, io->edo_generation_, direction_of(io));
}

/* A write_all's count may not fit; `done` has it. */
static edo_poll finish(edo_tcp_io *io, ssize_t result)
{
	drop_io(&io->future);
	io->result = result;
	return (edo_poll)result;
}

static edo_poll finish_unclaimed(const struct operation *op, ssize_t result)
{
	edo_tcp_io *io = op->io;

	edo_io_unclaim(op->sio, io->edo_generation_, op->direction, &io->edo_is_claimed_);
	io->result = result;
	return (edo_poll)result;
}

/* The stream's own failure, as edo_tcp_last_error() tells it. */
static edo_poll fail(const struct operation *op, int error)
{
	edo_store(&op->sio->last_error, error, relaxed); /* a number by itself */
	return finish_unclaimed(op, error);
}

/* ---- the beginning ---- */

static bool is_sound(const edo_tcp_io *io)
{
	if (io->edo_kind_ != READV && io->edo_kind_ != WRITEV)
		return true;
	return io->edo_iov_count_ >= 0 && io->edo_iov_count_ <= IOV_COUNT_MAX &&
	       (io->edo_iov_ || io->edo_iov_count_ == 0);
}

/* Takes down which registration the operation is for. */
static void begin(edo_tcp_io *io)
{
	const edo_tcp *stream = io->edo_stream_;

	io->edo_has_begun_ = true;
	io->edo_driver_ = stream->edo_driver_;
	io->edo_index_ = stream->edo_index_;
	io->edo_generation_ = stream->edo_generation_;
}

/* The object still is what it was when the operation began, and is not a dead original. */
static int check_stream(const edo_tcp_io *io, struct edo_scheduled_io *sio)
{
	edo_tcp *stream = io->edo_stream_;

	if (stream->edo_generation_ != io->edo_generation_ ||
	    stream->edo_index_ != io->edo_index_ || !edo_net_may_use(stream, direction_of(io)))
		return -EBADF;
	return edo_io_adopt(sio, edo_net_holder_of(stream), stream, &stream->edo_epoch_);
}

static int find(struct operation *op, const edo_context *cx)
{
	const edo_tcp_io *io = op->io;
	int rc = edo_net_poll_own_driver(cx, io->edo_driver_, &op->driver);

	if (rc < 0)
		return rc;
	op->sio = edo_io_find(&op->driver->io, io->edo_index_, io->edo_generation_);
	return op->sio ? check_stream(io, op->sio) : -EBADF;
}

/* ---- the call ---- */

static const struct iovec *iov_of(const edo_tcp_io *io)
{
	return io->edo_kind_ == READV || io->edo_kind_ == WRITEV ? io->edo_iov_ : &io->edo_single_;
}

/* How many bytes the next call asks for, at most what one call moves. */
static size_t wanted(const edo_tcp_io *io)
{
	const struct iovec *iov = iov_of(io);
	size_t sum = 0;

	for (int i = 0; i < io->edo_iov_count_ && sum < EDO_NET_COUNT_MAX; i++) {
		size_t room = EDO_NET_COUNT_MAX - sum;

		sum += iov[i].iov_len < room ? iov[i].iov_len : room;
	}
	return sum;
}

static ssize_t make_call(const edo_tcp_io *io, int fd)
{
	switch ((enum kind)io->edo_kind_) {
	case READ:
		return edo_sys_recv(fd, io->edo_single_.iov_base, io->edo_single_.iov_len);
	case READV:
		return edo_sys_readv(fd, io->edo_iov_, io->edo_iov_count_);
	case WRITEV:
		return edo_sys_sendv(fd, io->edo_iov_, io->edo_iov_count_);
	default:
		return edo_sys_send(fd, io->edo_single_.iov_base, io->edo_single_.iov_len);
	}
}

/* *is_refused: there was no call, the result says why. */
static ssize_t call(const struct operation *op, bool *is_refused)
{
	int rc = edo_io_call_begin(op->sio, op->io->edo_generation_, op->direction);
	ssize_t n;

	*is_refused = rc < 0;
	if (rc < 0)
		return rc;
	n = make_call(op->io, op->sio->fd);
	edo_io_call_end(op->sio, op->direction);
	return n;
}

/* ---- after the call ---- */

static bool may_clear_when_short(const struct operation *op, edo_ready seen)
{
	if (op->direction == EDO_WRITING)
		return !seen.write_closed;
	/* Relaxed: the bit was there before the readiness that we saw, or its event comes after. */
	return !seen.read_closed && !(edo_load(&op->sio->readiness, relaxed) & EDO_IS_PRIORITY);
}

static bool has_limit(const struct operation *op)
{
	return edo_load(&op->sio->idle_limit, relaxed) != 0; /* looked at again where it matters */
}

/*
 * Progress starts the limit anew. For whoever waits in the other direction it is moved now; for whoever waits
 * later it need not be, the next wait begins it. So a stream that one task uses reads one clock a round
 * trip, when it waits.
 */
static void restart_limit(const struct operation *op)
{
	struct edo_scheduled_io *sio = op->sio;
	enum edo_direction other = op->direction == EDO_READING ? EDO_WRITING : EDO_READING;

	/*
	 * Sequentially consistent, as in order_after_claim(): of a wait that begins in the other
	 * direction meanwhile, we see the claim, or it sees that the limit is to be begun.
	 */
	(void)edo_exchange(&sio->idle_started, 0, seq_cst);
	if (edo_load(&sio->claimed[other], seq_cst))
		edo_io_idle_progress(&op->driver->time, sio, edo_time_now(&op->driver->time));
}

static void note_progress(const struct operation *op, size_t n)
{
	op->io->done += n;
	op->io->edo_is_timed_ = false;
	if (has_limit(op))
		restart_limit(op);
}

/* Bytes have moved, or the stream has ended. EDO_PENDING: there is more to do. */
static edo_poll after_success(const struct operation *op, size_t n, size_t asked, edo_ready seen)
{
	edo_tcp_io *io = op->io;

	if (n > 0)
		note_progress(op, n);
	if (n > 0 && n < asked && may_clear_when_short(op, seen))
		edo_io_clear(op->sio, op->direction, seen);
	if (io->edo_kind_ != WRITE_ALL)
		return finish_unclaimed(op, (ssize_t)n);
	io->edo_single_.iov_base = (char *)io->edo_single_.iov_base + n;
	io->edo_single_.iov_len -= n;
	return io->edo_single_.iov_len > 0 ? EDO_PENDING : finish_unclaimed(op, 0);
}

/* ---- waiting ---- */

/*
 * Having claimed its direction, a wait looks whether the limit is to be begun. Both sequentially consistent:
 * see restart_limit(). Nothing is changed here, edo_io_idle_begin() looks again.
 */
static void order_after_claim(const struct operation *op)
{
	(void)edo_fetch_or(&op->sio->claimed[op->direction], 0, seq_cst);
	(void)edo_load(&op->sio->idle_started, seq_cst);
}

/*
 * The first wait of an operation takes down how often the limit has passed so far, also while there is
 * none: one may be set before the wait ends.
 */
static void begin_limit(const struct operation *op)
{
	edo_tcp_io *io = op->io;
	struct edo_time_driver *time = &op->driver->time;

	io->edo_is_timed_ = true;
	if (has_limit(op)) {
		order_after_claim(op);
		edo_io_idle_begin(time, op->sio, edo_time_now(time), &io->edo_idle_seen_);
	} else { /* Relaxed: a number by itself, only compared with what it is later. */
		io->edo_idle_seen_ = edo_load(&op->sio->idle_expirations, relaxed);
	}
}

static edo_poll wait_for_readiness(const struct operation *op)
{
	edo_tcp_io *io = op->io;

	if (!io->edo_is_timed_)
		begin_limit(op);
	else if (has_limit(op) && edo_io_idle_expired(&op->driver->time, op->sio,
						      io->edo_generation_, io->edo_idle_seen_))
		return fail(op, -ETIMEDOUT);
	return EDO_PENDING;
}

/* EDO_READY: a call may be made now; the budget for it is spent. */
static edo_poll poll_readiness(const struct operation *op, edo_context *cx, edo_ready *ready)
{
	edo_tcp_io *io = op->io;
	edo_poll polled = edo_io_poll_ready(op->sio, io->edo_generation_, op->direction,
					    &io->edo_is_claimed_, cx, ready);

	if (polled == EDO_PENDING)
		return wait_for_readiness(op);
	if (polled < 0)
		return finish_unclaimed(op, polled);
	return edo_coop_spend(cx) ? EDO_READY : EDO_PENDING;
}

static edo_poll move_bytes(const struct operation *op, edo_context *cx)
{
	size_t asked = wanted(op->io);
	bool is_refused;
	edo_ready ready;
	edo_poll polled;
	ssize_t n;

	if (asked == 0)
		return finish_unclaimed(op, 0);
	do {
		polled = poll_readiness(op, cx, &ready);
		if (polled != EDO_READY)
			return polled;
		n = call(op, &is_refused);
		if (is_refused)
			return finish_unclaimed(op, n);
		if (n >= 0) {
			polled = after_success(op, (size_t)n, asked, ready);
			asked = wanted(op->io);
		} else if (n == -EAGAIN) {
			edo_coop_refund(cx);
			edo_io_clear(op->sio, op->direction, ready);
			polled = EDO_PENDING;
		} else {
			polled = fail(op, (int)n);
		}
	} while (polled == EDO_PENDING);
	return polled;
}

EDO_HOT static edo_poll poll_io(edo_future *future, edo_context *cx)
{
	struct operation op = { .io = io_of(future), .direction = direction_of(io_of(future)) };
	bool is_first = !op.io->edo_has_begun_;
	int rc;

	if (is_first)
		begin(op.io);
	rc = find(&op, cx);
	if (rc == 0 && !is_sound(op.io))
		rc = -EINVAL;
	if (rc < 0)
		return finish(op.io, rc);
	/* A failure of earlier does not stand for this one, which may be cut short from outside. */
	if (is_first && edo_load(&op.sio->last_error, relaxed))
		edo_store(&op.sio->last_error, 0, relaxed);
	return move_bytes(&op, cx);
}

EDO_FUTURE_OPS(io_ops, edo_tcp_io, future, poll_io, drop_io);

/* ---- starting ---- */

static edo_future *start(edo_tcp_io *io, edo_tcp *stream, enum kind kind, const struct iovec *iov,
			 int count)
{
	io->future.ops = &io_ops;
	io->result = 0;
	io->done = 0;
	io->edo_stream_ = stream;
	io->edo_iov_ = iov;
	io->edo_iov_count_ = count;
	io->edo_kind_ = (uint8_t)kind;
	io->edo_has_begun_ = false;
	io->edo_is_claimed_ = false;
	io->edo_is_timed_ = false;
	return &io->future;
}

static edo_future *start_single(edo_tcp_io *io, edo_tcp *stream, enum kind kind, const void *buf,
				size_t len)
{
	io->edo_single_.iov_base = (void *)(uintptr_t)buf;
	io->edo_single_.iov_len = len;
	return start(io, stream, kind, NULL, 1);
}

EDO_HOT edo_future *edo_tcp_read_start(edo_tcp_io *io, edo_tcp *stream, void *buf, size_t len)
{
	return start_single(io, stream, READ, buf, len);
}

edo_future *edo_tcp_write_start(edo_tcp_io *io, edo_tcp *stream, const void *buf, size_t len)
{
	return start_single(io, stream, WRITE, buf, len);
}

EDO_HOT edo_future *edo_tcp_write_all_start(edo_tcp_io *io, edo_tcp *stream, const void *buf,
					    size_t len)
{
	return start_single(io, stream, WRITE_ALL, buf, len);
}

edo_future *edo_tcp_readv_start(edo_tcp_io *io, edo_tcp *stream, const struct iovec *iov, int count)
{
	return start(io, stream, READV, iov, count);
}

edo_future *edo_tcp_writev_start(edo_tcp_io *io, edo_tcp *stream, const struct iovec *iov,
				 int count)
{
	return start(io, stream, WRITEV, iov, count);
}

/* ---- waiting functions ---- */

/* The fate of the wait, or what the operation came to. */
static ssize_t await_io(edo_tcp_io *io)
{
	int rc = edo_await(&io->future);

	return rc < 0 ? rc : io->result;
}

EDO_HOT ssize_t edo_tcp_read(edo_tcp *stream, void *buf, size_t len)
{
	edo_tcp_io io;

	edo_tcp_read_start(&io, stream, buf, len);
	return await_io(&io);
}

ssize_t edo_tcp_readv(edo_tcp *stream, const struct iovec *iov, int count)
{
	edo_tcp_io io;

	edo_tcp_readv_start(&io, stream, iov, count);
	return await_io(&io);
}

ssize_t edo_tcp_write(edo_tcp *stream, const void *buf, size_t len)
{
	edo_tcp_io io;

	edo_tcp_write_start(&io, stream, buf, len);
	return await_io(&io);
}

ssize_t edo_tcp_writev(edo_tcp *stream, const struct iovec *iov, int count)
{
	edo_tcp_io io;

	edo_tcp_writev_start(&io, stream, iov, count);
	return await_io(&io);
}

EDO_HOT ssize_t edo_tcp_write_all(edo_tcp *stream, const void *buf, size_t len)
{
	edo_tcp_io io;

	edo_tcp_write_all_start(&io, stream, buf, len);
	return await_io(&io);
}
