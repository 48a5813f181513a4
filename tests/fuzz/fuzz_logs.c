/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any reader on any bytes. The first byte picks a format by force, or with 255
 * leaves it to the content. Beyond not crashing: fates are known ones, bins are
 * in order and hold something, samples stay in proportion to the bytes, and a
 * failure has a sentence.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check(const struct tare_record *record, size_t bytes)
{
	const struct tare_series *series = &record->series;
	require(series->fate && record->run && record->target && record->round);
	require(record->origin.format && record->origin.format[0]); /* what others measured is not ours */
	require(record->target->url && record->target->kind && record->round->label);
	/* a number in a line may claim up to 2^20 lost requests before it */
	require(series->count <= ((size_t)1 << 20) * (bytes / 8 + 1) + 4 * bytes);
	for (size_t i = 0; i < series->count; i++)
		require(series->fate[i] < TARE_FATE_COUNT);
	for (size_t i = 0; record->bins && i < record->bins->count; i++) {
		const struct tare_range *range = &record->bins->range[i];
		require(range->low_ns <= range->high_ns && range->count > 0);
		require(i == 0 || record->bins->range[i - 1].low_ns <= range->low_ns);
	}
}

static void read_all(const uint8_t *data, size_t bytes, const char *format, bool lenient)
{
	struct import_rules rules = {.lenient = lenient, .format = format, .unit = "us"};
	struct import *import = NULL;
	struct tare_err err = {0};
	const struct tare_record *record = NULL;
	const struct import_note *notes = NULL;
	FILE *stream = fmemopen((void *)(uintptr_t)data, bytes, "r");
	if (!stream)
		return;
	if (import_open_stream(stream, "fuzz", &rules, &import, &err) == 0) {
		int got;
		while ((got = import_next(import, &record, &err)) == 1)
			check(record, bytes);
		require(got == 0 || err.text[0]);
		require(import_notes(import, &notes) <= IMPORT_NOTES_MAX);
	} else {
		require(err.text[0]);
	}
	import_free(import);
	fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *help, *format = NULL;
	size_t formats = 0;
	if (bytes < 2)
		return 0;
	while (import_format_name(formats, &help))
		formats++;
	if (data[0] != 255)
		format = import_format_name(data[0] % formats, &help);
	read_all(data + 1, bytes - 1, format, true);
	read_all(data + 1, bytes - 1, format, false);
	return 0;
}
