#include "observe.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The n-th number (from 0) of a file of numbers. */
static uint64_t number_in(const char *path, unsigned n)
{
	FILE *file = fopen(path, "r");
	unsigned long long number = 0;

	if (!file)
		return 0;
	for (unsigned i = 0; i <= n; i++)
		if (fscanf(file, "%llu", &number) != 1)
			number = 0;
	fclose(file);
	return number;
}

/* schedstat's first number: time on the CPU, exact where `stat` counts in hundredths of a second. */
uint64_t echo_cpu_ns(unsigned pid)
{
	char path[64];
	struct dirent *entry;
	uint64_t sum = 0;
	DIR *folder;

	snprintf(path, sizeof path, "/proc/%u/task", pid);
	folder = pid ? opendir(path) : NULL;
	while (folder && (entry = readdir(folder))) {
		char file[400];

		snprintf(file, sizeof file, "%s/%s/schedstat", path, entry->d_name);
		if (entry->d_name[0] != '.')
			sum += number_in(file, 0);
	}
	if (folder)
		closedir(folder);
	return sum;
}

uint64_t echo_resident_bytes(unsigned pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%u/statm", pid);
	return pid ? number_in(path, 1) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void echo_set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}
