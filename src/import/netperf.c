/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * netperf: the histogram of its request/response tests (ten bins a decade), and
 * the key=value output, which is a summary. Its header lines may be broken
 * anywhere; only the lines of the histogram are looked at.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

static const struct {
	const char *name;
	int64_t unit_ns;
} decades[] = {{"UNIT_USEC", 1000}, {"TEN_USEC", 10000}, {"HUNDRED_USEC", 100000}, {"UNIT_MSEC", 1000000},
	{"TEN_MSEC", 10000000}, {"HUNDRED_MSEC", 100000000}, {"UNIT_SEC", 1000000000}, {"TEN_SEC", 10000000000}};

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
	for (int bin = 0; bin < 10; bin++) {
		uint64_t count = 0;
		size_t bytes = at ? strcspn(at + 1, ":") : 0;
		if (!at || !number_count(at + 1, bytes, &count))
			return piece_damaged(pieces, line, "not ten counts", err);
		int64_t low = bin * decades[decade].unit_ns;
		if (piece_range(piece, low, low + decades[decade].unit_ns - 1, count, err))
			return -1;
		at = at[1 + bytes] ? at + 1 + bytes : NULL;
	}
	return 0;
}

static int check_total(struct pieces *pieces, const struct piece *piece, const struct line *line, struct tare_err *err)
{
	uint64_t total = 0, sum = 0;
	const char *at = strchr(line->text, ':') + 1;
	for (size_t i = 0; i < piece->range_count; i++)
		sum += piece->range[i].count;
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
	return text_begins(line->text, "HIST_TOTAL:") ? check_total(pieces, piece, line, err) : 0;
}

static int read_histogram(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	static const struct tare_origin origin = {.quantity = TARE_QUANTITY_RTT,
		.clock = TARE_CLOCK_UNKNOWN,
		.pacing = TARE_PACING_CLOSED,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_BINS,
		.left_out = TARE_LEFT_OUT_UNKNOWN};
	struct line line;
	struct piece *piece = NULL;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (text_begins(line.text, "Histogram of request/response times") || (!piece && is_histogram(line.text))) {
			piece = piece_add(pieces, "netperf:", "netperf", "", &origin, err);
			if (!piece || import_note(import, IMPORT_QUANTITY, err,
					      "rtt is a transaction in bins of a tenth of a decade; netperf's own percentiles "
					      "are interpolated in such a bin, tare gives the bin"))
				return -1;
		}
		if (piece && take_line(pieces, piece, &line, err))
			return -1;
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

static int read_keyval(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	static const struct tare_origin origin = {.quantity = TARE_QUANTITY_RTT,
		.clock = TARE_CLOCK_UNKNOWN,
		.pacing = TARE_PACING_CLOSED,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_SUMMARY,
		.left_out = TARE_LEFT_OUT_UNKNOWN};
	char buffer[400];
	struct text list = TEXT_IN(buffer);
	struct line line;
	int got;
	if (!piece_add(pieces, "netperf:", "netperf", "", &origin, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (strstr(line.text, "_LATENCY=") && line.bytes < 60)
			text_add(&list, "%s%s", list.used ? ", " : "", line.text);
	}
	if (got < 0)
		return -1;
	return import_note(import, IMPORT_PRINTED, err, "summary only, no percentile is taken from it: %s (µs)", buffer);
}

const struct import_format netperf_keyval_format = {.name = "netperf-keyval",
	.knows = knows_keyval,
	.read = read_keyval,
	.tool = "netperf",
	.help = "netperf's key=value output (a summary)"};
