/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sockperf's full log, 3.7 and later: colour escapes, its summary, then a table
 * of what it kept. Surprising: without --full-rtt the column is half a round
 * trip, and `packet` counts what was kept, so that what was lost or left out as
 * warm-up leaves no gap. The stamps tell the whole round trip all the same.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

struct sockperf {
	struct piece *piece;
	double mps, reply_every, burst;
	bool full_rtt, in_table;
	int server;
	int64_t printed_p99_ns;
	char dropped[160];
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

static void take_parameters(struct sockperf *log, const char *text)
{
	log->mps = parameter(text, "--mps=");
	log->burst = parameter(text, "--burst=");
	log->reply_every = parameter(text, "--reply-every=");
	log->full_rtt = strstr(text, "--full-rtt") != NULL;
}

static int start_table(struct sockperf *log, struct pieces *pieces, const char *text, struct tare_err *err)
{
	bool whole = strstr(text, "rtt(usec)") != NULL;
	struct tare_origin origin = {.quantity = whole ? TARE_QUANTITY_RTT : TARE_QUANTITY_HALF_RTT,
		.clock = TARE_CLOCK_CYCLES,
		.pacing = log->mps > 0 ? TARE_PACING_OPEN : TARE_PACING_UNKNOWN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.left_out = TARE_LEFT_OUT_WARMUP | TARE_LEFT_OUT_LOST | TARE_LEFT_OUT_REORDERED |
			    (log->reply_every > 1 ? TARE_LEFT_OUT_SOME : 0)};
	char url[64];
	snprintf(url, sizeof(url), log->server > 0 ? "sockperf:server-%d" : "sockperf:", log->server);
	log->piece = piece_add(pieces, url, "sockperf", "", &origin, err);
	log->full_rtt = whole;
	log->in_table = true;
	return log->piece ? 0 : -1;
}

static int take_row(struct sockperf *log, struct pieces *pieces, const struct line *line, struct tare_err *err)
{
	struct field_text field[5];
	char copy[LINES_MAX_BYTES + 1];
	memcpy(copy, line->text, line->bytes + 1);
	uint64_t packet;
	if (fields_of(copy, ',', field, 5) != 4 || !number_count(field[0].at, field[0].bytes, &packet))
		return piece_damaged(pieces, line, "not a row of packet, txTime, rxTime and latency", err);
	struct number tx = number_read(field[1].at, field[1].bytes, UNIT_S);
	struct number rx = number_read(field[2].at, field[2].bytes, UNIT_S);
	struct number value = number_read(field[3].at, field[3].bytes, UNIT_US);
	const char *why = tx.why ? tx.why : rx.why ? rx.why : value.why;
	if (why || value.ns < 0)
		return piece_damaged(pieces, line, why ? why : "a negative time", err);
	struct piece *piece = log->piece;
	size_t i = piece->count;
	if (piece_row(piece, err) || piece_stage(piece, i, TARE_STAGE_USER_TX, tx.ns, err) ||
		piece_stage(piece, i, TARE_STAGE_USER_RX, rx.ns, err))
		return -1;
	return piece_span(piece, i, log->full_rtt ? TARE_SPAN_RTT : TARE_SPAN_HALF_RTT, value.ns, err);
}

/* The interval between rows as it was asked for, in ns; 0 where bursts or the lack of a rate leave it open. */
static double period_of(const struct sockperf *log)
{
	if (log->mps <= 0 || log->burst > 1)
		return 0;
	return 1e9 / log->mps * (log->reply_every > 1 ? log->reply_every : 1);
}

/*
 * The latest phase at which no send is early: late is then at least 0 and known
 * but for whole periods. Nothing is rebuilt where the log shows that the rate was
 * not held (1 %): what is late by more than a period would look punctual.
 */
static int rebuild(struct sockperf *log, struct import *import, struct tare_err *err)
{
	struct piece *piece = log->piece;
	const int64_t *tx = piece->at_ns[TARE_STAGE_USER_TX];
	double period = period_of(log);
	if (period <= 0 || piece->count < 2)
		return 0;
	double took = (double)(tx[piece->count - 1] - tx[0]) / (double)(piece->count - 1);
	if (took > period * 1.01 || took < period * 0.99)
		return import_note(import, IMPORT_PACING, err,
			"asked for every %.0f ns, kept every %.0f ns: lateness cannot be rebuilt", period, took);
	double least = 0;
	for (size_t i = 0; i < piece->count; i++) {
		double turns = (double)(tx[i] - tx[0]) / period;
		double whole = (double)(int64_t)(turns + 0.5);
		double over = (turns - whole) * period;
		least = over < least ? over : least;
	}
	for (size_t i = 0; i < piece->count; i++) {
		double since = (double)(tx[i] - tx[0]) - least;
		int64_t turn = (int64_t)(since / period);
		if (piece_stage(piece, i, TARE_STAGE_DUE, tx[0] + (int64_t)(least + (double)turn * period), err))
			return -1;
	}
	piece->origin.lateness = TARE_LATENESS_REBUILT;
	piece->round->interval_ns = (int64_t)period;
	return import_note(import, IMPORT_PACING, err,
		"due times are rebuilt from --mps: late is what it is at least, whole intervals of %.0f ns are not seen",
		period);
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

/* Why our p99 is not the printed one: sockperf takes rank trunc(0.5 + p n), tare ceil(p n). */
static int note_rank(struct sockperf *log, struct import *import, struct tare_err *err)
{
	struct piece *piece = log->piece;
	size_t n = piece->count;
	if (log->printed_p99_ns == TARE_NO_TIME || n < 2)
		return 0;
	int64_t *sorted = reallocarray(NULL, n, sizeof(*sorted));
	if (!sorted)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	memcpy(sorted, piece->given_ns[log->full_rtt ? TARE_SPAN_RTT : TARE_SPAN_HALF_RTT], n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	size_t theirs = (n * 99 + 50) / 100, ours = (n * 99 + 99) / 100;
	int64_t at_theirs = sorted[theirs ? theirs - 1 : 0], at_ours = sorted[ours - 1];
	free(sorted);
	if (at_ours == log->printed_p99_ns)
		return import_note(import, IMPORT_PRINTED, err, "sockperf prints the same p99, by rank %zu of %zu", theirs, n);
	return import_note(import, IMPORT_PRINTED, err,
		"sockperf prints p99 = %.3f µs: its rank is round(p x n) = %zu of %zu (%.3f µs in its rows), the nearest rank "
		"is ceil(p x n) = %zu (%.3f µs), counted with all rows",
		(double)log->printed_p99_ns / 1e3, theirs, n, (double)at_theirs / 1e3, ours, (double)at_ours / 1e3);
}

static int end_table(struct sockperf *log, struct import *import, struct tare_err *err)
{
	if (!log->in_table)
		return 0;
	log->in_table = false;
	if (import_note(import, IMPORT_HEAD, err, "sockperf, full log: %zu rows%s%s", log->piece->count,
		    log->dropped[0] ? "; " : "", log->dropped) ||
		import_note(import, IMPORT_QUANTITY, err, "%s",
			log->full_rtt ? "rtt is the whole round trip (--full-rtt)"
				      : "half_rtt is half of a round trip, as sockperf prints it; rtt is from its stamps") ||
		import_note(import, IMPORT_LIMIT, err,
			"sockperf left out its warm-up and what was lost, late or out of order: losses cannot be seen%s",
			log->reply_every > 1 ? "; only one of every so many messages is answered" : ""))
		return -1;
	return rebuild(log, import, err) || note_rank(log, import, err);
}

static void take_summary(struct sockperf *log, const char *text)
{
	const char *p99 = strstr(text, "percentile 99.000 =");
	const char *dropped = strstr(text, "# dropped messages");
	if (p99) {
		struct number number = number_read(p99 + 19, strlen(p99 + 19), UNIT_US);
		log->printed_p99_ns = number.why ? TARE_NO_TIME : number.ns;
	}
	if (dropped) {
		struct text copy = TEXT_IN(log->dropped);
		text_add(&copy, "%s", dropped);
	}
	const char *server = strstr(text, "statistics for Server No: ");
	if (server)
		log->server = (int)strtol(server + 26, NULL, 10) & 0xffff;
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct sockperf log = {.printed_p99_ns = TARE_NO_TIME};
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		strip_escapes(&line);
		if (log.in_table && line.bytes && line.text[0] >= '0' && line.text[0] <= '9') {
			if (take_row(&log, pieces, &line, err))
				return -1;
			continue;
		}
		if (end_table(&log, import, err))
			return -1;
		if (strstr(line.text, "following parameters:"))
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
