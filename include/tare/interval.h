/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact intervals of percentiles, shares and rates. All assume independent
 * samples: where they are not, hand in the effective n of dependence.h, or
 * better compare rounds.
 *
 * Rank interval: order statistics and the binomial distribution (David and
 * Nagaraja, Order Statistics, 7.1). Share: Clopper and Pearson 1934. Rate:
 * Garwood 1936. Tails are summed term by term outward from the mode, so that
 * 10^10 samples at p99.9 keep 12 digits; above a standard deviation of 10^6 the
 * normal approximation, then good to 10^-6, takes over.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/stat.h"

/* Confidence levels are fractions: 0.95. Outside 0..1 (exclusive) nothing exists: ranks 0, bounds NAN. */

/* The percentile lies between the values of these ranks; 0 where no such rank exists, which leaves one side open. */
struct tare_rank_interval {
	uint64_t low, high;
	double coverage; /* the probability really reached, at least the level asked for when both ranks exist */
};
TARE_API struct tare_rank_interval tare_interval_of_rank(const struct tare_percentile *p, uint64_t n, double level);

/* One-sided: the smallest rank whose value the percentile exceeds with probability <= 1 - level; 0: none yet. */
TARE_API uint64_t tare_rank_upper(const struct tare_percentile *p, uint64_t n, double level);

/*
 * "p99.9 <= T" is proved at `level` when at most this many of n values lie above T. -1 when even
 * none above would not prove it.
 */
TARE_API int64_t tare_exceedances_allowed(const struct tare_percentile *p, uint64_t n, double level);

struct tare_bounds { double low, high; };

/* Share of k in n, two-sided; k = 0 and k = n give the one-sided bound on the open side. n = 0: 0 to 1. */
TARE_API struct tare_bounds tare_share_interval(uint64_t k, uint64_t n, double level);

/* Expected number behind k events of a Poisson process, two-sided: k = 0 gives 0 to 3.69 at 0.95. */
TARE_API struct tare_bounds tare_events_interval(uint64_t k, double level);
/* What seeing no event proves, one-sided: 3.00 events at 0.95. */
TARE_API double tare_no_event_bound(double level);

/*
 * Chance that two equal rates, seen over exposures of any unit, differ at least
 * as much as k in `exposure` and other_k in `other` (conditional binomial, two-sided as twice the smaller tail).
 */
TARE_API double tare_rates_differ_chance(uint64_t k, double exposure, uint64_t other_k, double other_exposure);
/* P(X >= k) of a binomial: how likely k or more of n are by chance. */
TARE_API double tare_at_least_chance(uint64_t k, uint64_t n, double p);
