/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two planes of shades: lateness against rtt, and values by the clock over hours. */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "base/text.h"
#include "report/plot/canvas.h"

enum { TOP = 34, LATE_BOTTOM = 306, HEAT_BOTTOM = 256 };

/* ---- lateness against rtt ---- */

static int64_t coarse_low_ns(size_t row)
{
	return plot_row_low_ns(4 * row);
}

static void draw_late_cells(FILE *out, const struct plot_lateness *lateness, const struct axis *x, const struct axis *y)
{
	struct shading shading;
	size_t columns = lateness->late_high - lateness->late_low + 1,
	       rows = lateness->rtt_high - lateness->rtt_low + 1;
	if (!lateness->n || shading_open(&shading, columns, rows))
		return;
	for (size_t i = 0; i <= columns; i++)
		shading.x_edge[i] = axis_at(x, (double)coarse_low_ns(lateness->late_low + i));
	for (size_t i = 0; i <= rows; i++)
		shading.y_edge[i] = axis_at(y, (double)coarse_low_ns(lateness->rtt_low + i));
	for (size_t column = 0; column < columns; column++)
		for (size_t row = 0; row < rows; row++)
			shading.count[column * rows + row] =
				lateness->cell[(lateness->late_low + column) * PLOT_COARSE_ROWS + lateness->rtt_low +
					       row];
	shading_draw(out, &shading);
	shading_end(&shading);
}

int svg_lateness(FILE *out, const struct plot_target *target)
{
	const struct plot_lateness *lateness = target->lateness;
	struct axis x = axis_of(true, (double)coarse_low_ns(lateness->late_low),
		(double)coarse_low_ns(lateness->late_high + 1), SVG_LEFT, SVG_RIGHT);
	struct axis y = axis_of(true, (double)coarse_low_ns(lateness->rtt_low),
		(double)coarse_low_ns(lateness->rtt_high + 1), LATE_BOTTOM, TOP);
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = LATE_BOTTOM + 52};
	svg_axis_x(out, &x, TOP, LATE_BOTTOM, TICK_TIME, "late: due to sent, logarithmic");
	svg_axis_y(out, &y, SVG_LEFT, SVG_RIGHT, TICK_TIME, "");
	svg_label(out, SVG_LEFT, 16, 's', "t", "rtt, logarithmic");
	svg_frame(out, SVG_LEFT, TOP, SVG_RIGHT, LATE_BOTTOM);
	draw_late_cells(out, lateness, &x, &y);
	/* where both are alike: right of it we were the larger part of what a client waits */
	double low = fmax(x.low, y.low), high = fmin(x.high, y.high);
	if (low < high) {
		fprintf(out, "<path class=\"change\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", axis_at(&x, low),
			axis_at(&y, low), axis_at(&x, high), axis_at(&y, high));
		legend_entry(&legend, "change", -1, "late = rtt", 0);
	}
	if (lateness->mark_count) {
		bool crowd = lateness->mark_count > 150;
		fputs(crowd ? "<path class=\"m c6 crowd\" d=\"" : "<path class=\"m c6\" d=\"", out);
		for (size_t i = 0; i < lateness->mark_count; i++)
			(crowd ? svg_shape_coarse : svg_shape)(out, SHAPE_DIAMOND,
				axis_at(&x, (double)lateness->marks[i].late_ns),
				axis_at(&y, (double)lateness->marks[i].rtt_ns));
		fputs("\"/>\n", out);
		char text[96];
		snprintf(text, sizeof(text), "above the stall limit in either (%" PRIu64 ")", lateness->marked);
		legend_entry(&legend, "m c6", SHAPE_DIAMOND, text, 0);
	}
	return (int)legend.y + 14;
}

/* ---- by the clock ---- */

static void clock_text(int64_t real_ns, bool date, char *buffer, size_t room)
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	struct tm broken;
	buffer[0] = '\0';
	if (gmtime_r(&seconds, &broken))
		strftime(buffer, room, date ? "%d %b %H:%M" : "%H:%M", &broken);
}

