/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Change in time. Within a round: medians of blocks, clipped to 3 noise
 * deviations about their median so that one spike is no change, split by PELT
 * (Killick, Fearnhead, Eckley 2012) with squared cost, penalty 3 s^2 ln(blocks)
 * and at least 5 blocks a segment, then only steps of a given size kept. Clipping
 * hides steps on the same side of the median, so each segment found is searched
 * again about its own median. Across rounds: Theil-Sen slope and Mann-Kendall
 * test.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

/* From request `at` on (an index into the values given) the median is another. */
struct tare_change {
	size_t at;
	int64_t before_ns, after_ns; /* medians of the segments on both sides, of their block medians */
};

struct tare_change_rules {
	size_t block;          /* values in a block; 0: 100, or as many as make 4096 blocks */
	int64_t least_ns;      /* smaller steps are no change; 0: 1 % of the median of all */
	int64_t resolution_ns; /* step of the values: neither noise nor a change can be below it */
};

/*
 * Changes in the order of time. TARE_NO_TIME entries are passed over. Returns
 * their number in *ret_count, of which up to `room` are written. At most one
 * change in 10 blocks can be seen: fewer than 10 blocks give none.
 */
TARE_API int tare_changes_of(const int64_t *values_ns, size_t count, const struct tare_change_rules *rules,
			     struct tare_change *ret_changes, size_t room, size_t *ret_count,
			     struct tare_err *err) TARE_MUST_USE;

/* The pieces, on any row of numbers. */

/* 1.4826 x median |difference of neighbours| / sqrt 2: noise that steps and drift do not raise. 0 for n < 2. */
TARE_API int tare_step_noise(const double *values, size_t n, double *ret_noise, struct tare_err *err) TARE_MUST_USE;
/* The split at which the sum of squares falls most, and by how much. Values are first clipped to within `clip` of `centre`. */
TARE_API double tare_split_gain(const double *values, size_t n, double centre, double clip, size_t *ret_at);

/* ---- across rounds ---- */

struct tare_drift {
	uint64_t rounds;
	double per_hour;   /* Theil-Sen slope, in the unit of the values; NAN with fewer than two times */
	double share;      /* slope x session / median of the values: -0.02 is 2 % less at the end */
	int64_t score;     /* Mann-Kendall S */
	double chance;     /* two-sided; exact up to 60 rounds without ties, else normal with ties counted */
};
/*
 * Round statistics against start times. NAN values are passed over. Above 2000
 * rounds the slope is the median of the slopes between each round and the one
 * half a session later.
 */
TARE_API int tare_drift_of(const int64_t *at_ns, const double *values, size_t count, struct tare_drift *ret_drift,
			   struct tare_err *err) TARE_MUST_USE;
