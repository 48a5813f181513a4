/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * irtt 0.9: its JSON (json_format 1) and the text of -r. Surprising: what irtt
 * calls rtt leaves out the server's processing; here that is the row `path`, and
 * `rtt` is from send to receive. The schedule is rebuilt from start time and
 * interval, where the start's monotonic time is there (0.9.1 and later), and a
 * slot that irtt passed over is a request not sent.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"
#include "import/printed.h"
#include "lib/known_time.h"

static const struct tare_origin irtt_origin = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_MONOTONIC,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_UNKNOWN};

struct grid {
	int64_t start_mono_ns, interval_ns; /* start TARE_NO_TIME: unknown */
};

/* One entry of round_trips. */
struct trip {
	int64_t sent_ns, received_ns, sent_wall_ns, received_wall_ns, peer_rx_ns, peer_tx_ns, net_rtt_ns;
	int64_t peer_rx_wall_ns, peer_tx_wall_ns;
	bool lost;
};

/* What the whole document says and each trip needs. */
struct document {
	struct pieces *pieces;
	struct piece *piece;
	struct grid grid;
	int64_t axis_ns, peer_axis_ns; /* zero of the columns, ours and the server's; TARE_NO_TIME: not yet known */
	int64_t last_slot;
	uint64_t trips; /* read so far */
	bool both; /* the server stamped at both its ends: what it took is known, and irtt's rtt leaves it out */
	uint64_t damaged;
	char first_damage[200];
};

static bool knows_json(struct lines *head)
{
	static const char *const keys[] = {"irtt", "json_format", NULL};
	return document_knows(head, keys);
}

/* Clocks of the server count from its own start; the wall is taken where there is no monotonic stamp. */
static int64_t stamp(const json_t *trip, const char *path, const char *clock)
{
	char whole[96];
	snprintf(whole, sizeof(whole), "timestamps.%s.%s", path, clock);
	int64_t ns = document_ns(trip, whole, UNIT_ONE_NS);
	return ns == 0 ? TARE_NO_TIME : ns;
}

static struct trip trip_of(const json_t *json)
{
	struct trip trip = {.sent_ns = stamp(json, "client.send", "monotonic"),
		.received_ns = stamp(json, "client.receive", "monotonic"),
		.sent_wall_ns = stamp(json, "client.send", "wall"),
		.received_wall_ns = stamp(json, "client.receive", "wall"),
		.peer_rx_ns = stamp(json, "server.receive", "monotonic"),
		.peer_tx_ns = stamp(json, "server.send", "monotonic"),
		.peer_rx_wall_ns = stamp(json, "server.receive", "wall"),
		.peer_tx_wall_ns = stamp(json, "server.send", "wall"),
		.net_rtt_ns = document_ns(json, "delay.rtt", UNIT_ONE_NS),
		.lost = document_true(json, "lost")};
	if (trip.sent_ns == TARE_NO_TIME)
		trip.sent_ns = trip.sent_wall_ns;
	if (trip.received_ns == TARE_NO_TIME && trip.sent_wall_ns == trip.sent_ns)
		trip.received_ns = trip.received_wall_ns;
	if (trip.peer_rx_ns == TARE_NO_TIME || trip.peer_tx_ns == TARE_NO_TIME) {
		trip.peer_rx_ns = trip.peer_rx_wall_ns;
		trip.peer_tx_ns = trip.peer_tx_wall_ns;
	}
	return trip;
}

/*
 * The slot a send belongs to. Its timers wake early by what they were late before; a quarter of the interval is more than
 * that, so what is sent later in an interval was late for its beginning (and irtt passes over the slot behind it). No slot
 * is used twice.
 */
static int64_t slot_of(const struct grid *grid, int64_t sent_ns, int64_t last_slot)
{
	int64_t since = known_difference(sent_ns, grid->start_mono_ns);
	if (since == TARE_NO_TIME || grid->interval_ns <= 0)
		return -1;
	int64_t slot = since < 0 ? 0 : since / grid->interval_ns;
	bool early = since > 0 && since % grid->interval_ns >= grid->interval_ns - grid->interval_ns / 4;
	return slot + (early || slot == last_slot);
}

