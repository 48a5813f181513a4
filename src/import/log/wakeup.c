/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of a histogram of scheduling latency. */
#include "import/log/wakeup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/divisor.h"
#include "base/text.h"

const struct tare_origin wakeup_bins = {.quantity = TARE_QUANTITY_WAKEUP,
	.clock = TARE_CLOCK_MONOTONIC,
	.pacing = TARE_PACING_OPEN,
	.lateness = TARE_LATENESS_MEASURED,
	.shape = TARE_SHAPE_BINS};

int wakeup_column(struct pieces *pieces, struct wakeup *wakeup, const char *name, size_t bytes, struct tare_err *err)
{
	char url[96];
	struct text text = TEXT_IN(url);
	if (wakeup->count == WAKEUP_COLUMNS)
		return tare_fail(err, TARE_E_FORMAT, "'%s': more than %d threads", pieces->import->name, WAKEUP_COLUMNS);
	struct wakeup_column *column = reallocarray(wakeup->column, wakeup->count + 1, sizeof(*column));
	if (!column)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	wakeup->column = column;
	text_add(&text, "%s:%.*s", wakeup->tool, (int)bytes, name);
	struct piece *piece = piece_add(pieces, url, wakeup->tool, "", &wakeup_bins, err);
	if (!piece)
		return -1;
	wakeup->column[wakeup->count++] = (struct wakeup_column){.piece = piece};
	return 0;
}

/* The bin `at` of one unit; how wide it really is shows at the end. */
static int put(struct wakeup *wakeup, size_t i, uint64_t at, uint64_t count, struct tare_err *err)
{
	int64_t low_ns = (int64_t)at * wakeup->unit_ns;
	return piece_range(wakeup->column[i].piece, low_ns, low_ns + wakeup->unit_ns - 1, count, err);
}

int wakeup_row(struct pieces *pieces, struct wakeup *wakeup, const struct line *line, bool grow, struct tare_err *err)
{
	uint64_t at = 0, counts[WAKEUP_COLUMNS];
	size_t columns = 0;
	if (piece_cut(pieces, line))
		return 0;
	const char *text = line->text + strspn(line->text, " \t");
	size_t bytes = strcspn(text, " \t");
	if (!number_count(text, bytes, &at) || at > (uint64_t)(INT64_MAX / wakeup->unit_ns) - 1)
		return piece_damaged(pieces, line, "a bin that is no number or out of range", err);
	for (text += bytes; text += strspn(text, " \t"), *text; text += bytes) {
		bytes = strcspn(text, " \t");
		bool none = bytes == 1 && *text == '-';
		if (columns == WAKEUP_COLUMNS)
			return piece_damaged(pieces, line, "more columns than there may be threads", err);
		counts[columns] = 0;
		if (!none && !number_count(text, bytes, &counts[columns]))
			return piece_damaged(pieces, line, "a count that is no number", err);
		columns++;
	}
	bool first = grow && wakeup->count == 0;
	if (!columns || (!first && columns != wakeup->count))
		return piece_damaged(pieces, line, columns ? "another number of columns than before" : "a bin without a count", err);
	for (size_t i = 0; first && i < columns; i++) {
		char name[24];
		int length = snprintf(name, sizeof(name), "thread-%zu", i);
		if (wakeup_column(pieces, wakeup, name, (size_t)length, err))
			return -1;
	}
	for (size_t i = 0; i < columns; i++) {
		if (put(wakeup, i, at, counts[i], err))
			return -1;
	}
	wakeup->last = at > wakeup->last ? at : wakeup->last;
	wakeup->step = common_divisor(wakeup->step, at);
	return 0;
}

int wakeup_beyond(struct pieces *pieces, struct wakeup *wakeup, const struct line *line, const char *counts,
	struct tare_err *err)
{
	const char *at = counts;
	for (size_t i = 0; i < wakeup->count; i++) {
		uint64_t times = 0;
		at += strspn(at, " \t");
		size_t bytes = strcspn(at, " \t");
		bool none = bytes == 1 && *at == '-';
		if (!bytes)
			break;
		if (!none && !number_count(at, bytes, &times))
			return piece_damaged(pieces, line, "a count that is no number", err);
		if (piece_range(wakeup->column[i].piece, (int64_t)(wakeup->last + 1) * wakeup->unit_ns, INT64_MAX, times, err))
			return -1;
		at += bytes;
	}
	return 0;
}

size_t wakeup_figures(struct wakeup *wakeup, enum wakeup_figure figure, const char *text)
{
	size_t found = 0;
	for (size_t i = 0;; i++) {
		uint64_t value = 0;
		text += strspn(text, " \t");
		size_t bytes = strcspn(text, " \t");
		if (!bytes)
			return found;
		found++;
		struct wakeup_column *column = i < wakeup->count ? &wakeup->column[i] : NULL;
		if (column && figure == WAKEUP_AVERAGE) {
			column->average = number_read(text, bytes, wakeup->unit_ns == 1 ? UNIT_ONE_NS : UNIT_US);
			column->has_average = !column->average.why;
		} else if (column && number_count(text, bytes, &value) && value < (uint64_t)(INT64_MAX / wakeup->unit_ns) - 1) {
			*(figure == WAKEUP_MIN ? &column->min : &column->max) = value;
			*(figure == WAKEUP_MIN ? &column->has_min : &column->has_max) = true;
		}
		text += bytes;
	}
}

