/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tools that time by network cards: exanic-measure (-w), exact-pcap-match (-c), nanoping (-l). Surprising: numbers that are
 * missing from exanic-measure's are frames that it dropped; exact-pcap-match writes no header, and its latency is the
 * reference's time less the input's, so below zero where the input was captured behind the reference; a failure that
 * nanoping names is of a stamp, not of a packet, but for rx_dropped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/formats.h"
#include "import/printed.h"

enum { COLUMNS = 16 };

static size_t split(const struct line *line, char *copy, struct field_text *field)
{
	memcpy(copy, line->text, line->bytes + 1);
	return fields_of(copy, ',', field, COLUMNS);
}

/* ---- exanic-measure ---- */

static const struct tare_origin exanic_origin = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_HARDWARE,
	.pacing = TARE_PACING_CLOSED,
	.lateness = TARE_LATENESS_UNKNOWN};

struct exanic {
	struct piece *piece;
	int64_t first_seq, base_ns;
	struct printed list[PRINTED_TOLD * 4];
	char name[PRINTED_TOLD * 4][16];
	uint64_t share_ppm[PRINTED_TOLD * 4];
	size_t printed;
};

static bool is_exanic(const char *text)
{
	return text_begins(text, "Sample, Latency, Sequence, CPU_DELAY_NS");
}

static bool knows_exanic(struct lines *head)
{
	return head_has(head, 20, is_exanic);
}

/* Sample, Latency, Sequence, CPU_DELAY_NS, TX_NIC_NS, RX_NIC_NS, TX_CPU_NS, RX_CPU_NS */
static const char *read_exanic(const struct line *line, uint64_t *ret_seq, struct number number[8])
{
	char copy[LINES_MAX_BYTES + 1];
	struct field_text field[COLUMNS];
	size_t count = split(line, copy, field);
	if (count != 8)
		return "not the eight columns of the header";
	for (size_t i = 0; i < count; i++) {
		number[i] = number_read(field[i].at, field[i].bytes, UNIT_ONE_NS);
		if (number[i].why)
			return number[i].why;
	}
	if (!number_count(field[2].at, field[2].bytes, ret_seq))
		return "a sequence number that is none";
	/* a switch cannot be faster than nothing: -O took off more than there was */
	return number[1].ns < 0 ? "a negative latency (was the offset of -O too large?)" : NULL;
}

static int take_exanic(struct exanic *log, struct pieces *pieces, const struct line *line, struct tare_err *err)
{
	struct number number[8];
	uint64_t seq = 0;
	const char *why = read_exanic(line, &seq, number);
	struct piece *piece = log->piece;
	if (!why && log->first_seq < 0) {
		log->first_seq = seq > 0 && seq <= INT64_MAX ? (int64_t)seq : 0;
		log->base_ns = number[4].ns;
	}
	if (!why && (seq < (uint64_t)log->first_seq + piece->count ||
			    !pieces_allow(pieces, piece, seq - (uint64_t)log->first_seq, line->number)))
		why = "a sequence number that does not follow the one before";
	if (why)
		return piece_damaged(pieces, line, why, err);
	size_t row = (size_t)(seq - (uint64_t)log->first_seq);
	if (pieces_reach(pieces, piece, row, err))
		return -1;
	piece->fate[row] = TARE_ANSWERED;
	if (piece_span(piece, row, TARE_SPAN_WIRE, number[1].ns, err))
		return -1;
	int64_t sent_ns, received_ns;
	if (__builtin_sub_overflow(number[4].ns, log->base_ns, &sent_ns) ||
		__builtin_sub_overflow(number[5].ns, log->base_ns, &received_ns))
		return 0;
	return piece_stage(piece, row, TARE_STAGE_NIC_TX, sent_ns, err) || piece_stage(piece, row, TARE_STAGE_NIC_RX, received_ns, err)
		       ? -1
		       : 0;
}

