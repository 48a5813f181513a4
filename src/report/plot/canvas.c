/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Axes, text and marks in SVG. Coordinates have one decimal: a tenth of a pixel,
 * and the same bytes everywhere. Text of others passes svg_text_safe() and no
 * other way.
 */
#include "report/plot/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/utf8.h"

double axis_at(const struct axis *axis, double value)
{
	double share;
	if (axis->log)
		share = log(fmax(value, 1e-3) / axis->low) / log(axis->high / axis->low);
	else
		share = (value - axis->low) / (axis->high - axis->low);
	/* What lies outside is drawn on the edge rather than in another plot. */
	share = share < 0 ? 0 : share > 1 ? 1 : share;
	return axis->from + share * (axis->to - axis->from);
}

struct axis axis_of(bool log_axis, double low, double high, double from, double to)
{
	struct axis axis = {.log = log_axis, .low = low, .high = high, .from = from, .to = to};
	if (log_axis) {
		axis.low = fmax(low, 1) / 1.06;
		axis.high = fmax(high, axis.low * 1.1) * 1.12;
	} else if (!(high > low)) {
		axis.high = low + fmax(1, fabs(low) * 0.02);
		axis.low = low - fmax(1, fabs(low) * 0.02);
	}
	return axis;
}

static double nice_step(double least, enum tick_unit unit)
{
	static const double minutes[] = {60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
	if (unit == TICK_TIME && least > 30e9)
		for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++)
			if (minutes[i] * 1e9 >= least)
				return minutes[i] * 1e9;
	double power = pow(10, floor(log10(least)));
	double of = least / power;
	return power * (of <= 1 ? 1 : of <= 2 ? 2 : of <= 5 ? 5 : 10);
}

size_t axis_ticks(const struct axis *axis, enum tick_unit unit, size_t want, double *ret_ticks)
{
	size_t count = 0;
	if (axis->log && axis->high / axis->low > 12) {
		double decades = log10(axis->high / axis->low);
		bool fine = decades * 3 <= (double)want;
		/* decades apart, more where even they are too many */
		int stride = (int)ceil(decades / (double)want);
		int first = (int)floor(log10(axis->low));
		for (int power = first; count < PLOT_TICKS_MAX && pow(10, power) <= axis->high;
			power += fine ? 1 : stride)
			for (int i = 0; i < (fine ? 3 : 1) && count < PLOT_TICKS_MAX; i++) {
				double tick = pow(10, power) * (i == 0 ? 1 : i == 1 ? 2 : 5);
				if (tick >= axis->low && tick <= axis->high)
					ret_ticks[count++] = tick;
			}
		return count;
	}
	double step = nice_step((axis->high - axis->low) / (double)want, unit);
	step = step < 1 ? 1 : step;
	for (double i = ceil(axis->low / step); i * step <= axis->high && count < PLOT_TICKS_MAX; i++)
		ret_ticks[count++] = i * step;
	return count;
}

void tick_text(double value, enum tick_unit unit, char *buffer, size_t room)
{
	if (value == 0)
		snprintf(buffer, room, "0");
	else if (unit == TICK_TIME)
		format_duration(llround(value), buffer, room);
	else if (value >= 1e6)
		snprintf(buffer, room, "%gM", value / 1e6);
	else if (value >= 1e4)
		snprintf(buffer, room, "%gk", value / 1e3);
	else
		snprintf(buffer, room, "%g", value);
}

void svg_text_safe(FILE *out, const char *text, size_t most)
{
	AUTO_FREE char *safe = utf8_safe(text ? text : "", "");
	size_t room = safe ? strlen(safe) : 0, characters = 0;
	for (size_t at = 0; at < room;) {
		uint32_t code;
		size_t bytes = utf8_next(safe + at, room - at, &code);
		if (most && ++characters > most) {
			fputs("…", out);
			return;
		}
		switch (safe[at]) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fwrite(safe + at, 1, bytes, out);
		}
		at += bytes;
	}
}

void svg_label(FILE *out, double x, double y, char anchor, const char *class, const char *format, ...)
{
	AUTO_FREE char *text = NULL;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0) {
		text = NULL;
		return;
	}
	fprintf(out, "<text class=\"%s%s\" x=\"%.1f\" y=\"%.1f\">", class,
		anchor == 'm'   ? " tm"
		: anchor == 'e' ? " te"
				: "",
		x, y);
	svg_text_safe(out, text, 0);
	fputs("</text>\n", out);
}

