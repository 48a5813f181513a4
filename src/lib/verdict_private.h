/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that judge share: one figure of all trials, taken apart. */
#pragma once
#include "tare/verdict.h"

struct judged {
	size_t n, missing;
	uint64_t rounds[2], least_n;
	int64_t resolution_ns;
	void *room;
	double *ns;      /* the figure */
	double *fitted;  /* the same or its logarithm */
	double *at;      /* places in time, one round apart on average */
	double *spare;   /* n */
	unsigned char *arms;
	double **columns; /* the arm of the round before, where it is in the fit; then labels */
	size_t carry, column_count; /* carry: 0 or 1; column_count: of labels */
	double largest_move; /* of a CPU's share between the arms */
};

/* From the intervals and the margin to one of the verdicts. */
void verdict_climb(struct tare_verdict *verdict);
int verdict_judge_counts(const struct tare_trial *trials, struct judged *judged, const struct tare_verdict_rules *rules,
			 struct tare_verdict *verdict, struct tare_err *err) TARE_MUST_USE;
