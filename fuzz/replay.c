/*
 * A main for a fuzz target without libFuzzer: feeds it every file of the folders it is given, then
 * inputs of its own from a fixed seed, so that the target is exercised by every compiler and under
 * every sanitizer.
 */
#include "base/random.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 4096
#define GENERATED 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay_file(const char *folder, const char *name)
{
	static uint8_t data[1 << 20];
	char path[4096];
	FILE *file;
	size_t size;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (!file)
		return;
	size = fread(data, 1, sizeof data, file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
}

/* A corpus may be empty; git keeps no empty folders. */
static int replay_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int n = 0;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		replay_file(path, entry->d_name);
		n++;
	}
	if (folder)
		closedir(folder);
	return n;
}

static void replay_generated(void)
{
	static uint8_t data[LONGEST];
	struct edo_random random;

	edo_random_seed(&random, 1);
	for (int i = 0; i < GENERATED; i++) {
		size_t size = edo_random_below(&random, LONGEST);

		for (size_t at = 0; at < size; at++)
			data[at] = (uint8_t)edo_random_next(&random);
		LLVMFuzzerTestOneInput(data, size);
	}
}

int main(int argc, char **argv)
{
	int n = 0;

	for (int i = 1; i < argc; i++)
		n += replay_folder(argv[i]);
	replay_generated();
	printf("%d files and %d generated inputs\n", n, GENERATED);
	return 0;
}
