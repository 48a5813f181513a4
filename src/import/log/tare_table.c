/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `tare export` wrote as CSV or JSON lines, read back: every span as it was
 * stated, the due time, fates, flags, CPUs. Stage times that no column has are
 * gone; the figures are the same to the nanosecond.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/document.h"
#include "import/formats.h"
#include "lib/sample_columns.h"

enum { COLUMNS = 80 };
enum goes { TO_NONE, TO_RUN, TO_ROUND, TO_LABEL, TO_TARGET, TO_FATE, TO_DUE, TO_SPAN, TO_CPU, TO_FLAGS, TO_REASON };

struct place {
	enum goes goes;
	int index;
};

static bool is_csv(const char *text)
{
	return text_begins(text, "run,round,label,") && strstr(text, ",seq,fate,");
}

static bool is_jsonl(const char *text)
{
	return text_begins(text, "{\"run\":") && strstr(text, "\"seq\":") && strstr(text, "\"fate\":");
}

static bool knows_csv(struct lines *head)
{
	return head_has(head, 1, is_csv);
}

static bool knows_jsonl(struct lines *head)
{
	return head_has(head, 1, is_jsonl);
}

static struct place place_of(struct field_text name)
{
	static const struct {
		const char *name;
		enum goes goes;
	} plain[] = {{"run", TO_RUN}, {"round", TO_ROUND}, {"label", TO_LABEL}, {"target", TO_TARGET}, {"fate", TO_FATE},
		{"due_ns", TO_DUE}, {"flags", TO_FLAGS}, {"reason", TO_REASON}};
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (field_is(name, plain[i].name))
			return (struct place){plain[i].goes, 0};
	}
	for (int i = 0; i < TARE_CPU_PLACES; i++) {
		if (field_is(name, sample_cpu_names[i]))
			return (struct place){TO_CPU, i};
	}
	for (int span = 0; span < TARE_SPAN_COUNT; span++) {
		char column[40];
		snprintf(column, sizeof(column), "%s_ns", tare_span_name((enum tare_span)span));
		if (field_is(name, column))
			return (struct place){TO_SPAN, span};
	}
	return (struct place){TO_NONE, 0};
}

/* One sample as texts by place; NULL where there is nothing. */
struct row {
	struct field_text run, round, label, target, fate, due, flags, reason;
	struct field_text span[TARE_SPAN_COUNT], cpu[TARE_CPU_PLACES];
};

static void put(struct row *row, struct place place, struct field_text field)
{
	struct field_text *const slots[] = {[TO_RUN] = &row->run,
		[TO_ROUND] = &row->round,
		[TO_LABEL] = &row->label,
		[TO_TARGET] = &row->target,
		[TO_FATE] = &row->fate,
		[TO_DUE] = &row->due,
		[TO_FLAGS] = &row->flags,
		[TO_REASON] = &row->reason};
	if (place.goes == TO_SPAN)
		row->span[place.index] = field;
	else if (place.goes == TO_CPU)
		row->cpu[place.index] = field;
	else if (place.goes != TO_NONE)
		*slots[place.goes] = field;
}

static void copy(struct field_text field, char *to, size_t room)
{
	size_t bytes = field.bytes < room ? field.bytes : room - 1;
	if (bytes)
		memcpy(to, field.at, bytes);
	to[bytes] = '\0';
}

