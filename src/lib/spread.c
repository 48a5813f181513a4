/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much identical rounds differ, exact tests on their signs and counts, and several tests at once. */
#include <gsl/gsl_cdf.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "tare/effect.h"
#include "tare/interval.h"

struct tare_spread tare_spread_within(const double *values, const unsigned char *arms, size_t n)
{
	double count[2] = {0}, mean[2] = {0}, squares = 0;
	for (size_t i = 0; i < n; i++)
		count[arms[i] != 0]++;
	for (size_t i = 0; i < n; i++)
		mean[arms[i] != 0] += values[i] / count[arms[i] != 0];
	for (size_t i = 0; i < n; i++)
		squares += pow(values[i] - mean[arms[i] != 0], 2);
	double degrees = fmax(count[0] - 1, 0) + fmax(count[1] - 1, 0);
	return (struct tare_spread){degrees > 0 ? sqrt(squares / degrees) : NAN, degrees};
}

struct tare_spread tare_spread_successive(const double *values, size_t n)
{
	double squares = 0;
	if (n < 2)
		return (struct tare_spread){NAN, 0};
	for (size_t i = 1; i < n; i++)
		squares += pow(values[i] - values[i - 1], 2);
	double degrees = floor(2 * (double)(n - 1) / 3);
	return (struct tare_spread){sqrt(squares / (2 * (double)(n - 1))), fmax(degrees, 1)};
}

double tare_retest_largest(const double *values, const unsigned char *arms, size_t n)
{
	double largest = NAN;
	for (unsigned arm = 0; arm < 2; arm++) {
		size_t last = n;
		for (size_t i = 0; i < n; i++) {
			if ((arms[i] != 0) != arm)
				continue;
			if (last < n)
				largest = fmax(largest, fabs(values[i] - values[last])); /* fmax passes NAN over */
			last = i;
		}
	}
	return largest;
}

bool tare_spread_exceeds(const struct tare_spread *now, const struct tare_spread *calibrated)
{
	if (!(now->degrees > 0) || !(calibrated->degrees > 0))
		return false;
	if (!(calibrated->s > 0))
		return now->s > 0;
	double ratio = now->s / calibrated->s;
	return gsl_cdf_fdist_Q(ratio * ratio, now->degrees, calibrated->degrees) < 0.01;
}

size_t tare_block_contrasts(const double *values, const unsigned char *arms, size_t n, double *ret_contrasts)
{
	size_t found = 0;
	for (size_t at = 0; at + 4 <= n; at += 4) {
		double sum = 0;
		int b = 0;
		for (size_t i = at; i < at + 4; i++) {
			b += arms[i] != 0;
			sum += arms[i] ? values[i] : -values[i];
		}
		if (b == 2)
			ret_contrasts[found++] = sum / 2;
	}
	return found;
}

double tare_sign_flip_chance(const double *contrasts, size_t n)
{
	double seen = 0, size = 0;
	if (n < 1 || n > 20)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		seen += contrasts[i];
		size += fabs(contrasts[i]);
	}
	uint64_t patterns = UINT64_C(1) << n, as_large = 0;
	for (uint64_t pattern = 0; pattern < patterns; pattern++) {
		double sum = 0;
		for (size_t i = 0; i < n; i++)
			sum += pattern >> i & 1 ? -contrasts[i] : contrasts[i];
		as_large += fabs(sum) >= fabs(seen) - 1e-12 * size;
	}
	return (double)as_large / (double)patterns;
}

struct tare_ratio tare_rates_ratio(uint64_t k_a, double exposure_a, uint64_t k_b, double exposure_b, double level)
{
	struct tare_ratio none = {NAN, NAN, NAN};
	if (k_a + k_b == 0 || !(exposure_a > 0) || !(exposure_b > 0))
		return none;
	/* given the sum, B's count is binomial with p / (1 - p) = ratio x exposure_b / exposure_a */
	struct tare_bounds share = tare_share_interval(k_b, k_a + k_b, level);
	double odds = exposure_a / exposure_b;
	return (struct tare_ratio){
		.ratio = k_a ? (double)k_b / (double)k_a * odds : INFINITY,
		.low = share.low / (1 - share.low) * odds,
		.high = share.high < 1 ? share.high / (1 - share.high) * odds : INFINITY,
	};
}

