/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables as aligned text. A column has one unit, and where they compare all have
 * the same; it is told in the corner, by who prints the table, or in a line under
 * the headings. Figures keep their last digits above each other even where one
 * carries a mark; columns that do not fit are left out from the right and named.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/plot/canvas.h"
#include "report/report.h"
#include "report/utf8.h"

/* A kept cell: durations stay numbers until the unit is known. */
struct grid_cell {
	char *text; /* NULL: a duration or a real */
	bool is_real;
	double real;
	int64_t ns, resolution_ns;
	bool ranged;
	int64_t low_ns;
	char mark;
};

/* What a unit is chosen by: the smallest duration above 0; the coarsest source. For reals, their decimals. */
struct magnitude {
	int64_t least_ns, resolution_ns;
	bool known;
	double least, most; /* of reals, without sign and above 0 */
};

struct text_grid {
	struct grid_cell *cells;
	size_t used, room;
	struct magnitude whole, *each;       /* of the table, and of every column */
	const struct scale **scale;          /* of every column; NULL where it has no durations */
	bool tells_units;                    /* in a line under the headings */
};

enum { COLUMNS_MAX = 128 };

static void grid_free(struct text_grid *grid)
{
	if (!grid)
		return;
	for (size_t i = 0; i < grid->used; i++)
		free(grid->cells[i].text);
	free(grid->cells);
	free(grid->each);
	free(grid->scale);
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
	struct text_grid *grid = calloc(1, sizeof(*grid));
	if (grid) {
		grid->each = calloc(report->column_count, sizeof(*grid->each));
		grid->scale = calloc(report->column_count, sizeof(struct scale *));
	}
	if (!grid || !grid->each || !grid->scale) {
		grid_free(grid);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
	}
	report->grid = grid;
	return 0;
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
		if (unit != UNIT_RATE)
			return NULL;
		format_rate(cell->as.real, number, sizeof(number));
		break;
	}
	return strdup(number);
}

static void note_duration(struct magnitude *magnitude, const struct grid_cell *kept)
{
	int64_t least_ns = kept->ranged && kept->ns == INT64_MAX ? kept->low_ns : kept->ns;
	magnitude->known = true;
	if (least_ns > 0 && (magnitude->least_ns == 0 || least_ns < magnitude->least_ns))
		magnitude->least_ns = least_ns;
	if (kept->resolution_ns > magnitude->resolution_ns)
		magnitude->resolution_ns = kept->resolution_ns;
}

static void note_real(struct magnitude *magnitude, double size)
{
	if (size > magnitude->most)
		magnitude->most = size;
	if (size > 0 && (magnitude->least == 0 || size < magnitude->least))
		magnitude->least = size;
}

/*
 * Decimals that a column of reals shares: four digits of the largest, two of the smallest. -1 where that takes more
 * than six or the largest is beyond all digits: then each stands as it can.
 */
