/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sfnettest: the tables of sfnt-pingpong and sfnt-stream, which are summaries, so
 * that no percentile is taken from them; and the raw file of sfnt-stream, whose
 * header says ns and whose numbers are seconds.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/formats.h"
#include "import/printed.h"

struct table {
	bool full_rtt, stream, head_seen, clock_changed;
	char percentile[16], cmdline[128];
	uint64_t rows;
};

static bool is_pingpong_head(const char *text)
{
	return text_begins(text, "#\tsize\tmean\tmin\tmedian\tmax\t%ile");
}

static bool is_stream_head(const char *text)
{
	return text_begins(text, "#") && strstr(text, "sendjit") && strstr(text, "latency");
}

static bool is_table(const char *text)
{
	return is_pingpong_head(text) || is_stream_head(text) || (text_begins(text, "# cmdline:") && strstr(text, "sfnt-"));
}

static bool knows(struct lines *head)
{
	return head_has(head, 200, is_table);
}

static void take_comment(struct table *table, const char *text)
{
	const char *percentile = strstr(text, "percentile=");
	if (text_begins(text, "# cmdline:")) {
		struct text copy = TEXT_IN(table->cmdline);
		text_add(&copy, "%s", text + 10);
		table->full_rtt = strstr(text, "--rtt") != NULL;
		table->stream = strstr(text, "sfnt-stream") != NULL;
	} else if (text_begins(text, "# reporting:")) {
		table->full_rtt = strstr(text, "1/2") == NULL;
	} else if (text_begins(text, "#") && percentile) {
		struct text copy = TEXT_IN(table->percentile);
		text_add(&copy, "%.8s", percentile + 11);
	}
	table->clock_changed |= text_begins(text, "# WARNING: tsc_hz changed");
	table->head_seen |= is_pingpong_head(text) || is_stream_head(text);
	table->stream |= is_stream_head(text);
}

static struct tare_origin origin_of(const struct table *table)
{
	bool whole = table->full_rtt || table->stream;
	return (struct tare_origin){.quantity = table->stream ? TARE_QUANTITY_ONE_WAY
						: whole       ? TARE_QUANTITY_RTT
							      : TARE_QUANTITY_HALF_RTT,
		.clock = TARE_CLOCK_CYCLES,
		.pacing = table->stream ? TARE_PACING_OPEN : TARE_PACING_CLOSED,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_SUMMARY,
		.left_out = TARE_LEFT_OUT_WARMUP};
}

/* size mean min median max %ile stddev iter */
static int take_row(struct pieces *pieces, struct table *table, const struct line *line, struct tare_err *err)
{
	enum { FIELDS = 20 };
	char copy[LINES_MAX_BYTES + 1], url[64];
	struct field_text field[FIELDS];
	memcpy(copy, line->text, line->bytes + 1);
	size_t count = fields_of(copy, ' ', field, FIELDS), wanted = table->stream ? 10 : 8;
	uint64_t values[FIELDS] = {0};
	if (count < wanted)
		return piece_damaged(pieces, line, "too few columns", err);
	for (size_t i = 0; i < wanted; i++) {
		struct number number = number_read(field[i].at, field[i].bytes, UNIT_ONE_NS);
		if (number.why || (!table->stream && !number_count(field[i].at, field[i].bytes, &values[i])))
			return piece_damaged(pieces, line, "a column that is no number", err);
	}
	struct text text = TEXT_IN(url);
	text_add(&text, "%s%.*s", table->stream ? "sfnt-stream:rate=" : "sfnt-pingpong:size=", (int)field[0].bytes,
		field[0].at);
	struct tare_origin origin = origin_of(table);
	if (!piece_add(pieces, url, "sfnt", "", &origin, err))
		return -1;
	table->rows++;
	if (table->stream)
		return import_note(pieces->import, IMPORT_PRINTED, err,
			"summary only, no percentile is taken from it: %s", quote(line->text, line->bytes).text);
	return import_note(pieces->import, IMPORT_PRINTED, err,
		"summary only, no percentile is taken from it: mean %" PRIu64 ", min %" PRIu64 ", median %" PRIu64
		", max %" PRIu64 ", p%s %" PRIu64 ", sd %" PRIu64 " ns over %" PRIu64 " (%s)",
		values[1], values[2], values[3], values[4], table->percentile[0] ? table->percentile : "?", values[5],
		values[6], values[7], table->full_rtt ? "whole round trips" : "half round trips");
}

static int read_table(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct table table = {.full_rtt = false};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool row = table.head_seen && (line.text[0] == '\t' || (line.text[0] >= '0' && line.text[0] <= '9'));
		if (line.text[0] == '#')
			take_comment(&table, line.text);
		else if (row && take_row(pieces, &table, &line, err))
			return -1;
		else if (!row && line.bytes)
			piece_noise(pieces, &line);
	}
	if (got < 0 || !pieces->count)
		return got < 0 ? -1 : 0;
	if (table.clock_changed && import_note(import, IMPORT_LIMIT, err,
					   "the cycle counter's rate changed by more than 1 %% while sfnettest calibrated: its times may be "
					   "wrong by as much"))
		return -1;
	return import_note(import, IMPORT_LIMIT, err,
		"sfnettest's rank of a percentile is floor(p x n) + 1, its median the upper of two; its raw files (--raw) "
		"hold what percentiles can be made of");
}

