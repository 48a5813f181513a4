/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows shared between collecting (stat.c) and merging (stat_merge.c). */
#pragma once
#include "tare/stat.h"

/* One target in one run: per span what its rounds add up to. */
struct row_part {
	struct tare_row row;
	uint32_t rounds;
	bool mixed;                    /* of different rates or payloads */
	struct tare_counts *counts;    /* of values, or of the upper bounds of ranges */
	struct tare_counts *lows;      /* of lower bounds; NULL while every value is exact */
	struct tare_counts *steps;     /* of neighbouring values, for IPDV; NULL unless asked for and the base span */
	int64_t *firsts_ns;            /* first two requests of each round, for the moments with them */
	size_t first_count, first_room;
};

/* What the figures of a row are made of. */
struct row_values {
	const struct tare_counts *counts, *steps; /* steps NULL: no variation */
	const int64_t *firsts_ns;
	size_t first_count;
	const struct tare_counts *lows; /* NULL: every value is exact */
};

struct row_group {
	struct row_part *part[TARE_SPAN_COUNT]; /* NULL where no round had the span */
	const char *file, *target, *kind, *key; /* key: text of the group, when merging by something else than runs */
	int64_t run;
};

/* The group a round belongs to, as text; false for groupings without one (run, target). */
bool row_group_key(const struct tare_record *record, enum tare_group_by by, char *ret_key, size_t room);

struct row_list {
	struct tare_row *rows;
	size_t count, room;
};

int row_push(struct row_list *list, const struct tare_row *row, struct tare_err *err) TARE_MUST_USE;
/* n, extremes, percentiles and PDV from the counts; the rest of the row stays. */
void row_figures(struct tare_row *row, const struct tare_rules *rules, const struct row_values *values);
/* Adds what can be added and drops what differs; figures are for row_figures. */
void row_merge(struct tare_row *into, const struct tare_row *from);

bool text_equal(const char *a, const char *b);

/*
 * Adds one round's row and values, or a whole part's, to a group. A group's first counts are taken over where
 * `take` gives the place they are owned at, an empty table left instead.
 */
struct row_tables { struct tare_counts **counts, **steps; };
int row_part_add(struct row_part **part, const struct tare_row *row, const struct row_values *values, const struct row_tables *take,
		 struct tare_err *err) TARE_MUST_USE;
struct row_values row_values_of(const struct row_part *part);
void row_part_free(struct row_part *part);
/* Appends merged rows: per run, then over runs. */
int row_merged(struct row_list *list, const struct tare_rules *rules, const struct row_group *groups, size_t count,
	       struct tare_err *err) TARE_MUST_USE;
