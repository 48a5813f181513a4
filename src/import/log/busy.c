/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What interrupts a busy loop: oslat's histogram, as text or JSON, sysjitter's
 * raw files and its table. oslat rounds up: what it calls 1 µs is everything
 * below 1 µs, and 5 is from 4 up to 5. Its last bin holds all that is longer.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"
#include "import/log/wakeup.h"

/* ---- oslat ---- */

static bool knows_oslat(struct lines *head)
{
	static const char *const keys[] = {"num_threads", "thread", "histogram", "freq", NULL};
	return document_knows(head, keys);
}

/* The bin `us` of a thread, from us - 1 up to below us. */
static int put_oslat(struct wakeup *wakeup, size_t i, uint64_t us, uint64_t count, struct tare_err *err)
{
	int64_t high_ns = (int64_t)us * 1000;
	return piece_range(wakeup->column[i].piece, high_ns - 1000, high_ns - 1, count, err);
}

/* Printed extremes are rounded up too; of a last bin that holds all that is longer the maximum is the end. */
static void bound_oslat(struct wakeup_column *column, uint64_t last_us)
{
	struct piece *piece = column->piece;
	for (size_t i = 0; i < piece->range_count && column->has_max && column->max >= last_us; i++) {
		if (piece->range[i].low_ns == (int64_t)(last_us - 1) * 1000)
			piece->range[i].high_ns = INT64_MAX;
	}
	column->min -= column->has_min && column->min > 0;
	column->max -= column->has_max && column->max > 0;
}

static int settle_oslat(struct pieces *pieces, struct wakeup *wakeup, struct tare_err *err)
{
	if (wakeup_settle(pieces, wakeup, err))
		return -1;
	pieces->import->round = 1;
	return import_note(pieces->import, IMPORT_QUANTITY, err,
		"oslat: how long a busy loop was held up; its figures are rounded up to whole µs (its 5 is 4 µs–5 µs), each here is the "
		"range; most of them are the loop itself; no network is in it");
}

static int take_oslat(struct pieces *pieces, struct wakeup *wakeup, const char *key, const json_t *thread,
	struct tare_err *err)
{
	char name[48];
	int64_t cpu = -1, value = 0;
	const char *bin;
	json_t *times;
	uint64_t last_us = 1;
	int bytes = document_integer(thread, "cpu", &cpu) ? snprintf(name, sizeof(name), "cpu-%" PRId64, cpu)
							  : snprintf(name, sizeof(name), "thread-%.20s", key);
	if (wakeup_column(pieces, wakeup, name, (size_t)bytes, err))
		return -1;
	struct wakeup_column *column = &wakeup->column[wakeup->count - 1];
	json_object_foreach((json_t *)(uintptr_t)document_at(thread, "histogram"), bin, times)
	{
		uint64_t us = 0;
		if (!number_count(bin, strlen(bin), &us) || us < 1 || us > INT64_MAX / 1000 || !json_is_integer(times) ||
			json_integer_value(times) < 0)
			return tare_fail(err, TARE_E_FORMAT, "'%s': thread %.20s: a bin %s that is no whole number of µs with a count",
				pieces->import->name, key, quote(bin, strlen(bin)).text);
		if (put_oslat(wakeup, wakeup->count - 1, us, (uint64_t)json_integer_value(times), err))
			return -1;
		last_us = us > last_us ? us : last_us;
	}
	column->has_min = document_integer(thread, "min", &value) && value >= 1 && value < INT64_MAX / 1000 - 1;
	column->min = column->has_min ? (uint64_t)value : 0;
	column->has_max = document_integer(thread, "max", &value) && value >= 1 && value < INT64_MAX / 1000 - 1;
	column->max = column->has_max ? (uint64_t)value : 0;
	bound_oslat(column, last_us);
	return 0;
}

static int read_oslat(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	struct wakeup state = {.tool = "oslat", .unit_ns = 1000, .step = 1};
	AUTO_CLEANUP(wakeup_end) struct wakeup *wakeup = &state;
	const char *key;
	json_t *thread;
	if (!root)
		return -1;
	json_object_foreach((json_t *)(uintptr_t)document_at(root, "thread"), key, thread)
	{
		if (take_oslat(pieces, wakeup, key, thread, err))
			return -1;
	}
	return wakeup->count ? settle_oslat(pieces, wakeup, err) : 0;
}

const struct import_format oslat_format = {.name = "oslat",
	.knows = knows_oslat,
	.read = read_oslat,
	.tool = "oslat",
	.help = "oslat's JSON (--json)"};

/* ---- oslat's text ---- */

