/**
 * @file
 * TCP: listeners and streams.
 *
 * Addresses are numeric, "host:port" or "[v6]:port". Every function that waits has a `_start` twin
 * that makes a future for stackless tasks and edo_timeout().
 *
 * **Moving.** An edo_tcp names a registered socket; copying it moves it. Once a copy has been used,
 * the original is dead and using it is -EBADF. Once the stream has been closed through any copy, every
 * function on any other says -EBADF, also when the number of its descriptor has been given out
 * again. An object filled with zeros is a closed stream.
 *
 * **Runtimes.** A socket belongs to the runtime on which it was made. Every function that waits says
 * -EXDEV on another runtime, -EINVAL where there is none, and -ESHUTDOWN when its own has ended.
 *
 * **Threads.** One task may read a stream while another writes it; a second one in the same
 * direction gets -EBUSY. edo_tcp_split() hands out two halves that are closed one by one.
 *
 * SIGPIPE is never raised.
 */
#ifndef EDO_NET_H
#define EDO_NET_H

#include <edo/time.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

EDO_BEGIN_DECLS

/** A socket address: IPv4 or IPv6. A plain value: copy it freely. */
typedef struct edo_addr {
	/** The system's own form; `any.sa_family` tells which. */
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} sockaddr;
	/** The length in bytes of the form in use. */
	socklen_t len;
} edo_addr;

/** The longest text that edo_addr_format() makes, with its end. */
#define EDO_ADDR_TEXT_MAX 80

/**
 * Reads "127.0.0.1:80", "[::1]:80", "[fe80::1%2]:80" (or an interface's name behind the %).
 *
 * @return 0; -EINVAL: it is none of these. Names are not looked up. Does not wait
 */
EDO_API EDO_NODISCARD int edo_addr_parse(edo_addr *addr, const char *text);

/** Writes @p addr so that edo_addr_parse() reads it. @return its length, or -ENOSPC, -EINVAL. */
EDO_API int edo_addr_format(const edo_addr *addr, char *text, size_t size);

/** @return the port. */
EDO_API uint16_t edo_addr_port(const edo_addr *addr);

/** A TCP stream, or half of one. Caller-owned; copying moves it. */
typedef struct edo_tcp {
	/* private: which driver, which slot, which use of the slot, how often it has moved; which halves
	 * this may use */
	uint32_t edo_driver_;
	uint32_t edo_index_;
	uint32_t edo_generation_;
	uint32_t edo_epoch_;
	int edo_fd_;
	uint32_t edo_half_;
} edo_tcp;

/** A listening socket. Caller-owned; copying moves it. */
typedef struct edo_tcp_listener {
	/* private */
	uint32_t edo_driver_;
	uint32_t edo_index_;
	uint32_t edo_generation_;
	uint32_t edo_epoch_;
	int edo_fd_;
} edo_tcp_listener;

/** How to listen. Start from EDO_LISTEN_INIT; zero means "default". */
typedef struct edo_listen_options {
	/** sizeof(edo_listen_options) as the program was compiled; set by EDO_LISTEN_INIT. */
	size_t size;
	/** Connections waiting to be accepted; default 4096. */
	int backlog;
	/** Several sockets, of several processes or workers, share the port (SO_REUSEPORT). */
	bool reuse_port;
	/** An IPv6 listener does not take IPv4. */
	bool v6_only;
	/** Buffer sizes of accepted streams in bytes; 0: the system's. */
	int send_buffer, receive_buffer;
} edo_listen_options;

/** An initialiser for edo_listen_options: all defaults. */
#define EDO_LISTEN_INIT                                                                            \
	{                                                                                          \
		sizeof(edo_listen_options), 0, false, false, 0, 0                                  \
	}

/**
 * Listens at @p address (backlog 4096, SO_REUSEADDR). Port 0 takes a free one, see
 * edo_tcp_listener_addr(). Does not wait.
 *
 * @return 0; -EINVAL: no such address, or no runtime; -EADDRINUSE; -EACCES; -EADDRNOTAVAIL;
 *         -EMFILE; -ENFILE; -ENOBUFS; -ENOMEM; -EOPNOTSUPP: the runtime has no I/O
 */
