/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sockperf's full log, 3.7 and later: colour escapes, its summary, then a table
 * of what it kept. Surprising: without --full-rtt the column is half a round
 * trip, and `packet` counts what was kept, so that what was lost or left out as
 * warm-up leaves no gap. The stamps tell the whole round trip all the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/formats.h"
#include "import/printed.h"
#include "import/log/sockperf_due.h"

enum { PERCENTILES_MOST = 16, SHARE_UNIT = 4 }; /* "99.000" percent as millionths */

struct sockperf {
	struct piece *piece;
	double mps, reply_every, burst;
	bool full_rtt, in_table, by_number;
	int server;
	uint64_t last_packet;
	/* of the summary in front of the table */
	int64_t valid_ns;
	uint64_t valid_sent, dropped, duplicated, out_of_order;
	struct {
		uint64_t share_ppm;
		int64_t printed_ns;
		char name[16];
	} percentile[PERCENTILES_MOST];
	size_t percentiles;
};

static bool is_table_head(const char *text)
{
	return text_begins(text, "packet, txTime(sec), rxTime(sec), ");
}

static bool is_parameters(const char *text)
{
	return strstr(text, "test was performed using the following parameters:") || strstr(text, "sockperf: ") ||
	       is_table_head(text);
}

static bool knows(struct lines *head)
{
	return head_has(head, 60, is_parameters);
}

/* Takes "ESC [ … letter" out of a line, in place. */
static void strip_escapes(struct line *line)
{
	char *to = line->text;
	for (const char *from = line->text; *from; from++) {
		if (*from == 0x1b && from[1] == '[') {
			from += 2;
			while (*from && !(*from >= '@' && *from <= '~'))
				from++;
			if (!*from)
				break;
			continue;
		}
		*to++ = *from;
	}
	*to = '\0';
	line->bytes = (size_t)(to - line->text);
}

static double parameter(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	double value = at ? strtod(at + strlen(name), NULL) : 0;
	return value > 0 && value < 1e12 ? value : 0;
}

/* Not those of the histogram (3.8), which follow the table. */
static void take_parameters(struct sockperf *log, const char *text)
{
	*log = (struct sockperf){.mps = parameter(text, "--mps="),
		.burst = parameter(text, "--burst="),
		.reply_every = parameter(text, "--reply-every="),
		.full_rtt = strstr(text, "--full-rtt") != NULL,
		.by_number = strstr(text, "--number-of-packets=") != NULL};
}

static int start_table(struct sockperf *log, struct pieces *pieces, const char *text, struct tare_err *err)
{
	bool whole = strstr(text, "rtt(usec)") != NULL;
	struct tare_origin origin = {.quantity = whole ? TARE_QUANTITY_RTT : TARE_QUANTITY_HALF_RTT,
		.clock = TARE_CLOCK_CYCLES,
		.pacing = TARE_PACING_UNKNOWN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.left_out = TARE_LEFT_OUT_WARMUP | TARE_LEFT_OUT_LOST | TARE_LEFT_OUT_REORDERED |
			    (log->reply_every > 1 ? TARE_LEFT_OUT_SOME : 0)};
	char url[64];
	snprintf(url, sizeof(url), log->server > 0 ? "sockperf:server-%d" : "sockperf", log->server);
	log->piece = piece_add(pieces, url, "sockperf", "", &origin, err);
	log->full_rtt = whole;
	log->in_table = true;
	return log->piece ? 0 : -1;
}

/* What is wrong with a row; NULL: fine. */
static const char *read_row(const struct sockperf *log, char *text, uint64_t *packet, struct number number[3])
{
	struct field_text field[5];
	if (fields_of(text, ',', field, 5) != 4 || !number_count(field[0].at, field[0].bytes, packet))
		return "not a row of packet, txTime, rxTime and latency";
	for (int i = 0; i < 3; i++) {
		number[i] = number_read(field[i + 1].at, field[i + 1].bytes, i < 2 ? UNIT_S : UNIT_US);
		if (number[i].why)
			return number[i].why;
	}
	if (number[2].ns < 0)
		return "a negative time";
	if (number[1].ns < number[0].ns)
		return "an answer before its request";
	if (log->piece->count && *packet <= log->last_packet)
		return "a packet that is not behind the one before";
	return NULL;
}

