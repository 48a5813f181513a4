/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The samples of a recording, one series at a time, only the columns wanted and
 * those they are stored against. A series is decoded slice by slice into one
 * array per column; the arrays are reused from series to series.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/recording_read.h"

static uint64_t bit(int column)
{
	return UINT64_C(1) << column;
}

/* ---- what is wanted ---- */

/* The stages tare_span_of() looks at. */
static uint32_t stages_of_span(enum tare_span span)
{
	static const uint32_t stages[TARE_SPAN_COUNT] = {
#define X(id, name, from, to, help) [TARE_SPAN_##id] = 1U << TARE_STAGE_##from | 1U << TARE_STAGE_##to,
		TARE_SPANS(X)
#undef X
	};
	/* path: wire or stack, minus the host or the residence, whichever was stamped. */
	const uint32_t path = 1U << TARE_STAGE_NIC_TX | 1U << TARE_STAGE_NIC_RX | 1U << TARE_STAGE_PEER_NIC_RX |
			      1U << TARE_STAGE_PEER_NIC_TX | 1U << TARE_STAGE_PEER_RX | 1U << TARE_STAGE_PEER_USER |
			      1U << TARE_STAGE_PEER_TX;

	if (span == TARE_SPAN_PATH)
		return stages[span] | path;
	/* gap exists only where there is no schedule, which must be seen. */
	return stages[span] | (span == TARE_SPAN_GAP ? 1U << TARE_STAGE_DUE : 0);
}

/* With every column that a wanted one may be stored against. */
static uint64_t with_references(uint64_t wanted)
{
	const int user_tx = column_of_stage(TARE_STAGE_USER_TX);

	for (int i = SAMPLE_COLUMNS - 1; i >= 0; i--) {
		if (!(wanted & bit(i)) || sample_columns[i].kind != COLUMN_STAGE)
			continue;
		if (sample_columns[i].reference != NO_REFERENCE)
			wanted |= bit(sample_columns[i].reference);
		if (i > user_tx)
			wanted |= bit(user_tx);
	}
	return wanted;
}

void tare_recording_want(struct tare_recording *recording, uint32_t span_mask, uint32_t stage_mask, unsigned others)
{
	uint64_t wanted = bit(COLUMN_AT_FATE);

	for (int span = 0; span < TARE_SPAN_COUNT; span++) {
		if (span_mask >> span & 1) {
			stage_mask |= stages_of_span((enum tare_span)span);
			wanted |= bit(column_of_given((enum tare_span)span));
		}
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		if (stage_mask >> stage & 1)
			wanted |= bit(column_of_stage((enum tare_stage)stage));
	}
	for (int place = 0; others & TARE_WANT_CPU && place < TARE_CPU_PLACES; place++)
		wanted |= bit(column_of_cpu((enum tare_cpu_place)place));
	wanted |= others & TARE_WANT_FLAGS ? bit(COLUMN_AT_FLAGS) : 0;
	wanted |= others & TARE_WANT_REASON ? bit(COLUMN_AT_REASON) : 0;
	recording->wanted = wanted;
	recording->needed = with_references(wanted);
}

void tare_recording_pack(struct tare_recording *recording, size_t least_samples)
{
	recording->pack_least = least_samples;
}

static bool is_packed(const struct tare_recording *recording, const struct read_series *series, int column)
{
	return recording->pack_least && series->samples >= recording->pack_least &&
	       sample_columns[column].kind == COLUMN_STAGE;
}

/* ---- one chunk ---- */

/* Where in which series we are. `out` is the index of the slice's first sample in the arrays. */
struct slice {
	const struct read_series *series;
	uint64_t number, first;
	size_t out;
	uint32_t n;
	uint64_t sound; /* columns decoded in this slice */
};

/* Where in the column's array the slice begins: a packed stage has room for one slice only. */
static size_t place_of(const struct tare_recording *recording, const struct slice *slice, int column)
{
	return is_packed(recording, slice->series, column) ? 0 : slice->out;
}

static size_t value_bytes(int column)
{
	switch (sample_columns[column].kind) {
	case COLUMN_FATE:
		return sizeof(uint8_t);
	case COLUMN_FLAGS:
	case COLUMN_REASON:
		return sizeof(uint16_t);
	case COLUMN_CPU:
		return sizeof(int16_t);
	default:
		return sizeof(int64_t);
	}
}