/* "Percentile 99.00 = 513.12 ns" behind the table of -w -; true for all that the tool says there. */
static bool take_exanic_word(struct exanic *log, const char *text)
{
	const char *equals = strchr(text, '=');
	if (text_begins(text, "Percentile ") && equals && log->printed < sizeof(log->list) / sizeof(log->list[0])) {
		struct number share = number_read(text + 11, (size_t)(equals - text - 11), 4);
		struct number value = number_read(equals + 1, strcspn(equals + 1, "n"), UNIT_ONE_NS);
		if (!share.why && !value.why && share.ns >= 0 && share.ns <= 1000000) {
			size_t i = log->printed++;
			log->share_ppm[i] = (uint64_t)share.ns;
			snprintf(log->name[i], sizeof(log->name[i]), "p%g", (double)share.ns / 1e4);
			log->list[i] = (struct printed){.name = log->name[i], .printed_ns = value.ns, .near_ns = 0};
		}
		return true;
	}
	return text_begins(text, "Percentile ") || text_begins(text, "Average: ") || text_begins(text, "Taken ") ||
	       text_begins(text, "(Percentile breakdown") || text_begins(text, "min = ") || text_begins(text, "Warning");
}

static int note_exanic(struct exanic *log, struct import *import, struct tare_err *err)
{
	const struct piece *piece = log->piece;
	AUTO_CLEANUP(ranked_end) struct ranked ranked = {0};
	const int64_t *wire_ns = piece->given_ns[TARE_SPAN_WIRE];
	if (import_note(import, IMPORT_QUANTITY, err,
		    "wire is exanic-measure's latency, card to card, its offset (-O) already taken off") ||
		ranked_open(wire_ns, wire_ns ? piece->count : 0, &ranked, err))
		return -1;
	for (size_t i = 0; i < log->printed; i++)
		log->list[i].ours_ns = ranked_nearest(&ranked, log->share_ppm[i]);
	return printed_note(import, "exanic-measure", "prints", UNIT_ONE_NS, log->list, log->printed,
		"its rank is floor(p x n) + 1, tare's ceil(p x n)", err);
}

static int read_exanic_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct exanic log = {.first_seq = -1};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool head = !line.overlong && is_exanic(line.text);
		if (head && log.piece && note_exanic(&log, import, err))
			return -1;
		if (head) {
			log = (struct exanic){.first_seq = -1};
			log.piece = piece_add(pieces, "exanic-measure", "exanic", "", &exanic_origin, err);
			if (!log.piece)
				return -1;
		} else if (line.overlong || !log.piece) {
			piece_noise(pieces, &line);
		} else if (line.bytes && !take_exanic_word(&log, line.text) && take_exanic(&log, pieces, &line, err)) {
			return -1;
		}
	}
	if (got < 0)
		return -1;
	return log.piece ? note_exanic(&log, import, err) : 0;
}

const struct import_format exanic_format = {.name = "exanic-measure",
	.knows = knows_exanic,
	.read = read_exanic_log,
	.tool = "exanic-measure",
	.help = "exanic-measure's table (-w)"};

/* ---- exact-pcap-match ---- */

static const struct tare_origin match_origin = {.quantity = TARE_QUANTITY_ONE_WAY,
	.clock = TARE_CLOCK_HARDWARE,
	.pacing = TARE_PACING_UNKNOWN,
	.lateness = TARE_LATENESS_UNKNOWN,
	.left_out = TARE_LEFT_OUT_LOST};

/*
 * pcap:   lat_ns,matches,TIME,caplen,HEX,-->,TIME,caplen,
 * expcap: lat_ns,lat_ps,matches,port,TIME,TIME,caplen,HEX,-->,…
 * with TIME as seconds.fraction, which tells the two apart.
 */
static const char *read_match(const char *text, int64_t *ret_ns, uint64_t *ret_matches)
{
	char copy[256];
	struct field_text field[8];
	size_t bytes = strlen(text) < sizeof(copy) ? strlen(text) : sizeof(copy) - 1;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	if (!strstr(text, ",-->,"))
		return "no reference behind an arrow";
	if (fields_of(copy, ',', field, 8) < 4)
		return "too few columns";
	bool fine = !memchr(field[2].at, '.', field[2].bytes); /* with picoseconds */
	struct number number = number_read(field[fine].at, field[fine].bytes, fine ? UNIT_PS : UNIT_ONE_NS);
	if (number.why)
		return number.why;
	if (!number_count(field[1 + fine].at, field[1 + fine].bytes, ret_matches))
		return "a number of matches that is none";
	*ret_ns = number.ns;
	return NULL;
}

static bool is_match(const char *text)
{
	int64_t ns;
	uint64_t matches;
	return !read_match(text, &ns, &matches);
}

static bool knows_match(struct lines *head)
{
	return head_has(head, 20, is_match);
}

