/*
 * The ends of a stream's life: from a descriptor and back to one, split, shutdown and close.
 *
 * Close is complete on return, from any thread: the registration ends first, which only one of several
 * callers can bring about, then the descriptor is closed. Waits of other tasks find the registration gone.
 *
 * Halves. The registration has a holder and an epoch for each; a whole stream uses the first one's. A
 * split hands both to new objects, so that the whole is a dead original. `halves` counts those that
 * are still open; whoever closes the last one closes the socket. A half's close has two steps, since several
 * threads may close it, and the other half, at once: its object is made dead, which only one can bring
 * about; then the half is given up.
 */
#include "base/assert.h"
#include "base/sys.h"
#include "leaf/net/net.h"
#include <errno.h>
#include <string.h>

/* Holds what nobody may use any more: no object of a user's has this address. */
static const char nobody;

static enum edo_direction direction_of_half(const edo_tcp *half)
{
	return half->edo_half_ == EDO_NET_WRITER ? EDO_WRITING : EDO_READING;
}

/* ---- closing ---- */

/* How many halves are open; a descriptor that was never split counts none, and has one owner. */
static unsigned open_halves(struct edo_scheduled_io *sio)
{
	unsigned count;

	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	count = sio->halves;
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	return count;
}

/* True: it was the last one. */
static bool give_half_up(struct edo_scheduled_io *sio)
{
	bool is_last;

	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	is_last = sio->halves <= 1;
	if (!is_last)
		sio->halves--;
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	return is_last;
}

/* A waiter of the closed half looks again, and finds that its object is dead. */
static void wake_direction(struct edo_scheduled_io *sio, enum edo_direction direction)
{
	edo_waker waker;

	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	waker = sio->waiting[direction];
	sio->waiting[direction] = (edo_waker){ NULL, NULL };
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	edo_lock_assert_none();
	edo_waker_wake(&waker);
}

/* Only one of several callers can make the half's object dead. */
static int kill_half(struct edo_net_use *use, const edo_tcp *half)
{
	uint32_t epoch = edo_load(&half->edo_epoch_, relaxed); /* compared under the lock */

	return edo_io_adopt(use->sio, edo_net_holder_of(half), &nobody, &epoch);
}

/*
 * The half is given up last: until then the other one's close, on another thread, is not the last, and
 * the descriptor's number cannot be a stranger's when the writer's direction is ended.
 */
static int close_half(struct edo_net_use *use, const edo_tcp *half)
{
	enum edo_direction direction = direction_of_half(half);
	uint32_t index = half->edo_index_;
	uint32_t generation = half->edo_generation_;
	int rc = kill_half(use, half);

	if (rc < 0)
		return rc;
	if (direction == EDO_WRITING && open_halves(use->sio) > 1)
		(void)edo_sys_shutdown(use->sio->fd, SHUT_WR);
	if (give_half_up(use->sio))
		return edo_net_close_slot(use, index, generation);
	wake_direction(use->sio, direction);
	return 0;
}

static int close_found(struct edo_net_use *use, const edo_tcp *stream)
{
	if (stream->edo_half_ != EDO_NET_WHOLE)
		return close_half(use, stream);
	return edo_net_close_slot(use, stream->edo_index_, stream->edo_generation_);
}

/*
 * The runtime is gone, and with it what could tell a second close through another copy: this object at
 * least can. Of two halves the reader closes, since nobody can tell any more who is the last: a
 * number closed twice may be somebody else's, one left open is not.
 */
static int close_orphan(edo_tcp *stream)
{
	if (stream->edo_half_ != EDO_NET_WRITER)
		(void)edo_sys_close(stream->edo_fd_);
	memset(stream, 0, sizeof *stream);
	return 0;
}

int edo_tcp_close(edo_tcp *stream)
{
	struct edo_net_use use;
	int rc = edo_net_stream_begin(&use, stream);

	if (rc == -ESHUTDOWN)
		return close_orphan(stream);
	if (rc < 0)
		return rc;
	rc = close_found(&use, stream);
	edo_net_end(&use);
	return rc;
}

