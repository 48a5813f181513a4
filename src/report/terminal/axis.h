/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes in dots: where a value lies, and which round values get a name. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Logarithmic, from low_ns in dot 0 to high_ns in dot `dots` - 1: both exactly. */
struct log_axis {
	int64_t low_ns, high_ns;
	size_t dots;
};
/* low and high of what is to be seen; what is below 1 ns counts as 1 ns, and at least a factor of two is shown. */
struct log_axis log_axis_of(int64_t low_ns, int64_t high_ns, size_t dots);
size_t log_axis_dot(const struct log_axis *axis, int64_t value_ns);

enum { AXIS_TICKS_MAX = 32 };
/*
 * Round values (1, 2 or 5 times a power of ten) within the axis, at least `apart` dots from each other and from both
 * ends, rising. Returns how many.
 */
size_t log_axis_ticks(const struct log_axis *axis, size_t apart, int64_t *ret_ticks_ns);
/* A step of 1, 2 or 5 times a power of ten that divides `range` into at most `parts`; at least 1. */
int64_t round_step(int64_t range, size_t parts);
