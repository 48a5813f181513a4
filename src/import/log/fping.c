/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fping's text, 3 to 5: a line an answer (-l, -c, with -D a time in front), all answers of a host in one line (-C), the
 * state of each host (-e), and final figures, which go to another stream and may stand anywhere or be missing. Surprising:
 * " [<- address]" is written to that other stream before the line it belongs to ends, so that in one file it stands in
 * front of its line; such an answer came from somebody else and is no sample. "return" in place of "loss" (more answers
 * than requests) is fping's number wrap, from which no loss is computed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/formats.h"
#include "import/log/fping_hosts.h"

enum { NAME_BYTES = 160 };

enum shape { OTHER, ANSWER, LIST, TOTALS, ALIVE, UNREACHABLE, ICMP_ERROR, KNOWN, CLOCK, NETDATA };

struct fping_line {
	enum shape shape;
	char name[NAME_BYTES];
	const char *rest; /* behind " : " */
	struct fping_reply reply;
	bool returned;
	uint64_t sent, received;
};

/* "[1700000000.12345] "; the dates that --timestamp-format asks for are passed over: whole seconds place nothing. */
static const char *skip_stamp(const char *text, int64_t *ret_ns)
{
	*ret_ns = TARE_NO_TIME;
	const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
	if (!end || end[1] != ' ')
		return text;
	struct number number = number_read(text + 1, (size_t)(end - text - 1), UNIT_S);
	if (!number.why && number.ns > 0)
		*ret_ns = number.ns;
	return end + 2;
}

/* " [<- 10.0.0.7]" in front of a line. */
static const char *skip_origin(const char *text, bool *ret_foreign)
{
	const char *at = text + strspn(text, " ");
	const char *end = text_begins(at, "[<- ") ? strchr(at, ']') : NULL;
	if (!end)
		return text;
	*ret_foreign = true;
	return end + 1 + strspn(end + 1, " ");
}