/* From 64-bit values into the array of a narrow column; false when one does not fit. */
static bool narrow(void *array, size_t out, const int64_t *wide, uint32_t n, enum column_kind kind)
{
	bool fits = true;

	if (kind == COLUMN_FATE) {
		uint8_t *fates = (uint8_t *)array + out;
		for (uint32_t i = 0; i < n; i++) {
			fits &= wide[i] >= 0 && wide[i] < TARE_FATE_COUNT;
			fates[i] = (uint8_t)wide[i];
		}
	} else if (kind == COLUMN_CPU) {
		int16_t *cpus = (int16_t *)array + out;
		for (uint32_t i = 0; i < n; i++) {
			int64_t cpu = wide[i] == TARE_NO_TIME ? TARE_NO_CPU : wide[i];
			fits &= cpu >= INT16_MIN && cpu <= INT16_MAX;
			cpus[i] = (int16_t)cpu;
		}
	} else {
		uint16_t *words = (uint16_t *)array + out;
		for (uint32_t i = 0; i < n; i++) {
			fits &= wide[i] >= 0 && wide[i] <= UINT16_MAX;
			words[i] = (uint16_t)wide[i];
		}
	}
	return fits;
}

static void fill_missing(void *array, size_t out, uint32_t n, enum column_kind kind)
{
	if (kind == COLUMN_CPU) {
		for (uint32_t i = 0; i < n; i++)
			((int16_t *)array)[out + i] = TARE_NO_CPU;
	} else if (kind == COLUMN_STAGE || kind == COLUMN_GIVEN) {
		for (uint32_t i = 0; i < n; i++)
			((int64_t *)array)[out + i] = TARE_NO_TIME;
	} else if (kind == COLUMN_FLAGS || kind == COLUMN_REASON) {
		memset((uint16_t *)array + out, 0, n * sizeof(uint16_t));
	}
}

static const char relation_lost[] = "what it is relative to is lost";

/* What the chunk is stored against; NULL, or the reason why that cannot be. */
static const char *against_of(const struct tare_recording *recording, const struct slice *slice, int column,
	const char *name, struct chunk_against *ret_against)
{
	const struct sample_column *that = &sample_columns[column];
	const int user_tx = column_of_stage(TARE_STAGE_USER_TX);

	if (name && strcmp(name, "zero") == 0) {
		*ret_against = (struct chunk_against){.relation = CHUNK_ZERO};
		return NULL;
	}
	if (!name || that->kind != COLUMN_STAGE)
		return "relation";
	if (strcmp(name, "previous") == 0) {
		*ret_against = (struct chunk_against){.relation = CHUNK_PREVIOUS};
		return NULL;
	}
	if (strcmp(name, "grid") == 0) {
		uint64_t step = (uint64_t)recording->rounds[slice->series->round].round.interval_ns;
		*ret_against = (struct chunk_against){
			.relation = CHUNK_GRID,
			.first = (uint64_t)slice->series->first_due_ns + slice->first * step,
			.step = step,
		};
		return NULL;
	}
	int reference = column_by_name(name, strlen(name));
	if (reference < 0 || (reference != that->reference && !(reference == user_tx && column > user_tx)))
		return "relation";
	if (!(slice->sound & bit(reference)))
		return relation_lost;
	*ret_against = (struct chunk_against){
		.relation = CHUNK_STAGE,
		.stage = (const int64_t *)recording->values[reference] + place_of(recording, slice, reference),
	};
	return NULL;
}

/* The row at hand into the column's array: NULL, or the reason why not. */
static const char *decode_row(struct tare_recording *recording, const struct slice *slice, int column)
{
	sqlite3_stmt *row = recording->chunk;
	const char *name = (const char *)sqlite3_column_text(row, 1);
	struct chunk chunk = {
		.n = slice->n,
		.width = (uint32_t)sqlite3_column_int(row, 8),
		.base = sqlite3_column_int64(row, 5),
		.min = sqlite3_column_int64(row, 6),
		.max = sqlite3_column_int64(row, 7),
		.empty = sqlite3_column_type(row, 6) == SQLITE_NULL,
	};
	struct chunk_against against = {.relation = CHUNK_ZERO};

	if (sqlite3_column_int(row, 9) != 1)
		return "seal";
	if (sqlite3_column_int64(row, 0) != slice->series->id || !name ||
		strcmp(name, sample_columns[column].name) != 0 ||
		sqlite3_column_int64(row, 2) != (int64_t)slice->first || sqlite3_column_int64(row, 3) != slice->n)
		return "another chunk lies there";
	const char *reason = against_of(recording, slice, column, (const char *)sqlite3_column_text(row, 4), &against);
	if (reason)
		return reason;
	const void *data = sqlite3_column_blob(row, 10);
	size_t bytes = (size_t)sqlite3_column_bytes(row, 10);
	if (!data && bytes == 0 && sqlite3_errcode(sqlite3_db_handle(row)) == SQLITE_NOMEM)
		return "out of memory";
	enum column_kind kind = sample_columns[column].kind;
	if (kind == COLUMN_STAGE || kind == COLUMN_GIVEN)
		return chunk_decode(recording->codec, &chunk, data, bytes, &against,
			(int64_t *)recording->values[column] + place_of(recording, slice, column));
	reason = chunk_decode(recording->codec, &chunk, data, bytes, &against, recording->wide);
	if (reason)
		return reason;
	return narrow(recording->values[column], slice->out, recording->wide, slice->n, kind) ? NULL : "bounds";
}