static int decimals_of(const struct magnitude *magnitude)
{
	if (!(magnitude->most > 0))
		return 0;
	if (!(magnitude->most < 1e9))
		return -1;
	int most = 3 - (int)floor(log10(magnitude->most)), least = 1 - (int)floor(log10(magnitude->least));
	int decimals = most > least ? most : least;
	return decimals > 6 ? -1 : decimals > 0 ? decimals : 0;
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
			note_duration(&grid->whole, &kept);
			note_duration(&grid->each[i], &kept);
		} else if (cell.state == CELL_VALUE && cell.type == CELL_REAL && column->unit != UNIT_RATE) {
			kept.is_real = true;
			kept.real = cell.as.real;
			note_real(&grid->each[i], fabs(cell.as.real));
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

static void format_real(const struct magnitude *magnitude, double real, char *number, size_t room)
{
	int decimals = decimals_of(magnitude);
	if (decimals < 0 || !isfinite(real))
		snprintf(number, room, "%.4g", real);
	else
		snprintf(number, room, "%.*f", decimals, real);
}

/* Durations and reals become text now that their columns are known. */
static int settle_unit(struct report *report, struct tare_err *err)
{
	struct text_grid *grid = report->grid;
	grid->tells_units = !report->scale && grid->whole.known;
	for (size_t i = 0; i < report->column_count; i++) {
		const struct magnitude *by = report->own_units ? &grid->each[i] : &grid->whole;
		if (grid->each[i].known)
			grid->scale[i] = report->scale ? report->scale : scale_for(by->least_ns, by->resolution_ns);
	}
	for (size_t i = 0; i < grid->used; i++) {
		struct grid_cell *cell = &grid->cells[i];
		const struct scale *scale = grid->scale[i % report->column_count];
		char number[80];
		if (cell->text)
			continue;
		if (cell->is_real)
			format_real(&grid->each[i % report->column_count], cell->real, number, sizeof(number));
		else if (cell->ranged)
			scale_format_range(scale, cell->low_ns, cell->ns, number, sizeof(number));
		else
			scale_format(scale, cell->ns, cell->resolution_ns, number, sizeof(number));
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
		/* text at the end may run on: a sentence or a setting is not worth less than its own width */
		bool runs_on = shown + 1 == report->column_count && report->columns[shown].is_text && shown > 0;
		used += (runs_on ? utf8_columns(heading_of(report, shown)) : layout->width[shown]) +
			(shown ? layout->gap : 0);
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

enum put { PUT_HEADINGS, PUT_UNITS, PUT_CELLS };

static const char *text_of(const struct report *report, enum put put, const struct grid_cell *cells, size_t column)
{
	if (put == PUT_CELLS)
		return cells[column].text;
	if (put == PUT_HEADINGS)
		return heading_of(report, column);
	return report->grid->scale[column] ? report->grid->scale[column]->unit : "";
}

static void put_line(
	const struct report *report, const struct layout *layout, enum put put, const struct grid_cell *cells)
{
	struct line line = {.out = report->out};
	if (report->indent)
		line_put(&line, report->indent);
	for (size_t i = 0; i < layout->shown; i++) {
		const char *text = text_of(report, put, cells, i);
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

static void say_left_out(const struct report *report, size_t from)
{
	char line[2000];
	struct text text = TEXT_IN(line);
	for (size_t i = from; i < report->column_count; i++)
		text_add(&text, "%s%s", i > from ? ", " : "", report->columns[i].heading);
	report_sentence(report->out, report->width, "%s(no room for %s)", report->indent ? report->indent : "", line);
}

static int text_end(struct report *report, struct tare_err *err)
{
	struct layout layout = {0};
	if (settle_unit(report, err))
		return -1;
	lay_out(report, &layout);
	put_line(report, &layout, PUT_HEADINGS, NULL);
	if (report->grid->tells_units)
		put_line(report, &layout, PUT_UNITS, NULL);
	for (size_t i = 0; i < report->rows; i++)
		put_line(report, &layout, PUT_CELLS, &report->grid->cells[i * report->column_count]);
	if (layout.shown < report->column_count)
		say_left_out(report, layout.shown);
	report_free(report);
	return 0;
}

/* ---- the same cells as HTML ---- */

enum { HTML_ROWS_MOST = 100, HTML_TEXT_MOST = 200 };

static void html_cell(FILE *out, const char *tag, bool is_text, const char *text, char mark)
{
	fprintf(out, "<%s%s%s>", tag, strcmp(tag, "th") == 0 ? " scope=\"col\"" : "", is_text ? " class=\"w\"" : "");
	svg_text_safe(out, text, HTML_TEXT_MOST);
	if (mark)
		fputc(mark, out);
	fprintf(out, "</%s>", tag);
}

static int html_end(struct report *report, struct tare_err *err)
{
	if (settle_unit(report, err))
		return -1;
	fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>", report->out);
	for (size_t i = 0; i < report->column_count; i++) {
		const struct scale *scale = report->grid->scale[i];
		char heading[80];
		snprintf(heading, sizeof(heading), "%s%s%s", heading_of(report, i), scale ? ", " : "", scale ? scale->unit : "");
		html_cell(report->out, "th", report->columns[i].is_text, heading, 0);
	}
	fputs("</tr></thead>\n<tbody>\n", report->out);
	for (uint64_t row = 0; row < report->rows && row < HTML_ROWS_MOST; row++) {
		const struct grid_cell *cells = &report->grid->cells[row * report->column_count];
		fputs("<tr>", report->out);
		for (size_t i = 0; i < report->column_count; i++)
			html_cell(report->out, "td", report->columns[i].is_text, cells[i].text, cells[i].mark);
		fputs("</tr>\n", report->out);
	}
	fputs("</tbody></table></div>\n", report->out);
	if (report->rows > HTML_ROWS_MOST)
		fprintf(report->out, "<p>and %" PRIu64 " more rows.</p>\n", report->rows - HTML_ROWS_MOST);
	report_free(report);
	return 0;
}

const struct format format_text = {"text", text_begin, text_row, text_end};
const struct format format_html = {"html", text_begin, text_row, html_end};
