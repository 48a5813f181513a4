/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scheduling latency: cyclictest's histogram and verbose lines, rtla's
 * histograms, oslat's JSON, sysjitter's raw files. No network is in them, hence
 * the quantity wakeup. The histograms cut to whole microseconds: "5" is anything
 * from 5 up to 6.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"

enum { THREADS = 512 };

static const struct tare_origin binned = {.quantity = TARE_QUANTITY_WAKEUP,
	.clock = TARE_CLOCK_MONOTONIC,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_MEASURED,
	.shape = TARE_SHAPE_BINS};

/* Columns of a histogram: one per thread (cyclictest) or per source and CPU (rtla). */
struct columns {
	const char *tool;
	struct piece *piece[THREADS];
	size_t count;
	int64_t last_low_ns;
};

static int range_us(struct piece *piece, uint64_t us, uint64_t count, struct tare_err *err)
{
	if (us > INT64_MAX / 1000 - 1)
		return tare_fail(err, TARE_E_FORMAT, "a bin of %" PRIu64 " µs", us);
	return piece_range(piece, (int64_t)us * 1000, (int64_t)us * 1000 + 999, count, err);
}

static int add_column(struct pieces *pieces, struct columns *columns, const char *name, int bytes, struct tare_err *err)
{
	char url[96];
	struct text text = TEXT_IN(url);
	text_add(&text, "%s:%.*s", columns->tool, bytes, name);
	if (columns->count == THREADS)
		return tare_fail(err, TARE_E_FORMAT, "more than %d threads", THREADS);
	struct piece *piece = piece_add(pieces, url, columns->tool, "", &binned, err);
	columns->piece[columns->count] = piece;
	columns->count += piece != NULL;
	return piece ? 0 : -1;
}

/* "000005 9249673 9452403": a bin and its count for every thread. */
static int take_bins(struct pieces *pieces, struct columns *columns, const struct line *line, struct tare_err *err)
{
	AUTO_FREE struct field_text *field = calloc(THREADS + 1, sizeof(*field));
	char copy[LINES_MAX_BYTES + 1];
	uint64_t us = 0;
	if (!field)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	memcpy(copy, line->text, line->bytes + 1);
	size_t count = fields_of(copy, ' ', field, THREADS + 1);
	if (count < 2 || !number_count(field[0].at, field[0].bytes, &us))
		return piece_damaged(pieces, line, "not a bin with its counts", err);
	while (columns->count < count - 1 && strcmp(columns->tool, "cyclictest") == 0) {
		char name[24];
		int bytes = snprintf(name, sizeof(name), "thread-%zu", columns->count);
		if (add_column(pieces, columns, name, bytes, err))
			return -1;
	}
	if (count - 1 != columns->count)
		return piece_damaged(pieces, line, "another number of columns than before", err);
	for (size_t i = 0; i < columns->count; i++) {
		uint64_t times = 0;
		if (!field_is(field[i + 1], "-") && !number_count(field[i + 1].at, field[i + 1].bytes, &times))
			return piece_damaged(pieces, line, "a count that is no number", err);
		if (range_us(columns->piece[i], us, times, err))
			return -1;
	}
	columns->last_low_ns = (int64_t)us * 1000;
	return 0;
}

/* Counts behind a word: beyond the last bin. */
static int take_overflow(struct pieces *pieces, struct columns *columns, const struct line *line, const char *behind,
	struct tare_err *err)
{
	const char *at = behind;
	for (size_t i = 0; i < columns->count; i++) {
		uint64_t times = 0;
		at += strspn(at, " \t");
		size_t bytes = strcspn(at, " \t");
		bool none = bytes == 1 && *at == '-';
		if (!bytes)
			break;
		if (!none && !number_count(at, bytes, &times))
			return piece_damaged(pieces, line, "a count that is no number", err);
		if (piece_range(columns->piece[i], columns->last_low_ns + 1000, INT64_MAX, times, err))
			return -1;
		at += bytes;
	}
	return 0;
}

static int note_bins(struct import *import, const char *tool, struct tare_err *err)
{
	return import_note(import, IMPORT_QUANTITY, err,
		"%s: how late a thread ran, cut to whole µs, so each figure is a range of 1 µs; no network is in it", tool);
}

/* ---- cyclictest -h ---- */

static bool is_cyclictest(const char *text)
{
	return text_begins(text, "# Histogram Overflows:") || text_begins(text, "# Min Latencies:") ||
	       strcmp(text, "# Histogram") == 0;
}