/* Whole hours or days between both ends. */
static void draw_clock(FILE *out, const struct plot_target *target, const struct axis *x)
{
	static const int64_t steps_s[] = {
		600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000, 31536000};
	int64_t from_s = target->heat_from_real_ns / 1000000000, to_s = target->heat_to_real_ns / 1000000000;
	int64_t step_s = steps_s[sizeof(steps_s) / sizeof(steps_s[0]) - 1];
	char text[48];
	for (size_t i = sizeof(steps_s) / sizeof(steps_s[0]); i-- > 0;)
		if ((to_s - from_s) / steps_s[i] <= 8)
			step_s = steps_s[i];
	int count = 0;
	for (int64_t at_s = (from_s / step_s + 1) * step_s; at_s <= to_s && count < PLOT_TICKS_MAX;
		at_s += step_s, count++) {
		double at = axis_at(x, (double)(at_s - from_s) * 1e9);
		clock_text(at_s * 1000000000, to_s - from_s > 43200, text, sizeof(text));
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", at, TOP, HEAT_BOTTOM);
		svg_label(out, at, HEAT_BOTTOM + 15, 'm', "t", "%s", text);
	}
	clock_text(target->heat_from_real_ns, true, text, sizeof(text));
	svg_label(out, (SVG_LEFT + SVG_RIGHT) / 2.0, HEAT_BOTTOM + 32, 'm', "t", "wall clock (UTC), from %s", text);
}

static void draw_heat_cells(FILE *out, const struct plot_grid *grid, const struct axis *x, const struct axis *y)
{
	struct shading shading;
	double row_pixels = (HEAT_BOTTOM - TOP) / (log2(y->high / y->low) * PLOT_ROWS_PER_OCTAVE);
	size_t by_rows = row_pixels >= 3 ? 1 : (size_t)ceil(3 / row_pixels);
	size_t by_columns = (grid->columns * 3 + SVG_RIGHT - SVG_LEFT - 1) / (SVG_RIGHT - SVG_LEFT);
	by_columns = by_columns ? by_columns : 1;
	size_t columns = (grid->columns + by_columns - 1) / by_columns,
	       rows = (grid->row_high - grid->row_low) / by_rows + 1;
	if (shading_open(&shading, columns, rows))
		return;
	for (size_t i = 0; i <= columns; i++)
		shading.x_edge[i] = axis_at(x, (double)(i * by_columns) * (double)grid->step);
	for (size_t i = 0; i <= rows; i++)
		shading.y_edge[i] = axis_at(y, (double)plot_row_low_ns(grid->row_low + i * by_rows));
	for (size_t column = 0; column < grid->columns; column++)
		for (size_t row = grid->row_low; row <= grid->row_high; row++)
			shading.count[column / by_columns * rows + (row - grid->row_low) / by_rows] +=
				plot_grid_cell(grid, column, row);
	shading_draw(out, &shading);
	shading_end(&shading);
}

int svg_heat(FILE *out, const struct plot_target *target)
{
	const struct plot_grid *grid = &target->heat;
	struct axis x = {.low = 0,
		.high = (double)(target->heat_to_real_ns - target->heat_from_real_ns),
		.from = SVG_LEFT,
		.to = SVG_RIGHT};
	struct axis y = axis_of(true, (double)plot_row_low_ns(grid->row_low),
		(double)plot_row_low_ns(grid->row_high + 1), HEAT_BOTTOM, TOP);
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = HEAT_BOTTOM + 52};
	uint64_t stalls = 0;
	draw_clock(out, target, &x);
	svg_axis_y(out, &y, SVG_LEFT, SVG_RIGHT, TICK_TIME, "");
	svg_label(out, SVG_LEFT, 16, 's', "t", "%s, logarithmic", tare_span_name(target->span));
	svg_frame(out, SVG_LEFT, TOP, SVG_RIGHT, HEAT_BOTTOM);
	draw_heat_cells(out, grid, &x, &y);
	for (size_t i = 0; i < grid->columns; i++) {
		const struct plot_column *column = &grid->column[i];
		if (!column->stalls)
			continue;
		if (!stalls)
			fputs("<path class=\"m c6\" d=\"", out);
		svg_shape(out, SHAPE_DIAMOND, axis_at(&x, (double)column->stall_x),
			axis_at(&y, (double)column->stall_ns));
		stalls += column->stalls;
	}
	if (stalls)
		fputs("\"/>\n", out);
	legend_entry(&legend, "d4", SHAPE_SQUARE, "requests", 0);
	if (stalls)
		legend_entry(&legend, "m c6", SHAPE_DIAMOND, "the highest stall of a column", 0);
	return (int)legend.y + 14;
}