/* The piece of this run, round and target: rows of one stand together. */
static struct piece *piece_for(struct pieces *pieces, const struct row *row, struct tare_err *err)
{
	static const struct tare_origin own = {.clock = TARE_CLOCK_MONOTONIC};
	char url[512], label[256], kind[32];
	uint64_t number = 0;
	struct piece *last = pieces->count ? pieces->piece[pieces->count - 1] : NULL;
	copy(row->target, url, sizeof(url));
	copy(row->label, label, sizeof(label));
	if (!number_count(row->round.at ? row->round.at : "", row->round.bytes, &number) || number > UINT32_MAX)
		number = 0;
	uint64_t run = 0;
	if (!row->run.bytes || !number_count(row->run.at, row->run.bytes, &run))
		run = 0;
	if (last && last->round->number == number && (uint64_t)last->round->id == run &&
		strcmp(last->target->url, url) == 0)
		return last;
	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(url, ":"), url);
	struct piece *piece = piece_add(pieces, url, kind, label, &own, err);
	if (!piece)
		return NULL;
	piece->round->number = number ? (uint32_t)number : piece->round->number;
	piece->round->id = (int64_t)run; /* until settle() */
	piece->round->warmup = 2;
	return piece;
}

static bool fate_of(struct field_text field, uint8_t *ret)
{
	for (int fate = 0; fate < TARE_FATE_COUNT; fate++) {
		if (field_is(field, tare_fate_name((enum tare_fate)fate))) {
			*ret = (uint8_t)fate;
			return true;
		}
	}
	return false;
}

static uint16_t flags_of(struct field_text field)
{
	uint16_t flags = 0;
	size_t at = 0;
	while (at < field.bytes) {
		size_t bytes = 0;
		while (at + bytes < field.bytes && field.at[at + bytes] != ' ')
			bytes++;
		for (size_t i = 0; i < SAMPLE_FLAG_NAMES; i++) {
			if (field_is((struct field_text){field.at + at, bytes}, sample_flag_names[i]))
				flags = (uint16_t)(flags | 1u << i);
		}
		at += bytes + 1;
	}
	return flags;
}

static uint16_t reason_of(struct field_text field)
{
	uint64_t number = 0;
	if (number_count(field.at, field.bytes, &number) && number < 4096)
		return (uint16_t)number;
	for (int i = 1; i < 200; i++) {
		const char *name = strerrorname_np(i);
		if (name && field_is(field, name))
			return (uint16_t)i;
	}
	return 0;
}

/* The first samples that say so; without the column two, as tare itself measures. */
static void take_warmup(struct piece *piece, size_t i, struct field_text flags)
{
	static const char word[] = "warmup";
	if (!flags.at)
		return;
	if (i == 0)
		piece->round->warmup = 0;
	if (i == piece->round->warmup && flags.bytes >= sizeof(word) - 1 && memcmp(flags.at, word, sizeof(word) - 1) == 0)
		piece->round->warmup++;
}

static const char *put_row(struct piece *piece, const struct row *row, struct tare_err *err, bool *ret_failed)
{
	size_t i = piece->count - 1;
	struct number number = {.ns = 0};
	*ret_failed = false;
	if (!fate_of(row->fate, &piece->fate[i]))
		return "a fate that is none";
	if (row->due.bytes) {
		number = number_read(row->due.at, row->due.bytes, UNIT_ONE_NS);
		*ret_failed = !number.why && piece_stage(piece, i, TARE_STAGE_DUE, number.ns, err);
	}
	for (int span = 0; span < TARE_SPAN_COUNT && !number.why && !*ret_failed; span++) {
		if (!row->span[span].bytes)
			continue;
		number = number_read(row->span[span].at, row->span[span].bytes, UNIT_ONE_NS);
		*ret_failed = !number.why && piece_span(piece, i, (enum tare_span)span, number.ns, err);
	}
	for (int place = 0; place < TARE_CPU_PLACES && !*ret_failed; place++) {
		uint64_t cpu = 0;
		if (row->cpu[place].bytes && number_count(row->cpu[place].at, row->cpu[place].bytes, &cpu) && cpu < INT16_MAX)
			*ret_failed = piece_cpu(piece, i, (enum tare_cpu_place)place, (int16_t)cpu, err) != 0;
	}
	take_warmup(piece, i, row->flags);
	piece->flags[i] = row->flags.bytes ? flags_of(row->flags) : 0;
	piece->reason[i] = row->reason.bytes ? reason_of(row->reason) : 0;
	return number.why;
}

