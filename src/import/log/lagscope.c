/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lagscope's JSON and what it prints with -H and -P (latte prints its histogram
 * alike). Numbers are cut to whole µs; versions that time in ns write ns under the
 * same headings, which only the user can say. The last line of a histogram holds
 * all that is longer, unless the printed maximum ends it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"

static const struct tare_origin binned = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_WALL,
	.pacing = TARE_PACING_CLOSED,
	.lateness = TARE_LATENESS_UNKNOWN,
	.shape = TARE_SHAPE_BINS,
	.left_out = TARE_LEFT_OUT_LOST};

static int unit_ns_of(const struct import *import, int64_t *ret_unit_ns, struct tare_err *err)
{
	int unit = UNIT_US;
	if (import->rules.unit && unit_of(import, &unit, err))
		return -1;
	*ret_unit_ns = 1;
	for (; unit > 0; unit--)
		*ret_unit_ns *= 10;
	return 0;
}

static int note_unit(struct import *import, int64_t unit_ns, struct tare_err *err)
{
	return import_note(import, IMPORT_QUANTITY, err, "rtt is lagscope's, cut to whole %s%s",
		unit_ns == 1 ? "ns" : unit_ns == 1000 ? "µs" : "numbers of --unit",
		import->rules.unit ? "" : "; versions that count ns do not say so: --unit ns");
}

static bool knows_json(struct lines *head)
{
	static const char *const keys[] = {"latencies", "latency", "frequency", NULL};
	return document_knows(head, keys);
}

static int read_json(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	const json_t *entry;
	int64_t unit_ns = 0;
	size_t i;
	if (!root || unit_ns_of(import, &unit_ns, err))
		return -1;
	struct piece *piece = piece_add(pieces, "lagscope", "tcp", "", &binned, err);
	if (!piece)
		return -1;
	json_array_foreach(document_at(root, "latencies"), i, entry)
	{
		int64_t at = 0, count = 0;
		if (!document_integer(entry, "latency", &at) || !document_integer(entry, "frequency", &count) || at < 0 ||
			at > INT64_MAX / unit_ns - 1 || count < 0)
			return tare_fail(err, TARE_E_FORMAT, "'%s': entry %zu has no latency and frequency", import->name,
				i + 1);
		if (piece_range(piece, at * unit_ns, at * unit_ns + unit_ns - 1, (uint64_t)count, err))
			return -1;
	}
	return note_unit(import, unit_ns, err);
}

const struct import_format lagscope_json_format = {.name = "lagscope-json",
	.knows = knows_json,
	.read = read_json,
	.tool = "lagscope",
	.help = "lagscope's JSON (a frequency table)"};

/* ---- -H, -P ---- */

static bool is_histogram(const char *text)
{
	return text_begins(text, "Interval(usec)");
}

static bool is_percentiles(const char *text)
{
	return text_begins(text, "Percentile") && strstr(text, "Latency(us)");
}

static bool is_text(const char *text)
{
	return is_histogram(text) || is_percentiles(text);
}

static bool knows_text(struct lines *head)
{
	return head_has(head, 400, is_text);
}

struct text_log {
	int64_t unit_ns;
	struct piece *piece;
	bool in_histogram, in_percentiles;
	uint64_t from, count; /* of the interval whose end the next line tells */
	bool has_interval;
	struct number max; /* step_ns 0: not printed */
	uint64_t pings;
	char printed[200];
};

/* The interval before ends where this one begins. */
static int end_interval(struct text_log *log, uint64_t next, struct tare_err *err)
{
	if (!log->has_interval)
		return 0;
	log->has_interval = false;
	int64_t low_ns = (int64_t)log->from * log->unit_ns, high_ns = (int64_t)next * log->unit_ns - 1;
	if (next == UINT64_MAX)
		high_ns = log->max.step_ns && log->max.ns >= low_ns ? log->max.ns + log->max.step_ns / 2 : INT64_MAX;
	return piece_range(log->piece, low_ns, high_ns, log->count, err);
}

/* "     50 	 75086" */
static int take_interval(struct pieces *pieces, struct text_log *log, const struct line *line, struct tare_err *err)
{
	struct field_text field[3];
	uint64_t from = 0, count = 0;
	if (piece_cut(pieces, line))
		return 0;
	if (fields_of(line->text, ' ', field, 3) != 2 || !number_count(field[0].at, field[0].bytes, &from) ||
		!number_count(field[1].at, field[1].bytes, &count) || from > (uint64_t)(INT64_MAX / log->unit_ns))
		return piece_damaged(pieces, line, "not an interval and its frequency", err);
	if (log->has_interval && from <= log->from)
		return piece_damaged(pieces, line, "an interval that does not follow the one before", err);
	if (!log->piece && !(log->piece = piece_add(pieces, "lagscope", "tcp", "", &binned, err)))
		return -1;
	if (end_interval(log, from, err))
		return -1;
	log->from = from;
	log->count = count;
	log->has_interval = true;
	return 0;
}

/* "	  Minimum = 30.994us, Maximum = 8699.894us, Average = 54.063us" */
static void take_figures(struct text_log *log, const char *text)
{
	const char *max = strstr(text, "Maximum = "), *pings = strstr(text, "Number of successful Pings: ");
	if (max) {
		log->max = number_read(max + 10, strspn(max + 10, "0123456789."), UNIT_US);
		log->max.step_ns = log->max.why ? 0 : log->max.step_ns;
	}
	if (pings && !number_count(pings + 28, strlen(pings + 28), &log->pings))
		log->pings = 0;
}

static int take_line(struct pieces *pieces, struct text_log *log, const struct line *line, struct tare_err *err)
{
	const char *text = line->text + strspn(line->text, " \t");
	bool number = *text >= '0' && *text <= '9' && !strchr(text, ':');
	struct text printed = {.bytes = log->printed, .used = strlen(log->printed), .room = sizeof(log->printed)};
	if (is_text(line->text)) {
		log->in_histogram = is_histogram(line->text);
		log->in_percentiles = !log->in_histogram;
	} else if (log->in_histogram && number) {
		return take_interval(pieces, log, line, err);
	} else if (log->in_percentiles && number && strchr(text, '%')) {
		text_add(&printed, "%s", printed.used ? ", " : "");
		text_add_figures(&printed, text);
	} else {
		take_figures(log, line->text);
	}
	return 0;
}

static int read_text(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct text_log log = {.max = {.step_ns = 0}};
	struct line line;
	int got;
	if (unit_ns_of(import, &log.unit_ns, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (take_line(pieces, &log, &line, err))
			return -1;
	}
	if (got < 0 || end_interval(&log, UINT64_MAX, err))
		return -1;
	if (!log.piece) {
		struct tare_origin origin = binned;
		origin.shape = TARE_SHAPE_SUMMARY;
		if (!(log.piece = piece_add(pieces, "lagscope", "tcp", "", &origin, err)))
			return -1;
	}
	uint64_t held = piece_total(log.piece);
	if (held && log.pings && held != log.pings &&
		import_note(import, IMPORT_MISMATCH, err,
			"%" PRIu64 " pings, and the histogram holds %" PRIu64 ": a largest one that is where its last interval ends is left out",
			log.pings, held))
		return -1;
	if (log.printed[0] && import_note(import, IMPORT_PRINTED, err, "its own percentiles, cut to whole units, not used: %s", log.printed))
		return -1;
	return note_unit(import, log.unit_ns, err);
}

const struct import_format lagscope_text_format = {.name = "lagscope-text",
	.knows = knows_text,
	.read = read_text,
	.tool = "lagscope",
	.help = "lagscope's histogram (-H) and percentiles (-P)"};
