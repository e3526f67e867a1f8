/*
 * System calls that fail when a test says so, and counts of those made: the linker leads each
 * edo_sys_x() of the library here (--wrap), which passes it on or lets it fail.
 *
 * For programs listed in edo_fault_tests (tests/meson.build). Threads: any; the orders are for the
 * whole process. Clear them before a test ends.
 *
 * A sweep finds the way out that nobody thought of:
 *
 *     for (uint64_t n = 0; ; n++) {
 *             edo_sys_fault_sweep(n);
 *             rc = scenario();
 *             if (!edo_sys_fault_happened())
 *                     break;                  // it has fewer than n calls: all were tried
 *             assert_true(rc < 0);            // or whatever a failure must mean
 *     }
 */
#ifndef EDO_TESTS_SUPPORT_SYS_FAULT_H
#define EDO_TESTS_SUPPORT_SYS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* name, and the error a sweep gives it; 0: a sweep passes it by, since its failure would be a lie. */
#define EDO_SYS_CALLS(X)                                                                           \
	X(clock_now, 0)                                                                            \
	X(futex_wait, 0)                                                                           \
	X(futex_wake, 0)                                                                           \
	X(epoll_create, EMFILE)                                                                    \
	X(epoll_ctl, ENOSPC)                                                                       \
	X(epoll_wait_ns, EINTR)                                                                    \
	X(epoll_wait_ms, EINTR)                                                                    \
	X(eventfd, EMFILE)                                                                         \
	X(timerfd, EMFILE)                                                                         \
	X(timerfd_set, 0)                                                                          \
	X(eventfd_signal, 0)                                                                       \
	X(close, 0)                                                                                \
	X(is_nonblocking, EBADF)                                                                   \
	X(socket, EMFILE)                                                                          \
	X(bind, EADDRINUSE)                                                                        \
	X(listen, EADDRINUSE)                                                                      \
	X(accept, EMFILE)                                                                          \
	X(connect, ECONNREFUSED)                                                                   \
	X(recv, ECONNRESET)                                                                        \
	X(send, EPIPE)                                                                             \
	X(readv, ECONNRESET)                                                                       \
	X(sendv, EPIPE)                                                                            \
	X(shutdown, ENOTCONN)                                                                      \
	X(getsockopt, ENOBUFS)                                                                     \
	X(setsockopt, ENOMEM)                                                                      \
	X(getsockname, ENOBUFS)                                                                    \
	X(getpeername, ENOTCONN)                                                                   \
	X(stack_map, ENOMEM)

#define EDO_SYS_CALL_NAME(name, error) EDO_CALL_##name,
enum edo_sys_call { EDO_SYS_CALLS(EDO_SYS_CALL_NAME) EDO_SYS_CALL_COUNT };
#undef EDO_SYS_CALL_NAME

/* The n-th call from now (0: the next) fails, once, with its own usual error. */
void edo_sys_fault_sweep(uint64_t n);

/*
 * The n-th call from now that can fail (0: the next) fails, once, with error k of its list in
 * sys_errors.c; if the list is shorter, none fails. What the error says is made true, where it would
 * be a lie that nobody could see through: EAGAIN brings the event that it promises, ENOTCONN of a
 * shutdown, a read or a write breaks the connection.
 */
void edo_sys_fault_sweep_listed(uint64_t n, unsigned k);

/* The failure that such a sweep brought about. */
struct edo_sys_injected {
	enum edo_sys_call call;
	int detail;     /* as in sys_errors.h */
	int error;      /* positive; an error that SO_ERROR held, too */
	unsigned count; /* how many errors its list has; 0: no call had this number */
	bool by_value;  /* SO_ERROR held it */
};

struct edo_sys_injected edo_sys_fault_injected(void);

/* The call's name, for people. */
const char *edo_sys_call_name(enum edo_sys_call call);

/* Has the failure that was asked for happened (for an order: at least once)? */
bool edo_sys_fault_happened(void);

/* The next `times` calls of this kind, after `skip` that are let pass, return -error. */
void edo_sys_fault_order(enum edo_sys_call call, int error, unsigned skip, unsigned times);

/* No more failures. */
void edo_sys_fault_clear(void);

/* How many calls of a kind were made so far, failed ones included; or of all kinds. */
uint64_t edo_sys_calls_of(enum edo_sys_call call);
uint64_t edo_sys_calls_made(void);

/* How many fibers' stacks are mapped now. */
int64_t edo_sys_stacks_mapped(void);

#endif