static bool knows_cyclictest(struct lines *head)
{
	return head_has(head, 4000, is_cyclictest);
}

/* The exact extremes are known: one value of the first and one of the last bin is that one. */
static int take_extreme(struct columns *columns, const char *text, bool largest, struct tare_err *err)
{
	(void)err;
	const char *at = strchr(text, ':') + 1;
	for (size_t i = 0; i < columns->count; i++) {
		uint64_t us = 0;
		at += strspn(at, " \t");
		size_t bytes = strcspn(at, " \t");
		if (!number_count(at, bytes, &us) || us > INT64_MAX / 1000 - 1)
			return 0;
		struct piece *piece = columns->piece[i];
		struct tare_range *range =
			piece->range_count ? &piece->range[largest ? piece->range_count - 1 : 0] : NULL;
		/* beyond the last bin the largest one bounds them all */
		if (range && largest && range->high_ns == INT64_MAX && (int64_t)us * 1000 >= range->low_ns)
			range->high_ns = (int64_t)us * 1000 + 999;
		at += bytes;
	}
	return 0;
}

static int read_cyclictest(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct columns columns = {.tool = "cyclictest"};
	struct line line;
	char largest[LINES_MAX_BYTES + 1] = "";
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool bin = line.bytes && line.text[0] >= '0' && line.text[0] <= '9' && strchr(line.text, ' ');
		if (bin && take_bins(pieces, &columns, &line, err))
			return -1;
		if (text_begins(line.text, "# Max Latencies:"))
			memcpy(largest, line.text, line.bytes + 1);
		if (text_begins(line.text, "# Histogram Overflows:") &&
			take_overflow(pieces, &columns, &line, line.text + 22, err))
			return -1;
	}
	if (got < 0 || (largest[0] && take_extreme(&columns, largest, true, err)))
		return -1;
	return columns.count ? note_bins(import, "cyclictest", err) : 0;
}

const struct import_format cyclictest_format = {.name = "cyclictest",
	.knows = knows_cyclictest,
	.read = read_cyclictest,
	.tool = "cyclictest",
	.help = "cyclictest's histogram (-h)"};

/* ---- cyclictest -v ---- */

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
	return head_has(head, 20, is_verbose);
}

static int read_cyclictest_verbose(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct tare_origin origin = binned;
	origin.shape = TARE_SHAPE_SAMPLES;
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		uint64_t values[3];
		char url[48];
		if (!read_verbose(line.text, values)) {
			if (line.bytes)
				piece_noise(pieces, &line);
			continue;
		}
		if (values[0] >= THREADS || values[2] > INT64_MAX / 1000) {
			if (piece_damaged(pieces, &line, "a thread or value out of range", err))
				return -1;
			continue;
		}
		snprintf(url, sizeof(url), "cyclictest:thread-%" PRIu64, values[0]);
		struct piece *piece = piece_of(pieces, url, "cyclictest", "", &origin, err);
		if (!piece || piece_value(piece, TARE_SPAN_WAKEUP, (int64_t)values[2] * 1000, err))
			return -1;
		piece->resolution_ns = 1000;
	}
	return got < 0 ? -1 : 0;
}

const struct import_format cyclictest_verbose_format = {.name = "cyclictest-verbose",
	.knows = knows_verbose,
	.read = read_cyclictest_verbose,
	.tool = "cyclictest",
	.help = "cyclictest's lines (-v)"};

/* ---- rtla timerlat hist, osnoise hist ---- */

static bool is_rtla(const char *text)
{
	return text_begins(text, "Index ") && (strstr(text, "IRQ-") || strstr(text, "Thr-") || strstr(text, "CPU-"));
}

static bool knows_rtla(struct lines *head)
{
	return head_has(head, 60, is_rtla);
}

static int take_head(struct pieces *pieces, struct columns *columns, char *text, struct tare_err *err)
{
	AUTO_FREE struct field_text *field = calloc(THREADS + 1, sizeof(*field));
	if (!field)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	size_t count = fields_of(text, ' ', field, THREADS + 1);
	for (size_t i = 1; i < count; i++) {
		if (add_column(pieces, columns, field[i].at, (int)field[i].bytes, err))
			return -1;
	}
	return 0;
}

