/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fping -J (5.5): an object a line, named by its only member. */
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"

static const struct tare_origin origin = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_WALL,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_UNKNOWN};

static bool is_ours(const char *text)
{
	return text_begins(text, "{\"resp\":") || text_begins(text, "{\"timeout\":") ||
	       text_begins(text, "{\"vSum\":") || text_begins(text, "{\"resp\" :");
}

static bool knows(struct lines *head)
{
	/* -C: all answers of a host in one line */
	if (lines_allow(head, LINES_LONGEST, NULL))
		return false;
	return head_has(head, 20, is_ours);
}

static struct piece *host_piece(struct pieces *pieces, const json_t *object, struct tare_err *err)
{
	const char *host = document_text(object, "host");
	char url[160];
	struct text text = TEXT_IN(url);
	text_add(&text, host && strchr(host, ':') ? "icmp://[%s]" : "icmp://%s", host ? host : "unknown");
	struct piece *piece = piece_of(pieces, url, "icmp", "", &origin, err);
	if (piece && !piece->count) {
		piece->round->warmup = 2;
		piece->resolution_ns = 1000;
	}
	return piece;
}

static int add(struct piece *piece, int64_t ns, struct tare_err *err)
{
	if (piece_row(piece, err))
		return -1;
	if (ns != TARE_NO_TIME)
		return piece_span(piece, piece->count - 1, TARE_SPAN_RTT, ns, err);
	piece->fate[piece->count - 1] = TARE_LOST;
	return 0;
}

static int take_values(struct piece *piece, const json_t *values, struct tare_err *err)
{
	size_t i;
	const json_t *value;
	json_array_foreach(values, i, value)
	{
		if (add(piece, document_ns(value, "", UNIT_MS), err))
			return -1;
	}
	return 0;
}

static int take_line(struct pieces *pieces, const struct line *line, struct tare_err *err)
{
	char why[256];
	AUTO_CLEANUP(document_end) json_t *root = document_of_line(line, pieces->import->rules.lenient, why, sizeof(why));
	if (!root)
		return piece_damaged(pieces, line, why, err);
	const json_t *answer = document_at(root, "resp"), *lost = document_at(root, "timeout");
	const json_t *all = document_at(root, "vSum");
	const json_t *object = answer ? answer : lost ? lost : all;
	if (!object)
		return 0;
	struct piece *piece = host_piece(pieces, object, err);
	if (!piece)
		return -1;
	if (all)
		return take_values(piece, document_at(all, "values"), err);
	const char *from = document_text(object, "src"), *host = document_text(object, "host");
	if (answer && from && host && strcmp(from, host) != 0) {
		piece->beside.foreign++;
		return 0;
	}
	int64_t ns = answer ? document_ns(answer, "rtt", UNIT_MS) : TARE_NO_TIME;
	if (answer && (ns == TARE_NO_TIME || ns < 0))
		return piece_damaged(pieces, line, "an answer without a time", err);
	return add(piece, ns, err);
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	int got;
	if (lines_allow(import->lines, LINES_LONGEST, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (!line.overlong && line.text[0] == '{') {
			if (take_line(pieces, &line, err))
				return -1;
		} else if (line.bytes || line.overlong) {
			piece_noise(pieces, &line);
		}
	}
	if (got < 0 || !pieces->count)
		return got < 0 ? -1 : 0;
	return import_note(import, IMPORT_HEAD, err, "fping, JSON: %zu host%s", pieces->count,
		pieces->count == 1 ? "" : "s");
}

const struct import_format fping_json_format = {.name = "fping-json",
	.knows = knows,
	.read = read_log,
	.tool = "fping",
	.help = "fping's JSON lines (-J)"};
