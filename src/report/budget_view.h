/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `tare stat --budget` prints: the parts of the response around its
 * percentiles and of the ten slowest requests, a block a target and run. Rounds
 * are added one by one and their samples are not kept; runs, targets and file
 * names behind them must outlive the view.
 */
#pragma once
#include <stdio.h>

#include "report/report.h"
#include "report/stat_view.h"
#include "tare/budget.h"
#include "tare/run.h"

struct budget_view;

/* The percentiles of `rules`, at most TARE_BUDGET_ROWS, and its warm-up. */
int budget_view_open(const struct tare_rules *rules, struct budget_view **ret_view, struct tare_err *err) TARE_MUST_USE;
void budget_view_free(struct budget_view *view);                    /* NULL is fine */
static inline void budget_view_end(struct budget_view *const *view) /* for AUTO_CLEANUP */
{
	budget_view_free(*view);
}
int budget_view_add(
	struct budget_view *view, const char *file, const struct tare_record *record, struct tare_err *err) TARE_MUST_USE;
/* Text, or rows of schema "tare.budget/1". */
int budget_view_print(
	FILE *out, struct budget_view *view, const struct stat_layout *layout, struct tare_err *err) TARE_MUST_USE;