int edo_tcp_shutdown(edo_tcp *stream, edo_shut how)
{
	static const int hows[] = { [EDO_SHUT_RD] = SHUT_RD,
				    [EDO_SHUT_WR] = SHUT_WR,
				    [EDO_SHUT_RDWR] = SHUT_RDWR };
	struct edo_net_use use;
	int rc;

	if ((unsigned)how > EDO_SHUT_RDWR)
		return -EINVAL;
	if ((how != EDO_SHUT_WR && !edo_net_may_use(stream, EDO_READING)) ||
	    (how != EDO_SHUT_RD && !edo_net_may_use(stream, EDO_WRITING)))
		return -EBADF;
	rc = edo_net_stream_call_begin(&use, stream);
	if (rc < 0)
		return rc;
	rc = edo_sys_shutdown(use.sio->fd, hows[how]);
	edo_net_end(&use);
	return rc;
}

/* ---- splitting ---- */

/* Two steps, by way of nobody: so every copy of the whole is dead, wherever the halves are put. */
static int become_half(struct edo_scheduled_io *sio, edo_tcp *half, enum edo_net_half which)
{
	unsigned holder = which == EDO_NET_WRITER;
	int rc;

	half->edo_half_ = which;
	half->edo_epoch_ =
		edo_load(&sio->epoch[holder], relaxed); /* ours alone: we hold the whole */
	rc = edo_io_adopt(sio, holder, &nobody, &half->edo_epoch_);
	return rc < 0 ? rc : edo_io_adopt(sio, holder, half, &half->edo_epoch_);
}

static int split(struct edo_scheduled_io *sio, const edo_tcp *whole, edo_tcp *reader,
		 edo_tcp *writer)
{
	edo_tcp original = *whole;
	int rc;

	*reader = original;
	*writer = original;
	rc = become_half(sio, reader, EDO_NET_READER);
	if (rc == 0)
		rc = become_half(sio, writer, EDO_NET_WRITER);
	edo_lock_acquire(&sio->lock, EDO_RANK_IO);
	sio->halves = 2;
	edo_lock_release(&sio->lock, EDO_RANK_IO);
	return rc;
}

int edo_tcp_split(edo_tcp *whole, edo_tcp *reader, edo_tcp *writer)
{
	struct edo_net_use use;
	int rc;

	if (reader == writer)
		return -EINVAL;
	if (whole->edo_half_ != EDO_NET_WHOLE)
		return -EBADF;
	rc = edo_net_stream_begin(&use, whole);
	if (rc < 0)
		return rc;
	rc = split(use.sio, whole, reader, writer);
	edo_net_end(&use);
	return rc;
}

/* ---- descriptors from elsewhere ---- */

/* 0: a connected, non-blocking stream socket. */
static int check_socket(int fd)
{
	edo_addr peer = { .len = sizeof peer.sockaddr };
	int type = 0;
	int rc = edo_sys_is_nonblocking(fd);

	if (rc < 0)
		return rc;
	if (rc == 0) {
		edo_misuse("the descriptor is blocking (set O_NONBLOCK first)"); /* p49 */
		return -EINVAL;
	}
	rc = edo_net_get_int(fd, SOL_SOCKET, SO_TYPE, &type);
	if (rc == -ENOTSOCK || (rc == 0 && type != SOCK_STREAM))
		return -EINVAL;
	return rc < 0 ? rc : edo_sys_getpeername(fd, &peer.sockaddr.any, &peer.len);
}

int edo_tcp_from_fd(edo_tcp *stream, int fd)
{
	struct edo_driver *driver = edo_current_driver();
	int rc;

	memset(stream, 0, sizeof *stream);
	if (!driver) {
		edo_misuse("this thread has entered no runtime");
		return -EINVAL;
	}
	if (!driver->has_io)
		return -EOPNOTSUPP;
	rc = check_socket(fd);
	return rc < 0 ? rc : edo_net_adopt_socket(driver, fd, stream);
}

int edo_tcp_into_fd(edo_tcp *stream)
{
	struct edo_net_use use;
	int fd;
	int rc;

	if (stream->edo_half_ != EDO_NET_WHOLE)
		return -EBADF;
	rc = edo_net_stream_begin(&use, stream);
	if (rc < 0)
		return rc;
	fd = use.sio->fd;
	rc = edo_net_deregister(&use, stream->edo_index_, stream->edo_generation_);
	edo_net_end(&use);
	return rc < 0 ? rc : fd;
}

int edo_tcp_fd(edo_tcp *stream)
{
	struct edo_net_use use;
	int fd;
	int rc = edo_net_stream_begin(&use, stream);

	if (rc < 0)
		return rc;
	fd = use.sio->fd;
	edo_net_end(&use);
	return fd;
}
