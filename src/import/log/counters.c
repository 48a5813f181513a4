/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pairs of free-running counters, as small devices log them: a line a request, its first two fields the counters of
 * two hosts when it left one and reached the other. Nothing in such a file says how wide they are, and without that a
 * wrap looks like a jump: so the width is in the format's name, and the format is never guessed. What comes out is
 * the first less the second modulo that width; the counters' offset is in it, so it may be negative.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/formats.h"

enum { FIELDS = 16 };

static bool never(struct lines *head)
{
	(void)head;
	return false;
}

/* A counter as either side may print it, signed or not. */
static bool read_counter(struct field_text field, int bits, uint64_t *ret_counter)
{
	bool negative = field.bytes && *field.at == '-';
	uint64_t value, most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	if (!number_count(field.at + negative, field.bytes - negative, &value) || value > (negative ? most / 2 + 1 : most))
		return false;
	*ret_counter = (negative ? 0 - value : value) & most;
	return true;
}

/* one - other, as near as the width allows. */
static int64_t difference(uint64_t one, uint64_t other, int bits)
{
	unsigned unused = 64 - (unsigned)bits;
	return (int64_t)((one - other) << unused) >> unused;
}

static char separator_of(const char *text)
{
	return strchr(text, ',') ? ',' : strchr(text, ';') ? ';' : ' ';
}

static int take_line(struct pieces *pieces, struct piece *piece, struct line *line, int bits, int64_t unit_ns, struct tare_err *err)
{
	struct field_text field[FIELDS];
	uint64_t one, other;
	int64_t ns;
	size_t fields = fields_of(line->text, separator_of(line->text), field, FIELDS);
	if (fields == 0 || field[0].bytes == 0 || *field[0].at == '#')
		return 0;
	if (fields < 2 || !read_counter(field[0], bits, &one) || !read_counter(field[1], bits, &other))
		return piece_damaged(pieces, line, "not two counters of that width in the first two fields", err);
	if (__builtin_mul_overflow(difference(one, other, bits), unit_ns, &ns) || ns == TARE_NO_TIME)
		return piece_damaged(pieces, line, "a difference too large for a time", err);
	return piece_value(piece, TARE_SPAN_ONE_WAY, ns, err);
}

static int read_counters(struct import *import, struct pieces *pieces, int bits, struct tare_err *err)
{
	const struct tare_origin origin = {.quantity = TARE_QUANTITY_ONE_WAY,
		.clock = TARE_CLOCK_MIXED,
		.pacing = TARE_PACING_UNKNOWN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.left_out = TARE_LEFT_OUT_UNKNOWN};
	struct line line;
	int unit, found;
	int64_t unit_ns = 1;
	if (unit_of(import, &unit, err))
		return -1;
	if (unit < UNIT_ONE_NS)
		return tare_fail(err, TARE_E_USAGE, "'%s': a counter's step below 1 ns cannot be kept", import->name);
	for (int i = 0; i < unit; i++)
		unit_ns *= 10;
	struct piece *piece = piece_add(pieces, "counters", "counters", "", &origin, err);
	if (!piece)
		return -1;
	piece->resolution_ns = unit_ns;
	while ((found = lines_next(import->lines, &line, err)) > 0) {
		if (line.overlong)
			piece_noise(pieces, &line);
		else if (take_line(pieces, piece, &line, bits, unit_ns, err))
			return -1;
	}
	if (found < 0)
		return -1;
	if (piece->count == 0)
		return tare_fail(err, TARE_E_FORMAT, "'%s' holds no pair of counters", import->name);
	return import_note(import, IMPORT_QUANTITY, err,
		"one_way is the first counter less the second modulo 2^%d: what the counters are apart is in it, so that only "
		"its changes mean something",
		bits);
}

static int read_16(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	return read_counters(import, pieces, 16, err);
}

static int read_32(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	return read_counters(import, pieces, 32, err);
}

const struct import_format counters16_format = {
	.name = "counters16", .help = "two counters of 16 bits a line, in --unit (by name only)", .knows = never, .read = read_16,
	.tool = "counters"};
const struct import_format counters32_format = {
	.name = "counters32", .help = "two counters of 32 bits a line, in --unit (by name only)", .knows = never, .read = read_32,
	.tool = "counters"};
