/*
 * Descriptors from elsewhere under every failure: a pipe whose ends wait for each other, an eventfd
 * that is registered, deregistered and registered again.
 *
 * The descriptors are the test's own, which no failure reaches.
 */
#include "sweep.h"
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct pipe_ends {
	struct sweep_life *life;
	int fds[2];
};

/* Waits until it may be read, under the guard. */
static int await_readable(edo_async_fd *afd, edo_ready *ready)
{
	edo_async_fd_future wait;
	int rc = edo_timeout(SWEEP_GUARD, edo_async_fd_ready_start(&wait, afd, EDO_READABLE));

	*ready = wait.ready;
	return rc;
}

/* As a user of edo_async_fd must: the call first, and after EAGAIN the clear and the wait. */
static int read_one(edo_async_fd *afd, int fd)
{
	edo_ready ready = { 0 };
	char byte;
	ssize_t n;

	while ((n = read(fd, &byte, 1)) < 0) {
		int rc;

		if (errno != EAGAIN)
			return -errno;
		edo_async_fd_clear(afd, ready);
		rc = await_readable(afd, &ready);
		if (rc < 0)
			return rc;
	}
	return n == 1 ? 0 : -EPROTO;
}

static int reader(void *arg)
{
	struct pipe_ends *pipe = *(struct pipe_ends **)arg;
	edo_async_fd afd;
	int rc = edo_async_fd_init(&afd, pipe->fds[0], EDO_READABLE);

	if (rc < 0)
		return sweep_tell(pipe->life, rc);
	rc = sweep_tell(pipe->life, read_one(&afd, pipe->fds[0]));
	(void)sweep_tell(pipe->life, edo_async_fd_drop(&afd));
	return rc;
}

static int write_one(struct pipe_ends *pipe)
{
	edo_async_fd afd;
	edo_ready ready;
	int rc = edo_async_fd_init(&afd, pipe->fds[1], EDO_WRITABLE);

	if (rc < 0)
		return rc;
	rc = edo_async_fd_writable(&afd, &ready);
	if (rc == 0)
		assert_int_equal(write(pipe->fds[1], "x", 1), 1);
	(void)sweep_tell(pipe->life, edo_async_fd_drop(&afd));
	return rc;
}

/* The reader is not left waiting when nothing could be written. */
static int pass_through(struct pipe_ends *pipe)
{
	edo_task *task;
	int rc = edo_spawn_fiber(NULL, reader, &pipe, sizeof pipe, &task);

	if (rc < 0)
		return rc;
	rc = edo_yield();
	if (rc == 0)
		rc = write_one(pipe);
	if (rc < 0)
		assert_int_equal(write(pipe->fds[1], "x", 1), 1);
	(void)sweep_tell(pipe->life, edo_task_join(task, NULL));
	return rc;
}

static int use_a_pipe(struct sweep_life *life)
{
	struct pipe_ends pipe = { .life = life };
	int rc;

	assert_return_code(pipe2(pipe.fds, O_NONBLOCK | O_CLOEXEC), errno);
	rc = pass_through(&pipe);
	close(pipe.fds[0]);
	close(pipe.fds[1]);
	return rc;
}

/* Registered, dropped and registered anew: also when the poller could not forget the first time (p47). */
static int register_twice(struct sweep_life *life, int fd)
{
	edo_async_fd afd;
	edo_ready ready;
	int rc = edo_async_fd_init(&afd, fd, EDO_READABLE);

	if (rc < 0)
		return rc;
	(void)sweep_tell(life, edo_async_fd_drop(&afd));
	rc = edo_async_fd_init(&afd, fd, EDO_READABLE);
	if (rc < 0)
		return rc;
	rc = await_readable(&afd, &ready);
	(void)sweep_tell(life, edo_async_fd_drop(&afd));
	return rc;
}

static int use_an_eventfd(struct sweep_life *life)
{
	int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
	int rc;

	assert_return_code(fd, errno);
	rc = register_twice(life, fd);
	close(fd);
	return rc;
}

static int use_descriptors(void *arg)
{
	struct sweep_life *life = arg;

	(void)sweep_tell(life, use_a_pipe(life));
	(void)sweep_tell(life, use_an_eventfd(life));
	return 0;
}

static void live(struct sweep_life *life)
{
	sweep_block_on(life, use_descriptors, life);
}

static void descriptors_survive_or_tell_every_failure(void **state)
{
	static const struct sweep_scenario scenario = {
		.name = "async_fd",
		.config = { .timer_resolution = 20000 },
		.live = live,
	};

	(void)state;
	sweep(&scenario);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(descriptors_survive_or_tell_every_failure),
};

EDO_TEST_MAIN(tests)