static bool is_oslat_text(const char *text)
{
	text += strspn(text, " \t");
	return text_begins(text, "Counter Freq:") && strstr(text, "(Mhz)");
}

static bool knows_oslat_text(struct lines *head)
{
	return head_has(head, 60, is_oslat_text);
}

/* "    032 (us):	 151 138 (including overflows)" */
static int take_text_bin(struct pieces *pieces, struct wakeup *wakeup, const struct line *line, const char *text,
	uint64_t *last_us, struct tare_err *err)
{
	uint64_t us = 0, count = 0;
	size_t bytes = strspn(text, "0123456789");
	if (piece_cut(pieces, line))
		return 0;
	if (!number_count(text, bytes, &us) || us < 1 || us > INT64_MAX / 1000 - 1)
		return piece_damaged(pieces, line, "not a bin of whole µs", err);
	const char *at = strchr(text, ':') + 1;
	for (size_t i = 0; i < wakeup->count; i++) {
		at += strspn(at, " \t");
		bytes = strcspn(at, " \t");
		if (!number_count(at, bytes, &count))
			return piece_damaged(pieces, line, "not a count for every CPU", err);
		if (put_oslat(wakeup, i, us, count, err))
			return -1;
		at += bytes;
	}
	*last_us = us > *last_us ? us : *last_us;
	return 0;
}

static int take_cores(struct pieces *pieces, struct wakeup *wakeup, const char *text, struct tare_err *err)
{
	for (size_t bytes; text += strspn(text, " \t"), *text; text += bytes) {
		char name[32];
		bytes = strcspn(text, " \t");
		int length = snprintf(name, sizeof(name), "cpu-%.*s", (int)(bytes < 20 ? bytes : 20), text);
		if (wakeup_column(pieces, wakeup, name, (size_t)length, err))
			return -1;
	}
	return 0;
}

static int take_text_line(struct pieces *pieces, struct wakeup *wakeup, const struct line *line, uint64_t *last_us,
	struct tare_err *err)
{
	const char *text = line->text + strspn(line->text, " \t");
	if (!wakeup->count && text_begins(text, "Core:"))
		return take_cores(pieces, wakeup, text + 5, err);
	if (!wakeup->count)
		return 0;
	if (text[0] >= '0' && text[0] <= '9' && strstr(text, "(us):"))
		return take_text_bin(pieces, wakeup, line, text, last_us, err);
	if (text_begins(text, "Minimum:"))
		wakeup_figures(wakeup, WAKEUP_MIN, text + 8);
	if (text_begins(text, "Maximum:"))
		wakeup_figures(wakeup, WAKEUP_MAX, text + 8);
	return 0;
}

static int read_oslat_text(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct wakeup state = {.tool = "oslat", .unit_ns = 1000, .step = 1};
	AUTO_CLEANUP(wakeup_end) struct wakeup *wakeup = &state;
	struct line line;
	uint64_t last_us = 1;
	int got;
	if (lines_allow(import->lines, WAKEUP_LINE_BYTES, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (take_text_line(pieces, wakeup, &line, &last_us, err))
			return -1;
	}
	for (size_t i = 0; i < wakeup->count; i++)
		bound_oslat(&wakeup->column[i], last_us);
	if (got < 0)
		return -1;
	return wakeup->count ? settle_oslat(pieces, wakeup, err) : 0;
}

const struct import_format oslat_text_format = {.name = "oslat-text",
	.knows = knows_oslat_text,
	.read = read_oslat_text,
	.tool = "oslat",
	.help = "oslat's table"};

/* ---- sysjitter --raw ---- */

static bool is_sysjitter(const char *text)
{
	return text_begins(text, "# n_interruptions:") || (text_begins(text, "#") && strstr(text, "<== interruption =>"));
}

static bool knows_sysjitter(struct lines *head)
{
	return head_has(head, 20, is_sysjitter);
}

/* When, [time since the one before,] cycles, ns; sorted by size there is no second column. */
static int take_interruption(struct pieces *pieces, struct piece *piece, struct line *line, struct tare_err *err)
{
	struct field_text field[6];
	if (piece_cut(pieces, line))
		return 0;
	size_t count = fields_of(line->text, ' ', field, 6);
	if (count != 3 && count != 4)
		return piece_damaged(pieces, line, "not the three or four columns of an interruption", err);
	struct number at = number_read(field[0].at, field[0].bytes, UNIT_ONE_NS);
	struct number ns = number_read(field[count - 1].at, field[count - 1].bytes, UNIT_ONE_NS);
	if (at.why || ns.why || ns.ns < 0)
		return piece_damaged(pieces, line, at.why ? at.why : ns.why ? ns.why : "a negative time", err);
	return piece_value(piece, TARE_SPAN_WAKEUP, ns.ns, err) ||
			       piece_stage(piece, piece->count - 1, TARE_STAGE_USER_RX, at.ns, err)
		       ? -1
		       : 0;
}

static const struct tare_origin interruptions = {.quantity = TARE_QUANTITY_WAKEUP,
	.clock = TARE_CLOCK_CYCLES,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_MEASURED};

static int read_sysjitter(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	uint64_t told = 0;
	bool tells = false;
	int got;
	struct piece *piece = piece_add(pieces, "sysjitter", "sysjitter", "", &interruptions, err);
	if (!piece)
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		static const char number[] = "# n_interruptions:";
		if (text_begins(line.text, number))
			tells = number_count(line.text + sizeof(number) - 1, strlen(line.text + sizeof(number) - 1), &told);
		if (line.text[0] != '#' && line.bytes && take_interruption(pieces, piece, &line, err))
			return -1;
	}
	if (got < 0)
		return -1;
	if (tells && told != piece->count &&
		import_note(import, IMPORT_MISMATCH, err, "its head counts %" PRIu64 " interruptions, the lines %zu", told,
			piece->count))
		return -1;
	return import_note(import, IMPORT_QUANTITY, err,
		"wakeup is each interruption that sysjitter saw; time without interruptions leaves no line, so percentiles are "
		"over interruptions, not over time; sysjitter's own take the rank int(p x n) + 1, one above the nearest where "
		"p x n is whole");
}