static int add_skipped(struct piece *piece, const struct grid *grid, int64_t slot, struct tare_err *err)
{
	while ((int64_t)piece->count < slot) {
		if (piece_row(piece, err) || piece_stage(piece, piece->count - 1, TARE_STAGE_DUE,
						     (int64_t)(piece->count - 1) * grid->interval_ns, err))
			return -1;
		piece->fate[piece->count - 1] = TARE_NOT_SENT;
		piece->flags[piece->count - 1] = TARE_FLAG_SKIPPED;
	}
	return 0;
}

static int put_stage(struct piece *piece, enum tare_stage stage, int64_t ns, int64_t origin_ns, struct tare_err *err)
{
	int64_t on_axis_ns = known_difference(ns, origin_ns);
	return on_axis_ns == TARE_NO_TIME ? 0 : piece_stage(piece, piece->count - 1, stage, on_axis_ns, err);
}

/* Why a trip cannot be; NULL: it can. */
static const char *impossible(const json_t *json, const struct trip *trip, size_t i)
{
	int64_t number;
	if (!json_is_object(json))
		return "is no object";
	if (trip->sent_ns == TARE_NO_TIME)
		return "has no time of sending";
	if (document_integer(json, "seqno", &number) && number != (int64_t)i)
		return "has another number";
	if (trip->received_ns != TARE_NO_TIME && trip->received_ns < trip->sent_ns)
		return "has its answer before its request";
	return NULL;
}

static int damaged_trip(struct document *document, size_t i, const char *why, struct tare_err *err)
{
	struct import *import = document->pieces->import;
	if (!import->rules.lenient)
		return tare_fail(err, TARE_E_FORMAT, "'%s': round_trips[%zu] %s", import->name, i, why);
	if (!document->damaged++)
		snprintf(document->first_damage, sizeof(document->first_damage), "round_trips[%zu] %s", i, why);
	return 0;
}

static int add_stamps(struct document *document, const struct trip *trip, struct tare_err *err)
{
	struct piece *piece = document->piece;
	if (put_stage(piece, TARE_STAGE_USER_TX, trip->sent_ns, document->axis_ns, err) ||
		put_stage(piece, TARE_STAGE_USER_RX, trip->received_ns, document->axis_ns, err))
		return -1;
	/* stamped once in the middle, both are the same, which is no service of 0 ns */
	if (!document->both)
		return 0;
	if (put_stage(piece, TARE_STAGE_PEER_USER, trip->peer_rx_ns, document->peer_axis_ns, err) ||
		put_stage(piece, TARE_STAGE_PEER_TX, trip->peer_tx_ns, document->peer_axis_ns, err))
		return -1;
	bool known = trip->net_rtt_ns != TARE_NO_TIME && trip->received_ns != TARE_NO_TIME &&
		     trip->peer_rx_ns != TARE_NO_TIME && trip->peer_tx_ns != TARE_NO_TIME;
	return known ? piece_span(piece, piece->count - 1, TARE_SPAN_PATH, trip->net_rtt_ns, err) : 0;
}

static int add_trip(struct document *document, const struct trip *trip, struct tare_err *err)
{
	struct piece *piece = document->piece;
	const struct grid *grid = &document->grid;
	int64_t slot = slot_of(grid, trip->sent_ns, document->last_slot);
	bool skips = slot > (int64_t)piece->count &&
		     pieces_allow(document->pieces, piece, (uint64_t)slot, document->trips);
	if (skips) {
		document->pieces->reached += (uint64_t)slot - piece->count;
		if (add_skipped(piece, grid, slot, err))
			return -1;
	}
	if (piece_row(piece, err))
		return -1;
	size_t i = piece->count - 1;
	document->last_slot = slot;
	if (slot == (int64_t)i && piece_stage(piece, i, TARE_STAGE_DUE, slot * grid->interval_ns, err))
		return -1;
	bool answered = trip->received_ns != TARE_NO_TIME && !trip->lost;
	piece->fate[i] = answered ? TARE_ANSWERED : TARE_LOST;
	return add_stamps(document, trip, err);
}

