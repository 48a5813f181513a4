/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every request over time. Bulk as shades, everything that matters as marks on
 * top; losses stand on a strip of their own above, what was never sent on one
 * below, so that neither hides a value. No line joins samples, so nothing is
 * drawn where nothing was measured.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "report/plot/canvas.h"

enum {
	HEIGHT = 330,
	TOP = 46,
	BOTTOM = 286,
	LOST_Y = 33,
	MARKS_WITH_TITLE = 150,
	COUNTED_COLUMNS = 40,
	CELL_PIXELS = 3,
	CHANGES_DRAWN = 24, ROUNDS_SHARP = 300
};

struct frame {
	struct axis x, y;
	const struct plot_target *target;
};

/* The lowest and highest of cells and marks. */
static struct frame frame_of(const struct plot_target *target)
{
	const struct plot_time *time = &target->time;
	double low = INFINITY, high = 1;
	for (size_t i = 0; i < time->grid.columns; i++) {
		const struct plot_column *column = &time->grid.column[i];
		if (!column->n)
			continue;
		low = fmin(low, (double)column->min_ns);
		high = fmax(high, (double)column->max_ns);
	}
	if (!isfinite(low))
		low = 1;
	return (struct frame){.target = target,
		.x = {.low = 0, .high = (double)(time->end > 0 ? time->end : 1), .from = SVG_LEFT, .to = SVG_RIGHT},
		.y = axis_of(true, low, high, BOTTOM, TOP)};
}

/* Cells of the model into cells of about three pixels. */
static void draw_bulk(FILE *out, const struct frame *frame)
{
	const struct plot_grid *grid = &frame->target->time.grid;
	struct shading shading;
	if (!grid->columns || grid->row_low > grid->row_high)
		return;
	double row_pixels = (BOTTOM - TOP) / (log2(frame->y.high / frame->y.low) * PLOT_ROWS_PER_OCTAVE);
	size_t by_rows = row_pixels >= CELL_PIXELS ? 1 : (size_t)ceil(CELL_PIXELS / row_pixels);
	size_t by_columns = (grid->columns * CELL_PIXELS + SVG_RIGHT - SVG_LEFT - 1) / (SVG_RIGHT - SVG_LEFT);
	by_columns = by_columns ? by_columns : 1;
	size_t columns = (grid->columns + by_columns - 1) / by_columns;
	/* A few requests are narrow marks at their place, not blocks as wide as the pause behind them. */
	bool sparse = columns * 2 * CELL_PIXELS < SVG_RIGHT - SVG_LEFT;
	columns = sparse ? (SVG_RIGHT - SVG_LEFT) / CELL_PIXELS : columns;
	size_t rows = (grid->row_high - grid->row_low) / by_rows + 1;
	if (shading_open(&shading, columns, rows))
		return;
	for (size_t i = 0; i <= columns; i++)
		shading.x_edge[i] = sparse ? SVG_LEFT + (double)(i * CELL_PIXELS)
					   : axis_at(&frame->x, (double)(i * by_columns) * (double)grid->step);
	for (size_t i = 0; i <= rows; i++)
		shading.y_edge[i] = axis_at(&frame->y, (double)plot_row_low_ns(grid->row_low + i * by_rows));
	for (size_t column = 0; column < grid->columns; column++) {
		double x = axis_at(&frame->x, (double)column * (double)grid->step) - SVG_LEFT;
		size_t at = sparse ? (size_t)(x / CELL_PIXELS) : column / by_columns;
		at = at < columns ? at : columns - 1;
		for (size_t row = grid->row_low; row <= grid->row_high; row++)
			shading.count[at * rows + (row - grid->row_low) / by_rows] += plot_grid_cell(grid, column, row);
	}
	shading_draw(out, &shading);
	shading_end(&shading);
}

