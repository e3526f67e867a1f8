#include "support/sys_fault.h"
#include "base/sys.h"
#include <errno.h>

#define NOBODY UINT64_MAX

/* Counters and orders: nothing is published through them, so relaxed is enough. */
static uint64_t made[EDO_SYS_CALL_COUNT];
static uint64_t fallible_made;
static uint64_t sweeping = NOBODY;
static bool happened;

static struct {
	int error;
	unsigned skip;
	unsigned times;
} orders[EDO_SYS_CALL_COUNT];

#define READ(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define WRITE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)

void edo_sys_fault_sweep(uint64_t n)
{
	WRITE(happened, false);
	WRITE(sweeping, READ(fallible_made) + n);
}

bool edo_sys_fault_happened(void)
{
	return READ(happened);
}

void edo_sys_fault_order(enum edo_sys_call call, int error, unsigned skip, unsigned times)
{
	WRITE(happened, false);
	WRITE(orders[call].times, 0U);
	WRITE(orders[call].error, error);
	WRITE(orders[call].skip, skip);
	WRITE(orders[call].times, times);
}

void edo_sys_fault_clear(void)
{
	WRITE(sweeping, NOBODY);
	for (int call = 0; call < EDO_SYS_CALL_COUNT; call++)
		WRITE(orders[call].times, 0U);
}

uint64_t edo_sys_calls_of(enum edo_sys_call call)
{
	return READ(made[call]);
}

uint64_t edo_sys_calls_made(void)
{
	uint64_t sum = 0;

	for (int call = 0; call < EDO_SYS_CALL_COUNT; call++)
		sum += READ(made[call]);
	return sum;
}

/* Takes one from *count; returns whether there was one. */
static bool take_one(unsigned *count)
{
	unsigned left = READ(*count);

	while (left)
		if (__atomic_compare_exchange_n(count, &left, left - 1, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static int ordered_error(enum edo_sys_call call)
{
	if (!READ(orders[call].times) || take_one(&orders[call].skip))
		return 0;
	return take_one(&orders[call].times) ? READ(orders[call].error) : 0;
}

static int swept_error(int usual_error)
{
	uint64_t number;

	if (!usual_error)
		return 0;
	number = __atomic_fetch_add(&fallible_made, 1, __ATOMIC_RELAXED);
	return number == READ(sweeping) ? usual_error : 0;
}

/* Counts the call; returns the error it must fail with, or 0. */
static int fault_of(enum edo_sys_call call, int usual_error)
{
	int error = ordered_error(call);
	int swept = swept_error(usual_error);

	__atomic_fetch_add(&made[call], 1, __ATOMIC_RELAXED);
	if (!error)
		error = swept;
	if (error)
		WRITE(happened, true);
	return error;
}

/* The linker's names: __wrap_x is called for x, __real_x is x. */
#define DECLARE(name, error)                                                                       \
	extern __typeof__(edo_sys_##name) __real_edo_sys_##name, __wrap_edo_sys_##name;            \
	enum { usual_error_of_##name = (error) };
EDO_SYS_CALLS(DECLARE)

#define WRAP(type, name, parameters, arguments)                                                    \
	type __wrap_edo_sys_##name parameters                                                      \
	{                                                                                          \
		int error = fault_of(EDO_CALL_##name, usual_error_of_##name);                      \
                                                                                                   \
		return error ? -error : __real_edo_sys_##name arguments;                           \
	}

uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock)
{
	fault_of(EDO_CALL_clock_now, 0);
	return __real_edo_sys_clock_now(clock);
}

/* A close that says it failed has closed all the same. */
int __wrap_edo_sys_close(int fd)
{
	int error = fault_of(EDO_CALL_close, usual_error_of_close);
	int rc = __real_edo_sys_close(fd);

	return error ? -error : rc;
}

/* clang-format takes the parameters for products. */
/* clang-format off */
WRAP(int, futex_wait, (uint32_t *word, uint32_t value, uint64_t timeout), (word, value, timeout))
WRAP(int, futex_wake, (uint32_t *word, int n), (word, n))
WRAP(int, epoll_create, (void), ())
WRAP(int, epoll_ctl, (int epoll, int operation, int fd, uint32_t events, uint64_t token),
     (epoll, operation, fd, events, token))
WRAP(int, epoll_wait_ns, (int epoll, struct epoll_event *events, int max, uint64_t timeout),
     (epoll, events, max, timeout))
WRAP(int, epoll_wait_ms, (int epoll, struct epoll_event *events, int max, int timeout),
     (epoll, events, max, timeout))
WRAP(int, eventfd, (void), ())
WRAP(int, eventfd_signal, (int fd), (fd))
WRAP(int, timerfd, (void), ())
WRAP(int, timerfd_set, (int fd, uint64_t ns), (fd, ns))
WRAP(int, is_nonblocking, (int fd), (fd))
WRAP(int, socket, (int family, int type), (family, type))
WRAP(int, bind, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len))
WRAP(int, listen, (int fd, int backlog), (fd, backlog))
WRAP(int, accept, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len))
WRAP(int, connect, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len))
WRAP(ssize_t, recv, (int fd, void *buf, size_t len), (fd, buf, len))
WRAP(ssize_t, send, (int fd, const void *buf, size_t len), (fd, buf, len))
WRAP(ssize_t, readv, (int fd, const struct iovec *iov, int count), (fd, iov, count))
WRAP(ssize_t, sendv, (int fd, const struct iovec *iov, int count), (fd, iov, count))
WRAP(int, shutdown, (int fd, int how), (fd, how))
WRAP(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len),
     (fd, level, name, value, len))
WRAP(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
     (fd, level, name, value, len))
WRAP(int, getsockname, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len))
WRAP(int, getpeername, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len))
WRAP(int, stack_map, (size_t size, void **base), (size, base))
/* clang-format on */
