/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fping's text: a line an answer (-l, -c, with -D a time in front), or all
 * answers of a host in one line (-C). Surprising: an answer that fping credits to
 * a host though it came from another ("[<- address]") is foreign and no sample,
 * and "return" in place of "loss" (more answers than requests) is fping's number
 * wrap, from which no loss is computed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

static const struct tare_origin fping_origin = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_WALL,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_UNKNOWN};

/* A line "host : [seq], bytes, time ms (…)" taken apart. */
struct answer {
	char host[128];
	uint64_t seq;
	int64_t stamp_ns; /* of the bracket, TARE_NO_TIME without */
	struct number time;
	bool lost, foreign, duplicate, returned;
};

static const char *read_stamp(const char *text, int64_t *ret_ns)
{
	*ret_ns = TARE_NO_TIME;
	const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
	if (!end || end[1] != ' ')
		return text;
	struct number number = number_read(text + 1, (size_t)(end - text - 1), UNIT_S);
	if (number.why)
		return text;
	*ret_ns = number.ns;
	return end + 2;
}

/* The host's name in front of " : "; NULL where there is none. */
static const char *read_host(const char *text, char *ret_host, size_t room)
{
	const char *colon = strstr(text, " : ");
	size_t bytes = colon ? strcspn(text, " (") : 0;
	if (!bytes || bytes >= room || text + bytes > colon)
		return NULL;
	for (size_t i = 0; i < bytes; i++)
		ret_host[i] = text[i] > 0x20 && text[i] < 0x7f ? text[i] : '?';
	ret_host[bytes] = '\0';
	return colon + 3;
}

static bool read_answer(const char *text, struct answer *ret)
{
	*ret = (struct answer){.stamp_ns = TARE_NO_TIME};
	const char *at = read_host(read_stamp(text, &ret->stamp_ns), ret->host, sizeof(ret->host));
	if (!at)
		return false;
	ret->duplicate = text_begins(at, "duplicate for ");
	at += ret->duplicate ? 14 : 0;
	const char *close = at[0] == '[' ? strchr(at, ']') : NULL;
	if (!close || close[1] != ',' || !number_count(at + 1, (size_t)(close - at - 1), &ret->seq))
		return false;
	at = close + 2;
	ret->foreign = strstr(at, "[<- ") != NULL;
	ret->returned = strstr(at, "% return)") != NULL;
	ret->lost = strstr(at, "timed out") != NULL;
	if (ret->lost)
		return true;
	const char *bytes = strstr(at, " bytes, "), *end = bytes ? strstr(bytes, " ms") : NULL;
	if (!end)
		return false;
	ret->time = number_read(bytes + 8, (size_t)(end - bytes - 8), UNIT_MS);
	return true;
}

/* "host : 0.022 0.036 - 0.039": at least one figure, nothing but figures and dashes. */
static bool is_all(const char *text)
{
	char host[128];
	const char *at = read_host(text, host, sizeof(host));
	bool figure = false;
	while (at && *at) {
		size_t bytes = strcspn(at, " ");
		bool dash = bytes == 1 && *at == '-';
		if (!dash && (number_read(at, bytes, UNIT_MS).why || bytes == 0))
			return false;
		figure |= !dash && memchr(at, '.', bytes);
		at += bytes + strspn(at + bytes, " ");
	}
	return figure;
}

static bool is_ours(const char *text)
{
	struct answer answer;
	return read_answer(text, &answer) || is_all(text) || strstr(text, " : xmt/rcv/%loss = ") ||
	       strstr(text, " : xmt/rcv/%return = ");
}

static bool knows(struct lines *head)
{
	/* -C: all answers of a host in one line */
	if (lines_allow(head, LINES_LONGEST, NULL))
		return false;
	return head_has(head, 20, is_ours);
}

static struct piece *host_piece(struct pieces *pieces, const char *host, struct tare_err *err)
{
	char url[160];
	struct text text = TEXT_IN(url);
	text_add(&text, strchr(host, ':') ? "icmp://[%s]" : "icmp://%s", host);
	struct piece *piece = piece_of(pieces, url, "icmp", "", &fping_origin, err);
	if (piece && !piece->count)
		piece->round->warmup = 2;
	return piece;
}

