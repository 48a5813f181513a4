/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a capture into samples and nothing more, for bench/capture. Prints wall
 * clock and CPU time in ns, samples, the largest resident size and what of it is
 * the process's own memory with the samples at hand, in kB: samples beyond a million lie in a
 * mapped temporary file, which counts as resident while the kernel has no better
 * use for the pages.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"
#include "import/import.h"

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static long status_kb(const char *name)
{
	char line[256];
	AUTO_FILE file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) == 0)
			return strtol(line + strlen(name), NULL, 10);
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct import *import = NULL;
	struct tare_err err = {0};
	const struct tare_record *record;
	uint64_t samples = 0;
	long own_kb = 0;
	struct rusage usage;
	if (argc != 2) {
		fprintf(stderr, "usage: samples FILE\n");
		return 2;
	}
	int64_t wall_ns = now_ns(CLOCK_MONOTONIC), cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	int found = import_open(argv[1], NULL, &import, &err);
	while (found == 0 && (found = import_next(import, &record, &err)) == 1) {
		long kb = status_kb("RssAnon:");
		own_kb = kb > own_kb ? kb : own_kb;
		samples += record->series.count;
		found = 0;
	}
	wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
	cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	if (found < 0) {
		fprintf(stderr, "samples: %s\n", err.text);
		return 1;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%" PRId64 " %" PRId64 " %" PRIu64 " %ld %ld\n", wall_ns, cpu_ns, samples, usage.ru_maxrss, own_kb);
	import_free(import);
	return 0;
}
