/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells hold a set of dots, bit (row from above) * wide + column, until they are written. */
#include "report/terminal/canvas.h"

#include <stdlib.h>
#include <string.h>

struct canvas_cell {
	uint8_t dots, ink, rank;
	char mark; /* 0: the dots */
	bool upright;
};

struct canvas {
	size_t columns, lines, wide, high; /* dots a cell */
	enum terminal_style style;
	struct canvas_cell *cells;
};

int canvas_open(
	size_t columns, size_t lines, enum terminal_style style, struct canvas **ret_canvas, struct tare_err *err)
{
	struct canvas *canvas = calloc(1, sizeof(*canvas));
	struct canvas_cell *cells = calloc(columns * lines + 1, sizeof(*cells));
	if (!canvas || !cells) {
		free(canvas);
		free(cells);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot");
	}
	*canvas = (struct canvas){.columns = columns,
		.lines = lines,
		.wide = style == TERMINAL_ASCII ? 1 : 2,
		.high = style == TERMINAL_BRAILLE ? 4 : 2,
		.style = style,
		.cells = cells};
	*ret_canvas = canvas;
	return 0;
}

void canvas_free(struct canvas *canvas)
{
	if (canvas)
		free(canvas->cells);
	free(canvas);
}

size_t canvas_dots_wide(const struct canvas *canvas)
{
	return canvas->columns * canvas->wide;
}

size_t canvas_dots_high(const struct canvas *canvas)
{
	return canvas->lines * canvas->high;
}

size_t canvas_columns(const struct canvas *canvas)
{
	return canvas->columns;
}

size_t canvas_lines(const struct canvas *canvas)
{
	return canvas->lines;
}

static struct canvas_cell *cell_at(struct canvas *canvas, size_t *x, size_t *y)
{
	size_t wide = canvas_dots_wide(canvas), high = canvas_dots_high(canvas);
	*x = *x < wide ? *x : wide - 1;
	*y = *y < high ? *y : high - 1;
	*y = high - 1 - *y; /* from above now */
	return &canvas->cells[*y / canvas->high * canvas->columns + *x / canvas->wide];
}

void canvas_dot(struct canvas *canvas, size_t x, size_t y, enum ink ink)
{
	struct canvas_cell *cell = cell_at(canvas, &x, &y);
	cell->dots |= (uint8_t)(1u << (y % canvas->high * canvas->wide + x % canvas->wide));
	if (!cell->mark)
		cell->ink = (uint8_t)ink;
}

void canvas_mark(struct canvas *canvas, size_t x, size_t y, char mark, unsigned rank, enum ink ink)
{
	struct canvas_cell *cell = cell_at(canvas, &x, &y);
	if (cell->mark && cell->rank > rank)
		return;
	cell->mark = mark;
	cell->rank = (uint8_t)rank;
	cell->ink = (uint8_t)ink;
}

void canvas_upright(struct canvas *canvas, size_t column)
{
	for (size_t line = 0; line < canvas->lines && column < canvas->columns; line++)
		canvas->cells[line * canvas->columns + column].upright = true;
}

/* Dot 1 to 8 of braille by row and column; the lowest row came later and has the high bits. */
static uint32_t braille_of(uint8_t dots)
{
	static const uint8_t bits[8] = {0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80};
	uint32_t code = 0x2800;
	for (int i = 0; i < 8; i++)
		if (dots >> i & 1)
			code |= bits[i];
	return code;
}

static void put_code(FILE *out, uint32_t code)
{
	fputc((int)(0xe0 | code >> 12), out);
	fputc((int)(0x80 | (code >> 6 & 0x3f)), out);
	fputc((int)(0x80 | (code & 0x3f)), out);
}

static void put_dots(const struct canvas *canvas, uint8_t dots, FILE *out)
{
	/* bits: 1 upper left, 2 upper right, 4 lower left, 8 lower right */
	static const char *const quadrants[16] = {
		" ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█"};
	static const char ascii[4] = {' ', '\'', '.', ':'};
	if (canvas->style == TERMINAL_BRAILLE)
		put_code(out, braille_of(dots));
	else if (canvas->style == TERMINAL_BLOCK)
		fputs(quadrants[dots & 15], out);
	else
		fputc(ascii[dots & 3], out);
}

void ink_set(FILE *out, bool colour, enum ink ink)
{
	/* the eight colours that every palette makes legible on its own background */
	static const char *const codes[] = {"\033[0m", "\033[2m", "\033[1;31m", "\033[1;35m", "\033[36m", "\033[33m", "\033[32m"};
	if (colour)
		fputs(codes[ink], out);
}

void canvas_write(const struct canvas *canvas, size_t line, bool colour, FILE *out)
{
	const struct canvas_cell *cells = &canvas->cells[line * canvas->columns];
	size_t end = canvas->columns;
	enum ink now = INK_PLAIN;
	while (end > 0 && !cells[end - 1].dots && !cells[end - 1].mark && !cells[end - 1].upright)
		end--;
	for (size_t i = 0; i < end; i++) {
		const struct canvas_cell *cell = &cells[i];
		bool empty = !cell->mark && !cell->dots;
		enum ink ink = empty ? cell->upright ? INK_FAINT : INK_PLAIN : (enum ink)cell->ink;
		if (ink != now) {
			ink_set(out, colour, INK_PLAIN);
			if (ink != INK_PLAIN)
				ink_set(out, colour, ink);
			now = ink;
		}
		if (cell->mark)
			fputc(cell->mark, out);
		else if (cell->dots)
			put_dots(canvas, cell->dots, out);
		else if (cell->upright)
			fputs(canvas->style == TERMINAL_ASCII ? "|" : "┊", out);
		else
			fputc(' ', out);
	}
	if (now != INK_PLAIN)
		ink_set(out, colour, INK_PLAIN);
}
