/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison that was cut short has already measured. */
#pragma once
#include "tare/verdict.h"

enum { ORDER_MAX = 4096 };

struct abba_progress {
	char order[ORDER_MAX + 1];
	uint64_t seed;
	int64_t run;              /* the last run of the plan; 0: nothing to resume */
	bool done[ORDER_MAX];
	size_t done_count;
};

/* The rounds of FILE's unfinished plan with these commands go into the trials. Refused when it has none. */
int abba_progress_read(const char *path, const char *a, const char *b, uint64_t rounds, struct tare_trials *trials,
	struct abba_progress *ret_progress, struct tare_err *err) TARE_MUST_USE;