/* Where rounds meet; numbered while there is room, at the top: ordinary requests crowd the bottom. */
static void draw_rounds(FILE *out, const struct frame *frame)
{
	const struct plot_target *target = frame->target;
	if (target->round_count < 2 || target->round_count > 200)
		return;
	for (size_t i = 0; i < target->round_count; i++) {
		const struct plot_round *round = &target->rounds[i];
		double from = axis_at(&frame->x, (double)round->x_from), to = axis_at(&frame->x, (double)round->x_to);
		if (i)
			fprintf(out, "<path class=\"seam\" d=\"M%.1f %dV%d\"/>\n", from, TOP, BOTTOM);
		if (to - from < 26)
			continue;
		if (round->arm)
			svg_label(out, (from + to) / 2, TOP + 13, 'm', "t dim", "%" PRIu32 " %c", round->number,
				round->arm);
		else
			svg_label(out, (from + to) / 2, TOP + 13, 'm', "t dim", "%" PRIu32, round->number);
	}
}

/* The p99.9 of each round over its stretch: dashed where fewer than ten lie behind it. Returns how many. */
static size_t draw_p999(FILE *out, const struct frame *frame, bool weak)
{
	size_t count = 0;
	struct svg_levels levels = {0};
	bool sharp = frame->target->round_count <= ROUNDS_SHARP;
	for (size_t i = 0; i < frame->target->round_count; i++) {
		const struct plot_round *round = &frame->target->rounds[i];
		int64_t value_ns = round->quantile_ns[PLOT_P999];
		if (value_ns == TARE_NO_TIME || round->x_from == round->x_to ||
			(round->p999_grade < TARE_GRADE_THIN) != weak)
			continue;
		if (!count++)
			fprintf(out, "<path class=\"p999%s\" d=\"", weak ? " weak" : "");
		double from = axis_at(&frame->x, (double)round->x_from), to = axis_at(&frame->x, (double)round->x_to);
		double y = axis_at(&frame->y, (double)value_ns);
		if (sharp)
			fprintf(out, "M%.1f %.1fH%.1f", from, y, to);
		else
			svg_level(out, &levels, from, to, y);
	}
	svg_levels_end(out, &levels);
	if (count)
		fputs("\"/>\n", out);
	return count;
}

/* Of very many changes none is drawn: a wall of lines hides what it explains, and the legend has the number. */
static void draw_changes(FILE *out, const struct frame *frame, struct legend *legend)
{
	uint64_t all = frame->target->time.change_count + frame->target->time.changes_more;
	char text[96];
	if (!all)
		return;
	snprintf(text, sizeof(text),
		all > CHANGES_DRAWN ? "the median changes %" PRIu64 " times: not drawn"
				    : "the median changes (%" PRIu64 ")",
		all);
	legend_entry(legend, "change", -1, text, 0);
	if (all > CHANGES_DRAWN)
		return;
	for (size_t i = 0; i < frame->target->time.change_count; i++) {
		const struct plot_change *change = &frame->target->time.changes[i];
		char before[32], after[32];
		double x = axis_at(&frame->x, (double)change->x);
		format_duration(change->before_ns, before, sizeof(before));
		format_duration(change->after_ns, after, sizeof(after));
		fprintf(out,
			"<path class=\"change\" d=\"M%.1f %dV%d\"><title>the median changes from %s to "
			"%s</title></path>\n",
			x, TOP, BOTTOM, before, after);
	}
}

static double mark_y(const struct frame *frame, const struct plot_mark *mark)
{
	if (mark->value_ns != TARE_NO_TIME)
		return axis_at(&frame->y, (double)mark->value_ns);
	return mark->kind == PLOT_NOT_SENT ? BOTTOM + 4 : LOST_Y;
}

