/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/terminal/axis.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Two digits, away from what is shown. */
static int64_t rounded(int64_t ns, bool up)
{
	int64_t unit = 1;
	while (ns / unit >= 100)
		unit *= 10;
	return ns / unit * unit + (up && ns % unit ? unit : 0);
}

struct log_axis log_axis_of(int64_t low_ns, int64_t high_ns, size_t dots)
{
	struct log_axis axis = {low_ns < 1 ? 1 : low_ns, high_ns < 1 ? 1 : high_ns, dots};
	if (axis.high_ns < axis.low_ns)
		axis.high_ns = axis.low_ns;
	/* a cluster within a few per cent would fill the picture and look like a spread */
	if (axis.high_ns / 2 < axis.low_ns) {
		double middle = sqrt((double)axis.low_ns * (double)axis.high_ns), half = sqrt(2);
		int64_t low = (int64_t)(middle / half), high = (int64_t)fmin(middle * half + 1, 9e18);
		axis.low_ns = low < 1 ? 1 : rounded(low < axis.low_ns ? low : axis.low_ns, false);
		high = high > axis.high_ns ? high : axis.high_ns;
		axis.high_ns = high < INT64_MAX / 2 ? rounded(high, true) : high;
		if (axis.high_ns == axis.low_ns)
			axis.high_ns++;
	}
	return axis;
}

size_t log_axis_dot(const struct log_axis *axis, int64_t value_ns)
{
	if (value_ns <= axis->low_ns || axis->dots < 2)
		return 0;
	if (value_ns >= axis->high_ns)
		return axis->dots - 1;
	double share = log((double)value_ns / (double)axis->low_ns) / log((double)axis->high_ns / (double)axis->low_ns);
	size_t dot = (size_t)(share * (double)(axis->dots - 1) + 0.5);
	return dot < axis->dots ? dot : axis->dots - 1;
}

static size_t distance(size_t one, size_t other)
{
	return one > other ? one - other : other - one;
}

/* Takes a tick when it keeps its distance; inserts it in order. */
static size_t offer(const struct log_axis *axis, size_t apart, int64_t tick_ns, int64_t *ticks_ns, size_t count)
{
	size_t dot = log_axis_dot(axis, tick_ns), at = count;
	if (count == AXIS_TICKS_MAX || tick_ns <= axis->low_ns || tick_ns >= axis->high_ns || dot < apart ||
		axis->dots - 1 - dot < apart)
		return count;
	for (size_t i = 0; i < count; i++)
		if (distance(log_axis_dot(axis, ticks_ns[i]), dot) < apart)
			return count;
	for (; at > 0 && ticks_ns[at - 1] > tick_ns; at--)
		ticks_ns[at] = ticks_ns[at - 1];
	ticks_ns[at] = tick_ns;
	return count + 1;
}

size_t log_axis_ticks(const struct log_axis *axis, size_t apart, int64_t *ret_ticks_ns)
{
	/* powers of ten first, then what fits between them */
	static const int64_t multiples[] = {1, 2, 5};
	size_t count = 0;
	for (size_t m = 0; m < 3; m++)
		for (int64_t power = 1; power <= INT64_MAX / 10 / multiples[m]; power *= 10)
			count = offer(axis, apart, power * multiples[m], ret_ticks_ns, count);
	return count;
}

int64_t round_step(int64_t range, size_t parts)
{
	int64_t least = range / (int64_t)(parts ? parts : 1);
	for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10) {
		if (power > least)
			return power;
		if (2 * power > least)
			return 2 * power;
		if (power <= INT64_MAX / 50 && 5 * power > least)
			return 5 * power;
	}
	return INT64_MAX;
}
