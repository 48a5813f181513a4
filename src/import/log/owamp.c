/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What owping -R and twping -R print of every packet. Times are 64-bit NTP:
 * seconds since 1900 in the upper half. One way is only as good as the two clocks;
 * the files carry an error estimate of each end, and their sum is told. owping
 * prints the way there and then the way back, and says nowhere that the other one
 * begins: a number that comes again with another send time does.
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

/* What is known of the file so far. */
struct session {
	struct piece *piece;
	bool twoway;
	uint64_t unsynchronised; /* packets with an end that was */
	int64_t worst_ns;        /* largest sum of both ends' error estimates */
};

/* Where the fields of a packet are: sent, received, and of a reflected one sent and received. */
static const size_t places[2][4] = {{1, 4}, {1, 4, 9, 12}};
static const size_t syncs[2][4] = {{2, 5}, {2, 5, 10, 13}};
static const enum tare_stage stages[2][4] = {{TARE_STAGE_USER_TX, TARE_STAGE_PEER_USER},
	{TARE_STAGE_USER_TX, TARE_STAGE_PEER_USER, TARE_STAGE_PEER_TX, TARE_STAGE_USER_RX}};

static int begin(struct pieces *pieces, struct session *session, struct tare_err *err)
{
	const struct tare_origin origin = {.quantity = session->twoway ? TARE_QUANTITY_RTT : TARE_QUANTITY_ONE_WAY,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_UNKNOWN};
	char url[40];
	snprintf(url, sizeof(url), "%s%s", session->twoway ? "twping" : "owping", pieces->count ? ":session-" : "");
	if (pieces->count)
		snprintf(url + strlen(url), sizeof(url) - strlen(url), "%zu", pieces->count + 1);
	session->piece = piece_add(pieces, url, "udp", "", &origin, err);
	return session->piece ? 0 : -1;
}

/* Requests by their number, those without a line lost. */
static int reach(struct piece *piece, size_t i, struct tare_err *err)
{
	while (piece->count <= i) {
		if (piece_row(piece, err))
			return -1;
		piece->fate[piece->count - 1] = TARE_LOST;
	}
	return 0;
}

static int64_t error_ns(struct field_text field)
{
	struct number number = number_read(field.at, field.bytes, UNIT_S);
	return number.why || number.ns < 0 ? 0 : number.ns;
}

/* The send time that the number already has; TARE_NO_TIME without. */
static int64_t sent_before(const struct piece *piece, uint64_t i)
{
	const int64_t *sent = piece->at_ns[TARE_STAGE_USER_TX];
	return sent && i < piece->count ? sent[i] : TARE_NO_TIME;
}

static void take_quality(struct session *session, const struct field_text *field)
{
	int64_t error = error_ns(field[3]) + error_ns(field[6]);
	bool synchronised = true;
	session->worst_ns = error > session->worst_ns ? error : session->worst_ns;
	for (size_t j = 0; j < (session->twoway ? 4u : 2u); j++)
		synchronised = synchronised && !field_is(field[syncs[session->twoway][j]], "0");
	session->unsynchronised += !synchronised;
}

/* SEQ STIME SS SERR RTIME RS RERR TTL, and with twping the same of the reflected packet. */
static int take_packet(struct pieces *pieces, struct session *session, const struct line *line,
	const struct field_text *field, struct tare_err *err)
{
	int64_t at[4] = {TARE_NO_TIME, TARE_NO_TIME, TARE_NO_TIME, TARE_NO_TIME};
	size_t ends = session->twoway ? 4 : 2;
	uint64_t i = 0;
	for (size_t j = 0; j < ends; j++) {
		if (!read_ntp(field[places[session->twoway][j]], &at[j]))
			return piece_damaged(pieces, line, "a time that is none", err);
	}
	if (at[0] == TARE_NO_TIME)
		return piece_damaged(pieces, line, "a packet that was never sent", err);
	if (!number_count(field[0].at, field[0].bytes, &i) || i > session->piece->count + (1 << 20))
		return piece_damaged(pieces, line, "a sequence number out of range", err);
	int64_t *epoch = &pieces->import->run.epoch_real_ns;
	*epoch = *epoch ? *epoch : at[0];
	int64_t before = sent_before(session->piece, i);
	if (before != TARE_NO_TIME && before != at[0] - *epoch && begin(pieces, session, err))
		return -1;
	struct piece *piece = session->piece;
	if (reach(piece, (size_t)i, err))
		return -1;
	if (piece->fate[i] == TARE_ANSWERED) {
		piece->beside.duplicate++;
		return 0;
	}
	for (size_t j = 0; j < ends; j++) {
		bool own = session->twoway || j == 0;
		if (own && at[j] != TARE_NO_TIME &&
			piece_stage(piece, (size_t)i, stages[session->twoway][j], at[j] - *epoch, err))
			return -1;
	}
	if (at[ends - 1] == TARE_NO_TIME)
		return 0;
	piece->fate[i] = TARE_ANSWERED;
	take_quality(session, field);
	return session->twoway ? 0 : piece_span(piece, (size_t)i, TARE_SPAN_ONE_WAY, at[1] - at[0], err);
}

static int note_packets(struct import *import, const struct pieces *pieces, const struct session *session, struct tare_err *err)
{
	char worst[32];
	import->round = 1;
	format_duration(session->worst_ns, worst, sizeof(worst));
	if (session->twoway) {
		if (import_note(import, IMPORT_QUANTITY, err,
			    "rtt is from send to receive; service is the reflector's part, on its own clock; twping's own round-trip "
			    "time leaves that out, and its percentiles are upper edges of buckets ranked over what was sent"))
			return -1;
	} else if (import_note(import, IMPORT_QUANTITY, err,
			   "one_way is the difference of two clocks, which by their own estimate may be off by up to %s together; "
			   "owping's own percentiles are upper edges of buckets ranked over what was sent", worst)) {
		return -1;
	}
	if (pieces->count > 1 && import_note(import, IMPORT_HEAD, err,
					 "%zu sessions one behind the other: the first is the way there, the next the way back",
					 pieces->count))
		return -1;
	if (session->unsynchronised)
		return import_note(import, IMPORT_LIMIT, err,
			"an end of %" PRIu64 " packets said that its clock was not synchronised", session->unsynchronised);
	return 0;
}

static int read_packets(struct import *import, struct pieces *pieces, bool twoway, struct tare_err *err)
{
	struct session session = {.twoway = twoway};
	struct line line;
	char copy[512];
	int got;
	if (begin(pieces, &session, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		struct field_text field[TWPING_FIELDS + 1];
		size_t count = split(line.text, field, copy, sizeof(copy));
		if (count != (twoway ? (size_t)TWPING_FIELDS : (size_t)OWPING_FIELDS)) {
			if (line.bytes)
				piece_noise(pieces, &line);
			continue;
		}
		if (take_packet(pieces, &session, &line, field, err))
			return -1;
	}
	return got < 0 ? -1 : note_packets(import, pieces, &session, err);
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