/* The `position`-th column of the slice: 0 decoded, 1 lost and noted, -1 failure. */
static int read_chunk(
	struct tare_recording *recording, const struct slice *slice, uint32_t position, struct tare_err *err)
{
	const struct read_series *series = slice->series;
	const int column = series->column[position];
	const char *reason = NULL;

	sqlite3_bind_int64(
		recording->chunk, 1, series->first_chunk + (int64_t)(slice->number * series->columns + position));
	int result = sqlite3_step(recording->chunk);
	if (result == SQLITE_ROW)
		reason = decode_row(recording, slice, column);
	else if (result == SQLITE_DONE)
		reason = "missing";
	else if (recording_result_is_damage(result))
		reason = "unreadable";
	else
		return recording_fail(recording->db, "read", recording->path, err);
	sqlite3_reset(recording->chunk);
	if (!reason)
		return 0;
	/* The reason for this one has been told. */
	if (reason == relation_lost)
		return 1;
	if (recording_damaged(recording, reason, err, "sample chunk %llu of %llu, run %lld, round %u, column %s",
		    (unsigned long long)(series->slices_before + slice->number + 1),
		    (unsigned long long)recording->slices, (long long)recording->runs[series->run].id,
		    recording->rounds[series->round].round.number, sample_columns[column].name) < 0)
		return -1;
	return 1;
}

/* ---- one series ---- */

/* Times packed together: few, so that a stall widens only what lies beside it. Chunks must be whole numbers of them. */
static uint32_t packed_together(const struct read_series *series)
{
	enum { TOGETHER = 4096 };
	return series->chunk_samples % TOGETHER ? series->chunk_samples : TOGETHER;
}