static int take_row(struct pieces *pieces, const struct line *line, const struct row *row, struct tare_err *err)
{
	struct piece *piece = piece_for(pieces, row, err);
	bool failed = false;
	if (!piece || piece_row(piece, err))
		return -1;
	const char *why = put_row(piece, row, err, &failed);
	if (failed)
		return -1;
	if (!why)
		return 0;
	piece->count--;
	return piece_damaged(pieces, line, why, err);
}

/* Which quantity the spans speak of; rtt where there is one. */
static void settle(struct pieces *pieces)
{
	static const struct {
		enum tare_span span;
		enum tare_quantity quantity;
	} others[] = {{TARE_SPAN_HALF_RTT, TARE_QUANTITY_HALF_RTT}, {TARE_SPAN_ONE_WAY, TARE_QUANTITY_ONE_WAY},
		{TARE_SPAN_WAKEUP, TARE_QUANTITY_WAKEUP}, {TARE_SPAN_VALUE, TARE_QUANTITY_OTHER}};
	for (size_t i = 0; i < pieces->count; i++) {
		struct piece *piece = pieces->piece[i];
		for (size_t j = 0; j < sizeof(others) / sizeof(others[0]); j++) {
			if (piece->given_ns[others[j].span])
				piece->origin.quantity = others[j].quantity;
		}
		piece->round->id = (int64_t)i + 1;
	}
}

static int read_csv(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct place places[COLUMNS];
	size_t columns = 0;
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		struct field_text field[COLUMNS];
		char copy_of[LINES_MAX_BYTES + 1];
		struct row row = {.run = {NULL, 0}};
		if (!line.bytes)
			continue;
		memcpy(copy_of, line.text, line.bytes + 1);
		size_t count = fields_of(copy_of, ',', field, COLUMNS);
		if (!columns) {
			for (size_t i = 0; i < count; i++)
				places[i] = place_of(field[i]);
			columns = count;
			continue;
		}
		if (count != columns) {
			if (piece_damaged(pieces, &line, "another number of columns than the header", err))
				return -1;
			continue;
		}
		for (size_t i = 0; i < count; i++)
			put(&row, places[i], field[i]);
		if (take_row(pieces, &line, &row, err))
			return -1;
	}
	settle(pieces);
	return got < 0 ? -1 : 0;
}

static int take_object(struct pieces *pieces, const struct line *line, json_t *root, struct tare_err *err)
{
	char digits[COLUMNS][24];
	struct row row = {.run = {NULL, 0}};
	const char *key;
	json_t *value;
	size_t used = 0;
	json_object_foreach(root, key, value)
	{
		struct field_text field = {NULL, 0};
		if (json_is_string(value)) {
			field = (struct field_text){json_string_value(value), json_string_length(value)};
		} else if (json_is_integer(value) && used < COLUMNS) {
			int bytes = snprintf(digits[used], sizeof(digits[0]), "%" PRId64, (int64_t)json_integer_value(value));
			field = (struct field_text){digits[used++], (size_t)bytes};
		}
		put(&row, place_of((struct field_text){key, strlen(key)}), field);
	}
	return take_row(pieces, line, &row, err);
}

static int read_jsonl(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct line line;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		char why[256];
		if (!line.bytes)
			continue;
		AUTO_CLEANUP(document_end) json_t *root = document_of_line(&line, import->rules.lenient, why, sizeof(why));
		if (root ? take_object(pieces, &line, root, err) : piece_damaged(pieces, &line, why, err))
			return -1;
	}
	settle(pieces);
	return got < 0 ? -1 : 0;
}

const struct import_format tare_csv_format = {.name = "tare-csv",
	.knows = knows_csv,
	.read = read_csv,
	.tool = "tare",
	.help = "what tare export --csv wrote"};
const struct import_format tare_jsonl_format = {.name = "tare-jsonl",
	.knows = knows_jsonl,
	.read = read_jsonl,
	.tool = "tare",
	.help = "what tare export --jsonl wrote"};
