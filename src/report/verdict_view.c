/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison as text, JSON or CSV. Text says the answer first, in one sentence,
 * then what an expert would ask next; figures that are invalid of themselves (a
 * p99.9 of 1000 requests) are named last.
 */
#include "report/verdict_view.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "lib/verdict_columns.h"

void comparison_note(struct comparison *comparison, const char *note)
{
	if (comparison->note_count < COMPARISON_NOTES_MAX && note && note[0])
		comparison->notes[comparison->note_count++] = note;
}

/* ---- text ---- */

static void print_line(FILE *out, int width, const char *text)
{
	report_sentence(out, width, "  %s.", text);
}

/* What a figure would have needed; 0 where that is not why it is missing. */
static uint64_t needed_of(const struct tare_verdict *verdict)
{
	struct tare_percentile p = verdict->figure.percentile;
	bool pdv = verdict->figure.kind == TARE_FIGURE_PDV;
	if (isfinite(verdict->value_a) || (!pdv && verdict->figure.kind != TARE_FIGURE_PERCENTILE))
		return 0;
	if (pdv && tare_percentile_parse("99.9", &p, NULL) < 0)
		return 0;
	uint64_t needed = tare_needed(&p, 10);
	return verdict->n < needed ? needed : 0;
}

static void print_not_said(FILE *out, int width, const struct comparison *comparison)
{
	char line[1024];
	struct text text = TEXT_IN(line);
	bool unit_said = false;
	for (size_t i = 1; i < comparison->count; i++) {
		const struct tare_verdict *verdict = &comparison->verdicts[i];
		if (verdict->kind != TARE_VERDICT_INVALID)
			continue;
		uint64_t needed = needed_of(verdict);
		text_add(&text, "%s%s", text.used ? ", " : "not said: ", verdict->figure.name);
		if (needed)
			text_add(&text, " (needs %llu%s)", (unsigned long long)needed, unit_said ? "" : " requests a round");
		unit_said |= needed > 0;
	}
	if (text.used)
		print_line(out, width, line);
}

static void print_others(FILE *out, int width, const struct comparison *comparison)
{
	char line[2048], brief[256];
	struct text text = TEXT_IN(line);
	for (size_t i = 1; i < comparison->count; i++) {
		if (comparison->verdicts[i].kind == TARE_VERDICT_INVALID)
			continue;
		tare_verdict_brief(&comparison->verdicts[i], brief, sizeof brief);
		text_add(&text, "%s%s", text.used ? "; " : "", brief);
	}
	if (text.used)
		print_line(out, width, line);
	print_not_said(out, width, comparison);
}

static void print_basis(FILE *out, int width, const struct comparison *comparison)
{
	const struct tare_verdict *v = &comparison->verdicts[0];
	char line[512], rate[32];
	struct text text = TEXT_IN(line);
	text_add(&text, "%llu + %llu rounds of %llu requests", (unsigned long long)v->rounds_a,
		(unsigned long long)v->rounds_b, (unsigned long long)v->n);
	if (v->figure.kind == TARE_FIGURE_PERCENTILE)
		text_add(&text, " (%llu behind %s%s)", (unsigned long long)v->behind, v->figure.name,
			v->behind < 10 ? ", too few" : v->behind < 100 ? ", thin" : "");
	if (comparison->order && strlen(comparison->order) <= 64)
		text_add(&text, " in the order %s", comparison->order);
	if (!tare_figure_is_count(&v->figure) && v->kind != TARE_VERDICT_INVALID)
		text_add(&text, v->ordered ? ": paired by order" : ": not interleaved, compared as two sets");
	if (isfinite(comparison->rate)) {
		format_rate(comparison->rate, rate, sizeof rate);
		text_add(&text, "; this speaks for %s only", rate);
	}
	print_line(out, width, line);
}

