/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a distribution falls into modes by its shape alone. */
#pragma once
#include "tare/modes.h"

/* Location and scale of a part of the distribution. */
struct shape_part {
	uint64_t first, n;  /* ranks first .. first + n - 1 */
	double median, scale;
	int64_t from_ns, to_ns;
};

/* Median and interquartile range / 1.349 of `n` ranks from `first` on. */
struct shape_part shape_part_of(const struct tare_counts *counts, uint64_t first, uint64_t n);

/* The usual distance between neighbouring distinct values, weighted by how many lie there: the step of quantised data. */
int64_t shape_step(const struct tare_counts *counts);

/* Modes in ascending order, at most TARE_MODES_MAX; fewer than two mean one population. Returns -1 without memory. */
int shape_modes(const struct tare_counts *counts, int64_t step_ns, struct shape_part *ret_parts, size_t *ret_count,
		struct tare_err *err) TARE_MUST_USE;
