/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Logs read for tests: from text or a file, every record reduced to its rows of
 * figures and what surrounds them; all notes in one text.
 */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "tap.h"
#include "tare/tare.h"

enum { LOG_RECORDS = 100, LOG_VALUES = 64, LOG_SPANS = 20 };

struct log_record {
	char target[256], label[64], format[32];
	struct tare_origin origin;
	struct tare_beside beside;
	struct tare_fates fates;
	size_t count;
	uint64_t bins, lost;
	int64_t resolution_ns;
	int64_t value_ns[TARE_SPAN_COUNT][LOG_VALUES]; /* of the first requests; TARE_NO_TIME where there is none */
	uint8_t fate[LOG_VALUES];
	struct tare_row row; /* of the base span, without warm-up */
};

struct log_read {
	int result;
	struct tare_err err;
	size_t records;
	struct log_record record[LOG_RECORDS];
	struct tare_row all; /* merged over the rounds of the first target, when there are several */
	uint64_t total;      /* values of all records */
	char notes[16384];
};

/* 50, 90, 99, 99.9, 99.99, 99.999: indices into row.ranked. */
enum { P50, P90, P99, P999, P9999, P99999 };

static inline void log_rules(struct tare_rules *rules)
{
	tare_rules_default(rules);
	rules->warmup = 0;
	if (tare_percentile_parse("99.999", &rules->percentile[rules->percentiles], NULL) == 0)
		rules->percentiles++;
}

static inline void log_take(struct log_read *log, const struct tare_record *record)
{
	struct log_record *to = &log->record[log->records++];
	snprintf(to->target, sizeof(to->target), "%s", record->target->url);
	snprintf(to->label, sizeof(to->label), "%s", record->round->label);
	snprintf(to->format, sizeof(to->format), "%s", record->origin.format ? record->origin.format : "");
	to->origin = record->origin;
	to->origin.format = NULL;
	to->beside = record->beside;
	to->fates = tare_fates_of(&record->series);
	to->count = record->series.count;
	to->bins = record->bins ? record->bins->count : 0;
	to->lost = record->bins ? record->bins->lost : 0;
	to->resolution_ns = record->resolution_ns;
	for (int span = 0; span < TARE_SPAN_COUNT; span++) {
		for (size_t i = 0; i < LOG_VALUES; i++)
			to->value_ns[span][i] = i < record->series.count
							? tare_span_of(&record->series, (enum tare_span)span, i)
							: TARE_NO_TIME;
	}
	for (size_t i = 0; i < LOG_VALUES && i < record->series.count; i++)
		to->fate[i] = record->series.fate[i];
}

static inline void log_read_all(struct log_read *log, struct import *import)
{
	struct tare_rules rules;
	struct tare_stat *stat = NULL;
	const struct tare_record *record = NULL;
	const struct import_note *notes = NULL;
	const struct tare_row *rows = NULL;
	size_t row_count = 0, used = 0;
	log_rules(&rules);
	if (tare_stat_open(&rules, 0, &stat, &log->err))
		return;
	while (log->records < LOG_RECORDS && (log->result = import_next(import, &record, &log->err)) == 1) {
		log_take(log, record);
		if (tare_stat_add(stat, "log", record, &log->err))
			break;
	}
	if (tare_stat_rows(stat, &rows, &row_count, &log->err) == 0) {
		for (size_t i = 0; i < row_count && i < log->records; i++) {
			log->record[i].row = rows[i];
			log->total += rows[i].n;
		}
		if (row_count > log->records)
			log->all = rows[log->records];
	}
	size_t count = import_notes(import, &notes);
	for (size_t i = 0; i < count && used < sizeof(log->notes); i++)
		used += (size_t)snprintf(log->notes + used, sizeof(log->notes) - used, "%s\n", notes[i].text);
	tare_stat_free(stat);
}

/* free() it. */
static inline struct log_read *log_stream(FILE *stream, struct import_rules rules)
{
	struct log_read *log = calloc(1, sizeof(*log));
	struct import *import = NULL;
	log->result = import_open_stream(stream, "log", &rules, &import, &log->err);
	if (log->result == 0)
		log_read_all(log, import);
	import_free(import);
	return log;
}

static inline struct log_read *log_text(const char *text, struct import_rules rules)
{
	FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct log_read *log = log_stream(stream, rules);
	fclose(stream);
	return log;
}

/* A file beside the tests; NULL where it is not there. */
static inline struct log_read *log_file(const char *folder, const char *name, struct import_rules rules)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "", name);
	FILE *stream = folder ? fopen(path, "r") : NULL;
	if (!stream)
		return NULL;
	struct log_read *log = log_stream(stream, rules);
	fclose(stream);
	return log;
}

/* A log told from its content, with that many records. */
static inline struct log_read *log_as(const char *text, const char *format, size_t records)
{
	struct log_read *log = log_text(text, (struct import_rules){0});
	OK(log->result == 0, "%s is read: %s", format, log->err.text);
	IS_STR(log->record[0].format, format, "told from its content");
	IS_I64(log->records, records, "its records");
	return log;
}

/* A file beside the tests, told from its content, with that many records. */
static inline struct log_read *log_file_as(const char *folder, const char *name, const char *format, size_t records)
{
	struct log_read *log = log_file(folder, name, (struct import_rules){0});
	OK(log && log->result == 0, "%s is read: %s", name, log ? log->err.text : "not there");
	IS_STR(log->record[0].format, format, "told from its content");
	IS_I64(log->records, records, "its records");
	return log;
}

/* The bin that a figure lies in. */
#define IS_RANGE(ranked, low_ns, high_ns, what)                                                                        \
	do {                                                                                                           \
		IS_I64((ranked)->least_ns, (low_ns), what " (from)");                                                  \
		IS_I64((ranked)->value_ns, (high_ns), what " (to)");                                                   \
	} while (0)

/* One that is refused, with these words. */
#define REFUSES(foreign, words)                                                                                          \
	do {                                                                                                           \
		struct log_read *refused = log_text((foreign), (struct import_rules){0});                              \
		OK(refused->result == -1, "refused");                                                                  \
		SAYS(refused->err.text, words);                                                                        \
		free(refused);                                                                                         \
	} while (0)

#define SAYS(text, part) OK(strstr((text), (part)) != NULL, "says \"%s\" in: %.600s", (part), (text))
