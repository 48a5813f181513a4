/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The time axis: kernel stamps are CLOCK_REALTIME, our own times
 * CLOCK_MONOTONIC. Each paired reading (mono, real, mono) bounds their offset:
 *     real - mono_after <= offset <= real - mono_before,
 * and since slewing moves both clocks alike, the true offset lies in the
 * intersection of all bounds until someone steps the wall clock. An empty
 * intersection is that step; it starts a new segment.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/recording.h"

struct tare_axis_segment {
	int64_t from_mono_ns, to_mono_ns; /* first and last reading inside */
	int64_t low_ns, high_ns;          /* bounds of real - mono */
};

/* A step of the wall clock, somewhere between two readings. */
struct tare_axis_step { int64_t after_mono_ns, before_mono_ns, step_ns; };

struct tare_axis {
	const struct tare_axis_segment *segment;
	size_t segments;
};

/*
 * Builds the segments from readings in time order into `room` segments given by
 * the caller; returns how many there are (more than room: only the first `room`
 * are kept, later readings being ignored). Steps are the borders between
 * neighbouring segments.
 */
TARE_API size_t tare_axis_build(const struct tare_reading *readings, size_t count,
				struct tare_axis_segment *ret_segments, size_t room);
TARE_API struct tare_axis_step tare_axis_step_after(const struct tare_axis *axis, size_t segment);

/*
 * A wall-clock stamp as monotonic ns. `near_mono_ns` is any monotonic time known
 * to be close (the send or receive call); it picks the segment. Returns
 * TARE_NO_TIME when that lies between two segments or outside all.
 */
TARE_API int64_t tare_axis_mono_of_real(const struct tare_axis *axis, int64_t real_ns, int64_t near_mono_ns);

/* Largest half width over the segments; TARE_NO_TIME without any. */
TARE_API int64_t tare_axis_error_ns(const struct tare_axis *axis);
