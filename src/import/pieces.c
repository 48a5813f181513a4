/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing columns, and the records made of them. */
#include "import/pieces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static int no_memory(struct tare_err *err)
{
	return tare_fail_errno(err, ENOMEM, "cannot hold the samples");
}

struct piece *piece_add(struct pieces *pieces, const char *url, const char *kind, const char *label,
	const struct tare_origin *origin, struct tare_err *err)
{
	struct import *import = pieces->import;
	struct piece **list = reallocarray(pieces->piece, pieces->count + 1, sizeof(struct piece *));
	if (list)
		pieces->piece = list;
	struct piece *piece = list ? calloc(1, sizeof(*piece)) : NULL;
	if (!piece) {
		no_memory(err);
		return NULL;
	}
	for (size_t i = pieces->count; i-- && !piece->target;) {
		if (strcmp(pieces->piece[i]->target->url, url) == 0)
			piece->target = pieces->piece[i]->target;
	}
	bool known = piece->target != NULL;
	pieces->piece[pieces->count++] = piece;
	import->round = (uint32_t)pieces->count;
	if (!known) {
		piece->target = import_take(import, 1, sizeof(*piece->target), err);
		pieces->targets++;
	}
	piece->round = piece->target ? import_take(import, 1, sizeof(*piece->round), err) : NULL;
	char *url_text = piece->round ? import_text(import, url, err) : NULL;
	char *kind_text = url_text ? import_text(import, kind, err) : NULL;
	char *label_text = kind_text ? import_text(import, label ? label : "", err) : NULL;
	if (!label_text)
		return NULL;
	if (!known)
		*piece->target = (struct tare_target){.id = pieces->targets,
			.position = pieces->targets - 1,
			.url = url_text,
			.kind = kind_text,
			.address = ""};
	*piece->round = (struct tare_round){.id = import->round,
		.number = import->round,
		.label = label_text,
		.axis_error_ns = TARE_NO_TIME,
		.interval_ns = import->rules.every_ns,
		.status = "finished"};
	piece->origin = *origin;
	piece->origin.format = import->format->name;
	piece->resolution_ns = 1;
	return piece;
}

struct piece *piece_of(struct pieces *pieces, const char *url, const char *kind, const char *label,
	const struct tare_origin *origin, struct tare_err *err)
{
	for (size_t i = pieces->count; i--;) {
		struct piece *piece = pieces->piece[i];
		if (strcmp(piece->target->url, url) == 0 && strcmp(piece->round->label, label ? label : "") == 0) {
			pieces->import->round = piece->round->number;
			return piece;
		}
	}
	return piece_add(pieces, url, kind, label, origin, err);
}

static bool grow_column(int64_t **column, size_t room)
{
	if (!*column)
		return true;
	int64_t *larger = reallocarray(*column, room, sizeof(**column));
	if (larger)
		*column = larger;
	return larger != NULL;
}

static bool grow(struct piece *piece)
{
	size_t room = piece->room ? 2 * piece->room : 256;
	uint8_t *fate = realloc(piece->fate, room);
	if (fate)
		piece->fate = fate;
	uint16_t *flags = reallocarray(piece->flags, room, sizeof(*flags));
	if (flags)
		piece->flags = flags;
	uint16_t *reason = reallocarray(piece->reason, room, sizeof(*reason));
	if (reason)
		piece->reason = reason;
	bool grown = fate && flags && reason;
	for (int i = 0; i < TARE_CPU_PLACES && grown; i++) {
		int16_t *cpu = piece->cpu[i] ? reallocarray(piece->cpu[i], room, sizeof(*cpu)) : NULL;
		grown = !piece->cpu[i] || cpu;
		piece->cpu[i] = cpu ? cpu : piece->cpu[i];
	}
	for (int i = 0; i < TARE_STAGE_COUNT && grown; i++)
		grown = grow_column(&piece->at_ns[i], room);
	for (int i = 0; i < TARE_SPAN_COUNT && grown; i++)
		grown = grow_column(&piece->given_ns[i], room);
	if (grown)
		piece->room = room;
	return grown;
}

