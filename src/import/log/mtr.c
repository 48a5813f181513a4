/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mtr --raw, a line a packet, into a series per hop; what mtr prints otherwise (JSON,
 * CSV, its report) and trippy's JSON and CSV, which are summaries, hop by hop. A hop's answers come from routers' slow path: they say
 * little about traffic that goes through.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"

enum { HOPS = 256, OPEN = 64 };

static const struct tare_origin per_packet = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_WALL,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_UNKNOWN};

/* One hop: its requests by mtr's sequence numbers, the last ones that may still be answered. */
struct hop {
	struct piece *piece;
	char hosts[120]; /* that answered, as "h" lines tell them */
	struct {
		uint64_t seq;
		size_t index;
	} open[OPEN];
	size_t open_count;
};

/* "x 3 33007", "p 3 412 33007" */
static size_t read_numbers(const char *text, uint64_t *ret, size_t room)
{
	size_t count = 0;
	while (*text && count < room) {
		text += strspn(text, " ");
		size_t bytes = strcspn(text, " ");
		if (!bytes || !number_count(text, bytes, &ret[count]))
			return 0;
		count++;
		text += bytes;
	}
	return *text ? 0 : count;
}

static bool is_raw(const char *text)
{
	uint64_t values[4];
	return (text_begins(text, "x ") && read_numbers(text + 2, values, 4) == 2) ||
	       (text_begins(text, "p ") && read_numbers(text + 2, values, 4) >= 2);
}

static bool knows_raw(struct lines *head)
{
	return head_has(head, 40, is_raw);
}

static struct hop *hop_of(struct pieces *pieces, struct hop *hops, uint64_t number, struct tare_err *err)
{
	char url[32];
	struct hop *hop = &hops[number];
	if (hop->piece)
		return hop;
	snprintf(url, sizeof(url), "mtr:hop-%" PRIu64, number + 1);
	hop->piece = piece_add(pieces, url, "mtr", "", &per_packet, err);
	if (!hop->piece)
		return NULL;
	hop->piece->resolution_ns = 1000;
	return hop;
}

static int take_sent(struct hop *hop, uint64_t seq, struct tare_err *err)
{
	if (piece_row(hop->piece, err))
		return -1;
	hop->piece->fate[hop->piece->count - 1] = TARE_LOST;
	size_t at = hop->open_count++ % OPEN;
	hop->open[at].seq = seq;
	hop->open[at].index = hop->piece->count - 1;
	return 0;
}

static int take_reply(struct hop *hop, const uint64_t *values, size_t count, struct tare_err *err)
{
	struct piece *piece = hop->piece;
	size_t index = SIZE_MAX;
	for (size_t i = 0; i < OPEN && i < hop->open_count && count == 3; i++) {
		if (hop->open[i].seq == values[2])
			index = hop->open[i].index;
	}
	if (count == 2 && piece->count)
		index = piece->count - 1; /* old versions: no number, the last one */
	if (index == SIZE_MAX) {
		/* without x lines a reply is all there is */
		if (piece_row(piece, err))
			return -1;
		index = piece->count - 1;
		piece->fate[index] = TARE_LOST;
	}
	if (piece->fate[index] == TARE_ANSWERED) {
		piece->beside.duplicate++;
		return 0;
	}
	piece->fate[index] = TARE_ANSWERED;
	return piece_span(piece, index, TARE_SPAN_RTT, (int64_t)values[1] * 1000, err);
}

static int take_raw(struct pieces *pieces, struct hop *hops, const struct line *line, struct tare_err *err)
{
	uint64_t values[4];
	bool sent = line->text[0] == 'x';
	if (piece_cut(pieces, line))
		return 0;
	size_t count = read_numbers(line->text + 2, values, 4);
	if (count != 2 && (sent || count != 3))
		return piece_damaged(pieces, line, "not a hop and its numbers", err);
	if (values[0] >= HOPS || values[1] > INT64_MAX / 1000)
		return piece_damaged(pieces, line, "a hop or time out of range", err);
	struct hop *hop = hop_of(pieces, hops, values[0], err);
	if (!hop)
		return -1;
	return sent ? take_sent(hop, values[1], err) : take_reply(hop, values, count, err);
}