/* By the times of receipt: irtt calls a request late, too, whose answer only came twice, and 0.9.0 calls none. */
static void find_reordered(struct piece *piece)
{
	const int64_t *received_ns = piece->at_ns[TARE_STAGE_USER_RX];
	int64_t earliest = INT64_MAX;
	for (size_t i = piece->count; received_ns && i-- > 0;) {
		if (piece->fate[i] != TARE_ANSWERED || received_ns[i] == TARE_NO_TIME)
			continue;
		if (received_ns[i] > earliest) {
			piece->beside.reordered++;
			piece->flags[i] |= TARE_FLAG_REORDERED;
		}
		earliest = received_ns[i] < earliest ? received_ns[i] : earliest;
	}
}

/* How far the server's wall clock is ahead, as far as equal ways both directions tell it; why no one-way figure is given. */
static int note_offset(struct import *import, const json_t *trips, struct tare_err *err)
{
	double send = 0, back = 0;
	size_t count = 0, i;
	const json_t *json;
	json_array_foreach(trips, i, json)
	{
		struct trip trip = trip_of(json);
		int64_t there = known_difference(trip.peer_rx_wall_ns, trip.sent_wall_ns);
		int64_t home = known_difference(trip.received_wall_ns, trip.peer_tx_wall_ns);
		if (there == TARE_NO_TIME || home == TARE_NO_TIME)
			continue;
		send += (double)there;
		back += (double)home;
		count++;
	}
	if (!count)
		return 0;
	double offset = (send - back) / 2 / (double)count, size = offset < 0 ? -offset : offset;
	char apart[40];
	if (size < 1e9)
		format_duration((int64_t)size, apart, sizeof(apart));
	else
		snprintf(apart, sizeof(apart), "%.6f s", size / 1e9);
	return import_note(import, IMPORT_LIMIT, err,
		"no one-way delay: the server's wall clock is about %s %s by the half of what the directions differ, "
		"and nothing bounds the error of that",
		apart, offset < 0 ? "behind" : "ahead");
}

static int note_figures(struct import *import, const json_t *root, const struct document *document, struct tare_err *err)
{
	const struct piece *piece = document->piece;
	int64_t *values_ns = reallocarray(NULL, piece->count ? piece->count : 1, sizeof(*values_ns));
	if (!values_ns)
		return tare_fail_errno(err, ENOMEM, "cannot rank %zu values", piece->count);
	/* irtt's rtt is our path, or our rtt where the server's part is not known */
	for (size_t i = 0; i < piece->count; i++) {
		bool path = document->both && piece->given_ns[TARE_SPAN_PATH];
		const int64_t *sent = piece->at_ns[TARE_STAGE_USER_TX], *got = piece->at_ns[TARE_STAGE_USER_RX];
		values_ns[i] = path		? piece->given_ns[TARE_SPAN_PATH][i]
			       : sent && got ? known_difference(got[i], sent[i])
					     : TARE_NO_TIME;
	}
	AUTO_CLEANUP(ranked_end) struct ranked ranked = {0};
	int failed = ranked_open(values_ns, piece->count, &ranked, err);
	free(values_ns);
	if (failed)
		return -1;
	struct printed list[] = {{"min", document_ns(root, "stats.rtt.min", UNIT_ONE_NS), ranked_at(&ranked, 1), 0},
		{"mean", document_ns(root, "stats.rtt.mean", UNIT_ONE_NS), ranked_mean(&ranked), 1},
		{"median", document_ns(root, "stats.rtt.median", UNIT_ONE_NS), ranked_nearest(&ranked, 500000), 0},
		{"max", document_ns(root, "stats.rtt.max", UNIT_ONE_NS), ranked_at(&ranked, ranked.count), 0}};
	bool others = printed_differ(list, 2) || printed_differ(list + 3, 1);
	return printed_note(import, document->both ? "irtt, of its rtt (here path)," : "irtt", "prints", UNIT_US, list,
		sizeof(list) / sizeof(*list),
		others ? "its summary is of other round trips than these"
		       : "its median of an even number is the mean of the middle two, tare's the lower of them",
		err);
}

