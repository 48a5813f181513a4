/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stalls one by one. Text groups them by series, each with its sentence and the
 * ladder of fixed limits, by which hosts with different medians compare; the
 * other formats are one flat table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "lib/stall_columns.h"
#include "report/stat_priv.h"

static struct stall_at place_of(const struct stat_note *note, const struct tare_stall *stall, enum tare_span span)
{
	return (struct stall_at){
		.place = {.file = note->file, .run = note->run, .target = note->target, .round = note->round},
		.span = span,
		.stall = stall};
}

/* Stalls come first and in order; the control behind them never has the number of a stall. */
static const struct tare_cause *cause_of(const struct stat_note *note, size_t sequence)
{
	for (size_t i = 0; i < note->cause_count; i++) {
		const struct tare_cause *cause = &note->causes[i];
		if ((uint64_t)cause->sequence == sequence && cause->target == note->target->position && !cause->control)
			return cause;
	}
	return NULL;
}

/* The stalls of a series as records of their column table, beside the text of their causes. */
struct stall_rows {
	struct stall_at *at;
	size_t count;
};

static void rows_end(const struct stall_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free((char *)rows->at[i].why);
	free(rows->at);
}

static int rows_add(struct stall_rows *rows, const struct stat_note *note, struct tare_err *err)
{
	const struct stat_insight *insight = note->insight;
	struct stall_at *at = reallocarray(rows->at, rows->count + insight->list_count + 1, sizeof(*at));
	if (!at)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
	rows->at = at;
	for (size_t i = 0; i < insight->list_count; i++) {
		struct stall_at one = place_of(note, &insight->list[i], insight->span);
		char why[200];
		one.cause = cause_of(note, insight->list[i].sequence);
		if (one.cause) {
			tare_cause_sentence(one.cause, why, sizeof(why));
			one.why = strdup(why);
			if (!one.why)
				return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
		}
		rows->at[rows->count++] = one;
	}
	return 0;
}

static int print_rows(struct report *report, const struct stat_layout *layout, const char *usual,
	const struct stall_rows *rows, struct tare_err *err)
{
	report->columns = stall_columns;
	report->column_count = stall_column_count;
	report->own_units = true;
	return report_table(
		report, layout->format, &layout->asked, usual, rows->at, rows->count, sizeof(*rows->at), err);
}

static int print_flat(FILE *out, const struct stat_view *view, const struct stat_layout *layout, struct tare_err *err)
{
	AUTO_CLEANUP(rows_end) struct stall_rows rows = {0};
	struct report report = {.out = out, .schema = "tare.stalls/1", .width = layout->width};
	for (size_t i = 0; i < view->note_count; i++) {
		if (rows_add(&rows, &view->notes[i], err))
			return -1;
	}
	return print_rows(&report, layout, NULL, &rows, err);
}

static void print_ladder(FILE *out, int width, const struct tare_stalls *stalls)
{
	char line[300], limit[32];
	struct text text = TEXT_IN(line);
	for (size_t step = 0; step < TARE_LADDER_STEPS; step++) {
		format_duration(tare_ladder_ns(step), limit, sizeof(limit));
		text_add(&text, "%s%" PRIu64 " above %s", step ? ", " : "", stalls->ladder[step], limit);
	}
	report_sentence(out, width, "%s, of %" PRIu64 ".", line, stalls->n);
}

/* How many causes of requests outside of the list are named one by one. */
enum { OTHERS_MOST = 20 };

static bool is_listed(const struct stat_insight *insight, int64_t sequence)
{
	for (size_t i = 0; i < insight->list_count; i++)
		if (insight->list[i].sequence == (uint64_t)sequence)
			return true;
	return false;
}

/*
 * What was found: of all stalls, also those that the list of this span does not show (a request that left late
 * is none by its rtt), and of the ordinary requests beside them.
 */
static void print_causes(FILE *out, int width, const struct stat_note *note)
{
	char line[600];
	size_t controls = 0, with_word = 0, shown = 0;
	tare_causes_summary(note->causes, note->cause_count, line, sizeof(line));
	if (!line[0])
		return;
	report_sentence(out, width, "%s.", line);
	for (size_t i = 0; i < note->cause_count; i++) {
		controls += note->causes[i].control;
		with_word += note->causes[i].control && note->causes[i].word != TARE_WORD_NONE;
	}
	report_sentence(out, width, "of %zu ordinary requests %zu had anything to explain.", controls, with_word);
	for (size_t i = 0; i < note->cause_count && shown < OTHERS_MOST; i++) {
		const struct tare_cause *cause = &note->causes[i];
		if (cause->control || cause->target != note->target->position || is_listed(note->insight, cause->sequence))
			continue;
		char why[200];
		tare_cause_sentence(cause, why, sizeof(why));
		report_sentence(out, width, "#%" PRId64 " left late or was lost: %s.", cause->sequence, why);
		shown++;
	}
}

static int print_series(FILE *out, const struct stat_layout *layout, const struct stat_note *note, struct tare_err *err)
{
	static const char plain_columns[] = "seq,episode,at_ns,value_ns,of_median,of_p999,cpu_tx,cpu_rx,cpu_peer_rx";
	static const char cause_columns[] = "seq,episode,at_ns,value_ns,of_median,cause";
	const struct stat_insight *insight = note->insight;
	AUTO_CLEANUP(rows_end) struct stall_rows rows = {0};
	char sentence[INSIGHT_TEXT];
	int sentence_width = layout->width > 0 ? layout->width : 100;
	struct report report = {.out = out, .width = layout->width};
	report_sentence(out, sentence_width, "%s   round %" PRIu32 "%s%s", note->target->url, note->round->number,
		note->round->label && note->round->label[0] ? ", " : "", note->round->label ? note->round->label : "");
	tare_stalls_sentence(&insight->stalls, sentence, sizeof(sentence));
	report_sentence(out, sentence_width, "%s.", sentence);
	print_ladder(out, sentence_width, &insight->stalls);
	print_causes(out, sentence_width, note);
	if (insight->list_count == 0)
		return 0;
	if (rows_add(&rows, note, err) ||
		print_rows(&report, layout, note->cause_count ? cause_columns : plain_columns, &rows, err))
		return -1;
	if (insight->stalls.samples > insight->list_count)
		report_sentence(out, sentence_width, "and %" PRIu64 " more.", insight->stalls.samples - insight->list_count);
	return 0;
}

int stat_view_print_stalls(FILE *out, struct stat_view *view, const struct stat_layout *layout, struct tare_err *err)
{
	if (layout->format != &format_text || layout->asked.columns)
		return print_flat(out, view, layout, err);
	if (report_sort(stall_columns, stall_column_count, layout->asked.sort, NULL, 0, err))
		return -1;
	for (size_t i = 0; i < view->note_count; i++) {
		if (i)
			fputc('\n', out);
		if (print_series(out, layout, &view->notes[i], err))
			return -1;
	}
	if (view->remark_count)
		fputc('\n', out);
	stat_view_remarks(out, layout->width > 0 ? layout->width : 100, view);
	return 0;
}
