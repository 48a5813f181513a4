/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mtr --raw, a line a packet, into a series per hop; mtr's and trippy's JSON,
 * which are summaries. A hop's answers come from routers' slow path: they say
 * little about traffic that goes through.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"

enum { HOPS = 256, OPEN = 64 };

static const struct tare_origin per_packet = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_WALL,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_UNKNOWN};

/* One hop: its requests by mtr's sequence numbers, the last ones that may still be answered. */
struct hop {
	struct piece *piece;
	struct {
		uint64_t seq;
		size_t index;
	} open[OPEN];
	size_t open_count;
};

/* "x 3 33007", "p 3 412 33007" */
static size_t read_numbers(const char *text, uint64_t *ret, size_t room)
{
	size_t count = 0;
	while (*text && count < room) {
		text += strspn(text, " ");
		size_t bytes = strcspn(text, " ");
		if (!bytes || !number_count(text, bytes, &ret[count]))
			return 0;
		count++;
		text += bytes;
	}
	return *text ? 0 : count;
}

static bool is_raw(const char *text)
{
	uint64_t values[4];
	return (text_begins(text, "x ") && read_numbers(text + 2, values, 4) == 2) ||
	       (text_begins(text, "p ") && read_numbers(text + 2, values, 4) >= 2);
}

static bool knows_raw(struct lines *head)
{
	return head_has(head, 40, is_raw);
}

static struct hop *hop_of(struct pieces *pieces, struct hop *hops, uint64_t number, struct tare_err *err)
{
	char url[32];
	struct hop *hop = &hops[number];
	if (hop->piece)
		return hop;
	snprintf(url, sizeof(url), "mtr:hop-%" PRIu64, number + 1);
	hop->piece = piece_add(pieces, url, "mtr", "", &per_packet, err);
	if (!hop->piece)
		return NULL;
	hop->piece->resolution_ns = 1000;
	return hop;
}

static int take_sent(struct hop *hop, uint64_t seq, struct tare_err *err)
{
	if (piece_row(hop->piece, err))
		return -1;
	hop->piece->fate[hop->piece->count - 1] = TARE_LOST;
	size_t at = hop->open_count++ % OPEN;
	hop->open[at].seq = seq;
	hop->open[at].index = hop->piece->count - 1;
	return 0;
}

static int take_reply(struct hop *hop, const uint64_t *values, size_t count, struct tare_err *err)
{
	struct piece *piece = hop->piece;
	size_t index = SIZE_MAX;
	for (size_t i = 0; i < OPEN && i < hop->open_count && count == 3; i++) {
		if (hop->open[i].seq == values[2])
			index = hop->open[i].index;
	}
	if (count == 2 && piece->count)
		index = piece->count - 1; /* old versions: no number, the last one */
	if (index == SIZE_MAX) {
		/* without x lines a reply is all there is */
		if (piece_row(piece, err))
			return -1;
		index = piece->count - 1;
		piece->fate[index] = TARE_LOST;
	}
	if (piece->fate[index] == TARE_ANSWERED) {
		piece->beside.duplicate++;
		return 0;
	}
	piece->fate[index] = TARE_ANSWERED;
	return piece_span(piece, index, TARE_SPAN_RTT, (int64_t)values[1] * 1000, err);
}

static int take_raw(struct pieces *pieces, struct hop *hops, const struct line *line, struct tare_err *err)
{
	uint64_t values[4];
	bool sent = line->text[0] == 'x';
	size_t count = read_numbers(line->text + 2, values, 4);
	if (count != 2 && (sent || count != 3))
		return piece_damaged(pieces, line, "not a hop and its numbers", err);
	if (values[0] >= HOPS || values[1] > INT64_MAX / 1000)
		return piece_damaged(pieces, line, "a hop or time out of range", err);
	struct hop *hop = hop_of(pieces, hops, values[0], err);
	if (!hop)
		return -1;
	return sent ? take_sent(hop, values[1], err) : take_reply(hop, values, count, err);
}

static int read_raw(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_FREE struct hop *hops = calloc(HOPS, sizeof(*hops));
	struct line line;
	int got;
	if (!hops)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool ours = (line.text[0] == 'x' || line.text[0] == 'p') && line.text[1] == ' ';
		bool known = line.text[0] && strchr("hdmt", line.text[0]) && line.text[1] == ' ';
		if (ours && take_raw(pieces, hops, &line, err))
			return -1;
		if (!ours && !known && line.bytes)
			piece_noise(pieces, &line);
	}
	if (got < 0 || !pieces->count)
		return got < 0 ? -1 : 0;
	return import_note(import, IMPORT_LIMIT, err,
		"a hop answers on its slow path: what it takes and loses there says little about traffic through it");
}

const struct import_format mtr_raw_format = {.name = "mtr-raw",
	.knows = knows_raw,
	.read = read_raw,
	.tool = "mtr",
	.help = "mtr's lines (--raw)"};

/* ---- summaries ---- */

static bool knows_json(struct lines *head)
{
	static const char *const keys[] = {"report", "mtr", "hubs", NULL};
	return document_knows(head, keys);
}

static bool knows_trippy(struct lines *head)
{
	static const char *const keys[] = {"info", "hops", "ttl", "jitter", NULL};
	return document_knows(head, keys);
}

static int read_hops(struct import *import, struct pieces *pieces, const char *tool, const json_t *hops,
	struct tare_err *err)
{
	struct tare_origin origin = per_packet;
	const json_t *hop;
	size_t i;
	origin.shape = TARE_SHAPE_SUMMARY;
	json_array_foreach(hops, i, hop)
	{
		char url[48];
		snprintf(url, sizeof(url), "%s:hop-%zu", tool, i + 1);
		AUTO_FREE char *text = json_dumps(hop, JSON_COMPACT);
		if (!text || !piece_add(pieces, url, tool, "", &origin, err))
			return text ? -1 : tare_fail(err, TARE_E_SYSTEM, "out of memory");
		if (import_note(import, IMPORT_PRINTED, err, "summary only, no percentile is taken from it: %.400s", text))
			return -1;
	}
	return 0;
}

static int read_json(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	return root ? read_hops(import, pieces, "mtr", document_at(root, "report.hubs"), err) : -1;
}

static int read_trippy(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	return root ? read_hops(import, pieces, "trippy", document_at(root, "hops"), err) : -1;
}

const struct import_format mtr_json_format = {.name = "mtr-json",
	.knows = knows_json,
	.read = read_json,
	.tool = "mtr",
	.help = "mtr's JSON (a summary)"};
const struct import_format trippy_format = {.name = "trippy",
	.knows = knows_trippy,
	.read = read_trippy,
	.tool = "trippy",
	.help = "trippy's JSON (a summary)"};
