/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Surprising: in loop mode fping prints an answer that came twice like any other and counts it among the requests, so that
 * its "sent" is too high; where a host has duplicates, its totals add nothing.
 */
#include "import/log/fping_hosts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/printed.h"

static const struct tare_origin fping_origin = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_WALL,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_UNKNOWN};

/* A log cut out of weeks begins at its first number, less what may yet be called timed out behind it. */
enum { HEAD_MOST = 256, RESTART_AFTER = 16 };

void fping_free(const struct fping *fping)
{
	free(fping->host);
	free(fping->slot);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261;
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	return hash;
}

static int grow_table(struct fping *fping, struct tare_err *err)
{
	size_t slots = fping->slots ? 2 * fping->slots : 64;
	uint32_t *slot = calloc(slots, sizeof(*slot));
	struct fping_host *host = slot ? reallocarray(fping->host, slots / 2, sizeof(*host)) : NULL;
	if (!host) {
		free(slot);
		return tare_fail_errno(err, ENOMEM, "cannot hold %zu hosts", slots / 2);
	}
	free(fping->slot);
	fping->slot = slot;
	fping->slots = slots;
	fping->host = host;
	fping->room = slots / 2;
	for (size_t i = 0; i < fping->count; i++) {
		size_t at = hash_of(host[i].name) & (slots - 1);
		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	return 0;
}

/* The slot of a name: the host's, or the free one where it belongs. */
static size_t slot_of(const struct fping *fping, const char *name)
{
	size_t at = hash_of(name) & (fping->slots - 1);
	while (fping->slot[at] && strcmp(fping->host[fping->slot[at] - 1].name, name) != 0)
		at = (at + 1) & (fping->slots - 1);
	return at;
}

/* "name (address)": the name, unless another address has it already (-m). */
static void url_of(const struct fping *fping, const char *name, char *url, size_t room)
{
	char plain[160];
	size_t bytes = strcspn(name, " ");
	snprintf(plain, sizeof(plain), "%.*s", (int)(bytes < 150 ? bytes : 150), name);
	const char *open = strchr(name, '(');
	for (size_t i = 0; open && i < fping->count; i++) {
		const char *other = fping->host[i].name;
		if (strncmp(other, name, bytes) == 0 && other[bytes] == ' ' && strcmp(other, name) != 0) {
			snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(open + 1, ")"), open + 1);
			break;
		}
	}
	snprintf(url, room, strchr(plain, ':') ? "icmp://[%s]" : "icmp://%s", plain);
}

static void drop_front(struct piece *piece, size_t rows)
{
	size_t left = piece->count - rows;
	for (int i = 0; i < TARE_STAGE_COUNT; i++) {
		if (piece->at_ns[i])
			memmove(piece->at_ns[i], piece->at_ns[i] + rows, left * sizeof(int64_t));
	}
	for (int i = 0; i < TARE_SPAN_COUNT; i++) {
		if (piece->given_ns[i])
			memmove(piece->given_ns[i], piece->given_ns[i] + rows, left * sizeof(int64_t));
	}
	memmove(piece->fate, piece->fate + rows, left);
	memmove(piece->flags, piece->flags + rows, left * sizeof(uint16_t));
	memmove(piece->reason, piece->reason + rows, left * sizeof(uint16_t));
	piece->count = left;
}

/* fping's min, avg and max, rounded to three digits: nothing where they are those of the lines. */
static int note_figures(struct fping *fping, const struct fping_host *host, struct tare_err *err)
{
	static const char *const names[] = {"min", "avg", "max"};
	const struct piece *piece = host->piece;
	struct printed list[3];
	char tool[200], reason[120];
	struct text text = TEXT_IN(tool), why = TEXT_IN(reason);
	AUTO_CLEANUP(ranked_end) struct ranked ranked = {0};
	const int64_t *rtt_ns = piece->given_ns[TARE_SPAN_RTT];
	if (ranked_open(rtt_ns, rtt_ns ? piece->count : 0, &ranked, err))
		return -1;
	/* answers without a time: its figures are of others, too */
	if (ranked.count < host->answered || !ranked.count)
		return 0;
	int64_t ours_ns[] = {ranked_at(&ranked, 1), ranked_mean(&ranked), ranked_at(&ranked, ranked.count)};
	for (int i = 0; i < 3; i++)
		list[i] = (struct printed){names[i], host->printed_ns[i], ours_ns[i],
			(host->printed_step_ns[i] + host->coarsest_ns) / 2};
	text_add(&text, "fping, for %.120s,", host->name);
	if (host->duplicates || piece->beside.foreign)
		text_add(&why, "it counts %s, too", host->duplicates ? "duplicates" : "what came from other addresses");
	else
		text_add(&why, "its figures are of other answers than its lines");
	fping->pieces->import->round = piece->round->number;
	return printed_note(fping->pieces->import, tool, "prints", UNIT_MS, list, 3, reason, err);
}

