/* The door to the operating system: see sys.h. One errno rule for all: what a call says is returned. */
#include "base/hot.h"
#include "base/sys.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_SEC = 1000000000 };

/* The result of a call, errno put back. Runs right after the call, so errno is still its. */
static ssize_t outcome(ssize_t rc, int saved_errno)
{
	if (rc >= 0)
		return rc;
	rc = -errno;
	errno = saved_errno;
	return rc;
}

/* Evaluates a call again while it is interrupted, then gives its outcome. */
#define RETRIED(call)                                                                              \
	({                                                                                         \
		int saved_errno_ = errno;                                                          \
		ssize_t rc_;                                                                       \
		while ((rc_ = (call)) < 0 && errno == EINTR)                                       \
			errno = saved_errno_;                                                      \
		outcome(rc_, saved_errno_);                                                        \
	})

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_SEC),
				  .tv_nsec = (long)(ns % NS_PER_SEC) };
}

EDO_HOT uint64_t edo_sys_clock_now(enum edo_sys_clock clock)
{
	struct timespec now;

	clock_gettime(clock == EDO_SYS_BOOTTIME ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

uint64_t edo_sys_entropy(void)
{
	uint64_t bits = 0;

	if (RETRIED(getrandom(&bits, sizeof bits, GRND_NONBLOCK)) == (ssize_t)sizeof bits)
		return bits;
	return edo_sys_clock_now(EDO_SYS_MONOTONIC) ^ ((uint64_t)getpid() << 32);
}

int edo_sys_futex_wait(uint32_t *word, uint32_t value, uint64_t timeout)
{
	struct timespec limit = timespec_of(timeout);
	int saved_errno = errno;

	return (int)outcome(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value,
				    timeout == UINT64_MAX ? NULL : &limit, NULL, 0),
			    saved_errno);
}

int edo_sys_futex_wake(uint32_t *word, int n)
{
	int saved_errno = errno;

	return (int)outcome(syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0),
			    saved_errno);
}

int edo_sys_epoll_create(void)
{
	return (int)RETRIED(epoll_create1(EPOLL_CLOEXEC));
}

int edo_sys_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t token)
{
	struct epoll_event event = { .events = events, .data.u64 = token };

	return (int)RETRIED(epoll_ctl(epoll, operation, fd, &event));
}

EDO_HOT int edo_sys_epoll_wait_ns(int epoll, struct epoll_event *events, int max, uint64_t timeout)
{
	struct timespec limit = timespec_of(timeout);
	int saved_errno = errno;

	return (int)outcome(syscall(SYS_epoll_pwait2, epoll, events, max,
				    timeout == UINT64_MAX ? NULL : &limit, NULL, 0),
			    saved_errno);
}

int edo_sys_epoll_wait_ms(int epoll, struct epoll_event *events, int max, int timeout)
{
	int saved_errno = errno;

	return (int)outcome(epoll_wait(epoll, events, max, timeout), saved_errno);
}

