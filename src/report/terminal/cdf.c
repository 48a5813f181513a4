/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Percentile curves: across is 1 / (1 - p) on a logarithmic axis, where every power
 * of ten is one more nine; the right edge is the maximum. Joined while ten or more
 * values lie behind, single dots beyond, where the curve is hardly more than its
 * last few requests.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/report.h"
#include "report/terminal/private.h"

/* A letter on the curve every so many columns, where there are several. */
enum { LETTER_EVERY = 10 };

struct picture {
	const struct plot_target *target;
	struct canvas *canvas;
	struct log_axis axis;
	double decades; /* of 1 / (1 - p), from the left edge to the right one */
};

/* 1 / (1 - p) of a point; the maximum stands behind the last value: twice as far as one with one behind. */
static double reach_of(const struct plot_curve *curve, uint64_t behind)
{
	return behind ? (double)curve->n / (double)behind : 2 * (double)curve->n;
}

static size_t place_of(const struct picture *picture, double reach, size_t places)
{
	double share = log10(reach) / picture->decades;
	size_t place = share > 0 ? (size_t)(share * (double)(places - 1) + 0.5) : 0;
	return place < places ? place : places - 1;
}

static char letter_of(const struct plot_target *target, size_t curve)
{
	if (target->curve_count == 1)
		return 0;
	return target->curves[curve].arm ? target->curves[curve].arm : (char)('a' + curve % 26);
}

/* Dots x to `to` at the height of `from_y`, then up to `to_y`: rank by rank, never a slope that was not measured. */
static void join(struct canvas *canvas, size_t from_x, size_t from_y, size_t to_x, size_t to_y, enum ink ink)
{
	for (size_t x = from_x; x < to_x; x++)
		canvas_dot(canvas, x, from_y, ink);
	for (size_t y = from_y; y < to_y; y++)
		canvas_dot(canvas, to_x, y, ink);
}

static void draw_curve(struct picture *picture, size_t which)
{
	static const enum ink inks[] = {INK_PLAIN, INK_SECOND, INK_THIRD, INK_FIRST};
	const struct plot_curve *curve = &picture->target->curves[which];
	enum ink ink = inks[which % 4];
	size_t wide = canvas_dots_wide(picture->canvas), cell = wide / canvas_columns(picture->canvas);
	size_t last_x = 0, last_y = 0, lettered = SIZE_MAX;
	char letter = letter_of(picture->target, which);
	for (size_t i = 0; i < curve->point_count; i++) {
		const struct plot_point *point = &curve->points[i];
		size_t x = place_of(picture, reach_of(curve, point->behind), wide);
		size_t y = log_axis_dot(&picture->axis, point->value_ns);
		if (i > 0 && point->solid)
			join(picture->canvas, last_x, last_y, x, y, ink);
		canvas_dot(picture->canvas, x, y, ink);
		/* letters of several curves stand in turn, so that one on the other leaves both to be seen */
		size_t slot = x / cell / LETTER_EVERY;
		if (letter && slot != lettered && x / cell % LETTER_EVERY >= which % LETTER_EVERY) {
			canvas_mark(picture->canvas, x, y, letter, 1, ink);
			lettered = slot;
		}
		if (!point->behind)
			canvas_mark(picture->canvas, x, y, letter ? letter : 'o', 2, ink);
		last_x = x;
		last_y = y;
	}
}

static void put_percentiles(FILE *out, const struct terminal *terminal, const struct picture *picture)
{
	static const struct { double reach; const char *label; } names[] = {{1, "0 %"}, {2, "50 %"}, {10, "90 %"}, {100, "99 %"},
		{1e3, "99.9 %"}, {1e4, "99.99 %"}, {1e5, "99.999 %"}, {1e6, "99.9999 %"}, {1e7, "99.99999 %"}, {1e8, "8 nines"},
		{1e9, "9 nines"}};
	struct column_tick ticks[16];
	size_t count = 0, columns = canvas_columns(picture->canvas);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t column = place_of(picture, names[i].reach, columns);
		if (log10(names[i].reach) > picture->decades || column + 8 > columns)
			break;
		ticks[count].column = column;
		snprintf(ticks[count++].label, sizeof(ticks[0].label), "%s", names[i].label);
	}
	ticks[count].column = columns - 1;
	snprintf(ticks[count++].label, sizeof(ticks[0].label), "max");
	put_base(out, terminal, columns, ticks, count);
}

static void put_curve(FILE *out, const struct terminal *terminal, const struct plot_target *target, size_t which)
{
	const struct plot_curve *curve = &target->curves[which];
	const struct { const char *name; int64_t ns; } figures[] = {{"min", curve->min_ns}, {"p50", curve->p50_ns},
		{"p99", curve->p99_ns}, {"p99.9", curve->p999_ns}, {"max", curve->max_ns}};
	char line[700], letter = letter_of(target, which);
	struct text text = TEXT_IN(line);
	if (letter)
		text_add(&text, "%c %s: ", letter, curve->name[0] ? curve->name : "without a label");
	text_add(&text, "%" PRIu64 " values", curve->n);
	if (curve->rounds > 1)
		text_add(&text, ", %" PRIu32 " rounds", curve->rounds);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		char duration[32];
		if (figures[i].ns == TARE_NO_TIME)
			continue;
		format_duration(figures[i].ns, duration, sizeof(duration));
		text_add(&text, ", %s %s", figures[i].name, duration);
	}
	report_sentence(out, terminal->width, "%s.", line);
}

int draw_cdf(FILE *out, const struct terminal *terminal, const struct plot_target *target, struct tare_err *err)
{
	AUTO_CLEANUP(canvas_end) struct canvas *canvas = NULL;
	int64_t low_ns = INT64_MAX, high_ns = 1;
	double most = 2;
	bool dotted = false;
	if (canvas_open((size_t)terminal->width - MARGIN, (size_t)terminal->lines, terminal->style, &canvas, err))
		return -1;
	for (size_t i = 0; i < target->curve_count; i++) {
		const struct plot_curve *curve = &target->curves[i];
		if (!curve->n)
			continue;
		low_ns = curve->min_ns < low_ns ? curve->min_ns : low_ns;
		high_ns = curve->max_ns > high_ns ? curve->max_ns : high_ns;
		most = fmax(most, reach_of(curve, 0));
		dotted = true;
	}
	struct picture picture = {target, canvas, log_axis_of(low_ns, high_ns, canvas_dots_high(canvas)), log10(most)};
	for (size_t i = 0; i < target->curve_count; i++)
		draw_curve(&picture, i);
	report_sentence(out, terminal->width, "%s   %s, what share of the requests took at most this long", target->url,
		tare_span_name(target->span));
	put_picture(out, terminal, canvas, &picture.axis);
	put_percentiles(out, terminal, &picture);
	for (size_t i = 0; i < target->curve_count; i++)
		if (target->curves[i].n)
			put_curve(out, terminal, target, i);
	if (dotted)
		report_sentence(out, terminal->width,
			"single dots: fewer than ten values behind; the last one is the maximum.");
	if (target->curves_more)
		report_sentence(out, terminal->width, "%" PRIu64 " further labels or files share the last curve.", target->curves_more);
	if (target->binned)
		report_sentence(out, terminal->width, "the source counted in bins: the curve runs along their upper bounds.");
	return 0;
}
