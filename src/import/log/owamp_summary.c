/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The summary that owping and twping print with -M, buckets and all. A bucket is
 * named by its edge away from 0: b > 0 holds what is above (b - 1) and up to b
 * widths, 0 exactly 0, and b < 0 from b up to below b + 1. Of two-way sessions a
 * line has three counts: round trip less the reflector's part, there and back.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

enum { WAYS = 3 };
static const char *const ways[WAYS] = {"", "_FWD", "_BCK"};
static const char *const names[WAYS] = {"", ":there", ":back"};

/* One SUMMARY, whose buckets come behind its figures. */
struct summary {
	int64_t width_ns;
	uint64_t sent, lost, dups;
	char from[64], to[64];
	struct number min[WAYS], median[WAYS], max[WAYS]; /* step_ns 0: not there */
	struct piece *piece[WAYS];
	bool in_buckets, synchronised, twoway;
};

static bool is_summary(const char *text)
{
	return text_begins(text, "SUMMARY\t") || text_begins(text, "BUCKET_WIDTH\t");
}

static bool knows(struct lines *head)
{
	return head_has(head, 60, is_summary);
}

static const char *value_of(const char *text, const char *key)
{
	size_t bytes = strlen(key);
	return strncmp(text, key, bytes) == 0 && text[bytes] == '\t' ? text + bytes + 1 : NULL;
}

static int make_piece(struct pieces *pieces, struct summary *summary, int way, bool twoway, struct tare_err *err)
{
	const struct tare_origin origin = {.quantity = twoway && way == 0 ? TARE_QUANTITY_RTT : TARE_QUANTITY_ONE_WAY,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_BINS};
	char url[200];
	struct text text = TEXT_IN(url);
	text_add(&text, "%s:", twoway ? "twamp" : "owamp");
	if (summary->from[0] || summary->to[0])
		text_add(&text, "%s>%s", summary->from, summary->to);
	text_add(&text, "%s", names[way]);
	summary->piece[way] = piece_add(pieces, url, "udp", "", &origin, err);
	if (!summary->piece[way])
		return -1;
	summary->piece[way]->lost = summary->lost;
	summary->piece[way]->beside.duplicate = way == 0 ? summary->dups : 0;
	return 0;
}

/* The values of bucket b; false where they do not fit. */
static bool edges_of(int64_t b, int64_t width_ns, int64_t *ret_low_ns, int64_t *ret_high_ns)
{
	int64_t edge, other;
	if (width_ns <= 0 || __builtin_mul_overflow(b, width_ns, &edge) ||
		__builtin_mul_overflow(b + (b > 0 ? -1 : b < 0), width_ns, &other) || edge == TARE_NO_TIME)
		return false;
	*ret_low_ns = b > 0 ? other + 1 : edge;
	*ret_high_ns = b < 0 ? other - 1 : edge;
	return true;
}

/* "\t5\t8", or of a two-way session "\t5\t8\t7\t9". */
static int take_bucket(struct pieces *pieces, struct summary *summary, const struct line *line, struct tare_err *err)
{
	char *end = NULL;
	long long b = strtoll(line->text, &end, 10);
	uint64_t counts[WAYS];
	int64_t low_ns, high_ns;
	int ways_there = 0;
	if (piece_cut(pieces, line))
		return 0;
	for (const char *at = end; end != line->text && ways_there < WAYS; ways_there++) {
		at += strspn(at, " \t");
		size_t bytes = strcspn(at, " \t");
		if (!bytes)
			break;
		if (!number_count(at, bytes, &counts[ways_there]))
			return piece_damaged(pieces, line, "not a bucket and its count", err);
		at += bytes;
	}
	if (ways_there != 1 && ways_there != WAYS)
		return piece_damaged(pieces, line, "not a bucket with one count or three", err);
	if (b > INT32_MAX || b < INT32_MIN || !edges_of(b, summary->width_ns, &low_ns, &high_ns))
		return piece_damaged(pieces, line, "a bucket without a width or out of range", err);
	for (int way = 0; way < ways_there; way++) {
		if (!summary->piece[way] && make_piece(pieces, summary, way, ways_there == WAYS, err))
			return -1;
		if (piece_range(summary->piece[way], low_ns, high_ns, counts[way], err))
			return -1;
	}
	return 0;
}

static void take_figure(struct number *number, const char *text)
{
	if (text)
		*number = number_read(text, strlen(text), UNIT_S);
	if (number->why)
		number->step_ns = 0;
}

