/*
 * Every call fails once, system calls and allocations alike: whatever a scenario then says, it ends, and
 * leaves nothing behind (the runner counts descriptors and allocations).
 */
#include "rig.h"
#include "support/allocations.h"

/* Listens, connects, accepts, sends a byte and closes; the first failure ends it. */
static int whole_life(void)
{
	edo_tcp_listener listener;
	edo_tcp_connect_future connect;
	edo_tcp client = { 0 }, server = { 0 };
	edo_addr addr;
	char byte;
	int rc = edo_tcp_listen(&listener, "127.0.0.1:0");

	if (rc < 0)
		return rc;
	rc = edo_tcp_listener_addr(&listener, &addr);
	edo_tcp_connect_addr_start(&connect, &client, &addr);
	if (rc == 0)
		rc = edo_timeout(EDO_SEC(100), &connect.future);
	edo_future_drop(&connect.future);
	if (rc == 0)
		rc = edo_tcp_accept(&listener, &server, NULL);
	if (rc == 0)
		rc = (int)edo_tcp_write_all(&client, "x", 1);
	if (rc == 0)
		rc = (int)edo_tcp_read(&server, &byte, 1);
	if (rc == 1)
		rc = (int)edo_tcp_close(&client);
	edo_tcp_close(&client);
	edo_tcp_close(&server);
	edo_tcp_listener_close(&listener);
	return rc;
}

/* Calls that may fail without anybody noticing: a wait that is interrupted, an accept that is tried again. */
static bool is_an_outcome(int rc)
{
	return rc == 0 || (rc < 0 && rc > -4096);
}

/* A connection that could not be registered is closed, and nobody else comes: accept waits on. */
static int whole_life_limited(void *arg)
{
	(void)arg;
	return whole_life();
}

static int run_limited(void)
{
	edo_task_wait_future wait;
	edo_task *task;
	int result = -EIO;
	int rc = edo_spawn_fiber(NULL, whole_life_limited, NULL, 0, &task);

	if (rc < 0)
		return rc;
	rc = edo_timeout(EDO_SEC(1000), edo_task_wait_start(&wait, task));
	if (rc < 0)
		edo_task_abort(task);
	(void)edo_task_join(task, &result);
	return result;
}

static void each_system_call_may_fail(void **state)
{
	uint64_t n;
	int rc = -1;

	(void)state;
	for (n = 0; n < 1000; n++) {
		edo_sys_fault_sweep(n);
		rc = run_limited();
		assert_true(is_an_outcome(rc));
		if (!edo_sys_fault_happened())
			break;
		edo_sys_fault_clear();
	}
	edo_sys_fault_clear();
	assert_int_equal(rc, 0);
	assert_in_range(n, 15, 999);
}

static void each_allocation_may_fail(void **state)
{
	uint64_t n;
	int rc = -1;

	(void)state;
	for (n = 0; n < 1000; n++) {
		edo_test_allocations_fail(n);
		rc = run_limited();
		assert_true(is_an_outcome(rc));
		if (!edo_test_allocations_failed())
			break;
	}
	edo_test_allocations_fail(EDO_TEST_NEVER);
	assert_int_equal(rc, 0);
}

static const struct CMUnitTest tests[] = {
	rig_test_paused(each_system_call_may_fail),
	rig_test_paused(each_allocation_may_fail),
};

EDO_TEST_MAIN(tests)
