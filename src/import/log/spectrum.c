/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HdrHistogram's percentile tables: wrk2's detailed spectrum (ms; a second one of
 * -U measures from the send, not from when a request was due) and .hgrm files, as
 * columns or CSV, which do not say their unit. A row tells how many values are at or below it, so
 * those it has more than the row before lie between the two; a row that adds none
 * tells nothing. Values are printed to three decimals and widened by half of the
 * last one.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

enum { PRINTED = 16 };

/* A percentile as wrk2 prints it above the spectrum: " 99.900%   30.74ms". */
struct printed {
	uint64_t of_hundred_thousand;
	struct number value;
};

struct table {
	struct piece *piece;
	int unit;
	bool in_table;
	int64_t before_ns; /* upper edge of the row before; TARE_NO_TIME: none yet */
	uint64_t before;
	char footer[200];
	int64_t printed_max_ns;
	uint64_t printed_total;
	struct printed printed[PRINTED];
	size_t printed_count;
};

/* What stands above a table: whose it is, and the percentiles that are printed of it. */
struct above {
	char url[160];
	bool uncorrected, in_list;
	struct printed printed[PRINTED];
	size_t printed_count;
};

static bool is_head(const char *text)
{
	text += strspn(text, " \t\"");
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

/* wrk's own too, which is refused with a word on what to do. */
static bool is_wrk(const char *text)
{
	text += strspn(text, " \t");
	return text_begins(text, "Thread Stats") && strstr(text, "Stdev") && strstr(text, "+/-");
}

static bool knows_wrk2(struct lines *head)
{
	return head_has(head, 200, is_wrk2);
}

static bool knows_wrk(struct lines *head)
{
	return head_has(head, 60, is_wrk);
}

/* Value, percentile, count, 1/(1-percentile) */
static int take_row(struct pieces *pieces, struct table *table, struct line *line, struct tare_err *err)
{
	struct field_text field[5];
	uint64_t total = 0;
	if (piece_cut(pieces, line))
		return 0;
	char copy[LINES_MAX_BYTES + 1];
	memcpy(copy, line->text, line->bytes + 1);
	size_t count = fields_of(copy, strchr(copy, ',') ? ',' : ' ', field, 5);
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

/* wrk2 takes the rank round(p x n), at times one too low, and the upper edge of its bin, in two decimals. */
static int check_printed(struct table *table, struct import *import, struct tare_err *err)
{
	uint64_t n = piece_total(table->piece);
	for (size_t i = 0; i < table->printed_count && n; i++) {
		const struct printed *printed = &table->printed[i];
		uint64_t parts = printed->of_hundred_thousand;
		uint64_t rank = n / 100000 * parts + (n % 100000 * parts + 99999) / 100000;
		const struct tare_range *range = piece_ranked(table->piece, rank ? rank : 1);
		int64_t half = printed->value.step_ns / 2 + 1;
		if (!range || (printed->value.ns + half >= range->low_ns && printed->value.ns - half <= range->high_ns))
			continue;
		char its[32], low[32], high[32];
		format_duration(printed->value.ns, its, sizeof(its));
		format_duration(range->low_ns, low, sizeof(low));
		format_duration(range->high_ns, high, sizeof(high));
		return import_note(import, IMPORT_PRINTED, err,
			"wrk2's p%g is %s: its rank is round(p x n), at times one too low; the value of rank ceil(p x n) lies in %s–%s",
			(double)parts / 1000, its, low, high);
	}
	return 0;
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
	if (check_printed(table, import, err))
		return -1;
	return table->footer[0] ? import_note(import, IMPORT_PRINTED, err, "its own figures, not used: %s", table->footer) : 0;
}

/* " 99.900%   30.74ms" */
static void take_printed(struct above *above, const char *text)
{
	size_t digits = strspn(text, "0123456789."), value;
	struct number percent = number_read(text, digits, UNIT_US); /* thousandths of a percent, times 1000 */
	if (!digits || text[digits] != '%' || percent.why || above->printed_count == PRINTED) {
		above->in_list = false;
		return;
	}
	text += digits + 1;
	text += strspn(text, " ");
	value = strspn(text, "0123456789.");
	size_t unit_bytes = strcspn(text + value, " ");
	int unit = 0;
	if (!value || !number_unit(text + value, unit_bytes, &unit))
		return;
	struct printed *printed = &above->printed[above->printed_count++];
	printed->of_hundred_thousand = (uint64_t)percent.ns;
	printed->value = number_read(text, value, unit);
	if (printed->value.why)
		above->printed_count--;
}

/* Lines of wrk2 outside of its tables. */
static int take_above(struct import *import, struct above *above, const char *text, struct tare_err *err)
{
	if (text_begins(text, "Running ") && strstr(text, " @ ")) {
		struct text url = TEXT_IN(above->url);
		text_add(&url, "wrk2:");
		text_add_figures(&url, strstr(text, " @ ") + 3);
	} else if (text_begins(text, "Latency Distribution (HdrHistogram - ")) {
		above->uncorrected = strstr(text, "Uncorrected") != NULL;
		above->printed_count = 0;
		above->in_list = true;
	} else if (above->in_list && *text) {
		take_printed(above, text);
	} else if (text_begins(text, "Socket errors:") || text_begins(text, "Non-2xx or 3xx responses:")) {
		char buffer[200];
		struct text figures = TEXT_IN(buffer);
		text_add_figures(&figures, text);
		return import_note(import, IMPORT_FATE, err, "of the whole run: %s", buffer);
	}
	return 0;
}

static int begin_table(struct pieces *pieces, struct table *table, int unit, const struct tare_origin *origin,
	const struct above *above, struct tare_err *err)
{
	struct tare_origin own = *origin;
	if (above->uncorrected)
		own.quantity = TARE_QUANTITY_RTT;
	*table = (struct table){.unit = unit, .in_table = true, .before_ns = TARE_NO_TIME, .printed_max_ns = TARE_NO_TIME};
	memcpy(table->printed, above->printed, sizeof(table->printed));
	table->printed_count = above->printed_count;
	table->piece = piece_add(pieces, above->url, origin->format, "", &own, err);
	return table->piece ? 0 : -1;
}

static int read_table(struct import *import, struct pieces *pieces, int unit, const struct tare_origin *origin,
	const char *url, struct tare_err *err)
{
	struct table table = {.unit = unit, .before_ns = TARE_NO_TIME, .printed_max_ns = TARE_NO_TIME};
	struct above above = {.uncorrected = false};
	struct line line;
	int got;
	snprintf(above.url, sizeof(above.url), "%s", url);
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		const char *text = line.text + strspn(line.text, " \t");
		bool footer = text_begins(text, "#[") || text_begins(text, "[Mean") || text_begins(text, "[Max") || text_begins(text, "[Buckets");
		if (is_head(line.text)) {
			if (end_table(&table, import, err) || begin_table(pieces, &table, unit, origin, &above, err))
				return -1;
		} else if (table.in_table && text[0] >= '0' && text[0] <= '9') {
			if (take_row(pieces, &table, &line, err))
				return -1;
		} else if (table.in_table && footer) {
			take_footer(&table, text);
		} else if (table.in_table && *text) {
			if (end_table(&table, import, err))
				return -1;
			table.piece = NULL;
		} else if (!table.in_table && take_above(import, &above, text, err)) {
			return -1;
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
	if (read_table(import, pieces, UNIT_MS, &origin, "wrk2", err))
		return -1;
	if (!pieces->count)
		return tare_fail(err, TARE_E_FORMAT, "'%s': wrk2's summary only, without its percentile spectrum", import->name);
	import->round = 1;
	return import_note(import, IMPORT_QUANTITY, err,
		"response is from when each request was due (wrk2), rtt (-U) from when it left; a figure is a range between two rows "
		"of the table; responses with an error status are among them");
}

/* Averages and percentiles, and a standard deviation that means nothing here. */
static int refuse_wrk(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	(void)pieces;
	return tare_fail(err, TARE_E_FORMAT,
		"'%s' is a summary of wrk: an average and percentiles, no distribution to take figures from\n  wrk2 with --latency "
		"prints the whole spectrum, and counts from when each request was due; wrk waits for slow answers and hides them",
		import->name);
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

/* And go on with "# quantity: half_rtt". */
static void hgrm_quantity(struct import *import, enum tare_quantity *ret_quantity)
{
	size_t bytes = 0;
	const char *head = lines_head(import->lines, &bytes);
	static const char mark[] = "\n# quantity: ";
	const char *found = memmem(head, bytes, mark, sizeof(mark) - 1);
	char word[24];
	if (!found)
		return;
	found += sizeof(mark) - 1;
	size_t length = 0;
	while (found + length < head + bytes && length < sizeof(word) - 1 && found[length] != '\n' && found[length] != '\r')
		length++;
	snprintf(word, sizeof(word), "%.*s", (int)length, found);
	tare_quantity_by_name(word, ret_quantity);
}

static int read_hgrm(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct tare_origin origin = {.format = "hdr",
		.quantity = TARE_QUANTITY_OTHER,
		.clock = TARE_CLOCK_UNKNOWN,
		.pacing = TARE_PACING_UNKNOWN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_BINS,
		.left_out = TARE_LEFT_OUT_UNKNOWN};
	int unit = 0;
	hgrm_quantity(import, &origin.quantity);
	if (hgrm_unit(import, &unit, err) || read_table(import, pieces, unit, &origin, "hgrm", err))
		return -1;
	if (!pieces->count)
		return 0;
	if (origin.quantity != TARE_QUANTITY_OTHER)
		return import_note(import, IMPORT_QUANTITY, err, "%s of a percentile table; a figure is a range between two rows",
			tare_quantity_name(origin.quantity));
	return import_note(
		import, IMPORT_QUANTITY, err, "value is whatever was put into the histogram; a figure is a range between two rows");
}

const struct import_format wrk2_format = {.name = "wrk2",
	.knows = knows_wrk2,
	.read = read_wrk2,
	.tool = "wrk2",
	.help = "wrk2's detailed percentile spectrum (--latency)"};
const struct import_format wrk_format = {.name = "wrk",
	.knows = knows_wrk,
	.read = refuse_wrk,
	.tool = "wrk",
	.help = "wrk's summary (refused: it has no distribution)"};
const struct import_format hgrm_format = {.name = "hgrm",
	.knows = knows_hgrm,
	.read = read_hgrm,
	.tool = "HdrHistogram",
	.help = "HdrHistogram's percentile table (.hgrm)"};
