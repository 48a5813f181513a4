/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Percentile curves as steps: between two ranks there is no sample, so nothing
 * slopes. The maximum has nothing behind it and stands at 2n, one place to the
 * right of the last sample that has.
 */
#include <inttypes.h>
#include <math.h>

#include "report/plot/canvas.h"

enum { HEIGHT = 330, TOP = 34, BOTTOM = 286, CLASS_ROOM = 16 };

static double x_of(const struct plot_curve *curve, uint64_t behind)
{
	return behind ? (double)curve->n / (double)behind : 2 * (double)curve->n;
}

static void draw_band(
	FILE *out, const struct axis *x, const struct axis *y, const struct plot_curve *curve, size_t series)
{
	size_t count = 0;
	while (count < curve->point_count && curve->points[count].low_ns != TARE_NO_TIME)
		count++;
	if (count < 2)
		return;
	fprintf(out, "<path class=\"band c%zu\" d=\"", series);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', axis_at(x, x_of(curve, curve->points[i].behind)),
			axis_at(y, (double)curve->points[i].high_ns));
	for (size_t i = count; i-- > 0;)
		fprintf(out, "L%.1f %.1f", axis_at(x, x_of(curve, curve->points[i].behind)),
			axis_at(y, (double)curve->points[i].low_ns));
	fputs("z\"/>\n", out);
}

static void draw_steps(FILE *out, const struct axis *x, const struct axis *y, const struct plot_curve *curve,
	size_t series, bool solid)
{
	bool drawing = false;
	for (size_t i = 0; i < curve->point_count; i++) {
		const struct plot_point *point = &curve->points[i];
		/* the dashes begin where the line ends */
		bool wanted = solid ? point->solid
				    : !point->solid || (i + 1 < curve->point_count && !curve->points[i + 1].solid);
		if (!wanted)
			continue;
		double px = axis_at(x, x_of(curve, point->behind)), py = axis_at(y, (double)point->value_ns);
		if (!drawing)
			fprintf(out, "<path class=\"line%s c%zu\" d=\"M%.1f %.1f", solid ? "" : " dashed", series, px,
				py);
		else
			fprintf(out, "V%.1fH%.1f", py, px);
		drawing = true;
	}
	if (drawing)
		fputs("\"/>\n", out);
}

static void draw_maximum(
	FILE *out, const struct axis *x, const struct axis *y, const struct plot_curve *curve, size_t series)
{
	fprintf(out, "<path class=\"m c%zu\" d=\"", series);
	svg_shape(out, series_shape(series + 1), axis_at(x, 2 * (double)curve->n), axis_at(y, (double)curve->max_ns));
	fputs("\"><title>maximum</title></path>\n", out);
}

/* 0 %, 50 %, 90 %, 99 %, …: 1 - 1 / x at x = 1, 2, 10, 100, … */
static void draw_percents(FILE *out, const struct axis *x)
{
	static const struct {
		double at;
		const char *text;
	} ticks[] = {{1, "0 %"}, {2, "50 %"}, {10, "90 %"}, {100, "99 %"}, {1e3, "99.9 %"}, {1e4, "99.99 %"},
		{1e5, "99.999 %"}, {1e6, "99.9999 %"}, {1e7, "99.99999 %"}, {1e8, "99.999999 %"}};
	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		if (ticks[i].at < x->low || ticks[i].at > x->high)
			continue;
		double at = axis_at(x, ticks[i].at);
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", at, TOP, BOTTOM);
		svg_label(out, at, BOTTOM + 15, at > SVG_RIGHT - 30 ? 'e' : 'm', "t", "%s", ticks[i].text);
	}
	svg_label(out, (SVG_LEFT + SVG_RIGHT) / 2.0, BOTTOM + 32, 'm', "t", "share of requests at or below");
}

/* A and B look here as they do in the plot of rounds. */
static size_t look_of(const struct plot_target *target, size_t curve)
{
	bool arms = false;
	for (size_t i = 0; i < target->curve_count; i++)
		arms |= target->curves[i].arm != 0;
	char arm = target->curves[curve].arm;
	return arm ? (size_t)(arm - 'A') : arms ? (curve + 2) % PLOT_SERIES_MAX : curve;
}

int svg_curve(FILE *out, const struct plot_target *target)
{
	double low = INFINITY, high = 1, most = 10;
	for (size_t i = 0; i < target->curve_count; i++) {
		const struct plot_curve *curve = &target->curves[i];
		if (!curve->n)
			continue;
		low = fmin(low, (double)curve->min_ns);
		high = fmax(high, (double)curve->max_ns);
		most = fmax(most, 2 * (double)curve->n);
	}
	struct axis x = {.log = true, .low = 0.97, .high = most * 1.15, .from = SVG_LEFT, .to = SVG_RIGHT};
	struct axis y = axis_of(true, isfinite(low) ? low : 1, high, BOTTOM, TOP);
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = HEIGHT + 6};
	draw_percents(out, &x);
	svg_axis_y(out, &y, SVG_LEFT, SVG_RIGHT, TICK_TIME, "");
	svg_label(out, SVG_LEFT, 16, 's', "t", "%s, logarithmic%s", tare_span_name(target->span),
		target->binned ? "; upper bounds of the source's bins" : "");
	svg_frame(out, SVG_LEFT, TOP, SVG_RIGHT, BOTTOM);
	for (size_t i = 0; i < target->curve_count; i++)
		draw_band(out, &x, &y, &target->curves[i], look_of(target, i));
	for (size_t i = 0; i < target->curve_count; i++) {
		const struct plot_curve *curve = &target->curves[i];
		char class[CLASS_ROOM];
		size_t look = look_of(target, i);
		if (!curve->n)
			continue;
		draw_steps(out, &x, &y, curve, look, true);
		draw_steps(out, &x, &y, curve, look, false);
		draw_maximum(out, &x, &y, curve, look);
		snprintf(class, sizeof(class), "m c%zu", look);
		legend_entry(
			&legend, class, (int)series_shape(look + 1), curve->name[0] ? curve->name : "all rounds", 40);
	}
	legend_entry(&legend, "line dashed c0", -1, "fewer than ten behind", 0);
	return (int)legend.y + 14;
}