static int take_row(struct sockperf *log, struct pieces *pieces, const struct line *line, struct tare_err *err)
{
	char copy[LINES_MAX_BYTES + 1];
	struct number number[3];
	uint64_t packet = 0;
	/* a row ends with three decimals: "826.1" at the file's end was a longer number */
	const char *point = strrchr(line->text, '.');
	if (line->unterminated && (!point || strlen(point) != 4)) {
		pieces->cut++;
		return 0;
	}
	memcpy(copy, line->text, line->bytes + 1);
	const char *why = read_row(log, copy, &packet, number);
	if (why)
		return piece_damaged(pieces, line, why, err);
	struct piece *piece = log->piece;
	size_t i = piece->count;
	log->last_packet = packet;
	if (piece_row(piece, err) || piece_stage(piece, i, TARE_STAGE_USER_TX, number[0].ns, err) ||
		piece_stage(piece, i, TARE_STAGE_USER_RX, number[1].ns, err))
		return -1;
	return piece_span(piece, i, log->full_rtt ? TARE_SPAN_RTT : TARE_SPAN_HALF_RTT, number[2].ns, err);
}

/* The interval between rows as it was asked for, in ns; 0 where the lack of a rate leaves it open. */
static double period_of(const struct sockperf *log)
{
	return log->mps > 0 ? 1e9 / log->mps * (log->reply_every > 1 ? log->reply_every : 1) : 0;
}

/*
 * Was the rate held? By what the summary says of all that was sent (in ms, so within 2 ms), since rows of lost answers are
 * missing; without it by the rows.
 */
static bool rate_held(const struct sockperf *log, double *ret_asked_ns, double *ret_kept_ns)
{
	const struct piece *piece = log->piece;
	const int64_t *tx = piece->at_ns[TARE_STAGE_USER_TX];
	double sent = (double)(piece->count - 1), took = (double)(tx[piece->count - 1] - tx[0]), room = 0;
	*ret_asked_ns = period_of(log);
	if (log->valid_sent > 1 && log->valid_ns > 0) {
		sent = (double)(log->valid_sent - 1);
		/* it ends with the last answer, not with the last request */
		took = (double)(log->valid_ns - (piece->at_ns[TARE_STAGE_USER_RX][piece->count - 1] - tx[piece->count - 1]));
		room = 2e6 / sent;
		*ret_asked_ns = 1e9 / log->mps;
	}
	*ret_kept_ns = took / sent;
	return *ret_kept_ns <= *ret_asked_ns * 1.01 + room && *ret_kept_ns >= *ret_asked_ns * 0.99 - room;
}

/* Nothing is rebuilt where the log shows that the rate was not held, or where requests crowd nowhere. */
static int rebuild(struct sockperf *log, struct import *import, struct tare_err *err)
{
	struct piece *piece = log->piece;
	const int64_t *tx = piece->at_ns[TARE_STAGE_USER_TX];
	double period = period_of(log), asked, kept;
	struct sockperf_grid grid;
	if (period <= 0 || piece->count < 2)
		return 0;
	if (log->burst > 1)
		return import_note(import, IMPORT_PACING, err,
			"sent in bursts of %.0f: which of a burst a row is the log does not say, and lateness is not rebuilt",
			log->burst);
	if (!rate_held(log, &asked, &kept))
		return import_note(import, IMPORT_PACING, err,
			"asked for every %.0f ns, kept every %.0f ns: lateness cannot be rebuilt", asked, kept);
	double *scratch = reallocarray(NULL, piece->count, sizeof(*scratch));
	if (!scratch)
		return tare_fail_errno(err, ENOMEM, "cannot rebuild %zu due times", piece->count);
	bool found = sockperf_grid_of(tx, piece->count, period, scratch, &grid);
	free(scratch);
	if (!found)
		return import_note(import, IMPORT_PACING, err,
			"the rate was held, but fewer than half of the requests left at one phase of the %.0f ns asked: lateness "
			"cannot be rebuilt",
			period);
	for (size_t i = 0; i < piece->count; i++) {
		double due = sockperf_due(&grid, period, (double)(tx[i] - tx[0]));
		if (piece_stage(piece, i, TARE_STAGE_DUE, tx[0] + (int64_t)due, err))
			return -1;
	}
	piece->origin.lateness = TARE_LATENESS_REBUILT;
	piece->round->interval_ns = (int64_t)period;
	return import_note(import, IMPORT_PACING, err,
		"due times are rebuilt from --mps, at the phase where %.0f %% of the requests left: late is what it is at least, "
		"whole intervals of %.0f ns are not seen",
		100 * grid.share, period);
}

