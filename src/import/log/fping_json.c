/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fping -J (5.3 to 5.5): an object a line, named by its only member: resp, timeout, summary, intSum, vSum, stats.
 * Types and keys not known here are passed over, as fping asks of its readers. "src" is there only where an answer
 * came from another address.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"
#include "import/log/fping_hosts.h"

static bool is_ours(const char *text)
{
	static const char *const names[] = {"resp", "timeout", "vSum", "summary", "intSum"};
	const char *at = text[0] == '{' ? text + 1 + strspn(text + 1, " ") : "";
	for (size_t i = 0; *at == '"' && i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);
		if (strncmp(at + 1, names[i], length) != 0 || at[1 + length] != '"')
			continue;
		const char *colon = at + 2 + length + strspn(at + 2 + length, " ");
		return *colon == ':' && colon[1 + strspn(colon + 1, " ")] == '{';
	}
	return false;
}

static bool knows(struct lines *head)
{
	/* -C: all answers of a host in one line */
	if (lines_allow(head, LINES_LONGEST, NULL))
		return false;
	return head_has(head, 20, is_ours);
}

static void name_of(const json_t *object, char *name, size_t room)
{
	const char *host = document_text(object, "host");
	snprintf(name, room, "%s", host && *host ? host : "unknown");
	for (char *c = name; *c; c++)
		*c = *c >= 0x20 && *c < 0x7f ? *c : '?';
}

/* What one unit of the last digit of a printed time is: three digits of it are there. */
static struct number number_of(const json_t *object, const char *path)
{
	int64_t ns = document_ns(object, path, UNIT_MS);
	int64_t step = ns < 1000000 ? 1000 : ns < 10000000 ? 10000 : ns < 100000000 ? 100000 : 1000000;
	return (struct number){.ns = ns, .step_ns = step, .why = ns == TARE_NO_TIME ? "without a time" : NULL};
}

static int take_values(struct fping *fping, const struct line *line, const json_t *object, const char *name, struct tare_err *err)
{
	struct fping_host *host = fping_host_of(fping, name, err);
	size_t i;
	const json_t *value;
	if (!host)
		return -1;
	json_array_foreach(document_at(object, "values"), i, value)
	{
		struct number number = number_of(value, "");
		bool lost = json_is_null(value);
		if (!lost && (number.why || number.ns < 0))
			return piece_damaged(fping->pieces, line, "a value that is no time", err);
		if (fping_listed(fping, host, i, number, lost, err))
			return -1;
	}
	fping->rows++;
	host->ended = true;
	return 0;
}

static int take_summary(struct fping *fping, const json_t *object, const char *name, struct tare_err *err)
{
	static const char *const figures[] = {"rttMin", "rttAvg", "rttMax"};
	struct fping_host *host = fping_host_of(fping, name, err);
	int64_t sent = 0, received = 0;
	if (!host)
		return -1;
	for (int i = 0; i < 3; i++) {
		struct number number = number_of(object, figures[i]);
		host->printed_ns[i] = number.ns;
		host->printed_step_ns[i] = number.step_ns;
	}
	fping->returned += document_at(object, "return") != NULL;
	host->ended = true;
	if (!document_integer(object, "xmt", &sent) || !document_integer(object, "rcv", &received) || sent < 0 || received < 0)
		return 0;
	return fping_total(fping, host, (uint64_t)sent, (uint64_t)received, err);
}

static int take_reply(struct fping *fping, const struct line *line, const json_t *object, const char *name, bool lost,
	struct tare_err *err)
{
	struct fping_reply reply = {.kind = lost ? FPING_LOST : document_at(object, "src") ? FPING_FOREIGN : FPING_ANSWER,
		.time = number_of(object, "rtt"),
		.stamp_ns = document_ns(object, "timestamp", UNIT_S)};
	const char *why = NULL;
	int64_t seq = -1;
	if (!document_integer(object, "seq", &seq) || seq < 0)
		return piece_damaged(fping->pieces, line, "without a sequence number", err);
	if (!lost && reply.time.why && document_at(object, "rtt"))
		reply.time.why = "a time that is no number";
	reply.seq = (uint64_t)seq;
	if (reply.stamp_ns != TARE_NO_TIME && reply.stamp_ns <= 0)
		reply.stamp_ns = TARE_NO_TIME;
	fping->rows++;
	if (fping_take(fping, name, &reply, &why, err))
		return -1;
	return why ? piece_damaged(fping->pieces, line, why, err) : 0;
}

static int take_line(struct fping *fping, const struct line *line, struct tare_err *err)
{
	char why[256], name[200];
	AUTO_CLEANUP(document_end) json_t *root =
		document_of_line(line, fping->pieces->import->rules.lenient, why, sizeof(why));
	if (!root)
		return piece_damaged(fping->pieces, line, why, err);
	const json_t *answer = document_at(root, "resp"), *lost = document_at(root, "timeout");
	const json_t *all = document_at(root, "vSum"), *summary = document_at(root, "summary");
	const json_t *object = answer ? answer : lost ? lost : all ? all : summary;
	if (!json_is_object(object))
		return 0;
	name_of(object, name, sizeof(name));
	if (all)
		return take_values(fping, line, object, name, err);
	if (summary)
		return take_summary(fping, object, name, err);
	return take_reply(fping, line, object, name, lost != NULL, err);
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(fping_free) struct fping fping = {.pieces = pieces};
	struct line line;
	int got;
	if (lines_allow(import->lines, LINES_LONGEST, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		fping.lines = line.number;
		if (!line.overlong && line.text[0] == '{') {
			if (take_line(&fping, &line, err))
				return -1;
		} else if (line.bytes || line.overlong) {
			piece_noise(pieces, &line);
		}
	}
	if (got < 0)
		return -1;
	if (!fping.rows)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s': fping's summary only: no percentile of it can be used\n"
			"  fping -J -c N -D ... prints every answer",
			import->name);
	return fping_end(&fping, "fping, JSON", FPING_STEPS, err);
}

const struct import_format fping_json_format = {.name = "fping-json",
	.knows = knows,
	.read = read_log,
	.tool = "fping",
	.help = "fping's JSON lines (-J)"};