double tare_shares_differ_chance(uint64_t k_a, uint64_t n_a, uint64_t k_b, uint64_t n_b)
{
	if (k_a + k_b == 0 || n_a == 0 || n_b == 0)
		return 1;
	/* GSL's arguments are 32 bits wide; beyond, shares that small are rates */
	if (n_a + n_b > UINT_MAX)
		return tare_rates_differ_chance(k_a, (double)n_a, k_b, (double)n_b);
	unsigned drawn = (unsigned)n_a, hits = (unsigned)(k_a + k_b), misses = (unsigned)(n_a + n_b) - hits;
	double low = gsl_cdf_hypergeometric_P((unsigned)k_a, hits, misses, drawn);
	double high = k_a ? gsl_cdf_hypergeometric_Q((unsigned)k_a - 1, hits, misses, drawn) : 1;
	return fmin(1, 2 * fmin(low, high));
}

double tare_dispersion_chance(const double *counts, const double *exposures, size_t n)
{
	double sum = 0, exposure = 0, squares = 0;
	for (size_t i = 0; i < n; i++) {
		sum += counts[i];
		exposure += exposures[i];
	}
	if (n < 2 || !(sum > 0) || !(exposure > 0))
		return 1;
	for (size_t i = 0; i < n; i++) {
		double expected = sum * exposures[i] / exposure;
		if (expected > 0)
			squares += (counts[i] - expected) * (counts[i] - expected) / expected;
	}
	return gsl_cdf_chisq_Q(squares, (double)n - 1);
}

/* ---- several tests ---- */

struct ranked_chance {
	double chance;
	size_t at;
};

static int by_chance(const void *left, const void *right)
{
	double a = ((const struct ranked_chance *)left)->chance, b = ((const struct ranked_chance *)right)->chance;
	return (a > b) - (a < b);
}

/* Sorted, the missing left out; NULL without memory or entries. */
static struct ranked_chance *rank_chances(const double *chances, size_t n, size_t *ret_count)
{
	struct ranked_chance *ranked = n ? calloc(n, sizeof *ranked) : NULL;
	size_t count = 0;
	for (size_t i = 0; ranked && i < n; i++)
		if (!isnan(chances[i]))
			ranked[count++] = (struct ranked_chance){chances[i], i};
	if (ranked)
		qsort(ranked, count, sizeof *ranked, by_chance);
	*ret_count = count;
	return ranked;
}

void tare_holm(const double *chances, size_t n, double *ret_adjusted)
{
	size_t count;
	struct ranked_chance *ranked = rank_chances(chances, n, &count);
	double so_far = 0;
	for (size_t i = 0; i < n; i++)
		ret_adjusted[i] = isnan(chances[i]) ? NAN : 1;
	for (size_t i = 0; ranked && i < count; i++) {
		so_far = fmax(so_far, fmin(1, (double)(count - i) * ranked[i].chance));
		ret_adjusted[ranked[i].at] = so_far;
	}
	free(ranked);
}

void tare_false_discovery(const double *chances, size_t n, double *ret_adjusted)
{
	size_t count;
	struct ranked_chance *ranked = rank_chances(chances, n, &count);
	double so_far = 1;
	for (size_t i = 0; i < n; i++)
		ret_adjusted[i] = isnan(chances[i]) ? NAN : 1;
	for (size_t i = count; ranked && i-- > 0;) {
		so_far = fmin(so_far, ranked[i].chance * (double)count / (double)(i + 1));
		ret_adjusted[ranked[i].at] = so_far;
	}
	free(ranked);
}
