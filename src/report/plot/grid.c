/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts over a plane. Columns double their width rather than move: a column
 * always starts at a multiple of its width, so that two neighbours become one
 * without looking at their values again.
 */
#include "report/plot/grid.h"

#include <stdlib.h>
#include <string.h>

#include "tare/sample.h"

static void clear_column(struct plot_column *column)
{
	*column = (struct plot_column){.first_ns = TARE_NO_TIME,
		.last_ns = TARE_NO_TIME,
		.min_ns = TARE_NO_TIME,
		.max_ns = TARE_NO_TIME,
		.stall_ns = TARE_NO_TIME};
}

int plot_grid_open(struct plot_grid *ret_grid, size_t columns_max, struct tare_err *err)
{
	struct plot_grid grid = {.columns_max = columns_max, .step = 1, .row_low = PLOT_ROWS, .row_high = 0};
	/* Zeroed pages cost nothing until a value comes near them. */
	grid.cell = calloc(columns_max * PLOT_ROWS, sizeof(*grid.cell));
	grid.column = calloc(columns_max, sizeof(*grid.column));
	if (!grid.cell || !grid.column) {
		plot_grid_end(&grid);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot of %zu columns", columns_max);
	}
	for (size_t i = 0; i < columns_max; i++)
		clear_column(&grid.column[i]);
	*ret_grid = grid;
	return 0;
}

void plot_grid_end(struct plot_grid *grid)
{
	free(grid->cell);
	free(grid->column);
	*grid = (struct plot_grid){.step = 1};
}

void plot_column_add(struct plot_column *column, int64_t x, int64_t value_ns)
{
	if (!column->n || x < column->first_x) {
		column->first_x = x;
		column->first_ns = value_ns;
	}
	if (!column->n || x >= column->last_x) {
		column->last_x = x;
		column->last_ns = value_ns;
	}
	if (!column->n || value_ns < column->min_ns) {
		column->min_x = x;
		column->min_ns = value_ns;
	}
	if (!column->n || value_ns > column->max_ns) {
		column->max_x = x;
		column->max_ns = value_ns;
	}
	column->n++;
}

void plot_column_join(struct plot_column *into, const struct plot_column *from)
{
	into->stalls += from->stalls;
	into->unanswered += from->unanswered;
	if (from->stall_ns != TARE_NO_TIME && (into->stall_ns == TARE_NO_TIME || from->stall_ns > into->stall_ns)) {
		into->stall_x = from->stall_x;
		into->stall_ns = from->stall_ns;
		into->stall_sequence = from->stall_sequence;
		into->stall_round = from->stall_round;
		into->stall_word = from->stall_word;
	}
	if (!from->n)
		return;
	if (!into->n) {
		into->first_x = from->first_x;
		into->first_ns = from->first_ns;
	}
	into->last_x = from->last_x;
	into->last_ns = from->last_ns;
	if (!into->n || from->min_ns < into->min_ns) {
		into->min_x = from->min_x;
		into->min_ns = from->min_ns;
	}
	if (!into->n || from->max_ns > into->max_ns) {
		into->max_x = from->max_x;
		into->max_ns = from->max_ns;
	}
	into->n += from->n;
}

static uint32_t *cells_of(const struct plot_grid *grid, size_t column)
{
	return grid->cell + column * PLOT_ROWS;
}

static uint32_t sum_of(uint32_t one, uint32_t other)
{
	return one > UINT32_MAX - other ? UINT32_MAX : one + other;
}

/* Column 2i and 2i + 1 become i. */
static void halve(struct plot_grid *grid)
{
	size_t columns = (grid->columns + 1) / 2;
	for (size_t i = 0; i < columns; i++) {
		struct plot_column joined = grid->column[2 * i];
		bool pair = 2 * i + 1 < grid->columns;
		if (pair)
			plot_column_join(&joined, &grid->column[2 * i + 1]);
		grid->column[i] = joined;
		for (size_t row = grid->row_low; row <= grid->row_high; row++)
			cells_of(grid, i)[row] =
				sum_of(cells_of(grid, 2 * i)[row], pair ? cells_of(grid, 2 * i + 1)[row] : 0);
	}
	for (size_t i = columns; i < grid->columns; i++) {
		clear_column(&grid->column[i]);
		for (size_t row = grid->row_low; row <= grid->row_high; row++)
			cells_of(grid, i)[row] = 0;
	}
	grid->columns = columns;
	grid->step *= 2;
}

void plot_grid_reach(struct plot_grid *grid, int64_t end)
{
	if (end < 0)
		return;
	while ((uint64_t)(end / grid->step) >= grid->columns_max)
		halve(grid);
	size_t columns = plot_grid_at(grid, end) + 1;
	grid->columns = columns > grid->columns ? columns : grid->columns;
}

static void move_x(struct plot_column *column, int64_t by)
{
	column->first_x += by;
	column->last_x += by;
	column->min_x += by;
	column->max_x += by;
	column->stall_x += by;
}

int64_t plot_grid_shift(struct plot_grid *grid, int64_t by)
{
	if (by <= 0)
		return 0;
	while ((uint64_t)(by / grid->step) + 1 + grid->columns > grid->columns_max)
		halve(grid);
	size_t columns = (size_t)(by / grid->step) + (by % grid->step != 0);
	int64_t moved = (int64_t)columns * grid->step;
	for (size_t i = grid->columns; i-- > 0;) {
		grid->column[i + columns] = grid->column[i];
		move_x(&grid->column[i + columns], moved);
		memcpy(cells_of(grid, i + columns), cells_of(grid, i), PLOT_ROWS * sizeof(*grid->cell));
	}
	for (size_t i = 0; i < columns; i++) {
		clear_column(&grid->column[i]);
		memset(cells_of(grid, i), 0, PLOT_ROWS * sizeof(*grid->cell));
	}
	grid->columns += columns;
	return moved;
}

void plot_grid_count(struct plot_grid *grid, size_t column, int64_t value_ns)
{
	size_t row = plot_row(value_ns);
	uint32_t *cell = &cells_of(grid, column)[row];
	*cell += *cell < UINT32_MAX;
	if (row < grid->row_low)
		grid->row_low = row;
	if (row > grid->row_high)
		grid->row_high = row;
}

uint32_t plot_grid_cell(const struct plot_grid *grid, size_t column, size_t row)
{
	return cells_of(grid, column)[row];
}
