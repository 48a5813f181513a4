/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of a recording as its own files see it. */
#pragma once
#include "lib/chunk.h"
#include "lib/packed.h"
#include "lib/recording_schema.h"

struct read_target {
	int64_t run_id;
	struct tare_target target;
};
struct read_round {
	int64_t run_id;
	struct tare_round round;
};

struct read_series {
	int64_t id;
	size_t run, round, target; /* indices */
	struct tare_beside beside;
	int64_t resolution_ns, first_due_ns;
	uint64_t samples;
	uint32_t chunk_samples;
	uint32_t columns;
	uint8_t column[SAMPLE_COLUMNS]; /* indices into sample_columns, ascending */
	int64_t first_chunk;
	struct tare_origin origin;
	struct tare_bins bins; /* its ranges are found when the series is read */
	int64_t first_bin;
	uint64_t slices_before; /* of the series read earlier: "chunk 17 of 20" counts over the whole file */
};

/* Rows beside the samples, loaded when first asked for; sorted by run and round. */
enum side {
	SIDE_SETTING, SIDE_FACT, SIDE_EVENT, SIDE_READING, SIDE_CAUSE, SIDE_EVIDENCE,
	SIDE_PLAN, SIDE_STEP, SIDE_COMMAND, SIDE_VERDICT, SIDE_SHARE, SIDE_COUNT
};
struct side_key {
	int64_t run, round;
	size_t at;
};
struct side_table {
	struct side_key *keys;
	void *items;
	size_t count, room, item_room;
	bool loaded;
};

struct text_block;

struct tare_recording {
	char *path;
	sqlite3 *db;
	bool lenient, cut_off;
	int version; /* format of the file */
	uint64_t file_bytes;
	int64_t rows[TABLE_COUNT];  /* the tally; -1: unreadable */
	uint64_t steps, steps_most; /* of SQLite's machine, in tens of thousands */

	struct text_block *texts;
	size_t text_bytes;

	struct tare_run *runs;
	struct read_target *targets;
	struct read_round *rounds;
	struct read_series *series;
	struct tare_range *ranges; /* by id - 1; lost ones have count 0 */
	size_t range_count, range_room;
	size_t run_count, run_room, target_count, target_room, round_count, round_room, series_count, series_room;
	uint64_t samples, slices, orphan_samples;
	struct side_table sides[SIDE_COUNT];

	/* the series being read */
	size_t next;
	uint64_t wanted, needed; /* sets of sample_columns */
	sqlite3_stmt *chunk;
	struct chunk_codec *codec;
	int64_t *wide;
	size_t pack_least; /* samples of a series from which on stages are packed; 0: never */
	struct tare_packed packed[SAMPLE_COLUMNS];
	void *values[SAMPLE_COLUMNS]; /* of a packed stage: one slice */
	size_t room[SAMPLE_COLUMNS]; /* bytes */
	struct tare_record record;

	struct tare_damage damage;
	bool ended;
};

/*
 * Damage at a place: fails with the sentence, or when lenient notes the first and
 * returns 0. The place is "table 'round', row 7"; the reason a word or two.
 */
int recording_damaged(struct tare_recording *recording, const char *reason, struct tare_err *err, const char *place,
	...) TARE_PRINTF(4, 5);
/*
 * True for what damage at one place makes SQLite say; false for what the system
 * or memory does, and for a file crafted to keep it busy (SQLITE_INTERRUPT).
 */
bool recording_result_is_damage(int result);

/* Opens the database, checks head and schema, handles a journal left behind. */
int recording_open_database(struct tare_recording *recording, struct tare_err *err) TARE_MUST_USE;

/* A row in the order of the table's `sealed` columns: 0, 1 when it makes no sense, -1 on failure. */
typedef int recording_row(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err);
/* Gives every sound row to `take`, by id; the caller holds a read transaction and has read the tally. */
int recording_scan(struct tare_recording *recording, enum recording_table table, recording_row *take,
	struct tare_err *err) TARE_MUST_USE;
/* A read transaction around scans after the first: a writer may have added rows since. */
int recording_begin_reading(struct tare_recording *recording, struct tare_err *err) TARE_MUST_USE;
int recording_end_reading(struct tare_recording *recording, struct tare_err *err) TARE_MUST_USE;
int recording_refresh_size(struct tare_recording *recording, struct tare_err *err) TARE_MUST_USE;
int recording_read_tally(struct tare_recording *recording, struct tare_err *err) TARE_MUST_USE;

/* Origins and bins of the series just loaded, before they are sorted. */
int recording_read_origins(struct tare_recording *recording, struct tare_err *err) TARE_MUST_USE;

/* A text of a row, kept as long as the recording; *ret_text NULL for NULL. */
int recording_text(struct tare_recording *recording, sqlite3_stmt *row, int column, const char **ret_text,
	struct tare_err *err) TARE_MUST_USE;
/* NULL is TARE_NO_TIME. */
int64_t recording_time(sqlite3_stmt *row, int column);
/* Room for one more item in an array; 0 or -1. */
int recording_grow(const struct tare_recording *recording, void *items_slot, size_t item_bytes, size_t count,
	size_t *room, struct tare_err *err) TARE_MUST_USE;
