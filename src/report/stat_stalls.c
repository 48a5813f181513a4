/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stalls one by one. Text groups them by series, each with its sentence and the
 * ladder of fixed limits, by which hosts with different medians compare; the
 * other formats are one flat table.
 */
#include <inttypes.h>

#include "base/text.h"
#include "lib/stall_columns.h"
#include "report/stat_priv.h"

enum { COLUMNS_MAX = 32 };

static struct stall_at place_of(const struct stat_note *note, const struct tare_stall *stall, enum tare_span span)
{
	return (struct stall_at){.file = note->file,
		.run = note->run,
		.target = note->target,
		.round = note->round,
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

static int write_series(struct report *report, const struct format *format, const struct stat_note *note,
	struct tare_err *err)
{
	const struct stat_insight *insight = note->insight;
	for (size_t i = 0; i < insight->list_count; i++) {
		struct stall_at at = place_of(note, &insight->list[i], insight->span);
		char why[200];
		at.cause = cause_of(note, insight->list[i].sequence);
		if (at.cause) {
			tare_cause_sentence(at.cause, why, sizeof(why));
			at.why = why;
		}
		if (format->row(report, &at, err))
			return -1;
	}
	return 0;
}

static int choose(const char *list, struct report *report, struct column *room, struct tare_err *err)
{
	report->columns = stall_columns;
	report->column_count = stall_column_count;
	if (!list)
		return 0;
	if (report_choose(stall_columns, stall_column_count, list, room, COLUMNS_MAX, &report->column_count, err))
		return -1;
	report->columns = room;
	return 0;
}

static int print_flat(FILE *out, const struct stat_view *view, const struct stat_layout *layout, struct tare_err *err)
{
	struct column chosen[COLUMNS_MAX];
	struct report report = {.out = out, .schema = "tare.stalls/1", .width = layout->width};
	if (choose(layout->columns, &report, chosen, err))
		return -1;
	int failed = layout->format->begin(&report, err);
	for (size_t i = 0; i < view->note_count && !failed; i++)
		failed = write_series(&report, layout->format, &view->notes[i], err);
	if (!failed)
		failed = layout->format->end(&report, err);
	report_free(&report);
	return failed ? -1 : 0;
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

static int print_series(FILE *out, int width, const struct stat_note *note, struct tare_err *err)
{
	static const char plain_columns[] = "seq,episode,at_ns,value_ns,of_median,of_p999,cpu_tx,cpu_rx,cpu_peer_rx";
	static const char cause_columns[] = "seq,episode,at_ns,value_ns,of_median,cause";
	const char *text_columns = note->cause_count ? cause_columns : plain_columns;
	const struct stat_insight *insight = note->insight;
	struct column chosen[COLUMNS_MAX];
	char sentence[INSIGHT_TEXT];
	int sentence_width = width > 0 ? width : 100;
	struct report report = {.out = out, .width = width};
	report_sentence(out, sentence_width, "%s   round %" PRIu32 "%s%s", note->target->url, note->round->number,
		note->round->label && note->round->label[0] ? ", " : "", note->round->label ? note->round->label : "");
	tare_stalls_sentence(&insight->stalls, sentence, sizeof(sentence));
	report_sentence(out, sentence_width, "%s.", sentence);
	print_ladder(out, sentence_width, &insight->stalls);
	print_causes(out, sentence_width, note);
	if (insight->list_count == 0)
		return 0;
	report.scale = scale_for(insight->list[0].value_ns, note->resolution_ns);
	report_sentence(out, sentence_width, "times in %s:", report.scale->unit);
	if (choose(text_columns, &report, chosen, err))
		return -1;
	int failed = format_text.begin(&report, err);
	if (!failed)
		failed = write_series(&report, &format_text, note, err);
	if (!failed)
		failed = format_text.end(&report, err);
	report_free(&report);
	if (!failed && insight->stalls.samples > insight->list_count)
		report_sentence(out, sentence_width, "and %" PRIu64 " more.", insight->stalls.samples - insight->list_count);
	return failed ? -1 : 0;
}

int stat_view_print_stalls(FILE *out, struct stat_view *view, const struct stat_layout *layout, struct tare_err *err)
{
	if (layout->format != &format_text || layout->columns)
		return print_flat(out, view, layout, err);
	for (size_t i = 0; i < view->note_count; i++) {
		if (i)
			fputc('\n', out);
		if (print_series(out, layout->width, &view->notes[i], err))
			return -1;
	}
	if (view->remark_count)
		fputc('\n', out);
	stat_view_remarks(out, layout->width > 0 ? layout->width : 100, view);
	return 0;
}
