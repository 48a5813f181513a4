/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ping -j of the iputils: an object an answer, a summary last. Numbers are
 * partly texts. With -D a bracket stands before the object. Sequence numbers wrap
 * at 65536, so each is taken as the nearest to the one before.
 */
#include <inttypes.h>
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
	const char *at = strchr(text, '{');
	return at && (at == text || text[0] == '[') && strstr(at, "\"seq\"") && strstr(at, "\"ttl\"") &&
	       strstr(at, "\"time\"");
}

static bool knows(struct lines *head)
{
	return head_has(head, 20, is_ours);
}

static struct piece *piece_for(struct pieces *pieces, const json_t *object, struct tare_err *err)
{
	const char *host = document_text(object, "host");
	char url[160];
	struct text text = TEXT_IN(url);
	text_add(&text, host && strchr(host, ':') ? "icmp://[%s]" : "icmp://%s", host ? host : "unknown");
	struct piece *piece = pieces->count ? pieces->piece[pieces->count - 1]
					    : piece_of(pieces, url, "icmp", "", &origin, err);
	if (piece)
		piece->round->warmup = 2;
	return piece;
}

/* Requests up to and with index i, those without an answer lost. */
static int reach(struct piece *piece, uint64_t i, struct tare_err *err)
{
	while (piece->count <= i) {
		if (piece_row(piece, err))
			return -1;
		piece->fate[piece->count - 1] = TARE_LOST;
	}
	return 0;
}

static int take_answer(
	struct pieces *pieces, const struct line *line, const json_t *object, int64_t stamp_ns, struct tare_err *err)
{
	struct piece *piece = piece_for(pieces, object, err);
	int64_t seq = 0, ns = document_ns(object, "time", UNIT_MS);
	if (!piece)
		return -1;
	if (!document_integer(object, "seq", &seq) || seq < 0 || seq > 65535)
		return piece_damaged(pieces, line, "an answer without a sequence number of 16 bits", err);
	if (document_at(object, "error"))
		return reach(piece, piece->count, err);
	if (ns == TARE_NO_TIME || ns < 0)
		return piece_damaged(pieces, line, "an answer without a time", err);
	/* from 1; the nearest to the last one */
	int64_t last = (int64_t)piece->count, i = last + (int16_t)(uint16_t)(seq - 1 - last);
	if (i < 0 || i > last + 20000)
		return piece_damaged(pieces, line, "a sequence number far from the one before", err);
	if (reach(piece, (uint64_t)i, err))
		return -1;
	if (piece->fate[i] == TARE_ANSWERED) {
		piece->beside.duplicate++;
		return 0;
	}
	piece->fate[i] = TARE_ANSWERED;
	const char *printed = document_text(object, "time");
	struct number number = printed ? number_read(printed, strlen(printed), UNIT_MS) : (struct number){.step_ns = 1000};
	piece->resolution_ns = number.step_ns > piece->resolution_ns && number.step_ns <= 100000 ? number.step_ns
											       : piece->resolution_ns;
	if (stamp_ns != TARE_NO_TIME) {
		if (!pieces->import->run.epoch_real_ns)
			pieces->import->run.epoch_real_ns = stamp_ns;
		if (piece_stage(piece, (size_t)i, TARE_STAGE_USER_RX, stamp_ns - pieces->import->run.epoch_real_ns, err))
			return -1;
	}
	return piece_span(piece, (size_t)i, TARE_SPAN_RTT, ns, err);
}

static int take_summary(struct pieces *pieces, const json_t *object, struct tare_err *err)
{
	int64_t sent = 0, received = 0;
	struct piece *piece = piece_for(pieces, object, err);
	if (!piece)
		return -1;
	if (!document_integer(object, "transmitted", &sent) || !document_integer(object, "received", &received))
		return 0;
	if (sent > (int64_t)piece->count && sent <= (int64_t)piece->count + (1 << 20) &&
		reach(piece, (uint64_t)sent - 1, err))
		return -1;
	return import_note(pieces->import, IMPORT_PRINTED, err,
		"ping counts %" PRId64 " transmitted, %" PRId64 " received, and prints min/avg/max/mdev of %s/%s/%s/%s ms",
		sent, received, document_text(object, "rtt.min") ? document_text(object, "rtt.min") : "?",
		document_text(object, "rtt.avg") ? document_text(object, "rtt.avg") : "?",
		document_text(object, "rtt.max") ? document_text(object, "rtt.max") : "?",
		document_text(object, "rtt.mdev") ? document_text(object, "rtt.mdev") : "?");
}

static int take_line(struct pieces *pieces, struct line *line, struct tare_err *err)
{
	char why[256];
	char *at = strchr(line->text, '{');
	int64_t stamp_ns = TARE_NO_TIME;
	if (!at) {
		piece_noise(pieces, line);
		return 0;
	}
	if (line->text[0] == '[') {
		struct number number = number_read(line->text + 1, strcspn(line->text + 1, "]"), UNIT_S);
		stamp_ns = number.why ? TARE_NO_TIME : number.ns;
	}
	struct line rest = *line;
	rest.text = at;
	rest.bytes = line->bytes - (size_t)(at - line->text);
	AUTO_CLEANUP(document_end) json_t *root = document_of_line(&rest, pieces->import->rules.lenient, why, sizeof(why));
	if (!root)
		return piece_damaged(pieces, line, why, err);
	if (document_at(root, "transmitted"))
		return take_summary(pieces, root, err);
	return document_at(root, "seq") ? take_answer(pieces, line, root, stamp_ns, err) : 0;
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (!line.overlong && line.bytes && take_line(pieces, &line, err))
			return -1;
	}
	if (got < 0 || !pieces->count)
		return got < 0 ? -1 : 0;
	return import_note(import, IMPORT_HEAD, err, "ping -j (iputils): %zu requests", pieces->piece[0]->count);
}

const struct import_format ping_json_format = {.name = "ping-json",
	.knows = knows,
	.read = read_log,
	.tool = "ping (iputils)",
	.help = "ping's JSON lines (-j)"};
