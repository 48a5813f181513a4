/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cyclictest 0.x to 2.x: its histogram (-h; -H adds a column with the sum of all
 * threads, which is no thread), its lines (-v), its JSON and its summary. Values
 * are cut: "5" is anything from 5 up to 6 µs. With -N all numbers are ns; only
 * the JSON says so, elsewhere the user does with --unit ns.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"
#include "import/log/wakeup.h"

/* 1000, or 1 with --unit ns. */
static int unit_ns_of(const struct import *import, int64_t *ret_unit_ns, struct tare_err *err)
{
	int unit = UNIT_US;
	if (import->rules.unit && unit_of(import, &unit, err))
		return -1;
	if (unit != UNIT_US && unit != UNIT_ONE_NS)
		return tare_fail(err, TARE_E_USAGE, "cyclictest counts in us, or with its option -N in ns; --unit '%s' is neither",
			import->rules.unit);
	*ret_unit_ns = unit == UNIT_US ? 1000 : 1;
	return 0;
}

static int note_unit(struct import *import, int64_t unit_ns, struct tare_err *err)
{
	import->round = 1;
	return import_note(import, IMPORT_QUANTITY, err, "cyclictest: how late a thread ran, cut to whole %s, so each figure is %s%s",
		unit_ns == 1 ? "ns" : "µs", unit_ns == 1 ? "exact" : "a range of 1 µs", "; no network is in it");
}

/* ---- -h, -H ---- */

/* "T: 0 (29612) P: 0 I:1000 C:    100 Min:     39 Act:   63 Avg:   61 Max:      67" */
static bool is_summary(const char *text)
{
	text += strspn(text, " ");
	return text_begins(text, "T:") && strstr(text, " Min:") && strstr(text, " Avg:") && strstr(text, " Max:");
}

static bool is_histogram(const char *text)
{
	return text_begins(text, "# Histogram Overflows:") || text_begins(text, "# Min Latencies:") ||
	       strcmp(text, "# Histogram") == 0 || is_summary(text);
}

static bool knows(struct lines *head)
{
	return head_has(head, 4000, is_histogram);
}

/* The last column of -H holds the sum of the others in every row. */
static bool sums_up(const struct line *line, bool *ret_counts)
{
	uint64_t counts[WAKEUP_COLUMNS + 1], sum = 0;
	size_t columns = 0;
	for (const char *at = line->text; at += strspn(at, " \t"), *at;) {
		size_t bytes = strcspn(at, " \t");
		if (columns > WAKEUP_COLUMNS || !number_count(at, bytes, &counts[columns]))
			return false;
		columns++;
		at += bytes;
	}
	for (size_t i = 1; i + 1 < columns; i++) {
		if (__builtin_add_overflow(sum, counts[i], &sum))
			return false;
	}
	*ret_counts = *ret_counts || sum;
	return columns > 2 && sum == counts[columns - 1];
}

struct histogram {
	struct wakeup wakeup;
	size_t minima;         /* how many the footer tells */
	bool summed, counts;   /* every row sums up, and one of them not to 0 */
	char summary[LINES_MAX_BYTES + 1];
};

static int take_footer(struct pieces *pieces, struct histogram *histogram, const struct line *line, struct tare_err *err)
{
	static const struct {
		const char *begins;
		enum wakeup_figure figure;
	} figures[] = {{"# Min Latencies:", WAKEUP_MIN}, {"# Avg Latencies:", WAKEUP_AVERAGE},
		{"# Max Latencies:", WAKEUP_MAX}};
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		if (!text_begins(line->text, figures[i].begins))
			continue;
		size_t found = wakeup_figures(&histogram->wakeup, figures[i].figure, line->text + strlen(figures[i].begins));
		histogram->minima = figures[i].figure == WAKEUP_MIN ? found : histogram->minima;
	}
	static const char overflows[] = "# Histogram Overflows:";
	if (text_begins(line->text, overflows))
		return wakeup_beyond(pieces, &histogram->wakeup, line, line->text + sizeof(overflows) - 1, err);
	return 0;
}

/* What the tool shows while it runs, or all there is without -h. */
static int take_summary(struct pieces *pieces, const struct line *line, struct tare_err *err)
{
	struct tare_origin origin = wakeup_bins;
	char url[48], figures[160];
	struct text text = TEXT_IN(figures);
	const char *at = strchr(line->text, ':') + 1;
	at += strspn(at, " ");
	origin.shape = TARE_SHAPE_SUMMARY;
	snprintf(url, sizeof(url), "cyclictest:thread-%.*s", (int)strspn(at, "0123456789"), at);
	size_t before = pieces->count;
	if (!piece_of(pieces, url, "cyclictest", "", &origin, err))
		return -1;
	if (pieces->count == before)
		return 0;
	text_add_figures(&text, line->text);
	return import_note(pieces->import, IMPORT_PRINTED, err,
		"summary only (cyclictest -h prints the histogram), no percentile is taken from it: %s", figures);
}

