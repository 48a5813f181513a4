/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file that holds samples, whatever its format: a recording or a log that
 * import knows, told apart by content. Commands loop over its records and do not
 * care which it is.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "import/import.h"
#include "report/stat_view.h"
#include "tare/run.h"

struct source;
struct import;
struct tare_recording;

/* How to read; `label` NULL and `round` 0 take every round. */
struct source_rules {
	int64_t every_ns; /* imported logs: the interval that was asked for; 0: inferred */
	const char *name;          /* what messages call the file; NULL: its path */
	const char *format;        /* logs: read as this, whatever it looks like; NULL: as it looks */
	const char *column, *unit; /* plain numbers: which column, and what one is; NULL: as the file tells */
	const char *with;          /* logs: files that belong to it, see import_rules */
	bool lenient;     /* pass over what is damaged */
	bool packed;      /* long series of recordings come packed, see tare_recording_pack */
	const char *label;
	uint64_t round;
	struct capture_rules capture;
};

/* path "-" is standard input, which can only be a log. Rules are borrowed. */
int source_open(const char *path, const struct source_rules *rules, struct source **ret_source,
	struct tare_err *err) TARE_MUST_USE;
void source_free(struct source *source); /* NULL is fine */
static inline void source_end(struct source *const *source) /* for AUTO_CLEANUP */
{
	source_free(*source);
}
/* A regular file, which may be opened a second time. */
bool source_is_rereadable(const char *path);
/*
 * Next record that the rules take: 1, 0 at the end, -1. Runs, targets, rounds and strings live until source_free, the
 * record itself until the next call. Its series has the bound on the clocks' offset that its run was told.
 */
int source_next(struct source *source, const struct tare_record **ret_record, struct tare_err *err) TARE_MUST_USE;
/* The recording or the log behind it; NULL where it is the other. */
struct tare_recording *source_recording(const struct source *source);
const struct import *source_import(const struct source *source);
/* What was found about the stalls of a record's round; none for logs. Lives until source_free. */
int source_causes(struct source *source, const struct tare_record *record, const struct tare_cause **ret_causes,
	size_t *ret_count, struct tare_err *err) TARE_MUST_USE;
/* What is to be said beyond the figures; call it at the end of the records. */
int source_tell(struct source *source, struct stat_view *view, struct tare_err *err) TARE_MUST_USE;
/* Damage that was passed over, as a sentence; false when there was none. */
bool source_damage(const struct source *source, char *buffer, size_t room);
