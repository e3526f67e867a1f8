#include "support/sys_fault.h"
#include "base/sys.h"
#include "support/sys_errors.h"
#include <errno.h>
#include <pthread.h>

#define NOBODY UINT64_MAX

/* Counters and orders: nothing is published through them, so relaxed is enough. */
static uint64_t made[EDO_SYS_CALL_COUNT];
static uint64_t fallible_made;
static uint64_t sweeping = NOBODY;
static bool happened;

/* The sweep through the lists: which call, which of its errors; and what came of it. */
static uint64_t listed_made;
static uint64_t sweeping_listed = NOBODY;
static unsigned wanted_error;
static struct edo_sys_injected injected; /* field by field, by the one call that has the number */

/* What the poller watches a descriptor for, so that it can be made to say it anew. */
enum { MOST_WATCHED = 4096 };
static pthread_mutex_t watched_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int epoll; /* 0: not watched */
	struct epoll_event event;
} watched[MOST_WATCHED]; /* under the lock */

static int64_t stacks_mapped;

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

void edo_sys_fault_sweep_listed(uint64_t n, unsigned k)
{
	WRITE(happened, false);
	WRITE(injected.count, 0U);
	WRITE(wanted_error, k);
	WRITE(sweeping_listed, READ(listed_made) + n);
}

struct edo_sys_injected edo_sys_fault_injected(void)
{
	return (struct edo_sys_injected){
		.call = READ(injected.call),
		.detail = READ(injected.detail),
		.error = READ(injected.error),
		.count = READ(injected.count),
		.by_value = READ(injected.by_value),
	};
}

#define NAME(name, error) [EDO_CALL_##name] = #name,
const char *edo_sys_call_name(enum edo_sys_call call)
{
	static const char *const names[] = { EDO_SYS_CALLS(NAME) };

	return names[call];
}

