/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HdrHistogram's interval logs (.hlog) of any version, with tags: an interval is
 * a round, a tag a target. The unit is nowhere in the file; by custom values are
 * ns and the printed maximum ms, and where the two do not fit, that is said.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "import/formats.h"
#include "lib/hdr.h"

/* The year 2065: sums of three of them fit. */
static const int64_t latest_ns = INT64_C(3000000000) * 1000000000;

struct log {
	enum tare_quantity quantity;
	bool unit_told;
	int64_t base_ns; /* BaseTime: what start times count from; 0: none */
	uint64_t intervals, total, misfits;
	int unit;
};

static bool is_ours(const char *text)
{
	return text_begins(text, "#[Histogram log format version") || text_begins(text, "\"StartTimestamp\"");
}

static bool knows(struct lines *head)
{
	return head_has(head, 40, is_ours);
}

static void take_comment(struct log *log, struct import *import, const char *text)
{
	static const char *const keys[] = {"#[StartTime: ", "#[BaseTime: "};
	for (size_t i = 0; i < 2; i++) {
		if (!text_begins(text, keys[i]))
			continue;
		const char *at = text + strlen(keys[i]);
		struct number number = number_read(at, strcspn(at, " ]"), UNIT_S);
		if (number.why || number.ns < 0 || number.ns > latest_ns)
			continue;
		if (i == 0 || !import->run.epoch_real_ns)
			import->run.epoch_real_ns = number.ns;
		log->base_ns = i == 1 ? number.ns : log->base_ns;
	}
	const char *ours = text_begins(text, "# unit: ") ? text + 8 : NULL;
	if (ours && !import->rules.unit)
		log->unit_told |= number_unit(ours, strlen(ours), &log->unit);
	static const char quantity[] = "# quantity: ";
	if (text_begins(text, quantity))
		tare_quantity_by_name(text + sizeof(quantity) - 1, &log->quantity);
}

static int64_t scaled(int64_t value, int unit)
{
	for (; unit > 0; unit--) {
		if (__builtin_mul_overflow(value, 10, &value))
			return INT64_MAX;
	}
	return value;
}

/* Values times 10^unit; a bin of 1 ms is 1000000 ns wide. */
static int add_ranges(struct piece *piece, const struct hdr *hdr, int unit, struct tare_err *err)
{
	for (size_t i = 0; i < hdr->count; i++) {
		const struct tare_range *range = &hdr->range[i];
		int64_t low = scaled(range->low_ns, unit);
		int64_t next = range->high_ns == INT64_MAX ? INT64_MAX : scaled(range->high_ns + 1, unit);
		int64_t high = unit == 0 ? range->high_ns : next == INT64_MAX ? INT64_MAX : next - 1;
		if (piece_range(piece, low, high, range->count, err))
			return -1;
	}
	return 0;
}

/*
 * When an interval began, counted from the log's StartTime. With a BaseTime all times count from that; without one they
 * count from 1970, or where they lie a year and more before StartTime, from StartTime.
 */
static int64_t since_epoch(const struct log *log, int64_t *epoch_ns, int64_t start_ns)
{
	const int64_t year_ns = INT64_C(1000000000) * 365 * 86400;
	if (log->base_ns)
		return start_ns + log->base_ns - *epoch_ns;
	if (!*epoch_ns && start_ns > year_ns)
		*epoch_ns = start_ns;
	return start_ns < *epoch_ns - year_ns || start_ns < year_ns ? start_ns : start_ns - *epoch_ns;
}