/* Once all columns of the slice are decoded: they may be stored against one another. */
static int pack_slice(struct tare_recording *recording, const struct slice *slice, struct tare_err *err)
{
	const struct read_series *series = slice->series;
	const uint32_t together = packed_together(series);
	for (uint32_t i = 0; i < series->columns; i++) {
		int column = series->column[i];
		if (!(recording->wanted & bit(column)) || !is_packed(recording, series, column))
			continue;
		const int64_t *times_ns = recording->values[column];
		for (uint32_t at = 0; at < slice->n; at += together) {
			uint32_t n = slice->n - at < together ? slice->n - at : together;
			if (packed_add(&recording->packed[column], times_ns + at, n, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Every needed column of a slice: 1 when kept, 0 when its fates are lost, -1 on failure. */
static int read_slice(struct tare_recording *recording, struct slice *slice, struct tare_err *err)
{
	const struct read_series *series = slice->series;
	uint64_t lost = 0;

	for (uint32_t i = 0; i < series->columns; i++) {
		int column = series->column[i];
		if (!(recording->needed & bit(column)))
			continue;
		int status = read_chunk(recording, slice, i, err);
		if (status < 0)
			return -1;
		if (status == 0) {
			slice->sound |= bit(column);
			continue;
		}
		if (column == COLUMN_AT_FATE)
			return 0;
		lost |= bit(column);
		fill_missing(recording->values[column], place_of(recording, slice, column), slice->n,
			sample_columns[column].kind);
	}
	if (pack_slice(recording, slice, err) < 0)
		return -1;
	if (!lost)
		recording->damage.readable += slice->n;
	return 1;
}

static int make_room(struct tare_recording *recording, const struct read_series *series, struct tare_err *err)
{
	for (uint32_t i = 0; i < series->columns; i++) {
		int column = series->column[i];
		/* Bounded by the file's size in take_series(), or a file cut off: what it says, untouched until filled.
		 */
		uint64_t samples = series->samples;
		if (is_packed(recording, series, column)) {
			samples = samples < series->chunk_samples ? samples : series->chunk_samples;
			packed_restart(&recording->packed[column], packed_together(series),
				recording->rounds[series->round].round.interval_ns);
		}
		uint64_t bytes = samples * value_bytes(column);
		if (!(recording->needed & bit(column)) || bytes <= recording->room[column])
			continue;
		free(recording->values[column]);
		recording->room[column] = 0;
		recording->values[column] = bytes > PTRDIFF_MAX / 2 ? NULL : malloc((size_t)bytes);
		if (!recording->values[column])
			return tare_fail_errno(err, ENOMEM, "cannot hold %llu samples of '%s'",
				(unsigned long long)series->samples, recording->path);
		recording->room[column] = (size_t)bytes;
	}
	return 0;
}

/* Pointers to the columns that are wanted and of which something was decoded. */
static void present(struct tare_recording *recording, const struct read_series *series, size_t count, uint64_t sound)
{
	static const uint8_t no_fate[1] = {0};
	struct tare_record *record = &recording->record;

	*record = (struct tare_record){
		.run = &recording->runs[series->run],
		.target = &recording->targets[series->target].target,
		.round = &recording->rounds[series->round].round,
		.beside = series->beside,
		.resolution_ns = series->resolution_ns,
		.series = {.count = count, .fate = no_fate},
		.origin = series->origin,
		.bins = series->bins.range ? &series->bins : NULL,
	};
	for (int i = 0; i < SAMPLE_COLUMNS; i++) {
		const int index = sample_columns[i].index;
		if (!(sound & recording->wanted & bit(i)))
			continue;
		switch (sample_columns[i].kind) {
		case COLUMN_FATE:
			record->series.fate = recording->values[i];
			break;
		case COLUMN_FLAGS:
			record->series.flags = recording->values[i];
			break;
		case COLUMN_REASON:
			record->series.reason = recording->values[i];
			break;
		case COLUMN_CPU:
			record->series.cpu[index] = recording->values[i];
			break;
		case COLUMN_STAGE:
			if (is_packed(recording, series, i))
				record->series.packed[index] = &recording->packed[i];
			else
				record->series.at_ns[index] = recording->values[i];
			break;
		case COLUMN_GIVEN:
			record->series.given_ns[index] = recording->values[i];
			break;
		}
	}
}

static int read_series(struct tare_recording *recording, const struct read_series *series, struct tare_err *err)
{
	struct tare_damage before = recording->damage;
	uint64_t sound = 0;
	size_t out = 0;

	if (make_room(recording, series, err) < 0)
		return -1;
	for (uint64_t first = 0; first < series->samples; first += series->chunk_samples) {
		uint64_t left = series->samples - first;
		struct slice slice = {
			.series = series,
			.number = first / series->chunk_samples,
			.first = first,
			.n = (uint32_t)(left < series->chunk_samples ? left : series->chunk_samples),
			.out = out,
		};
		int status = read_slice(recording, &slice, err);
		if (status < 0) {
			recording->damage = before;
			return -1;
		}
		out += status ? slice.n : 0;
		sound |= status ? slice.sound : 0;
	}
	recording->damage.expected += series->samples;
	present(recording, series, out, sound);
	return 0;
}

int tare_recording_next(struct tare_recording *recording, const struct tare_record **ret_record, struct tare_err *err)
{
	if (!recording->chunk)
		recording->chunk = recording_prepare(recording->db, "read", recording->path, err,
			"SELECT series, name, first, n, relative_to, base, min, max, width, "
			"seal = tare_seal(%s, length(data)), data FROM chunk WHERE id = ?1",
			recording_tables[TABLE_CHUNK].sealed);
	if (!recording->chunk)
		return -1;
	if (recording->next == recording->series_count) {
		/* Series whose own row, or whose round's, is lost. */
		uint64_t known = recording->samples + recording->orphan_samples;
		uint64_t told = recording->rows[TABLE_SAMPLES] > 0 ? (uint64_t)recording->rows[TABLE_SAMPLES] : 0;
		if (recording->damage.reason[0] != '\0')
			recording->damage.expected = told > known ? told : known;
		return 0;
	}
	if (read_series(recording, &recording->series[recording->next], err) < 0)
		return -1;
	recording->next++;
	*ret_record = &recording->record;
	return 1;
}

struct tare_damage tare_recording_damage(const struct tare_recording *recording)
{
	return recording->damage;
}
