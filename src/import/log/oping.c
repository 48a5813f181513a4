/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oping: looks like iputils' ping, but asks many hosts at once, so that their numbers stand among each other; what did not
 * come is "echo reply from HOST (ADDRESS): icmp_seq=N timeout". Told from ping by its header, which has one size where
 * iputils has two.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/formats.h"
#include "import/log/fping_hosts.h"

enum { NAME_BYTES = 160 };

/* "PING h (10.0.0.1) 56 bytes of data." */
static bool is_header(const char *text)
{
	const char *at = text_begins(text, "PING ") ? strstr(text, ") ") : NULL;
	size_t digits = at ? strspn(at + 2, "0123456789") : 0;
	return digits && strcmp(at + 2 + digits, " bytes of data.") == 0;
}

static bool is_ours(const char *text)
{
	return is_header(text) || (text_begins(text, "echo reply from ") && strstr(text, ": icmp_seq="));
}

static bool knows(struct lines *head)
{
	return head_has(head, 20, is_ours);
}

/* The host of a line " from HOST (ADDRESS): icmp_seq=N …"; NULL where there is none, else what follows the number. */
static const char *read_request(const char *text, char *name, uint64_t *ret_seq)
{
	const char *from = strstr(text, " from "), *colon = from ? strstr(from, ": icmp_seq=") : NULL;
	size_t bytes = colon ? strcspn(from + 6, " :") : 0;
	if (!bytes || bytes >= NAME_BYTES)
		return NULL;
	for (size_t i = 0; i < bytes; i++)
		name[i] = from[6 + i] > 0x20 && from[6 + i] < 0x7f ? from[6 + i] : '?';
	name[bytes] = '\0';
	const char *at = colon + 11;
	size_t digits = strspn(at, "0123456789");
	return number_count(at, digits, ret_seq) && *ret_seq <= UINT16_MAX ? at + digits : NULL;
}

static int take_request(struct fping *log, const struct line *line, const char *name, uint64_t seq, const char *rest,
	struct tare_err *err)
{
	struct fping_host *host = fping_host_of(log, name, err);
	const char *time = strstr(rest, "time="), *unit = time ? strstr(time, " ms") : NULL, *why = NULL;
	struct fping_reply reply = {.kind = strstr(rest, "timeout") ? FPING_LOST : FPING_ANSWER, .stamp_ns = TARE_NO_TIME};
	if (!host)
		return -1;
	/* from 1, and 16 bits: the nearest to the last one */
	int64_t from_zero = (int64_t)seq - 1;
	if (host->highest >= 0)
		from_zero = host->highest + (int16_t)(uint16_t)(from_zero - host->highest);
	reply.seq = from_zero < 0 ? 0 : (uint64_t)from_zero;
	if (reply.kind == FPING_ANSWER && !unit)
		return piece_damaged(log->pieces, line, "neither a time nor a timeout", err);
	if (unit)
		reply.time = number_read(time + 5, (size_t)(unit - time - 5), UNIT_MS);
	log->rows++;
	if (fping_take(log, name, &reply, &why, err))
		return -1;
	return why ? piece_damaged(log->pieces, line, why, err) : 0;
}

/* "4 packets transmitted, 3 received, 25.00% packet loss, time 0.1ms" of the host that the line before names. */
static int take_totals(struct fping *log, const char *name, const char *text, struct tare_err *err)
{
	struct fping_host *host = fping_host_of(log, name, err);
	const char *comma = strstr(text, " packets transmitted, ");
	uint64_t sent = 0, received = 0;
	if (!host)
		return -1;
	const char *second = comma + 22;
	if (!number_count(text, (size_t)(comma - text), &sent) ||
		!number_count(second, strspn(second, "0123456789"), &received))
		return 0;
	return fping_total(log, host, sent, received, err);
}

static int take_line(struct fping *log, const struct line *line, char *statistics, struct tare_err *err)
{
	char name[NAME_BYTES];
	uint64_t seq = 0;
	const char *rest = line->overlong ? NULL : read_request(line->text, name, &seq);
	if (rest)
		return take_request(log, line, name, seq, rest, err);
	if (!line->bytes || is_header(line->text) || text_begins(line->text, "RTT[ms]:"))
		return 0;
	if (text_begins(line->text, "--- ") && strstr(line->text, " ping statistics ---")) {
		snprintf(statistics, NAME_BYTES, "%.*s", (int)strcspn(line->text + 4, " "), line->text + 4);
		return 0;
	}
	if (*statistics && strstr(line->text, " packets transmitted, "))
		return take_totals(log, statistics, line->text, err);
	if (line->unterminated)
		log->pieces->cut++;
	else
		piece_noise(log->pieces, line);
	return 0;
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(fping_free) struct fping log = {.pieces = pieces};
	struct line line;
	char statistics[NAME_BYTES] = "";
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		log.lines = line.number;
		if (take_line(&log, &line, statistics, err))
			return -1;
	}
	if (got < 0)
		return -1;
	if (!log.rows)
		return tare_fail(err, TARE_E_FORMAT, "'%s': oping's summary only: no percentile of it can be used", import->name);
	return fping_end(&log, "oping", "rtt is the printed time, in steps of 10 µs", err);
}

const struct import_format oping_format = {.name = "oping",
	.knows = knows,
	.read = read_log,
	.tool = "oping",
	.help = "oping's text"};
