/* SPDX-License-Identifier: GPL-3.0-or-later */
/* eflatency: its table and its YAML, both summaries. Its raw files are plain numbers: --format numbers --unit ns. */
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

static bool knows_table(struct lines *head)
{
	return head_has(head, 100, is_head);
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
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		bool row = in_table && line.text[0] >= '0' && line.text[0] <= '9';
		if (row && add(pieces, line.text, (int)strcspn(line.text, "\t "), &line, err))
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