EDO_API EDO_NODISCARD int edo_tcp_listen(edo_tcp_listener *listener, const char *address);

/**
 * As edo_tcp_listen(), at an address at hand and with @p options (NULL: all defaults). -EINVAL also for
 * options that make no sense.
 */
EDO_API EDO_NODISCARD int edo_tcp_listen_with(edo_tcp_listener *listener, const edo_addr *address,
					      const edo_listen_options *options);

/** The address it listens at. @return 0; -EBADF. */
EDO_API int edo_tcp_listener_addr(edo_tcp_listener *listener, edo_addr *addr);

/** Stops listening. Who waits in accept gets -EBADF. @return 0; -EBADF: closed before. */
EDO_API int edo_tcp_listener_close(edo_tcp_listener *listener);

/** A wait for one connection. Storage: the caller's. Dropped, no connection is lost. */
typedef struct edo_tcp_accept_future {
	edo_future future;
	/** 0, or why there will be no connection; once ready. */
	int result;
	/* private */
	uint32_t edo_claimed_;
	edo_tcp_listener edo_listener_;
	edo_tcp *edo_stream_;
	edo_addr *edo_peer_;
	edo_duration edo_pause_;
	edo_timer edo_retry_;
} edo_tcp_accept_future;

/** Sets @p accept up; @p stream and @p peer (may be NULL) are filled when it is ready. */
EDO_API edo_future *edo_tcp_accept_start(edo_tcp_accept_future *accept, edo_tcp_listener *listener,
					 edo_tcp *stream, edo_addr *peer);

/**
 * Waits for a connection.
 *
 * Connections that died in the queue are passed over. Out of descriptors or memory (EMFILE, ENFILE,
 * ENOBUFS, ENOMEM) it waits for better times, 5 ms first, then longer up to 1 s, and does not
 * spin; on a runtime without time that error is returned.
 *
 * @param peer  receives the other side's address; may be NULL
 * @return 0; -EBADF: closed; -EBUSY: another task accepts; else as edo_await(). Cancel safe
 */
EDO_API EDO_NODISCARD int edo_tcp_accept(edo_tcp_listener *listener, edo_tcp *stream,
					 edo_addr *peer);

/** A wait for a connection to be made. Dropped before it is ready, the attempt is given up. */
typedef struct edo_tcp_connect_future {
	edo_future future;
	/** 0, or why there is no connection; once ready. */
	int result;
	/* private */
	uint32_t edo_claimed_;
	edo_addr edo_peer_;
	edo_tcp edo_attempt_;
	edo_tcp *edo_stream_;
} edo_tcp_connect_future;

/** Sets @p connect up; an address that does not parse is -EINVAL at the first poll. */
EDO_API edo_future *edo_tcp_connect_start(edo_tcp_connect_future *connect, edo_tcp *stream,
					  const char *address);
/** As edo_tcp_connect_start(), to an address at hand. */
EDO_API edo_future *edo_tcp_connect_addr_start(edo_tcp_connect_future *connect, edo_tcp *stream,
					       const edo_addr *address);

/**
 * Connects to @p address.
 *
 * @return 0; -EINVAL: no such address; -ECONNREFUSED, -ETIMEDOUT, -ENETUNREACH and whatever else the
 *         system says; -EMFILE …; else as edo_await(). On failure and when cancelled nothing is left
 */
EDO_API EDO_NODISCARD int edo_tcp_connect(edo_tcp *stream, const char *address);
/** As edo_tcp_connect(), to an address at hand. */
EDO_API EDO_NODISCARD int edo_tcp_connect_addr(edo_tcp *stream, const edo_addr *address);