/*
 * A request that leaves before the answer in front of it has come shows under-load, which waits for nothing; a count of
 * packets, or requests that follow their answers at once, show ping-pong. Without any of it the log does not say.
 */
static int tell_pacing(struct sockperf *log, struct import *import, struct tare_err *err)
{
	struct piece *piece = log->piece;
	const int64_t *tx = piece->at_ns[TARE_STAGE_USER_TX], *rx = piece->at_ns[TARE_STAGE_USER_RX];
	bool overlap = log->reply_every > 1;
	size_t prompt = 0;
	for (size_t i = 1; i < piece->count; i++) {
		overlap |= tx[i] < rx[i - 1];
		prompt += tx[i] - rx[i - 1] <= 1000 + (rx[i - 1] - tx[i - 1]) / 10;
	}
	if (overlap || piece->count < 2) {
		piece->origin.pacing = overlap ? TARE_PACING_OPEN : TARE_PACING_UNKNOWN;
		return 0;
	}
	bool waits = log->by_number || 2 * prompt > piece->count;
	piece->origin.pacing = waits ? TARE_PACING_CLOSED : TARE_PACING_UNKNOWN;
	if (waits)
		return import_note(import, IMPORT_PACING, err, "each request waited for the answer before it (ping-pong)");
	return import_note(import, IMPORT_PACING, err,
		"no request left before the answer in front of it: whether it would have waited (ping-pong) or not (under-load) the "
		"log does not say");
}

/* sockperf takes rank trunc(0.5 + p n). */
static int note_ranks(struct sockperf *log, struct import *import, struct tare_err *err)
{
	const struct piece *piece = log->piece;
	struct printed list[PERCENTILES_MOST];
	char reason[160];
	struct text text = TEXT_IN(reason);
	AUTO_CLEANUP(ranked_end) struct ranked ranked = {0};
	if (ranked_open(piece->given_ns[log->full_rtt ? TARE_SPAN_RTT : TARE_SPAN_HALF_RTT], piece->count, &ranked, err))
		return -1;
	bool explained = true;
	for (size_t i = 0; i < log->percentiles; i++) {
		uint64_t share = log->percentile[i].share_ppm;
		int64_t printed = log->percentile[i].printed_ns;
		int64_t theirs = ranked_at(&ranked, (uint64_t)(0.5 + (double)share / 1e6 * (double)ranked.count));
		/* halves of a tick are cut before they are printed and rounded in the rows: 1 ns either way */
		explained &= theirs == TARE_NO_TIME || (printed - theirs <= 2 && theirs - printed <= 2);
		list[i] = (struct printed){log->percentile[i].name, printed, ranked_nearest(&ranked, share), 2};
	}
	text_add(&text, explained ? "its rank is round(p x n), tare's ceil(p x n), of %zu rows"
				  : "not by its rank, round(p x n): its summary is of other rows than these %zu",
		ranked.count);
	return printed_note(import, "sockperf", "prints", UNIT_US, list, log->percentiles, reason, err);
}

static int end_table(struct sockperf *log, struct import *import, struct tare_err *err)
{
	if (!log->in_table)
		return 0;
	log->in_table = false;
	if (import_note(import, IMPORT_HEAD, err, "sockperf, full log: %zu rows", log->piece->count) ||
		import_note(import, IMPORT_QUANTITY, err, "%s",
			log->full_rtt ? "rtt is the whole round trip (--full-rtt)"
				      : "half_rtt is half of a round trip, as sockperf prints it; rtt is from its stamps") ||
		import_note(import, IMPORT_LIMIT, err,
			"sockperf left out its warm-up and what was lost, late or out of order: losses cannot be seen%s",
			log->reply_every > 1 ? "; only one of every so many messages is answered" : ""))
		return -1;
	if ((log->dropped || log->out_of_order) &&
		import_note(import, IMPORT_FATE, err,
			"without a row: %" PRIu64 " answers that did not come, %" PRIu64 " that came out of order", log->dropped,
			log->out_of_order))
		return -1;
	log->piece->beside.duplicate = log->duplicated;
	log->piece->beside.reordered = log->out_of_order;
	return rebuild(log, import, err) || tell_pacing(log, import, err) || note_ranks(log, import, err);
}