/* The tool takes the input's time off the reference's: where the input comes later, all is below zero. */
static uint64_t turn(int64_t *values_ns, size_t count, bool *ret_turned)
{
	size_t below = 0, above = 0;
	for (size_t i = 0; i < count; i++) {
		below += values_ns[i] < 0;
		above += values_ns[i] > 0;
	}
	*ret_turned = below > above;
	for (size_t i = 0; *ret_turned && i < count; i++)
		values_ns[i] = -values_ns[i];
	return below < above ? below : above;
}

static int note_match(struct piece *piece, struct import *import, uint64_t several, struct tare_err *err)
{
	bool turned = false;
	uint64_t against = piece->count ? turn(piece->given_ns[TARE_SPAN_ONE_WAY], piece->count, &turned) : 0;
	if (import_note(import, IMPORT_QUANTITY, err, "one_way is from %s, the same packet at two places",
		    turned ? "the reference capture to the input" : "the input capture to the reference"))
		return -1;
	if (against && import_note(import, IMPORT_LIMIT, err,
			       "%" PRIu64 " of %zu go the other way: clocks that are not one, or matches of the wrong packets", against,
			       piece->count))
		return -1;
	return several ? import_note(import, IMPORT_LIMIT, err,
				 "%" PRIu64 " packets matched more than one: the nearest counts, which need not be the right one", several)
		       : 0;
}

static int read_match_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	uint64_t several = 0;
	int got;
	struct piece *piece = piece_add(pieces, "exact-pcap-match", "capture", "", &match_origin, err);
	if (!piece || lines_allow(import->lines, LINES_LONGEST, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		int64_t ns = 0;
		uint64_t matches = 0;
		if (!line.bytes && !line.overlong)
			continue;
		const char *why = line.overlong ? "longer than any row" : read_match(line.text, &ns, &matches);
		if (why ? piece_damaged(pieces, &line, why, err) : piece_value(piece, TARE_SPAN_ONE_WAY, ns, err))
			return -1;
		several += !why && matches > 1;
	}
	return got < 0 ? -1 : note_match(piece, import, several, err);
}

const struct import_format exact_match_format = {.name = "exact-pcap-match",
	.knows = knows_match,
	.read = read_match_log,
	.tool = "exact-pcap-match",
	.help = "exact-pcap-match's table (-c)"};

/* ---- nanoping ---- */

static const struct tare_origin nanoping_origin = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_HARDWARE,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_UNKNOWN};

struct nanoping {
	struct piece *piece;
	uint64_t first_seq, failed;
	int64_t base_ns, peer_base_ns;
};

/* reason of a row until all is read: no line has named it */
enum { NO_LINE = UINT16_MAX };

static bool is_nanoping(const char *text)
{
	return text_begins(text, "seq,stat,t0,t1,t2,t3");
}

static bool knows_nanoping(struct lines *head)
{
	return head_has(head, 20, is_nanoping);
}

static int put_stamps(struct nanoping *log, size_t row, const struct number stamp[4], struct tare_err *err)
{
	static const enum tare_stage stages[] = {
		TARE_STAGE_NIC_TX, TARE_STAGE_PEER_NIC_RX, TARE_STAGE_PEER_NIC_TX, TARE_STAGE_NIC_RX};
	for (int i = 0; i < 4; i++) {
		int64_t *base_ns = i == 1 || i == 2 ? &log->peer_base_ns : &log->base_ns, at_ns;
		if (*base_ns == TARE_NO_TIME)
			*base_ns = stamp[i].ns;
		if (stamp[i].ns == 0 || __builtin_sub_overflow(stamp[i].ns, *base_ns, &at_ns))
			continue;
		if (piece_stage(log->piece, row, stages[i], at_ns, err))
			return -1;
	}
	return 0;
}

/* "7,ok,t0,t1,t2,t3,…" with stamps as seconds.nanoseconds, or "7,rem_rxs_failed". */
static const char *read_nanoping(const struct line *line, uint64_t *ret_seq, bool *ret_ok, bool *ret_lost, struct number stamp[4])
{
	char copy[LINES_MAX_BYTES + 1];
	struct field_text field[COLUMNS];
	size_t count = split(line, copy, field);
	if (count < 2 || !number_count(field[0].at, field[0].bytes, ret_seq))
		return "not a row of seq and stat";
	*ret_ok = field_is(field[1], "ok");
	*ret_lost = field_is(field[1], "rx_dropped");
	if (!*ret_ok)
		return count == 2 ? NULL : "a failure with stamps";
	if (count < 6)
		return "fewer columns than the header";
	for (int i = 0; i < 4; i++) {
		stamp[i] = number_read(field[2 + i].at, field[2 + i].bytes, UNIT_S);
		if (stamp[i].why)
			return stamp[i].why;
	}
	return stamp[3].ns < stamp[0].ns || stamp[2].ns < stamp[1].ns ? "an answer before its request" : NULL;
}