/** One read or write in flight. Storage: the caller's; reusable once ready or dropped. */
typedef struct edo_tcp_io {
	edo_future future;
	/**
	 * Once ready: the bytes moved (a read's 0: end of stream; a write_all's 0: all of them), or a
	 * negated errno value.
	 */
	ssize_t result;
	/** Bytes moved so far; for a write_all that failed, how far it came. */
	size_t done;
	/* private */
	edo_tcp *edo_stream_;
	uint32_t edo_driver_;
	uint32_t edo_index_;
	uint32_t edo_generation_;
	uint32_t edo_idle_seen_;
	const struct iovec *edo_iov_;
	struct iovec edo_single_;
	int edo_iov_count_;
	uint8_t edo_kind_;
	bool edo_has_begun_;
	bool edo_is_claimed_;
	bool edo_is_timed_;
} edo_tcp_io;

/** Sets @p io up to read; the buffer must outlive the wait. See edo_tcp_read(). */
EDO_API edo_future *edo_tcp_read_start(edo_tcp_io *io, edo_tcp *stream, void *buf, size_t len);
/** As edo_tcp_read_start(), into several buffers. See edo_tcp_readv(). */
EDO_API edo_future *edo_tcp_readv_start(edo_tcp_io *io, edo_tcp *stream, const struct iovec *iov,
					int count);
/** Sets @p io up to write some of the bytes, which must outlive the wait. See edo_tcp_write(). */
EDO_API edo_future *edo_tcp_write_start(edo_tcp_io *io, edo_tcp *stream, const void *buf,
					size_t len);
/** As edo_tcp_write_start(), from several buffers. See edo_tcp_writev(). */
EDO_API edo_future *edo_tcp_writev_start(edo_tcp_io *io, edo_tcp *stream, const struct iovec *iov,
					 int count);
/** As edo_tcp_write_start(), until all is written. See edo_tcp_write_all(). */
EDO_API edo_future *edo_tcp_write_all_start(edo_tcp_io *io, edo_tcp *stream, const void *buf,
					    size_t len);

/**
 * Reads up to @p len bytes.
 *
 * @return the bytes read; 0: the peer has ended its stream (or @p len is 0); -ETIMEDOUT: see
 *         edo_tcp_set_timeout() and edo_tcp_last_error(); -ECONNRESET …; -EBADF: closed or moved;
 *         -EBUSY: another task reads; else as edo_await(). Cancel safe: no byte is lost
 */
EDO_API EDO_NODISCARD ssize_t edo_tcp_read(edo_tcp *stream, void *buf, size_t len);
/** As edo_tcp_read(), into several buffers; at most 1024, else -EINVAL. */
EDO_API EDO_NODISCARD ssize_t edo_tcp_readv(edo_tcp *stream, const struct iovec *iov, int count);
/**
 * Writes some of @p len bytes, at least one.
 *
 * @return the bytes written; -EPIPE: the peer takes no more; else as edo_tcp_read(). Cancel safe
 */
EDO_API EDO_NODISCARD ssize_t edo_tcp_write(edo_tcp *stream, const void *buf, size_t len);
/** As edo_tcp_write(), from several buffers. */
EDO_API EDO_NODISCARD ssize_t edo_tcp_writev(edo_tcp *stream, const struct iovec *iov, int count);
/**
 * Writes all of @p len bytes.
 *
 * @return 0, or as edo_tcp_write(). Not cancel safe: it is unknown to the caller how much was
 *         written (the future's `done` tells)
 */
EDO_API EDO_NODISCARD ssize_t edo_tcp_write_all(edo_tcp *stream, const void *buf, size_t len);

/**
 * Limits how long the stream may be idle: a read or write fails with -ETIMEDOUT when for @p limit no
 * byte has moved on the stream, in either direction. The limit runs from the last progress or from
 * the first operation begun since then, whichever is later; giving an operation up and beginning it
 * again does not postpone it. 0 or EDO_FOREVER: no limit. One timer a stream; touching it costs no
 * lock. The stream stays usable afterwards, and the limit starts anew.
 *
 * @return 0; -EBADF; -EOPNOTSUPP: the runtime has no time
 */
EDO_API int edo_tcp_set_timeout(edo_tcp *stream, edo_duration limit);

