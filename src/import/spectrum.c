/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HdrHistogram's percentile tables: wrk2's detailed spectrum (ms) and .hgrm files,
 * which do not say their unit. A row tells how many values are at or below it, so
 * those it has more than the row before lie between the two; a row that adds none
 * tells nothing. Values are printed to three decimals and widened by half of the
 * last one.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

struct table {
	struct piece *piece;
	int unit;
	bool in_table;
	int64_t before_ns; /* upper edge of the row before; TARE_NO_TIME: none yet */
	uint64_t before;
	char footer[200];
	int64_t printed_max_ns;
	uint64_t printed_total;
};

static bool is_head(const char *text)
{
	text += strspn(text, " \t");
	return text_begins(text, "Value") && strstr(text, "Percentile") && strstr(text, "TotalCount");
}

static bool is_wrk2(const char *text)
{
	text += strspn(text, " \t");
	return text_begins(text, "Detailed Percentile spectrum:");
}

static bool knows_hgrm(struct lines *head)
{
	return head_has(head, 100, is_head);
}

static bool knows_wrk2(struct lines *head)
{
	return head_has(head, 200, is_wrk2);
}

/* Value, percentile, count, 1/(1-percentile) */
static int take_row(struct pieces *pieces, struct table *table, struct line *line, struct tare_err *err)
{
	struct field_text field[5];
	uint64_t total = 0;
	char copy[LINES_MAX_BYTES + 1];
	memcpy(copy, line->text, line->bytes + 1);
	size_t count = fields_of(copy, ' ', field, 5);
	if (count < 3 || !number_count(field[2].at, field[2].bytes, &total))
		return piece_damaged(pieces, line, "not a value, a percentile and a count", err);
	struct number value = number_read(field[0].at, field[0].bytes, table->unit);
	if (value.why || value.ns < 0)
		return piece_damaged(pieces, line, value.why ? value.why : "a negative value", err);
	if (total < table->before)
		return piece_damaged(pieces, line, "a count below the one before", err);
	int64_t half = value.step_ns / 2, high = value.ns > INT64_MAX - half ? INT64_MAX - 1 : value.ns + half;
	bool first = table->before_ns == TARE_NO_TIME;
	int64_t low = first ? (value.ns > half ? value.ns - half : 0) : table->before_ns;
	if (low > high)
		return piece_damaged(pieces, line, "a value below the one before", err);
	if (piece_range(table->piece, low, high, total - table->before, err))
		return -1;
	if (total > table->before || first) {
		table->before_ns = value.ns > half ? value.ns - half : 0;
		table->before = total;
	}
	return 0;
}

/* "#[Max     =     9420.800, Total count    =       475109]" */
static void take_footer(struct table *table, const char *text)
{
	const char *at = strchr(text, '['), *max = strstr(text, "Max"), *total = strstr(text, "Total count");
	struct text copy = {.bytes = table->footer, .used = strlen(table->footer), .room = sizeof(table->footer)};
	text_add(&copy, "%s%.*s", copy.used ? "; " : "", (int)strcspn(at + 1, "]"), at + 1);
	if (max && (max = strchr(max, '='))) {
		struct number number = number_read(max + 1, strcspn(max + 1, ",]"), table->unit);
		table->printed_max_ns = number.why ? TARE_NO_TIME : number.ns;
	}
	if (total && (total = strchr(total, '=')) &&
		!number_count(total + 1, strcspn(total + 1, ",]"), &table->printed_total))
		table->printed_total = 0;
}

/* "Max" is the lower edge of the bin that the largest value lies in, the last row its upper edge. */
static int end_table(struct table *table, struct import *import, struct tare_err *err)
{
	struct piece *piece = table->piece;
	if (!piece)
		return 0;
	table->in_table = false;
	struct tare_range *last = piece->range_count ? &piece->range[piece->range_count - 1] : NULL;
	if (last && table->printed_max_ns > last->low_ns && table->printed_max_ns <= last->high_ns) {
		int64_t high_ns = last->high_ns, low_ns = table->printed_max_ns;
		if (--last->count == 0)
			piece->range_count--;
		if (piece_range(piece, low_ns, high_ns, 1, err))
			return -1;
	}
	if (table->printed_total && table->printed_total != table->before &&
		import_note(import, IMPORT_MISMATCH, err, "the footer counts %" PRIu64 ", the rows %" PRIu64,
			table->printed_total, table->before))
		return -1;
	return table->footer[0] ? import_note(import, IMPORT_PRINTED, err, "its own figures, not used: %s", table->footer) : 0;
}

