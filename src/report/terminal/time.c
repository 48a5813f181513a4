/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every request over time. Dots say "at least one request here"; how many a column
 * of stalls or losses stands for is in the rows under the picture, so that one in
 * ten million has its character like every other.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/report.h"
#include "report/terminal/private.h"

/* Rows under the picture, a count a column. */
enum row { ROW_STALLS, ROW_LOST, ROW_NOT_SENT, ROW_COUNT };

struct picture {
	const struct plot_target *target;
	struct canvas *canvas;
	struct log_axis axis;
	size_t columns;
	uint64_t *counts[ROW_COUNT]; /* one block, row after row */
};

static size_t place_of(const struct picture *picture, int64_t x, size_t places)
{
	int64_t end = picture->target->time.end;
	__extension__ typedef unsigned __int128 wide;
	if (end <= 0 || x < 0)
		return 0;
	size_t place = (size_t)((wide)x * places / (wide)end);
	return place < places ? place : places - 1;
}

static struct log_axis axis_of(const struct plot_target *target, size_t dots)
{
	int64_t low_ns = INT64_MAX, high_ns = 1;
	for (size_t i = 0; i < target->time.grid.columns; i++) {
		const struct plot_column *column = &target->time.grid.column[i];
		if (column->n && column->min_ns < low_ns)
			low_ns = column->min_ns;
		if (column->n && column->max_ns > high_ns)
			high_ns = column->max_ns;
	}
	return log_axis_of(low_ns == INT64_MAX ? 1 : low_ns, high_ns, dots);
}

/* The bulk by cells, the lowest and highest of each column exactly, the highest stall as a mark. */
static void draw_column(struct picture *picture, size_t i)
{
	const struct plot_grid *grid = &picture->target->time.grid;
	const struct plot_column *column = &grid->column[i];
	size_t wide = canvas_dots_wide(picture->canvas);
	size_t x = place_of(picture, (int64_t)i * grid->step, wide);
	for (size_t row = grid->row_low; row <= grid->row_high && row < PLOT_ROWS; row++)
		if (plot_grid_cell(grid, i, row))
			canvas_dot(picture->canvas, x, log_axis_dot(&picture->axis, plot_row_low_ns(row)), INK_PLAIN);
	if (column->n) {
		canvas_dot(picture->canvas, place_of(picture, column->min_x, wide), log_axis_dot(&picture->axis, column->min_ns),
			INK_PLAIN);
		canvas_dot(picture->canvas, place_of(picture, column->max_x, wide), log_axis_dot(&picture->axis, column->max_ns),
			INK_PLAIN);
	}
	if (column->stalls) {
		canvas_mark(picture->canvas, place_of(picture, column->stall_x, wide),
			log_axis_dot(&picture->axis, column->stall_ns), '!', 2, INK_STALL);
		if (picture->target->time.marks_cut)
			picture->counts[ROW_STALLS][place_of(picture, column->stall_x, picture->columns)] += column->stalls;
	}
	if (column->unanswered && picture->target->time.marks_cut)
		picture->counts[ROW_LOST][place_of(picture, (int64_t)i * grid->step, picture->columns)] += column->unanswered;
}

static void draw_mark(struct picture *picture, const struct plot_mark *mark)
{
	size_t column = place_of(picture, mark->x, picture->columns), x = place_of(picture, mark->x, canvas_dots_wide(picture->canvas));
	bool counted = !picture->target->time.marks_cut;
	switch ((enum plot_mark_kind)mark->kind) {
	case PLOT_STALL:
		picture->counts[ROW_STALLS][column] += counted;
		canvas_mark(picture->canvas, x, log_axis_dot(&picture->axis, mark->value_ns), '!', 2, INK_STALL);
		break;
	case PLOT_FIRST:
	case PLOT_WARMUP:
		canvas_mark(picture->canvas, x, log_axis_dot(&picture->axis, mark->value_ns), 'o', 1, INK_FIRST);
		break;
	case PLOT_LOST:
	case PLOT_ERROR:
		picture->counts[ROW_LOST][column] += counted;
		break;
	case PLOT_NOT_SENT:
		picture->counts[ROW_NOT_SENT][column]++;
		break;
	case PLOT_MARK_KINDS:
		break;
	}
}

