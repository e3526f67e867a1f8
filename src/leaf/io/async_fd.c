/*
 * Any descriptor in the reactor: registration, the wait for readiness, and the clear after EAGAIN.
 *
 * An edo_async_fd names its registration by the driver's number, index and generation, so use after a
 * drop or after the runtime's end is an error, never somebody else's registration (R3). The driver is
 * this thread's own, or found by its number and held for the length of a call.
 */
#include "base/assert.h"
#include "base/sys.h"
#include "driver/driver.h"
#include "task/task.h"
#include <edo/fiber.h>
#include <edo/io.h>
#include <errno.h>

enum {
	ALL_INTERESTS = EDO_READABLE | EDO_WRITABLE | EDO_PRIORITY,
	READING_INTERESTS = EDO_READABLE | EDO_PRIORITY,
};

/* ---- which driver ---- */

/* A driver for the length of a call. */
struct borrowed {
	struct edo_driver *driver; /* NULL: it is gone */
	bool is_held;
};

/* This thread's own costs nothing: whoever has entered a runtime keeps it alive. */
static struct borrowed borrow(uint32_t id)
{
	struct edo_driver *own = edo_current_driver();

	if (own && own->id == id)
		return (struct borrowed){ own, false };
	own = edo_driver_hold(id);
	return (struct borrowed){ own, own != NULL };
}

static void give_back(struct borrowed borrowed)
{
	if (borrowed.is_held)
		edo_driver_release(borrowed.driver);
}

static struct edo_scheduled_io *find(struct borrowed borrowed, const edo_async_fd *afd)
{
	if (!borrowed.driver || !borrowed.driver->has_io)
		return NULL;
	return edo_io_find(&borrowed.driver->io, afd->edo_index_, afd->edo_generation_);
}

/* The same for an object of the user's: NULL also when it is the dead original of a move. */
static struct edo_scheduled_io *use(struct borrowed borrowed, edo_async_fd *afd)
{
	struct edo_scheduled_io *sio = find(borrowed, afd);

	return sio && edo_io_adopt(sio, 0, afd, &afd->edo_epoch_) == 0 ? sio : NULL;
}

static bool was_ever_registered(const edo_async_fd *afd)
{
	return afd->edo_driver_ != 0 && afd->edo_generation_ != 0;
}

/* ---- registering ---- */

static void set_dead(edo_async_fd *afd)
{
	*afd = (edo_async_fd){ .edo_fd_ = -1 };
}

static bool is_interest(uint32_t interest)
{
	return interest != 0 && (interest & ~(uint32_t)ALL_INTERESTS) == 0;
}

static int find_driver(struct edo_driver **driver)
{
	*driver = edo_current_driver();
	if (!*driver)
		return -EINVAL;
	return (*driver)->has_io ? 0 : -EOPNOTSUPP;
}

/* A plain file is -EPERM, also when it is blocking, as plain files are: so the kernel is asked first. */
static int register_nonblocking(struct edo_io_driver *io, int fd,
				struct edo_registration *registration)
{
	int is_nonblocking = edo_sys_is_nonblocking(fd);
	int rc;

	if (is_nonblocking < 0)
		return is_nonblocking;
	rc = edo_io_register(io, fd, 0, registration);
	if (rc < 0 || is_nonblocking)
		return rc;
	(void)edo_io_deregister(io, registration->index, registration->generation);
	return -EINVAL;
}

static edo_async_fd name_of(const struct edo_registration *registration, uint32_t interest)
{
	return (edo_async_fd){
		.edo_driver_ = registration->driver,
		.edo_index_ = registration->index,
		.edo_generation_ = registration->generation,
		.edo_epoch_ = registration->epoch,
		.edo_fd_ = registration->fd,
		.edo_interest_ = interest,
	};
}

