/* Actors that drive descriptors of their own through edo_async_fd: the two ends of a pipe, each a fiber's. */
#include "net.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* What both ends know. The last one frees it. */
struct pipe {
	unsigned ends;
	uint64_t written;
	struct soak_connection bytes; /* as a connection's, from end 0 */
};

struct pipe_end {
	struct pipe *pipe;
	int fd;
	uint64_t to_move;
};

static void leave(struct pipe_end *end)
{
	(void)close(end->fd);
	if (--end->pipe->ends == 0)
		free(end->pipe);
}

static ssize_t read_end(struct pipe_end *end, uint64_t before)
{
	unsigned char bytes[512];
	ssize_t got = read(end->fd, bytes, sizeof bytes);

	if (got < 0)
		return -errno;
	soak_verify(&end->pipe->bytes, 1, before, bytes, (size_t)got);
	soak_count_many(SOAK_pipe_bytes_verified, (uint64_t)got);
	return got;
}

static ssize_t write_end(struct pipe_end *end)
{
	unsigned char bytes[512];
	ssize_t put;

	soak_fill(&end->pipe->bytes, 0, bytes, sizeof bytes);
	put = write(end->fd, bytes, sizeof bytes);
	if (put < 0)
		return -errno;
	end->pipe->bytes.sent[0] += (uint64_t)put;
	return put;
}

/* Waits, at times not to the end, at times after the registration has been made anew or moved. */
static int await_ready(struct soak_actor *self, edo_async_fd *afd, edo_interest interest,
		       edo_ready *ready)
{
	edo_async_fd_future wait;
	struct soak_give_up give_up;
	edo_future *future = edo_async_fd_ready_start(&wait, afd, interest);
	int rc;

	if (soak_one_in(&self->mix, 4))
		future = soak_give_up_start(&give_up, 1 + soak_below(&self->mix, 4), future);
	rc = edo_await(future);
	soak_expect_wait(self->world, rc, "a descriptor's wait");
	*ready = wait.ready;
	return rc;
}

static int move_registration(struct soak_actor *self, edo_async_fd *afd, int fd,
			     edo_interest interest)
{
	edo_async_fd moved = *afd;
	int rc;

	soak_expect(edo_async_fd_get(&moved) == fd, "a moved descriptor is another");
	if (soak_one_in(&self->mix, 2)) {
		*afd = moved;
		soak_expect(edo_async_fd_get(afd) == fd, "a descriptor that came back is another");
		return 0;
	}
	rc = edo_async_fd_drop(&moved);
	soak_expect(rc == 0, "dropping a descriptor said %s", edo_strerror(rc));
	soak_expect(edo_async_fd_drop(afd) == -EBADF, "a descriptor was dropped twice");
	rc = edo_async_fd_init(afd, fd, interest);
	soak_expect_made(rc, "registering a descriptor again");
	return rc;
}

/* One call when it is ready. 0: the end; 1: go on. */
static int move_bytes(struct soak_actor *self, struct pipe_end *end, edo_async_fd *afd,
		      edo_interest interest, uint64_t *moved)
{
	edo_ready ready;
	ssize_t n;
	int rc = await_ready(self, afd, interest, &ready);

	if (rc < 0)
		return rc == SOAK_GAVE_UP ? 1 : rc;
	n = interest == EDO_READABLE ? read_end(end, *moved) : write_end(end);
	if (n == -EAGAIN)
		edo_async_fd_clear(afd, ready);
	soak_expect(n >= 0 || n == -EAGAIN || n == -EINTR || n == -EPIPE, "a pipe said %s",
		    edo_strerror((int)n));
	if (n > 0)
		*moved += (uint64_t)n;
	return n == 0 || n == -EPIPE ? 0 : 1;
}

static int use_end(struct soak_actor *self, struct pipe_end *end, edo_interest interest)
{
	edo_async_fd afd;
	uint64_t moved = 0;
	int rc = edo_async_fd_init(&afd, end->fd, interest);

	soak_expect_made(rc, "registering a descriptor");
	if (rc < 0)
		return 0;
	do {
		rc = 1;
		if (soak_one_in(&self->mix, 12))
			rc = move_registration(self, &afd, end->fd, interest);
		if (rc >= 0)
			rc = move_bytes(self, end, &afd, interest, &moved);
	} while (rc > 0 && moved < end->to_move &&
		 !(interest == EDO_WRITABLE && soak_is_draining(self->world)));
	if (interest == EDO_READABLE && rc == 0)
		soak_expect(moved == end->pipe->bytes.sent[0],
			    "a pipe of %llu bytes ended after %llu",
			    (unsigned long long)end->pipe->bytes.sent[0],
			    (unsigned long long)moved);
	(void)edo_async_fd_drop(&afd);
	return rc == -ECANCELED ? rc : 0;
}

int soak_pipe_end(struct soak_actor *self)
{
	struct pipe_end *end = self->own;
	int rc = use_end(self, end, EDO_READABLE);

	leave(end);
	free(end);
	return rc;
}

static struct pipe *make_pipe(struct soak_mix *mix, int fds[2])
{
	struct pipe *pipe = calloc(1, sizeof *pipe);

	if (!pipe)
		return NULL;
	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0) {
		soak_expect_made(-errno, "a pipe");
		free(pipe);
		return NULL;
	}
	pipe->ends = 1;
	pipe->bytes.key = (uint32_t)edo_random_next(&mix->random);
	soak_count(SOAK_pipes);
	return pipe;
}

static void spawn_reader(struct soak_actor *self, struct pipe *pipe, int fd)
{
	struct pipe_end *end = malloc(sizeof *end);

	if (!end) {
		(void)close(fd);
		return;
	}
	*end = (struct pipe_end){ pipe, fd, soak_one_in(&self->mix, 3) ? 1000 : UINT64_MAX };
	pipe->ends++;
	if (soak_spawn_kind(self->world, &self->mix, SOAK_PIPE_END, 0, end, NULL) < 0) {
		leave(end);
		free(end);
	}
}

/* The writer; the reader is a fiber of its own, and may go before. */
int soak_piper(struct soak_actor *self)
{
	struct pipe_end end = { .to_move = soak_length(&self->mix, 300000) };
	int fds[2];
	int rc;

	end.pipe = make_pipe(&self->mix, fds);
	if (!end.pipe)
		return 0;
	end.fd = fds[1];
	spawn_reader(self, end.pipe, fds[0]);
	rc = use_end(self, &end, EDO_WRITABLE);
	leave(&end);
	return rc;
}
