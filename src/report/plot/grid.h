/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts over a plane: columns of equal width in x, rows of a sixteenth of an
 * octave in y, so that a row is never more than 6.25 % high and needs no floating
 * point to be found. Nobody has to know beforehand how far x goes: when it runs
 * past the last column, pairs of columns become one.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

enum {
	PLOT_ROWS_PER_OCTAVE = 16,
	PLOT_ROWS = 60 * PLOT_ROWS_PER_OCTAVE, /* up to 2^63 ns */
	PLOT_COARSE_ROWS = 60 * 4,             /* four an octave */
};

/* Row of a value; 1 ns and below (lateness may be negative) are in row 0. */
static inline size_t plot_row(int64_t value_ns)
{
	if (value_ns < PLOT_ROWS_PER_OCTAVE)
		return value_ns < 1 ? 0 : (size_t)value_ns - 1;
	int octave = 63 - __builtin_clzll((unsigned long long)value_ns);
	return (size_t)(octave - 4) * PLOT_ROWS_PER_OCTAVE + (size_t)(value_ns >> (octave - 4)) - 1;
}
static inline size_t plot_coarse_row(int64_t value_ns)
{
	return plot_row(value_ns) / 4;
}
/* Smallest value of a row, and of the one above it: row i holds low(i) <= value < low(i + 1), row 0 all below 2 too. */
static inline int64_t plot_row_low_ns(size_t row)
{
	size_t octave = (row + 1) / PLOT_ROWS_PER_OCTAVE;
	if (octave <= 1)
		return (int64_t)row + 1;
	if (octave >= 60)
		return INT64_MAX;
	return ((int64_t)(row + 1 - (octave - 1) * PLOT_ROWS_PER_OCTAVE)) << (octave - 1);
}

/* Values of one column. First, last, smallest and largest (M4) are exact; TARE_NO_TIME when nothing was observed. */
struct plot_column {
	uint64_t n;                 /* values, those with marks included */
	uint64_t stalls, unanswered;
	int64_t first_x, last_x, min_x, max_x;
	int64_t first_ns, last_ns, min_ns, max_ns;
	/* the highest stall; TARE_NO_TIME without one */
	int64_t stall_x, stall_ns;
	uint64_t stall_sequence;
	uint32_t stall_round;       /* index into plot_target.rounds */
	uint8_t stall_word;         /* enum tare_word */
};

struct plot_grid {
	size_t columns, columns_max; /* in use; room */
	int64_t step;                /* x a column */
	uint32_t *cell;              /* columns_max x PLOT_ROWS, column by column; saturating */
	struct plot_column *column;
	size_t row_low, row_high;    /* rows with something in a cell; low > high: none */
};

int plot_grid_open(struct plot_grid *ret_grid, size_t columns_max, struct tare_err *err) TARE_MUST_USE;
void plot_grid_end(struct plot_grid *grid);
/* Makes x = 0 to `end` fit. */
void plot_grid_reach(struct plot_grid *grid, int64_t end);
/* The column of x, which must be within what was reached. */
static inline size_t plot_grid_at(const struct plot_grid *grid, int64_t x)
{
	return (size_t)(x / grid->step);
}
/* Shifts everything to the right by whole columns, pairing columns until it fits; returns the shift in x, at least `by`. */
int64_t plot_grid_shift(struct plot_grid *grid, int64_t by);
/* Adds a value to a column's M4. */
void plot_column_add(struct plot_column *column, int64_t x, int64_t value_ns);
void plot_grid_count(struct plot_grid *grid, size_t column, int64_t value_ns);
/* Adds what `from` holds, which lies to the right. */
void plot_column_join(struct plot_column *into, const struct plot_column *from);
uint32_t plot_grid_cell(const struct plot_grid *grid, size_t column, size_t row);
