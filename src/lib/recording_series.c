/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples into chunks. The chunks of a series have consecutive ids, slice by
 * slice and column by column in each, every column of the series in every slice:
 * so a chunk's id follows from slice and column, no index is needed, and what a
 * lost row held is known without it. A column without a single value is left
 * out of the series altogether.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/recording_write.h"

/* `n` values of a column from sample `first` on, as 64-bit values: borrowed from the series or widened. */
static const int64_t *values_of(
	const struct tare_series *series, const struct sample_column *column, size_t first, size_t n, int64_t *wide)
{
	switch (column->kind) {
	case COLUMN_STAGE:
		return series->at_ns[column->index] + first;
	case COLUMN_GIVEN:
		return series->given_ns[column->index] + first;
	case COLUMN_CPU:
		for (size_t i = 0; i < n; i++) {
			int16_t cpu = series->cpu[column->index][first + i];
			wide[i] = cpu == TARE_NO_CPU ? TARE_NO_TIME : cpu;
		}
		return wide;
	case COLUMN_FATE:
		for (size_t i = 0; i < n; i++)
			wide[i] = series->fate[first + i];
		return wide;
	case COLUMN_FLAGS:
	case COLUMN_REASON:
		break;
	}
	const uint16_t *words = column->kind == COLUMN_FLAGS ? series->flags : series->reason;
	for (size_t i = 0; i < n; i++)
		wide[i] = words[first + i];
	return wide;
}

static bool any_time(const int64_t *values, size_t count)
{
	for (size_t i = 0; values && i < count; i++) {
		if (values[i] != TARE_NO_TIME)
			return true;
	}
	return false;
}

static bool any_cpu(const int16_t *values, size_t count)
{
	for (size_t i = 0; values && i < count; i++) {
		if (values[i] != TARE_NO_CPU)
			return true;
	}
	return false;
}

static bool any_word(const uint16_t *values, size_t count)
{
	for (size_t i = 0; values && i < count; i++) {
		if (values[i] != 0)
			return true;
	}
	return false;
}

static bool holds_anything(const struct tare_series *series, const struct sample_column *column)
{
	switch (column->kind) {
	case COLUMN_FATE:
		return true;
	case COLUMN_FLAGS:
		return any_word(series->flags, series->count);
	case COLUMN_REASON:
		return any_word(series->reason, series->count);
	case COLUMN_CPU:
		return any_cpu(series->cpu[column->index], series->count);
	case COLUMN_STAGE:
		return any_time(series->at_ns[column->index], series->count);
	case COLUMN_GIVEN:
		return any_time(series->given_ns[column->index], series->count);
	}
	return false;
}

/* The grid of a series: where sample 0 was due, and the step; no grid when either is unknown. */
struct grid {
	int64_t first_due_ns, interval_ns;
};

enum { CANDIDATES = 4 };
struct candidate {
	struct chunk_against against;
	const char *name;
};

/* What a column of a slice may be stored against, best first; always ends with CHUNK_ZERO. */
static int candidates(const struct tare_series *series, int column, const struct grid *grid, size_t first,
	struct candidate ret_candidates[CANDIDATES])
{
	const struct sample_column *that = &sample_columns[column];
	int count = 0;

	if (that->kind == COLUMN_STAGE) {
		int user_tx = column_of_stage(TARE_STAGE_USER_TX);
		int tries[2] = {that->reference, column > user_tx && that->reference != user_tx ? user_tx : -1};

		if (that->index == TARE_STAGE_DUE && grid->first_due_ns != TARE_NO_TIME && grid->interval_ns > 0)
			ret_candidates[count++] =
				(struct candidate){{.relation = CHUNK_GRID,
							   .first = (uint64_t)grid->first_due_ns +
								    (uint64_t)first * (uint64_t)grid->interval_ns,
							   .step = (uint64_t)grid->interval_ns},
					"grid"};
		for (int i = 0; i < 2; i++) {
			const int64_t *stage = tries[i] < 0 ? NULL : series->at_ns[sample_columns[tries[i]].index];
			if (stage)
				ret_candidates[count++] =
					(struct candidate){{.relation = CHUNK_STAGE, .stage = stage + first},
						sample_columns[tries[i]].name};
		}
		ret_candidates[count++] = (struct candidate){{.relation = CHUNK_PREVIOUS}, "previous"};
	}
	ret_candidates[count++] = (struct candidate){{.relation = CHUNK_ZERO}, "zero"};
	return count;
}