/**
 * Why the last operation on the stream failed, in the stream's own view.
 *
 * @return -ETIMEDOUT: its idle limit; 0 when the failure came from elsewhere (a deadline, an abort) or
 *         there was none; other errors of the socket as they were; -EBADF
 */
EDO_API int edo_tcp_last_error(edo_tcp *stream);

/** Which direction edo_tcp_shutdown() ends. */
typedef enum edo_shut { EDO_SHUT_RD, EDO_SHUT_WR, EDO_SHUT_RDWR } edo_shut;

/** Ends a direction; the peer reads the end of the stream. @return 0; -ENOTCONN; -EBADF. No wait. */
EDO_API int edo_tcp_shutdown(edo_tcp *stream, edo_shut how);

/**
 * Closes the stream. Waits of other tasks on it get -EBADF. Does not wait, again is harmless.
 *
 * @return 0; -EBADF: closed or moved before
 */
EDO_API int edo_tcp_close(edo_tcp *stream);

/**
 * Hands out two halves and makes @p whole dead. A reader may only read, a writer only write (else
 * -EBADF); each is closed on its own, a writer's close ends the direction, the second closes the
 * socket.
 *
 * @return 0; -EBADF
 */
EDO_API EDO_NODISCARD int edo_tcp_split(edo_tcp *whole, edo_tcp *reader, edo_tcp *writer);

/** Small writes are sent at once (TCP_NODELAY). @return 0; -EBADF. */
EDO_API int edo_tcp_set_nodelay(edo_tcp *stream, bool on);
/** Reads what edo_tcp_set_nodelay() sets; @p on is untouched on failure. @return 0; -EBADF. */
EDO_API int edo_tcp_get_nodelay(edo_tcp *stream, bool *on);

/**
 * Probes a silent peer after @p idle, then every @p every, and gives up after @p probes; whole
 * seconds, rounded up. @p idle 0 turns it off; other zeros leave the system's value.
 *
 * @return 0; -EINVAL: less than 0, or more than the system takes; -EBADF
 */
EDO_API int edo_tcp_set_keepalive(edo_tcp *stream, edo_duration idle, edo_duration every,
				  int probes);

/**
 * Kernel buffers in bytes (SO_SNDBUF, SO_RCVBUF; the system doubles them); 0 leaves one as it is.
 *
 * @return 0; -EINVAL: less than 0; -EBADF
 */
EDO_API int edo_tcp_set_buffers(edo_tcp *stream, int send, int receive);
/** Reads the sizes in use, in bytes: on Linux twice what was set. @return 0; -EBADF. */
EDO_API int edo_tcp_get_buffers(edo_tcp *stream, int *send, int *receive);

/**
 * Close sends a reset and forgets what was not sent (SO_LINGER with 0); off: the usual close.
 *
 * @return 0; -EBADF
 */
EDO_API int edo_tcp_set_reset_on_close(edo_tcp *stream, bool on);

/** The address of this end. @return 0; -EBADF. */
EDO_API int edo_tcp_local_addr(edo_tcp *stream, edo_addr *addr);
/** The address of the peer. @return 0; -ENOTCONN; -EBADF. */
EDO_API int edo_tcp_peer_addr(edo_tcp *stream, edo_addr *addr);

/**
 * Makes a stream of a connected, non-blocking socket that came from elsewhere; it owns @p fd from
 * then on. @return 0; -EINVAL: blocking, or no stream socket; -ENOTCONN: not connected, or ended in both
 * directions; -EEXIST, -EBADF …: then @p fd stays the caller's
 */
EDO_API EDO_NODISCARD int edo_tcp_from_fd(edo_tcp *stream, int fd);

/** Takes the socket out of edo, closing nothing. @return the descriptor, now the caller's; -EBADF. */
EDO_API EDO_NODISCARD int edo_tcp_into_fd(edo_tcp *stream);

/** @return the descriptor, for options that edo does not know; or -EBADF. Do not close or read it. */
EDO_API int edo_tcp_fd(edo_tcp *stream);

EDO_END_DECLS

#endif
