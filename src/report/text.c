/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables as aligned text. All durations are in one unit, told in the corner or
 * the headings' line; figures keep their last digits above each other even where
 * one carries a mark; columns that do not fit are left out from the right and
 * named.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report/utf8.h"

/* A kept cell: durations stay numbers until the unit is known. */
struct grid_cell {
	char *text; /* NULL: a duration */
	int64_t ns, resolution_ns;
	bool ranged;
	int64_t low_ns;
	char mark;
};

struct text_grid {
	struct grid_cell *cells;
	size_t used, room;
	int64_t least_ns, resolution_ns; /* smallest duration above 0; coarsest source */
};

enum { COLUMNS_MAX = 128 };

static void grid_free(struct text_grid *grid)
{
	if (!grid)
		return;
	for (size_t i = 0; i < grid->used; i++)
		free(grid->cells[i].text);
	free(grid->cells);
	free(grid);
}

void report_free(struct report *report)
{
	grid_free(report->grid);
	report->grid = NULL;
}

static int text_begin(struct report *report, struct tare_err *err)
{
	if (report->column_count == 0 || report->column_count > COLUMNS_MAX)
		return tare_fail(err, TARE_E_USAGE, "a table of %zu columns cannot be printed", report->column_count);
	report->rows = 0;
	report->grid = calloc(1, sizeof(*report->grid));
	return report->grid ? 0 : tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
}

static const char *state_mark(enum cell_state state)
{
	static const char *const marks[] = {[CELL_VALUE] = "",
		[CELL_TOO_FEW] = "–",
		[CELL_NOT_MEASURED] = "·",
		[CELL_LOST] = "lost",
		[CELL_NOT_APPLICABLE] = ""};
	return marks[state];
}

static char *cell_to_text(const struct cell *cell, enum cell_unit unit)
{
	char number[48];
	if (cell->state != CELL_VALUE)
		return strdup(state_mark(cell->state));
	switch (cell->type) {
	case CELL_TEXT:
		return utf8_safe(cell->as.text, "");
	case CELL_COUNT:
		snprintf(number, sizeof(number), "%" PRIu64, cell->as.count);
		break;
	case CELL_INTEGER:
		snprintf(number, sizeof(number), "%" PRId64, cell->as.integer);
		break;
	case CELL_REAL:
		if (unit == UNIT_RATE)
			format_rate(cell->as.real, number, sizeof(number));
		else
			snprintf(number, sizeof(number), "%.4g", cell->as.real);
		break;
	}
	return strdup(number);
}

static void note_duration(struct text_grid *grid, const struct grid_cell *kept)
{
	int64_t least_ns = kept->ranged && kept->ns == INT64_MAX ? kept->low_ns : kept->ns;
	if (least_ns > 0 && (grid->least_ns == 0 || least_ns < grid->least_ns))
		grid->least_ns = least_ns;
	if (kept->resolution_ns > grid->resolution_ns)
		grid->resolution_ns = kept->resolution_ns;
}

static int text_row(struct report *report, const void *record, struct tare_err *err)
{
	struct text_grid *grid = report->grid;
	if (grid->used + report->column_count > grid->room) {
		size_t room = 2 * grid->room + 16 * report->column_count;
		struct grid_cell *cells = reallocarray(grid->cells, room, sizeof(*cells));
		if (!cells)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
		grid->cells = cells;
		grid->room = room;
	}
	for (size_t i = 0; i < report->column_count; i++) {
		const struct column *column = &report->columns[i];
		struct cell cell = column->get(record, column);
		struct grid_cell kept = {.mark = cell.state == CELL_VALUE ? cell.mark : 0};
		if (cell.state == CELL_VALUE && column->unit == UNIT_NS) {
			kept.ns = cell.as.integer;
			kept.resolution_ns = cell.resolution_ns;
			kept.ranged = cell.ranged;
			kept.low_ns = cell.low_ns;
			note_duration(grid, &kept);
		} else {
			kept.text = cell_to_text(&cell, column->unit);
			if (!kept.text)
				return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
		}
		grid->cells[grid->used++] = kept;
	}
	report->rows++;
	return 0;
}