static int add_chunk(struct tare_writer *writer, int64_t series_id, const struct tare_series *series, int column,
	const struct grid *grid, size_t first, uint32_t n, struct tare_err *err)
{
	const int64_t *values = values_of(series, &sample_columns[column], first, n, writer->wide);
	struct candidate tries[CANDIDATES];
	int count = candidates(series, column, grid, first, tries);
	struct chunk chunk = {0};
	const void *data = NULL;
	size_t bytes = 0;
	int at = 0, done = 0;

	for (; at < count && done == 0; at++) {
		done = chunk_encode(writer->codec, values, n, &tries[at].against, &chunk, &data, &bytes, err);
		if (done < 0)
			return tare_err_prefix(err, "cannot write '%s'", writer->path);
	}
	struct field fields[] = {
		field_int(series_id),
		field_text(sample_columns[column].name),
		field_int((int64_t)first),
		field_int(n),
		field_text(tries[at - 1].name),
		field_int(chunk.base),
		/* Not field_time(): INT64_MIN is a difference like any other here. */
		chunk.empty ? field_text(NULL) : field_int(chunk.min),
		chunk.empty ? field_text(NULL) : field_int(chunk.max),
		field_int(chunk.width),
	};
	return writer_insert(
		writer, TABLE_CHUNK, fields, (int)(sizeof(fields) / sizeof(*fields)), data, bytes, NULL, err);
}

/* Nothing for what tare measured itself. */
static int add_origin(
	struct tare_writer *writer, int64_t series_id, const struct tare_record *record, struct tare_err *err)
{
	const struct tare_origin *origin = &record->origin;
	const struct tare_bins *bins = record->bins;
	bool own = !origin->format && !origin->quantity && !origin->clock && !origin->pacing && !origin->lateness &&
		   !origin->shape && !origin->left_out && !bins;

	if (own)
		return 0;
	if (WRITER_INSERT(writer, TABLE_ORIGIN, NULL, err, field_int(series_id), field_text(origin->format),
		    field_text(tare_quantity_name(origin->quantity)), field_text(tare_clock_name(origin->clock)),
		    field_text(tare_pacing_name(origin->pacing)), field_text(tare_lateness_name(origin->lateness)),
		    field_text(tare_shape_name(origin->shape)), field_int(origin->left_out),
		    field_int(bins ? (int64_t)bins->lost : 0), field_int(writer->rows[TABLE_BIN] + 1),
		    field_int(bins ? (int64_t)bins->count : 0)) < 0)
		return -1;
	for (size_t i = 0; bins && i < bins->count; i++) {
		const struct tare_range *range = &bins->range[i];
		if (WRITER_INSERT(writer, TABLE_BIN, NULL, err, field_int(series_id), field_int(range->low_ns),
			    field_int(range->high_ns), field_int((int64_t)range->count)) < 0)
			return -1;
	}
	return 0;
}

int writer_series(struct tare_writer *writer, int64_t round_id, int64_t interval_ns, const struct tare_record *record,
	struct tare_err *err)
{
	const struct tare_series *series = &record->series;
	const struct tare_beside *beside = &record->beside;
	const int64_t *due = series->count ? series->at_ns[TARE_STAGE_DUE] : NULL;
	struct grid grid = {due ? due[0] : TARE_NO_TIME, interval_ns};
	int columns[SAMPLE_COLUMNS];
	int count = 0;
	char names[SAMPLE_COLUMNS * 24] = "";
	int64_t id = 0;

	for (int i = 0; i < SAMPLE_COLUMNS; i++) {
		if (!holds_anything(series, &sample_columns[i]))
			continue;
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", used ? " " : "", sample_columns[i].name);
		columns[count++] = i;
	}
	size_t slices = (series->count + RECORDING_CHUNK_SAMPLES - 1) / RECORDING_CHUNK_SAMPLES;
	if (WRITER_INSERT(writer, TABLE_SERIES, &id, err, field_int(round_id), field_int(record->target->id),
		    field_int((int64_t)series->count), field_time(grid.first_due_ns),
		    field_int((int64_t)beside->duplicate), field_int((int64_t)beside->reordered),
		    field_int((int64_t)beside->foreign), field_int((int64_t)beside->unmatched_errors),
		    field_int(beside->stamps_asked), field_int(record->resolution_ns), field_text(names),
		    field_int(RECORDING_CHUNK_SAMPLES), field_int(writer->rows[TABLE_CHUNK] + 1),
		    field_int((int64_t)slices * count)) < 0)
		return -1;
	for (size_t first = 0; first < series->count; first += RECORDING_CHUNK_SAMPLES) {
		size_t left = series->count - first;
		uint32_t n = (uint32_t)(left < RECORDING_CHUNK_SAMPLES ? left : RECORDING_CHUNK_SAMPLES);
		for (int i = 0; i < count; i++) {
			if (add_chunk(writer, id, series, columns[i], &grid, first, n, err) < 0)
				return -1;
		}
	}
	writer->rows[TABLE_SAMPLES] += (int64_t)series->count;
	return add_origin(writer, id, record, err);
}