static int read_rtla(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct columns columns = {.tool = "rtla"};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (is_rtla(line.text) && !columns.count && take_head(pieces, &columns, line.text, err))
			return -1;
		if (!columns.count || !line.bytes)
			continue;
		if (line.text[0] >= '0' && line.text[0] <= '9' && take_bins(pieces, &columns, &line, err))
			return -1;
		if (text_begins(line.text, "over:") && take_overflow(pieces, &columns, &line, line.text + 5, err))
			return -1;
	}
	if (got < 0)
		return -1;
	return columns.count ? note_bins(import, "rtla", err) : 0;
}

const struct import_format rtla_format = {.name = "rtla",
	.knows = knows_rtla,
	.read = read_rtla,
	.tool = "rtla",
	.help = "rtla's histograms (timerlat hist, osnoise hist)"};

/* ---- oslat --json ---- */

static bool knows_oslat(struct lines *head)
{
	static const char *const keys[] = {"num_threads", "thread", "histogram", NULL};
	return document_knows(head, keys);
}

static int read_oslat(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	const char *key, *bin;
	json_t *thread, *times;
	if (!root)
		return -1;
	json_object_foreach((json_t *)(uintptr_t)document_at(root, "thread"), key, thread)
	{
		struct columns columns = {.tool = "oslat"};
		char name[48];
		int64_t cpu = -1;
		int bytes = document_integer(thread, "cpu", &cpu) ? snprintf(name, sizeof(name), "cpu-%" PRId64, cpu)
								  : snprintf(name, sizeof(name), "thread-%.20s", key);
		if (add_column(pieces, &columns, name, bytes, err))
			return -1;
		json_object_foreach((json_t *)(uintptr_t)document_at(thread, "histogram"), bin, times)
		{
			uint64_t us = 0;
			if (!number_count(bin, strlen(bin), &us) || !json_is_integer(times) || json_integer_value(times) < 0)
				return tare_fail(err, TARE_E_FORMAT, "'%s': thread %.20s: a bin %s that is no whole number of µs",
					import->name, key, quote(bin, strlen(bin)).text);
			if (range_us(columns.piece[0], us, (uint64_t)json_integer_value(times), err))
				return -1;
		}
	}
	return pieces->count ? note_bins(import, "oslat", err) : 0;
}

const struct import_format oslat_format = {.name = "oslat",
	.knows = knows_oslat,
	.read = read_oslat,
	.tool = "oslat",
	.help = "oslat's JSON (--json)"};

/* ---- sysjitter --raw ---- */

static bool is_sysjitter(const char *text)
{
	return text_begins(text, "#") && strstr(text, "cycles") && strstr(text, "delta");
}

static bool knows_sysjitter(struct lines *head)
{
	return head_has(head, 20, is_sysjitter);
}

static int read_sysjitter(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct tare_origin origin = binned;
	origin.shape = TARE_SHAPE_SAMPLES;
	origin.clock = TARE_CLOCK_CYCLES;
	struct line line;
	int got;
	struct piece *piece = piece_add(pieces, "sysjitter:", "sysjitter", "", &origin, err);
	if (!piece)
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		struct field_text field[5];
		char copy[LINES_MAX_BYTES + 1];
		memcpy(copy, line.text, line.bytes + 1);
		if (line.text[0] == '#' || !line.bytes)
			continue;
		size_t count = fields_of(copy, ' ', field, 5);
		struct number at = count == 4 ? number_read(field[0].at, field[0].bytes, UNIT_ONE_NS)
					      : (struct number){.why = "not four columns"};
		struct number ns = count == 4 ? number_read(field[3].at, field[3].bytes, UNIT_ONE_NS) : at;
		if (at.why || ns.why || ns.ns < 0) {
			if (piece_damaged(pieces, &line, at.why ? at.why : ns.why ? ns.why : "a negative time", err))
				return -1;
			continue;
		}
		if (piece_value(piece, TARE_SPAN_WAKEUP, ns.ns, err) ||
			piece_stage(piece, piece->count - 1, TARE_STAGE_USER_RX, at.ns, err))
			return -1;
	}
	if (got < 0)
		return -1;
	return import_note(import, IMPORT_QUANTITY, err,
		"wakeup is each interruption that sysjitter saw; time without interruptions leaves no line, so percentiles are "
		"over interruptions, not over time");
}

const struct import_format sysjitter_format = {.name = "sysjitter",
	.knows = knows_sysjitter,
	.read = read_sysjitter,
	.tool = "sysjitter",
	.help = "a raw file of sysjitter (--raw)"};