int piece_row(struct piece *piece, struct tare_err *err)
{
	if (piece->count == piece->room && !grow(piece))
		return no_memory(err);
	size_t i = piece->count++;
	piece->fate[i] = TARE_ANSWERED;
	piece->flags[i] = piece->reason[i] = 0;
	for (int place = 0; place < TARE_CPU_PLACES; place++) {
		if (piece->cpu[place])
			piece->cpu[place][i] = TARE_NO_CPU;
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		if (piece->at_ns[stage])
			piece->at_ns[stage][i] = TARE_NO_TIME;
	}
	for (int span = 0; span < TARE_SPAN_COUNT; span++) {
		if (piece->given_ns[span])
			piece->given_ns[span][i] = TARE_NO_TIME;
	}
	return 0;
}

bool pieces_allow(const struct pieces *pieces, const struct piece *piece, uint64_t row, uint64_t lines)
{
	const uint64_t most = (UINT64_C(1) << 20) + 16 * lines;
	uint64_t more = row >= piece->count ? row - piece->count : 0;
	return row < INT64_MAX && more <= most && pieces->reached + more <= most;
}

int pieces_reach(struct pieces *pieces, struct piece *piece, uint64_t row, struct tare_err *err)
{
	pieces->reached += row > piece->count ? row - piece->count : 0;
	while (piece->count <= row) {
		if (piece_row(piece, err))
			return -1;
		piece->fate[piece->count - 1] = TARE_LOST;
	}
	return 0;
}

static int put(struct piece *piece, int64_t **column, size_t i, int64_t ns, struct tare_err *err)
{
	if (!*column) {
		*column = reallocarray(NULL, piece->room, sizeof(**column));
		if (!*column)
			return no_memory(err);
		for (size_t j = 0; j < piece->count; j++)
			(*column)[j] = TARE_NO_TIME;
	}
	(*column)[i] = ns;
	return 0;
}

int piece_stage(struct piece *piece, size_t i, enum tare_stage stage, int64_t ns, struct tare_err *err)
{
	return put(piece, &piece->at_ns[stage], i, ns, err);
}

int piece_span(struct piece *piece, size_t i, enum tare_span span, int64_t ns, struct tare_err *err)
{
	return put(piece, &piece->given_ns[span], i, ns, err);
}

int piece_cpu(struct piece *piece, size_t i, enum tare_cpu_place place, int16_t cpu, struct tare_err *err)
{
	if (!piece->cpu[place]) {
		piece->cpu[place] = reallocarray(NULL, piece->room, sizeof(*piece->cpu[place]));
		if (!piece->cpu[place])
			return no_memory(err);
		for (size_t j = 0; j < piece->count; j++)
			piece->cpu[place][j] = TARE_NO_CPU;
	}
	piece->cpu[place][i] = cpu;
	return 0;
}

int piece_value(struct piece *piece, enum tare_span span, int64_t ns, struct tare_err *err)
{
	return piece_row(piece, err) ? -1 : piece_span(piece, piece->count - 1, span, ns, err);
}

int piece_range(struct piece *piece, int64_t low_ns, int64_t high_ns, uint64_t count, struct tare_err *err)
{
	if (!count)
		return 0;
	if (low_ns > high_ns || low_ns == TARE_NO_TIME)
		return tare_fail(err, TARE_E_FORMAT, "a bin from %" PRId64 " to %" PRId64 " ns", low_ns, high_ns);
	if (piece->range_count == piece->range_room) {
		size_t room = piece->range_room ? 2 * piece->range_room : 64;
		struct tare_range *range = reallocarray(piece->range, room, sizeof(*range));
		if (!range)
			return no_memory(err);
		piece->range = range;
		piece->range_room = room;
	}
	piece->range[piece->range_count++] = (struct tare_range){low_ns, high_ns, count};
	return 0;
}

static int by_low(const void *a, const void *b)
{
	const struct tare_range *left = a, *right = b;
	return (left->low_ns > right->low_ns) - (left->low_ns < right->low_ns);
}

const struct tare_range *piece_ranked(struct piece *piece, uint64_t rank)
{
	if (piece->range_count > 1)
		qsort(piece->range, piece->range_count, sizeof(*piece->range), by_low);
	for (size_t i = 0; i < piece->range_count; i++) {
		if (rank <= piece->range[i].count)
			return &piece->range[i];
		rank -= piece->range[i].count;
	}
	return NULL;
}