static int note_json(struct import *import, const json_t *root, const struct document *document, struct tare_err *err)
{
	const struct piece *piece = document->piece;
	int64_t expected = 0, sent = 0;
	const char *version = document_text(root, "version.irtt");
	if (import_note(import, IMPORT_HEAD, err, "irtt %s, JSON: %zu requests", version ? version : "of unknown version",
		    piece->count))
		return -1;
	if (import_note(import, IMPORT_QUANTITY, err, "%s",
		    document->both
			    ? "rtt is from send to receive; irtt's own rtt leaves out the server's processing and is the row path"
			    : "rtt is from send to receive, the server's processing in it, since it was not stamped at both ends"))
		return -1;
	if (piece->origin.lateness == TARE_LATENESS_REBUILT &&
		import_note(import, IMPORT_PACING, err, "due times are rebuilt from start time and interval"))
		return -1;
	if (document_integer(root, "stats.expected_packets_sent", &expected) &&
		document_integer(root, "stats.packets_sent", &sent) && expected > sent &&
		import_note(import, IMPORT_PACING, err, "irtt says that %" PRId64 " of %" PRId64 " slots were passed over",
			expected - sent, expected))
		return -1;
	if (document->damaged && import_note(import, IMPORT_DAMAGE, err, "%" PRIu64 " round trip%s passed over, the first: %s",
					 document->damaged, document->damaged == 1 ? "" : "s", document->first_damage))
		return -1;
	return note_figures(import, root, document, err) || note_offset(import, document_at(root, "round_trips"), err);
}

static int begin_piece(struct document *document, const json_t *root, struct tare_err *err)
{
	const char *peer = document_text(root, "config.remote_address"), *at = document_text(root, "config.params.stamp_at");
	struct tare_origin origin = irtt_origin;
	struct grid grid = {document_ns(root, "stats.start_time.monotonic", UNIT_ONE_NS),
		document_ns(root, "config.params.interval", UNIT_ONE_NS)};
	int64_t length = 0;
	char url[128];
	struct text text = TEXT_IN(url);
	text_add(&text, "irtt://%s", peer ? peer : "unknown");
	bool rebuilt = grid.start_mono_ns != TARE_NO_TIME && grid.interval_ns > 0;
	origin.lateness = rebuilt ? TARE_LATENESS_REBUILT : TARE_LATENESS_UNKNOWN;
	document->piece = piece_add(document->pieces, url, "udp", "", &origin, err);
	if (!document->piece)
		return -1;
	document->grid = grid;
	document->axis_ns = grid.start_mono_ns;
	document->both = !at || strcmp(at, "both") == 0;
	if (grid.interval_ns > 0)
		document->piece->round->interval_ns = grid.interval_ns;
	document->piece->round->warmup = 2;
	if (document_integer(root, "config.params.length", &length) && length > 0 && length <= UINT16_MAX)
		document->piece->target->payload_bytes = (uint32_t)length;
	return 0;
}

static int read_json(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	if (!root)
		return -1;
	const json_t *trips = document_at(root, "round_trips"), *json;
	if (!json_is_array(trips))
		return tare_fail(err, TARE_E_FORMAT, "'%s': irtt's JSON without round_trips", import->name);
	struct document document = {.pieces = pieces, .peer_axis_ns = TARE_NO_TIME, .last_slot = -1};
	if (begin_piece(&document, root, err))
		return -1;
	int64_t duplicates = 0;
	if (document_integer(root, "stats.duplicates", &duplicates) && duplicates > 0)
		document.piece->beside.duplicate = (uint64_t)duplicates;
	size_t i;
	json_array_foreach(trips, i, json)
	{
		struct trip trip = trip_of(json);
		const char *why = impossible(json, &trip, i);
		document.trips = i + 1;
		if (why && damaged_trip(&document, i, why, err))
			return -1;
		if (why)
			continue;
		if (document.axis_ns == TARE_NO_TIME)
			document.axis_ns = trip.sent_ns;
		if (document.peer_axis_ns == TARE_NO_TIME)
			document.peer_axis_ns = trip.peer_rx_ns;
		if (!import->run.epoch_real_ns && trip.sent_wall_ns != TARE_NO_TIME)
			import->run.epoch_real_ns = trip.sent_wall_ns - (trip.sent_ns - document.axis_ns);
		if (add_trip(&document, &trip, err))
			return -1;
	}
	find_reordered(document.piece);
	return note_json(import, root, &document, err);
}

