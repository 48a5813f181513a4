/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ping -j of the iputils (git, after 20240905): an object an answer, a summary last. Numbers are partly texts. With -D
 * a bracket stands before the object, and " (DUP!)" before one that came twice. Sequence numbers wrap at 65536, so each
 * is taken as the nearest to the one before. A summary ends a run: what follows it is another round.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"
#include "import/printed.h"

static const struct tare_origin origin = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_WALL,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_UNKNOWN};

struct ping_json {
	struct pieces *pieces;
	struct piece *piece;
	bool ended; /* its summary is there: what follows is another run */
	uint64_t errors;
	int64_t duplicates_ns;
	struct quoted first_error;
};

static bool is_answer(const char *at)
{
	return strstr(at, "\"seq\"") && strstr(at, "\"ttl\"") && strstr(at, "\"time\"");
}

static bool is_ours(const char *text)
{
	const char *at = strchr(text, '{');
	/* "[stamp] " with -D, " (DUP!)" in front of an answer that came twice */
	if (!at || (at != text && text[0] != '[' && !text_begins(text, " (DUP!)")))
		return false;
	return is_answer(at) || (strstr(at, "\"transmitted\"") && strstr(at, "\"corrupted\""));
}

static bool knows(struct lines *head)
{
	return head_has(head, 20, is_ours);
}

static struct piece *piece_for(struct ping_json *log, const json_t *object, struct tare_err *err)
{
	if (log->piece && !log->ended)
		return log->piece;
	const char *host = document_text(object, "host");
	char url[160];
	struct text text = TEXT_IN(url);
	text_add(&text, host && strchr(host, ':') ? "icmp://[%s]" : "icmp://%s", host ? host : "unknown");
	*log = (struct ping_json){.pieces = log->pieces, .piece = piece_add(log->pieces, url, "icmp", "", &origin, err)};
	if (log->piece)
		log->piece->round->warmup = 2;
	return log->piece;
}

/* Nearest to the last number; the first is taken as it stands. -1: too far from what the log has shown so far. */
static int64_t place_of(const struct ping_json *log, int64_t seq, uint64_t lines)
{
	const struct piece *piece = log->piece;
	int64_t last = (int64_t)piece->count;
	int64_t i = last ? last + (int16_t)(uint16_t)(seq - 1 - last) : seq - 1;
	return i < 0 || !pieces_allow(log->pieces, piece, (uint64_t)i, lines) ? -1 : i;
}

static int keep_stamp(struct import *import, struct piece *piece, size_t i, int64_t stamp_ns, struct tare_err *err)
{
	if (stamp_ns == TARE_NO_TIME)
		return 0;
	if (!import->run.epoch_real_ns)
		import->run.epoch_real_ns = stamp_ns;
	return piece_stage(piece, i, TARE_STAGE_USER_RX, stamp_ns - import->run.epoch_real_ns, err);
}

static void keep_step(struct piece *piece, const json_t *object)
{
	const char *printed = document_text(object, "time");
	struct number number = printed ? number_read(printed, strlen(printed), UNIT_MS) : (struct number){.step_ns = 1000};
	if (number.step_ns > piece->resolution_ns && number.step_ns <= 100000)
		piece->resolution_ns = number.step_ns;
}

static int take_answer(
	struct ping_json *log, const struct line *line, const json_t *object, int64_t stamp_ns, struct tare_err *err)
{
	int64_t seq = 0, ns = document_ns(object, "time", UNIT_MS);
	struct piece *piece = piece_for(log, object, err);
	if (!piece)
		return -1;
	if (!document_integer(object, "seq", &seq) || seq < 0 || seq > 65535)
		return piece_damaged(log->pieces, line, "an answer without a sequence number of 16 bits", err);
	if (ns == TARE_NO_TIME && document_at(object, "time"))
		return piece_damaged(log->pieces, line, "an answer whose time is no number", err);
	if (ns != TARE_NO_TIME && ns < 0)
		return piece_damaged(log->pieces, line, "a negative time", err);
	int64_t i = place_of(log, seq, line->number);
	if (i < 0)
		return piece_damaged(log->pieces, line, "a sequence number far from the one before", err);
	bool behind = i + 1 < (int64_t)piece->count;
	if (pieces_reach(log->pieces, piece, (uint64_t)i, err))
		return -1;
	if (piece->fate[i] == TARE_ANSWERED) {
		piece->beside.duplicate++;
		log->duplicates_ns += ns != TARE_NO_TIME ? ns : 0;
		piece->flags[i] |= TARE_FLAG_DUPLICATED;
		return 0;
	}
	piece->fate[i] = TARE_ANSWERED;
	piece->beside.reordered += behind;
	piece->flags[i] |= behind ? TARE_FLAG_REORDERED : 0;
	keep_step(piece, object);
	if (keep_stamp(log->pieces->import, piece, (size_t)i, stamp_ns, err))
		return -1;
	/* an answer too short for a time of its own has none */
	return ns == TARE_NO_TIME ? 0 : piece_span(piece, (size_t)i, TARE_SPAN_RTT, ns, err);
}

/* ping -j names no request with its errors: "error": "…" or ["sendmsg", "…"]. */
static int take_error(struct ping_json *log, const json_t *object, struct tare_err *err)
{
	const json_t *error = document_at(object, "error");
	const char *what = json_string_value(json_is_array(error) ? json_array_get(error, json_array_size(error) - 1) : error);
	if (!piece_for(log, object, err))
		return -1;
	if (!log->errors++)
		log->first_error = what ? quote(what, strlen(what)) : quote("?", 1);
	return 0;
}

