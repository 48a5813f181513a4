/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts as shades. Neighbours of one shade become one piece, and a piece is a
 * few bytes of a path; where there would be too many of them, cells are joined in
 * pairs, so that a plot has a size whatever it shows. A cell with one request in
 * it is visible.
 */
#include <math.h>
#include <stdlib.h>

#include "report/plot/canvas.h"

enum { PIECES_MOST = 2500 };

int shading_open(struct shading *shading, size_t columns, size_t rows)
{
	*shading = (struct shading){.columns = columns, .rows = rows};
	shading->x_edge = calloc(columns + 1, sizeof(*shading->x_edge));
	shading->y_edge = calloc(rows + 1, sizeof(*shading->y_edge));
	shading->count = calloc(columns * rows + 1, sizeof(*shading->count));
	if (shading->x_edge && shading->y_edge && shading->count)
		return 0;
	shading_end(shading);
	return -1;
}

void shading_end(struct shading *shading)
{
	free(shading->x_edge);
	free(shading->y_edge);
	free(shading->count);
	*shading = (struct shading){0};
}

static int shade_of(uint64_t count, double most)
{
	if (!count)
		return 0;
	/* where cells hold one or two, the lightest shade would hardly be seen */
	if (most <= SHADES / 2)
		return SHADES / 2 + (int)(count < SHADES / 2 ? count : SHADES / 2);
	int shade = 1 + (int)((SHADES - 1) * log((double)count) / log(most > 1 ? most : 2) + 1e-9);
	return shade > SHADES ? SHADES : shade;
}

static uint64_t most_of(const struct shading *shading)
{
	uint64_t most = 0;
	for (size_t i = 0; i < shading->columns * shading->rows; i++)
		most = shading->count[i] > most ? shading->count[i] : most;
	return most;
}

static uint64_t at(const struct shading *shading, size_t column, size_t row)
{
	return shading->count[column * shading->rows + row];
}

/* Pieces of one shade, written when `out` is not NULL; returns how many there are. */
static size_t pieces(FILE *out, const struct shading *shading, int shade, double most)
{
	size_t count = 0;
	for (size_t row = 0; row < shading->rows; row++) {
		for (size_t column = 0, end; column < shading->columns; column = end) {
			end = column + 1;
			if (shade_of(at(shading, column, row), most) != shade)
				continue;
			while (end < shading->columns && shade_of(at(shading, end, row), most) == shade)
				end++;
			count++;
			if (!out)
				continue;
			double width = shading->x_edge[end] - shading->x_edge[column];
			double height = shading->y_edge[row] - shading->y_edge[row + 1];
			fprintf(out, "M%.0f %.0fh%.0fv%.0fh-%.0fz", shading->x_edge[column], shading->y_edge[row + 1],
				fmax(width, 1), fmax(height, 1), fmax(width, 1));
		}
	}
	return count;
}

static size_t all_pieces(const struct shading *shading, double most)
{
	size_t count = 0;
	for (int shade = 1; shade <= SHADES; shade++)
		count += pieces(NULL, shading, shade, most);
	return count;
}

static void join_columns(struct shading *shading)
{
	size_t columns = (shading->columns + 1) / 2;
	for (size_t i = 0; i < columns; i++) {
		for (size_t row = 0; row < shading->rows; row++)
			shading->count[i * shading->rows + row] =
				at(shading, 2 * i, row) +
				(2 * i + 1 < shading->columns ? at(shading, 2 * i + 1, row) : 0);
		shading->x_edge[i + 1] = shading->x_edge[2 * i + 2 < shading->columns ? 2 * i + 2 : shading->columns];
	}
	shading->columns = columns;
}

static void join_rows(struct shading *shading)
{
	size_t rows = (shading->rows + 1) / 2;
	for (size_t column = 0; column < shading->columns; column++)
		for (size_t i = 0; i < rows; i++)
			shading->count[column * rows + i] =
				at(shading, column, 2 * i) +
				(2 * i + 1 < shading->rows ? at(shading, column, 2 * i + 1) : 0);
	for (size_t i = 0; i < rows; i++)
		shading->y_edge[i + 1] = shading->y_edge[2 * i + 2 < shading->rows ? 2 * i + 2 : shading->rows];
	shading->rows = rows;
}

void shading_draw(FILE *out, const struct shading *shading)
{
	struct shading coarse = *shading;
	/* Whole pixels: sharp edges, neighbours that touch, and half the bytes. */
	for (size_t i = 0; i <= coarse.columns; i++)
		coarse.x_edge[i] = round(coarse.x_edge[i]);
	for (size_t i = 0; i <= coarse.rows; i++)
		coarse.y_edge[i] = round(coarse.y_edge[i]);
	double most = (double)most_of(&coarse);
	for (int turn = 0; all_pieces(&coarse, most) > PIECES_MOST && coarse.columns > 8; turn++) {
		if (turn % 2 && coarse.rows > 8)
			join_rows(&coarse);
		else
			join_columns(&coarse);
		most = (double)most_of(&coarse);
	}
	for (int shade = 1; shade <= SHADES; shade++) {
		if (!pieces(NULL, &coarse, shade, most))
			continue;
		fprintf(out, "<path class=\"d%d\" d=\"", shade);
		pieces(out, &coarse, shade, most);
		fputs("\"/>\n", out);
	}
}