static void print_text(FILE *out, int width, const struct comparison *comparison)
{
	char line[1024];
	tare_verdict_sentence(&comparison->verdicts[0], line, sizeof line);
	report_sentence(out, width, "%s.", line);
	for (size_t i = 1; comparison->reasons && i < comparison->reasons->count; i++)
		report_sentence(out, width, "  and: %s.", comparison->reasons->text[i]);
	tare_verdict_evidence(&comparison->verdicts[0], line, sizeof line);
	if (line[0])
		print_line(out, width, line);
	print_others(out, width, comparison);
	for (size_t i = 0; i < comparison->note_count; i++)
		print_line(out, width, comparison->notes[i]);
	print_basis(out, width, comparison);
}

/* ---- JSON ---- */

static json_t *value_of(const struct cell *cell)
{
	if (cell->state != CELL_VALUE)
		return json_null();
	switch (cell->type) {
	case CELL_COUNT:
		return json_integer((json_int_t)cell->as.count);
	case CELL_INTEGER:
		return json_integer(cell->as.integer);
	case CELL_REAL:
		return json_real(cell->as.real);
	case CELL_TEXT:
		break;
	}
	json_t *text = json_string(cell->as.text);
	return text ? text : json_null();
}

static json_t *row_of(const struct tare_verdict *verdict)
{
	size_t count;
	const struct column *columns = verdict_columns_table(&count);
	json_t *row = json_object();
	for (size_t i = 0; i < count; i++) {
		struct cell cell = columns[i].get(verdict, &columns[i]);
		json_object_set_new(row, columns[i].name, value_of(&cell));
	}
	return row;
}

static int print_json(FILE *out, const struct comparison *comparison, struct tare_err *err)
{
	char schema[40], sentence[1024];
	struct text text = TEXT_IN(schema);
	text_add(&text, "tare.%s/1", comparison->command);
	json_t *rows = json_array(), *reasons = json_array(), *notes = json_array(), *whole = json_object();
	tare_verdict_sentence(&comparison->verdicts[0], sentence, sizeof sentence);
	for (size_t i = 0; i < comparison->count; i++)
		json_array_append_new(rows, row_of(&comparison->verdicts[i]));
	for (size_t i = 0; comparison->reasons && i < comparison->reasons->count; i++)
		json_array_append_new(reasons, json_string(comparison->reasons->text[i]));
	for (size_t i = 0; i < comparison->note_count; i++)
		json_array_append_new(notes, json_string(comparison->notes[i]));
	json_object_set_new(whole, "schema", json_string(schema));
	json_object_set_new(whole, "verdict", json_string(tare_verdict_name(comparison->verdicts[0].kind)));
	json_object_set_new(whole, "exit", json_integer(comparison->exit));
	json_object_set_new(whole, "sentence", json_string(sentence));
	json_object_set_new(whole, "reasons", reasons);
	json_object_set_new(whole, "notes", notes);
	json_object_set_new(whole, "order", comparison->order ? json_string(comparison->order) : json_null());
	json_object_set_new(whole, "seed", comparison->seed ? json_integer((json_int_t)comparison->seed) : json_null());
	json_object_set_new(whole, "rate", isfinite(comparison->rate) ? json_real(comparison->rate) : json_null());
	json_object_set_new(whole, "stall_limit_ns",
		comparison->stall_limit_ns == TARE_NO_TIME ? json_null() : json_integer(comparison->stall_limit_ns));
	json_object_set_new(whole, "rows", rows);
	char *dump = json_dumps(whole, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
	json_decref(whole);
	if (!dump)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	fprintf(out, "%s\n", dump);
	free(dump);
	return 0;
}

int comparison_check(const struct table_asked *asked, struct tare_err *err)
{
	size_t count;
	const struct column *columns = verdict_columns_table(&count);
	return report_check(asked, columns, count, err);
}

int comparison_print(FILE *out, int width, const struct format *format, const struct table_asked *asked,
	const struct comparison *comparison, struct tare_err *err)
{
	bool flat = asked && asked->columns;
	if (format == &format_json && !flat)
		return print_json(out, comparison, err);
	if (format == &format_text && !flat) {
		print_text(out, width, comparison);
		return 0;
	}
	struct report report = {.out = out, .schema = "tare.compare/1", .width = width};
	report.columns = verdict_columns_table(&report.column_count);
	return report_table(
		&report, format, asked, NULL, comparison->verdicts, comparison->count, sizeof *comparison->verdicts, err);
}