uint64_t piece_total(const struct piece *piece)
{
	uint64_t total = 0;
	for (size_t i = 0; i < piece->range_count; i++) {
		if (__builtin_add_overflow(total, piece->range[i].count, &total))
			return UINT64_MAX;
	}
	return total;
}

int piece_damaged(struct pieces *pieces, const struct line *line, const char *why, struct tare_err *err)
{
	struct import *import = pieces->import;
	if (line->unterminated) {
		pieces->cut++;
		return 0;
	}
	if (!import->rules.lenient)
		return tare_fail(err, TARE_E_FORMAT, "'%s':%" PRIu64 ": %s: %s", import->name, line->number, why,
			quote(line->text, line->bytes).text);
	if (!pieces->damaged++) {
		struct text text = TEXT_IN(pieces->first_damage);
		pieces->damaged_line = line->number;
		text_add(&text, "%s: %s", why, quote(line->text, line->bytes).text);
	}
	return 0;
}

bool piece_cut(struct pieces *pieces, const struct line *line)
{
	pieces->cut += line->unterminated;
	return line->unterminated;
}

void piece_noise(struct pieces *pieces, const struct line *line)
{
	if (!pieces->noise++) {
		struct text text = TEXT_IN(pieces->first_noise);
		pieces->noise_line = line->number;
		text_add(&text, "%s",
			line->overlong ? "too long" : quote(line->text, line->bytes).text);
	}
}