static void draw_rounds_begin(struct picture *picture)
{
	const struct plot_target *target = picture->target;
	if (target->round_count < 2 || target->round_count > picture->columns / 4)
		return;
	for (size_t i = 1; i < target->round_count; i++)
		canvas_upright(picture->canvas, place_of(picture, target->rounds[i].x_from, picture->columns));
}

/* Time is told in the unit that its length suggests: nobody reads 800 s. */
static int64_t unit_of(const struct plot_time *time, const char **ret_name)
{
	static const struct { int64_t ns; const char *name; } units[] = {{(int64_t)3600000000000, "h"}, {(int64_t)60000000000, "min"}};
	for (size_t i = 0; i < 2 && !time->by_request; i++) {
		*ret_name = units[i].name;
		if (time->end / units[i].ns >= 10)
			return units[i].ns;
	}
	*ret_name = NULL;
	return 1;
}

static void put_time_axis(FILE *out, const struct terminal *terminal, const struct picture *picture)
{
	const struct plot_time *time = &picture->target->time;
	struct column_tick ticks[AXIS_TICKS_MAX];
	size_t count = 0;
	const char *unit_name;
	int64_t unit = unit_of(time, &unit_name), step = unit * round_step(time->end / unit, picture->columns / 12 + 1);
	for (int64_t at = 0; at <= time->end && count < AXIS_TICKS_MAX; at += step) {
		struct column_tick *tick = &ticks[count++];
		struct text text = TEXT_IN(tick->label);
		tick->column = place_of(picture, at, picture->columns);
		if (time->by_request)
			text_add(&text, "#%" PRId64, at);
		else if (at == 0)
			text_add(&text, "0");
		else if (unit_name)
			text_add(&text, "%" PRId64 " %s", at / unit, unit_name);
		else
			format_duration(at, tick->label, sizeof(tick->label));
		if (at > INT64_MAX - step)
			break;
	}
	put_base(out, terminal, picture->columns, ticks, count);
}

/* Where each round begins, as far as there is room for its number. */
static void put_rounds(FILE *out, const struct picture *picture)
{
	const struct plot_target *target = picture->target;
	size_t used = 0;
	if (target->round_count < 2)
		return;
	fprintf(out, "%8s  ", "round");
	for (size_t i = 0; i < target->round_count; i++) {
		char name[32];
		size_t column = place_of(picture, target->rounds[i].x_from, picture->columns);
		int wide = target->rounds[i].arm ? snprintf(name, sizeof(name), "%" PRIu32 "%c", target->rounds[i].number, target->rounds[i].arm)
						 : snprintf(name, sizeof(name), "%" PRIu32, target->rounds[i].number);
		if ((used && column < used + 1) || column + (size_t)wide > picture->columns)
			continue;
		fprintf(out, "%*s%s", (int)(column - used), "", name);
		used = column + (size_t)wide;
	}
	fputc('\n', out);
}

static void add_kind(struct text *text, uint64_t count, const char *what)
{
	if (count)
		text_add(text, "%s%" PRIu64 " %s", text->used ? ", " : "", count, what);
}