static int take_interval(
	struct log *log, struct pieces *pieces, const struct line *line, char *text, struct tare_err *err)
{
	struct field_text field[5];
	char url[96];
	struct text name = TEXT_IN(url);
	text_add(&name, "hlog");
	if (text_begins(text, "Tag=")) {
		size_t bytes = strcspn(text, ",");
		text_add(&name, ":tag=%.*s", (int)bytes - 4, text + 4);
		text += bytes + (text[bytes] == ',');
	}
	if (fields_of(text, ',', field, 5) != 4)
		return piece_damaged(pieces, line, "not start, length, maximum and histogram", err);
	struct number start = number_read(field[0].at, field[0].bytes, UNIT_S);
	struct number length = number_read(field[1].at, field[1].bytes, UNIT_S);
	struct number max = number_read(field[2].at, field[2].bytes, UNIT_MS);
	if (start.why || length.why)
		return piece_damaged(pieces, line, start.why ? start.why : length.why, err);
	if (start.ns < 0 || length.ns < 0 || start.ns > latest_ns || length.ns > latest_ns)
		return piece_damaged(pieces, line, "a time out of range", err);
	AUTO_FREE uint8_t *bytes = malloc(BASE64_DECODED(field[3].bytes));
	size_t count = 0;
	if (!bytes)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (!base64_decode(field[3].at, field[3].bytes, bytes, &count))
		return piece_damaged(pieces, line, "a histogram that is no base64", err);
	struct hdr hdr;
	const char *why = hdr_decode(bytes, count, &hdr);
	AUTO_FREE struct tare_range *range = hdr.range;
	(void)range;
	if (why)
		return piece_damaged(pieces, line, why, err);
	const struct tare_origin origin = {.quantity = log->quantity,
		.clock = TARE_CLOCK_UNKNOWN,
		.pacing = TARE_PACING_UNKNOWN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_BINS,
		.left_out = TARE_LEFT_OUT_UNKNOWN};
	struct piece *piece = piece_add(pieces, url, "hdr", "", &origin, err);
	if (!piece)
		return -1;
	piece->round->first_due_ns = since_epoch(log, &pieces->import->run.epoch_real_ns, start.ns);
	piece->round->ended_ns = piece->round->first_due_ns + length.ns;
	log->intervals++;
	log->total += hdr.total;
	int64_t largest = hdr.count ? scaled(hdr.range[hdr.count - 1].high_ns, log->unit) : 0;
	if (!max.why && hdr.count && (largest / 100 > max.ns || max.ns / 100 > largest))
		log->misfits++;
	return add_ranges(piece, &hdr, log->unit, err);
}

static int read_log(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct log log = {.unit = UNIT_ONE_NS, .quantity = TARE_QUANTITY_OTHER};
	struct line line;
	int got;
	if (import->rules.unit && unit_of(import, &log.unit, err))
		return -1;
	if (log.unit < 0)
		return tare_fail(err, TARE_E_USAGE, "a histogram of whole ps cannot be read as ns");
	if (lines_allow(import->lines, LINES_LONGEST, err))
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (line.overlong) {
			piece_noise(pieces, &line);
			continue;
		}
		if (line.text[0] == '#')
			take_comment(&log, import, line.text);
		else if (line.bytes && line.text[0] != '"' && take_interval(&log, pieces, &line, line.text, err))
			return -1;
	}
	if (got < 0 || !pieces->count)
		return got < 0 ? -1 : 0;
	import->round = 1;
	if (import_note(import, IMPORT_HEAD, err, "HdrHistogram log: %" PRIu64 " intervals, %" PRIu64 " values", log.intervals,
		    log.total) ||
		import_note(import, IMPORT_QUANTITY, err, "%s%s; a figure is the range of its bucket, whose upper end is what "
			"HdrHistogram prints",
			log.quantity == TARE_QUANTITY_OTHER ? "value is whatever was put into the histogram"
							    : tare_quantity_name(log.quantity),
			log.unit_told              ? ""
			: import->rules.unit       ? "; the file does not say its unit: taken as --unit says"
						   : "; the file does not say its unit: taken as ns, as is the custom"))
		return -1;
	if (log.misfits)
		return import_note(import, IMPORT_MISMATCH, err,
			"in %" PRIu64 " intervals the printed maximum, by custom in ms, does not fit the values: the unit may be "
			"another",
			log.misfits);
	return 0;
}

const struct import_format hlog_format = {.name = "hlog",
	.knows = knows,
	.read = read_log,
	.tool = "HdrHistogram",
	.help = "HdrHistogram's interval log (.hlog)"};
