/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON, JSON lines and CSV: row by row, nothing kept. Integers are written
 * directly, since ten million samples of twenty figures are nothing else;
 * whatever is text and not plain goes through jansson.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/report.h"
#include "report/utf8.h"

static void put_unsigned(FILE *out, uint64_t value, bool negative)
{
	char digits[24];
	char *at = digits + sizeof(digits);
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	if (negative)
		*--at = '-';
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), out);
}

static void put_signed(FILE *out, int64_t value)
{
	put_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

/* Printable ASCII that needs no escape. */
static bool is_plain(const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text < 0x20 || *text > 0x7e || strchr(special, *text))
			return false;
	}
	return true;
}

/*
 * Everything beyond ASCII is escaped: JSON printed to a terminal would otherwise
 * hand it C1 control characters and direction overrides. Broken UTF-8, which
 * JSON cannot hold, is shown as text like elsewhere.
 */
void report_json_text(FILE *out, const char *text)
{
	if (is_plain(text, "\"\\")) {
		putc_unlocked('"', out);
		fputs_unlocked(text, out);
		putc_unlocked('"', out);
		return;
	}
	json_t *value = json_string(text);
	if (!value) {
		AUTO_FREE char *safe = utf8_safe(text, "\n\t");
		value = safe ? json_string(safe) : NULL;
	}
	AUTO_FREE char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
	json_decref(value);
	/* jansson's idea of ASCII includes DEL. */
	for (const char *at = quoted ? quoted : "null"; *at; at++) {
		if (*at == 0x7f)
			fputs_unlocked("\\u007f", out);
		else
			putc_unlocked(*at, out);
	}
}

static void put_json_value(FILE *out, const struct cell *cell)
{
	if (cell->state != CELL_VALUE) {
		fputs_unlocked("null", out);
		return;
	}
	switch (cell->type) {
	case CELL_TEXT:
		report_json_text(out, cell->as.text);
		break;
	case CELL_COUNT:
		put_unsigned(out, cell->as.count, false);
		break;
	case CELL_INTEGER:
		if (cell->ranged && cell->as.integer == INT64_MAX)
			fputs_unlocked("null", out);
		else
			put_signed(out, cell->as.integer);
		break;
	case CELL_REAL:
		if (isfinite(cell->as.real))
			fprintf(out, "%.17g", cell->as.real);
		else
			fputs_unlocked("null", out);
		break;
	}
}

static bool same_group(const char *one, const char *other)
{
	return one && other && strcmp(one, other) == 0;
}

static void put_json_object(struct report *report, const void *record)
{
	FILE *out = report->out;
	const char *group = NULL;
	const char *separator = "{";
	for (size_t i = 0; i < report->column_count; i++) {
		const struct column *column = &report->columns[i];
		struct cell cell = column->get(record, column);
		if (group && !same_group(group, column->group))
			putc_unlocked('}', out);
		fputs_unlocked(separator, out);
		separator = ",";
		if (column->group && !same_group(group, column->group)) {
			putc_unlocked('"', out);
			fputs_unlocked(column->group, out);
			fputs_unlocked("\":{", out);
		}
		group = column->group;
		putc_unlocked('"', out);
		fputs_unlocked(column->name, out);
		fputs_unlocked("\":", out);
		put_json_value(out, &cell);
	}
	fputs_unlocked(group ? "}}" : "}", out);
}

static int json_begin(struct report *report, struct tare_err *err)
{
	(void)err;
	report->rows = 0;
	fprintf(report->out, "{\"schema\":\"%s\",%s%s\"rows\":[", report->schema, report->facts ? report->facts : "",
		report->facts ? "," : "");
	return 0;
}

static int json_row(struct report *report, const void *record, struct tare_err *err)
{
	(void)err;
	fputs_unlocked(report->rows++ ? ",\n" : "\n", report->out);
	put_json_object(report, record);
	return 0;
}

static int json_end(struct report *report, struct tare_err *err)
{
	(void)err;
	fputs("\n]}\n", report->out);
	return 0;
}

static int jsonl_begin(struct report *report, struct tare_err *err)
{
	(void)err;
	report->rows = 0;
	return 0;
}

static int jsonl_row(struct report *report, const void *record, struct tare_err *err)
{
	(void)err;
	report->rows++;
	put_json_object(report, record);
	putc_unlocked('\n', report->out);
	return 0;
}

static int lines_end(struct report *report, struct tare_err *err)
{
	(void)report;
	(void)err;
	return 0;
}

/* Control characters are made visible here too; a line feed stays, in quotes. */
static void put_csv_text(FILE *out, const char *text)
{
	if (is_plain(text, "\",") && text[0] != ' ') {
		fputs_unlocked(text, out);
		return;
	}
	AUTO_FREE char *safe = utf8_safe(text, "\n");
	putc_unlocked('"', out);
	for (const char *at = safe ? safe : ""; *at; at++) {
		if (*at == '"')
			putc_unlocked('"', out);
		putc_unlocked(*at, out);
	}
	putc_unlocked('"', out);
}

static int csv_begin(struct report *report, struct tare_err *err)
{
	(void)err;
	report->rows = 0;
	for (size_t i = 0; i < report->column_count; i++) {
		const struct column *column = &report->columns[i];
		fprintf(report->out, "%s%s%s%s", i ? "," : "", column->group ? column->group : "",
			column->group ? "." : "", column->name);
	}
	fputc('\n', report->out);
	return 0;
}

static int csv_row(struct report *report, const void *record, struct tare_err *err)
{
	(void)err;
	FILE *out = report->out;
	report->rows++;
	for (size_t i = 0; i < report->column_count; i++) {
		const struct column *column = &report->columns[i];
		struct cell cell = column->get(record, column);
		if (i)
			putc_unlocked(',', out);
		if (cell.state != CELL_VALUE || (cell.ranged && cell.as.integer == INT64_MAX))
			continue;
		if (cell.type == CELL_TEXT)
			put_csv_text(out, cell.as.text);
		else
			put_json_value(out, &cell);
	}
	putc_unlocked('\n', out);
	return 0;
}

const struct format format_json = {"json", json_begin, json_row, json_end};
const struct format format_jsonl = {"jsonl", jsonl_begin, jsonl_row, lines_end};
const struct format format_csv = {"csv", csv_begin, csv_row, lines_end};
