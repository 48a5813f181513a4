/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * netperf: the histogram of its request/response tests (ten bins a decade), and
 * its own figures as key=value (-k) or as a table (-o), which are summaries. The
 * header of a table may be broken anywhere. Where there is a histogram, the printed
 * percentiles are held against the bin that has the rank.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

enum { HEADER_BYTES = 4096, COLUMNS = 64 };

static const struct {
	const char *name;
	int64_t unit_ns;
} decades[] = {{"UNIT_USEC", 1000}, {"TEN_USEC", 10000}, {"HUNDRED_USEC", 100000}, {"UNIT_MSEC", 1000000},
	{"TEN_MSEC", 10000000}, {"HUNDRED_MSEC", 100000000}, {"UNIT_SEC", 1000000000}, {"TEN_SEC", 10000000000}};

static const struct tare_origin origin_of[2] = {{.quantity = TARE_QUANTITY_RTT,
							.clock = TARE_CLOCK_UNKNOWN,
							.pacing = TARE_PACING_CLOSED,
							.lateness = TARE_LATENESS_UNKNOWN,
							.shape = TARE_SHAPE_BINS,
							.left_out = TARE_LEFT_OUT_UNKNOWN},
	{.quantity = TARE_QUANTITY_RTT,
		.clock = TARE_CLOCK_UNKNOWN,
		.pacing = TARE_PACING_CLOSED,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_SUMMARY,
		.left_out = TARE_LEFT_OUT_UNKNOWN}};

/* A table's header and its one row of values. */
struct table {
	char header[HEADER_BYTES], values[HEADER_BYTES];
	bool open; /* behind a test's first line */
};

static bool is_histogram(const char *text)
{
	return text_begins(text, "Histogram of request/response times") || text_begins(text, "HIST_TOTAL:");
}

static bool knows(struct lines *head)
{
	return head_has(head, 200, is_histogram);
}

/* "TEN_USEC : 0: 1: …": ten counts. */
static int take_decade(struct pieces *pieces, struct piece *piece, const struct line *line, size_t decade,
	struct tare_err *err)
{
	const char *at = strchr(line->text, ':');
	uint64_t counts[10];
	if (piece_cut(pieces, line))
		return 0;
	for (int bin = 0; bin < 10; bin++) {
		size_t bytes = at ? strcspn(at + 1, ":") : 0;
		if (!at || !number_count(at + 1, bytes, &counts[bin]))
			return piece_damaged(pieces, line, "not ten counts", err);
		at = at[1 + bytes] ? at + 1 + bytes : NULL;
	}
	for (int bin = 0; bin < 10; bin++) {
		int64_t low = bin * decades[decade].unit_ns;
		if (piece_range(piece, low, low + decades[decade].unit_ns - 1, counts[bin], err))
			return -1;
	}
	return 0;
}

/* ---- the table ---- */

/* "50th Percentile Latency Microseconds": how many of ten thousand; 0 for anything else. */
static unsigned percentile_of(struct field_text name)
{
	static const struct {
		const char *begins;
		unsigned of_ten_thousand;
	} names[] = {{"50th Percentile", 5000}, {"90th Percentile", 9000}, {"99th Percentile", 9900}};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (name.bytes > strlen(names[i].begins) && text_begins(name.at, names[i].begins))
			return names[i].of_ten_thousand;
	}
	return 0;
}

static void append(char buffer[HEADER_BYTES], const char *text)
{
	struct text joined = {.bytes = buffer, .used = strlen(buffer), .room = HEADER_BYTES};
	/* a word that was broken after its comma needs no blank */
	bool blank = joined.used && buffer[joined.used - 1] != ',';
	text_add(&joined, "%s%s", blank ? " " : "", text);
}

/* Headers, in however many lines, then one line of values. */
static void take_table(struct table *table, const struct line *line)
{
	const char *text = line->text;
	if (strstr(text, " TEST from ")) {
		*table = (struct table){.open = true};
	} else if (strstr(text, "Latency") || (table->header[0] && !table->values[0] && text[0] > '9')) {
		if (strchr(text, ',') || table->header[0])
			append(table->header, text);
	} else if (table->header[0] && !table->values[0] && strchr(text, ',') && strchr("-0123456789", text[0])) {
		append(table->values, text);
	}
}

