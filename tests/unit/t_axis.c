/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time axis from paired readings: intersection, steps, error bound. */
#include "tare/axis.h"

#include "tap.h"
#include "tare/sample.h"

static struct tare_reading reading(int64_t before, int64_t offset_low, int64_t width)
{
	return (struct tare_reading){before, before + width + offset_low, before + width};
}

int main(void)
{
	struct tare_axis_segment segments[4];
	struct tare_axis axis = {segments, 0};

	axis.segments = tare_axis_build(NULL, 0, segments, 4);
	IS_I64(axis.segments, 0, "no readings, no segment");
	IS_I64(tare_axis_error_ns(&axis), TARE_NO_TIME, "no readings, no error bound");
	IS_I64(tare_axis_mono_of_real(&axis, 5, 5), TARE_NO_TIME, "no readings, no time");

	/* Read between 1000 and 1100 as 51050: the offset is 49950 to 50050. */
	struct tare_reading one = {1000, 51050, 1100};
	axis.segments = tare_axis_build(&one, 1, segments, 4);
	IS_I64(axis.segments, 1, "one reading, one segment");
	IS_I64(segments[0].low_ns, 49950, "its lower bound");
	IS_I64(segments[0].high_ns, 50050, "its upper bound");
	IS_I64(tare_axis_error_ns(&axis), 50, "half width");
	IS_I64(tare_axis_mono_of_real(&axis, 51050, 1050), 1050, "a stamp inside");
	IS_I64(tare_axis_mono_of_real(&axis, 51050, 1101), TARE_NO_TIME, "a stamp behind the last reading");
	IS_I64(tare_axis_mono_of_real(&axis, TARE_NO_TIME, 1050), TARE_NO_TIME, "no stamp");
	IS_I64(tare_axis_step_after(&axis, 0).step_ns, TARE_NO_TIME, "no step with one segment");

	/* Offsets [100,160], [120,300], [90,130]: intersection [120,130]; then the clock is stepped by +1000. */
	struct tare_reading stepped[] = {
		reading(1000, 100, 60),
		reading(2000, 120, 180),
		reading(3000, 90, 40),
		reading(4000, 1110, 40),
		reading(5000, 1120, 40),
	};
	axis.segments = tare_axis_build(stepped, 5, segments, 4);
	IS_I64(axis.segments, 2, "an empty intersection starts a segment");
	IS_I64(segments[0].low_ns, 120, "intersected lower bound");
	IS_I64(segments[0].high_ns, 130, "intersected upper bound");
	IS_I64(segments[0].from_mono_ns, 1000, "from the first reading");
	IS_I64(segments[0].to_mono_ns, 3040, "to the last");
	IS_I64(segments[1].low_ns, 1120, "second segment's lower bound");
	IS_I64(segments[1].high_ns, 1150, "second segment's upper bound");
	IS_I64(tare_axis_error_ns(&axis), 15, "the error is the widest segment's");
	struct tare_axis_step step = tare_axis_step_after(&axis, 0);
	IS_I64(step.after_mono_ns, 3040, "the step came after");
	IS_I64(step.before_mono_ns, 4000, "and before");
	IS_I64(step.step_ns, 1010, "its size, middle to middle");
	IS_I64(tare_axis_mono_of_real(&axis, 2125, 2000), 2000, "stamp in the first segment");
	IS_I64(tare_axis_mono_of_real(&axis, 5635, 4500), 4500, "stamp in the second");
	IS_I64(tare_axis_mono_of_real(&axis, 3625, 3500), TARE_NO_TIME, "stamp near the step");
	IS_I64(tare_axis_mono_of_real(&axis, 1124, 999), TARE_NO_TIME, "stamp before all readings");

	/* Back again, and more segments than room. */
	struct tare_reading many[6];
	for (int i = 0; i < 6; i++)
		many[i] = reading(1000 * (i + 1), i % 2 ? -500 : 500, 11);
	struct tare_axis_segment kept[3] = {{.low_ns = 1}, {.low_ns = 2}, {.low_ns = 77}};
	IS_I64(tare_axis_build(many, 6, kept, 2), 6, "six segments counted with room for two");
	IS_I64(kept[1].low_ns, -500, "second one kept, negative offset");
	IS_I64(kept[2].low_ns, 77, "nothing written behind the room");
	axis = (struct tare_axis){kept, 2};
	IS_I64(tare_axis_step_after(&axis, 0).step_ns, -1000, "a step back");
	IS_I64(tare_axis_step_after(&axis, 1).step_ns, TARE_NO_TIME, "no step after the last segment");
	IS_I64(tare_axis_error_ns(&axis), 6, "odd width is rounded up");

	/* Nonsense is passed over, whatever its size. */
	struct tare_reading bad[] = {
		{100, 50, 90}, {INT64_MIN + 2, INT64_MAX, 5}, {10, INT64_MIN, 20}, reading(1000, 100, 60)};
	axis = (struct tare_axis){segments, tare_axis_build(bad, 4, segments, 4)};
	IS_I64(axis.segments, 1, "readings that say nothing are passed over");
	IS_I64(segments[0].low_ns, 100, "and the good one stays");
	return tap_done();
}
