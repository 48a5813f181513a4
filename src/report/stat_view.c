/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Collecting what a statistics view shows. The figures themselves are libtare's;
 * here are the notes beside them and the choice of the output.
 */
#include "report/stat_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/stat_priv.h"

/* Events and sentences beyond these say nothing that the first ones do not. */
enum { EVENTS_TOLD = 8 };

bool stat_same_text(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

int stat_grow(void **array, size_t count, size_t *room, size_t size, struct tare_err *err)
{
	if (count < *room)
		return 0;
	size_t wanted = *room ? 2 * *room : 16;
	void *larger = reallocarray(*array, wanted, size);
	if (!larger)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	*array = larger;
	*room = wanted;
	return 0;
}

uint32_t stat_view_usual_spans(void)
{
	return 1u << TARE_SPAN_RTT | 1u << TARE_SPAN_RESPONSE | 1u << TARE_SPAN_LATE | 1u << TARE_SPAN_TX |
	       1u << TARE_SPAN_STACK | 1u << TARE_SPAN_RESIDENCE | 1u << TARE_SPAN_WAKE | 1u << TARE_SPAN_GAP |
	       1u << TARE_SPAN_RESOLVE | 1u << TARE_SPAN_CONNECT | 1u << TARE_SPAN_TLS | 1u << TARE_SPAN_FIRST_BYTE |
	       1u << TARE_SPAN_BODY | 1u << TARE_SPAN_ONE_WAY | 1u << TARE_SPAN_ONE_WAY_BACK;
}

int stat_view_open(
	const struct tare_rules *rules, uint32_t span_mask, struct stat_view **ret_view, struct tare_err *err)
{
	struct stat_view *view = calloc(1, sizeof(*view));
	if (!view)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	view->rules = *rules;
	if (tare_stat_open(rules, span_mask, &view->stat, err) || stat_columns_open(rules, &view->columns, err)) {
		stat_view_free(view);
		return -1;
	}
	*ret_view = view;
	return 0;
}

static void insight_free(struct stat_insight *insight)
{
	if (insight)
		stat_insight_end(insight);
	free(insight);
}

void stat_view_list_stalls(struct stat_view *view)
{
	view->list_stalls = true;
}

void stat_view_free(struct stat_view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->said_count; i++)
		free(view->said[i].text);
	for (size_t i = 0; i < view->remark_count; i++)
		free(view->remarks[i]);
	free(view->said);
	free(view->remarks);
	for (size_t i = 0; i < view->note_count; i++)
		insight_free(view->insights[i]);
	free(view->insights);
	free(view->notes);
	stat_columns_free(view->columns);
	tare_stat_free(view->stat);
	free(view);
}

int stat_view_add(struct stat_view *view, const char *file, const struct tare_record *record, struct tare_err *err)
{
	void *notes = view->notes, *insights = view->insights;
	if (stat_grow(&notes, view->note_count, &view->note_room, sizeof(*view->notes), err))
		return -1;
	view->notes = notes;
	if (stat_grow(&insights, view->note_count, &view->insight_room, sizeof(struct stat_insight *), err))
		return -1;
	view->insights = insights;
	if (tare_stat_add(view->stat, file, record, err))
		return -1;
	struct stat_insight *insight = calloc(1, sizeof(*insight));
	if (!insight)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (stat_insight_take(insight, file, record, tare_stat_last(view->stat), &view->rules, view->list_stalls, err)) {
		free(insight);
		return -1;
	}
	struct stat_note *note = &view->notes[view->note_count];
	stat_note_take(note, file, record, view->rules.warmup);
	note->stalls = insight->stalls;
	note->insight = insight;
	view->insights[view->note_count++] = insight;
	return 0;
}

const struct tare_row *stat_view_last(const struct stat_view *view, const struct stat_insight **ret_insight)
{
	*ret_insight = view->note_count ? view->insights[view->note_count - 1] : NULL;
	return tare_stat_last(view->stat);
}

int stat_view_remark(struct stat_view *view, const char *text, struct tare_err *err)
{
	void *remarks = view->remarks;
	if (stat_grow(&remarks, view->remark_count, &view->remark_room, sizeof(*view->remarks), err))
		return -1;
	view->remarks = remarks;
	view->remarks[view->remark_count] = strdup(text);
	if (!view->remarks[view->remark_count])
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	view->remark_count++;
	return 0;
}