static size_t split_table(struct table *table, struct field_text names[COLUMNS], struct field_text values[COLUMNS])
{
	size_t count = fields_of(table->header, ',', names, COLUMNS);
	return count && fields_of(table->values, ',', values, COLUMNS) == count ? count : 0;
}

/* Printed percentiles that do not lie in the bin of their rank. */
static int check_printed(struct import *import, struct table *table, struct piece *piece, struct tare_err *err)
{
	struct field_text names[COLUMNS], values[COLUMNS];
	uint64_t n = piece_total(piece);
	size_t count = n ? split_table(table, names, values) : 0;
	for (size_t i = 0; i < count; i++) {
		unsigned p = percentile_of(names[i]);
		struct number printed = number_read(values[i].at, values[i].bytes, UNIT_US);
		if (!p || printed.why)
			continue;
		uint64_t rank = n / 10000 * p + (n % 10000 * p + 9999) / 10000;
		const struct tare_range *range = piece_ranked(piece, rank);
		if (!range || (printed.ns >= range->low_ns && printed.ns <= range->high_ns))
			continue;
		char its[32], low[32], high[32];
		format_duration(printed.ns, its, sizeof(its));
		format_duration(range->low_ns, low, sizeof(low));
		format_duration(range->high_ns, high, sizeof(high));
		if (import_note(import, IMPORT_PRINTED, err,
			    "netperf's p%u is %s, interpolated in a bin from the rank int(p x n); the value of rank ceil(p x n) lies in "
			    "%s–%s", p / 100, its, low, high))
			return -1;
	}
	return 0;
}

/* ---- the histogram ---- */

static int check_total(struct pieces *pieces, const struct piece *piece, const struct line *line, struct tare_err *err)
{
	uint64_t total = 0, sum = piece_total(piece);
	const char *at = strchr(line->text, ':') + 1;
	if (!number_count(at, strlen(at), &total))
		return piece_damaged(pieces, line, "a total that is no number", err);
	if (total == sum)
		return 0;
	return import_note(pieces->import, IMPORT_MISMATCH, err,
		"HIST_TOTAL is %" PRIu64 ", the bins hold %" PRIu64, total, sum);
}

static int take_line(struct pieces *pieces, struct piece *piece, const struct line *line, struct tare_err *err)
{
	for (size_t i = 0; i < sizeof(decades) / sizeof(decades[0]); i++) {
		size_t bytes = strlen(decades[i].name);
		if (strncmp(line->text, decades[i].name, bytes) == 0 && strchr(" :", line->text[bytes]))
			return take_decade(pieces, piece, line, i, err);
	}
	if (text_begins(line->text, ">100_SECS:")) {
		uint64_t count = 0;
		if (!number_count(line->text + 10, strlen(line->text + 10), &count))
			return piece_damaged(pieces, line, "no count", err);
		return piece_range(piece, INT64_C(100000000000), INT64_MAX, count, err);
	}
	return 0;
}

static int read_histogram(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct table table = {.open = false};
	struct line line;
	struct piece *piece = NULL;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool total = text_begins(line.text, "HIST_TOTAL:");
		if (text_begins(line.text, "Histogram of request/response times") || (!piece && total)) {
			piece = piece_add(pieces, "netperf", "netperf", "", &origin_of[0], err);
			if (!piece || import_note(import, IMPORT_QUANTITY, err,
					      "rtt is a transaction in bins of a tenth of a decade; netperf's own percentiles "
					      "are interpolated in such a bin, tare gives the bin"))
				return -1;
		} else if (!piece || table.open) {
			take_table(&table, &line);
		}
		if (piece && take_line(pieces, piece, &line, err))
			return -1;
		if (total) {
			if (check_total(pieces, piece, &line, err) || check_printed(import, &table, piece, err))
				return -1;
			table = (struct table){.open = true};
		}
	}
	return got < 0 ? -1 : 0;
}