static void mark_title(FILE *out, const struct frame *frame, const struct plot_mark *mark)
{
	char value[32];
	fprintf(out, "<title>request %" PRIu64 " of round %" PRIu32, mark->sequence,
		frame->target->rounds[mark->round].number);
	if (mark->value_ns != TARE_NO_TIME) {
		format_duration(mark->value_ns, value, sizeof(value));
		fprintf(out, ", %s", value);
	}
	if (mark->kind == PLOT_STALL && mark->word)
		fprintf(out, ": %s%s%s", mark->injected ? "injected, " : "", mark->peer ? "peer " : "",
			word_text(mark->word));
	if (mark->kind == PLOT_LOST || mark->kind == PLOT_ERROR || mark->kind == PLOT_NOT_SENT)
		fprintf(out, ", %s",
			mark->kind == PLOT_LOST    ? "lost"
			: mark->kind == PLOT_ERROR ? "refused or wrong"
						   : "not sent");
	fputs("</title>", out);
}

struct look {
	uint8_t kind, word;
	char class[8];
	enum svg_shape shape;
	const char *text;
};

/* How marks of this kind and cause look. */
static struct look look_of(uint8_t kind, uint8_t word)
{
	static const struct look others[PLOT_MARK_KINDS] = {
		[PLOT_FIRST] = {PLOT_FIRST, 0, "hollow", SHAPE_CIRCLE, "first two requests of a round"},
		[PLOT_WARMUP] = {PLOT_WARMUP, 0, "hollow", SHAPE_SQUARE, "slow during warm-up"},
		[PLOT_LOST] = {PLOT_LOST, 0, "m c6", SHAPE_BAR, "lost"},
		[PLOT_ERROR] = {PLOT_ERROR, 0, "m c7", SHAPE_CROSS, "refused or wrong answer"},
		[PLOT_NOT_SENT] = {PLOT_NOT_SENT, 0, "m c0", SHAPE_PLUS, "not sent"},
	};
	if (kind != PLOT_STALL)
		return others[kind];
	struct look look = {.kind = kind, .word = word, .shape = word_shape(word), .text = word_text(word)};
	snprintf(look.class, sizeof(look.class), "m c%d", word_colour(word) % 8);
	return look;
}

static bool looks_like(const struct plot_mark *mark, const struct look *look)
{
	return mark->kind == look->kind && (mark->kind != PLOT_STALL || mark->word == look->word);
}

/* All marks of one look; each with its title while they are few. Returns how many. */
static size_t draw_marks(FILE *out, const struct frame *frame, const struct look *look, bool titles)
{
	const struct plot_time *time = &frame->target->time;
	size_t count = 0;
	double last_x = -1, last_y = -1;
	struct svg_pen pen = {0};
	for (size_t i = 0; i < time->mark_count; i++)
		count += looks_like(&time->marks[i], look);
	if (!count)
		return 0;
	fprintf(out, "<g class=\"%s%s\">", look->class, titles ? "" : " crowd");
	if (!titles)
		fputs("<path d=\"", out);
	for (size_t i = 0; i < time->mark_count; i++) {
		const struct plot_mark *mark = &time->marks[i];
		if (!looks_like(mark, look))
			continue;
		if (titles)
			fputs("<path d=\"", out);
		double x = axis_at(&frame->x, (double)mark->x), y = mark_y(frame, mark);
		if (!titles) {
			/* first requests of a thousand rounds that fall onto one pixel are drawn once; stalls each for itself */
			if (look->kind != PLOT_FIRST)
				svg_shape_coarse(out, look->shape, x, y);
			else if (round(x) != last_x || round(y) != last_y)
				svg_shape_row(out, look->shape, x, y, &pen);
			last_x = round(x);
			last_y = round(y);
			continue;
		}
		svg_shape(out, look->shape, x, y);
		fputs("\">", out);
		mark_title(out, frame, mark);
		fputs("</path>\n", out);
	}
	fputs(titles ? "</g>\n" : "\"/></g>\n", out);
	return count;
}

