/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * owamp: what owping -R and twping -R print of every packet, and the summary of
 * -M with its buckets. Times are 64-bit NTP: seconds since 1900 in the upper half.
 * One way is only as good as the two clocks; the files carry an error estimate of
 * each end, and their sum is told.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

enum { OWPING_FIELDS = 8, TWPING_FIELDS = 16 };

/* Seconds from 1900 to 1970. */
static const uint64_t ntp_to_unix = 2208988800;

/* 20 digits of 32.32 to ns since 1970; false where it is no number. 0 is "no time". */
static bool read_ntp(struct field_text field, int64_t *ret_ns)
{
	uint64_t stamp;
	if (!number_count(field.at, field.bytes, &stamp))
		return false;
	uint64_t seconds = stamp >> 32, fraction = stamp & UINT32_MAX;
	*ret_ns = stamp == 0 ? TARE_NO_TIME
			     : ((int64_t)seconds - (int64_t)ntp_to_unix) * 1000000000 +
				       (int64_t)((fraction * 1000000000 + (UINT64_C(1) << 31)) >> 32);
	return true;
}

/* A time of 1970 to 2106 with 18 digits or more: nothing else looks like it. */
static bool is_stamp(struct field_text field)
{
	uint64_t stamp;
	return field.bytes >= 18 && number_count(field.at, field.bytes, &stamp) && stamp >> 32 >= ntp_to_unix;
}

static size_t split(const char *text, struct field_text field[TWPING_FIELDS + 1], char *copy, size_t room)
{
	size_t bytes = strlen(text);
	if (bytes >= room)
		return 0;
	memcpy(copy, text, bytes + 1);
	return fields_of(copy, ' ', field, TWPING_FIELDS + 1);
}

static bool is_owping(const char *text)
{
	char copy[512];
	struct field_text field[TWPING_FIELDS + 1];
	return split(text, field, copy, sizeof(copy)) == OWPING_FIELDS && is_stamp(field[1]);
}

static bool is_twping(const char *text)
{
	char copy[512];
	struct field_text field[TWPING_FIELDS + 1];
	return split(text, field, copy, sizeof(copy)) == TWPING_FIELDS && is_stamp(field[2 - 1]);
}

static bool knows_owping(struct lines *head)
{
	return head_has(head, 20, is_owping);
}

static bool knows_twping(struct lines *head)
{
	return head_has(head, 20, is_twping);
}

/* Requests by their number, those without a line lost. */
static int reach(struct pieces *pieces, struct piece *piece, const struct line *line, struct field_text seq,
	size_t *ret_i, struct tare_err *err)
{
	uint64_t i = 0;
	if (!number_count(seq.at, seq.bytes, &i) || i > piece->count + (1 << 20)) {
		*ret_i = SIZE_MAX;
		return piece_damaged(pieces, line, "a sequence number out of range", err);
	}
	while (piece->count <= i) {
		if (piece_row(piece, err))
			return -1;
		piece->fate[piece->count - 1] = TARE_LOST;
	}
	*ret_i = (size_t)i;
	return 0;
}

static int64_t error_ns(struct field_text field)
{
	struct number number = number_read(field.at, field.bytes, UNIT_S);
	return number.why || number.ns < 0 ? 0 : number.ns;
}

/* SEQ STIME SS SERR RTIME RS RERR TTL */
static int take_owping(struct pieces *pieces, struct piece *piece, const struct line *line,
	const struct field_text *field, int64_t *worst_ns, struct tare_err *err)
{
	int64_t sent = 0, received = 0;
	size_t i;
	if (!read_ntp(field[1], &sent) || !read_ntp(field[4], &received) || sent == TARE_NO_TIME)
		return piece_damaged(pieces, line, "a time that is none", err);
	if (reach(pieces, piece, line, field[0], &i, err) || i == SIZE_MAX)
		return i == SIZE_MAX ? 0 : -1;
	if (piece->fate[i] == TARE_ANSWERED) {
		piece->beside.duplicate++;
		return 0;
	}
	if (!pieces->import->run.epoch_real_ns)
		pieces->import->run.epoch_real_ns = sent;
	if (piece_stage(piece, i, TARE_STAGE_USER_TX, sent - pieces->import->run.epoch_real_ns, err))
		return -1;
	if (received == TARE_NO_TIME)
		return 0;
	int64_t error = error_ns(field[3]) + error_ns(field[6]);
	*worst_ns = error > *worst_ns ? error : *worst_ns;
	piece->fate[i] = TARE_ANSWERED;
	return piece_span(piece, i, TARE_SPAN_ONE_WAY, received - sent, err);
}