/* The name in front of " : ", padded with blanks, "(address)" behind it with -n and -A. NULL where there is none. */
static const char *read_name(const char *text, char *ret_name)
{
	const char *colon = strstr(text, " : ");
	if (!colon) {
		size_t bytes = strlen(text);
		colon = bytes > 2 && strcmp(text + bytes - 2, " :") == 0 ? text + bytes - 2 : NULL;
	}
	const char *end = colon;
	while (end && end > text && end[-1] == ' ')
		end--;
	size_t bytes = end ? (size_t)(end - text) : 0, plain = strcspn(text, " ");
	if (!bytes || bytes >= NAME_BYTES || (plain < bytes && text[plain + 1] != '('))
		return NULL;
	for (size_t i = 0; i < bytes; i++)
		ret_name[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
	ret_name[bytes] = '\0';
	return colon[2] ? colon + 3 : colon + 2;
}

/* "[0], 64 bytes, 0.123 ms (…)", "[0], timed out (…)", "duplicate for [0], 64 bytes, 1.00 ms" */
static bool read_reply(const char *at, struct fping_line *line)
{
	struct fping_reply *reply = &line->reply;
	bool twice = text_begins(at, "duplicate for ");
	at += twice ? 14 : 0;
	const char *close = at[0] == '[' ? strchr(at, ']') : NULL;
	if (!close || close[1] != ',' || !number_count(at + 1, (size_t)(close - at - 1), &reply->seq))
		return false;
	at = close + 2;
	line->returned = strstr(at, "% return)") != NULL;
	if (text_begins(at, " timed out")) {
		reply->kind = FPING_LOST;
		return true;
	}
	const char *bytes = strstr(at, " bytes, "), *end = bytes ? strstr(bytes + 8, " ms") : NULL;
	if (!end)
		return false;
	bool foreign = reply->kind == FPING_FOREIGN || strstr(at, "[<- ") || strstr(at, "(SRC ");
	reply->kind = twice ? FPING_DUPLICATE : foreign ? FPING_FOREIGN : FPING_ANSWER;
	reply->time = number_read(bytes + 8, (size_t)(end - bytes - 8), UNIT_MS);
	return true;
}

/* "0.022 0.036 - 0.039": nothing but figures and dashes. */
static bool is_list(const char *at)
{
	bool any = false, figure = false;
	for (; *at; any = true) {
		size_t bytes = strcspn(at, " ");
		bool dash = bytes == 1 && *at == '-';
		if (!bytes || (!dash && number_read(at, bytes, UNIT_MS).why))
			return false;
		figure |= !dash && memchr(at, '.', bytes);
		at += bytes + strspn(at + bytes, " ");
	}
	return any && figure;
}

static bool is_dashes(const char *at)
{
	return *at && strspn(at, "- ") == strlen(at);
}

/* "xmt/rcv/%loss = 6/5/16%, min/avg/max = …", also "%return" */
static bool read_totals(const char *at, struct fping_line *line)
{
	if (!text_begins(at, "xmt/rcv/%"))
		return false;
	line->returned = text_begins(at + 9, "return");
	const char *equals = strchr(at, '='), *slash = equals ? strchr(equals, '/') : NULL;
	const char *second = slash ? strchr(slash + 1, '/') : NULL;
	return second && number_count(equals + 1, (size_t)(slash - equals - 1), &line->sent) &&
	       number_count(slash + 1, (size_t)(second - slash - 1), &line->received);
}

/* "10.0.0.1 is alive (0.036 ms)", "10.0.0.1 is unreachable" */
static bool read_state(const char *text, struct fping_line *line)
{
	const char *is = strstr(text, " is alive"), *open = is ? strchr(is, '(') : NULL;
	line->shape = is ? ALIVE : UNREACHABLE;
	is = is ? is : strstr(text, " is unreachable");
	size_t bytes = is ? (size_t)(is - text) : 0;
	if (!bytes || bytes >= NAME_BYTES)
		return false;
	snprintf(line->name, sizeof(line->name), "%.*s", (int)bytes, text);
	if (line->shape == ALIVE && open)
		line->reply.time = number_read(open + 1, strcspn(open + 1, " "), UNIT_MS);
	/* without -e there is no time: nothing to learn */
	return line->shape == UNREACHABLE || (open && strstr(open, " ms)"));
}

static bool is_clock(const char *text)
{
	return strlen(text) == 10 && text[0] == '[' && text[3] == ':' && text[6] == ':' && text[9] == ']';
}

/* Of -s and -v, and words on what could not be sent. */
static bool is_known(const char *text)
{
	static const char *const endings[] = {" targets", " alive", " unreachable", " unknown addresses",
		" timeouts (waiting for response)", " ICMP Echos sent", " ICMP Timestamps sent", " ICMP Echo Replies received",
		" ICMP Timestamp Replies received", " other ICMP received", "(min round trip time)", "(avg round trip time)",
		"(max round trip time)", "(elapsed real time)"};
	size_t bytes = strlen(text);
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t length = strlen(endings[i]);
		if (bytes > length && text[0] == ' ' && strcmp(text + bytes - length, endings[i]) == 0)
			return true;
	}
	return strstr(text, "error while sending ping") || strstr(text, "can't send ping to ");
}

static void read_line(const char *text, struct fping_line *line)
{
	bool foreign = false;
	*line = (struct fping_line){.shape = OTHER};
	if (is_clock(text)) {
		line->shape = CLOCK;
		return;
	}
	text = skip_origin(text, &foreign);
	line->reply.kind = foreign ? FPING_FOREIGN : FPING_ANSWER;
	text = skip_stamp(text, &line->reply.stamp_ns);
	line->rest = read_name(text, line->name);
	if (line->rest && read_reply(line->rest, line))
		line->shape = ANSWER;
	else if (line->rest && read_totals(line->rest, line))
		line->shape = TOTALS;
	else if (line->rest && (is_list(line->rest) || is_dashes(line->rest)))
		line->shape = LIST;
	else if (text_begins(text, "ICMP ") && strstr(text, " for ICMP "))
		line->shape = ICMP_ERROR;
	else if (text_begins(text, "CHART fping.") || text_begins(text, "BEGIN fping."))
		line->shape = NETDATA;
	else if (is_known(text) || text_begins(text, "DIMENSION ") || text_begins(text, "SET ") || strcmp(text, "END") == 0)
		line->shape = KNOWN;
	else if (!read_state(text, line))
		line->shape = OTHER;
}

static bool is_ours(const char *text)
{
	struct fping_line line;
	read_line(text, &line);
	return line.shape == ANSWER || line.shape == TOTALS || line.shape == NETDATA || line.shape == ALIVE ||
	       (line.shape == LIST && is_list(line.rest));
}

static bool knows(struct lines *head)
{
	/* -C: all answers of a host in one line */
	if (lines_allow(head, LINES_LONGEST, NULL))
		return false;
	return head_has(head, 20, is_ours);
}