/* Answers that only the summary knows (-q): answered, without a time. */
static uint64_t add_unknown(struct piece *piece, uint64_t unknown)
{
	uint64_t added = 0;
	for (size_t i = 0; i < piece->count && added < unknown; i++) {
		if (piece->fate[i] != TARE_LOST)
			continue;
		piece->fate[i] = TARE_ANSWERED;
		added++;
	}
	return added;
}

static int note_figures(struct ping_json *log, const json_t *object, struct tare_err *err)
{
	const struct piece *piece = log->piece;
	const int64_t *rtt_ns = piece->given_ns[TARE_SPAN_RTT];
	char reason[160];
	struct text text = TEXT_IN(reason);
	AUTO_CLEANUP(ranked_end) struct ranked ranked = {0};
	if (ranked_open(rtt_ns, rtt_ns ? piece->count : 0, &ranked, err))
		return -1;
	int64_t coarse = piece->resolution_ns > 1000 ? piece->resolution_ns : 1000;
	struct printed list[] = {{"min", document_ns(object, "rtt.min", UNIT_MS), ranked_at(&ranked, 1), coarse},
		{"avg", document_ns(object, "rtt.avg", UNIT_MS), ranked_mean(&ranked), 499},
		{"max", document_ns(object, "rtt.max", UNIT_MS), ranked_at(&ranked, ranked.count), coarse}};
	text_add(&text, "it cuts its average to whole µs");
	if (piece->beside.duplicate)
		text_add(&text, ", counts duplicates, too");
	if (piece->resolution_ns > 1000)
		text_add(&text, ", and takes times before they are rounded for its lines");
	return printed_note(log->pieces->import, "ping", "prints", UNIT_MS, list, sizeof(list) / sizeof(*list), reason, err);
}

static int take_summary(struct ping_json *log, const struct line *line, const json_t *object, struct tare_err *err)
{
	int64_t sent = 0, received = 0;
	struct import *import = log->pieces->import;
	struct piece *piece = piece_for(log, object, err);
	if (!piece)
		return -1;
	if (!document_integer(object, "transmitted", &sent) || !document_integer(object, "received", &received) || sent < 0 ||
		received < 0 || sent > UINT32_MAX)
		return piece_damaged(log->pieces, line, "totals that cannot be", err);
	log->ended = true;
	size_t seen = piece->count;
	if (sent > (int64_t)seen && pieces_allow(log->pieces, piece, (uint64_t)sent - 1, line->number) &&
		pieces_reach(log->pieces, piece, (uint64_t)sent - 1, err))
		return -1;
	uint64_t answered = 0;
	for (size_t i = 0; i < piece->count; i++)
		answered += piece->fate[i] == TARE_ANSWERED;
	uint64_t missing = (uint64_t)received > answered ? (uint64_t)received - answered : 0, added = add_unknown(piece, missing);
	if (import_note(import, IMPORT_HEAD, err, "ping -j (iputils): %zu requests", piece->count))
		return -1;
	if (log->errors && import_note(import, IMPORT_FATE, err, "%" PRIu64 " error%s without the number of a request, the first: %s",
				   log->errors, log->errors == 1 ? "" : "s", log->first_error.text))
		return -1;
	if (added)
		return import_note(import, IMPORT_MISMATCH, err,
			"its summary counts %" PRId64 " received, its lines are %" PRIu64
			": the others are counted as answered, their times unknown",
			received, answered);
	return note_figures(log, object, err);
}

static int take_line(struct ping_json *log, struct line *line, struct tare_err *err)
{
	char why[256];
	char *at = strchr(line->text, '{');
	int64_t stamp_ns = TARE_NO_TIME;
	if (!at) {
		piece_noise(log->pieces, line);
		return 0;
	}
	if (line->text[0] == '[') {
		struct number number = number_read(line->text + 1, strcspn(line->text + 1, "]"), UNIT_S);
		stamp_ns = number.why ? TARE_NO_TIME : number.ns;
	}
	struct line rest = *line;
	rest.text = at;
	rest.bytes = line->bytes - (size_t)(at - line->text);
	AUTO_CLEANUP(document_end) json_t *root =
		document_of_line(&rest, log->pieces->import->rules.lenient, why, sizeof(why));
	if (!root)
		return piece_damaged(log->pieces, line, why, err);
	if (document_at(root, "transmitted"))
		return take_summary(log, line, root, err);
	if (document_at(root, "error"))
		return take_error(log, root, err);
	return document_at(root, "seq") ? take_answer(log, line, root, stamp_ns, err) : 0;
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct ping_json log = {.pieces = pieces};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (!line.overlong && line.bytes && take_line(&log, &line, err))
			return -1;
	}
	if (got < 0 || !log.piece || log.ended)
		return got < 0 ? -1 : 0;
	return import_note(import, IMPORT_HEAD, err, "ping -j (iputils): %zu requests", log.piece->count) ||
			       import_note(import, IMPORT_LIMIT, err,
				       "the log has no summary: requests after the last line are not known")
		       ? -1
		       : 0;
}

const struct import_format ping_json_format = {.name = "ping-json",
	.knows = knows,
	.read = read_log,
	.tool = "ping (iputils)",
	.help = "ping's JSON lines (-j)"};
