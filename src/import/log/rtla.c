/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rtla: the histograms of timerlat hist and osnoise hist, a column for every
 * source and CPU, in µs or with -n in ns, as the header says. How wide a bin is
 * (-b) is not said: rows without values are left out, so it is at most the
 * greatest common divisor of the rows that are there. And the tables of the two
 * top modes, which are summaries.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/formats.h"
#include "import/log/wakeup.h"

static const char *const sources[] = {"IRQ-", "Thr-", "Usr-", "CPU-"};

static bool has_source(const char *text)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (strstr(text, sources[i]))
			return true;
	}
	return false;
}

static bool is_head(const char *text)
{
	return text_begins(text, "Index") && strchr(" \t", text[5]) && has_source(text);
}

static bool is_rtla(const char *text)
{
	return text_begins(text, "# RTLA timerlat histogram") || text_begins(text, "# RTLA osnoise histogram") || is_head(text);
}

static bool knows(struct lines *head)
{
	return head_has(head, 60, is_rtla);
}

static int take_head(struct pieces *pieces, struct wakeup *wakeup, const char *text, struct tare_err *err)
{
	text += strcspn(text, " \t");
	for (size_t bytes; text += strspn(text, " \t"), *text; text += bytes) {
		bytes = strcspn(text, " \t");
		if (wakeup_column(pieces, wakeup, text, bytes, err))
			return -1;
	}
	return 0;
}

/* "min:  ", but not of the part "ALL:", which merges the columns. */
static int take_foot(struct pieces *pieces, struct wakeup *wakeup, const struct line *line, struct tare_err *err)
{
	if (text_begins(line->text, "over:"))
		return wakeup_beyond(pieces, wakeup, line, line->text + 5, err);
	if (text_begins(line->text, "min:"))
		wakeup_figures(wakeup, WAKEUP_MIN, line->text + 4);
	if (text_begins(line->text, "avg:"))
		wakeup_figures(wakeup, WAKEUP_AVERAGE, line->text + 4);
	if (text_begins(line->text, "max:"))
		wakeup_figures(wakeup, WAKEUP_MAX, line->text + 4);
	return 0;
}

static int read_columns(struct import *import, struct pieces *pieces, struct wakeup *wakeup, struct tare_err *err)
{
	struct line line;
	bool all = false;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		static const char unit[] = "# Time unit is ";
		if (text_begins(line.text, unit))
			wakeup->unit_ns = text_begins(line.text + sizeof(unit) - 1, "nanoseconds") ? 1 : 1000;
		all = all || text_begins(line.text, "ALL:");
		if (!wakeup->count && is_head(line.text) && take_head(pieces, wakeup, line.text, err))
			return -1;
		if (!wakeup->count && !is_head(line.text) && line.text[0] != '#' && has_source(line.text))
			return tare_fail(err, TARE_E_FORMAT,
				"'%s':%" PRIu64 ": no column Index: with --no-index nothing tells which bin a row is", import->name,
				line.number);
		if (!wakeup->count || all || !line.bytes)
			continue;
		if (line.text[0] >= '0' && line.text[0] <= '9') {
			if (wakeup_row(pieces, wakeup, &line, false, err))
				return -1;
		} else if (take_foot(pieces, wakeup, &line, err)) {
			return -1;
		}
	}
	return got < 0 ? -1 : 0;
}

static int read_histogram(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct wakeup state = {.tool = "rtla", .unit_ns = 1000};
	AUTO_CLEANUP(wakeup_end) struct wakeup *wakeup = &state;
	char width[24];
	if (lines_allow(import->lines, WAKEUP_LINE_BYTES, err) || read_columns(import, pieces, wakeup, err))
		return -1;
	if (!wakeup->count)
		return 0;
	if (wakeup_settle(pieces, wakeup, err))
		return -1;
	import->round = 1;
	format_duration((int64_t)wakeup->step * wakeup->unit_ns, width, sizeof(width));
	return import_note(import, IMPORT_QUANTITY, err,
		"rtla: how late a timer or thread ran, or what interrupted it; cut to whole %s in bins of %s%s; no network is in it",
		wakeup->unit_ns == 1 ? "ns" : "µs", wakeup->step > 1 ? "at most " : "", wakeup->step ? width : "unknown width");
}

const struct import_format rtla_format = {.name = "rtla",
	.knows = knows,
	.read = read_histogram,
	.tool = "rtla",
	.help = "rtla's histograms (timerlat hist, osnoise hist)"};

/* ---- timerlat top, osnoise top ---- */

static bool is_top(const char *text)
{
	text += strspn(text, " ");
	return (text_begins(text, "CPU COUNT") && strstr(text, "| ")) ||
	       (text_begins(text, "CPU Period") && strstr(text, "Max Noise"));
}

static bool knows_top(struct lines *head)
{
	return head_has(head, 60, is_top);
}

/* "  0 #2906   |  …": the last row of a CPU stands, earlier ones are what it had so far. */
struct top_row {
	char cpu[8], text[200];
};

static int take_top(struct top_row **rows, size_t *count, const struct line *line, struct tare_err *err)
{
	const char *at = line->text + strspn(line->text, " ");
	size_t bytes = strspn(at, "0123456789");
	const char *rest = at + bytes + strspn(at + bytes, " ");
	char cpu[8];
	size_t i = 0;
	if (!bytes || bytes >= sizeof(cpu) || *rest != '#')
		return 0;
	memcpy(cpu, at, bytes);
	cpu[bytes] = '\0';
	while (i < *count && strcmp((*rows)[i].cpu, cpu) != 0)
		i++;
	if (i == WAKEUP_COLUMNS)
		return 0;
	if (i == *count) {
		struct top_row *larger = reallocarray(*rows, *count + 1, sizeof(*larger));
		if (!larger)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory");
		*rows = larger;
		memcpy(larger[(*count)++].cpu, cpu, sizeof(cpu));
	}
	struct text text = TEXT_IN((*rows)[i].text);
	text_add_figures(&text, rest);
	return 0;
}

static int read_top(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_FREE struct top_row *rows = NULL;
	struct tare_origin origin = wakeup_bins;
	struct line line;
	size_t count = 0;
	int got;
	origin.shape = TARE_SHAPE_SUMMARY;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (take_top(&rows, &count, &line, err))
			return -1;
	}
	for (size_t i = 0; i < count && got == 0; i++) {
		char url[32];
		snprintf(url, sizeof(url), "rtla:cpu-%s", rows[i].cpu);
		if (!piece_add(pieces, url, "rtla", "", &origin, err) ||
			import_note(import, IMPORT_PRINTED, err,
				"summary only (rtla hist prints the histogram), no percentile is taken from it: %s",
				rows[i].text))
			return -1;
	}
	return got;
}

const struct import_format rtla_top_format = {.name = "rtla-top",
	.knows = knows_top,
	.read = read_top,
	.tool = "rtla",
	.help = "rtla's tables (timerlat top, osnoise top; a summary)"};
