/*
 * The door of the TCP room: how the objects that users hold become the registrations they name.
 *
 * An edo_tcp or edo_tcp_listener is index, generation and epoch of a registration. Every call looks the
 * registration up anew, so a double close, a use after a move or after the runtime's end is an
 * error and never a wild access (R3):
 *   -EBADF      closed, moved, or never opened
 *   -ESHUTDOWN  its runtime is gone
 *   -EXDEV      polled on another runtime than its own
 *   -EINVAL     polled where there is no runtime
 *
 * Polls take the driver of their context and need nothing held. Everything else may be called from any
 * thread and keeps the driver alive between edo_net_…_begin() and edo_net_end().
 */
#ifndef EDO_LEAF_NET_NET_H
#define EDO_LEAF_NET_NET_H

#include "driver/driver.h"
#include <edo/net.h>

/* Which half of a stream an object may use: the values of edo_tcp.edo_half_. */
enum edo_net_half { EDO_NET_WHOLE, EDO_NET_READER, EDO_NET_WRITER };

/* The most that Linux moves in one call; so a count fits into an int. */
#define EDO_NET_COUNT_MAX ((size_t)0x7ffff000)

/* A socket's registration, for the length of one call. */
struct edo_net_use {
	struct edo_driver *driver;
	struct edo_scheduled_io *sio;
	bool is_held;
	bool is_locked;
};

/* After 0, edo_net_end() must follow. */
int edo_net_stream_begin(struct edo_net_use *use, edo_tcp *stream);
int edo_net_listener_begin(struct edo_net_use *use, edo_tcp_listener *listener);
/*
 * The same, for a system call on the descriptor other than reading and writing, which mark theirs: the
 * registration's lock is held until edo_net_end(), so that no other thread closes the descriptor under
 * the call and its number becomes a stranger's. Such calls do not wait.
 */
int edo_net_stream_call_begin(struct edo_net_use *use, edo_tcp *stream);
int edo_net_listener_call_begin(struct edo_net_use *use, edo_tcp_listener *listener);
/* By name only: no object is looked at, so nothing is said of moves. */
int edo_net_slot_begin(struct edo_net_use *use, uint32_t driver, uint32_t index,
		       uint32_t generation);
void edo_net_end(struct edo_net_use *use);

/* The driver of a poll, if it has I/O: 0, -EINVAL, -EOPNOTSUPP. For what is not registered yet. */
int edo_net_poll_driver(const edo_context *cx, struct edo_driver **driver);
/* The same for what belongs to the driver with this number already: also -EBADF, -EXDEV, -ESHUTDOWN. */
int edo_net_poll_own_driver(const edo_context *cx, uint32_t id, struct edo_driver **driver);

/* Which holder of a registration the object is: halves move independently of each other. */
static inline unsigned edo_net_holder_of(const edo_tcp *stream)
{
	return stream->edo_half_ == EDO_NET_WRITER;
}

static inline bool edo_net_may_use(const edo_tcp *stream, enum edo_direction direction)
{
	if (direction == EDO_READING)
		return stream->edo_half_ != EDO_NET_WRITER;
	return stream->edo_half_ != EDO_NET_READER;
}

/* Registers a connected socket and fills *stream. As edo_io_register(); on failure fd is still open. */
int edo_net_adopt_socket(struct edo_driver *driver, int fd, edo_tcp *stream);
/* The same with nothing known of its readiness yet. */
int edo_net_adopt_unready(struct edo_driver *driver, int fd, edo_tcp *stream);

/*
 * Deregisters. 0: the descriptor is the caller's alone now; -EBADF: somebody else did, or it was closed
 * under us.
 */
int edo_net_deregister(const struct edo_net_use *use, uint32_t index, uint32_t generation);
/* Deregisters and closes. 0; -EBADF: somebody else did, or the descriptor was closed under us. */
int edo_net_close_slot(struct edo_net_use *use, uint32_t index, uint32_t generation);

/* Lets a future go of a direction it has claimed, wherever it is dropped. */
void edo_net_let_go(uint32_t driver, uint32_t index, uint32_t generation,
		    enum edo_direction direction);

/* An address that this room can use: of IPv4 or IPv6, and as long as that says. */
static inline bool edo_net_is_address(const edo_addr *address)
{
	int family = address->sockaddr.any.sa_family;

	return (family == AF_INET && address->len == sizeof address->sockaddr.v4) ||
	       (family == AF_INET6 && address->len == sizeof address->sockaddr.v6);
}

/* As the system calls them: a socket's address, a buffer's size. Negated errno values of the call. */
int edo_net_set_int(int fd, int level, int name, int value);
int edo_net_get_int(int fd, int level, int name, int *value);
/* Sizes of 0 are left as they are. */
int edo_net_set_buffers(int fd, int send, int receive);

#endif
