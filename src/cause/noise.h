/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a core quiet? A thread on each core reads the clock without end; what lies
 * between two readings, beyond the least there ever was, is what the core was
 * taken away for. All threads begin and end together, so that what one does to
 * another shows.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "tare/cause.h"
#include "tare/err.h"

enum { NOISE_STEPS = 9, NOISE_WORST = 8, NOISE_CPUS_MOST = 256 };
/* Lower limits of the histogram's steps: 1, 2, 5, 10, 20, 50, 100 us, 1 ms, 10 ms. */
int64_t noise_step_ns(size_t step);

struct noise_gap {
	int64_t at_ns, ns;       /* since the beginning */
	struct tare_cause cause; /* word NONE: not watched */
};
struct noise_core {
	int cpu;
	uint64_t readings;
	int64_t bias_ns; /* least between two readings: what the loop itself costs */
	int64_t lost_ns; /* sum of all gaps of 1 us or more, bias taken off */
	uint64_t count[NOISE_STEPS];
	struct noise_gap worst[NOISE_WORST]; /* longest first */
	size_t worst_count;
	bool failed;
	struct tare_err err;
};

/* What the columns are of. */
struct noise_row {
	const struct noise_core *core;
	int64_t for_ns;
};
extern const struct column noise_columns[];
extern const size_t noise_column_count;

struct noise_plan {
	const int *cpus;
	size_t cpu_count;
	int64_t for_ns;
	bool why; /* watch the threads, for the causes of the longest gaps */
};
/* Fills ret_cores, cpu_count of them; *ret_missing (a static text, or "") tells what causes are not seen. */
int noise_run(const struct noise_plan *plan, struct noise_core *ret_cores, char *ret_missing, size_t room,
	struct tare_err *err) TARE_MUST_USE;
