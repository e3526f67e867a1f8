/**
 * @file
 * Any non-blocking file descriptor in the reactor.
 *
 * This is how other C libraries (c-ares, libcurl, hiredis, libpq), devices, pipes, timerfds and the
 * like are driven by edo: wait until it is ready, make the system call yourself, and when that
 * says EAGAIN, clear exactly the readiness that you had seen.
 */
#ifndef EDO_IO_H
#define EDO_IO_H

#include <edo/future.h>

EDO_BEGIN_DECLS

/** What to wait for; a mask. */
typedef enum edo_interest {
	EDO_READABLE = 1,
	EDO_WRITABLE = 2,
	EDO_READABLE_OR_WRITABLE = 3,
	/** Out-of-band data (EPOLLPRI). */
	EDO_PRIORITY = 4,
} edo_interest;

/** What a descriptor is ready for, as seen at one moment. */
typedef struct edo_ready {
	/** A mask of edo_interest, what was asked for and is there. */
	uint32_t events;
	/** The peer will send no more (end of file is near), or there is an error to be fetched. */
	bool read_closed;
	/** Writing will fail. */
	bool write_closed;
	/** An error is pending; the next system call tells which. */
	bool error;
	/* private: the driver's word at that moment */
	uint64_t edo_seen_;
} edo_ready;

/** A registered descriptor. Caller-owned; copying moves it (the original is dead). */
typedef struct edo_async_fd {
	/* private: which driver, which slot, which use of the slot, how often it has moved */
	uint32_t edo_driver_;
	uint32_t edo_index_;
	uint32_t edo_generation_;
	uint32_t edo_epoch_;
	int edo_fd_;
	uint32_t edo_interest_;
} edo_async_fd;

/**
 * Registers @p fd, which stays the caller's and must stay open until edo_async_fd_drop().
 *
 * @return 0; -EINVAL: it is blocking, or no runtime; -EPERM: it cannot be polled (a plain file);
 *         -EEXIST: registered already; -EBADF; -EOPNOTSUPP: the runtime has no I/O; -ENOMEM; -ENOSPC
 */
EDO_API EDO_NODISCARD int edo_async_fd_init(edo_async_fd *afd, int fd, edo_interest interest);

/**
 * Deregisters; who waits for it gets -EBADF. Complete on return. Again is harmless (-EBADF).
 *
 * @return 0, or what the system said about it (the descriptor closed under us: -EBADF); it is
 *         deregistered in any case
 */
EDO_API int edo_async_fd_drop(edo_async_fd *afd);

/** @return the descriptor, or -EBADF. */
EDO_API int edo_async_fd_get(edo_async_fd *afd);

/** A wait for readiness. Storage: the caller's. */
typedef struct edo_async_fd_future {
	edo_future future;
	/** 0, or why it will not be ready; once this future is. */
	int result;
	/* private */
	uint16_t edo_interest_;
	uint16_t edo_claimed_;
	/** What the descriptor is ready for, once the result is 0. */
	edo_ready ready;
	/* private */
	edo_async_fd edo_afd_;
} edo_async_fd_future;

/**
 * Sets @p wait up for any of @p interest. Results as edo_async_fd_readable(); -EINVAL also for an interest
 * that the descriptor was not registered for.
 */
EDO_API edo_future *edo_async_fd_ready_start(edo_async_fd_future *wait, edo_async_fd *afd,
					     edo_interest interest);

/**
 * Waits until @p afd may be read. Readiness is a hint: the system call may still say EAGAIN.
 *
 * @return 0; -EBADF: dropped; -EBUSY: another task waits for this direction; -EINVAL: not registered
 *         for it, or no runtime; -EXDEV: registered with another runtime; -ESHUTDOWN; else as
 *         edo_await(). Cancel safe: readiness stays until it is cleared
 */
EDO_API EDO_NODISCARD int edo_async_fd_readable(edo_async_fd *afd, edo_ready *ready);

/** Waits until @p afd may be written; as edo_async_fd_readable(). */
EDO_API EDO_NODISCARD int edo_async_fd_writable(edo_async_fd *afd, edo_ready *ready);

/**
 * The system call said EAGAIN: forgets the readiness that @p ready has seen. What came in since then
 * survives, and so do the closed bits and the other direction.
 */
EDO_API void edo_async_fd_clear(edo_async_fd *afd, edo_ready ready);

EDO_END_DECLS

#endif
