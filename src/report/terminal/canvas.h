/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A drawing surface of character cells, each a few dots: 2 x 4 in braille, 2 x 2 in
 * blocks, 1 x 2 in ASCII. A character that is put into a cell hides its dots, and a
 * later one of the same or a higher rank hides an earlier one, so that what must not
 * vanish (a stall) is never covered by what may (a first request).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tare/err.h"

enum terminal_style { TERMINAL_BRAILLE, TERMINAL_BLOCK, TERMINAL_ASCII };

/* Colour is never the only carrier: what is coloured has a letter or a place of its own. */
enum ink { INK_PLAIN, INK_FAINT, INK_STALL, INK_LOST, INK_FIRST, INK_SECOND, INK_THIRD };

struct canvas;

int canvas_open(
	size_t columns, size_t lines, enum terminal_style style, struct canvas **ret_canvas, struct tare_err *err) TARE_MUST_USE;
void canvas_free(struct canvas *canvas); /* NULL is fine */
static inline void canvas_end(struct canvas *const *canvas) /* for AUTO_CLEANUP */
{
	canvas_free(*canvas);
}
size_t canvas_dots_wide(const struct canvas *canvas);
size_t canvas_dots_high(const struct canvas *canvas);
size_t canvas_columns(const struct canvas *canvas);
size_t canvas_lines(const struct canvas *canvas);

/* y counts from below; what lies outside is moved to the edge. */
void canvas_dot(struct canvas *canvas, size_t x, size_t y, enum ink ink);
/* A character of ASCII into the cell that holds the dot. */
void canvas_mark(struct canvas *canvas, size_t x, size_t y, char mark, unsigned rank, enum ink ink);
/* Faint vertical line through cells that hold nothing. */
void canvas_upright(struct canvas *canvas, size_t column);
/* Line 0 is the upper one; nothing behind the last visible character. */
void canvas_write(const struct canvas *canvas, size_t line, bool colour, FILE *out);

/* Switches an ink on, or back to plain; nothing without colour. */
void ink_set(FILE *out, bool colour, enum ink ink);
