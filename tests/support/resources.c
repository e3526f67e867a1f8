#include "support/resources.h"
#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_set(const struct edo_test_resources *resources, int fd)
{
	return resources->descriptors[fd / 8] >> (fd % 8) & 1;
}

static void take_descriptors(struct edo_test_resources *resources)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	memset(resources->descriptors, 0, sizeof resources->descriptors);
	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || fd == dirfd(folder) ||
		    fd >= EDO_TEST_MOST_DESCRIPTORS)
			continue;
		resources->descriptors[fd / 8] |= (unsigned char)(1U << (fd % 8));
	}
	if (folder)
		closedir(folder);
}

static int count_threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	while (folder && (entry = readdir(folder)))
		n += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return n;
}

void edo_test_resources_take(struct edo_test_resources *resources)
{
	take_descriptors(resources);
	resources->threads = count_threads();
}

static void describe(const char *what, int fd)
{
	char path[64];
	char target[256];
	ssize_t len;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	len = readlink(path, target, sizeof target - 1);
	target[len < 0 ? 0 : len] = 0;
	fprintf(stderr, "%s descriptor %d %s\n", what, fd, target);
}

static int compare_descriptors(const struct edo_test_resources *before)
{
	static struct edo_test_resources now;
	int differences = 0;

	take_descriptors(&now);
	for (int fd = 0; fd < EDO_TEST_MOST_DESCRIPTORS; fd++) {
		if (is_set(before, fd) == is_set(&now, fd))
			continue;
		describe(is_set(&now, fd) ? "leaked" : "closed another's", fd);
		differences++;
	}
	return differences;
}

/* A joined thread leaves /proc a moment after its join: only one that stays was left behind. */
static int threads_left(int before)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int more = count_threads() - before;

	for (int tries = 0; more > 0 && tries < 2000; tries++) {
		nanosleep(&moment, NULL);
		more = count_threads() - before;
	}
	return more > 0 ? more : 0;
}

int edo_test_resources_compare(const struct edo_test_resources *before)
{
	int threads = threads_left(before->threads);

	if (threads)
		fprintf(stderr, "left %d threads running\n", threads);
	return compare_descriptors(before) + threads;
}