int stat_view_causes(struct stat_view *view, const char *file, const struct tare_round *round,
	const struct tare_cause *causes, size_t count, struct tare_err *err)
{
	char line[600];
	for (size_t i = 0; i < view->note_count; i++) {
		struct stat_note *note = &view->notes[i];
		if (note->round == round && stat_same_text(note->file, file)) {
			note->causes = causes;
			note->cause_count = count;
		}
	}
	tare_causes_summary(causes, count, line, sizeof(line));
	return line[0] ? stat_view_say(view, file, round->number, false, line, err) : 0;
}

static const char *status_words(enum tare_run_status status)
{
	switch (status) {
	case TARE_RUN_UNFINISHED:
		return " is unfinished: its process vanished before the end";
	case TARE_RUN_INTERRUPTED:
		return " was interrupted by a signal and is complete up to there";
	case TARE_RUN_FAILED:
		return " was ended by an error";
	case TARE_RUN_FINISHED:
		break;
	}
	return NULL;
}

int stat_view_run(struct stat_view *view, const char *file, const struct tare_run *run, const struct tare_event *events,
	size_t event_count, struct tare_err *err)
{
	const char *words = status_words(run->status);
	char line[700], name[300];
	struct text whose = TEXT_IN(name);
	size_t told = 0;
	if (file)
		text_add(&whose, "%s: ", file);
	text_add(&whose, "run %" PRId64, run->id);
	if (words) {
		struct text text = TEXT_IN(line);
		text_add(&text, "%s%s", name, words);
		if (stat_view_remark(view, line, err))
			return -1;
	}
	for (size_t i = 0; i < event_count; i++) {
		struct text text = TEXT_IN(line);
		char when[48];
		/* of every round, for whoever looks for it: what of it matters is an event "losses" */
		if (strcmp(events[i].kind, "counters") == 0)
			continue;
		if (stat_view_is_note(events[i].kind)) {
			const struct stat_source_note note = {
				.file = file, .kind = events[i].kind, .text = events[i].text, .round_id = events[i].round};
			if (stat_view_note(view, &note, err))
				return -1;
			continue;
		}
		if (told++ >= EVENTS_TOLD)
			continue;
		format_duration(events[i].at_ns, when, sizeof(when));
		bool timed = events[i].at_ns != TARE_NO_TIME;
		text_add(&text, "%s%s%s: %s: %s", name, timed ? ", at " : "", timed ? when : "", events[i].kind,
			events[i].text);
		if (stat_view_remark(view, line, err))
			return -1;
	}
	if (told <= EVENTS_TOLD)
		return 0;
	struct text text = TEXT_IN(line);
	text_add(&text, "%s: %zu more events", name, told - EVENTS_TOLD);
	return stat_view_remark(view, line, err);
}

void stat_view_remarks(FILE *out, int width, const struct stat_view *view)
{
	for (size_t i = 0; i < view->remark_count; i++)
		report_sentence(out, width, "%s.", view->remarks[i]);
}

static int print_flat(FILE *out, const struct stat_view *view, const struct stat_layout *layout,
	const struct tare_row *rows, size_t count, struct tare_err *err)
{
	struct report report = {.out = out, .schema = layout->schema ? layout->schema : "tare.stat/1", .width = layout->width};
	report.columns = stat_columns_table(view->columns, &report.column_count);
	AUTO_FREE char *notes = layout->format == &format_json ? stat_said_json(view) : NULL;
	if (layout->format == &format_json && !notes)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	report.facts = notes;
	return report_table(&report, layout->format, &layout->asked, NULL, rows, count, sizeof(*rows), err);
}

int stat_view_print(FILE *out, struct stat_view *view, const struct stat_layout *layout, struct tare_err *err)
{
	const struct tare_row *rows;
	size_t count;
	if (tare_stat_rows(view->stat, &rows, &count, err))
		return -1;
	if (layout->asked.columns || layout->format != &format_text)
		return print_flat(out, view, layout, rows, count, err);
	return stat_text_print(out, layout, view, rows, count, err);
}
