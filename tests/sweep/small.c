#include "small.h"

/* ---- waits under the guard ---- */

int sweep_connect(edo_tcp *stream, const edo_addr *addr)
{
	edo_tcp_connect_future connect;

	return edo_timeout(SWEEP_GUARD, edo_tcp_connect_addr_start(&connect, stream, addr));
}

ssize_t sweep_read(edo_tcp *stream, void *buf, size_t len)
{
	edo_tcp_io io;

	return edo_timeout(SWEEP_GUARD, edo_tcp_read_start(&io, stream, buf, len));
}

int sweep_write(edo_tcp *stream, const void *buf, size_t len)
{
	edo_tcp_io io;

	return edo_timeout(SWEEP_GUARD, edo_tcp_write_all_start(&io, stream, buf, len));
}

void sweep_end_task(edo_task *task)
{
	if (!task)
		return;
	edo_task_abort(task);
	assert_int_equal(edo_task_join(task, NULL), 0);
}

void sweep_block_on(struct sweep_life *life, edo_fiber_fn *fn, void *arg)
{
	(void)sweep_tell(life, edo_block_on(life->runtime, fn, arg, NULL));
}

/* ---- the small scenario ---- */

static int return_seven(void *arg)
{
	(void)arg;
	return 7;
}

static int use_a_task(void)
{
	edo_task *task;
	int result = 0;
	int rc = edo_spawn_fiber(NULL, return_seven, NULL, 0, &task);

	if (rc == 0)
		rc = edo_task_join(task, &result);
	return rc == 0 && result != 7 ? -EPROTO : rc;
}

static int accept_one(edo_tcp_listener *listener, edo_tcp *stream)
{
	edo_tcp_accept_future accept;

	return edo_timeout(SWEEP_GUARD, edo_tcp_accept_start(&accept, listener, stream, NULL));
}

static int pass_a_byte(edo_tcp_listener *listener, const edo_addr *addr)
{
	edo_tcp client = { 0 };
	edo_tcp server = { 0 };
	char byte = 0;
	int rc = sweep_connect(&client, addr);

	if (rc == 0)
		rc = accept_one(listener, &server);
	if (rc == 0)
		rc = sweep_write(&client, "x", 1);
	if (rc == 0)
		rc = (int)sweep_read(&server, &byte, 1);
	(void)edo_tcp_close(&client);
	(void)edo_tcp_close(&server);
	return rc == 1 && byte == 'x' ? 0 : rc < 0 ? rc : -EPROTO;
}

static int use_a_connection(void)
{
	edo_tcp_listener listener;
	edo_addr addr;
	int rc = edo_tcp_listen(&listener, "127.0.0.1:0");

	if (rc < 0)
		return rc;
	rc = edo_tcp_listener_addr(&listener, &addr);
	if (rc == 0)
		rc = pass_a_byte(&listener, &addr);
	(void)edo_tcp_listener_close(&listener);
	return rc;
}

static int use_everything(void *arg)
{
	const edo_config *config = arg;
	int rc = use_a_task();

	if (rc == 0 && !config->disable_time)
		rc = edo_sleep(EDO_US(20));
	if (rc == 0 && !config->disable_io)
		rc = use_a_connection();
	return rc;
}

int sweep_small(edo_runtime *runtime, const edo_config *config)
{
	int result;
	int rc = edo_block_on(runtime, use_everything, (void *)(uintptr_t)config, &result);

	return rc < 0 ? rc : result;
}
