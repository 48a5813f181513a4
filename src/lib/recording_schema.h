/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What writer and reader of a recording share: the tables, the columns of
 * samples, the seal, and how SQLite's failures are told. docs/recording.md is
 * the description for people; a change here is a change of the format.
 */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/recording.h"

/* "tare" in ASCII, at offset 68 of the file; registered nowhere. */
enum { RECORDING_APPLICATION_ID = 0x74617265 };

enum recording_table {
	TABLE_RUN,
	TABLE_SETTING,
	TABLE_FACT,
	TABLE_TARGET,
	TABLE_ROUND,
	TABLE_SERIES,
	TABLE_CHUNK,
	TABLE_READING,
	TABLE_EVENT,
	TABLE_SAMPLES, /* not a table: the tally of all samples */
	/* From format 2 on, each made when first written to: most recordings need none, and a table is 4 kB. */
	TABLE_CAUSE, TABLE_EVIDENCE, TABLE_PLAN, TABLE_STEP, TABLE_COMMAND, TABLE_VERDICT,
	TABLE_ORIGIN, TABLE_BIN, TABLE_SHARE,
	TABLE_COUNT,
	TABLE_ALWAYS = TABLE_SAMPLES + 1
};
/* Tables that a recording of this format may have: the first ones. */
static inline int recording_table_count(int version)
{
	return version < 2 ? TABLE_CAUSE : TABLE_COUNT;
}

struct recording_table_text {
	const char *name;
	const char *sealed;  /* what the seal covers, in order: all columns but seal and data */
	const char *columns; /* definitions of all columns */
};
extern const struct recording_table_text recording_tables[TABLE_COUNT];

/* ---- columns of samples ---- */

enum column_kind { COLUMN_FATE, COLUMN_FLAGS, COLUMN_REASON, COLUMN_CPU, COLUMN_STAGE, COLUMN_GIVEN };
enum { SAMPLE_COLUMNS = 3 + TARE_CPU_PLACES + TARE_STAGE_COUNT + TARE_SPAN_COUNT, NO_REFERENCE = -1 };
_Static_assert(SAMPLE_COLUMNS < 64, "sets of columns are 64-bit masks");

/*
 * In the order of their chunks: fate first, a stage behind every stage it may be
 * stored against.
 */
struct sample_column {
	const char *name;
	enum column_kind kind;
	int index;     /* enum tare_stage, tare_span or tare_cpu_place */
	int reference; /* stages: the column its chunks are stored against first, by index into this table */
};
extern const struct sample_column sample_columns[SAMPLE_COLUMNS];

/* Index into sample_columns of a stage, of a span given directly. */
int column_of_stage(enum tare_stage stage);
int column_of_given(enum tare_span span);
int column_of_cpu(enum tare_cpu_place place);
enum { COLUMN_AT_FATE = 0, COLUMN_AT_FLAGS = 1, COLUMN_AT_REASON = 2 };
/* Index by name of `bytes` bytes, or -1. */
int column_by_name(const char *name, size_t bytes);

/* ---- samples in slices ---- */

/*
 * Chunks of 16384: the columns of rtt and late are 1 % larger than in chunks of
 * 65536, and a damaged page costs a quarter of the samples.
 */
enum { RECORDING_CHUNK_SAMPLES = 16384, RECORDING_CHUNK_SAMPLES_LEAST = 1024 };

/* ---- the file ---- */

/* What the first 100 bytes say. */
struct recording_head {
	uint32_t page_bytes, pages, application_id, version;
	bool is_sqlite, is_wal;
};
enum { RECORDING_HEAD_BYTES = 100 };
struct recording_head recording_head_of(const uint8_t head[RECORDING_HEAD_BYTES]);
/* 0 when a file that starts like this is a recording we read, otherwise the sentence. `bytes` of head were there. */
int recording_head_check(const char *path, const uint8_t *head, size_t bytes, struct tare_err *err) TARE_MUST_USE;

/*
 * The path for SQLite: relative ones with "./" in front, so that ":memory:" and
 * "file:x" are files like any other. NULL when out of memory; free() it.
 */
char *recording_sqlite_path(const char *path);

/*
 * Refuses a rollback journal that names a further file: SQLite would read, and
 * might delete, whatever a stranger wrote there. We never make such journals.
 */
int recording_journal_check(const char *path, struct tare_err *err) TARE_MUST_USE;

/* Limits, no triggers, no views, and the function tare_seal(), for a connection just opened. */
int recording_connection(sqlite3 *db, const char *path, struct tare_err *err) TARE_MUST_USE;

/* Creates all tables, application_id and user_version; the caller holds a transaction. */
int recording_create(sqlite3 *db, const char *path, struct tare_err *err) TARE_MUST_USE;
/* One of those that not every file has, with its tally; in the caller's transaction. */
int recording_create_table(sqlite3 *db, const char *path, enum recording_table table, struct tare_err *err) TARE_MUST_USE;
/* Fails unless every table of its format is there, defined as we define it; *ret_version is that format. */
int recording_schema_check(sqlite3 *db, const char *path, int *ret_version, struct tare_err *err) TARE_MUST_USE;
/* Makes a recording of an older format one of ours; the caller holds a transaction. */
int recording_upgrade(sqlite3 *db, const char *path, struct tare_err *err) TARE_MUST_USE;

/* Prepares a statement built from a format. NULL on failure, err filled ("cannot VERB 'PATH': …"). */
sqlite3_stmt *recording_prepare(sqlite3 *db, const char *verb, const char *path, struct tare_err *err,
	const char *format, ...) TARE_PRINTF(5, 6);
int recording_exec(
	sqlite3 *db, const char *verb, const char *path, const char *sql, struct tare_err *err) TARE_MUST_USE;
/* What SQLite just answered as a sentence, with the system's reason where it has one; -1. */
int recording_fail(sqlite3 *db, const char *verb, const char *path, struct tare_err *err);

static inline void auto_statement_end(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}
#define AUTO_STATEMENT AUTO_CLEANUP(auto_statement_end) sqlite3_stmt *

static inline void auto_database_end(sqlite3 **db)
{
	sqlite3_close_v2(*db);
}
#define AUTO_DATABASE AUTO_CLEANUP(auto_database_end) sqlite3 *

/* Words of status and relation as they stand in the file. */
const char *run_status_word(enum tare_run_status status);
/* False for a word we do not know. */
bool run_status_by_word(const char *word, enum tare_run_status *ret_status);