const struct import_format irtt_json_format = {.name = "irtt-json",
	.knows = knows_json,
	.read = read_json,
	.tool = "irtt",
	.help = "irtt's JSON (-o), 0.9"};

/* ---- the text of -r ---- */

/* seq rtt rd sd ipdv dup late: seven fields, as the program prints them; its manual has the last two the other way round. */
enum { RAW_FIELDS = 7 };

static bool is_bit(struct field_text field)
{
	return field_is(field, "0") || field_is(field, "1") || field_is(field, "NaN");
}

static bool is_raw(const char *text)
{
	char copy[256];
	struct field_text field[RAW_FIELDS + 1];
	uint64_t seq;
	if (strlen(text) >= sizeof(copy))
		return false;
	memcpy(copy, text, strlen(text) + 1);
	if (fields_of(copy, ' ', field, RAW_FIELDS + 1) != RAW_FIELDS)
		return false;
	struct number rtt = number_read(field[1].at, field[1].bytes, UNIT_MS);
	return number_count(field[0].at, field[0].bytes, &seq) && memchr(field[1].at, field[1].bytes ? '.' : 0, field[1].bytes) &&
	       !rtt.why && is_bit(field[5]) && is_bit(field[6]);
}

static bool knows_raw(struct lines *head)
{
	return head_has(head, 20, is_raw);
}

static int read_raw_line(struct pieces *pieces, struct piece *piece, struct line *line, struct tare_err *err)
{
	struct field_text field[RAW_FIELDS + 1];
	uint64_t seq = 0;
	size_t count = fields_of(line->text, ' ', field, RAW_FIELDS + 1);
	if (count == 0)
		return 0;
	if (count != RAW_FIELDS || !number_count(field[0].at, field[0].bytes, &seq)) {
		if (line->unterminated)
			pieces->cut++;
		else
			piece_noise(pieces, line);
		return 0;
	}
	if (field_is(field[5], "1")) {
		piece->beside.duplicate++;
		return 0;
	}
	struct number rtt = number_read(field[1].at, field[1].bytes, UNIT_MS);
	if (rtt.why || rtt.ns < 0)
		return piece_damaged(pieces, line, rtt.why ? rtt.why : "a negative round trip", err);
	if (!pieces_allow(pieces, piece, seq, line->number))
		return piece_damaged(pieces, line, "a number far ahead of the line", err);
	if (pieces_reach(pieces, piece, seq, err))
		return -1;
	piece->fate[seq] = TARE_ANSWERED;
	bool late = field_is(field[6], "1");
	piece->flags[seq] = late ? TARE_FLAG_REORDERED : 0;
	piece->beside.reordered += late;
	return piece_span(piece, (size_t)seq, TARE_SPAN_PATH, rtt.ns, err) ||
	       piece_span(piece, (size_t)seq, TARE_SPAN_RTT, rtt.ns, err);
}

static int read_raw(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	int got;
	struct piece *piece = piece_add(pieces, "irtt", "udp", "", &irtt_origin, err);
	if (!piece)
		return -1;
	piece->round->warmup = 2;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (read_raw_line(pieces, piece, &line, err))
			return -1;
	}
	if (got < 0)
		return -1;
	return import_note(import, IMPORT_QUANTITY, err,
		"irtt -r: its rtt leaves out the server's processing; the numbers that no line has are lost requests, those "
		"behind the last one cannot be known");
}

const struct import_format irtt_raw_format = {.name = "irtt-raw",
	.knows = knows_raw,
	.read = read_raw,
	.tool = "irtt",
	.help = "irtt's text (-r)"};
