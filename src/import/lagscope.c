/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lagscope's JSON: how often each whole number of microseconds occurred. */
#include "base/cleanup.h"
#include "import/document.h"
#include "import/formats.h"

static bool knows(struct lines *head)
{
	static const char *const keys[] = {"latencies", "latency", "frequency", NULL};
	return document_knows(head, keys);
}

static int read_json(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	static const struct tare_origin origin = {.quantity = TARE_QUANTITY_RTT,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_CLOSED,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_BINS,
		.left_out = TARE_LEFT_OUT_LOST};
	AUTO_CLEANUP(document_end) json_t *root = document_read(import, err);
	if (!root)
		return -1;
	struct piece *piece = piece_add(pieces, "lagscope:", "tcp", "", &origin, err);
	const json_t *entry;
	size_t i;
	if (!piece)
		return -1;
	json_array_foreach(document_at(root, "latencies"), i, entry)
	{
		int64_t us = 0, count = 0;
		if (!document_integer(entry, "latency", &us) || !document_integer(entry, "frequency", &count) || us < 0 ||
			us > INT64_MAX / 1000 - 1 || count < 0)
			return tare_fail(err, TARE_E_FORMAT, "'%s': entry %zu has no latency and frequency", import->name,
				i + 1);
		if (piece_range(piece, us * 1000, us * 1000 + 999, (uint64_t)count, err))
			return -1;
	}
	return import_note(import, IMPORT_QUANTITY, err, "rtt is lagscope's, cut to whole µs: each figure is a range of 1 µs");
}

const struct import_format lagscope_json_format = {.name = "lagscope-json",
	.knows = knows,
	.read = read_json,
	.tool = "lagscope",
	.help = "lagscope's JSON (a frequency table)"};