/* Sent: seq, send, sync, err, recv, sync, err, ttl; the same of the reflected packet. */
static int take_twping(struct pieces *pieces, struct piece *piece, const struct line *line,
	const struct field_text *field, int64_t *worst_ns, struct tare_err *err)
{
	int64_t at[4];
	static const size_t places[4] = {1, 4, 9, 12};
	size_t i;
	for (int j = 0; j < 4; j++) {
		if (!read_ntp(field[places[j]], &at[j]))
			return piece_damaged(pieces, line, "a time that is none", err);
	}
	if (at[0] == TARE_NO_TIME)
		return piece_damaged(pieces, line, "a packet that was never sent", err);
	if (reach(pieces, piece, line, field[0], &i, err) || i == SIZE_MAX)
		return i == SIZE_MAX ? 0 : -1;
	int64_t epoch = pieces->import->run.epoch_real_ns ? pieces->import->run.epoch_real_ns : at[0];
	pieces->import->run.epoch_real_ns = epoch;
	static const enum tare_stage stages[4] = {
		TARE_STAGE_USER_TX, TARE_STAGE_PEER_USER, TARE_STAGE_PEER_TX, TARE_STAGE_USER_RX};
	for (int j = 0; j < 4; j++) {
		if (at[j] != TARE_NO_TIME && piece_stage(piece, i, stages[j], at[j] - epoch, err))
			return -1;
	}
	int64_t error = error_ns(field[3]) + error_ns(field[6]);
	*worst_ns = error > *worst_ns ? error : *worst_ns;
	piece->fate[i] = at[3] == TARE_NO_TIME ? TARE_LOST : TARE_ANSWERED;
	return 0;
}

static int read_packets(struct import *import, struct pieces *pieces, bool twoway, struct tare_err *err)
{
	struct tare_origin origin = {.quantity = twoway ? TARE_QUANTITY_RTT : TARE_QUANTITY_ONE_WAY,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_UNKNOWN};
	struct line line;
	char copy[512], worst[32];
	int64_t worst_ns = 0;
	int got;
	struct piece *piece = piece_add(pieces, twoway ? "twping:" : "owping:", "udp", "", &origin, err);
	if (!piece)
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		struct field_text field[TWPING_FIELDS + 1];
		size_t count = split(line.text, field, copy, sizeof(copy));
		if (count != (twoway ? (size_t)TWPING_FIELDS : (size_t)OWPING_FIELDS)) {
			if (line.bytes)
				piece_noise(pieces, &line);
			continue;
		}
		if (twoway ? take_twping(pieces, piece, &line, field, &worst_ns, err)
			   : take_owping(pieces, piece, &line, field, &worst_ns, err))
			return -1;
	}
	if (got < 0)
		return -1;
	format_duration(worst_ns, worst, sizeof(worst));
	if (twoway)
		return import_note(import, IMPORT_QUANTITY, err,
			"rtt is from send to receive; service is the reflector's part, on its own clock");
	return import_note(import, IMPORT_QUANTITY, err,
		"one_way is the difference of two clocks, which by their own estimate may be off by up to %s together", worst);
}

static int read_owping(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	return read_packets(import, pieces, false, err);
}

static int read_twping(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	return read_packets(import, pieces, true, err);
}

const struct import_format owping_format = {.name = "owping",
	.knows = knows_owping,
	.read = read_owping,
	.tool = "owping",
	.help = "owping's packets (-R)"};
const struct import_format twping_format = {.name = "twping",
	.knows = knows_twping,
	.read = read_twping,
	.tool = "twping",
	.help = "twping's packets (-R)"};

