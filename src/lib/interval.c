/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Binomial and Poisson tails by summing terms relative to the largest. Chosen
 * over GSL's inverse gamma and beta functions because these call the process's
 * error handler, which aborts, from about 1200 events on.
 */
#include "tare/interval.h"

#include <math.h>

/* Terms below the mode's by this factor no longer change the sum of all. */
#define NEGLIGIBLE  1e-30
/* Smaller ones are as good as 0, and near the smallest a double holds rounding would keep them from ever getting there. */
#define VANISHING 1e-290
#define SPREAD_MOST 1e6

/* Binomial(n, p), or Poisson(p) where n is infinite. */
struct law {
	double n, p;
};

static double variance_of(const struct law *law)
{
	return isinf(law->n) ? law->p : law->n * law->p * (1 - law->p);
}

static double mean_of(const struct law *law)
{
	return isinf(law->n) ? law->p : law->n * law->p;
}

/* term(k + 1) / term(k) */
static double step_up(const struct law *law, double k)
{
	return isinf(law->n) ? law->p / (k + 1) : (law->n - k) / (k + 1) * (law->p / (1 - law->p));
}

/* Terms from `low` to `high` sum up to `sum`, in units of the mode's term; the outermost are given. */
struct terms {
	double low, low_term, high, high_term, sum;
};

static struct terms terms_of(const struct law *law)
{
	double mode = floor(mean_of(law));
	struct terms terms = {mode, 1, mode, 1, 1};
	while (terms.high < law->n && terms.high_term > NEGLIGIBLE) {
		terms.high_term *= step_up(law, terms.high++);
		terms.sum += terms.high_term;
	}
	while (terms.low > 0 && terms.low_term > NEGLIGIBLE) {
		terms.low_term /= step_up(law, --terms.low);
		terms.sum += terms.low_term;
	}
	return terms;
}

static double normal_below(double z)
{
	return erfc(-z / M_SQRT2) / 2;
}

/* Far out, where terms_of has stopped: the terms from k on away from the mode, relative to what they add. */
static double far_above(const struct law *law, struct terms terms, double k)
{
	double sum = 0;
	while (terms.high < k && terms.high_term > VANISHING)
		terms.high_term *= step_up(law, terms.high++);
	if (terms.high < k)
		return 0;
	while (terms.high <= law->n && terms.high_term > sum * 1e-17) {
		sum += terms.high_term;
		terms.high_term *= step_up(law, terms.high++);
	}
	return sum / terms.sum;
}

static double far_below(const struct law *law, struct terms terms, double k)
{
	double sum = 0;
	while (terms.low > k && terms.low_term > VANISHING)
		terms.low_term /= step_up(law, --terms.low);
	if (terms.low > k)
		return 0;
	while (terms.low_term > sum * 1e-17) {
		sum += terms.low_term;
		if (terms.low <= 0)
			break;
		terms.low_term /= step_up(law, --terms.low);
	}
	return sum / terms.sum;
}

/* P(X <= k) */
static double below(const struct law *law, double k)
{
	if (k < 0)
		return 0;
	if (k >= law->n)
		return 1;
	double spread = sqrt(variance_of(law));
	if (spread > SPREAD_MOST)
		return normal_below((k + 0.5 - mean_of(law)) / spread);
	struct terms terms = terms_of(law);
	double sum = 0, term = terms.low_term;
	if (k >= terms.high)
		return 1;
	if (k < terms.low)
		return far_below(law, terms, k);
	for (double i = terms.low; i <= k; term *= step_up(law, i++))
		sum += term;
	return sum / terms.sum;
}

/* P(X >= k) */
static double from(const struct law *law, double k)
{
	if (k <= 0)
		return 1;
	if (k > law->n)
		return 0;
	double spread = sqrt(variance_of(law));
	if (spread > SPREAD_MOST)
		return normal_below((mean_of(law) - k + 0.5) / spread);
	struct terms terms = terms_of(law);
	double sum = 0, term = terms.high_term;
	if (k <= terms.low)
		return 1;
	if (k > terms.high)
		return far_above(law, terms, k);
	for (double i = terms.high; i >= k; term /= step_up(law, --i))
		sum += term;
	return sum / terms.sum;
}

/* Where a tail falls to `tail`, between `low` and `high`; `rising` says whether it grows with the parameter. */
static double solve(double (*tail_of)(const struct law *, double), bool rising, struct law law, double k, double tail,
	double low, double high)
{
	for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
		law.p = low + (high - low) / 2;
		if ((tail_of(&law, k) < tail) == rising)
			low = law.p;
		else
			high = law.p;
	}
	return low + (high - low) / 2;
}

