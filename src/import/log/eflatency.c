/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * eflatency: its table and its YAML, both summaries, and the single mean that it printed before it had a table (2020). Its
 * raw files (-o) are raw_ns.c's.
 */
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

static const struct tare_origin summary = {.quantity = TARE_QUANTITY_RTT,
	.clock = TARE_CLOCK_CYCLES,
	.pacing = TARE_PACING_CLOSED,
	.lateness = TARE_LATENESS_UNKNOWN,
	.shape = TARE_SHAPE_SUMMARY,
	.left_out = TARE_LEFT_OUT_WARMUP};

static bool is_head(const char *text)
{
	return text_begins(text, "paylen\tmean\tmin\t50%\t95%\t99%\tmax");
}

static bool is_yaml(const char *text)
{
	return strstr(text, "payload_len:") && strstr(text, "runtime_mean:");
}

static bool is_mean(const char *text)
{
	return text_begins(text, "mean round-trip time: ");
}

static bool is_head_or_mean(const char *text)
{
	return is_head(text) || is_mean(text);
}

static bool knows_table(struct lines *head)
{
	return head_has(head, 100, is_head_or_mean);
}

/* Seven columns of numbers. */
static bool is_row(const struct line *line)
{
	char copy[LINES_MAX_BYTES + 1];
	struct field_text field[8];
	memcpy(copy, line->text, line->bytes + 1);
	size_t count = fields_of(copy, ' ', field, 8);
	for (size_t i = 0; i < count; i++) {
		if (number_read(field[i].at, field[i].bytes, UNIT_US).why)
			return false;
	}
	return count == 7;
}

static bool knows_yaml(struct lines *head)
{
	return head_has(head, 100, is_yaml);
}

static int add(struct pieces *pieces, const char *size, int bytes, const struct line *line, struct tare_err *err)
{
	char url[64];
	struct text text = TEXT_IN(url);
	text_add(&text, "eflatency:size=%.*s", bytes, size);
	if (!piece_add(pieces, url, "ef_vi", "", &summary, err))
		return -1;
	return import_note(pieces->import, IMPORT_PRINTED, err,
		"summary only, no percentile is taken from it: %s; its ranks are n/2, n - n/20, n - n/100 from 0, one above the "
		"nearest rank",
		quote(line->text, line->bytes).text);
}

static int read_table(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	bool in_table = false;
	char size[16] = "?";
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool row = in_table && !line.overlong && line.text[0] >= '0' && line.text[0] <= '9';
		if (row && (is_row(&line) ? add(pieces, line.text, (int)strcspn(line.text, "\t "), &line, err)
					  : piece_damaged(pieces, &line, "not seven columns of numbers", err)))
			return -1;
		if (text_begins(line.text, "# udp payload len: "))
			snprintf(size, sizeof(size), "%.*s", (int)strspn(line.text + 19, "0123456789"), line.text + 19);
		if (is_mean(line.text) && !in_table && add(pieces, size, (int)strlen(size), &line, err))
			return -1;
		in_table |= is_head(line.text);
	}
	return got < 0 ? -1 : 0;
}

static int read_yaml(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		const char *size = is_yaml(line.text) ? strstr(line.text, "payload_len:") + 12 : NULL;
		size = size ? size + strspn(size, " ") : NULL;
		if (size && add(pieces, size, (int)strcspn(size, ", }"), &line, err))
			return -1;
	}
	return got < 0 ? -1 : 0;
}

const struct import_format eflatency_format = {.name = "eflatency",
	.knows = knows_table,
	.read = read_table,
	.tool = "eflatency",
	.help = "eflatency's table (a summary)"};
const struct import_format eflatency_yaml_format = {.name = "eflatency-yaml",
	.knows = knows_yaml,
	.read = read_yaml,
	.tool = "eflatency",
	.help = "eflatency's YAML (-y, a summary)"};
