/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The readers of logs lie in log/, one file a format or family of them; those of packets in capture/.
 * What the readers of single formats share: the text being read, memory for all
 * that lives as long as the import, notes and events. A format is a row of the
 * table in formats.c: how to know it, how to open, read and free it.
 */
#pragma once
#include "import/import.h"
#include "import/input.h"
#include "import/lines.h"

struct arena;

struct pieces;

struct import_format {
	const char *name;
	/* Looks at the lines of a file's head; NULL for captures. */
	bool (*knows)(struct lines *head);
	int (*open)(struct import *import, void **ret_reader, struct tare_err *err);
	int (*next)(struct import *import, void *reader, const struct tare_record **ret_record, struct tare_err *err);
	void (*free)(void *reader);
	/* Instead of the last three: reads everything at once (pieces.h). */
	int (*read)(struct import *import, struct pieces *pieces, struct tare_err *err);
	bool joins;       /* knows what to do with import_rules.with */
	const char *tool; /* what recordings note as the run's tool */
	const char *help; /* "a full log of sockperf" */
};

struct import {
	char *name;
	FILE *own_stream; /* NULL when it is the caller's */
	struct import_rules rules;
	struct input *input;
	FILE *unpacked;      /* the input as a stream, for lines; NULL for captures */
	struct lines *lines; /* NULL for captures */
	const struct import_format *format;
	void *reader;

	struct arena **arenas;
	size_t arena_count;

	struct import_note *notes;
	size_t note_count;
	struct tare_event *events;
	size_t event_count;
	uint32_t round; /* of the record being read, from 1 */

	struct tare_run run;
	struct ping_schedule schedule;
	bool has_schedule, encoding_noted;
};

/* Zeroed memory until import_free(); NULL with err set when there is none. */
void *import_take(struct import *import, size_t count, size_t size, struct tare_err *err);
char *import_text(struct import *import, const char *text, struct tare_err *err);

/* Both drop what exceeds IMPORT_NOTES_MAX and IMPORT_EVENTS_MAX; -1 only without memory. */
int import_note(struct import *import, enum import_note_kind kind, struct tare_err *err, const char *format, ...)
	TARE_PRINTF(4, 5) TARE_MUST_USE;
int import_event(struct import *import, int64_t at_ns, const char *kind, struct tare_err *err, const char *format, ...)
	TARE_PRINTF(5, 6) TARE_MUST_USE;

/* `foreign` quoted and made harmless, for a message. */
struct quoted {
	char text[96];
};
struct quoted quote(const char *foreign, size_t bytes);

extern const struct import_format ping_format, numbers_format;