/* Takes the quotes off a quoted field, "" becoming one; returns what is behind its end. */
static char *unquote(char *at, struct field_text *ret_field)
{
	char *to = at;
	ret_field->at = at;
	for (char *from = at + 1;; from++) {
		if (*from == '"' && from[1] == '"')
			from++;
		else if (*from == '"' || !*from) {
			ret_field->bytes = (size_t)(to - at);
			return *from ? from + 1 : from;
		}
		*to++ = *from;
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

size_t fields_of(char *text, char separator, struct field_text *ret_fields, size_t room)
{
	size_t count = 0;
	char *at = text;
	while (count < room) {
		while (is_blank(*at) && *at != separator)
			at++;
		while (separator == ' ' && is_blank(*at))
			at++;
		if (separator == ' ' && !*at)
			return count;
		struct field_text *field = &ret_fields[count++];
		if (*at == '"' && separator != ' ') {
			at = unquote(at, field);
		} else {
			field->at = at;
			while (*at && *at != separator && !(separator == ' ' && *at == '\t'))
				at++;
			field->bytes = (size_t)(at - field->at);
			while (field->bytes && is_blank(field->at[field->bytes - 1]))
				field->bytes--;
		}
		while (*at && *at != separator && separator != ' ')
			at++;
		if (!*at)
			return count;
		at++;
	}
	return count;
}

bool field_is(struct field_text field, const char *text)
{
	return strlen(text) == field.bytes && memcmp(text, field.at, field.bytes) == 0;
}

bool text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

void text_add_figures(struct text *text, const char *foreign)
{
	bool blank = false;
	for (; *foreign && !text->cut; foreign++) {
		if (is_blank(*foreign)) {
			blank = true;
			continue;
		}
		bool printable = *foreign > ' ' && *foreign < 0x7f;
		text_add(text, "%s%c", blank && text->used ? " " : "", printable ? *foreign : '?');
		blank = false;
	}
}

/* ---- the reader ---- */

/*
 * What a reader says at the end of a file of several pieces it says of all: such notes go to the first, where they
 * are read first. Those of a kind that the first piece has too were made for each by itself.
 */
static void place_notes(struct import *import, uint32_t last)
{
	bool first_has[IMPORT_DAMAGE + 1] = {false};
	for (size_t i = 0; i < import->note_count; i++)
		first_has[import->notes[i].kind] |= import->notes[i].round == 1;
	for (size_t i = 0; i < import->note_count; i++) {
		struct import_note *note = &import->notes[i];
		if (note->round == last && note->kind <= IMPORT_LIMIT && !first_has[note->kind])
			note->round = 1;
	}
}

static int note_lines(struct pieces *pieces, struct tare_err *err)
{
	struct import *import = pieces->import;
	place_notes(import, (uint32_t)pieces->count);
	/* of lines, and so of the file */
	import->round = pieces->count == 1 ? pieces->piece[0]->round->number : 0;
	if (pieces->damaged &&
		import_note(import, IMPORT_DAMAGE, err, "%" PRIu64 " damaged line%s passed over, the first is line %" PRIu64
			": %s", pieces->damaged, pieces->damaged == 1 ? "" : "s", pieces->damaged_line,
			pieces->first_damage))
		return -1;
	if (pieces->noise &&
		import_note(import, IMPORT_DAMAGE, err, "%" PRIu64 " line%s of other text passed over, the first is line %"
			PRIu64 ": %s", pieces->noise, pieces->noise == 1 ? "" : "s", pieces->noise_line,
			pieces->first_noise))
		return -1;
	if (pieces->cut && import_note(import, IMPORT_DAMAGE, err, "the last line is cut off and passed over"))
		return -1;
	return 0;
}

int pieces_open(struct import *import, void **ret_reader, struct tare_err *err)
{
	struct pieces *pieces = calloc(1, sizeof(*pieces));
	if (!pieces)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", import->name);
	*ret_reader = pieces;
	pieces->import = import;
	import->run = (struct tare_run){.id = 1,
		.status = TARE_RUN_FINISHED,
		.tool = import->format->tool,
		.host = "",
		.kernel = "",
		.command_line = ""};
	if (import->format->read(import, pieces, err)) {
		if (err && import->lines && input_failure(import->input))
			*err = *input_failure(import->input);
		return -1;
	}
	if (!pieces->count)
		return tare_fail(err, TARE_E_FORMAT, "'%s': looks like %s, but nothing of it can be used", import->name,
			import->format->help);
	return note_lines(pieces, err);
}

int pieces_next(struct import *import, void *reader, const struct tare_record **ret_record, struct tare_err *err)
{
	static const uint8_t no_fate[1];
	struct pieces *pieces = reader;
	(void)err;
	if (pieces->next == pieces->count)
		return 0;
	struct piece *piece = pieces->piece[pieces->next++];
	if (piece->range_count > 1)
		qsort(piece->range, piece->range_count, sizeof(*piece->range), by_low);
	pieces->bins = (struct tare_bins){.count = piece->range_count, .range = piece->range, .lost = piece->lost};
	pieces->record = (struct tare_record){.run = &import->run,
		.target = piece->target,
		.round = piece->round,
		.beside = piece->beside,
		.series = {.count = piece->count,
			.fate = piece->count ? piece->fate : no_fate,
			.flags = piece->flags,
			.reason = piece->reason,
			.clock_bound_ns = piece->clock_bound_ns},
		.resolution_ns = piece->resolution_ns,
		.origin = piece->origin,
		.bins = piece->range_count || piece->lost ? &pieces->bins : NULL};
	memcpy(pieces->record.series.at_ns, piece->at_ns, sizeof(piece->at_ns));
	memcpy(pieces->record.series.given_ns, piece->given_ns, sizeof(piece->given_ns));
	for (int place = 0; place < TARE_CPU_PLACES; place++)
		pieces->record.series.cpu[place] = piece->cpu[place];
	*ret_record = &pieces->record;
	return 1;
}

static void piece_free(struct piece *piece)
{
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		free(piece->at_ns[stage]);
	for (int span = 0; span < TARE_SPAN_COUNT; span++)
		free(piece->given_ns[span]);
	free(piece->fate);
	free(piece->flags);
	free(piece->reason);
	for (int place = 0; place < TARE_CPU_PLACES; place++)
		free(piece->cpu[place]);
	free(piece->range);
	free(piece);
}

void piece_drop(struct pieces *pieces)
{
	piece_free(pieces->piece[--pieces->count]);
	pieces->targets--;
	pieces->import->round = (uint32_t)pieces->count;
}

void pieces_free(void *reader)
{
	struct pieces *pieces = reader;
	for (size_t i = 0; i < pieces->count; i++)
		piece_free(pieces->piece[i]);
	free(pieces->piece);
	free(pieces);
}
