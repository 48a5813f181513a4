/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arithmetic of comparing rounds. The round is the unit of replication: what
 * goes in here is one figure a round (its p99, its PDV), never a request.
 * Requests of a round share its conditions, so that a test over pooled requests
 * calls identical code different in 25 to 84 % of cases, the more requests the
 * worse.
 *
 * Rounds in a known order: least squares with the arm, a linear drift from eight
 * rounds on, and labels as covariates. Rounds without one: Hodges and Lehmann's
 * shift with Mann and Whitney's exact distribution. Figures may be in ns or
 * logarithms (ratios); results are in the same unit.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

/* ---- order ---- */

/*
 * Arm of scored round i, from 0: ABBA BAAB BAAB ABBA … (Thue and Morse), 0 for A and 1 for B; `complement` swaps
 * the two. Eight rounds cancel a quadratic drift, which ABBA ABBA leaves.
 */
TARE_API int tare_order_arm(uint64_t i, bool complement);
/*
 * True when the arms alternate enough for drift to be told from the effect: two rounds of each at least, and the
 * correlation of arm and place at most one half (all A, then all B has 0.87 and 53 % false effects).
 */
TARE_API bool tare_order_interleaved(const unsigned char *arms, size_t n);

/* ---- spread between identical rounds ---- */

/* s_r, the standard deviation between rounds of one setting. NAN with 0 degrees where it cannot be told. */
struct tare_spread { double s, degrees; };
/* Pooled within the arms; blind to nothing, so a drift is in it. */
TARE_API struct tare_spread tare_spread_within(const double *values, const unsigned char *arms, size_t n);
/*
 * From differences of neighbours, s^2 = sum of squares / 2 (m - 1): a drift is not in it. They overlap, so that
 * they carry about 2 (m - 1) / 3 degrees of freedom, rounded down.
 */
TARE_API struct tare_spread tare_spread_successive(const double *values, size_t n);
/* Largest difference between neighbouring rounds of the same arm: evidence beside s_r, never the gate. NAN without a pair. */
TARE_API double tare_retest_largest(const double *values, const unsigned char *arms, size_t n);
/* True when `now` is larger than the calibrated spread allows: s^2 ratio above the F quantile at 0.99. */
TARE_API bool tare_spread_exceeds(const struct tare_spread *now, const struct tare_spread *calibrated);

/* ---- effect of rounds in order ---- */

struct tare_rounds {
	size_t n;
	const double *values;              /* finite */
	const unsigned char *arms;         /* 0: A, 1: B */
	const double *at;                  /* when, in any unit; NULL: one apart */
	const double *const *covariates;   /* columns of n; NULL: none */
	size_t covariate_count;
};

struct tare_effect {
	double effect;   /* B - A; NAN when it cannot be told from a covariate */
	double per_s;    /* its standard error in units of s */
	double s;        /* residual deviation */
	double degrees;  /* of s; 0: none left */
	double drift;    /* per unit of `at`; NAN without the term */
	bool confounded; /* arm and covariates say the same */
};
/* `drift` adds the linear term. Fails without memory, or unless both arms have a round. */
TARE_API int tare_effect_of(const struct tare_rounds *rounds, bool drift, struct tare_effect *ret_effect,
			    struct tare_err *err) TARE_MUST_USE;
/* Pools s with a calibrated one, each weighted by its degrees of freedom. */
TARE_API void tare_effect_pool(struct tare_effect *effect, const struct tare_spread *calibrated);

struct tare_span_of_effect { double low, high; };
/* Confidence interval; infinite without degrees of freedom. */
TARE_API struct tare_span_of_effect tare_effect_interval(const struct tare_effect *effect, double level);
/* Two-sided chance of such an effect without one. */
TARE_API double tare_effect_chance(const struct tare_effect *effect);

/* B - A of each block of four neighbouring rounds with two of each arm, into n / 4 places; returns how many. */
TARE_API size_t tare_block_contrasts(const double *values, const unsigned char *arms, size_t n, double *ret_contrasts);
/* Exact chance over all 2^n patterns of signs; six blocks are the fewest that reach 5 %. NAN outside 1..20 blocks. */
TARE_API double tare_sign_flip_chance(const double *contrasts, size_t n);

/* ---- effect of rounds without order ---- */

struct tare_shift {
	double shift;     /* median of all differences B - A (Hodges and Lehmann) */
	double chance;    /* two-sided, of Mann and Whitney; exact up to 64 rounds, ties counted */
	double low, high; /* at the level asked for; infinite where so few rounds cannot have one */
	double least_chance; /* the smallest that so many rounds can reach: .10 with 3 + 3, .029 with 4 + 4 */
};
TARE_API int tare_shift_of(const double *a, size_t n_a, const double *b, size_t n_b, double level,
			   struct tare_shift *ret_shift, struct tare_err *err) TARE_MUST_USE;

/* ---- counts ---- */

/* Ratio of two rates (B over A) with its conditional exact interval; NAN without an event or exposure. */
struct tare_ratio { double ratio, low, high; };
TARE_API struct tare_ratio tare_rates_ratio(uint64_t k_a, double exposure_a, uint64_t k_b, double exposure_b, double level);
/* Fisher's exact test of two shares, two-sided as twice the smaller tail. */
TARE_API double tare_shares_differ_chance(uint64_t k_a, uint64_t n_a, uint64_t k_b, uint64_t n_b);
/* Chance that counts of one rate scatter as much as these (index of dispersion); 1 for fewer than two counts or no event. */
TARE_API double tare_dispersion_chance(const double *counts, const double *exposures, size_t n);

/* ---- several figures at once ---- */

/* Holm's adjusted chances, in place order; NAN entries are passed over and not counted. */
TARE_API void tare_holm(const double *chances, size_t n, double *ret_adjusted);
/* Benjamini and Hochberg's. */
TARE_API void tare_false_discovery(const double *chances, size_t n, double *ret_adjusted);

/* ---- what a plan can see ---- */

/* From this many rounds in order on a term for what a round inherits from the one before is part of the fit. */
enum { TARE_CARRY_ROUNDS = 16 };

/*
 * The effect, in units of s, that is found with `power` at `level`, given the
 * standard error in units of s and its degrees of freedom: from the noncentral
 * t distribution. 4 rounds without drift term: 5.65 at 80 %.
 */
TARE_API double tare_detectable(double per_s, double degrees, double level, double power);
/* Chance of finding an effect of `size` s; the same, the other way round. */
TARE_API double tare_power(double size, double per_s, double degrees, double level);
/* Chance of claiming "no effect within `margin` s" when there is none (two one-sided tests at 1 - level). */
TARE_API double tare_power_same(double margin, double per_s, double degrees, double level);
/* per_s and degrees of n ordered rounds, half of them each arm: no drift term below eight, no carry-over below sixteen. */
struct tare_design { double per_s, degrees; };
TARE_API struct tare_design tare_design_of(uint64_t rounds);
/* The fewest rounds, in fours, that find an effect of `size` s, or claim "none within `size`"; 0: more than 4096. */
TARE_API uint64_t tare_rounds_to_find(double size, double level, double power);
TARE_API uint64_t tare_rounds_to_claim_same(double margin, double level, double power);
