/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures made here, read through the door of import: what the tests of matching share. */
#pragma once
#include "capture_test.h"
#include "import/import.h"

__attribute__((unused)) static const struct mk_time start = {1700000000, 0};
__attribute__((unused)) static const struct mk_ends to = {1, 2, 40000, 7000, 1}, from = {2, 1, 7000, 40000, 9};

/* One import, read to its end; the first record's series is kept. */
struct read {
	struct import *import;
	FILE *stream;
	const struct tare_record *record; /* of the first round */
	int rounds;
	struct tare_err err;
	bool fine;
};

__attribute__((unused)) static void read_end(struct read *read)
{
	import_free(read->import);
	if (read->stream)
		fclose(read->stream);
	*read = (struct read){0};
}

__attribute__((unused)) static void read_file(
	struct read *read, const struct mk_file *file, const struct capture_rules *rules)
{
	struct import_rules all = {0};
	if (rules)
		all.capture = *rules;
	*read = (struct read){0};
	read->stream = fmemopen(file->bytes, file->count, "r");
	read->fine = import_open_stream(read->stream, "test", &all, &read->import, &read->err) == 0 &&
		     import_next(read->import, &read->record, &read->err) == 1;
	read->rounds = read->fine;
}

__attribute__((unused)) static bool said(const struct read *read, const char *words)
{
	const struct import_note *notes;
	size_t count = read->import ? import_notes(read->import, &notes) : 0;
	for (size_t i = 0; i < count; i++) {
		if (strstr(notes[i].text, words))
			return true;
	}
	for (size_t i = 0; i < count; i++)
		printf("# note: %s\n", notes[i].text);
	return false;
}

/* Value of sample i of the only span there is. */
__attribute__((unused)) static int64_t value_of(const struct read *read, size_t i)
{
	static const enum tare_span spans[] = {TARE_SPAN_STACK, TARE_SPAN_WIRE, TARE_SPAN_RESIDENCE, TARE_SPAN_HOST};
	for (size_t k = 0; k < sizeof(spans) / sizeof(*spans); k++) {
		int64_t ns = read->fine ? tare_span_of(&read->record->series, spans[k], i) : TARE_NO_TIME;
		if (ns != TARE_NO_TIME)
			return ns;
	}
	return TARE_NO_TIME;
}

__attribute__((unused)) static size_t count_of(const struct read *read)
{
	return read->fine ? read->record->series.count : 0;
}

__attribute__((unused)) static uint64_t fate_of(const struct read *read, enum tare_fate fate)
{
	return read->fine ? tare_fates_of(&read->record->series).count[fate] : 0;
}

__attribute__((unused)) static void put(struct mk_file *file, int64_t at_ns, const struct mk_frame *frame)
{
	mk_record(file, mk_later(start, at_ns * 1000), frame, frame->count, 0);
}

__attribute__((unused)) static void put_udp(struct mk_file *file, int64_t at_ns, const struct mk_ends *ends,
	uint16_t ip_id, const void *payload, size_t bytes)
{
	struct mk_frame frame;
	struct mk_ends with_id = *ends;
	with_id.ip_id = ip_id;
	mk_udp(&frame, &with_id, payload, bytes);
	put(file, at_ns, &frame);
}

__attribute__((unused)) static void numbered(uint8_t payload[32], uint64_t number)
{
	memset(payload, 0x77, 32);
	for (int i = 0; i < 8; i++)
		payload[8 + i] = (uint8_t)(number >> (56 - 8 * i));
}
