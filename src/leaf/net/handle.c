/*
 * From the objects that users hold to the registrations they name, and back to the system: net.h tells
 * the rules.
 *
 * The driver is this thread's own, which is entered and hence alive, or is found by its number and held
 * for the length of the call. No lock is held when a function here returns.
 */
#include "base/hot.h"
#include "base/assert.h"
#include "base/sys.h"
#include "leaf/net/net.h"
#include <errno.h>

/* ---- finding ---- */

static void let_driver_go(struct edo_net_use *use)
{
	if (use->is_held)
		edo_driver_release(use->driver);
	use->is_held = false;
}

int edo_net_slot_begin(struct edo_net_use *use, uint32_t driver, uint32_t index,
		       uint32_t generation)
{
	struct edo_driver *own = edo_current_driver();

	if (driver == 0)
		return -EBADF;
	use->is_locked = false;
	use->is_held = !own || own->id != driver;
	use->driver = use->is_held ? edo_driver_hold(driver) : own;
	if (!use->driver)
		return -ESHUTDOWN;
	use->sio = edo_io_find(&use->driver->io, index, generation);
	if (use->sio)
		return 0;
	let_driver_go(use);
	return -EBADF;
}

void edo_net_end(struct edo_net_use *use)
{
	if (use->is_locked)
		edo_lock_release(&use->sio->lock, EDO_RANK_IO);
	use->is_locked = false;
	let_driver_go(use);
}

static int ended_unless_ok(struct edo_net_use *use, int rc)
{
	if (rc < 0)
		edo_net_end(use);
	return rc;
}

int edo_net_stream_begin(struct edo_net_use *use, edo_tcp *stream)
{
	int rc = edo_net_slot_begin(use, stream->edo_driver_, stream->edo_index_,
				    stream->edo_generation_);

	if (rc < 0)
		return rc;
	return ended_unless_ok(use, edo_io_adopt(use->sio, edo_net_holder_of(stream), stream,
						 &stream->edo_epoch_));
}

int edo_net_listener_begin(struct edo_net_use *use, edo_tcp_listener *listener)
{
	int rc = edo_net_slot_begin(use, listener->edo_driver_, listener->edo_index_,
				    listener->edo_generation_);

	if (rc < 0)
		return rc;
	return ended_unless_ok(use, edo_io_adopt(use->sio, 0, listener, &listener->edo_epoch_));
}

/* Whoever ends the registration moves the generation under the lock, before the descriptor is closed. */
static int lock_for_call(struct edo_net_use *use, uint32_t generation)
{
	edo_lock_acquire(&use->sio->lock, EDO_RANK_IO);
	use->is_locked = true;
	if (edo_load(&use->sio->generation, relaxed) == generation) /* under the lock */
		return 0;
	edo_net_end(use);
	return -EBADF;
}

int edo_net_stream_call_begin(struct edo_net_use *use, edo_tcp *stream)
{
	int rc = edo_net_stream_begin(use, stream);

	return rc < 0 ? rc : lock_for_call(use, stream->edo_generation_);
}

int edo_net_listener_call_begin(struct edo_net_use *use, edo_tcp_listener *listener)
{
	int rc = edo_net_listener_begin(use, listener);

	return rc < 0 ? rc : lock_for_call(use, listener->edo_generation_);
}

/* ---- in polls ---- */

int edo_net_poll_driver(const edo_context *cx, struct edo_driver **driver)
{
	*driver = cx->edo_driver_;
	if (!*driver) {
		edo_misuse("polled where no runtime is entered");
		return -EINVAL;
	}
	if (!(*driver)->has_io) {
		edo_misuse("the runtime was made without I/O");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* The unusual cases of the function below. */
static int why_not_own(const edo_context *cx, uint32_t id)
{
	if (id == 0)
		return -EBADF;
	if (!edo_driver_is_alive(id))
		return -ESHUTDOWN;
	if (!cx->edo_driver_) {
		edo_misuse("polled where no runtime is entered");
		return -EINVAL;
	}
	edo_misuse("the socket belongs to another runtime");
	return -EXDEV;
}

EDO_HOT int edo_net_poll_own_driver(const edo_context *cx, uint32_t id, struct edo_driver **driver)
{
	*driver = cx->edo_driver_;
	if (EDO_LIKELY(*driver && (*driver)->id == id))
		return 0;
	return why_not_own(cx, id);
}

void edo_net_let_go(uint32_t driver, uint32_t index, uint32_t generation,
		    enum edo_direction direction)
{
	struct edo_net_use use;
	bool claimed = true;

	if (edo_net_slot_begin(&use, driver, index, generation) < 0)
		return;
	edo_io_unclaim(use.sio, generation, direction, &claimed);
	edo_net_end(&use);
}

/* ---- registering and closing ---- */

static int adopt(struct edo_driver *driver, int fd, uint32_t readiness, edo_tcp *stream)
{
	struct edo_registration registration;
	int rc = edo_io_register(&driver->io, fd, readiness, &registration);

	if (rc < 0)
		return rc;
	*stream = (edo_tcp){
		.edo_driver_ = registration.driver,
		.edo_index_ = registration.index,
		.edo_generation_ = registration.generation,
		.edo_epoch_ = registration.epoch,
		.edo_fd_ = registration.fd,
		.edo_half_ = EDO_NET_WHOLE,
	};
	return 0;
}

int edo_net_adopt_socket(struct edo_driver *driver, int fd, edo_tcp *stream)
{
	return adopt(driver, fd, EDO_IS_WRITABLE, stream);
}

int edo_net_adopt_unready(struct edo_driver *driver, int fd, edo_tcp *stream)
{
	return adopt(driver, fd, 0, stream);
}

/*
 * When the poller does not know the descriptor any more, it was closed under us, and its number may be
 * somebody else's by now: then it must not be closed again (p45, p47).
 */
static bool is_still_ours(int deregistered)
{
	return deregistered != -EBADF && deregistered != -ENOENT && deregistered != -EPERM;
}

/* A poller that could not forget it goes on telling of it; nobody listens (R3). */
int edo_net_deregister(const struct edo_net_use *use, uint32_t index, uint32_t generation)
{
	return is_still_ours(edo_io_deregister(&use->driver->io, index, generation)) ? 0 : -EBADF;
}

int edo_net_close_slot(struct edo_net_use *use, uint32_t index, uint32_t generation)
{
	int fd = use->sio->fd;
	int rc = edo_net_deregister(use, index, generation);

	if (rc == 0)
		(void)edo_sys_close(fd);
	return rc;
}

/* ---- socket options, as the system calls them ---- */

int edo_net_set_int(int fd, int level, int name, int value)
{
	return edo_sys_setsockopt(fd, level, name, &value, sizeof value);
}

int edo_net_get_int(int fd, int level, int name, int *value)
{
	socklen_t len = sizeof *value;

	return edo_sys_getsockopt(fd, level, name, value, &len);
}

int edo_net_set_buffers(int fd, int send, int receive)
{
	int rc = 0;

	if (send < 0 || receive < 0)
		return -EINVAL;
	if (send > 0)
		rc = edo_net_set_int(fd, SOL_SOCKET, SO_SNDBUF, send);
	if (rc == 0 && receive > 0)
		rc = edo_net_set_int(fd, SOL_SOCKET, SO_RCVBUF, receive);
	return rc;
}