static int read_table(struct import *import, struct pieces *pieces, int unit, const struct tare_origin *origin,
	const char *url, struct tare_err *err)
{
	struct table table = {.unit = unit, .before_ns = TARE_NO_TIME, .printed_max_ns = TARE_NO_TIME};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		const char *text = line.text + strspn(line.text, " \t");
		if (is_head(line.text)) {
			if (end_table(&table, import, err))
				return -1;
			table = (struct table){.unit = unit,
				.in_table = true,
				.before_ns = TARE_NO_TIME,
				.printed_max_ns = TARE_NO_TIME,
				.piece = piece_add(pieces, url, origin->format, "", origin, err)};
			if (!table.piece)
				return -1;
		} else if (table.in_table && text[0] >= '0' && text[0] <= '9') {
			if (take_row(pieces, &table, &line, err))
				return -1;
		} else if (table.in_table && text_begins(text, "#[")) {
			take_footer(&table, text);
		} else if (table.in_table && *text) {
			if (end_table(&table, import, err))
				return -1;
			table.piece = NULL;
		}
	}
	if (got < 0 || end_table(&table, import, err))
		return -1;
	return 0;
}

static int read_wrk2(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	static const struct tare_origin origin = {.format = "http",
		.quantity = TARE_QUANTITY_RESPONSE,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_BINS,
		.left_out = TARE_LEFT_OUT_WARMUP};
	if (read_table(import, pieces, UNIT_MS, &origin, "wrk2:", err))
		return -1;
	if (!pieces->count)
		return tare_fail(err, TARE_E_FORMAT, "'%s': wrk2's summary only, without its percentile spectrum", import->name);
	return import_note(import, IMPORT_QUANTITY, err,
		"response is from when each request was due (wrk2); a figure is a range between two rows of the table, and the "
		"ranks are tare's: wrk2's own lie up to one bin higher");
}

int unit_of(const struct import *import, int *ret_unit, struct tare_err *err)
{
	const char *unit = import->rules.unit;
	if (!unit)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' does not say in which unit its numbers are\n  --unit ms (or s, us, ns) says so", import->name);
	if (!number_unit(unit, strlen(unit), ret_unit))
		return tare_fail(err, TARE_E_USAGE, "unknown unit '%s'; there are ns, us, ms, s", unit);
	return 0;
}

/* Ours begin with "# unit: us"; others must be told. */
static int hgrm_unit(struct import *import, int *ret_unit, struct tare_err *err)
{
	size_t bytes = 0;
	const char *head = lines_head(import->lines, &bytes);
	static const char mark[] = "# unit: ";
	if (!import->rules.unit && bytes > sizeof(mark) && memcmp(head, mark, sizeof(mark) - 1) == 0) {
		const char *word = head + sizeof(mark) - 1;
		const char *end = memchr(word, '\n', bytes - (sizeof(mark) - 1));
		size_t length = end ? (size_t)(end - word) : 0;
		if (number_unit(word, length, ret_unit))
			return 0;
	}
	return unit_of(import, ret_unit, err);
}

static int read_hgrm(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	static const struct tare_origin origin = {.format = "hdr",
		.quantity = TARE_QUANTITY_OTHER,
		.clock = TARE_CLOCK_UNKNOWN,
		.pacing = TARE_PACING_UNKNOWN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_BINS,
		.left_out = TARE_LEFT_OUT_UNKNOWN};
	int unit = 0;
	if (hgrm_unit(import, &unit, err) || read_table(import, pieces, unit, &origin, "hgrm:", err))
		return -1;
	return pieces->count ? import_note(import, IMPORT_QUANTITY, err,
				       "value is whatever was put into the histogram; a figure is a range between two rows")
			     : 0;
}

const struct import_format wrk2_format = {.name = "wrk2",
	.knows = knows_wrk2,
	.read = read_wrk2,
	.tool = "wrk2",
	.help = "wrk2's detailed percentile spectrum (--latency)"};
const struct import_format hgrm_format = {.name = "hgrm",
	.knows = knows_hgrm,
	.read = read_hgrm,
	.tool = "HdrHistogram",
	.help = "HdrHistogram's percentile table (.hgrm)"};