/* Done with the host's present round. */
static int close_round(struct fping *fping, struct fping_host *host, struct tare_err *err)
{
	if (host->lowest > host->base)
		drop_front(host->piece, (size_t)(host->lowest - host->base));
	return note_figures(fping, host, err);
}

static int begin_round(struct fping *fping, struct fping_host *host, const char *url, struct tare_err *err)
{
	char *name = host->name;
	if (host->piece && close_round(fping, host, err))
		return -1;
	*host = (struct fping_host){.name = name,
		.piece = piece_add(fping->pieces, url, "icmp", "", &fping_origin, err),
		.lowest = -1,
		.highest = -1,
		.printed_ns = {TARE_NO_TIME, TARE_NO_TIME, TARE_NO_TIME}};
	if (!host->piece)
		return -1;
	host->piece->round->warmup = 2;
	return 0;
}

struct fping_host *fping_host_of(struct fping *fping, const char *name, struct tare_err *err)
{
	char url[200];
	if (fping->count == fping->room && grow_table(fping, err))
		return NULL;
	size_t at = slot_of(fping, name);
	if (fping->slot[at]) {
		struct fping_host *host = &fping->host[fping->slot[at] - 1];
		return host->ended && begin_round(fping, host, host->piece->target->url, err) ? NULL : host;
	}
	struct fping_host *host = &fping->host[fping->count];
	*host = (struct fping_host){.name = import_text(fping->pieces->import, name, err)};
	if (!host->name)
		return NULL;
	url_of(fping, name, url, sizeof(url));
	if (begin_round(fping, host, url, err))
		return NULL;
	fping->slot[at] = (uint32_t)++fping->count;
	return host;
}

static int answer(struct fping *fping, struct fping_host *host, size_t row, const struct fping_reply *reply, struct tare_err *err)
{
	struct piece *piece = host->piece;
	struct import *import = fping->pieces->import;
	if (piece->fate[row] == TARE_ANSWERED) {
		host->duplicates++;
		piece->beside.duplicate++;
		piece->flags[row] |= TARE_FLAG_DUPLICATED;
		return 0;
	}
	piece->fate[row] = TARE_ANSWERED;
	host->answered++;
	bool behind = host->base + (int64_t)row < host->highest;
	piece->beside.reordered += behind;
	piece->flags[row] |= behind ? TARE_FLAG_REORDERED : 0;
	host->coarsest_ns = reply->time.step_ns > host->coarsest_ns ? reply->time.step_ns : host->coarsest_ns;
	if (piece->resolution_ns < reply->time.step_ns && reply->time.step_ns <= 100000)
		piece->resolution_ns = reply->time.step_ns;
	if (piece_span(piece, row, TARE_SPAN_RTT, reply->time.ns, err))
		return -1;
	if (reply->stamp_ns == TARE_NO_TIME)
		return 0;
	if (!import->run.epoch_real_ns)
		import->run.epoch_real_ns = reply->stamp_ns;
	return piece_stage(piece, row, TARE_STAGE_USER_RX, reply->stamp_ns - import->run.epoch_real_ns, err);
}

/* A number so low that the host's round must have begun anew. */
static bool is_restart(const struct fping_host *host, const struct fping_reply *reply)
{
	int64_t seq = (int64_t)reply->seq;
	bool there = seq >= host->base && seq - host->base < (int64_t)host->piece->count;
	return reply->kind == FPING_ANSWER && seq <= 1 && host->highest >= RESTART_AFTER && there &&
	       host->piece->fate[seq - host->base] == TARE_ANSWERED;
}

