/*
 * The only door to the operating system. Each function is one system call, or the smallest sensible
 * group of them; it returns 0 or a count, or a negated errno, and leaves errno as it was. Every
 * descriptor is made close-on-exec (p48), every socket non-blocking. EINTR is retried where
 * nothing has been waited for; waits return it (the caller knows what is left of its time).
 *
 * Tests replace this file at link time to make call number n fail.
 */
#ifndef EDO_BASE_SYS_H
#define EDO_BASE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum edo_sys_clock { EDO_SYS_MONOTONIC, EDO_SYS_BOOTTIME };

/* ns since an arbitrary start. Cannot fail. */
uint64_t edo_sys_clock_now(enum edo_sys_clock clock);
/* Bits from the system; falls back to the clock when there are none. */
uint64_t edo_sys_entropy(void);

/* Waits while *word == value; timeout in ns, UINT64_MAX for ever. 0, -EAGAIN, -EINTR, -ETIMEDOUT. */
int edo_sys_futex_wait(uint32_t *word, uint32_t value, uint64_t timeout);
/* Wakes up to n waiters; returns how many. */
int edo_sys_futex_wake(uint32_t *word, int n);

int edo_sys_epoll_create(void);
int edo_sys_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t token);
/* Timeout in ns, UINT64_MAX for ever; exact where the kernel has epoll_pwait2, else up to a ms. */
int edo_sys_epoll_wait_ns(int epoll, struct epoll_event *events, int max, uint64_t timeout);
int edo_sys_epoll_wait_ms(int epoll, struct epoll_event *events, int max, int timeout);
int edo_sys_eventfd(void);
/* Adds one. -EAGAIN when it cannot be done now, which is fine for a wake-up. */
int edo_sys_eventfd_signal(int fd);
/* A timer on CLOCK_BOOTTIME as a descriptor; set: readable once, in ns from now (0: never). */
int edo_sys_timerfd(void);
int edo_sys_timerfd_set(int fd, uint64_t ns);
int edo_sys_close(int fd);
/* Some of it; raises no SIGPIPE. */
ssize_t edo_sys_write(int fd, const void *buf, size_t len);
/* Whether the descriptor is non-blocking: 1, 0, or a negated errno. */
int edo_sys_is_nonblocking(int fd);

int edo_sys_socket(int family, int type);
int edo_sys_bind(int fd, const struct sockaddr *address, socklen_t len);
int edo_sys_listen(int fd, int backlog);
int edo_sys_accept(int fd, struct sockaddr *address, socklen_t *len);
int edo_sys_connect(int fd, const struct sockaddr *address, socklen_t len);
ssize_t edo_sys_recv(int fd, void *buf, size_t len);
ssize_t edo_sys_send(int fd, const void *buf, size_t len);
ssize_t edo_sys_readv(int fd, const struct iovec *iov, int count);
/* sendmsg with MSG_NOSIGNAL. */
ssize_t edo_sys_sendv(int fd, const struct iovec *iov, int count);
int edo_sys_shutdown(int fd, int how);
int edo_sys_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int edo_sys_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int edo_sys_getsockname(int fd, struct sockaddr *address, socklen_t *len);
int edo_sys_getpeername(int fd, struct sockaddr *address, socklen_t *len);
/* The index of an interface by name, or -ENODEV. */
int edo_sys_interface_index(const char *name);

/* The function that an address is in, or the file that it was loaded from, and how far in. Cut to size. */
void edo_sys_name_code(const void *code, char *text, size_t size);

size_t edo_sys_page_size(void);
/* Reserves size bytes (whole pages) with an unreadable guard page below them; *base is the usable part. */
int edo_sys_stack_map(size_t size, void **base);
void edo_sys_stack_unmap(void *base, size_t size);

/* A moment in a loop that waits for another thread to end a few instructions. */
void edo_sys_cpu_relax(void);

#endif