/* Durations become text now that the unit is known. */
static int settle_unit(struct report *report, struct tare_err *err)
{
	struct text_grid *grid = report->grid;
	if (!report->scale)
		report->scale = scale_for(grid->least_ns, grid->resolution_ns);
	for (size_t i = 0; i < grid->used; i++) {
		struct grid_cell *cell = &grid->cells[i];
		char number[80];
		if (cell->text)
			continue;
		if (cell->ranged)
			scale_format_range(report->scale, cell->low_ns, cell->ns, number, sizeof(number));
		else
			scale_format(report->scale, cell->ns, cell->resolution_ns, number, sizeof(number));
		cell->text = strdup(number);
		if (!cell->text)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
	}
	return 0;
}

struct layout {
	int width[COLUMNS_MAX];
	bool marked[COLUMNS_MAX]; /* one place is kept for the mark */
	int gap;                  /* blanks between columns */
	size_t shown;
};

static const char *heading_of(const struct report *report, size_t column)
{
	return column == 0 && report->corner ? report->corner : report->columns[column].heading;
}

static size_t columns_that_fit(const struct report *report, const struct layout *layout)
{
	int used = report->indent ? utf8_columns(report->indent) : 0;
	size_t shown = 0;
	for (; shown < report->column_count; shown++) {
		used += layout->width[shown] + (shown ? layout->gap : 0);
		/* Two columns always stay: a table of names alone says nothing. */
		if (report->width > 0 && used > report->width && shown >= 2)
			break;
	}
	return shown;
}

static void lay_out(const struct report *report, struct layout *layout)
{
	const struct text_grid *grid = report->grid;
	for (size_t i = 0; i < grid->used; i++)
		layout->marked[i % report->column_count] |= grid->cells[i].mark != 0;
	for (size_t i = 0; i < report->column_count; i++)
		layout->width[i] = utf8_columns(heading_of(report, i)) + (layout->marked[i] ? 1 : 0);
	for (size_t i = 0; i < grid->used; i++) {
		size_t column = i % report->column_count;
		int width = utf8_columns(grid->cells[i].text) + (layout->marked[column] ? 1 : 0);
		if (width > layout->width[column])
			layout->width[column] = width;
	}
	/* Two blanks between columns, one where that makes room for another column. */
	layout->gap = 1;
	layout->shown = columns_that_fit(report, layout);
	size_t narrow = layout->shown;
	layout->gap = 2;
	layout->shown = columns_that_fit(report, layout);
	if (narrow > layout->shown) {
		layout->gap = 1;
		layout->shown = narrow;
	}
}

/* Blanks wait until something visible follows, so that no line ends in blanks. */
struct line {
	FILE *out;
	int blanks;
};

static void line_put(struct line *line, const char *text)
{
	if (!*text)
		return;
	fprintf(line->out, "%*s%s", line->blanks, "", text);
	line->blanks = 0;
}

static void put_line(const struct report *report, const struct layout *layout, const struct grid_cell *cells)
{
	struct line line = {.out = report->out};
	if (report->indent)
		line_put(&line, report->indent);
	for (size_t i = 0; i < layout->shown; i++) {
		const char *text = cells ? cells[i].text : heading_of(report, i);
		char mark[2] = {cells ? cells[i].mark : 0, 0};
		int padding = layout->width[i] - utf8_columns(text) - (layout->marked[i] ? 1 : 0);
		line.blanks += i > 0 ? layout->gap : 0;
		if (!report->columns[i].is_text)
			line.blanks += padding;
		line_put(&line, text);
		line_put(&line, mark);
		if (report->columns[i].is_text)
			line.blanks += padding;
		if (layout->marked[i] && !mark[0])
			line.blanks++;
	}
	fputc('\n', report->out);
}

static int text_end(struct report *report, struct tare_err *err)
{
	struct layout layout = {0};
	if (settle_unit(report, err))
		return -1;
	lay_out(report, &layout);
	put_line(report, &layout, NULL);
	for (size_t i = 0; i < report->rows; i++)
		put_line(report, &layout, &report->grid->cells[i * report->column_count]);
	if (layout.shown < report->column_count) {
		fprintf(report->out, "%s(no room for ", report->indent ? report->indent : "");
		for (size_t i = layout.shown; i < report->column_count; i++)
			fprintf(report->out, "%s%s", i > layout.shown ? ", " : "", report->columns[i].heading);
		fputs(")\n", report->out);
	}
	report_free(report);
	return 0;
}

const struct format format_text = {"text", text_begin, text_row, text_end};