const struct import_format netperf_format = {.name = "netperf",
	.knows = knows,
	.read = read_histogram,
	.tool = "netperf",
	.help = "netperf's histogram of request/response times"};

/* ---- key=value ---- */

static bool is_keyval(const char *text)
{
	return text_begins(text, "P99_LATENCY=") || text_begins(text, "P50_LATENCY=") ||
	       text_begins(text, "MEAN_LATENCY=") || text_begins(text, "RT_LATENCY=");
}

static bool knows_keyval(struct lines *head)
{
	return head_has(head, 300, is_keyval);
}

/* "-nan" (an overflowed sum) and -1 (never computed) are no figures. */
static void add_figure(struct text *list, const char *name, size_t name_bytes, const char *value, size_t value_bytes)
{
	char figure[128];
	struct number number = number_read(value, value_bytes, UNIT_US);
	bool none = number.why || number.ns < 0;
	snprintf(figure, sizeof(figure), "%.*s=%.*s", (int)(name_bytes < 60 ? name_bytes : 60), name,
		none ? 3 : (int)(value_bytes < 40 ? value_bytes : 40), none ? "n/a" : value);
	text_add(list, "%s", list->used ? ", " : "");
	text_add_figures(list, figure);
}

static int add_summary(struct import *import, struct pieces *pieces, const char *list, struct tare_err *err)
{
	if (!piece_add(pieces, "netperf", "netperf", "", &origin_of[1], err))
		return -1;
	return import_note(import, IMPORT_PRINTED, err, "summary only, no percentile is taken from it: %s (µs)", list);
}

static int read_keyval(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	char buffer[400] = "", first[40] = "";
	struct text list = TEXT_IN(buffer);
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		const char *value = strstr(line.text, "_LATENCY=");
		size_t name = strcspn(line.text, "=");
		if (!value || name >= sizeof(first) || value + 8 != line.text + name)
			continue;
		/* the first key again: another test */
		if (first[0] && strncmp(first, line.text, strlen(first)) == 0 && first[strlen(first) - 1] == '=') {
			if (add_summary(import, pieces, buffer, err))
				return -1;
			list = (struct text)TEXT_IN(buffer);
			buffer[0] = '\0';
		}
		if (!first[0])
			snprintf(first, sizeof(first), "%.*s=", (int)name, line.text);
		add_figure(&list, line.text, name, line.text + name + 1, strlen(line.text + name + 1));
	}
	return got < 0 || !buffer[0] ? got : add_summary(import, pieces, buffer, err);
}

const struct import_format netperf_keyval_format = {.name = "netperf-keyval",
	.knows = knows_keyval,
	.read = read_keyval,
	.tool = "netperf",
	.help = "netperf's key=value output (-k, a summary)"};

/* ---- -o ---- */

static bool is_table(const char *text)
{
	return strchr(text, ',') && (strstr(text, " Latency Microseconds") || strstr(text, "Latency,Microseconds"));
}

static bool knows_table(struct lines *head)
{
	return head_has(head, 60, is_table);
}

static int end_table(struct import *import, struct pieces *pieces, struct table *table, struct tare_err *err)
{
	struct field_text names[COLUMNS], values[COLUMNS];
	char buffer[600] = "";
	struct text list = TEXT_IN(buffer);
	size_t count = split_table(table, names, values);
	for (size_t i = 0; i < count; i++) {
		if (memmem(names[i].at, names[i].bytes, "Latency", 7))
			add_figure(&list, names[i].at, names[i].bytes, values[i].at, values[i].bytes);
	}
	*table = (struct table){.open = true};
	return buffer[0] ? add_summary(import, pieces, buffer, err) : 0;
}

static int read_csv(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct table table = {.open = true};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		take_table(&table, &line);
		if (table.values[0] && end_table(import, pieces, &table, err))
			return -1;
	}
	return got;
}

const struct import_format netperf_csv_format = {.name = "netperf-csv",
	.knows = knows_table,
	.read = read_csv,
	.tool = "netperf",
	.help = "netperf's table of selected outputs (-o, a summary)"};