int edo_sys_eventfd(void)
{
	return (int)RETRIED(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

int edo_sys_eventfd_signal(int fd)
{
	uint64_t one = 1;

	return (int)RETRIED(write(fd, &one, sizeof one));
}

int edo_sys_timerfd(void)
{
	return (int)RETRIED(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

int edo_sys_timerfd_set(int fd, uint64_t ns)
{
	struct itimerspec setting = { .it_value = timespec_of(ns) };

	return (int)RETRIED(timerfd_settime(fd, 0, &setting, NULL));
}

/* Not retried: on Linux the descriptor is gone also when close was interrupted. */
int edo_sys_close(int fd)
{
	int saved_errno = errno;
	int rc = (int)outcome(close(fd), saved_errno);

	return rc == -EINTR ? 0 : rc;
}

/* Takes the SIGPIPE that the write has raised, if it was not pending before, out of what is blocked. */
static void swallow_sigpipe(const sigset_t *sigpipe, const sigset_t *pending)
{
	if (!sigismember(pending, SIGPIPE))
		(void)sigtimedwait(sigpipe, NULL, &(struct timespec){ 0 });
}

ssize_t edo_sys_write(int fd, const void *buf, size_t len)
{
	sigset_t sigpipe, pending, before;
	ssize_t rc;

	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
	rc = RETRIED(write(fd, buf, len));
	if (rc == -EPIPE)
		swallow_sigpipe(&sigpipe, &pending);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int edo_sys_is_nonblocking(int fd)
{
	int flags = (int)RETRIED(fcntl(fd, F_GETFL));

	return flags < 0 ? flags : (flags & O_NONBLOCK) != 0;
}

int edo_sys_socket(int family, int type)
{
	return (int)RETRIED(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int edo_sys_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	return (int)RETRIED(bind(fd, address, len));
}

int edo_sys_listen(int fd, int backlog)
{
	return (int)RETRIED(listen(fd, backlog));
}

int edo_sys_accept(int fd, struct sockaddr *address, socklen_t *len)
{
	return (int)RETRIED(accept4(fd, address, len, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

/* Not retried: an interrupted connect goes on by itself, as one in progress does. */
int edo_sys_connect(int fd, const struct sockaddr *address, socklen_t len)
{
	int saved_errno = errno;
	int rc = (int)outcome(connect(fd, address, len), saved_errno);

	return rc == -EINTR ? -EINPROGRESS : rc;
}

EDO_HOT ssize_t edo_sys_recv(int fd, void *buf, size_t len)
{
	return RETRIED(recv(fd, buf, len, 0));
}

EDO_HOT ssize_t edo_sys_send(int fd, const void *buf, size_t len)
{
	return RETRIED(send(fd, buf, len, MSG_NOSIGNAL));
}

ssize_t edo_sys_readv(int fd, const struct iovec *iov, int count)
{
	return RETRIED(readv(fd, iov, count));
}

ssize_t edo_sys_sendv(int fd, const struct iovec *iov, int count)
{
	struct msghdr message = { .msg_iov = (struct iovec *)(uintptr_t)iov,
				  .msg_iovlen = (size_t)count };

	return RETRIED(sendmsg(fd, &message, MSG_NOSIGNAL));
}

int edo_sys_shutdown(int fd, int how)
{
	return (int)RETRIED(shutdown(fd, how));
}

int edo_sys_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	return (int)RETRIED(getsockopt(fd, level, name, value, len));
}

int edo_sys_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	return (int)RETRIED(setsockopt(fd, level, name, value, len));
}

int edo_sys_getsockname(int fd, struct sockaddr *address, socklen_t *len)
{
	return (int)RETRIED(getsockname(fd, address, len));
}

int edo_sys_getpeername(int fd, struct sockaddr *address, socklen_t *len)
{
	return (int)RETRIED(getpeername(fd, address, len));
}

int edo_sys_interface_index(const char *name)
{
	int saved_errno = errno;
	unsigned index = if_nametoindex(name);

	errno = saved_errno;
	return index ? (int)index : -ENODEV;
}

static size_t distance(const void *to, const void *from)
{
	return (size_t)((uintptr_t)to - (uintptr_t)from);
}

void edo_sys_name_code(const void *code, char *text, size_t size)
{
	Dl_info info;

	if (!dladdr(code, &info))
		(void)snprintf(text, size, "%p", code);
	else if (info.dli_sname)
		(void)snprintf(text, size, "%s+0x%zx", info.dli_sname,
			       distance(code, info.dli_saddr));
	else
		(void)snprintf(text, size, "%s+0x%zx", info.dli_fname,
			       distance(code, info.dli_fbase));
}

size_t edo_sys_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int edo_sys_stack_map(size_t size, void **base)
{
	size_t guard = edo_sys_page_size();
	int saved_errno = errno;
	void *map = mmap(NULL, size + guard, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	int rc;

	if (map == MAP_FAILED)
		return (int)outcome(-1, saved_errno);
	rc = (int)outcome(mprotect((char *)map + guard, size, PROT_READ | PROT_WRITE), saved_errno);
	if (rc < 0) {
		munmap(map, size + guard);
		errno = saved_errno;
		return rc;
	}
	*base = (char *)map + guard;
	return 0;
}

void edo_sys_stack_unmap(void *base, size_t size)
{
	size_t guard = edo_sys_page_size();
	int saved_errno = errno;

	munmap((char *)base - guard, size + guard);
	errno = saved_errno;
}

/* An empty step: the instruction that processors have for it costs more than what is waited for. */
void edo_sys_cpu_relax(void)
{
	__asm__ __volatile__("" ::: "memory");
}