/* ---- -M ---- */

static bool is_summary(const char *text)
{
	return text_begins(text, "SUMMARY\t") || text_begins(text, "BUCKET_WIDTH\t");
}

static bool knows_summary(struct lines *head)
{
	return head_has(head, 60, is_summary);
}

struct summary {
	int64_t width_ns;
	uint64_t sent, lost;
	char direction[8];
	bool in_buckets;
};

static const char *value_of(const char *text, const char *key)
{
	size_t bytes = strlen(key);
	return strncmp(text, key, bytes) == 0 && text[bytes] == '\t' ? text + bytes + 1 : NULL;
}

static struct piece *bucket_piece(struct pieces *pieces, const struct summary *summary, struct tare_err *err)
{
	static const struct tare_origin origin = {.quantity = TARE_QUANTITY_ONE_WAY,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_BINS};
	char url[32];
	snprintf(url, sizeof(url), "owamp:%s", summary->direction);
	size_t before = pieces->count;
	struct piece *piece = piece_of(pieces, url, "udp", "", &origin, err);
	if (piece && pieces->count > before)
		piece->lost = summary->lost;
	return piece;
}

/* "index\tcount": bucket i holds delays up to i x width and above the one before. */
static int take_bucket(struct pieces *pieces, struct summary *summary, struct line *line, struct tare_err *err)
{
	char *end = NULL;
	long long index = strtoll(line->text, &end, 10);
	uint64_t count = 0;
	int64_t low = 0;
	end += strspn(end, " \t");
	if (end == line->text || !number_count(end, strlen(end), &count))
		return piece_damaged(pieces, line, "not a bucket and its count", err);
	if (summary->width_ns <= 0 || __builtin_mul_overflow((int64_t)index, summary->width_ns, &low) ||
		low > INT64_MAX - summary->width_ns || low == TARE_NO_TIME)
		return piece_damaged(pieces, line, "a bucket without a width or out of range", err);
	struct piece *piece = bucket_piece(pieces, summary, err);
	/* either side: whether a bucket is named by its lower or upper edge differs between versions */
	return piece ? piece_range(piece, low - summary->width_ns, low + summary->width_ns - 1, count, err) : -1;
}

static void take_key(struct summary *summary, const char *text)
{
	const char *width = value_of(text, "BUCKET_WIDTH"), *sent = value_of(text, "SENT"), *lost = value_of(text, "LOST");
	if (width) {
		struct number number = number_read(width, strlen(width), UNIT_S);
		summary->width_ns = number.why ? 0 : number.ns;
	}
	if (sent && !number_count(sent, strlen(sent), &summary->sent))
		summary->sent = 0;
	if (lost && !number_count(lost, strlen(lost), &summary->lost))
		summary->lost = 0;
}

static int read_summary(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct summary summary = {.width_ns = 0};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool open = text_begins(line.text, "<BUCKETS");
		if (open || text_begins(line.text, "</BUCKETS")) {
			const char *side = strstr(line.text, "_FWD") ? "fwd" : strstr(line.text, "_BCK") ? "bck" : "";
			snprintf(summary.direction, sizeof(summary.direction), "%s", side);
			summary.in_buckets = open;
		} else if (line.text[0] == '<') {
			summary.in_buckets = false;
		} else if (summary.in_buckets && line.bytes) {
			if (take_bucket(pieces, &summary, &line, err))
				return -1;
		} else {
			take_key(&summary, line.text);
		}
	}
	if (got < 0 || !pieces->count)
		return got < 0 ? -1 : 0;
	return import_note(import, IMPORT_QUANTITY, err,
		"one_way in buckets, each figure a range of two widths, since the name of a bucket is an edge of it; owamp ranks "
		"over what was sent, tare over what was received (--over sent for the other)");
}

const struct import_format owamp_summary_format = {.name = "owamp-summary",
	.knows = knows_summary,
	.read = read_summary,
	.tool = "owamp",
	.help = "the summary of owping and twping with buckets (-M)"};
