/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writer of a recording as its own files see it: rows in, one transaction at a time. */
#pragma once
#include "lib/chunk.h"
#include "lib/recording_schema.h"

struct tare_writer {
	char *path;
	sqlite3 *db;
	int lock_fd;
	struct chunk_codec *codec;
	int64_t *wide; /* CHUNK_SAMPLES_MAX values of a narrow column */
	sqlite3_stmt *insert[TABLE_COUNT];
	sqlite3_stmt *tally;
	/* Rows per table; ids are 1 to rows, so the next id is known without asking. */
	int64_t rows[TABLE_COUNT], committed_rows[TABLE_COUNT];
};

/* One value of a row. */
struct field {
	enum { FIELD_NULL, FIELD_INTEGER, FIELD_TEXT } type;
	int64_t integer;
	const char *text;
};

static inline struct field field_int(int64_t value)
{
	return (struct field){.type = FIELD_INTEGER, .integer = value};
}
/* TARE_NO_TIME becomes NULL. */
static inline struct field field_time(int64_t value)
{
	return (struct field){.type = value == TARE_NO_TIME ? FIELD_NULL : FIELD_INTEGER, .integer = value};
}
static inline struct field field_text(const char *text)
{
	return (struct field){.type = text ? FIELD_TEXT : FIELD_NULL, .text = text};
}
/* 0 becomes NULL: no such row. */
static inline struct field field_id(int64_t id)
{
	return (struct field){.type = id == 0 ? FIELD_NULL : FIELD_INTEGER, .integer = id};
}

/* A transaction; abandon undoes it after a failure and returns -1. */
int writer_begin(struct tare_writer *writer, struct tare_err *err) TARE_MUST_USE;
int writer_commit(struct tare_writer *writer, struct tare_err *err) TARE_MUST_USE;
int writer_abandon(struct tare_writer *writer);
/* Fails unless the run is there, whole, and has not ended. */
int writer_require_open_run(struct tare_writer *writer, int64_t run_id, struct tare_err *err) TARE_MUST_USE;

/* Adds a row behind the others of its table; `fields` are all columns but id, seal and data. *ret_id may be NULL. */
int writer_insert(struct tare_writer *writer, enum recording_table table, const struct field *fields, int count,
	const void *data, size_t bytes, int64_t *ret_id, struct tare_err *err) TARE_MUST_USE;
#define WRITER_INSERT(writer, table, ret_id, err, ...)                                                                 \
	writer_insert((writer), (table), (const struct field[]){__VA_ARGS__},                                          \
		(int)(sizeof((const struct field[]){__VA_ARGS__}) / sizeof(struct field)), NULL, 0, (ret_id), (err))

/* The samples of one target in one round: a row of `series` and its chunks. */
int writer_series(struct tare_writer *writer, int64_t round_id, int64_t interval_ns, const struct tare_record *record,
	struct tare_err *err) TARE_MUST_USE;

/* ---- the write lock ---- */

/* Takes the lock on an open file, or fails with the sentence that names its holder. Closing fd releases it. */
int recording_lock(int fd, const char *path, struct tare_err *err) TARE_MUST_USE;