static bool level_fits(double level)
{
	return level > 0 && level < 1;
}

/* Bisection over k: the largest k in 0..n with P(X <= k) <= tail, or -1. */
static double last_below(const struct law *law, double tail)
{
	double low = -1, high = law->n;
	while (high - low > 1) {
		double middle = floor((low + high) / 2);
		if (below(law, middle) <= tail)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The smallest k in 1..n with P(X >= k) <= tail, or n + 1. */
static double first_from(const struct law *law, double tail)
{
	double low = 0, high = law->n + 1;
	while (high - low > 1) {
		double middle = floor((low + high) / 2);
		if (from(law, middle) <= tail)
			high = middle;
		else
			low = middle;
	}
	return high;
}

static struct law values_below(const struct tare_percentile *p, uint64_t n)
{
	return (struct law){(double)n, (double)p->num / (double)p->den};
}

struct tare_rank_interval tare_interval_of_rank(const struct tare_percentile *p, uint64_t n, double level)
{
	struct tare_rank_interval interval = {0};
	struct law law = values_below(p, n);
	if (!level_fits(level) || n == 0 || p->num >= p->den)
		return interval;
	double tail = (1 - level) / 2;
	double low = last_below(&law, tail) + 1, high = first_from(&law, tail);
	interval.low = low >= 1 ? (uint64_t)low : 0;
	interval.high = high <= law.n ? (uint64_t)high : 0;
	interval.coverage = (interval.high ? 1 - from(&law, high) : 1) - (interval.low ? below(&law, low - 1) : 0);
	return interval;
}

uint64_t tare_rank_upper(const struct tare_percentile *p, uint64_t n, double level)
{
	struct law law = values_below(p, n);
	if (!level_fits(level) || n == 0 || p->num >= p->den)
		return 0;
	double high = first_from(&law, 1 - level);
	return high <= law.n ? (uint64_t)high : 0;
}

int64_t tare_exceedances_allowed(const struct tare_percentile *p, uint64_t n, double level)
{
	if (!level_fits(level) || n == 0)
		return -1;
	struct law law = {(double)n, (double)(p->den - p->num) / (double)p->den};
	return (int64_t)last_below(&law, 1 - level);
}

struct tare_bounds tare_share_interval(uint64_t k, uint64_t n, double level)
{
	struct law law = {(double)n, 0};
	double tail = k == 0 || k >= n ? 1 - level : (1 - level) / 2;
	if (!level_fits(level))
		return (struct tare_bounds){NAN, NAN};
	struct tare_bounds bounds = {0, 1};
	/* The share lies below p where seeing so few is rarer than the tail, and so on. */
	if (k > 0 && k < n) {
		double seen = (double)k / law.n;
		bounds.low = solve(from, true, law, (double)k, tail, 0, seen);
		bounds.high = solve(below, false, law, (double)k, tail, seen, 1);
	} else if (k == 0 && n > 0) {
		bounds.high = -expm1(log(tail) / law.n);
	} else if (n > 0) {
		bounds.low = exp(log(tail) / law.n);
	}
	return bounds;
}

struct tare_bounds tare_events_interval(uint64_t k, double level)
{
	if (!level_fits(level))
		return (struct tare_bounds){NAN, NAN};
	double tail = (1 - level) / 2, seen = (double)k;
	struct law law = {INFINITY, 0};
	/* Twenty standard deviations and the first events are wide enough for any level a double can state. */
	double most = seen + 40 * sqrt(seen + 1) + 800;
	return (struct tare_bounds){
		k ? solve(from, true, law, seen, tail, 0, seen) : 0,
		k ? solve(below, false, law, seen, tail, seen, most) : -log(tail),
	};
}

double tare_no_event_bound(double level)
{
	return level_fits(level) ? -log1p(-level) : NAN;
}

double tare_rates_differ_chance(uint64_t k, double exposure, uint64_t other_k, double other_exposure)
{
	if (!(exposure > 0) || !(other_exposure > 0))
		return NAN;
	struct law law = {(double)k + (double)other_k, exposure / (exposure + other_exposure)};
	double low = below(&law, (double)k), high = from(&law, (double)k);
	double chance = 2 * (low < high ? low : high);
	return chance < 1 ? chance : 1;
}

double tare_at_least_chance(uint64_t k, uint64_t n, double p)
{
	if (!(p >= 0 && p <= 1))
		return NAN;
	if (p <= 0 || p >= 1)
		return k == 0 || (p >= 1 && k <= n) ? 1 : 0;
	struct law law = {(double)n, p};
	return from(&law, (double)k);
}