static int take_nanoping(struct nanoping *log, struct pieces *pieces, const struct line *line, struct tare_err *err)
{
	struct piece *piece = log->piece;
	struct number stamp[4];
	uint64_t seq = 0;
	bool ok = false, lost = false;
	const char *why = read_nanoping(line, &seq, &ok, &lost, stamp);
	if (!why && !piece->count)
		log->first_seq = seq;
	if (!why && (seq < log->first_seq || !pieces_allow(pieces, piece, seq - log->first_seq, line->number)))
		why = "a sequence number far from the ones before";
	if (why)
		return piece_damaged(pieces, line, why, err);
	size_t row = (size_t)(seq - log->first_seq), from = piece->count;
	if (pieces_reach(pieces, piece, row, err))
		return -1;
	for (size_t i = from; i < piece->count; i++)
		piece->reason[i] = NO_LINE;
	bool named = piece->reason[row] != NO_LINE;
	piece->reason[row] = 0;
	if (ok)
		piece->fate[row] = TARE_ANSWERED;
	else if (!named)
		piece->fate[row] = lost ? TARE_LOST : TARE_ANSWERED;
	log->failed += !ok && !lost;
	if (!ok && !lost)
		piece->flags[row] |= TARE_FLAG_NO_NIC_RX | TARE_FLAG_NO_NIC_TX;
	return ok ? put_stamps(log, row, stamp, err) : 0;
}

/*
 * The peer's send stamp of a request comes with the next answer. Where that was lost, the request before it has no line
 * though it was answered: of every run of numbers without a line, the first.
 */
static uint64_t settle(struct piece *piece)
{
	uint64_t unnamed = 0;
	bool inside = false;
	for (size_t i = 0; i < piece->count; i++) {
		bool without = piece->reason[i] == NO_LINE;
		if (without) {
			piece->fate[i] = inside ? TARE_LOST : TARE_ANSWERED;
			piece->reason[i] = 0;
			unnamed++;
		}
		inside = without;
	}
	return unnamed;
}

static int note_nanoping(struct nanoping *log, struct import *import, struct tare_err *err)
{
	uint64_t unnamed = settle(log->piece);
	if (import_note(import, IMPORT_QUANTITY, err,
		    "wire is t3 - t0 on our card's clock, host t2 - t1 on the peer's; nanoping prints half of their difference; with "
		    "--emulation the stamps are of software, which the log does not say"))
		return -1;
	if (log->failed && import_note(import, IMPORT_FATE, err, "%" PRIu64 " stamps failed: answered, but no time is known",
			       log->failed))
		return -1;
	return unnamed ? import_note(import, IMPORT_FATE, err,
				 "%" PRIu64 " requests have no line: of each run of them the first was answered (its last stamp comes with "
				 "the next answer), the others count as lost",
				 unnamed)
		       : 0;
}

static int read_nanoping_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct nanoping log = {.base_ns = TARE_NO_TIME};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool head = !line.overlong && is_nanoping(line.text);
		if (head && log.piece && note_nanoping(&log, import, err))
			return -1;
		if (head) {
			log = (struct nanoping){.base_ns = TARE_NO_TIME, .peer_base_ns = TARE_NO_TIME};
			log.piece = piece_add(pieces, "nanoping", "udp", "", &nanoping_origin, err);
			if (!log.piece)
				return -1;
		} else if (line.overlong || !log.piece) {
			piece_noise(pieces, &line);
		} else if (line.bytes && take_nanoping(&log, pieces, &line, err)) {
			return -1;
		}
	}
	if (got < 0)
		return -1;
	return log.piece ? note_nanoping(&log, import, err) : 0;
}

const struct import_format nanoping_format = {.name = "nanoping",
	.knows = knows_nanoping,
	.read = read_nanoping_log,
	.tool = "nanoping",
	.help = "nanoping's log (-l)"};