/* One value of the range at `i` is known to be the printed extreme. */
static int single_out(struct piece *piece, size_t i, int64_t low_ns, int64_t high_ns, struct tare_err *err)
{
	struct tare_range *range = &piece->range[i];
	if (range->low_ns >= low_ns && range->high_ns <= high_ns)
		return 0;
	if (range->count == 1) {
		range->low_ns = low_ns;
		range->high_ns = high_ns;
		return 0;
	}
	range->count--;
	return piece_range(piece, low_ns, high_ns, 1, err);
}

/* Every bin narrowed to what lies between the extremes, and the extremes by themselves. */
static int narrow(const struct wakeup *wakeup, const struct wakeup_column *column, bool *ret_contradicts,
	struct tare_err *err)
{
	struct piece *piece = column->piece;
	size_t first = 0, last = 0;
	if (!piece->range_count || !column->has_min || !column->has_max)
		return 0;
	int64_t unit_ns = wakeup->unit_ns, least_ns = (int64_t)column->min * unit_ns,
		most_ns = (int64_t)column->max * unit_ns + unit_ns - 1;
	for (size_t i = 0; i < piece->range_count; i++) {
		first = piece->range[i].low_ns < piece->range[first].low_ns ? i : first;
		last = piece->range[i].low_ns > piece->range[last].low_ns ? i : last;
	}
	*ret_contradicts = least_ns > most_ns || least_ns < piece->range[first].low_ns ||
			   least_ns > piece->range[first].high_ns || most_ns < piece->range[last].low_ns ||
			   most_ns > piece->range[last].high_ns;
	if (*ret_contradicts)
		return 0;
	for (size_t i = 0; i < piece->range_count; i++) {
		struct tare_range *range = &piece->range[i];
		range->low_ns = range->low_ns < least_ns ? least_ns : range->low_ns;
		range->high_ns = range->high_ns > most_ns ? most_ns : range->high_ns;
	}
	uint64_t there = piece->range[first].count;
	if (single_out(piece, last, most_ns - unit_ns + 1, most_ns, err))
		return -1;
	return first == last && there < 2 ? 0 : single_out(piece, first, least_ns, least_ns + unit_ns - 1, err);
}

/* An average printed as a whole number is cut: what the bins say of the mean lies beside it. */
static bool is_cut(const struct wakeup *wakeup, const struct wakeup_column *column, double *ret_low_ns, double *ret_high_ns)
{
	double low = 0, high = 0, n = 0;
	for (size_t i = 0; i < column->piece->range_count; i++) {
		const struct tare_range *range = &column->piece->range[i];
		double count = (double)range->count;
		n += count;
		low += count * (double)range->low_ns;
		high += count * (double)range->high_ns;
		if (range->high_ns == INT64_MAX)
			return false;
	}
	*ret_low_ns = n > 0 ? low / n : 0;
	*ret_high_ns = n > 0 ? high / n + 1 : 0;
	return column->has_average && n > 0 && column->average.step_ns >= wakeup->unit_ns &&
	       (double)column->average.ns < *ret_low_ns;
}

static const char *name_of(const struct wakeup *wakeup, const struct wakeup_column *column)
{
	return column->piece->target->url + strlen(wakeup->tool) + 1;
}

static int note_figures(struct pieces *pieces, const struct wakeup *wakeup, size_t contradictions, size_t contradicted,
	struct tare_err *err)
{
	size_t cut = 0, first = 0;
	double low_ns = 0, high_ns = 0, a, b;
	for (size_t i = 0; i < wakeup->count; i++) {
		if (!is_cut(wakeup, &wakeup->column[i], &a, &b))
			continue;
		if (!cut++) {
			first = i;
			low_ns = a;
			high_ns = b;
		}
	}
	const struct wakeup_column *column = &wakeup->column[first];
	char average[24], low[24], high[24], others[40] = "";
	if (cut) {
		format_duration(column->average.ns, average, sizeof(average));
		format_duration((int64_t)low_ns, low, sizeof(low));
		format_duration((int64_t)high_ns, high, sizeof(high));
		if (cut > 1)
			snprintf(others, sizeof(others), " (%zu others alike)", cut - 1);
		if (import_note(pieces->import, IMPORT_PRINTED, err,
			    "the average of %s that %s prints, %s, is cut: by the bins the mean lies in %s–%s%s",
			    name_of(wakeup, column), wakeup->tool, average, low, high, others))
			return -1;
	}
	if (!contradictions)
		return 0;
	return import_note(pieces->import, IMPORT_MISMATCH, err,
		"the printed minimum and maximum of %s do not fit its bins, which stand as they are (%zu of %zu columns)",
		name_of(wakeup, &wakeup->column[contradicted]), contradictions, wakeup->count);
}

int wakeup_settle(struct pieces *pieces, struct wakeup *wakeup, struct tare_err *err)
{
	size_t contradictions = 0, contradicted = 0;
	int64_t wider_ns = 0;
	if (wakeup->step > 1 && __builtin_mul_overflow((int64_t)(wakeup->step - 1), wakeup->unit_ns, &wider_ns))
		wider_ns = 0;
	for (size_t i = 0; i < wakeup->count; i++) {
		struct wakeup_column *column = &wakeup->column[i];
		for (size_t j = 0; j < column->piece->range_count; j++) {
			int64_t *high_ns = &column->piece->range[j].high_ns;
			if (!wakeup->step || (*high_ns != INT64_MAX && __builtin_add_overflow(*high_ns, wider_ns, high_ns)))
				*high_ns = INT64_MAX;
		}
		bool contradicts = false;
		if (narrow(wakeup, column, &contradicts, err))
			return -1;
		contradicted = contradicts && !contradictions++ ? i : contradicted;
	}
	return note_figures(pieces, wakeup, contradictions, contradicted, err);
}
