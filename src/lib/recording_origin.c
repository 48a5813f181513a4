/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Origins and bins of imported series, which files of format 1 do not have: all
 * their series were measured by tare. A bin's place is its id, so a lost row
 * leaves a range of no values and moves no other.
 */
#include "lib/recording_read.h"

static struct read_series *series_of(struct tare_recording *recording, int64_t id)
{
	size_t low = 0, high = recording->series_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (recording->series[middle].id == id)
			return &recording->series[middle];
		if (recording->series[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const char *word(sqlite3_stmt *row, int column)
{
	return (const char *)sqlite3_column_text(row, column);
}

static int take_origin(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct read_series *series = series_of(recording, sqlite3_column_int64(row, 1));
	struct tare_origin origin = {0};
	int64_t left_out = sqlite3_column_int64(row, 8), lost = sqlite3_column_int64(row, 9);
	int64_t first = sqlite3_column_int64(row, 10), bins = sqlite3_column_int64(row, 11);

	if (!series || !tare_quantity_by_name(word(row, 3), &origin.quantity) ||
		!tare_clock_by_name(word(row, 4), &origin.clock) ||
		!tare_pacing_by_name(word(row, 5), &origin.pacing) ||
		!tare_lateness_by_name(word(row, 6), &origin.lateness) ||
		!tare_shape_by_name(word(row, 7), &origin.shape) || left_out < 0 || left_out > UINT32_MAX ||
		lost < 0 || first < 1 || bins < 0 || first > INT64_MAX - bins)
		return 1;
	if (recording_text(recording, row, 2, &origin.format, err) < 0)
		return -1;
	origin.left_out = (uint32_t)left_out;
	series->origin = origin;
	series->bins.lost = (uint64_t)lost;
	series->bins.count = (size_t)bins;
	series->first_bin = first;
	return 0;
}

static int take_bin(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	int64_t id = sqlite3_column_int64(row, 0);
	struct tare_range range = {
		sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3), (uint64_t)sqlite3_column_int64(row, 4)};

	/* No row is shorter than 8 bytes, so no sound file has an id above its size. */
	if (range.low_ns > range.high_ns || range.low_ns == TARE_NO_TIME || range.count == 0 ||
		range.count > INT64_MAX || (uint64_t)id > recording->file_bytes)
		return 1;
	while (recording->range_count < (size_t)id) {
		if (recording_grow(recording, &recording->ranges, sizeof(range), recording->range_count,
			    &recording->range_room, err) < 0)
			return -1;
		recording->ranges[recording->range_count++] = (struct tare_range){0};
	}
	recording->ranges[id - 1] = range;
	return 0;
}

/* Series whose ranges are not all there are left without: half of a distribution is another one. */
static int link_bins(struct tare_recording *recording, struct tare_err *err)
{
	for (size_t i = 0; i < recording->series_count; i++) {
		struct read_series *series = &recording->series[i];
		size_t count = series->bins.count, first = (size_t)series->first_bin - 1;
		bool whole = count && first < recording->range_count && count <= recording->range_count - first;
		for (size_t j = 0; whole && j < count; j++)
			whole = recording->ranges[first + j].count > 0;
		if (whole) {
			series->bins.range = recording->ranges + first;
			continue;
		}
		series->bins.count = 0;
		if (count && recording_damaged(recording, "missing", err, "table 'bin', series %lld",
				     (long long)series->id) < 0)
			return -1;
	}
	return 0;
}

int recording_read_origins(struct tare_recording *recording, struct tare_err *err)
{
	if (recording_table_count(recording->version) <= TABLE_ORIGIN)
		return 0;
	/* a table that nothing was written to is not there */
	if (recording->rows[TABLE_ORIGIN] != 0 && recording_scan(recording, TABLE_ORIGIN, take_origin, err) < 0)
		return -1;
	if (recording->rows[TABLE_BIN] != 0 && recording_scan(recording, TABLE_BIN, take_bin, err) < 0)
		return -1;
	return link_bins(recording, err);
}
