/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was gathered, for the writers of single formats. */
#pragma once
#include "report/distribution.h"

struct entry {
	char *target, *label;
	enum tare_span span;
	uint32_t round;
	int64_t started_ns, ended_ns, epoch_real_ns;
	uint64_t sent, lost, n;
	struct tare_range *range; /* ascending; width 1 where a value is exact */
	size_t range_count;
	bool binned;
	bool losses_known; /* else `sent` and `lost` are none */
};

struct distribution {
	struct tare_rules rules;
	struct entry *entry;
	size_t count;
	uint64_t summaries; /* left out: they have no distribution */
};

/* Upper bound of the value of that rank. */
int64_t entry_at(const struct entry *entry, uint64_t rank);

int write_hgrm(const struct distribution *distribution, FILE *out, struct tare_err *err);
int write_hlog(const struct distribution *distribution, FILE *out, struct tare_err *err);
int write_openmetrics(const struct distribution *distribution, FILE *out, struct tare_err *err);
int write_benchstat(const struct distribution *distribution, FILE *out, struct tare_err *err);
int write_hyperfine(const struct distribution *distribution, FILE *out, struct tare_err *err);
