/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which rows make a block, and which blocks belong to one target in one run:
 * the order in which text shows them, decided before anything is printed.
 */
#pragma once
#include "report/stat_priv.h"

enum stat_placing {
	STAT_SERIES, /* one target in one round */
	STAT_ROUNDS, /* the rounds of one run merged */
	STAT_RUNS,   /* several runs merged */
	STAT_GROUP,  /* merged by a label, a CPU, … */
};

struct stat_placed {
	struct stat_block block;
	enum stat_placing placing;
	size_t note;  /* STAT_SERIES */
	size_t group; /* SIZE_MAX: STAT_RUNS and STAT_GROUP */
};

/* One target in one run. */
struct stat_group {
	const char *file, *target, *kind;
	int64_t run;
	size_t series;
	bool merged;
	struct stat_note sum; /* of its series */
};

struct stat_plan {
	struct stat_placed *blocks;
	size_t block_count;
	struct stat_group *groups;
	size_t group_count;
	bool many_files, many_runs;
};

/* rows: of tare_stat_rows for this view; they and the view must outlive the plan. */
int stat_plan_make(struct stat_plan *ret_plan, const struct stat_view *view, const struct tare_row *rows, size_t count,
	struct tare_err *err) TARE_MUST_USE;
void stat_plan_end(struct stat_plan *plan);
/* "rtt", " late", "  residence": a span's name under what it is a part of. */
const char *stat_tree_label(enum tare_span span);
