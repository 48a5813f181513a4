/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Logs that are comma-separated tables with a header of fixed names: each is a
 * row of `shapes`, which says where every column goes. Times with a point are
 * seconds where the shape says "seconds or ns"; "µs or told" follows --unit.
 */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "import/formats.h"

enum goes { TO_STAGE, TO_SPAN, TO_SEQ, TO_STATUS };
enum { UNIT_S_OR_NS = 100, UNIT_US_OR_TOLD, COLUMNS = 32 };

struct target_column {
	const char *name;
	enum goes goes;
	int index, unit;
};

struct shape {
	const char *needs; /* the header begins with this; its commas may be another separator */
	const char *lost_without; /* a row whose cell of this name is empty or 0 was not answered */
	const char *url, *kind, *note;
	struct tare_origin origin;
	const struct target_column *columns; /* end with name NULL */
};

#define STAGE(name, stage, unit) {name, TO_STAGE, TARE_STAGE_##stage, unit}
#define SPAN(name, span, unit)   {name, TO_SPAN, TARE_SPAN_##span, unit}

static const struct shape twamp_light = {.needs = "packet_id,payload_len,client_send_epoch_nanoseconds",
	.lost_without = "client_receive_epoch_nanoseconds",
	.url = "twamp-light",
	.kind = "udp",
	.note = "rtt is from the client's send to its kernel's receive stamp, so its own wake-up is not in it; residence is from "
		"the server's kernel to its send; one way is not given, since nothing bounds how far the two clocks are apart",
	.origin = {.quantity = TARE_QUANTITY_RTT,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_UNKNOWN},
	.columns = (const struct target_column[]){{"packet_id", TO_SEQ, 0, 0},
		STAGE("client_send_epoch_nanoseconds", USER_TX, UNIT_ONE_NS),
		STAGE("server_receive_epoch_nanoseconds", PEER_RX, UNIT_ONE_NS),
		STAGE("server_send_epoch_nanoseconds", PEER_TX, UNIT_ONE_NS),
		STAGE("client_receive_epoch_nanoseconds", USER_RX, UNIT_ONE_NS), {NULL, TO_SEQ, 0, 0}}};

static const struct shape twamp_light_legacy = {.needs = "Time,IP,Snd#,Rcv#,SndPort",
	.lost_without = "RTT",
	.url = "twamp-light",
	.kind = "udp",
	.note = "rtt is from the client's send to its kernel's receive stamp, residence (IntD) the server's part; FWD and BWD are "
		"differences of two clocks and not used",
	.origin = {.quantity = TARE_QUANTITY_RTT,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.left_out = TARE_LEFT_OUT_LOST},
	.columns = (const struct target_column[]){SPAN("RTT", RTT, UNIT_MS), SPAN("IntD", RESIDENCE, UNIT_MS),
		{NULL, TO_SEQ, 0, 0}}};

static const struct shape lagscope = {.needs = "Index, Latency(us)",
	.url = "lagscope",
	.kind = "tcp",
	.note = "rtt is lagscope's, cut to whole µs; versions that count ns do not say so: --unit ns",
	.origin = {.quantity = TARE_QUANTITY_RTT,
		.clock = TARE_CLOCK_WALL,
		.pacing = TARE_PACING_CLOSED,
		.lateness = TARE_LATENESS_UNKNOWN,
		.left_out = TARE_LEFT_OUT_LOST},
	.columns = (const struct target_column[]){SPAN("Latency(us)", RTT, UNIT_US_OR_TOLD), {NULL, TO_SEQ, 0, 0}}};

/* Which of our columns each field of a row is; NULL: none. */
struct header {
	const struct target_column *column[COLUMNS];
	size_t count;
	size_t deciding; /* the field without which a request is lost; COLUMNS: none */
	char separator;
};

/* The character where the shape has its first comma: ',' or what the tool was told to use. */
static char separator_of(const char *text, const struct shape *shape)
{
	char c = text[strcspn(text, ",;|\t")];
	return c && strchr(shape->needs, ',') ? c : ',';
}

static bool begins_as(const char *text, const struct shape *shape)
{
	const char *needs = shape->needs;
	char separator = separator_of(text, shape);
	/* "a, b" against "a,b": blanks do not count */
	for (; *needs; needs++) {
		if (*needs == ' ')
			continue;
		while (*text == ' ')
			text++;
		if (*text++ != (*needs == ',' ? separator : *needs))
			return false;
	}
	return true;
}

static void read_header(char *text, const struct shape *shape, struct header *header)
{
	struct field_text field[COLUMNS];
	header->separator = separator_of(text, shape);
	header->count = fields_of(text, header->separator, field, COLUMNS);
	header->deciding = COLUMNS;
	for (size_t i = 0; i < header->count; i++) {
		header->column[i] = NULL;
		for (const struct target_column *column = shape->columns; column->name; column++) {
			if (field_is(field[i], column->name))
				header->column[i] = column;
		}
		if (shape->lost_without && field_is(field[i], shape->lost_without))
			header->deciding = i;
	}
}

/* Both ends' stamps from one beginning: spans between the two clocks exist only where the user states a bound. */
static int64_t on_axis(struct import *import, int64_t *base_ns, int64_t ns)
{
	if (*base_ns == TARE_NO_TIME) {
		*base_ns = ns;
		if (ns > INT64_C(1000000000000000000))
			import->run.epoch_real_ns = ns;
	}
	int64_t axis_ns;
	return __builtin_sub_overflow(ns, *base_ns, &axis_ns) ? TARE_NO_TIME : axis_ns;
}

