/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the tables of a recording. Rows are read by id, which the writer
 * counted up from 1: a gap, a repetition or a seal that does not fit is damage,
 * and so is a table with fewer rows than the tally says.
 */
#include "lib/recording_read.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"

struct text_block {
	struct text_block *next;
	char bytes[];
};

/* ---- damage ---- */

bool recording_result_is_damage(int result)
{
	switch (result & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_TOOBIG:
	case SQLITE_ERROR:
		return true;
	default:
		return result == SQLITE_IOERR_SHORT_READ;
	}
}

int recording_damaged(
	struct tare_recording *recording, const char *reason, struct tare_err *err, const char *place, ...)
{
	char text[160];
	va_list args;

	va_start(args, place);
	vsnprintf(text, sizeof(text), place, args);
	va_end(args);
	const char *what = recording->cut_off ? "cut off" : "damaged";
	if (!recording->lenient)
		return tare_fail(err, TARE_E_FORMAT, "'%s' is %s in %s (%s)", recording->path, what, text, reason);
	if (recording->damage.reason[0] == '\0') {
		char *to = recording->damage.reason;
		size_t room = sizeof(recording->damage.reason);
		/* The place is cut before the reason is. */
		int rest = snprintf(NULL, 0, "%s in  (%s)", what, reason);
		snprintf(to, room, "%s in %.*s (%s)", what, rest < (int)room ? (int)room - 1 - rest : 0, text, reason);
	}
	return 0;
}

int recording_begin_reading(struct tare_recording *recording, struct tare_err *err)
{
	if (recording_exec(recording->db, "read", recording->path, "BEGIN; SELECT 1 FROM sqlite_master LIMIT 1", err) <
		0)
		return -1;
	return recording_refresh_size(recording, err) < 0 ? -1 : recording_read_tally(recording, err);
}

int recording_end_reading(struct tare_recording *recording, struct tare_err *err)
{
	/* SQLite ends it by itself after some kinds of damage. */
	if (sqlite3_get_autocommit(recording->db))
		return 0;
	return recording_exec(recording->db, "read", recording->path, "COMMIT", err);
}

/* ---- values of rows ---- */

int recording_text(
	struct tare_recording *recording, sqlite3_stmt *row, int column, const char **ret_text, struct tare_err *err)
{
	const void *text = sqlite3_column_text(row, column);
	size_t bytes = (size_t)sqlite3_column_bytes(row, column);

	if (!text) {
		if (sqlite3_column_type(row, column) != SQLITE_NULL)
			return tare_fail_errno(err, ENOMEM, "cannot read '%s'", recording->path);
		*ret_text = NULL;
		return 0;
	}
	/* Crafted rows may share the pages of one long text; no sound file holds more text than bytes. */
	if (bytes > recording->file_bytes - recording->text_bytes)
		return tare_fail(err, TARE_E_FORMAT, "'%s' is damaged: it holds more text than bytes", recording->path);
	struct text_block *block = malloc(sizeof(*block) + bytes + 1);
	if (!block)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", recording->path);
	memcpy(block->bytes, text, bytes);
	block->bytes[bytes] = '\0';
	block->next = recording->texts;
	recording->texts = block;
	recording->text_bytes += bytes;
	*ret_text = block->bytes;
	return 0;
}

int64_t recording_time(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL ? TARE_NO_TIME : sqlite3_column_int64(row, column);
}

/* False when the value does not fit. */
static bool count_of(sqlite3_stmt *row, int column, uint32_t *ret_count)
{
	int64_t value = sqlite3_column_int64(row, column);
	if (value < 0 || value > UINT32_MAX)
		return false;
	*ret_count = (uint32_t)value;
	return true;
}

int recording_grow(const struct tare_recording *recording, void *items_slot, size_t item_bytes, size_t count,
	size_t *room, struct tare_err *err)
{
	void *items = NULL;

	if (count < *room)
		return 0;
	size_t more = *room ? *room * 2 : 16;
	memcpy(&items, items_slot, sizeof(items));
	items = reallocarray(items, more, item_bytes);
	if (!items)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", recording->path);
	memcpy(items_slot, &items, sizeof(items));
	*room = more;
	return 0;
}

/* ---- tables ---- */

