/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw files of one whole number of ns a line and nothing else: sfnt-pingpong's (--raw, PREFIX-SIZE.dat) and eflatency's
 * (-o). Nothing in them says whose they are, and their names are no proof: such a file is plain numbers until the user
 * says --format. What the tool itself would print of the rows is told where its rank is not tare's.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "import/formats.h"
#include "import/printed.h"

struct kind {
	const char *url, *tool, *note, *rule;
	enum tare_span span;
	struct tare_origin origin;
	/* its ranks from 1 of n values: median, and two percentiles */
	uint64_t (*rank[3])(uint64_t n);
	const char *name[3];
	uint64_t share_ppm[3];
};

static uint64_t upper_median(uint64_t n)
{
	return n / 2 + 1;
}

static uint64_t floor_99(uint64_t n)
{
	return n * 99 / 100 + 1;
}

static uint64_t less_a_twentieth(uint64_t n)
{
	return n - n / 20 + 1;
}

static uint64_t less_a_hundredth(uint64_t n)
{
	return n - n / 100 + 1;
}

static const struct kind sfnt = {.url = "sfnt-pingpong",
	.tool = "sfnt-pingpong",
	.note = "half_rtt is half a round trip, as sfnt-pingpong writes it unless it ran with --rtt (then: --format numbers --unit ns)",
	.rule = "its rank is floor(p x n) + 1, its median the upper of two",
	.span = TARE_SPAN_HALF_RTT,
	.origin = {.quantity = TARE_QUANTITY_HALF_RTT,
		.clock = TARE_CLOCK_CYCLES,
		.pacing = TARE_PACING_CLOSED,
		.lateness = TARE_LATENESS_UNKNOWN,
		.left_out = TARE_LEFT_OUT_WARMUP},
	.rank = {upper_median, floor_99},
	.name = {"median", "p99"},
	.share_ppm = {500000, 990000}};

static const struct kind eflatency = {.url = "eflatency",
	.tool = "eflatency",
	.note = "rtt is the whole round trip",
	.rule = "its ranks are n/2 + 1, n - n/20 + 1 and n - n/100 + 1",
	.span = TARE_SPAN_RTT,
	.origin = {.quantity = TARE_QUANTITY_RTT,
		.clock = TARE_CLOCK_CYCLES,
		.pacing = TARE_PACING_CLOSED,
		.lateness = TARE_LATENESS_UNKNOWN,
		.left_out = TARE_LEFT_OUT_WARMUP},
	.rank = {upper_median, less_a_twentieth, less_a_hundredth},
	.name = {"50%", "95%", "99%"},
	.share_ppm = {500000, 950000, 990000}};

static int note_ranks(const struct kind *kind, const struct piece *piece, struct import *import, struct tare_err *err)
{
	struct printed list[3];
	size_t count = 0;
	AUTO_CLEANUP(ranked_end) struct ranked ranked = {0};
	if (ranked_open(piece->given_ns[kind->span], piece->count, &ranked, err))
		return -1;
	for (; count < 3 && kind->rank[count]; count++) {
		list[count] = (struct printed){.name = kind->name[count],
			.printed_ns = ranked_at(&ranked, kind->rank[count](ranked.count)),
			.ours_ns = ranked_nearest(&ranked, kind->share_ppm[count])};
	}
	return printed_note(import, kind->tool, "itself prints", UNIT_ONE_NS, list, count, kind->rule, err);
}

static int read_rows(const struct kind *kind, struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	int got;
	struct piece *piece = piece_add(pieces, kind->url, "raw", "", &kind->origin, err);
	if (!piece)
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		uint64_t ns = 0;
		if (!line.bytes && !line.overlong)
			continue;
		bool fine = !line.overlong && number_count(line.text, line.bytes, &ns) && ns <= INT64_MAX;
		if (fine ? piece_value(piece, kind->span, (int64_t)ns, err)
			 : piece_damaged(pieces, &line, "no whole number of ns", err))
			return -1;
	}
	if (got < 0)
		return -1;
	if (!piece->count)
		return tare_fail(err, TARE_E_FORMAT, "'%s' holds no whole number of ns", import->name);
	if (import_note(import, IMPORT_QUANTITY, err, "%s", kind->note))
		return -1;
	return note_ranks(kind, piece, import, err);
}

static int read_sfnt(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	return read_rows(&sfnt, import, pieces, err);
}

static int read_eflatency(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	return read_rows(&eflatency, import, pieces, err);
}

static bool never(struct lines *head)
{
	(void)head;
	return false;
}

const struct import_format sfnt_raw_format = {.name = "sfnt-raw",
	.knows = never,
	.read = read_sfnt,
	.tool = "sfnt-pingpong",
	.help = "a raw file of sfnt-pingpong (--raw); only by --format"};
const struct import_format eflatency_raw_format = {.name = "eflatency-raw",
	.knows = never,
	.read = read_eflatency,
	.tool = "eflatency",
	.help = "a raw file of eflatency (-o); only by --format"};
