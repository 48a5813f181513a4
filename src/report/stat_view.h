/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `tare stat` prints and `tare run` prints at its end: rows of figures and
 * the sentences that a figure alone would not say. Series are added one by one
 * and their samples are not kept; runs, targets, rounds and file names behind
 * them must outlive the view.
 */
#pragma once
#include <stdio.h>

#include "report/report.h"
#include "tare/cause.h"
#include "tare/recording.h"
#include "tare/stat.h"

struct stat_view;

/* `span_mask`: 1 << enum tare_span for every row wanted under rtt. */
int stat_view_open(const struct tare_rules *rules, uint32_t span_mask, struct stat_view **ret_view,
	struct tare_err *err) TARE_MUST_USE;
void stat_view_free(struct stat_view *view);                    /* NULL is fine */
static inline void stat_view_end(struct stat_view *const *view) /* for AUTO_CLEANUP */
{
	stat_view_free(*view);
}

/* Keeps the stalls themselves, for stat_view_print_stalls; to be called before the first series. */
void stat_view_list_stalls(struct stat_view *view);

/* rtt, and under it what is shown unless asked otherwise. */
uint32_t stat_view_usual_spans(void);

/* file: as given by the user; NULL for a live run. */
int stat_view_add(
	struct stat_view *view, const char *file, const struct tare_record *record, struct tare_err *err) TARE_MUST_USE;
/* The base row of the series added last, until the next add, and what it shows beyond that, as long as the view. */
struct stat_insight;
const struct tare_row *stat_view_last(const struct stat_view *view, const struct stat_insight **ret_insight);
/*
 * What was found about the stalls of a round just added (of all its targets); borrowed as long as the view. A
 * summary goes under its table, each cause beside its stall.
 */
int stat_view_causes(struct stat_view *view, const char *file, const struct tare_round *round,
	const struct tare_cause *causes, size_t count, struct tare_err *err) TARE_MUST_USE;
/* How a run ended, and what happened in it; texts are copied. */
int stat_view_run(struct stat_view *view, const char *file, const struct tare_run *run, const struct tare_event *events,
	size_t event_count, struct tare_err *err) TARE_MUST_USE;
/* A sentence (lower case, no full stop) about one round of a file, above or under its table; the text is copied. */
int stat_view_say(struct stat_view *view, const char *file, uint32_t round, bool above, const char *text,
	struct tare_err *err) TARE_MUST_USE;
/*
 * What a source says of itself; the text is copied. Kinds are those of struct tare_event that an imported log has, and
 * stand in their order, "head" and "quantity" above the table. The round is found by its id where that is given, else by
 * its number; 0 and 0 is the whole file, whose only round then has it. The same words about a further round are said once.
 */
struct stat_source_note {
	const char *file, *kind, *text;
	uint32_t round;
	int64_t round_id;
};
bool stat_view_is_note(const char *kind);
int stat_view_note(struct stat_view *view, const struct stat_source_note *note, struct tare_err *err) TARE_MUST_USE;
/* The same about a whole file or run: what a damaged file withheld. */
int stat_view_remark(struct stat_view *view, const char *text, struct tare_err *err) TARE_MUST_USE;

struct stat_layout {
	const char *schema;  /* of JSON; NULL: "tare.stat/1" */
	const struct format *format;
	int width;           /* text: columns of the terminal, 0: any */
	/*
	 * Columns: a flat table of these in any format. A sort orders flat tables, and in text those with a line a
	 * round, group or stall.
	 */
	struct table_asked asked;
};

/* Text comes with its sentences; JSON has them as an array "notes", CSV holds rows only, see stat_view_remarks. */
int stat_view_print(
	FILE *out, struct stat_view *view, const struct stat_layout *layout, struct tare_err *err) TARE_MUST_USE;
/* A line a stall, with its sequence, time, value, CPUs and multiples; text has the ladder of fixed limits too. */
int stat_view_print_stalls(FILE *out, struct stat_view *view, const struct stat_layout *layout,
			   struct tare_err *err) TARE_MUST_USE;
/* Sentences about files and runs, not about figures: unfinished, cut off, clock steps. */
void stat_view_remarks(FILE *out, int width, const struct stat_view *view);