/* With too many for a mark each: the highest of each stretch, and how many stand behind it. */
static void draw_columns(FILE *out, const struct frame *frame, struct legend *legend)
{
	const struct plot_grid *grid = &frame->target->time.grid;
	size_t by = (grid->columns + COUNTED_COLUMNS - 1) / COUNTED_COLUMNS;
	for (size_t from = 0; from < grid->columns; from += by) {
		struct plot_column joined = grid->column[from];
		for (size_t i = from + 1; i < from + by && i < grid->columns; i++)
			plot_column_join(&joined, &grid->column[i]);
		double middle = axis_at(&frame->x, ((double)from + (double)by / 2) * (double)grid->step);
		if (joined.stalls) {
			double x = axis_at(&frame->x, (double)joined.stall_x),
			       y = axis_at(&frame->y, (double)joined.stall_ns);
			fprintf(out, "<path class=\"m c%d\" d=\"", word_colour(joined.stall_word));
			svg_shape(out, word_shape(joined.stall_word), x, y);
			fprintf(out, "\"><title>request %" PRIu64 " and %" PRIu64 " more stalls</title></path>\n",
				joined.stall_sequence, joined.stalls - 1);
			if (joined.stalls > 1)
				svg_label(out, x, fmax(y - 6, TOP - 2), 'm', "t small", "+%" PRIu64, joined.stalls - 1);
		}
		if (joined.unanswered) {
			fputs("<path class=\"m c6\" d=\"", out);
			svg_shape(out, SHAPE_BAR, middle, LOST_Y);
			fputs("\"/>", out);
			svg_label(out, middle + 3, LOST_Y + 4, 's', "t small", "%" PRIu64, joined.unanswered);
		}
	}
	legend_entry(legend, "m c6", SHAPE_DIAMOND, "highest stall of a stretch, +n more", 0);
}

static void draw_all_marks(FILE *out, const struct frame *frame, struct legend *legend)
{
	const struct plot_time *time = &frame->target->time;
	bool titles = time->mark_count <= MARKS_WITH_TITLE;
	if (time->marks_cut)
		draw_columns(out, frame, legend);
	for (uint8_t kind = 0; kind < PLOT_MARK_KINDS; kind++) {
		if (time->marks_cut && kind != PLOT_FIRST)
			continue;
		for (uint8_t word = 0; word < (kind == PLOT_STALL ? TARE_WORD_COUNT : 1); word++) {
			struct look look = look_of(kind, word);
			/* of a crowd: a circle has three times the bytes */
			look.shape = kind == PLOT_FIRST && !titles ? SHAPE_DIAMOND : look.shape;
			size_t count = draw_marks(out, frame, &look, titles);
			char text[96];
			if (!count)
				continue;
			snprintf(text, sizeof(text), kind == PLOT_STALL ? "stall: %s (%zu)" : "%s (%zu)", look.text,
				count);
			legend_entry(legend, look.class, (int)look.shape, text, 0);
		}
	}
}

int svg_time(FILE *out, const struct plot_target *target)
{
	struct frame frame = frame_of(target);
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = HEIGHT + 8};
	svg_axis_x(out, &frame.x, TOP, BOTTOM, target->time.by_request ? TICK_COUNT : TICK_TIME,
		target->time.by_request ? "request" : "time measured");
	svg_axis_y(out, &frame.y, SVG_LEFT, SVG_RIGHT, TICK_TIME, "");
	svg_label(out, SVG_LEFT, 16, 's', "t", "%s, logarithmic", tare_span_name(target->span));
	svg_frame(out, SVG_LEFT, TOP, SVG_RIGHT, BOTTOM);
	draw_bulk(out, &frame);
	draw_rounds(out, &frame);
	size_t sound = draw_p999(out, &frame, false), weak = draw_p999(out, &frame, true);
	legend_entry(&legend, "d4", SHAPE_SQUARE, "ordinary requests", 0);
	if (sound)
		legend_entry(&legend, "p999", -1, "p99.9 of a round", 0);
	if (weak)
		legend_entry(&legend, "p999 weak", -1, "p99.9 with fewer than ten behind", 0);
	draw_changes(out, &frame, &legend);
	draw_all_marks(out, &frame, &legend);
	return (int)legend.y + 14;
}
