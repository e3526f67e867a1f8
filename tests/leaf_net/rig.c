#include "rig.h"
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

static int enter(void **state, const edo_config *config)
{
	struct rig *rig = calloc(1, sizeof *rig);

	assert_non_null(rig);
	assert_int_equal(edo_runtime_create(&rig->runtime, config), 0);
	assert_int_equal(edo_runtime_enter(rig->runtime, &rig->guard), 0);
	*state = rig;
	return 0;
}

int rig_enter(void **state)
{
	return enter(state, NULL);
}

int rig_enter_paused(void **state)
{
	edo_config config = EDO_CONFIG_INIT;

	config.start_paused = true;
	return enter(state, &config);
}

int rig_leave(void **state)
{
	struct rig *rig = *state;
	int left;

	edo_sys_fault_clear();
	edo_runtime_leave(&rig->guard);
	left = edo_runtime_destroy(rig->runtime);
	free(rig);
	return left;
}

void rig_listen(edo_tcp_listener *listener, edo_addr *addr)
{
	assert_int_equal(edo_tcp_listen(listener, "127.0.0.1:0"), 0);
	assert_int_equal(edo_tcp_listener_addr(listener, addr), 0);
}

int rig_dial(const edo_addr *addr)
{
	int fd = socket(addr->sockaddr.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int on = 1;

	assert_return_code(fd, errno);
	/* What a test sends is there when the call returns, and not when the last one was acknowledged. */
	assert_return_code(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), errno);
	assert_return_code(connect(fd, &addr->sockaddr.any, addr->len), errno);
	return fd;
}

void rig_pair(edo_tcp *stream, int *peer)
{
	edo_tcp_listener listener;
	edo_addr addr;

	rig_listen(&listener, &addr);
	*peer = rig_dial(&addr);
	assert_int_equal(edo_tcp_accept(&listener, stream, NULL), 0);
	assert_int_equal(edo_tcp_listener_close(&listener), 0);
}

void rig_reset(int fd)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	close(fd);
}

void rig_send(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

void rig_receive(int fd, void *bytes, size_t len)
{
	assert_int_equal(recv(fd, bytes, len, MSG_WAITALL), len);
}

unsigned rig_wakes;

static edo_waker counting_waker(void *data);

static void count_wake(void *data)
{
	(void)data;
	rig_wakes++;
}

static void drop_nothing(void *data)
{
	(void)data;
}

static const edo_waker_ops counting_ops = { counting_waker, count_wake, count_wake, drop_nothing };

static edo_waker counting_waker(void *data)
{
	return (edo_waker){ data, &counting_ops };
}

edo_poll rig_poll(edo_future *future)
{
	edo_waker waker = counting_waker(&rig_wakes);
	edo_context cx;

	edo_context_init(&cx, &waker);
	return edo_future_poll(future, &cx);
}

void rig_turn(void)
{
	for (int i = 0; i < 3; i++)
		assert_int_equal(edo_yield(), 0);
}

void rig_fill(unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251);
}