static uint64_t count_behind(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	uint64_t count = 0;
	if (!at)
		return 0;
	at += strlen(word);
	return number_count(at, strspn(at, "0123456789"), &count) ? count : 0;
}

/* "---> percentile 99.000 =  180.199", before 3.6 with two decimals. */
static void take_percentile(struct sockperf *log, const char *at)
{
	at += strspn(at, " ");
	const char *equals = strchr(at, '=');
	struct number share = number_read(at, equals ? (size_t)(equals - at) : 0, SHARE_UNIT);
	struct number value = number_read(equals ? equals + 1 : "", equals ? strlen(equals + 1) : 0, UNIT_US);
	if (share.why || value.why || share.ns < 0 || share.ns > 1000000 || log->percentiles == PERCENTILES_MOST)
		return;
	size_t bytes = strcspn(at, " =");
	while (bytes > 1 && memchr(at, '.', bytes) && (at[bytes - 1] == '0' || at[bytes - 1] == '.'))
		bytes -= at[bytes - 1] == '.' || at[bytes - 1] == '0';
	log->percentile[log->percentiles].share_ppm = (uint64_t)share.ns;
	log->percentile[log->percentiles].printed_ns = value.ns;
	snprintf(log->percentile[log->percentiles].name, sizeof(log->percentile[0].name), "p%.*s", (int)(bytes < 12 ? bytes : 12), at);
	log->percentiles++;
}

static void take_summary(struct sockperf *log, const char *text)
{
	const char *percentile = strstr(text, "---> percentile "), *server = strstr(text, "statistics for Server No: ");
	const char *valid = strstr(text, "[Valid Duration] RunTime=");
	if (percentile)
		take_percentile(log, percentile + 16);
	if (server) {
		/* each server has a summary and a table of its own */
		log->server = (int)strtol(server + 26, NULL, 10) & 0xffff;
		log->percentiles = 0;
		log->valid_ns = 0;
		log->valid_sent = log->dropped = log->duplicated = log->out_of_order = 0;
	}
	if (valid) {
		struct number took = number_read(valid + 25, strcspn(valid + 25, " "), UNIT_S);
		log->valid_ns = took.why ? 0 : took.ns;
		log->valid_sent = count_behind(valid, "SentMessages=");
	}
	if (strstr(text, "# dropped messages = ")) {
		log->dropped = count_behind(text, "# dropped messages = ");
		log->duplicated = count_behind(text, "# duplicated messages = ");
		log->out_of_order = count_behind(text, "# out-of-order messages = ");
	}
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct sockperf log = {.percentiles = 0};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		strip_escapes(&line);
		if (log.in_table && (line.overlong || (line.bytes && line.text[0] != '-'))) {
			if (line.overlong ? piece_damaged(pieces, &line, "longer than any row", err)
					  : take_row(&log, pieces, &line, err))
				return -1;
			continue;
		}
		if (end_table(&log, import, err))
			return -1;
		if (strstr(line.text, "performed using the following parameters:"))
			take_parameters(&log, line.text);
		else if (is_table_head(line.text) && start_table(&log, pieces, line.text, err))
			return -1;
		else if (text_begins(line.text, "sockperf: "))
			take_summary(&log, line.text);
	}
	if (got < 0 || end_table(&log, import, err))
		return -1;
	if (!pieces->count)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s': sockperf's summary only, without its rows: no percentile of it can be used\n"
			"  sockperf ... --full-log FILE writes the rows",
			import->name);
	return 0;
}

const struct import_format sockperf_format = {.name = "sockperf",
	.knows = knows,
	.read = read_log,
	.tool = "sockperf",
	.help = "sockperf's full log (--full-log)"};