static const char *read_cell(const struct import *import, struct field_text field, int unit, struct number *ret)
{
	if (unit == UNIT_US_OR_TOLD && (!import->rules.unit || !number_unit(import->rules.unit, strlen(import->rules.unit), &unit)))
		unit = UNIT_US;
	if (unit == UNIT_S_OR_NS)
		unit = memchr(field.at, '.', field.bytes) ? UNIT_S : UNIT_ONE_NS;
	*ret = number_read(field.at, field.bytes, unit);
	return ret->why;
}

static int read_row(struct pieces *pieces, struct piece *piece, const struct header *header, const struct line *line,
	int64_t *base_ns, struct tare_err *err)
{
	struct field_text field[COLUMNS];
	struct number number[COLUMNS];
	char copy[LINES_MAX_BYTES + 1];
	if (header->deciding < COLUMNS && piece_cut(pieces, line))
		return 0;
	memcpy(copy, line->text, line->bytes + 1);
	size_t count = fields_of(copy, header->separator, field, COLUMNS);
	bool lost = false;
	for (size_t i = 0; i < count && i < header->count; i++) {
		const struct target_column *column = header->column[i];
		if (!column || column->goes == TO_SEQ || !field[i].bytes)
			continue;
		if (column->goes == TO_STATUS) {
			lost = !field_is(field[i], "ok");
			continue;
		}
		const char *why = read_cell(pieces->import, field[i], column->unit, &number[i]);
		if (why)
			return piece_damaged(pieces, line, why, err);
		if (header->deciding < COLUMNS && column->goes == TO_SPAN && number[i].ns < 0)
			return piece_damaged(pieces, line, "a negative time", err);
	}
	bool decides = header->deciding < count;
	lost = lost || (decides && (!field[header->deciding].bytes || number[header->deciding].ns == 0));
	if (!lost && count < header->count)
		return piece_damaged(pieces, line, "fewer columns than the header", err);
	if (piece_row(piece, err))
		return -1;
	size_t row = piece->count - 1;
	piece->fate[row] = lost ? TARE_LOST : TARE_ANSWERED;
	for (size_t i = 0; i < count && i < header->count; i++) {
		const struct target_column *column = header->column[i];
		/* of a lost one there is only when it left */
		bool there = column && field[i].bytes && (!lost || (decides && column->goes == TO_STAGE));
		if (!there)
			continue;
		if (column->goes == TO_SPAN && piece_span(piece, row, (enum tare_span)column->index, number[i].ns, err))
			return -1;
		if (column->unit == UNIT_US_OR_TOLD)
			piece->resolution_ns = number[i].step_ns;
		/* 0.000000000: a stamp that did not arrive */
		bool stamp = column->goes == TO_STAGE && number[i].ns != 0;
		if (stamp && piece_stage(piece, row, (enum tare_stage)column->index,
				     on_axis(pieces->import, base_ns, number[i].ns), err))
			return -1;
	}
	return 0;
}

static int read_table(struct import *import, struct pieces *pieces, const struct shape *shape, struct tare_err *err)
{
	struct header header = {.count = 0};
	struct line line;
	struct piece *piece = NULL;
	int64_t base_ns = TARE_NO_TIME;
	int got;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		if (line.overlong || !line.bytes || (!piece && !begins_as(line.text, shape))) {
			if (line.bytes || line.overlong)
				piece_noise(pieces, &line);
			continue;
		}
		if (begins_as(line.text, shape)) {
			read_header(line.text, shape, &header);
			piece = piece_add(pieces, shape->url, shape->kind, "", &shape->origin, err);
			if (!piece || import_note(import, IMPORT_QUANTITY, err, "%s", shape->note))
				return -1;
			continue;
		}
		if (read_row(pieces, piece, &header, &line, &base_ns, err))
			return -1;
	}
	return got < 0 ? -1 : 0;
}

static bool knows_shape(struct lines *head, const struct shape *shape)
{
	struct line line;
	for (int i = 0; i < 20 && lines_next(head, &line, NULL) == 1; i++) {
		if (!line.overlong && begins_as(line.text, shape))
			return true;
	}
	return false;
}

#define TABLE(shape, format, word, program, words)                                                                     \
	static bool knows_##shape(struct lines *head)                                                                  \
	{                                                                                                              \
		return knows_shape(head, &(shape));                                                                    \
	}                                                                                                              \
	static int read_##shape(struct import *import, struct pieces *pieces, struct tare_err *err)                    \
	{                                                                                                              \
		return read_table(import, pieces, &(shape), err);                                                      \
	}                                                                                                              \
	const struct import_format format = {                                                                          \
		.name = word, .knows = knows_##shape, .read = read_##shape, .tool = program, .help = words};

TABLE(twamp_light, twamp_light_format, "twamp-light", "twamp-light", "twamp-light's raw file")
TABLE(twamp_light_legacy, twamp_light_legacy_format, "twamp-light-legacy", "twamp-light", "twamp-light's usual table")
TABLE(lagscope, lagscope_format, "lagscope", "lagscope", "lagscope's raw file (-R)")