static void put_legend(FILE *out, const struct terminal *terminal, const struct picture *picture)
{
	const struct plot_target *target = picture->target;
	const struct plot_time *time = &target->time;
	char line[600], duration[48];
	struct text text = TEXT_IN(line);
	const struct scale *scale = scale_for(picture->axis.low_ns, target->resolution_ns);
	bool several = false;
	uint64_t marked = time->kinds[PLOT_STALL] + time->kinds[PLOT_FIRST] + time->kinds[PLOT_WARMUP];
	add_kind(&text, target->values - marked, "in dots");
	add_kind(&text, time->kinds[PLOT_STALL], time->kinds[PLOT_STALL] == 1 ? "stall (!)" : "stalls (!)");
	add_kind(&text, time->kinds[PLOT_FIRST], "first or second of a round (o)");
	add_kind(&text, time->kinds[PLOT_WARMUP], "slow later in the warm-up (o)");
	report_sentence(out, terminal->width, "%" PRIu64 " values of %" PRIu64 " requests: %s.", target->values,
		target->requests, line);
	text = (struct text)TEXT_IN(line);
	line[0] = 0;
	add_kind(&text, time->kinds[PLOT_LOST], "lost");
	add_kind(&text, time->kinds[PLOT_ERROR], "refused or wrong");
	add_kind(&text, time->kinds[PLOT_NOT_SENT], "not sent");
	if (text.used)
		report_sentence(out, terminal->width, "%s: without a value (x).", line);
	for (size_t i = 0; i < ROW_COUNT * picture->columns; i++)
		several |= picture->counts[0][i] > 1;
	if (several)
		report_sentence(out, terminal->width, "a digit stands for so many in one column, # for ten or more.");
	const struct plot_column *highest = NULL;
	for (size_t i = 0; i < time->grid.columns; i++) {
		const struct plot_column *column = &time->grid.column[i];
		if (column->stalls && (!highest || column->stall_ns > highest->stall_ns))
			highest = column;
	}
	if (!highest) {
		scale_format(scale, target->max_ns, target->resolution_ns, duration, sizeof(duration));
		report_sentence(out, terminal->width, "no stall; the highest is %s %s.", duration, scale->unit);
		return;
	}
	struct text why = TEXT_IN(line);
	line[0] = 0;
	if (highest->stall_word != TARE_WORD_NONE)
		text_add(&why, ", %s", tare_word_name((enum tare_word)highest->stall_word));
	if (target->round_count > 1)
		text_add(&why, ", round %" PRIu32, target->rounds[highest->stall_round].number);
	scale_format(scale, highest->stall_ns, target->resolution_ns, duration, sizeof(duration));
	report_sentence(out, terminal->width, "the longest stall: request %" PRIu64 ", %s %s%s.", highest->stall_sequence,
		duration, scale->unit, line);
}

static int paint(FILE *out, const struct terminal *terminal, struct picture *picture)
{
	const struct plot_target *target = picture->target;
	const struct plot_time *time = &target->time;
	draw_rounds_begin(picture);
	for (size_t i = 0; i < time->grid.columns; i++)
		draw_column(picture, i);
	for (size_t i = 0; i < time->mark_count; i++)
		draw_mark(picture, &time->marks[i]);
	report_sentence(out, terminal->width, "%s   %s over time", target->url, tare_span_name(target->span));
	put_picture(out, terminal, picture->canvas, &picture->axis);
	put_time_axis(out, terminal, picture);
	put_rounds(out, picture);
	put_counts(out, terminal, "stalls", picture->counts[ROW_STALLS], picture->columns, '!', INK_STALL);
	put_counts(out, terminal, "lost", picture->counts[ROW_LOST], picture->columns, 'x', INK_LOST);
	if (time->kinds[PLOT_NOT_SENT])
		put_counts(out, terminal, "not sent", picture->counts[ROW_NOT_SENT], picture->columns, 'x', INK_LOST);
	put_legend(out, terminal, picture);
	return 0;
}

int draw_time(FILE *out, const struct terminal *terminal, const struct plot_target *target, struct tare_err *err)
{
	AUTO_CLEANUP(canvas_end) struct canvas *canvas = NULL;
	size_t columns = (size_t)terminal->width - MARGIN;
	AUTO_FREE uint64_t *counts = calloc(ROW_COUNT * columns, sizeof(*counts));
	if (!counts)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot");
	if (canvas_open(columns, (size_t)terminal->lines, terminal->style, &canvas, err))
		return -1;
	struct picture picture = {.target = target, .canvas = canvas, .columns = columns};
	for (size_t i = 0; i < ROW_COUNT; i++)
		picture.counts[i] = counts + i * columns;
	picture.axis = axis_of(target, canvas_dots_high(canvas));
	return paint(out, terminal, &picture);
}