static int take_answer(struct pieces *pieces, const struct line *line, const struct answer *answer, struct tare_err *err)
{
	struct piece *piece = host_piece(pieces, answer->host, err);
	if (!piece)
		return -1;
	if (answer->foreign || answer->duplicate) {
		piece->beside.foreign += answer->foreign;
		piece->beside.duplicate += answer->duplicate && !answer->foreign;
		return 0;
	}
	if (!answer->lost && (answer->time.why || answer->time.ns < 0))
		return piece_damaged(pieces, line, answer->time.why ? answer->time.why : "a negative time", err);
	if (piece_row(piece, err))
		return -1;
	size_t i = piece->count - 1;
	piece->fate[i] = answer->lost ? TARE_LOST : TARE_ANSWERED;
	if (answer->lost)
		return 0;
	if (piece->resolution_ns < answer->time.step_ns && answer->time.step_ns <= 100000)
		piece->resolution_ns = answer->time.step_ns;
	if (piece_span(piece, i, TARE_SPAN_RTT, answer->time.ns, err))
		return -1;
	if (answer->stamp_ns == TARE_NO_TIME)
		return 0;
	struct import *import = pieces->import;
	if (!import->run.epoch_real_ns)
		import->run.epoch_real_ns = answer->stamp_ns;
	int64_t received = answer->stamp_ns - import->run.epoch_real_ns;
	return piece_stage(piece, i, TARE_STAGE_USER_RX, received, err);
}

static int take_all(struct pieces *pieces, const struct line *line, struct tare_err *err)
{
	char host[128];
	const char *at = read_host(line->text, host, sizeof(host));
	struct piece *piece = at ? host_piece(pieces, host, err) : NULL;
	if (!piece)
		return at ? -1 : 0;
	while (*at) {
		size_t bytes = strcspn(at, " ");
		struct number number = number_read(at, bytes, UNIT_MS);
		bool lost = bytes == 1 && *at == '-';
		if (!lost && (number.why || number.ns < 0))
			return piece_damaged(pieces, line, number.why ? number.why : "a negative time", err);
		if (piece_row(piece, err))
			return -1;
		piece->fate[piece->count - 1] = lost ? TARE_LOST : TARE_ANSWERED;
		if (!lost && piece_span(piece, piece->count - 1, TARE_SPAN_RTT, number.ns, err))
			return -1;
		if (!lost && piece->resolution_ns < number.step_ns && number.step_ns <= 100000)
			piece->resolution_ns = number.step_ns;
		at += bytes + strspn(at + bytes, " ");
	}
	return 0;
}

static int note_fping(struct import *import, const struct pieces *pieces, uint64_t returned, struct tare_err *err)
{
	uint64_t foreign = 0;
	for (size_t i = 0; i < pieces->count; i++)
		foreign += pieces->piece[i]->beside.foreign;
	if (import_note(import, IMPORT_HEAD, err, "fping: %zu host%s", pieces->count, pieces->count == 1 ? "" : "s") ||
		import_note(import, IMPORT_QUANTITY, err,
			"rtt is the printed time: 1 µs steps below 1 ms, 10 below 10, 100 below 100, whole ms above"))
		return -1;
	if (foreign && import_note(import, IMPORT_FATE, err,
			       "%" PRIu64 " answers came from another address than the host they are printed under: not counted",
			       foreign))
		return -1;
	if (returned && import_note(import, IMPORT_LIMIT, err,
				"%" PRIu64 " lines say 'return', more answers than requests: numbers of 16 bits have wrapped, "
				"and no loss is computed from them",
				returned))
		return -1;
	return 0;
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	uint64_t returned = 0;
	int got;
	if (lines_allow(import->lines, LINES_LONGEST, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		struct answer answer;
		bool one = !line.overlong && read_answer(line.text, &answer);
		bool blank = !line.overlong && !line.text[strspn(line.text, " \t")];
		bool summary = strstr(line.text, "xmt/rcv/%") || strchr(line.text, '=') || line.text[0] == '[';
		if (one && take_answer(pieces, &line, &answer, err))
			return -1;
		if (!one && !line.overlong && is_all(line.text) && take_all(pieces, &line, err))
			return -1;
		if (!one && !blank && !summary && !is_all(line.text))
			piece_noise(pieces, &line);
		returned += one && answer.returned;
	}
	if (got < 0)
		return -1;
	if (!pieces->count)
		return tare_fail(err, TARE_E_FORMAT, "'%s': fping's summary only: no percentile of it can be used",
			import->name);
	return note_fping(import, pieces, returned, err);
}

const struct import_format fping_format = {.name = "fping",
	.knows = knows,
	.read = read_log,
	.tool = "fping",
	.help = "fping's text (-c, -l, -C, -D)"};