int fping_take(struct fping *fping, const char *name, const struct fping_reply *reply, const char **ret_why,
	struct tare_err *err)
{
	struct fping_host *host = fping_host_of(fping, name, err);
	if (!host)
		return -1;
	if (reply->kind == FPING_ANSWER && (reply->time.why || reply->time.ns < 0)) {
		*ret_why = reply->time.why ? reply->time.why : "a negative time";
		return 0;
	}
	if (reply->kind == FPING_DUPLICATE) {
		host->duplicates++;
		host->piece->beside.duplicate++;
		return 0;
	}
	if (is_restart(host, reply) && begin_round(fping, host, host->piece->target->url, err))
		return -1;
	if (host->highest < 0 && reply->seq > HEAD_MOST && reply->seq < INT64_MAX)
		host->base = (int64_t)reply->seq - HEAD_MOST;
	if (reply->seq < (uint64_t)host->base)
		return 0; /* from before the log's beginning */
	if (!pieces_allow(fping->pieces, host->piece, reply->seq - (uint64_t)host->base, fping->lines)) {
		*ret_why = "a jump in the numbers that would need millions of lost requests";
		return 0;
	}
	size_t row = (size_t)(reply->seq - (uint64_t)host->base);
	int64_t seq = (int64_t)reply->seq;
	if (pieces_reach(fping->pieces, host->piece, row, err) || (reply->kind == FPING_ANSWER && answer(fping, host, row, reply, err)))
		return -1;
	if (reply->kind == FPING_FOREIGN) {
		fping->foreign++;
		host->piece->beside.foreign++;
	}
	host->lowest = host->lowest < 0 || seq < host->lowest ? seq : host->lowest;
	host->highest = seq > host->highest ? seq : host->highest;
	return 0;
}

int fping_listed(struct fping *fping, struct fping_host *host, uint64_t seq, struct number time, bool lost, struct tare_err *err)
{
	struct piece *piece = host->piece;
	if (pieces_reach(fping->pieces, piece, seq, err))
		return -1;
	host->lowest = 0;
	host->highest = (int64_t)seq > host->highest ? (int64_t)seq : host->highest;
	if (lost || piece->fate[seq] == TARE_ANSWERED)
		return 0;
	piece->fate[seq] = TARE_ANSWERED;
	host->answered++;
	host->coarsest_ns = time.step_ns > host->coarsest_ns ? time.step_ns : host->coarsest_ns;
	if (piece->resolution_ns < time.step_ns && time.step_ns <= 100000)
		piece->resolution_ns = time.step_ns;
	return piece_span(piece, seq, TARE_SPAN_RTT, time.ns, err);
}

int fping_total(struct fping *fping, struct fping_host *host, uint64_t sent, uint64_t received, struct tare_err *err)
{
	struct piece *piece = host->piece;
	host->ended = true;
	if (received > sent || host->duplicates || host->base ||
		(sent && !pieces_allow(fping->pieces, piece, sent - 1, fping->lines)))
		return 0;
	fping->beyond += sent > piece->count ? sent - piece->count : 0;
	if (sent && pieces_reach(fping->pieces, piece, sent - 1, err))
		return -1;
	host->lowest = 0;
	/* what came from another address was received by fping, too */
	uint64_t known = host->answered + piece->beside.foreign, missing = received > known ? received - known : 0;
	for (size_t i = 0; i < piece->count && missing; i++) {
		if (piece->fate[i] != TARE_LOST)
			continue;
		piece->fate[i] = TARE_ANSWERED;
		missing--;
	}
	return 0;
}

static int note_counts(const struct fping *fping, const char *what, const char *steps, struct tare_err *err)
{
	struct import *import = fping->pieces->import;
	uint64_t errors = fping->errors;
	if (import_note(import, IMPORT_HEAD, err, "%s: %zu host%s", what, fping->count, fping->count == 1 ? "" : "s") ||
		import_note(import, IMPORT_QUANTITY, err, "%s", steps))
		return -1;
	if (fping->foreign && import_note(import, IMPORT_FATE, err,
				      "%" PRIu64 " answers came from another address than the host they are printed under: "
				      "not counted",
				      fping->foreign))
		return -1;
	if (errors && import_note(import, IMPORT_FATE, err,
			      "%" PRIu64 " ICMP error%s: fping does not say to which request, and calls those timed out", errors,
			      errors == 1 ? "" : "s"))
		return -1;
	if (fping->beyond && import_note(import, IMPORT_MISMATCH, err,
				     "%" PRIu64 " request%s known from the final figures only", fping->beyond,
				     fping->beyond == 1 ? "" : "s"))
		return -1;
	if (fping->returned && import_note(import, IMPORT_LIMIT, err,
				       "%" PRIu64 " lines say 'return', more answers than requests: numbers of 16 bits have "
				       "wrapped, and no loss is computed from them",
				       fping->returned))
		return -1;
	return 0;
}

int fping_end(struct fping *fping, const char *what, const char *steps, struct tare_err *err)
{
	uint32_t round = fping->pieces->import->round;
	for (size_t i = 0; i < fping->count; i++) {
		if (close_round(fping, &fping->host[i], err))
			return -1;
	}
	fping->pieces->import->round = round;
	return note_counts(fping, what, steps, err);
}