int recording_read_tally(struct tare_recording *recording, struct tare_err *err)
{
	AUTO_STATEMENT statement = recording_prepare(recording->db, "read", recording->path, err,
		"SELECT rows, seal = tare_seal(id, name, rows) FROM tally WHERE id = ?1");
	if (!statement)
		return -1;
	for (int i = 0; i < recording_table_count(recording->version); i++) {
		sqlite3_bind_int(statement, 1, i + 1);
		int result = sqlite3_step(statement);
		if (result != SQLITE_ROW && result != SQLITE_DONE && !recording_result_is_damage(result))
			return recording_fail(recording->db, "read", recording->path, err);
		if (result == SQLITE_DONE && i >= TABLE_ALWAYS) {
			recording->rows[i] = 0;
			sqlite3_reset(statement);
			continue;
		}
		recording->rows[i] = result == SQLITE_ROW && sqlite3_column_int(statement, 1)
					     ? sqlite3_column_int64(statement, 0)
					     : -1;
		/* No row is shorter than 8 bytes: it has a seal. */
		if (i != TABLE_SAMPLES && recording->rows[i] > (int64_t)(recording->file_bytes / 8) &&
			!recording->cut_off)
			recording->rows[i] = -1;
		if (recording->rows[i] < 0) {
			recording->rows[i] = -1;
			if (recording_damaged(recording, "seal", err, "table 'tally', row %d", i + 1) < 0)
				return -1;
		}
		sqlite3_reset(statement);
	}
	return 0;
}

/* One sound row to its taker. */
static int give_row(struct tare_recording *recording, enum recording_table table, sqlite3_stmt *row, int seal_column,
	recording_row *take, struct tare_err *err)
{
	bool sealed = sqlite3_column_int(row, seal_column) == 1;
	int status = sealed ? take(recording, row, err) : 1;

	if (status > 0)
		return recording_damaged(recording, sealed ? "makes no sense" : "seal", err, "table '%s', row %lld",
			recording_tables[table].name, (long long)sqlite3_column_int64(row, 0));
	return status;
}

static int columns_in(const char *list)
{
	int count = 1;
	for (; *list; list++)
		count += *list == ',';
	return count;
}

int recording_scan(
	struct tare_recording *recording, enum recording_table table, recording_row *take, struct tare_err *err)
{
	const struct recording_table_text *text = &recording_tables[table];
	AUTO_STATEMENT statement = recording_prepare(recording->db, "read", recording->path, err,
		"SELECT %s, seal = tare_seal(%s) FROM %s WHERE id >= ?1 ORDER BY id", text->sealed, text->sealed,
		text->name);
	int64_t next = 1;
	const int64_t rows = recording->rows[table];
	const int seal_column = columns_in(text->sealed);

	if (!statement)
		return -1;
	for (;;) {
		int result;
		sqlite3_bind_int64(statement, 1, next);
		while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
			int64_t id = sqlite3_column_int64(statement, 0);
			/* A tree that leads to the same page again gives ids again. */
			if (id < next)
				return tare_fail(err, TARE_E_FORMAT, "'%s' is damaged: table '%s' repeats its rows",
					recording->path, text->name);
			if (id > next && recording_damaged(recording, "missing", err, "table '%s', row %lld",
						 text->name, (long long)next) < 0)
				return -1;
			if (give_row(recording, table, statement, seal_column, take, err) < 0)
				return -1;
			if (id == INT64_MAX)
				break;
			next = id + 1;
		}
		if (result == SQLITE_DONE)
			break;
		if (result != SQLITE_ROW && !recording_result_is_damage(result))
			return recording_fail(recording->db, "read", recording->path, err);
		sqlite3_reset(statement);
		if (recording_damaged(
			    recording, "unreadable", err, "table '%s', row %lld", text->name, (long long)next) < 0)
			return -1;
		/* Past the damaged page, row by row. */
		if (result == SQLITE_ROW || ++next > rows)
			return 0;
	}
	if (rows >= 0 && next - 1 < rows)
		return recording_damaged(
			recording, "missing", err, "table '%s', row %lld", text->name, (long long)next);
	return 0;
}

static int take_run(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_run run = {
		.id = sqlite3_column_int64(row, 0),
		.epoch_real_ns = sqlite3_column_int64(row, 1),
		.epoch_mono_ns = sqlite3_column_int64(row, 2),
		.seed = (uint64_t)sqlite3_column_int64(row, 4),
	};

	if (!run_status_by_word((const char *)sqlite3_column_text(row, 3), &run.status))
		return 1;
	if (recording_text(recording, row, 5, &run.tool, err) < 0 ||
		recording_text(recording, row, 6, &run.host, err) < 0 ||
		recording_text(recording, row, 7, &run.kernel, err) < 0 ||
		recording_text(recording, row, 8, &run.command_line, err) < 0 ||
		recording_text(recording, row, 9, &run.spool, err) < 0 ||
		recording_grow(
			recording, &recording->runs, sizeof(run), recording->run_count, &recording->run_room, err) < 0)
		return -1;
	recording->runs[recording->run_count++] = run;
	return 0;
}