const struct import_format sfnt_format = {.name = "sfnt",
	.knows = knows,
	.read = read_table,
	.tool = "sfnettest",
	.help = "the tables of sfnt-pingpong and sfnt-stream (summaries)"};

/* ---- raw file of sfnt-stream ---- */

static bool is_stream_raw(const char *text)
{
	return text_begins(text, "#send-target(ns)");
}

static bool knows_raw(struct lines *head)
{
	return head_has(head, 20, is_stream_raw);
}

/* target, actual and latency, in seconds with nine decimals */
static const char *read_raw_row(const struct line *line, struct number number[3])
{
	char copy[LINES_MAX_BYTES + 1];
	struct field_text field[4];
	memcpy(copy, line->text, line->bytes + 1);
	if (fields_of(copy, ' ', field, 4) != 3)
		return "not three columns";
	for (size_t i = 0; i < 3; i++) {
		number[i] = number_read(field[i].at, field[i].bytes, UNIT_S);
		if (number[i].why)
			return number[i].why;
	}
	return number[1].ns < number[0].ns ? "sent before its slot" : NULL;
}

static int take_raw_row(struct pieces *pieces, struct piece *piece, const struct line *line, struct tare_err *err)
{
	struct number number[3];
	const char *point = strrchr(line->text, '.');
	if (line->unterminated && (!point || strlen(point) != 10)) {
		pieces->cut++;
		return 0;
	}
	const char *why = line->overlong ? "longer than any row" : read_raw_row(line, number);
	if (why)
		return piece_damaged(pieces, line, why, err);
	if (piece_row(piece, err))
		return -1;
	size_t i = piece->count - 1;
	return piece_stage(piece, i, TARE_STAGE_DUE, number[0].ns, err) ||
			       piece_stage(piece, i, TARE_STAGE_USER_TX, number[1].ns, err) ||
			       piece_span(piece, i, TARE_SPAN_ONE_WAY, number[2].ns, err)
		       ? -1
		       : 0;
}

/* What the tool prints of these rows itself, by its ranks. */
static int note_raw(const struct piece *piece, struct import *import, struct tare_err *err)
{
	const int64_t *values_ns = piece->given_ns[TARE_SPAN_ONE_WAY];
	uint64_t below = 0;
	AUTO_CLEANUP(ranked_end) struct ranked ranked = {0};
	if (ranked_open(values_ns, values_ns ? piece->count : 0, &ranked, err))
		return -1;
	for (size_t i = 0; i < ranked.count && ranked.sorted_ns[i] < 0; i++)
		below++;
	struct printed list[] = {{"median", ranked_at(&ranked, ranked.count / 2 + 1), ranked_nearest(&ranked, 500000), 0},
		{"p99", ranked_at(&ranked, ranked.count * 99 / 100 + 1), ranked_nearest(&ranked, 990000), 0}};
	if (import_note(import, IMPORT_QUANTITY, err,
		    "one_way is sfnt-stream's latency: the round trip less a mean return time, a guess for each single packet (a whole "
		    "round trip with --rtt, which the file does not say); the file's header says ns, its numbers are seconds") ||
		import_note(import, IMPORT_LIMIT, err,
			"its schedule moves on when it is more than --maxburst messages behind: lateness beyond that is not seen"))
		return -1;
	if (below && import_note(import, IMPORT_LIMIT, err,
			     "%" PRIu64 " latencies are below zero: the way back was faster than the mean taken off", below))
		return -1;
	return printed_note(import, "sfnt-stream", "itself prints", UNIT_ONE_NS, list, 2,
		"its rank is floor(p x n) + 1, its median the upper of two", err);
}

static int read_raw(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	static const struct tare_origin origin = {.quantity = TARE_QUANTITY_ONE_WAY,
		.clock = TARE_CLOCK_CYCLES,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_MEASURED,
		.left_out = TARE_LEFT_OUT_WARMUP | TARE_LEFT_OUT_LOST | TARE_LEFT_OUT_SOME};
	struct line line;
	struct piece *piece = NULL;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool head = !line.overlong && is_stream_raw(line.text);
		if (head && piece && note_raw(piece, import, err))
			return -1;
		if (head || (!piece && line.bytes && line.text[0] != '#')) {
			piece = piece_add(pieces, "sfnt-stream", "udp", "", &origin, err);
			if (!piece)
				return -1;
		}
		if (!line.overlong && (line.text[0] == '#' || !line.bytes))
			continue;
		if (piece && take_raw_row(pieces, piece, &line, err))
			return -1;
	}
	if (got < 0)
		return -1;
	return piece ? note_raw(piece, import, err) : 0;
}

const struct import_format sfnt_stream_raw_format = {.name = "sfnt-stream-raw",
	.knows = knows_raw,
	.read = read_raw,
	.tool = "sfnt-stream",
	.help = "a raw file of sfnt-stream (--raw)"};