/* "h 3 10.0.0.1": one more host that answers at this distance. */
static void take_host(struct hop *hops, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t number;
	if (!number_count(text, digits, &number) || number >= HOPS || text[digits] != ' ')
		return;
	char *hosts = hops[number].hosts, host[64];
	struct text list = {.bytes = hosts, .used = strlen(hosts), .room = sizeof(hops[number].hosts)}, one = TEXT_IN(host);
	text_add_figures(&one, text + digits + 1);
	for (const char *at = hosts; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		if (strcspn(at, ",") == strlen(host) && strncmp(at, host, strlen(host)) == 0)
			return;
	}
	text_add(&list, "%s%s", list.used ? ", " : "", host);
}

static int note_hosts(struct import *import, const struct hop *hops, struct tare_err *err)
{
	for (size_t i = 0; i < HOPS; i++) {
		if (!hops[i].piece || !hops[i].hosts[0])
			continue;
		import->round = hops[i].piece->round->number;
		if (import_note(import, IMPORT_HEAD, err, "hop %zu: %s", i + 1, hops[i].hosts))
			return -1;
	}
	import->round = 1;
	return 0;
}

static int read_raw(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_FREE struct hop *hops = calloc(HOPS, sizeof(*hops));
	struct line line;
	int got;
	if (!hops)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool ours = (line.text[0] == 'x' || line.text[0] == 'p') && line.text[1] == ' ';
		bool known = line.text[0] && strchr("hdmt", line.text[0]) && line.text[1] == ' ';
		if (ours && take_raw(pieces, hops, &line, err))
			return -1;
		if (text_begins(line.text, "h "))
			take_host(hops, line.text + 2);
		if (!ours && !known && line.bytes)
			piece_noise(pieces, &line);
	}
	if (got < 0 || !pieces->count)
		return got < 0 ? -1 : 0;
	if (note_hosts(import, hops, err))
		return -1;
	return import_note(import, IMPORT_LIMIT, err,
		"a hop answers on its slow path: what it takes and loses there says little about traffic through it");
}

const struct import_format mtr_raw_format = {.name = "mtr-raw",
	.knows = knows_raw,
	.read = read_raw,
	.tool = "mtr",
	.help = "mtr's lines (--raw)"};

/* ---- summaries ---- */

static int add_hop(struct import *import, struct pieces *pieces, const char *tool, const char *name, const char *figures,
	struct tare_err *err)
{
	struct tare_origin origin = per_packet;
	char url[64], text[400];
	struct text harmless = TEXT_IN(text);
	origin.shape = TARE_SHAPE_SUMMARY;
	snprintf(url, sizeof(url), "%s:hop-%s", tool, name);
	text_add_figures(&harmless, figures);
	if (!piece_add(pieces, url, tool, "", &origin, err))
		return -1;
	return import_note(import, IMPORT_PRINTED, err, "summary only, no percentile is taken from it: %s", text);
}

static bool knows_json(struct lines *head)
{
	static const char *const keys[] = {"report", "mtr", "hubs", NULL};
	return document_knows(head, keys);
}

static bool knows_trippy(struct lines *head)
{
	static const char *const keys[] = {"info", "hops", "ttl", "loss_pct", NULL};
	return document_knows(head, keys);
}

static int read_hops(struct import *import, struct pieces *pieces, const char *tool, const json_t *hops,
	const char *number_key, struct tare_err *err)
{
	const json_t *hop;
	size_t i;
	json_array_foreach(hops, i, hop)
	{
		char name[24];
		int64_t number = (int64_t)i + 1;
		document_integer(hop, number_key, &number);
		snprintf(name, sizeof(name), "%" PRId64, number);
		AUTO_FREE char *text = json_dumps(hop, JSON_COMPACT | JSON_REAL_PRECISION(6));
		if (!text || add_hop(import, pieces, tool, name, text, err))
			return text ? -1 : tare_fail(err, TARE_E_SYSTEM, "out of memory");
	}
	return 0;
}

static int read_json(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	return root ? read_hops(import, pieces, "mtr", document_at(root, "report.hubs"), "count", err) : -1;
}

static int read_trippy(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	return root ? read_hops(import, pieces, "trippy", document_at(root, "hops"), "ttl", err) : -1;
}

const struct import_format mtr_json_format = {.name = "mtr-json",
	.knows = knows_json,
	.read = read_json,
	.tool = "mtr",
	.help = "mtr's JSON (a summary)"};