static int take_target(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct read_target that = {
		.run_id = sqlite3_column_int64(row, 1),
		.target.id = sqlite3_column_int64(row, 0),
	};

	if (!count_of(row, 2, &that.target.position) || !count_of(row, 6, &that.target.payload_bytes))
		return 1;
	if (recording_text(recording, row, 3, &that.target.url, err) < 0 ||
		recording_text(recording, row, 4, &that.target.kind, err) < 0 ||
		recording_text(recording, row, 5, &that.target.address, err) < 0 ||
		recording_grow(recording, &recording->targets, sizeof(that), recording->target_count,
			&recording->target_room, err) < 0)
		return -1;
	recording->targets[recording->target_count++] = that;
	return 0;
}

static int take_round(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct read_round that = {
		.run_id = sqlite3_column_int64(row, 1),
		.round =
			{
				.id = sqlite3_column_int64(row, 0),
				.first_due_ns = recording_time(row, 4),
				.interval_ns = recording_time(row, 5),
				.phase_ns = recording_time(row, 6),
				.jitter_ns = recording_time(row, 7),
				.timeout_ns = recording_time(row, 8),
				.ended_ns = recording_time(row, 9),
				.axis_error_ns = recording_time(row, 10),
			},
	};

	if (!count_of(row, 2, &that.round.number) || !count_of(row, 11, &that.round.warmup))
		return 1;
	if (recording_text(recording, row, 3, &that.round.label, err) < 0 ||
		recording_text(recording, row, 12, &that.round.status, err) < 0 ||
		recording_grow(recording, &recording->rounds, sizeof(that), recording->round_count,
			&recording->round_room, err) < 0)
		return -1;
	recording->rounds[recording->round_count++] = that;
	return 0;
}

/* Index of an id in an array sorted by it whose items have the id at `offset`; `count` when it is not there. */
static size_t find(const void *items, size_t count, size_t item_bytes, size_t offset, int64_t id)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int64_t there;
		memcpy(&there, (const char *)items + middle * item_bytes + offset, sizeof(there));
		if (there == id)
			return middle;
		if (there < id)
			low = middle + 1;
		else
			high = middle;
	}
	return count;
}

/* "fate due user_tx" into ascending indices; false when it is not such a list. */
static bool parse_columns(const char *list, struct read_series *series)
{
	int last = -1;

	while (list && *list) {
		size_t bytes = strcspn(list, " ");
		int column = column_by_name(list, bytes);
		if (column <= last)
			return false;
		series->column[series->columns++] = (uint8_t)column;
		last = column;
		list += bytes + (list[bytes] == ' ');
	}
	return series->columns > 0 && series->column[0] == COLUMN_AT_FATE;
}

/* Round, target and run of a series, all there and of one run. */
static bool link_series(
	const struct tare_recording *recording, struct read_series *series, int64_t round_id, int64_t target_id)
{
	series->round = find(recording->rounds, recording->round_count, sizeof(*recording->rounds),
		offsetof(struct read_round, round.id), round_id);
	series->target = find(recording->targets, recording->target_count, sizeof(*recording->targets),
		offsetof(struct read_target, target.id), target_id);
	if (series->round == recording->round_count || series->target == recording->target_count)
		return false;
	int64_t run_id = recording->rounds[series->round].run_id;
	series->run = find(
		recording->runs, recording->run_count, sizeof(*recording->runs), offsetof(struct tare_run, id), run_id);
	return series->run < recording->run_count && recording->targets[series->target].run_id == run_id;
}

static int take_series(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	/*
	 * Even columns that all compress to nothing cost rows: no real file comes near 16 samples a byte, and
	 * what a crafted one can make us allocate stays in proportion to its size.
	 */
	uint64_t most = (UINT64_C(16) << 20) + 16 * recording->file_bytes;
	struct read_series that = {
		.id = sqlite3_column_int64(row, 0),
		.first_due_ns = recording_time(row, 4),
		.resolution_ns = sqlite3_column_int64(row, 10),
		.beside =
			{
				.duplicate = (uint64_t)sqlite3_column_int64(row, 5),
				.reordered = (uint64_t)sqlite3_column_int64(row, 6),
				.foreign = (uint64_t)sqlite3_column_int64(row, 7),
				.unmatched_errors = (uint64_t)sqlite3_column_int64(row, 8),
			},
		.first_chunk = sqlite3_column_int64(row, 13),
	};
	int64_t samples = sqlite3_column_int64(row, 3), chunks = sqlite3_column_int64(row, 14);

	if (samples < 0 || (!recording->cut_off && (uint64_t)samples > most - recording->samples) ||
		!count_of(row, 9, &that.beside.stamps_asked) || !count_of(row, 12, &that.chunk_samples) ||
		that.chunk_samples < RECORDING_CHUNK_SAMPLES_LEAST || that.chunk_samples > CHUNK_SAMPLES_MAX ||
		!parse_columns((const char *)sqlite3_column_text(row, 11), &that) || that.first_chunk < 1)
		return 1;
	that.samples = (uint64_t)samples;
	uint64_t slices = (that.samples + that.chunk_samples - 1) / that.chunk_samples;
	if (chunks < 0 || (uint64_t)chunks != slices * that.columns || that.first_chunk > INT64_MAX - chunks)
		return 1;
	if (!link_series(recording, &that, sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2))) {
		recording->orphan_samples += that.samples;
		return 1;
	}
	recording->samples += that.samples;
	recording->slices += slices;
	if (recording_grow(recording, &recording->series, sizeof(that), recording->series_count,
		    &recording->series_room, err) < 0)
		return -1;
	recording->series[recording->series_count++] = that;
	return 0;
}

