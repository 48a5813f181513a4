/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Durations of one table in one unit. Integers only: a double would print
 * 0.005 µs now as 0.00, now as 0.01.
 */
#include "report/report.h"

static const struct scale scales[] = {
	{"ns", 1, 0},
	{"µs", 1000, 2},
	{"ms", 1000000, 3},
	{"s", 1000000000, 3},
};

const struct scale *scale_for(int64_t reference_ns, int64_t resolution_ns)
{
	/*
	 * A unit stays until its figure reaches 10 000: a median of 4.6 µs beside
	 * a worst of 1548.86 µs reads better than ms, whose third decimal is all
	 * that would be left of it.
	 */
	int64_t reference = reference_ns < 0 ? 0 : reference_ns;
	size_t i = reference < 1000 ? 0 : reference < 10000000 ? 1 : reference < 10000000000 ? 2 : 3;
	while (i + 1 < sizeof(scales) / sizeof(scales[0]) && scales[i + 1].ns <= resolution_ns)
		i++;
	return &scales[i];
}

void scale_format(const struct scale *scale, int64_t ns, int64_t resolution_ns, char *buffer, size_t room)
{
	int decimals = 0;
	int64_t step = scale->ns;
	while (decimals < scale->decimals && step / 10 >= resolution_ns && step >= 10) {
		decimals++;
		step /= 10;
	}
	/* Unsigned magnitude, since -INT64_MIN does not exist. */
	uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t steps = magnitude / (uint64_t)step;
	if (magnitude % (uint64_t)step >= (uint64_t)step - (uint64_t)step / 2)
		steps++;
	uint64_t per_unit = (uint64_t)(scale->ns / step);
	const char *sign = ns < 0 && steps ? "-" : "";
	unsigned long long whole = steps / per_unit, rest = steps % per_unit;
	if (decimals == 0)
		snprintf(buffer, room, "%s%llu", sign, whole);
	else /* the remainder taken modulo 8, as gcc cannot know that a scale has 3 decimals at most */
		snprintf(buffer, room, "%s%llu.%0*llu", sign, whole, decimals & 7, rest);
}

static void format_steps(
	const struct scale *scale, int decimals, int64_t step, uint64_t steps, bool negative, char *buffer, size_t room)
{
	uint64_t per_unit = (uint64_t)(scale->ns / step);
	const char *sign = negative && steps ? "-" : "";
	unsigned long long whole = steps / per_unit, rest = steps % per_unit;
	if (decimals == 0)
		snprintf(buffer, room, "%s%llu", sign, whole);
	else
		snprintf(buffer, room, "%s%llu.%0*llu", sign, whole, decimals & 7, rest);
}

/* Away from zero for an upper bound above it and a lower one below, towards it otherwise. */
static void format_outwards(
	const struct scale *scale, int decimals, int64_t step, int64_t ns, bool up, char *buffer, size_t room)
{
	uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t steps = magnitude / (uint64_t)step;
	if (magnitude % (uint64_t)step && up == (ns > 0))
		steps++;
	format_steps(scale, decimals, step, steps, ns < 0, buffer, room);
}

void scale_format_range(const struct scale *scale, int64_t low_ns, int64_t high_ns, char *buffer, size_t room)
{
	char low[48], high[48];
	int decimals = 0;
	int64_t step = scale->ns;
	/* Bounds are whole ns, both inclusive: 5000 to 5999 ns is "5-6" in microseconds. */
	uint64_t width = high_ns == INT64_MAX ? 0 : (uint64_t)high_ns - (uint64_t)low_ns + 1;
	while (decimals < scale->decimals && step >= 10 && (width ? (uint64_t)step > width : low_ns % step != 0)) {
		decimals++;
		step /= 10;
	}
	format_outwards(scale, decimals, step, low_ns, false, low, sizeof(low));
	if (high_ns == INT64_MAX) {
		snprintf(buffer, room, "> %s", low);
		return;
	}
	format_outwards(scale, decimals, step, high_ns, true, high, sizeof(high));
	snprintf(buffer, room, "%.30s–%.30s", low, high);
}
