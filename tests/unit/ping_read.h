/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For the tests of the ping reader: a whole log read into plain figures, one
 * struct per record, with all notes and events in one text each.
 */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "tap.h"
#include "tare/sample.h"

enum { RECORDS_MAX = 8, KEPT_MAX = 128, NOTES_BYTES = 16384 };

struct read_record {
	size_t count, fates[TARE_FATE_COUNT], known, with_gap;
	int64_t min_ns, max_ns, sum_ns, resolution_ns, rtt_ns[KEPT_MAX], gap_ns[KEPT_MAX], tx_ns[KEPT_MAX],
		rx_ns[KEPT_MAX];
	uint8_t fate[KEPT_MAX];
	uint16_t flags[KEPT_MAX], reason[KEPT_MAX];
	struct tare_beside beside;
	char url[128], address[128], tool[64], status[32];
	uint32_t payload_bytes, warmup, number;
	int64_t epoch_ns;
	bool has_schedule;
	struct ping_schedule schedule;
	size_t events;
};

struct read_log {
	int result; /* of the last import_next, or -1 when it did not open */
	size_t records;
	struct read_record record[RECORDS_MAX];
	char notes[NOTES_BYTES], events[NOTES_BYTES];
	struct tare_err err;
};

static inline void keep_sample(struct read_record *kept, const struct tare_series *series, size_t i)
{
	int64_t rtt = series->given_ns[TARE_SPAN_RTT] ? series->given_ns[TARE_SPAN_RTT][i] : TARE_NO_TIME;
	int64_t gap = series->given_ns[TARE_SPAN_GAP] ? series->given_ns[TARE_SPAN_GAP][i] : TARE_NO_TIME;
	kept->fates[series->fate[i]]++;
	kept->with_gap += gap != TARE_NO_TIME;
	if (rtt != TARE_NO_TIME) {
		kept->min_ns = !kept->known || rtt < kept->min_ns ? rtt : kept->min_ns;
		kept->max_ns = !kept->known || rtt > kept->max_ns ? rtt : kept->max_ns;
		kept->sum_ns += rtt;
		kept->known++;
	}
	if (i >= KEPT_MAX)
		return;
	kept->rtt_ns[i] = rtt;
	kept->gap_ns[i] = gap;
	kept->tx_ns[i] = series->at_ns[TARE_STAGE_USER_TX] ? series->at_ns[TARE_STAGE_USER_TX][i] : TARE_NO_TIME;
	kept->rx_ns[i] = series->at_ns[TARE_STAGE_USER_RX] ? series->at_ns[TARE_STAGE_USER_RX][i] : TARE_NO_TIME;
	kept->fate[i] = series->fate[i];
	kept->flags[i] = series->flags ? series->flags[i] : 0;
	kept->reason[i] = series->reason ? series->reason[i] : 0;
}

static inline void keep_record(struct read_log *log, const struct import *import, const struct tare_record *record)
{
	const struct tare_event *events = NULL;
	struct read_record *kept = &log->record[log->records < RECORDS_MAX ? log->records : RECORDS_MAX - 1];
	log->records++;
	*kept = (struct read_record){.count = record->series.count,
		.resolution_ns = record->resolution_ns,
		.beside = record->beside,
		.payload_bytes = record->target->payload_bytes,
		.warmup = record->round->warmup,
		.number = record->round->number,
		.epoch_ns = record->run->epoch_real_ns};
	for (size_t i = 0; i < record->series.count; i++)
		keep_sample(kept, &record->series, i);
	snprintf(kept->url, sizeof(kept->url), "%s", record->target->url);
	snprintf(kept->address, sizeof(kept->address), "%s", record->target->address);
	snprintf(kept->tool, sizeof(kept->tool), "%s", record->run->tool);
	snprintf(kept->status, sizeof(kept->status), "%s", record->round->status);
	if (import_schedule(import)) {
		kept->has_schedule = true;
		kept->schedule = *import_schedule(import);
	}
	kept->events = import_events(import, &events);
	for (size_t i = 0; i < kept->events; i++) {
		size_t used = strlen(log->events);
		snprintf(log->events + used, sizeof(log->events) - used, "%s: %s\n", events[i].kind, events[i].text);
	}
}

static inline void read_all(struct import *import, struct read_log *log)
{
	const struct tare_record *record = NULL;
	const struct import_note *notes = NULL;
	while ((log->result = import_next(import, &record, &log->err)) == 1)
		keep_record(log, import, record);
	size_t count = import_notes(import, &notes);
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(log->notes);
		snprintf(log->notes + used, sizeof(log->notes) - used, "%u %s\n", notes[i].round, notes[i].text);
	}
	import_free(import);
}

/* The caller frees. */
static inline struct read_log *read_bytes(const void *bytes, size_t count, struct import_rules rules)
{
	struct read_log *log = calloc(1, sizeof(*log));
	struct import *import = NULL;
	FILE *stream = count ? fmemopen((void *)(uintptr_t)bytes, count, "r") : fopen("/dev/null", "re");
	if (!log || !stream) {
		printf("Bail out! out of memory\n");
		exit(1);
	}
	log->result = -1;
	if (import_open_stream(stream, "log", &rules, &import, &log->err) == 0)
		read_all(import, log);
	fclose(stream);
	return log;
}

static inline struct read_log *read_text(const char *text)
{
	return read_bytes(text, strlen(text), (struct import_rules){0});
}

/* A file of tests/data/ping. */
static inline struct read_log *read_file(const char *name)
{
	char path[4096];
	struct read_log *log = calloc(1, sizeof(*log));
	struct import *import = NULL;
	const char *data = getenv("TARE_TEST_DATA");
	snprintf(path, sizeof(path), "%s/ping/%s.txt", data ? data : "tests/data", name);
	if (!log) {
		printf("Bail out! out of memory\n");
		exit(1);
	}
	log->result = -1;
	if (import_open(path, NULL, &import, &log->err) == 0)
		read_all(import, log);
	if (log->result)
		printf("# %s\n", log->err.text);
	return log;
}

#define SAYS(text, part) OK(strstr((text), (part)) != NULL, "says: %s", (part))