const struct import_format sysjitter_format = {.name = "sysjitter",
	.knows = knows_sysjitter,
	.read = read_sysjitter,
	.tool = "sysjitter",
	.help = "a raw file of sysjitter (--raw)"};

/* ---- sysjitter's table: a line a figure, a column a core ---- */

static bool is_sysjitter_table(const char *text)
{
	return text_begins(text, "int_n_per_sec:") || text_begins(text, "int_median(ns):");
}

static bool knows_sysjitter_table(struct lines *head)
{
	return head_has(head, 60, is_sysjitter_table);
}

/* Adds " KEY VALUE" to the text of every core. */
static void take_figures(char (*texts)[256], size_t cores, const char *line)
{
	size_t key = strcspn(line, ":");
	const char *at = line + key + (line[key] == ':');
	for (size_t i = 0; i < cores; i++) {
		struct text text = {.bytes = texts[i], .used = strlen(texts[i]), .room = sizeof(texts[i])};
		at += strspn(at, " \t");
		size_t bytes = strcspn(at, " \t");
		char figure[64];
		snprintf(figure, sizeof(figure), "%.*s %.*s", (int)(key < 30 ? key : 30), line, (int)(bytes < 30 ? bytes : 30), at);
		text_add(&text, ", ");
		text_add_figures(&text, figure);
		at += bytes;
	}
}

static int read_sysjitter_table(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_FREE char(*texts)[256] = calloc(WAKEUP_COLUMNS, sizeof(*texts));
	struct tare_origin origin = interruptions;
	struct line line;
	size_t cores = 0;
	int got;
	origin.shape = TARE_SHAPE_SUMMARY;
	if (!texts)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		char url[40];
		const char *at = line.text + 7;
		for (size_t bytes; !pieces->count && text_begins(line.text, "core_i:") && cores < WAKEUP_COLUMNS; cores++) {
			at += strspn(at, " \t");
			bytes = strcspn(at, " \t");
			if (!bytes)
				break;
			snprintf(url, sizeof(url), "%.*s", (int)(bytes < 20 ? bytes : 20), at);
			snprintf(texts[cores], sizeof(texts[cores]), "core %s", url);
			at += bytes;
		}
		if (text_begins(line.text, "int_"))
			take_figures(texts, cores, line.text);
	}
	for (size_t i = 0; i < cores && got == 0; i++) {
		char url[40];
		snprintf(url, sizeof(url), "sysjitter:core-%.*s", (int)strcspn(texts[i] + 5, ","), texts[i] + 5);
		if (!piece_add(pieces, url, "sysjitter", "", &origin, err) ||
			import_note(import, IMPORT_PRINTED, err,
				"summary only (its --raw files have the interruptions), no percentile is taken from it: %s",
				texts[i]))
			return -1;
	}
	return got;
}

const struct import_format sysjitter_table_format = {.name = "sysjitter-table",
	.knows = knows_sysjitter_table,
	.read = read_sysjitter_table,
	.tool = "sysjitter",
	.help = "sysjitter's table (a summary)"};