/* Rows, footer and what surrounds them. */
static int read_rows(struct import *import, struct pieces *pieces, struct histogram *histogram, struct tare_err *err)
{
	struct line line;
	int got;
	histogram->summed = true;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool row = line.bytes && line.text[0] >= '0' && line.text[0] <= '9' && strpbrk(line.text, " \t");
		if (row) {
			histogram->summed = sums_up(&line, &histogram->counts) && histogram->summed;
			if (wakeup_row(pieces, &histogram->wakeup, &line, true, err))
				return -1;
		} else if (line.text[0] == '#') {
			if (take_footer(pieces, histogram, &line, err))
				return -1;
		} else if (is_summary(line.text) && line.bytes <= LINES_MAX_BYTES) {
			if (!histogram->wakeup.count && take_summary(pieces, &line, err))
				return -1;
		}
	}
	return got < 0 ? -1 : 0;
}

static int read_histogram(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct histogram histogram = {.wakeup = {.tool = "cyclictest"}};
	if (unit_ns_of(import, &histogram.wakeup.unit_ns, err) || lines_allow(import->lines, WAKEUP_LINE_BYTES, err))
		return -1;
	AUTO_CLEANUP(wakeup_end) struct wakeup *wakeup = &histogram.wakeup;
	if (read_rows(import, pieces, &histogram, err))
		return -1;
	bool fewer = histogram.minima && histogram.minima + 1 == wakeup->count;
	if (fewer || (!histogram.minima && histogram.summed && histogram.counts && wakeup->count > 1)) {
		piece_drop(pieces);
		wakeup->count--;
	}
	if (!wakeup->count)
		return 0;
	wakeup->step = 1;
	return wakeup_settle(pieces, wakeup, err) ? -1 : note_unit(import, wakeup->unit_ns, err);
}

const struct import_format cyclictest_format = {.name = "cyclictest",
	.knows = knows,
	.read = read_histogram,
	.tool = "cyclictest",
	.help = "cyclictest's histogram (-h, -H)"};

/* ---- -v ---- */

/* "       0:       1:      12": thread, cycle, value. */
static bool read_verbose(const char *text, uint64_t ret[3])
{
	for (int i = 0; i < 3; i++) {
		size_t bytes = strcspn(text, ":");
		if (!number_count(text, bytes, &ret[i]) || (i < 2 && !text[bytes]))
			return false;
		text += bytes + (i < 2);
	}
	return true;
}

static bool is_verbose(const char *text)
{
	uint64_t values[3];
	return read_verbose(text, values);
}

static bool knows_verbose(struct lines *head)
{
	return head_has(head, 40, is_verbose);
}

/* What it prints before and behind the values. */
static bool is_frame(const char *text)
{
	return text_begins(text, "Max CPUs") || text_begins(text, "Online CPUs") || text_begins(text, "Thread ") ||
	       text[0] == '#' || is_summary(text);
}

struct verbose {
	int64_t unit_ns;
	uint64_t next[WAKEUP_COLUMNS], leapt; /* cycle numbers expected, and those that never came */
};

static int take_verbose(struct pieces *pieces, struct verbose *verbose, const struct line *line, const uint64_t values[3],
	struct tare_err *err)
{
	struct tare_origin origin = wakeup_bins;
	char url[48];
	origin.shape = TARE_SHAPE_SAMPLES;
	if (piece_cut(pieces, line))
		return 0;
	if (values[0] >= WAKEUP_COLUMNS || values[2] > (uint64_t)(INT64_MAX / verbose->unit_ns))
		return piece_damaged(pieces, line, "a thread or value out of range", err);
	snprintf(url, sizeof(url), "cyclictest:thread-%" PRIu64, values[0]);
	struct piece *piece = piece_of(pieces, url, "cyclictest", "", &origin, err);
	if (!piece || piece_value(piece, TARE_SPAN_WAKEUP, (int64_t)values[2] * verbose->unit_ns, err))
		return -1;
	uint64_t *next = &verbose->next[values[0]];
	if (values[1] > *next)
		verbose->leapt += values[1] - *next;
	*next = values[1] + 1;
	piece->resolution_ns = verbose->unit_ns;
	return 0;
}