int edo_async_fd_init(edo_async_fd *afd, int fd, edo_interest interest)
{
	struct edo_registration registration;
	struct edo_driver *driver;
	int rc;

	set_dead(afd);
	if (!is_interest((uint32_t)interest))
		return -EINVAL;
	rc = find_driver(&driver);
	if (rc < 0) {
		edo_misuse("this thread has entered no runtime with I/O");
		return rc;
	}
	rc = register_nonblocking(&driver->io, fd, &registration);
	if (rc == -EINVAL)
		edo_misuse("the descriptor is blocking (set O_NONBLOCK first)");
	if (rc == 0)
		*afd = name_of(&registration, (uint32_t)interest);
	return rc;
}

static int drop_registered(struct borrowed borrowed, edo_async_fd *afd)
{
	if (!borrowed.driver)
		return -ESHUTDOWN;
	if (!use(borrowed, afd))
		return -EBADF;
	return edo_io_deregister(&borrowed.driver->io, afd->edo_index_, afd->edo_generation_);
}

int edo_async_fd_drop(edo_async_fd *afd)
{
	struct borrowed borrowed;
	int rc;

	if (!was_ever_registered(afd))
		return -EBADF;
	borrowed = borrow(afd->edo_driver_);
	rc = drop_registered(borrowed, afd);
	give_back(borrowed);
	set_dead(afd);
	return rc;
}

int edo_async_fd_get(edo_async_fd *afd)
{
	struct borrowed borrowed;
	bool is_alive;

	if (!was_ever_registered(afd))
		return -EBADF;
	borrowed = borrow(afd->edo_driver_);
	is_alive = use(borrowed, afd) != NULL;
	give_back(borrowed);
	return is_alive ? afd->edo_fd_ : -EBADF;
}

/* No events at all: an error alone ended a wait for out-of-band data, which is a kind of reading. */
static void clear_directions(struct edo_scheduled_io *sio, edo_ready ready)
{
	if ((ready.events & READING_INTERESTS) || ready.events == 0)
		edo_io_clear(sio, EDO_READING, ready);
	if (ready.events & EDO_WRITABLE)
		edo_io_clear(sio, EDO_WRITING, ready);
}

void edo_async_fd_clear(edo_async_fd *afd, edo_ready ready)
{
	struct edo_scheduled_io *sio;
	struct borrowed borrowed;

	if (!was_ever_registered(afd))
		return;
	borrowed = borrow(afd->edo_driver_);
	sio = use(borrowed, afd);
	if (sio)
		clear_directions(sio, ready);
	give_back(borrowed);
}

/* ---- waiting ---- */

/* Bit n of the future's mask: the direction n is claimed. */
static struct edo_io_claim claim_of(const edo_async_fd_future *wait)
{
	return (struct edo_io_claim){ .held = {
					      [EDO_READING] = wait->edo_claimed_ & 1,
					      [EDO_WRITING] = wait->edo_claimed_ & 2,
				      } };
}

static uint16_t mask_of(struct edo_io_claim claim)
{
	return (uint16_t)((claim.held[EDO_READING] ? 1u : 0u) |
			  (claim.held[EDO_WRITING] ? 2u : 0u));
}

static void unclaim(edo_async_fd_future *wait, struct edo_scheduled_io *sio)
{
	struct edo_io_claim claim = claim_of(wait);
	uint32_t generation = wait->edo_afd_.edo_generation_;

	edo_io_unclaim(sio, generation, EDO_READING, &claim.held[EDO_READING]);
	edo_io_unclaim(sio, generation, EDO_WRITING, &claim.held[EDO_WRITING]);
	wait->edo_claimed_ = 0;
}

/* The driver that polls must be the descriptor's own. */
static int check_driver(const edo_async_fd *afd, const struct edo_driver *driver)
{
	if (!was_ever_registered(afd))
		return -EBADF;
	if (driver && driver->id == afd->edo_driver_)
		return 0;
	if (!edo_driver_is_alive(afd->edo_driver_))
		return -ESHUTDOWN;
	return driver ? -EXDEV : -EINVAL;
}

