/*
 * Any non-blocking file descriptor joins the reactor. This is how other C libraries (c-ares, libcurl,
 * hiredis, libpq) are driven by edo.
 *
 * The descriptor here is a timerfd that expires every 2 ms.
 */
#define _POSIX_C_SOURCE 200809L /* for CLOCK_MONOTONIC, which strict C11 hides */
#include <edo/edo.h>
#include <errno.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int count_expirations(int timerfd, unsigned long long *total, unsigned long long enough)
{
	edo_async_fd afd;
	edo_ready ready;
	int rc = edo_async_fd_init(&afd, timerfd,
				   EDO_READABLE); /* -EINVAL if it blocks, -EPERM if not pollable */

	if (rc < 0)
		return rc;
	while (*total < enough && (rc = edo_async_fd_readable(&afd, &ready)) == 0) {
		unsigned long long n;
		ssize_t got = read(timerfd, &n, sizeof n);

		if (got == (ssize_t)sizeof n)
			*total += n;
		else if (got < 0 && errno == EAGAIN)
			edo_async_fd_clear(
				&afd, ready); /* only what was seen: newer readiness survives */
		else {
			rc = got < 0 ? -errno : -EIO;
			break;
		}
	}
	edo_async_fd_drop(&afd); /* deregisters; the descriptor stays the caller's */
	return rc;
}

static int make_timerfd(long period_ns)
{
	struct itimerspec period = { { 0, period_ns }, { 0, period_ns } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd >= 0 && timerfd_settime(fd, 0, &period, NULL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int run(void *arg)
{
	unsigned long long total = 0;
	int timerfd = make_timerfd(2000000);
	int rc;

	(void)arg;
	if (timerfd < 0)
		return -errno;
	rc = count_expirations(timerfd, &total, 10);
	close(timerfd);
	if (rc == 0)
		printf("the timerfd expired %llu times\n", total);
	return rc == 0 && total < 10 ? -EIO : rc;
}

int main(void)
{
	int rc = edo_run(run, NULL);

	if (rc < 0)
		fprintf(stderr, "async_fd: %s\n", edo_strerror(rc));
	return rc < 0;
}
