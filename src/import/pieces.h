/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the readers of most logs make: pieces, each one series with its target,
 * round and origin, its columns growing as they are first needed. Such a reader
 * is one function that reads everything at once; the records are handed out
 * afterwards, so memory follows the samples of the whole file (9 bytes and 8 for
 * every column of each).
 */
#pragma once
#include "base/text.h"
#include "import/import_private.h"
#include "import/number.h"

struct piece {
	struct tare_target *target;
	struct tare_round *round;
	struct tare_origin origin;
	struct tare_beside beside;
	int64_t resolution_ns;
	int64_t clock_bound_ns; /* how far the peer's clock may be from ours, by the user's word; 0: not known */
	size_t count, room;
	int64_t *at_ns[TARE_STAGE_COUNT], *given_ns[TARE_SPAN_COUNT];
	uint8_t *fate;
	uint16_t *flags, *reason;     /* always there */
	int16_t *cpu[TARE_CPU_PLACES]; /* made by piece_cpu */
	struct tare_range *range;
	size_t range_count, range_room;
	uint64_t lost; /* beside ranges */
};

struct pieces {
	struct import *import;
	struct piece **piece;
	size_t count, next;
	uint64_t reached; /* rows made by pieces_reach, beyond one a line */
	uint32_t targets; /* different ones: pieces of the same url share theirs */
	/* lines that could not be used */
	uint64_t noise, noise_line, damaged, damaged_line, cut;
	char first_noise[128], first_damage[256];
	struct tare_record record;
	struct tare_bins bins;
};

/*
 * A new piece, a round of its own, of the same target as earlier ones of that url; notes made until the next one belong to it.
 * Texts are copied. `origin` is taken over, its format being the reader's name.
 */
struct piece *piece_add(struct pieces *pieces, const char *url, const char *kind, const char *label,
	const struct tare_origin *origin, struct tare_err *err);
/* The piece with this url and label, made when there is none; the last one is looked at first. */
struct piece *piece_of(struct pieces *pieces, const char *url, const char *kind, const char *label,
	const struct tare_origin *origin, struct tare_err *err);

/* Takes the last piece back, which must be the only one of its target. */
void piece_drop(struct pieces *pieces);

/* A request more, ANSWERED and without any time; its index is count - 1. */
int piece_row(struct piece *piece, struct tare_err *err) TARE_MUST_USE;
/*
 * Requests up to and with `row`, lost ones where there were none. False, and nothing done, where that would take more than a
 * file of so many lines (or entries) has any right to, all its pieces together: a number alone must not cost memory.
 */
bool pieces_allow(const struct pieces *pieces, const struct piece *piece, uint64_t row, uint64_t lines);
int pieces_reach(struct pieces *pieces, struct piece *piece, uint64_t row, struct tare_err *err) TARE_MUST_USE;
/* At request i < count. */
int piece_stage(struct piece *piece, size_t i, enum tare_stage stage, int64_t ns, struct tare_err *err) TARE_MUST_USE;
int piece_span(struct piece *piece, size_t i, enum tare_span span, int64_t ns, struct tare_err *err) TARE_MUST_USE;
int piece_cpu(struct piece *piece, size_t i, enum tare_cpu_place place, int16_t cpu, struct tare_err *err) TARE_MUST_USE;
/* A request more with nothing but this value. */
int piece_value(struct piece *piece, enum tare_span span, int64_t ns, struct tare_err *err) TARE_MUST_USE;
/* `count` values from low to high, both inclusive; nothing where count is 0. */
int piece_range(struct piece *piece, int64_t low_ns, int64_t high_ns, uint64_t count,
	struct tare_err *err) TARE_MUST_USE;

/* The range that holds the value of this rank (from 1), lowest first; NULL beyond the last. Sorts the ranges. */
const struct tare_range *piece_ranked(struct piece *piece, uint64_t rank);
/* How many values the ranges hold. */
uint64_t piece_total(const struct piece *piece);

/*
 * A line of a known shape with an impossible content: fails with "'x':LINE: WHY:
 * 'text'", or leniently is counted and passed over; cut off at the end of the
 * file it is only counted.
 */
int piece_damaged(struct pieces *pieces, const struct line *line, const char *why, struct tare_err *err) TARE_MUST_USE;
/*
 * A row that the file ends inside of: the last number may lack digits, so it is counted as cut off and passed over.
 * For formats whose tool ends every line.
 */
bool piece_cut(struct pieces *pieces, const struct line *line);
void piece_noise(struct pieces *pieces, const struct line *line);

/* ---- fields of a line ---- */

struct field_text {
	const char *at;
	size_t bytes;
};
/*
 * Splits at `separator` (' ': at runs of blanks and tabs), blanks around a field
 * dropped, RFC 4180 quotes taken off in place. Returns the number of fields, at
 * most `room`.
 */
size_t fields_of(char *text, char separator, struct field_text *ret_fields, size_t room);
bool field_is(struct field_text field, const char *text);
/* "…" begins with, ends with. */
bool text_begins(const char *text, const char *with);
/* A line of a tool's own figures for a note: runs of blanks become one, anything but printable ASCII '?'. */
void text_add_figures(struct text *text, const char *foreign);

/* Made of a reader's `read` by import.c. */
int pieces_open(struct import *import, void **ret_reader, struct tare_err *err);
int pieces_next(struct import *import, void *reader, const struct tare_record **ret_record, struct tare_err *err);
void pieces_free(void *reader);
