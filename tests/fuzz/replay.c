/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a fuzz target over its corpus without a fuzzing engine, so that every
 * normal run of the suite repeats it: each file whole and cut off at up to 200
 * places, in a block of exactly that size so that a sanitizer sees the first
 * byte read too far. A check a folder; a crash ends the program, and the comment
 * before it names the file.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "tap.h"

enum { PREFIXES_MAX = 200, FILE_BYTES_MAX = 16 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_exactly(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy) {
		printf("Bail out! out of memory\n");
		exit(1);
	}
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* Returns the file's bytes, to be freed by the caller; NULL when it cannot be read. */
static uint8_t *slurp(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rbe");
	if (!file)
		return NULL;
	uint8_t *data = malloc(FILE_BYTES_MAX);
	if (data)
		*ret_size = fread(data, 1, FILE_BYTES_MAX, file);
	fclose(file);
	return data;
}

static bool replay_file(const char *path)
{
	size_t size = 0;
	uint8_t *data = slurp(path, &size);
	if (!data) {
		printf("# cannot read '%s': %s\n", path, strerror(errno));
		return false;
	}
	printf("# %s, %zu bytes\n", path, size);
	fflush(stdout);
	size_t prefixes = size < PREFIXES_MAX ? size : PREFIXES_MAX;
	for (size_t i = 0; i < prefixes; i++)
		run_exactly(data, i * size / prefixes);
	run_exactly(data, size);
	free(data);
	return true;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_folder(const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, visible, alphasort), read = 0;
	for (int i = 0; i < count; i++) {
		char path[4096];
		int length = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (length > 0 && (size_t)length < sizeof(path) && replay_file(path))
			read++;
		free(entries[i]);
	}
	free(entries);
	const char *name = strrchr(folder, '/');
	OK(count > 0 && read == count, "%s: %d of %d files replayed", name ? name + 1 : folder, read, count);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay_folder(argv[i]);
	return tap_done();
}