/* ---- order ---- */

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Run, round number, target position; ids decide where a damaged or hand-made file leaves that open. */
static int compare_series(const void *left, const void *right, void *context)
{
	const struct tare_recording *recording = context;
	const struct read_series *a = left, *b = right;
	int order = compare_i64((int64_t)a->run, (int64_t)b->run);

	if (order == 0)
		order = compare_i64(recording->rounds[a->round].round.number, recording->rounds[b->round].round.number);
	if (order == 0)
		order = compare_i64((int64_t)a->round, (int64_t)b->round);
	if (order == 0)
		order = compare_i64(
			recording->targets[a->target].target.position, recording->targets[b->target].target.position);
	return order ? order : compare_i64(a->id, b->id);
}

static void sort_series(struct tare_recording *recording)
{
	uint64_t slices = 0;

	if (recording->series_count > 1)
		qsort_r(recording->series, recording->series_count, sizeof(*recording->series), compare_series,
			recording);
	for (size_t i = 0; i < recording->series_count; i++) {
		struct read_series *series = &recording->series[i];
		series->slices_before = slices;
		slices += (series->samples + series->chunk_samples - 1) / series->chunk_samples;
	}
}

/* ---- open and free ---- */

static void auto_recording_end(struct tare_recording **recording)
{
	tare_recording_free(*recording);
}

static int load(struct tare_recording *recording, struct tare_err *err)
{
	/* One transaction, begun by recording_open_database: a writer may add a round at any time. */
	if (recording_read_tally(recording, err) < 0 || recording_scan(recording, TABLE_RUN, take_run, err) < 0 ||
		recording_scan(recording, TABLE_TARGET, take_target, err) < 0 ||
		recording_scan(recording, TABLE_ROUND, take_round, err) < 0 ||
		recording_scan(recording, TABLE_SERIES, take_series, err) < 0 ||
		recording_read_origins(recording, err) < 0)
		return -1;
	sort_series(recording);
	return recording_end_reading(recording, err);
}

int tare_recording_open(const char *path, bool lenient, struct tare_recording **ret_recording, struct tare_err *err)
{
	AUTO_CLEANUP(auto_recording_end) struct tare_recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", path);
	recording->lenient = lenient;
	recording->wanted = recording->needed = UINT64_MAX;
	recording->path = strdup(path);
	recording->wide = malloc((size_t)CHUNK_SAMPLES_MAX * sizeof(*recording->wide));
	if (!recording->path || !recording->wide)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", path);
	if (chunk_codec_open(false, &recording->codec, err) < 0 || recording_open_database(recording, err) < 0 ||
		load(recording, err) < 0)
		return -1;
	*ret_recording = take_ptr(recording);
	return 0;
}

void tare_recording_free(struct tare_recording *recording)
{
	if (!recording)
		return;
	sqlite3_finalize(recording->chunk);
	sqlite3_close_v2(recording->db);
	for (struct text_block *block = recording->texts; block;) {
		struct text_block *next = block->next;
		free(block);
		block = next;
	}
	for (int i = 0; i < SIDE_COUNT; i++) {
		free(recording->sides[i].keys);
		free(recording->sides[i].items);
	}
	for (int i = 0; i < SAMPLE_COLUMNS; i++) {
		free(recording->values[i]);
		packed_end(&recording->packed[i]);
	}
	chunk_codec_free(recording->codec);
	free(recording->wide);
	free(recording->runs);
	free(recording->targets);
	free(recording->rounds);
	free(recording->series);
	free(recording->ranges);
	free(recording->path);
	free(recording);
}

size_t tare_recording_runs(const struct tare_recording *recording, const struct tare_run **ret_runs)
{
	*ret_runs = recording->runs;
	return recording->run_count;
}

const struct tare_run *tare_recording_unfinished(const struct tare_recording *recording)
{
	for (size_t i = 0; i < recording->run_count; i++) {
		if (recording->runs[i].status == TARE_RUN_UNFINISHED)
			return &recording->runs[i];
	}
	return NULL;
}