const struct import_format trippy_format = {.name = "trippy",
	.knows = knows_trippy,
	.read = read_trippy,
	.tool = "trippy",
	.help = "trippy's JSON (a summary)"};

/* ---- summaries as CSV: mtr --csv and trip -m csv ---- */

static bool is_mtr_csv(const char *text)
{
	return text_begins(text, "Mtr_Version,Start_Time,Status,Host,Hop,Ip,");
}

static bool is_trippy_csv(const char *text)
{
	return text_begins(text, "Target,TargetIp,Hop,");
}

static bool knows_csv(struct lines *head)
{
	return head_has(head, 20, is_mtr_csv);
}

static bool knows_trippy_csv(struct lines *head)
{
	return head_has(head, 20, is_trippy_csv);
}

/* "Hop 3, Loss% 0.00, …" of a row, what its header says; the row's hop in `name`. */
static bool row_figures(char *header, char *row, char name[24], struct text *figures)
{
	struct field_text keys[32], values[32];
	size_t count = fields_of(header, ',', keys, 32), got = fields_of(row, ',', values, 32);
	name[0] = '\0';
	for (size_t i = 0; i < count && i < got; i++) {
		if (field_is(keys[i], "Hop") && values[i].bytes < 20)
			snprintf(name, 24, "%.*s", (int)values[i].bytes, values[i].at);
		if (keys[i].bytes && values[i].bytes)
			text_add(figures, "%s%.*s %.*s", figures->used ? ", " : "", (int)keys[i].bytes, keys[i].at,
				(int)values[i].bytes, values[i].at);
	}
	return name[0] && strspn(name, "0123456789") == strlen(name) && got + 1 >= count;
}

static int read_rows(struct import *import, struct pieces *pieces, const char *tool, bool (*is_head)(const char *text),
	struct tare_err *err)
{
	char header[LINES_MAX_BYTES + 1] = "", keys[LINES_MAX_BYTES + 1], row[LINES_MAX_BYTES + 1], name[24], buffer[600];
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		struct text figures = TEXT_IN(buffer);
		if (is_head(line.text)) {
			memcpy(header, line.text, line.bytes + 1);
			continue;
		}
		if (!line.bytes || !header[0])
			continue;
		memcpy(keys, header, sizeof(keys));
		memcpy(row, line.text, line.bytes + 1);
		if (!row_figures(keys, row, name, &figures)) {
			if (piece_damaged(pieces, &line, "not a row of the table", err))
				return -1;
			continue;
		}
		if (add_hop(import, pieces, tool, name, buffer, err))
			return -1;
	}
	return got;
}

static int read_mtr_csv(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	return read_rows(import, pieces, "mtr", is_mtr_csv, err);
}

static int read_trippy_csv(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	return read_rows(import, pieces, "trippy", is_trippy_csv, err);
}

const struct import_format mtr_csv_format = {
	.name = "mtr-csv", .knows = knows_csv, .read = read_mtr_csv, .tool = "mtr", .help = "mtr's CSV (--csv, a summary)"};
const struct import_format trippy_csv_format = {.name = "trippy-csv",
	.knows = knows_trippy_csv,
	.read = read_trippy_csv,
	.tool = "trippy",
	.help = "trippy's CSV (a summary)"};

/* ---- mtr --report ---- */

static bool is_report(const char *text)
{
	return text_begins(text, "HOST: ") && strstr(text, "Loss%") && strstr(text, "Snt");
}

static bool knows_report(struct lines *head)
{
	return head_has(head, 20, is_report);
}

/* "  1.|-- 127.0.0.1                  0.0%     3    0.1   0.0   0.0   0.1   0.0" */
static int read_report(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		const char *text = line.text + strspn(line.text, " ");
		size_t digits = strspn(text, "0123456789");
		char name[24];
		if (!digits || digits >= sizeof(name) || !text_begins(text + digits, ".|--"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)digits, text);
		if (add_hop(import, pieces, "mtr", name, text + digits + 4 + strspn(text + digits + 4, " "), err))
			return -1;
	}
	return got;
}

const struct import_format mtr_report_format = {.name = "mtr-report",
	.knows = knows_report,
	.read = read_report,
	.tool = "mtr",
	.help = "mtr's report (--report, a summary)"};