void svg_frame(FILE *out, double left, double top, double right, double bottom)
{
	fprintf(out, "<path class=\"frame\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/>\n", left, top, right, bottom, left);
}

void svg_axis_x(FILE *out, const struct axis *x, double top, double bottom, enum tick_unit unit, const char *name)
{
	double ticks[PLOT_TICKS_MAX];
	char text[48];
	size_t count = axis_ticks(x, unit, (size_t)(fabs(x->to - x->from) / 80), ticks);
	for (size_t i = 0; i < count; i++) {
		double at = axis_at(x, ticks[i]);
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", at, top, bottom);
		tick_text(ticks[i], unit, text, sizeof(text));
		svg_label(out, at, bottom + 15, at > SVG_RIGHT - 12 ? 'e' : 'm', "t", "%s", text);
	}
	svg_label(out, (x->from + x->to) / 2, bottom + 32, 'm', "t", "%s", name);
}

void svg_axis_y(FILE *out, const struct axis *y, double left, double right, enum tick_unit unit, const char *name)
{
	double ticks[PLOT_TICKS_MAX];
	char text[48];
	size_t count = axis_ticks(y, unit, (size_t)(fabs(y->to - y->from) / 25), ticks);
	for (size_t i = 0; i < count; i++) {
		double at = axis_at(y, ticks[i]);
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", left, at, right);
		tick_text(ticks[i], unit, text, sizeof(text));
		svg_label(out, left - 6, at + 4, 'e', "t", "%s", text);
	}
	svg_label(out, left, fmin(y->from, y->to) - 10, 's', "t", "%s", name);
}

void svg_shape(FILE *out, enum svg_shape shape, double x, double y)
{
	static const char *const outlines[SHAPE_COUNT] = {
		[SHAPE_DIAMOND] = "m-4 0l4-4 4 4-4 4z",
		[SHAPE_CIRCLE] = "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
		[SHAPE_SQUARE] = "m-3-3h6v6h-6z",
		[SHAPE_UP] = "m0-4l4 7h-8z",
		[SHAPE_DOWN] = "m0 4l4-7h-8z",
		[SHAPE_CROSS] = "m-3-4l3 3 3-3 1 1-3 3 3 3-1 1-3-3-3 3-1-1 3-3-3-3z",
		[SHAPE_PLUS] = "m-1-4h2v3h3v2h-3v3h-2v-3h-3v-2h3z",
		[SHAPE_BAR] = "m-.7-5h1.4v10h-1.4z",
	};
	fprintf(out, "M%.1f %.1f%s", x, y, outlines[shape]);
}

static const struct {
	int x, y;
	const char *outline;
} crowd[SHAPE_COUNT] = {
	[SHAPE_DIAMOND] = {-3, 0, "l3-3 3 3-3 3z"},
	[SHAPE_CIRCLE] = {-3, 0, "a3 3 0 0 0 6 0 3 3 0 0 0-6 0"},
	[SHAPE_SQUARE] = {-2, -2, "h5v5h-5z"},
	[SHAPE_UP] = {0, -3, "l3 6h-6z"},
	[SHAPE_DOWN] = {0, 3, "l3-6h-6z"},
	[SHAPE_CROSS] = {-3, -2, "l5 5 1-1-5-5zm5 0l-5 5 1 1 5-5z"},
	[SHAPE_PLUS] = {-1, -3, "h2v2h2v2h-2v2h-2v-2h-2v-2h2z"},
	[SHAPE_BAR] = {0, -5, "h1v10h-1z"},
};

void svg_shape_coarse(FILE *out, enum svg_shape shape, double x, double y)
{
	fprintf(out, "M%d %d%s", (int)lround(x) + crowd[shape].x, (int)lround(y) + crowd[shape].y,
		crowd[shape].outline);
}

static void pen_to(FILE *out, struct svg_pen *pen, int x, int y)
{
	int dx = x - pen->x, dy = y - pen->y;
	if (pen->down)
		fprintf(out, "m%d%s%d", dx, dy < 0 ? "" : " ", dy);
	else
		fprintf(out, "M%d %d", x, y);
	*pen = (struct svg_pen){true, x, y};
}

