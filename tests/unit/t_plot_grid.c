/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows by integer arithmetic, and columns that pair up without losing a value or an extreme. */
#include <stdlib.h>

#include "report/plot/grid.h"
#include "tap.h"
#include "tare/sample.h"

static void rows(void)
{
	bool within = true, ascends = true;
	for (int64_t value = 1; value < 100000; value++) {
		size_t row = plot_row(value);
		within &= plot_row_low_ns(row) <= value && value < plot_row_low_ns(row + 1);
	}
	for (int shift = 17; shift < 62; shift++)
		for (int64_t value = (INT64_C(1) << shift) - 2; value < (INT64_C(1) << shift) + 3; value++) {
			size_t row = plot_row(value);
			within &= plot_row_low_ns(row) <= value && value < plot_row_low_ns(row + 1);
		}
	for (size_t row = 0; row + 1 < PLOT_ROWS; row++)
		ascends &= plot_row_low_ns(row) < plot_row_low_ns(row + 1);
	OK(within, "every value lies within its row");
	OK(ascends, "rows ascend");
	OK(plot_row(INT64_MAX) < PLOT_ROWS && plot_coarse_row(INT64_MAX) < PLOT_COARSE_ROWS,
		"the largest value has a row");
	OK(plot_row(0) == 0 && plot_row(-5) == 0 && plot_row(INT64_MIN) == 0, "0 and below are in the lowest row");
}

struct told {
	uint64_t n, cells;
	int64_t max_ns;
};

static struct told told_of(const struct plot_grid *grid)
{
	struct told told = {.max_ns = TARE_NO_TIME};
	for (size_t i = 0; i < grid->columns; i++) {
		told.n += grid->column[i].n;
		if (grid->column[i].n && grid->column[i].max_ns > told.max_ns)
			told.max_ns = grid->column[i].max_ns;
		for (size_t row = 0; row < PLOT_ROWS; row++)
			told.cells += plot_grid_cell(grid, i, row);
	}
	return told;
}

/* A reach that grows step by step must come out as one known from the start. */
static void pairing(uint64_t seed)
{
	enum { N = 20000 };
	struct plot_grid grown, known;
	struct tare_err err = {0};
	int64_t max_ns = 0;
	srand48((long)seed);
	if (!OK(plot_grid_open(&grown, 64, &err) == 0 && plot_grid_open(&known, 64, &err) == 0, "grids open"))
		return;
	plot_grid_reach(&known, N * INT64_C(1000));
	for (int64_t i = 0; i < N; i++) {
		int64_t x = i * 1000 + lrand48() % 1000, value = 1 + lrand48() % (1 << (lrand48() % 30));
		max_ns = value > max_ns ? value : max_ns;
		plot_grid_reach(&grown, x);
		plot_column_add(&grown.column[plot_grid_at(&grown, x)], x, value);
		plot_grid_count(&grown, plot_grid_at(&grown, x), value);
		plot_column_add(&known.column[plot_grid_at(&known, x)], x, value);
		plot_grid_count(&known, plot_grid_at(&known, x), value);
	}
	struct told of_grown = told_of(&grown), of_known = told_of(&known);
	IS_I64(of_grown.n, N, "no value is lost in columns");
	IS_I64(of_grown.cells, N, "nor in cells");
	IS_I64(of_grown.max_ns, max_ns, "the largest is exact");
	IS_I64(of_known.n, N, "the same for columns known beforehand");
	OK(grown.columns <= 64 && grown.step == known.step, "the same step, %" PRId64, grown.step);
	bool same = true;
	for (size_t i = 0; i < grown.columns; i++) {
		const struct plot_column *a = &grown.column[i], *b = &known.column[i];
		same &= a->n == b->n && a->first_ns == b->first_ns && a->last_ns == b->last_ns &&
			a->min_ns == b->min_ns && a->max_ns == b->max_ns;
	}
	OK(same, "first, last, smallest and largest of each column are the same");
	int64_t moved = plot_grid_shift(&grown, 5 * grown.step + 1);
	OK(moved >= 5 * known.step + 1 && moved % grown.step == 0, "shifted by whole columns");
	of_grown = told_of(&grown);
	OK(of_grown.n == N && of_grown.cells == N && of_grown.max_ns == max_ns, "a shift keeps everything");
	bool placed = true;
	for (size_t i = 0; i < grown.columns; i++)
		if (grown.column[i].n)
			placed &= plot_grid_at(&grown, grown.column[i].first_x) == i &&
				  plot_grid_at(&grown, grown.column[i].max_x) == i;
	OK(placed, "and values stay in the column of their x");
	plot_grid_end(&grown);
	plot_grid_end(&known);
}

int main(void)
{
	rows();
	printf("# seed 4711\n");
	pairing(4711);
	return tap_done();
}
