/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of a budget (tare/budget.h), for `tare stat --budget`: a line a percentile or slow request. */
#pragma once
#include "lib/place_columns.h"
#include "tare/budget.h"

struct budget_at {
	struct place_at place; /* without a round: a line may be about several */
	const struct tare_budget *budget;
	const struct tare_budget_row *row;   /* a percentile */
	const struct tare_budget_slow *slow; /* or one of the slowest */
	const char *what;                    /* "p99.9", "slow 1" */
	const char *sentence;                /* of a percentile: what grew most since the first one; NULL: nothing */
	int64_t whole_ns;                    /* mean; TARE_NO_TIME: too few */
	int64_t part_ns[TARE_PART_COUNT];
};
/* Fills whole and parts from row or slow. */
void budget_at_fill(struct budget_at *at);

enum { BUDGET_COLUMNS_FIRST_PART = 10 }; /* then TARE_PART_COUNT of them, in order */
extern const struct column budget_columns[];
extern const size_t budget_column_count;