static edo_poll poll_registered(edo_async_fd_future *wait, struct edo_scheduled_io *sio,
				edo_context *cx)
{
	struct edo_io_claim claim = claim_of(wait);
	edo_poll polled = edo_io_poll_interest(sio, wait->edo_afd_.edo_generation_,
					       wait->edo_interest_, &claim, cx, &wait->ready);

	wait->edo_claimed_ = mask_of(claim);
	if (polled == EDO_READY && !edo_coop_spend(cx))
		return EDO_PENDING; /* it stays ready, and this task has been woken */
	if (polled != EDO_PENDING)
		unclaim(wait, sio);
	return polled;
}

static edo_poll poll_descriptor(edo_async_fd_future *wait, edo_context *cx)
{
	struct edo_scheduled_io *sio;
	int rc = check_driver(&wait->edo_afd_, cx->edo_driver_);

	if (rc == -EXDEV)
		edo_misuse("the descriptor is registered with another runtime");
	if (rc == 0 && wait->edo_interest_ == 0)
		rc = -EINVAL; /* it was registered for something else */
	if (rc < 0)
		return rc;
	sio = edo_io_find(&cx->edo_driver_->io, wait->edo_afd_.edo_index_,
			  wait->edo_afd_.edo_generation_);
	return sio ? poll_registered(wait, sio, cx) : -EBADF;
}

static edo_poll async_fd_poll(edo_future *future, edo_context *cx)
{
	edo_async_fd_future *wait = edo_container_of(future, edo_async_fd_future, future);
	edo_poll polled = poll_descriptor(wait, cx);

	if (polled != EDO_PENDING)
		wait->result = polled;
	return polled;
}

static void async_fd_drop_wait(edo_future *future)
{
	edo_async_fd_future *wait = edo_container_of(future, edo_async_fd_future, future);
	struct edo_scheduled_io *sio;
	struct borrowed borrowed;

	if (wait->edo_claimed_ == 0)
		return;
	borrowed = borrow(wait->edo_afd_.edo_driver_);
	sio = find(borrowed, &wait->edo_afd_);
	if (sio)
		unclaim(wait, sio);
	wait->edo_claimed_ = 0;
	give_back(borrowed);
}

EDO_FUTURE_OPS(ready_ops, edo_async_fd_future, future, async_fd_poll, async_fd_drop_wait);

/* Whether the object may still be used, where that can be told; the poll says what is wrong otherwise. */
static bool is_dead_original(edo_async_fd *afd)
{
	struct borrowed borrowed = borrow(afd->edo_driver_);
	bool is_dead = find(borrowed, afd) && !use(borrowed, afd);

	give_back(borrowed);
	return is_dead;
}

/* Only what the descriptor was registered for can be waited for (p42). */
edo_future *edo_async_fd_ready_start(edo_async_fd_future *wait, edo_async_fd *afd,
				     edo_interest interest)
{
	*wait = (edo_async_fd_future){
		.future = { &ready_ops },
		.edo_interest_ = (uint16_t)((uint32_t)interest & afd->edo_interest_),
	};
	if (was_ever_registered(afd) && !is_dead_original(afd))
		wait->edo_afd_ = *afd;
	return &wait->future;
}

static int await_interest(edo_async_fd *afd, edo_interest interest, edo_ready *ready)
{
	edo_async_fd_future wait;
	int rc = edo_await(edo_async_fd_ready_start(&wait, afd, interest));

	if (rc == 0 && ready)
		*ready = wait.ready;
	return rc;
}

int edo_async_fd_readable(edo_async_fd *afd, edo_ready *ready)
{
	return await_interest(afd, EDO_READABLE, ready);
}

int edo_async_fd_writable(edo_async_fd *afd, edo_ready *ready)
{
	return await_interest(afd, EDO_WRITABLE, ready);
}