void svg_shape_row(FILE *out, enum svg_shape shape, double x, double y, struct svg_pen *pen)
{
	pen_to(out, pen, (int)lround(x) + crowd[shape].x, (int)lround(y) + crowd[shape].y);
	fputs(crowd[shape].outline, out);
}

void svg_levels_end(FILE *out, struct svg_levels *levels)
{
	if (!levels->waiting)
		return;
	pen_to(out, &levels->pen, levels->from, levels->y);
	fprintf(out, "h%d", levels->to - levels->from);
	levels->pen.x = levels->to;
	levels->waiting = false;
}

void svg_level(FILE *out, struct svg_levels *levels, double from, double to, double y)
{
	int left = (int)lround(from), right = (int)lround(fmax(to, from + 1)), height = (int)lround(y);
	if (levels->waiting && levels->y == height && left <= levels->to && left >= levels->from) {
		levels->to = right > levels->to ? right : levels->to;
		return;
	}
	svg_levels_end(out, levels);
	levels->from = left;
	levels->to = right;
	levels->y = height;
	levels->waiting = true;
}

enum svg_shape series_shape(size_t series)
{
	return (enum svg_shape)(series % SHAPE_BAR);
}

/* Colours repeat among sixteen causes, shape and colour together do not. */
static const struct {
	uint8_t shape, colour;
} words[TARE_WORD_COUNT] = {
	[TARE_WORD_NONE] = {SHAPE_DIAMOND, 6},
	[TARE_WORD_PREEMPTED] = {SHAPE_CIRCLE, 1},
	[TARE_WORD_RUN_QUEUE] = {SHAPE_SQUARE, 1},
	[TARE_WORD_MIGRATED] = {SHAPE_UP, 4},
	[TARE_WORD_INTERRUPT] = {SHAPE_DOWN, 7},
	[TARE_WORD_SOFTIRQ] = {SHAPE_UP, 7},
	[TARE_WORD_PAGE_FAULT] = {SHAPE_SQUARE, 3},
	[TARE_WORD_BLOCKED] = {SHAPE_CIRCLE, 3},
	[TARE_WORD_STOPPED] = {SHAPE_SQUARE, 6},
	[TARE_WORD_IDLE] = {SHAPE_DOWN, 2},
	[TARE_WORD_HARDWARE] = {SHAPE_PLUS, 6},
	[TARE_WORD_BUSY] = {SHAPE_CIRCLE, 2},
	[TARE_WORD_LOST] = {SHAPE_BAR, 6},
	[TARE_WORD_NETWORK] = {SHAPE_PLUS, 5},
	[TARE_WORD_UNKNOWN] = {SHAPE_CROSS, 5},
	[TARE_WORD_UNEXPLAINED] = {SHAPE_CROSS, 6},
};

enum svg_shape word_shape(uint8_t word)
{
	return (enum svg_shape)words[word < TARE_WORD_COUNT ? word : 0].shape;
}

int word_colour(uint8_t word)
{
	return words[word < TARE_WORD_COUNT ? word : 0].colour;
}

const char *word_text(uint8_t word)
{
	return word == TARE_WORD_NONE ? "cause not looked for" : tare_word_name((enum tare_word)word);
}

void legend_entry(struct legend *legend, const char *swatch_class, int shape, const char *text, size_t most)
{
	AUTO_FREE char *safe = utf8_safe(text, "");
	int columns = safe ? utf8_columns(safe) : 0;
	columns = most && columns > (int)most ? (int)most + 1 : columns;
	double width = 22 + 6.9 * columns + 14;
	if (legend->x > SVG_LEFT && legend->x + width > SVG_RIGHT) {
		legend->x = SVG_LEFT;
		legend->y += 18;
	}
	fprintf(legend->out, "<path class=\"%s\" d=\"", swatch_class);
	if (shape < 0)
		fprintf(legend->out, "M%.1f %.1fh16", legend->x, legend->y);
	else
		svg_shape(legend->out, (enum svg_shape)shape, legend->x + 8, legend->y);
	fprintf(legend->out, "\"/><text class=\"t\" x=\"%.1f\" y=\"%.1f\">", legend->x + 22, legend->y + 4);
	svg_text_safe(legend->out, text, most);
	fputs("</text>\n", legend->out);
	legend->x += width;
}
