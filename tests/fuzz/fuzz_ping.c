/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ping log may be anything. Beyond not crashing: values are never negative,
 * fates are known ones, memory stays within what import.h promises, and strict
 * reading never gets further than lenient reading does.
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

static void check(const struct import *import, const struct tare_record *record, size_t bytes)
{
	const struct tare_series *series = &record->series;
	const struct tare_event *events = NULL;
	require(series->count <= (1u << 20) + 4 * (bytes + 1));
	require(series->fate && record->run && record->target && record->round);
	for (size_t i = 0; i < series->count; i++) {
		int64_t rtt = series->given_ns[TARE_SPAN_RTT][i];
		require(series->fate[i] < TARE_FATE_COUNT);
		require(rtt == TARE_NO_TIME || (rtt >= 0 && series->fate[i] == TARE_ANSWERED));
		require(!series->given_ns[TARE_SPAN_GAP] || series->given_ns[TARE_SPAN_GAP][i] == TARE_NO_TIME ||
			series->given_ns[TARE_SPAN_GAP][i] >= 0);
	}
	require(import_events(import, &events) <= IMPORT_EVENTS_MAX);
}

static size_t read_all(const uint8_t *data, size_t bytes, bool lenient)
{
	struct import_rules rules = {.lenient = lenient};
	struct import *import = NULL;
	struct tare_err err = {0};
	const struct tare_record *record = NULL;
	const struct import_note *notes = NULL;
	size_t samples = 0;
	FILE *stream = fmemopen((void *)(uintptr_t)data, bytes, "r");
	if (!stream)
		return 0;
	if (import_open_stream(stream, "fuzz", &rules, &import, &err) == 0) {
		int got;
		while ((got = import_next(import, &record, &err)) == 1) {
			check(import, record, bytes);
			samples += record->series.count;
		}
		require(got == 0 || err.text[0]);
		require(import_notes(import, &notes) <= IMPORT_NOTES_MAX);
	} else {
		require(err.text[0]);
	}
	import_free(import);
	fclose(stream);
	return samples;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes == 0)
		return 0;
	size_t lenient = read_all(data, bytes, true);
	size_t strict = read_all(data, bytes, false);
	require(strict <= lenient);
	return 0;
}
