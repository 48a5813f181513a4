/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Margins, axes and rows under a picture; the way of everything into ASCII where no other characters may be used. */
#include "report/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/report.h"
#include "report/terminal/private.h"
#include "report/utf8.h"

void put_margin(FILE *out, const struct terminal *terminal, const char *label, bool tick)
{
	int columns = utf8_columns(label);
	fprintf(out, "%*s%s %s", columns < 8 ? 8 - columns : 0, "", label,
		terminal->style == TERMINAL_ASCII ? tick ? "+" : "|" : tick ? "┤" : "│");
}

/* The tick of a line of the picture, or TARE_NO_TIME. */
static int64_t tick_of_line(const struct canvas *canvas, const struct log_axis *axis, size_t line,
	const int64_t *ticks_ns, size_t count)
{
	size_t lines = canvas_lines(canvas), high = canvas_dots_high(canvas) / lines;
	if (line == 0)
		return axis->high_ns;
	if (line == lines - 1)
		return axis->low_ns;
	for (size_t i = 0; i < count; i++)
		if (lines - 1 - log_axis_dot(axis, ticks_ns[i]) / high == line)
			return ticks_ns[i];
	return TARE_NO_TIME;
}

void put_picture(FILE *out, const struct terminal *terminal, const struct canvas *canvas, const struct log_axis *axis)
{
	int64_t ticks_ns[AXIS_TICKS_MAX];
	size_t lines = canvas_lines(canvas), high = canvas_dots_high(canvas) / lines;
	size_t count = log_axis_ticks(axis, 2 * high, ticks_ns);
	for (size_t line = 0; line < lines; line++) {
		char label[32] = "";
		int64_t tick_ns = tick_of_line(canvas, axis, line, ticks_ns, count);
		if (tick_ns != TARE_NO_TIME)
			format_duration(tick_ns, label, sizeof(label));
		put_margin(out, terminal, label, tick_ns != TARE_NO_TIME);
		canvas_write(canvas, line, terminal->colour, out);
		fputc('\n', out);
	}
}

void put_base(FILE *out, const struct terminal *terminal, size_t columns, const struct column_tick *ticks, size_t count)
{
	bool ascii = terminal->style == TERMINAL_ASCII;
	fprintf(out, "%*s%s", MARGIN - 1, "", ascii ? "+" : "└");
	for (size_t i = 0, tick = 0; i < columns; i++) {
		bool here = tick < count && ticks[tick].column == i;
		tick += here;
		fputs(ascii ? here ? "+" : "-" : here ? "┬" : "─", out);
	}
	fprintf(out, "\n%*s", MARGIN, "");
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		size_t wide = (size_t)utf8_columns(ticks[i].label);
		size_t from = ticks[i].column > wide / 2 ? ticks[i].column - wide / 2 : 0;
		from = from + wide > columns ? columns > wide ? columns - wide : 0 : from;
		/* a label that would touch the one before it is left out, its tick stays */
		if (i > 0 && from < used + 2)
			continue;
		fprintf(out, "%*s%s", (int)(from - used), "", ticks[i].label);
		used = from + wide;
	}
	fputc('\n', out);
}

void put_counts(FILE *out, const struct terminal *terminal, const char *label, const uint64_t *counts, size_t columns,
	char one, enum ink ink)
{
	size_t end = columns;
	while (end > 0 && !counts[end - 1])
		end--;
	if (end == 0) {
		fprintf(out, "%8s  none\n", label);
		return;
	}
	fprintf(out, "%8s  ", label);
	ink_set(out, terminal->colour, ink);
	for (size_t i = 0; i < end; i++)
		fputc(counts[i] == 0 ? ' ' : counts[i] == 1 ? one : counts[i] < 10 ? (char)('0' + counts[i]) : '#', out);
	ink_set(out, terminal->colour, INK_PLAIN);
	fputc('\n', out);
}

/* "µ" becomes "u"; what else ASCII does not have, mostly foreign names, '?'. */
static void put_ascii(FILE *out, const char *text)
{
	size_t left = strlen(text);
	while (left > 0) {
		uint32_t code;
		size_t used = utf8_next(text, left, &code);
		fputc(code < 0x80 ? (int)code : code == 0xb5 ? 'u' : code == 0x2013 ? '-' : '?', out);
		text += used;
		left -= used;
	}
}

static int draw(FILE *out, const struct terminal *terminal, enum terminal_plot kind, const struct plot_target *target,
	struct tare_err *err)
{
	static int (*const drawers[TERMINAL_PLOT_COUNT])(
		FILE *, const struct terminal *, const struct plot_target *, struct tare_err *) = {draw_time, draw_cdf, draw_hist, draw_rounds};
	if (!target->values) {
		report_sentence(out, terminal->width, "%s: nothing was answered, there is nothing to plot.", target->url);
		return 0;
	}
	return drawers[kind](out, terminal, target, err);
}

int terminal_draw(FILE *out, const struct terminal *given, enum terminal_plot kind, const struct plot_target *target,
	struct tare_err *err)
{
	struct terminal terminal = *given;
	terminal.width = terminal.width < TERMINAL_WIDTH_LEAST  ? TERMINAL_WIDTH_LEAST
			 : terminal.width > TERMINAL_WIDTH_MOST ? TERMINAL_WIDTH_MOST
								: terminal.width;
	if (terminal.lines < 3)
		terminal.lines = TERMINAL_LINES;
	if (terminal.style != TERMINAL_ASCII)
		return draw(out, &terminal, kind, target, err);
	AUTO_FREE char *text = NULL;
	size_t bytes;
	FILE *whole = open_memstream(&text, &bytes);
	if (!whole)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot");
	int failed = draw(whole, &terminal, kind, target, err);
	if (fclose(whole) != 0 || !text)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot");
	put_ascii(out, text);
	return failed;
}
