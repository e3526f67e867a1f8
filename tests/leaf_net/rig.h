/*
 * What the tests of TCP share: a runtime entered by the test's thread, peers that are not ours (plain
 * blocking sockets), and polls by hand.
 */
#ifndef EDO_TESTS_LEAF_NET_RIG_H
#define EDO_TESTS_LEAF_NET_RIG_H

#include "support/runner.h"
#include "support/sys_fault.h"
#include <edo/edo.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct rig {
	edo_runtime *runtime;
	edo_enter_guard guard;
};

/* Setup and teardown: *state is a struct rig, its runtime entered. No order for faults outlives a test. */
int rig_enter(void **state);
int rig_enter_paused(void **state);
int rig_leave(void **state);

#define rig_test(f) cmocka_unit_test_setup_teardown(f, rig_enter, rig_leave)
#define rig_test_paused(f) cmocka_unit_test_setup_teardown(f, rig_enter_paused, rig_leave)

/* A listener at a free port of 127.0.0.1, and its address. */
void rig_listen(edo_tcp_listener *listener, edo_addr *addr);
/* A plain client's connection to it. */
int rig_dial(const edo_addr *addr);
/* A stream of ours and, as its peer, a plain blocking socket. */
void rig_pair(edo_tcp *stream, int *peer);
/* Closes with a reset. */
void rig_reset(int fd);

void rig_send(int fd, const void *bytes, size_t len);
void rig_receive(int fd, void *bytes, size_t len);

/* One poll with a waker that counts in rig_wakes. */
extern unsigned rig_wakes;
edo_poll rig_poll(edo_future *future);
/* Lets the driver look at what has come in. */
void rig_turn(void);

/* Bytes that tell where they belong. */
void rig_fill(unsigned char *bytes, size_t len);

#endif