int64_t edo_sys_stacks_mapped(void)
{
	return READ(stacks_mapped);
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
	WRITE(sweeping_listed, NOBODY);
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

/* ---- the listed errors, made true ---- */

static void watch(int operation, int epoll, int fd, uint32_t events, uint64_t token)
{
	if (fd < 0 || fd >= MOST_WATCHED)
		return;
	pthread_mutex_lock(&watched_lock);
	watched[fd].epoll = operation == EPOLL_CTL_DEL ? 0 : epoll;
	watched[fd].event = (struct epoll_event){ .events = events, .data.u64 = token };
	pthread_mutex_unlock(&watched_lock);
}

static void forget(int fd)
{
	watch(EPOLL_CTL_DEL, 0, fd, 0, 0);
}

/* An edge-triggered poller tells anew of all that is there now. */
static void bring_event(int fd)
{
	if (fd < 0 || fd >= MOST_WATCHED)
		return;
	pthread_mutex_lock(&watched_lock);
	if (watched[fd].epoll)
		(void)epoll_ctl(watched[fd].epoll, EPOLL_CTL_MOD, fd, &watched[fd].event);
	pthread_mutex_unlock(&watched_lock);
}

static void break_connection(int fd)
{
	const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	(void)connect(fd, &nowhere, sizeof nowhere);
}

static void make_true(enum edo_sys_call call, int error, int fd)
{
	if (error == EAGAIN || (error == ENOTCONN && call == EDO_CALL_getpeername))
		bring_event(fd);
	else if (error == ENOTCONN)
		break_connection(fd);
}

/* Below 0: by value. */
static int listed_error(enum edo_sys_call call, int detail, int fd)
{
	const int *errors = edo_sys_errors_of(call, detail);
	unsigned count = edo_sys_errors_count(errors);
	unsigned k = READ(wanted_error);
	int error;

	if (!count ||
	    __atomic_fetch_add(&listed_made, 1, __ATOMIC_RELAXED) != READ(sweeping_listed))
		return 0;
	error = k < count ? errors[k] : 0;
	WRITE(injected.call, call);
	WRITE(injected.detail, detail);
	WRITE(injected.error, error < 0 ? -error : error);
	WRITE(injected.by_value, error < 0);
	WRITE(injected.count, count);
	make_true(call, error, fd);
	return error;
}

/* Counts the call; returns the error it must fail with, or 0. */
static int fault_of(enum edo_sys_call call, int detail, int fd, int usual_error)
{
	int error = ordered_error(call);
	int swept = swept_error(usual_error);
	int listed = listed_error(call, detail, fd);

	__atomic_fetch_add(&made[call], 1, __ATOMIC_RELAXED);
	if (!error)
		error = swept ? swept : listed;
	if (error)
		WRITE(happened, true);
	return error;
}

/* The linker's names: __wrap_x is called for x, __real_x is x. */
#define DECLARE(name, error)                                                                       \
	extern __typeof__(edo_sys_##name) __real_edo_sys_##name, __wrap_edo_sys_##name;            \
	enum { usual_error_of_##name = (error) };
EDO_SYS_CALLS(DECLARE)

#define WRAP(type, name, fd, parameters, arguments)                                                \
	type __wrap_edo_sys_##name parameters                                                      \
	{                                                                                          \
		int error = fault_of(EDO_CALL_##name, 0, fd, usual_error_of_##name);               \
                                                                                                   \
		return error ? -error : __real_edo_sys_##name arguments;                           \
	}

uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock)
{
	fault_of(EDO_CALL_clock_now, 0, -1, 0);
	return __real_edo_sys_clock_now(clock);
}

/* A close that says it failed has closed all the same. */
int __wrap_edo_sys_close(int fd)
{
	int error = fault_of(EDO_CALL_close, 0, fd, usual_error_of_close);
	int rc;

	forget(fd);
	rc = __real_edo_sys_close(fd);
	return error ? -error : rc;
}

int __wrap_edo_sys_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t token)
{
	int error = fault_of(EDO_CALL_epoll_ctl, operation, fd, usual_error_of_epoll_ctl);
	int rc = error ? -error : __real_edo_sys_epoll_ctl(epoll, operation, fd, events, token);

	if (rc == 0)
		watch(operation, epoll, fd, events, token);
	return rc;
}

int __wrap_edo_sys_futex_wait(uint32_t *word, uint32_t value, uint64_t timeout)
{
	int error =
		fault_of(EDO_CALL_futex_wait, timeout != UINT64_MAX, -1, usual_error_of_futex_wait);

	return error ? -error : __real_edo_sys_futex_wait(word, value, timeout);
}

int __wrap_edo_sys_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	int detail = level == SOL_SOCKET ? name : 0;
	int error = fault_of(EDO_CALL_getsockopt, detail, fd, usual_error_of_getsockopt);
	int rc = error > 0 ? -error : __real_edo_sys_getsockopt(fd, level, name, value, len);

	if (rc == 0 && error < 0)
		*(int *)value = -error;
	return rc;
}

int __wrap_edo_sys_stack_map(size_t size, void **base)
{
	int error = fault_of(EDO_CALL_stack_map, 0, -1, usual_error_of_stack_map);
	int rc = error ? -error : __real_edo_sys_stack_map(size, base);

	if (rc == 0)
		__atomic_fetch_add(&stacks_mapped, 1, __ATOMIC_RELAXED);
	return rc;
}

extern __typeof__(edo_sys_stack_unmap) __real_edo_sys_stack_unmap, __wrap_edo_sys_stack_unmap;

void __wrap_edo_sys_stack_unmap(void *base, size_t size)
{
	__atomic_fetch_sub(&stacks_mapped, 1, __ATOMIC_RELAXED);
	__real_edo_sys_stack_unmap(base, size);
}

/* clang-format takes the parameters for products. */
/* clang-format off */
WRAP(int, futex_wake, -1, (uint32_t *word, int n), (word, n))
WRAP(int, epoll_create, -1, (void), ())
WRAP(int, epoll_wait_ns, -1, (int epoll, struct epoll_event *events, int max, uint64_t timeout),
     (epoll, events, max, timeout))
WRAP(int, epoll_wait_ms, -1, (int epoll, struct epoll_event *events, int max, int timeout),
     (epoll, events, max, timeout))
WRAP(int, eventfd, -1, (void), ())
WRAP(int, eventfd_signal, fd, (int fd), (fd))
WRAP(int, timerfd, -1, (void), ())
WRAP(int, timerfd_set, fd, (int fd, uint64_t ns), (fd, ns))
WRAP(int, is_nonblocking, fd, (int fd), (fd))
WRAP(int, socket, -1, (int family, int type), (family, type))
WRAP(int, bind, fd, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len))
WRAP(int, listen, fd, (int fd, int backlog), (fd, backlog))
WRAP(int, accept, fd, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len))
WRAP(int, connect, fd, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len))
WRAP(ssize_t, recv, fd, (int fd, void *buf, size_t len), (fd, buf, len))
WRAP(ssize_t, send, fd, (int fd, const void *buf, size_t len), (fd, buf, len))
WRAP(ssize_t, readv, fd, (int fd, const struct iovec *iov, int count), (fd, iov, count))
WRAP(ssize_t, sendv, fd, (int fd, const struct iovec *iov, int count), (fd, iov, count))
WRAP(int, shutdown, fd, (int fd, int how), (fd, how))
WRAP(int, setsockopt, fd, (int fd, int level, int name, const void *value, socklen_t len),
     (fd, level, name, value, len))
WRAP(int, getsockname, fd, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len))
WRAP(int, getpeername, fd, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len))
/* clang-format on */
