/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What watching costs on this host, by the oldest of switch benchmarks: two
 * threads on one CPU hand a byte to and fro through pipes. Medians of blocks, so
 * that an interrupt in one of them does not count.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "cause/watch.h"
#include "clock/clock.h"
#include "clock/cpu.h"

enum { BLOCKS = 15, TURNS = 40 };

struct pair {
	int there[2], back[2], cpu;
	bool watched, cpus_too;
	int64_t ns; /* of one switch */
};

static void *answer(void *argument)
{
	struct pair *pair = argument;
	struct tare_err ignored;
	char byte;
	if (pair->cpu >= 0 && cpu_pin(pair->cpu, &ignored) < 0)
		return NULL;
	while (read(pair->there[0], &byte, 1) == 1 && write(pair->back[1], &byte, 1) == 1)
		continue;
	return NULL;
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

/* The middle of BLOCKS blocks; each turn is two switches. TARE_NO_TIME when the pipes fail. */
static int64_t time_switches(struct pair *pair)
{
	int64_t block_ns[BLOCKS];
	char byte = 0;
	for (int block = -1; block < BLOCKS; block++) {
		int64_t from_ns = clock_mono_now().ns;
		for (int turn = 0; turn < TURNS; turn++)
			if (write(pair->there[1], &byte, 1) != 1 || read(pair->back[0], &byte, 1) != 1)
				return TARE_NO_TIME;
		if (block >= 0) /* the first warms up */
			block_ns[block] = clock_mono_now().ns - from_ns;
	}
	qsort(block_ns, BLOCKS, sizeof *block_ns, by_value);
	return block_ns[BLOCKS / 2] / (2 * TURNS);
}

static void *ask(void *argument)
{
	struct pair *pair = argument;
	struct watch *watch = NULL;
	struct tare_err ignored;
	pair->ns = TARE_NO_TIME;
	if (pair->cpu >= 0 && cpu_pin(pair->cpu, &ignored) < 0)
		return NULL;
	if (pair->watched) {
		int cpu = pair->cpu >= 0 ? pair->cpu : cpu_current();
		struct watch_plan plan = {
			.cpus = &cpu, .cpu_count = pair->cpus_too ? 1 : 0, .room = 4096, .recent = true};
		if (watch_open(&plan, &watch, &ignored) < 0)
			return NULL;
		watch_thread(watch);
	}
	pair->ns = time_switches(pair);
	watch_free(watch);
	return NULL;
}

static void close_pair(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static int64_t run_pair(int cpu, bool watched, bool cpus_too)
{
	struct pair pair = {.cpu = cpu, .watched = watched, .cpus_too = cpus_too, .ns = TARE_NO_TIME};
	pthread_t asking, answering;
	if (pipe(pair.there) != 0)
		return TARE_NO_TIME;
	if (pipe(pair.back) != 0) {
		close_pair(pair.there);
		return TARE_NO_TIME;
	}
	bool answers = pthread_create(&answering, NULL, answer, &pair) == 0;
	if (answers && pthread_create(&asking, NULL, ask, &pair) == 0)
		pthread_join(asking, NULL);
	/* ends the other one, which waits for a byte */
	close(pair.there[1]);
	if (answers)
		pthread_join(answering, NULL);
	close(pair.there[0]);
	close_pair(pair.back);
	return pair.ns;
}

int64_t watch_cost_ns(int cpu, bool cpus_too)
{
	int64_t without_ns = run_pair(cpu, false, false), with_ns = run_pair(cpu, true, cpus_too);
	if (without_ns == TARE_NO_TIME || with_ns == TARE_NO_TIME)
		return TARE_NO_TIME;
	return with_ns > without_ns ? with_ns - without_ns : 0;
}
