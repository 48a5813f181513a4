/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the drawers of single plots share: axes, ticks, text, marks, shades. */
#pragma once
#include <stdint.h>

#include "report/plot/svg.h"

enum { SVG_WIDTH = 860, SVG_LEFT = 74, SVG_RIGHT = 846, SVG_TOP = 26, SHADES = 6 };

struct axis {
	bool log;
	double low, high; /* values at both ends */
	double from, to;  /* where those are; from > to for an axis upwards */
};
double axis_at(const struct axis *axis, double value);
/* A little room at both ends; at least a factor of 1.1 on a logarithmic axis. */
struct axis axis_of(bool log, double low, double high, double from, double to);

enum tick_unit { TICK_TIME, TICK_COUNT };
/* Rounded values within the axis, at most PLOT_TICKS_MAX; about `want` of them. */
size_t axis_ticks(const struct axis *axis, enum tick_unit unit, size_t want, double *ret_ticks);
void tick_text(double value, enum tick_unit unit, char *buffer, size_t room);

/* Foreign text, made harmless, for element content and quoted attributes; cut with an ellipsis after `most` characters (0: never). */
void svg_text_safe(FILE *out, const char *text, size_t most);

/* Lines and labels of ticks, and the name of the axis. */
void svg_axis_x(FILE *out, const struct axis *x, double top, double bottom, enum tick_unit unit, const char *name);
void svg_axis_y(FILE *out, const struct axis *y, double left, double right, enum tick_unit unit, const char *name);
void svg_frame(FILE *out, double left, double top, double right, double bottom);
/* anchor: 's', 'm' or 'e'. */
void svg_label(FILE *out, double x, double y, char anchor, const char *class, const char *format, ...) TARE_PRINTF(6, 7);

enum svg_shape { SHAPE_DIAMOND, SHAPE_CIRCLE, SHAPE_SQUARE, SHAPE_UP, SHAPE_DOWN, SHAPE_CROSS, SHAPE_PLUS, SHAPE_BAR, SHAPE_COUNT };
/* The shape's outline about (x, y), for a path's "d". */
void svg_shape(FILE *out, enum svg_shape shape, double x, double y);
/* The same on whole pixels, in fewer bytes: for crowds. */
void svg_shape_coarse(FILE *out, enum svg_shape shape, double x, double y);

/* Where a path of whole pixels has come to: what follows is told relative to it, in fewer bytes. Starts as {0}. */
struct svg_pen {
	bool down;
	int x, y;
};
/* As svg_shape_coarse, for a row of marks of one shape whose outline is a single stroke (no cross). */
void svg_shape_row(FILE *out, enum svg_shape shape, double x, double y, struct svg_pen *pen);

/* Level strokes from left to right; those of one height that touch become one. */
struct svg_levels {
	struct svg_pen pen;
	bool waiting;
	int from, to, y;
};
void svg_level(FILE *out, struct svg_levels *levels, double from, double to, double y);
void svg_levels_end(FILE *out, struct svg_levels *levels);
enum svg_shape series_shape(size_t series);
/* Of a cause: its shape, and its colour as the number of a class "c0" to "c7". */
enum svg_shape word_shape(uint8_t word);
int word_colour(uint8_t word);
const char *word_text(uint8_t word);

/* Entries of a legend, set side by side and wrapped; returns the height taken. */
struct legend { FILE *out; double x, y; };
void legend_entry(struct legend *legend, const char *swatch_class, int shape /* -1: a line */, const char *text, size_t most);

/* Counts in columns and rows of pixels, as shades. */
struct shading {
	size_t columns, rows;
	double *x_edge, *y_edge; /* columns + 1, rows + 1, in pixels, y downwards from row to row + 1 being upwards on screen */
	uint64_t *count;         /* column by column */
};
int shading_open(struct shading *shading, size_t columns, size_t rows);
void shading_end(struct shading *shading);
void shading_draw(FILE *out, const struct shading *shading);

/* Each draws its plot and returns its height. */
int svg_time(FILE *out, const struct plot_target *target);
int svg_curve(FILE *out, const struct plot_target *target);
int svg_histogram(FILE *out, const struct plot_target *target);
int svg_lateness(FILE *out, const struct plot_target *target);
int svg_parts(FILE *out, const struct plot_target *target);
int svg_rounds(FILE *out, const struct plot_target *target, const struct plot_svg_rules *rules);
int svg_rate(FILE *out, const struct plot_target *target);
int svg_smoke(FILE *out, const struct plot_target *target);
int svg_heat(FILE *out, const struct plot_target *target);
