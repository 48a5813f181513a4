/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole tables: the columns and the order that a user asked for. Sorting looks
 * at cells, so that every column can be sorted by and a cell without a value
 * never counts as a small one: it comes last, whichever way the order goes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/report.h"

enum { TABLE_COLUMNS_MAX = 128 };

/* A row and what it is sorted by. */
struct keyed {
	const void *record;
	struct cell cell;
	size_t at;
	bool falling;
};

/* Values, then what was lost (infinitely late), then what is not there. */
static int rank_of_state(enum cell_state state)
{
	return state == CELL_VALUE ? 0 : state == CELL_LOST ? 1 : 2;
}

static int compare_values(const struct cell *one, const struct cell *other)
{
	switch (one->type) {
	case CELL_COUNT:
		return (one->as.count > other->as.count) - (one->as.count < other->as.count);
	case CELL_INTEGER:
		return (one->as.integer > other->as.integer) - (one->as.integer < other->as.integer);
	case CELL_REAL:
		return (one->as.real > other->as.real) - (one->as.real < other->as.real);
	case CELL_TEXT:
		return strcmp(one->as.text, other->as.text);
	}
	return 0;
}

static int by_cell(const void *left, const void *right)
{
	const struct keyed *one = left, *other = right;
	int first = rank_of_state(one->cell.state), second = rank_of_state(other->cell.state), order;
	if (first != second) {
		/* among those with a rank, lost is the largest */
		order = first - second;
		if (one->falling && first < 2 && second < 2)
			order = -order;
	} else {
		order = first == 0 && one->cell.type == other->cell.type ? compare_values(&one->cell, &other->cell) : 0;
		order = one->falling ? -order : order;
	}
	/* qsort is not stable */
	return order ? order : (one->at > other->at) - (one->at < other->at);
}

int report_sort(const struct column *columns, size_t column_count, const char *by, const void **records, size_t count,
	struct tare_err *err)
{
	if (!by)
		return 0;
	struct column chosen[1];
	size_t one = 0;
	bool falling = by[0] == '-';
	if (report_choose(columns, column_count, by + falling, chosen, 1, &one, err))
		return -1;
	AUTO_FREE struct keyed *keyed = calloc(count + 1, sizeof(*keyed));
	if (!keyed)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
	for (size_t i = 0; i < count; i++)
		keyed[i] = (struct keyed){records[i], chosen[0].get(records[i], &chosen[0]), i, falling};
	qsort(keyed, count, sizeof(*keyed), by_cell);
	for (size_t i = 0; i < count; i++)
		records[i] = keyed[i].record;
	return 0;
}

int report_check(
	const struct table_asked *asked, const struct column *columns, size_t column_count, struct tare_err *err)
{
	AUTO_FREE struct column *chosen = calloc(TABLE_COLUMNS_MAX, sizeof(*chosen));
	size_t count;
	if (!chosen)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
	if (asked->columns &&
		report_choose(columns, column_count, asked->columns, chosen, TABLE_COLUMNS_MAX, &count, err))
		return -1;
	return report_sort(columns, column_count, asked->sort, NULL, 0, err);
}

static int write_rows(struct report *report, const struct format *format, const void *const *records, size_t count,
	struct tare_err *err)
{
	int failed = format->begin(report, err);
	for (size_t i = 0; i < count && !failed; i++)
		failed = format->row(report, records[i], err);
	if (!failed)
		failed = format->end(report, err);
	report_free(report);
	return failed ? -1 : 0;
}

int report_table(struct report *report, const struct format *format, const struct table_asked *asked, const char *usual,
	const void *records, size_t count, size_t record_bytes, struct tare_err *err)
{
	static const struct table_asked nothing = {0};
	asked = asked ? asked : &nothing;
	const char *list = asked->columns ? asked->columns : format == &format_text ? usual : NULL;
	AUTO_FREE struct column *chosen = calloc(TABLE_COLUMNS_MAX, sizeof(*chosen));
	AUTO_FREE const void **rows = calloc(count + 1, sizeof(*rows));
	if (!chosen || !rows)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
	for (size_t i = 0; i < count; i++)
		rows[i] = (const char *)records + i * record_bytes;
	/* any column may be sorted by, shown or not */
	if (report_sort(report->columns, report->column_count, asked->sort, rows, count, err))
		return -1;
	if (list) {
		if (report_choose(report->columns, report->column_count, list, chosen, TABLE_COLUMNS_MAX,
			    &report->column_count, err))
			return -1;
		report->columns = chosen;
	}
	int failed = write_rows(report, format, rows, count, err);
	report->columns = NULL;
	return failed;
}
