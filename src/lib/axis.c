/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounds of the offset between wall and monotonic clock, intersected over the
 * readings. A single reading taken while we were preempted is wide, not wrong,
 * so it costs nothing once a narrow one lies beside it.
 */
#include "tare/axis.h"

#include "tare/sample.h"

/* False for a reading that says nothing: clock going backwards, or numbers that do not fit. */
static bool bounds_of(const struct tare_reading *reading, struct tare_axis_segment *ret_segment)
{
	struct tare_axis_segment segment = {
		.from_mono_ns = reading->mono_before_ns, .to_mono_ns = reading->mono_after_ns};
	if (reading->mono_after_ns < reading->mono_before_ns ||
		__builtin_sub_overflow(reading->real_ns, reading->mono_after_ns, &segment.low_ns) ||
		__builtin_sub_overflow(reading->real_ns, reading->mono_before_ns, &segment.high_ns))
		return false;
	*ret_segment = segment;
	return true;
}

static int64_t width_of(const struct tare_axis_segment *segment)
{
	int64_t width;
	return __builtin_sub_overflow(segment->high_ns, segment->low_ns, &width) ? INT64_MAX : width;
}

static int64_t middle_of(const struct tare_axis_segment *segment)
{
	return segment->low_ns + width_of(segment) / 2;
}

size_t tare_axis_build(
	const struct tare_reading *readings, size_t count, struct tare_axis_segment *ret_segments, size_t room)
{
	size_t segments = 0;
	struct tare_axis_segment now = {0};
	for (size_t i = 0; i < count; i++) {
		struct tare_axis_segment next;
		if (!bounds_of(&readings[i], &next))
			continue;
		int64_t low = next.low_ns > now.low_ns ? next.low_ns : now.low_ns;
		int64_t high = next.high_ns < now.high_ns ? next.high_ns : now.high_ns;
		if (segments && low <= high) {
			now.to_mono_ns = next.to_mono_ns;
			now.low_ns = low;
			now.high_ns = high;
		} else {
			now = next;
			segments++;
		}
		if (segments <= room)
			ret_segments[segments - 1] = now;
	}
	return segments;
}

struct tare_axis_step tare_axis_step_after(const struct tare_axis *axis, size_t segment)
{
	struct tare_axis_step step = {TARE_NO_TIME, TARE_NO_TIME, TARE_NO_TIME};
	if (segment >= axis->segments || axis->segments - segment < 2)
		return step;
	const struct tare_axis_segment *here = &axis->segment[segment], *next = here + 1;
	int64_t moved;
	if (__builtin_sub_overflow(middle_of(next), middle_of(here), &moved))
		return step;
	return (struct tare_axis_step){here->to_mono_ns, next->from_mono_ns, moved};
}

int64_t tare_axis_mono_of_real(const struct tare_axis *axis, int64_t real_ns, int64_t near_mono_ns)
{
	size_t below = 0, above = axis->segments;
	while (below < above) {
		size_t middle = below + (above - below) / 2;
		if (axis->segment[middle].to_mono_ns < near_mono_ns)
			below = middle + 1;
		else
			above = middle;
	}
	int64_t mono;
	if (real_ns == TARE_NO_TIME || near_mono_ns == TARE_NO_TIME || below == axis->segments ||
		axis->segment[below].from_mono_ns > near_mono_ns ||
		__builtin_sub_overflow(real_ns, middle_of(&axis->segment[below]), &mono))
		return TARE_NO_TIME;
	return mono;
}

int64_t tare_axis_error_ns(const struct tare_axis *axis)
{
	int64_t widest = TARE_NO_TIME;
	for (size_t i = 0; i < axis->segments; i++) {
		int64_t width = width_of(&axis->segment[i]);
		int64_t half = width / 2 + width % 2;
		widest = half > widest ? half : widest;
	}
	return widest;
}