static void take_key(struct summary *summary, const char *text)
{
	const char *width = value_of(text, "BUCKET_WIDTH"), *value;
	const struct {
		const char *key;
		uint64_t *count;
	} counts[] = {{"SENT", &summary->sent}, {"LOST", &summary->lost}, {"DUPS", &summary->dups}};
	if (width) {
		struct number number = number_read(width, strlen(width), UNIT_S);
		summary->width_ns = number.why ? 0 : number.ns;
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		value = value_of(text, counts[i].key);
		if (value && !number_count(value, strlen(value), counts[i].count))
			*counts[i].count = 0;
	}
	summary->twoway = summary->twoway || value_of(text, "MAXERR_FWD");
	if ((value = value_of(text, "SYNC")))
		summary->synchronised = strcmp(value, "0") != 0;
	for (int end = 0; end < 2; end++) {
		struct text address = {.bytes = end ? summary->to : summary->from, .room = sizeof(summary->to)};
		if ((value = value_of(text, end ? "TO_ADDR" : "FROM_ADDR")))
			text_add_figures(&address, value);
	}
	for (int way = 0; way < WAYS; way++) {
		char key[16];
		snprintf(key, sizeof(key), "MIN%s", ways[way]);
		take_figure(&summary->min[way], value_of(text, key));
		snprintf(key, sizeof(key), "MEDIAN%s", ways[way]);
		take_figure(&summary->median[way], value_of(text, key));
		snprintf(key, sizeof(key), "MAX%s", ways[way]);
		take_figure(&summary->max[way], value_of(text, key));
	}
}

/* What its six digits leave open is kept; duplicates count in its extremes and in no bucket. */
static void narrow(const struct summary *summary, int way)
{
	struct piece *piece = summary->piece[way];
	const struct number *min = &summary->min[way], *max = &summary->max[way];
	for (size_t i = 0; i < piece->range_count && summary->dups == 0; i++) {
		struct tare_range *range = &piece->range[i];
		int64_t least_ns = min->ns - min->step_ns / 2 - 1, most_ns = max->ns + max->step_ns / 2 + 1;
		if (min->step_ns && least_ns > range->low_ns && least_ns <= range->high_ns)
			range->low_ns = least_ns;
		if (max->step_ns && most_ns < range->high_ns && most_ns >= range->low_ns)
			range->high_ns = most_ns;
	}
}

/* Its median is the far edge of a bucket, of the rank ceil(p x sent). */
static int note_median(struct import *import, struct summary *summary, int way, struct tare_err *err)
{
	char its[32], low[32], high[32];
	struct piece *piece = summary->piece[way];
	uint64_t n = piece_total(piece);
	const struct tare_range *range = n ? piece_ranked(piece, n / 2 + n % 2) : NULL;
	int64_t median_ns = summary->median[way].ns;
	if (!range || !summary->median[way].step_ns || (median_ns >= range->low_ns && median_ns <= range->high_ns))
		return 0;
	import->round = piece->round->number;
	format_duration(median_ns, its, sizeof(its));
	format_duration(range->low_ns, low, sizeof(low));
	format_duration(range->high_ns, high, sizeof(high));
	return import_note(import, IMPORT_PRINTED, err,
		"owamp's median is %s: the far edge of the bucket of rank ceil(p x sent)%s; by the buckets half of what was received "
		"lies up to %s–%s", its, summary->max[way].step_ns && median_ns > summary->max[way].ns ? ", here above its own maximum" : "",
		low, high);
}

static int end_session(struct pieces *pieces, struct summary *summary, struct tare_err *err)
{
	struct import *import = pieces->import;
	struct summary fresh = {.synchronised = true};
	/* nothing arrived: no buckets are printed */
	if (!summary->piece[0] && summary->sent && summary->sent == summary->lost &&
		make_piece(pieces, summary, 0, summary->twoway, err))
		return -1;
	for (int way = 0; way < WAYS; way++) {
		if (!summary->piece[way])
			continue;
		narrow(summary, way);
		if (note_median(import, summary, way, err))
			return -1;
	}
	if (summary->piece[0] && !summary->synchronised &&
		import_note(import, IMPORT_LIMIT, err, "an end said that its clock was not synchronised"))
		return -1;
	*summary = fresh;
	return 0;
}

static int read_summary(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct summary summary = {.synchronised = true};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (text_begins(line.text, "SUMMARY\t") && end_session(pieces, &summary, err))
			return -1;
		if (line.text[0] == '<') {
			summary.in_buckets = text_begins(line.text, "<BUCKETS>");
		} else if (summary.in_buckets && line.bytes) {
			if (take_bucket(pieces, &summary, &line, err))
				return -1;
		} else {
			take_key(&summary, line.text);
		}
	}
	if (got < 0 || end_session(pieces, &summary, err) || !pieces->count)
		return got < 0 ? -1 : 0;
	import->round = 1;
	return import_note(import, IMPORT_QUANTITY, err,
		"delays in buckets, each figure a range: a bucket is named by its edge away from 0, which belongs to it; one way is the "
		"difference of two clocks; a round trip is less the reflector's part; owamp ranks over what was sent, tare over "
		"what was received (--over sent for the other)");
}

const struct import_format owamp_summary_format = {.name = "owamp-summary",
	.knows = knows,
	.read = read_summary,
	.tool = "owamp",
	.help = "the summary of owping and twping with buckets (-M)"};
