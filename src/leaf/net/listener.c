/*
 * Listening sockets: made, asked for their address, closed. Accepting is in accept.c.
 *
 * A listener is registered like any descriptor, with no readiness: the first connection's event makes
 * it readable. Any thread may close it or ask it.
 */
#include "base/assert.h"
#include "base/sys.h"
#include "leaf/net/net.h"
#include <errno.h>
#include <string.h>

enum { DEFAULT_BACKLOG = 4096 };

/* What this version knows of the options; what an older program did not know of is zero. */
static int read_options(edo_listen_options *known, const edo_listen_options *given)
{
	memset(known, 0, sizeof *known);
	if (given) {
		if (given->size <= sizeof given->size || given->size > sizeof *known)
			return -EINVAL;
		memcpy(known, given, given->size);
	}
	if (known->backlog < 0 || known->send_buffer < 0 || known->receive_buffer < 0)
		return -EINVAL;
	if (known->backlog == 0)
		known->backlog = DEFAULT_BACKLOG;
	return 0;
}

/* Accepted streams inherit the buffers. */
static int set_options(int fd, int family, const edo_listen_options *options)
{
	int rc = edo_net_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);

	if (rc == 0 && options->reuse_port)
		rc = edo_net_set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (rc == 0 && family == AF_INET6)
		rc = edo_net_set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, options->v6_only);
	if (rc == 0)
		rc = edo_net_set_buffers(fd, options->send_buffer, options->receive_buffer);
	return rc;
}

static int start_listening(int fd, const edo_addr *address, const edo_listen_options *options)
{
	int rc = set_options(fd, address->sockaddr.any.sa_family, options);

	if (rc == 0)
		rc = edo_sys_bind(fd, &address->sockaddr.any, address->len);
	if (rc == 0)
		rc = edo_sys_listen(fd, options->backlog);
	return rc;
}

static int register_listener(struct edo_driver *driver, int fd, edo_tcp_listener *listener)
{
	struct edo_registration registration;
	int rc = edo_io_register(&driver->io, fd, 0, &registration);

	if (rc < 0)
		return rc;
	*listener = (edo_tcp_listener){
		.edo_driver_ = registration.driver,
		.edo_index_ = registration.index,
		.edo_generation_ = registration.generation,
		.edo_epoch_ = registration.epoch,
		.edo_fd_ = registration.fd,
	};
	return 0;
}

static int this_threads_driver(struct edo_driver **driver)
{
	*driver = edo_current_driver();
	if (!*driver) {
		edo_misuse("this thread has entered no runtime");
		return -EINVAL;
	}
	if (!(*driver)->has_io) {
		edo_misuse("the runtime was made without I/O");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int open_listener(edo_tcp_listener *listener, struct edo_driver *driver,
			 const edo_addr *address, const edo_listen_options *options)
{
	int fd = edo_sys_socket(address->sockaddr.any.sa_family, SOCK_STREAM);
	int rc;

	if (fd < 0)
		return fd;
	rc = start_listening(fd, address, options);
	if (rc == 0)
		rc = register_listener(driver, fd, listener);
	if (rc < 0)
		(void)edo_sys_close(fd);
	return rc;
}

int edo_tcp_listen_with(edo_tcp_listener *listener, const edo_addr *address,
			const edo_listen_options *options)
{
	edo_listen_options known;
	struct edo_driver *driver = NULL;
	int rc = read_options(&known, options);

	memset(listener, 0, sizeof *listener);
	if (rc == 0 && !edo_net_is_address(address))
		rc = -EINVAL;
	if (rc == 0)
		rc = this_threads_driver(&driver);
	return rc < 0 ? rc : open_listener(listener, driver, address, &known);
}

int edo_tcp_listen(edo_tcp_listener *listener, const char *address)
{
	edo_addr parsed;
	int rc = edo_addr_parse(&parsed, address);

	if (rc < 0) {
		memset(listener, 0, sizeof *listener);
		return rc;
	}
	return edo_tcp_listen_with(listener, &parsed, NULL);
}

int edo_tcp_listener_addr(edo_tcp_listener *listener, edo_addr *addr)
{
	struct edo_net_use use;
	int rc = edo_net_listener_call_begin(&use, listener);

	if (rc < 0)
		return rc;
	memset(addr, 0, sizeof *addr);
	addr->len = sizeof addr->sockaddr;
	rc = edo_sys_getsockname(use.sio->fd, &addr->sockaddr.any, &addr->len);
	edo_net_end(&use);
	return rc;
}

/* The runtime is gone, and with it what could tell a double close: this object at least can. */
static void close_orphan(edo_tcp_listener *listener)
{
	(void)edo_sys_close(listener->edo_fd_);
	memset(listener, 0, sizeof *listener);
}

int edo_tcp_listener_close(edo_tcp_listener *listener)
{
	struct edo_net_use use;
	int rc = edo_net_listener_begin(&use, listener);

	if (rc == -ESHUTDOWN) {
		close_orphan(listener);
		return 0;
	}
	if (rc < 0)
		return rc;
	rc = edo_net_close_slot(&use, listener->edo_index_, listener->edo_generation_);
	edo_net_end(&use);
	return rc;
}