static int read_lines(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_FREE struct verbose *verbose = calloc(1, sizeof(*verbose));
	struct line line;
	int got;
	if (!verbose)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (unit_ns_of(import, &verbose->unit_ns, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		uint64_t values[3];
		if (!read_verbose(line.text, values)) {
			if (line.bytes && !is_frame(line.text))
				piece_noise(pieces, &line);
		} else if (take_verbose(pieces, verbose, &line, values, err)) {
			return -1;
		}
	}
	if (got < 0 || !pieces->count)
		return got < 0 ? -1 : 0;
	import->round = 1;
	if (verbose->leapt &&
		import_note(import, IMPORT_LIMIT, err,
			"%" PRIu64 " cycle numbers have no line: the buffer overran, or -o printed only the largest of each group",
			verbose->leapt))
		return -1;
	return import_note(import, IMPORT_QUANTITY, err,
		"cyclictest: how late a thread ran, cut to whole %s; no network is in it", verbose->unit_ns == 1 ? "ns" : "µs");
}

const struct import_format cyclictest_verbose_format = {.name = "cyclictest-verbose",
	.knows = knows_verbose,
	.read = read_lines,
	.tool = "cyclictest",
	.help = "cyclictest's lines (-v)"};

/* ---- --json ---- */

static bool knows_json(struct lines *head)
{
	static const char *const keys[] = {"num_threads", "resolution_in_ns", "thread", NULL};
	return document_knows(head, keys);
}

/* What `cycles` counts and no bin holds lies beyond the histogram, whose size the file does not tell. */
static int take_beyond(struct wakeup *wakeup, const json_t *thread, uint64_t binned, struct tare_err *err)
{
	int64_t cycles = 0;
	struct piece *piece = wakeup->column[wakeup->count - 1].piece;
	if (!document_integer(thread, "cycles", &cycles) || cycles < 0 || (uint64_t)cycles <= binned)
		return 0;
	return piece_range(piece, (int64_t)(wakeup->last + 1) * wakeup->unit_ns, INT64_MAX, (uint64_t)cycles - binned, err);
}

static int only_summary(struct pieces *pieces, struct piece *piece, const json_t *thread, struct tare_err *err)
{
	AUTO_FREE char *text = json_dumps(thread, JSON_COMPACT | JSON_REAL_PRECISION(6));
	piece->origin.shape = TARE_SHAPE_SUMMARY;
	return import_note(pieces->import, IMPORT_PRINTED, err,
		"summary only (-h makes the histogram), no percentile is taken from it: %.300s", text ? text : "");
}

static int take_thread(struct pieces *pieces, struct wakeup *wakeup, const char *key, const json_t *thread, bool any,
	struct tare_err *err)
{
	char name[48];
	const char *bin;
	json_t *times;
	uint64_t binned = 0;
	int64_t value = 0;
	int bytes = snprintf(name, sizeof(name), "thread-%.20s", key);
	if (wakeup_column(pieces, wakeup, name, (size_t)bytes, err))
		return -1;
	struct wakeup_column *column = &wakeup->column[wakeup->count - 1];
	wakeup->last = 0;
	json_object_foreach((json_t *)(uintptr_t)document_at(thread, "histogram"), bin, times)
	{
		uint64_t at = 0;
		if (!number_count(bin, strlen(bin), &at) || at > (uint64_t)(INT64_MAX / wakeup->unit_ns) - 1 ||
			!json_is_integer(times) || json_integer_value(times) < 0)
			return tare_fail(err, TARE_E_FORMAT, "'%s': thread %.20s: a bin %s that is no whole number with a count",
				pieces->import->name, key, quote(bin, strlen(bin)).text);
		int64_t low_ns = (int64_t)at * wakeup->unit_ns;
		if (piece_range(column->piece, low_ns, low_ns + wakeup->unit_ns - 1, (uint64_t)json_integer_value(times), err))
			return -1;
		wakeup->last = at > wakeup->last ? at : wakeup->last;
		binned += (uint64_t)json_integer_value(times);
	}
	if (document_integer(thread, "min", &value) && value >= 0) {
		column->has_min = true;
		column->min = (uint64_t)value;
	}
	if (document_integer(thread, "max", &value) && value >= 0) {
		column->has_max = true;
		column->max = (uint64_t)value;
	}
	return binned || any ? take_beyond(wakeup, thread, binned, err) : only_summary(pieces, column->piece, thread, err);
}

/* Without -h all histograms are empty; with it an empty one says that all its values lie beyond. */
static bool has_bins(const json_t *root)
{
	const char *key;
	json_t *thread;
	json_object_foreach((json_t *)(uintptr_t)document_at(root, "thread"), key, thread)
	{
		if (json_object_size(document_at(thread, "histogram")))
			return true;
	}
	return false;
}

static int read_json(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	struct wakeup state = {.tool = "cyclictest", .unit_ns = 1000, .step = 1};
	AUTO_CLEANUP(wakeup_end) struct wakeup *wakeup = &state;
	const char *key;
	json_t *thread;
	int64_t in_ns = 0;
	if (!root)
		return -1;
	if (document_integer(root, "resolution_in_ns", &in_ns) && in_ns)
		wakeup->unit_ns = 1;
	bool any = has_bins(root);
	json_object_foreach((json_t *)(uintptr_t)document_at(root, "thread"), key, thread)
	{
		if (take_thread(pieces, wakeup, key, thread, any, err))
			return -1;
	}
	if (!wakeup->count)
		return 0;
	return wakeup_settle(pieces, wakeup, err) ? -1 : note_unit(import, wakeup->unit_ns, err);
}

const struct import_format cyclictest_json_format = {.name = "cyclictest-json",
	.knows = knows_json,
	.read = read_json,
	.tool = "cyclictest",
	.help = "cyclictest's JSON (--json)"};