static int take_list(struct fping *fping, const struct line *line, const struct fping_line *read, struct tare_err *err)
{
	struct fping_host *host = fping_host_of(fping, read->name, err);
	if (!host)
		return -1;
	uint64_t seq = 0;
	fping->rows++;
	for (const char *at = read->rest; *at; seq++) {
		size_t bytes = strcspn(at, " ");
		struct number number = number_read(at, bytes, UNIT_MS);
		bool lost = bytes == 1 && *at == '-';
		if (!lost && (number.why || number.ns < 0))
			return piece_damaged(fping->pieces, line, number.why ? number.why : "a negative time", err);
		if (fping_listed(fping, host, seq, number, lost, err))
			return -1;
		at += bytes + strspn(at + bytes, " ");
	}
	host->ended = true;
	return 0;
}

static int take_totals(struct fping *fping, const struct fping_line *read, uint64_t block, struct tare_err *err)
{
	struct fping_host *host = fping_host_of(fping, read->name, err);
	if (!host)
		return -1;
	fping->returned += read->returned;
	/* -Q: the first line of a host behind a time of day is of one interval, a second one is of the whole run */
	if (block && host->interval != block) {
		host->interval = block;
		return 0;
	}
	const char *figures = strstr(read->rest, "min/avg/max = ");
	figures = figures ? figures + 14 : "";
	for (int i = 0; i < 3 && *figures; i++) {
		size_t bytes = strcspn(figures, "/");
		struct number number = number_read(figures, bytes, UNIT_MS);
		host->printed_ns[i] = number.why ? TARE_NO_TIME : number.ns;
		host->printed_step_ns[i] = number.step_ns;
		figures += bytes + (figures[bytes] == '/');
	}
	return fping_total(fping, host, read->sent, read->received, err);
}

static int take_state(struct fping *fping, const struct line *line, struct fping_line *read, struct tare_err *err)
{
	const char *why = NULL;
	struct fping_host *host = fping_host_of(fping, read->name, err);
	if (!host)
		return -1;
	fping->rows++;
	read->reply.kind = read->shape == ALIVE ? FPING_ANSWER : FPING_LOST;
	read->reply.seq = (uint64_t)(host->highest + 1);
	if (fping_take(fping, read->name, &read->reply, &why, err))
		return -1;
	return why ? piece_damaged(fping->pieces, line, why, err) : 0;
}

static int take_line(struct fping *fping, const struct line *line, uint64_t *block, bool *netdata, struct tare_err *err)
{
	struct fping_line read;
	const char *why = NULL;
	if (line->overlong || !line->text[strspn(line->text, " \t")]) {
		*block = 0;
		if (line->overlong)
			piece_noise(fping->pieces, line);
		return 0;
	}
	read_line(line->text, &read);
	switch (read.shape) {
	case ANSWER:
		fping->returned += read.returned;
		fping->rows += read.reply.kind != FPING_DUPLICATE;
		if (fping_take(fping, read.name, &read.reply, &why, err))
			return -1;
		return why ? piece_damaged(fping->pieces, line, why, err) : 0;
	case LIST:
		return take_list(fping, line, &read, err);
	case TOTALS:
		return take_totals(fping, &read, *block, err);
	case ALIVE:
	case UNREACHABLE:
		return take_state(fping, line, &read, err);
	case ICMP_ERROR:
		fping->errors++;
		return 0;
	case CLOCK:
		*block = line->number;
		return 0;
	case NETDATA:
		*netdata = true;
		return 0;
	case KNOWN:
		return 0;
	case OTHER:
	default:
		piece_noise(fping->pieces, line);
		return 0;
	}
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(fping_free) struct fping fping = {.pieces = pieces};
	struct line line;
	uint64_t block = 0;
	bool netdata = false;
	int got;
	if (lines_allow(import->lines, LINES_LONGEST, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		fping.lines = line.number;
		if (take_line(&fping, &line, &block, &netdata, err))
			return -1;
	}
	if (got < 0)
		return -1;
	if (!fping.rows)
		return tare_fail(err, TARE_E_FORMAT, "'%s': %s only: no percentile of it can be used\n"
			"  fping -c N -D ... prints every answer",
			import->name, netdata ? "fping's figures for netdata (-N)" : "fping's summary");
	return fping_end(&fping, "fping", FPING_STEPS, err);
}

const struct import_format fping_format = {.name = "fping",
	.knows = knows,
	.read = read_log,
	.tool = "fping",
	.help = "fping's text (-c, -l, -C, -D, -e)"};
