/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds without an order: Hodges and Lehmann's shift, and Mann and Whitney's
 * distribution counted exactly over the mid-ranks that are there, so that ties
 * (a source that shows whole microseconds) need no correction.
 */
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "tare/effect.h"

enum { EXACT_MOST = 64 };

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

struct pooled { double value; bool is_b; };

static int by_pooled(const void *left, const void *right)
{
	return by_value(&((const struct pooled *)left)->value, &((const struct pooled *)right)->value);
}

/* Twice the mid-ranks, in ascending order; *ret_sum is that of B's, *ret_ties the sum of t^3 - t. */
static void rank_doubled(struct pooled *all, size_t n, size_t *doubled, size_t *ret_sum, double *ret_ties)
{
	qsort(all, n, sizeof *all, by_pooled);
	*ret_sum = 0;
	*ret_ties = 0;
	for (size_t from = 0; from < n;) {
		size_t to = from;
		while (to < n && all[to].value <= all[from].value)
			to++;
		double t = (double)(to - from);
		*ret_ties += t * t * t - t;
		for (size_t i = from; i < to; i++) {
			doubled[i] = from + to + 1;
			*ret_sum += all[i].is_b ? doubled[i] : 0;
		}
		from = to;
	}
}

/*
 * ways[k][s]: subsets of k of the ranks with sum s, as doubles (binomials of 64 fit). Chance of a sum at least as
 * far from the middle; *ret_least that of the farthest.
 */
static int exact_chance(const size_t *doubled, size_t n, size_t n_b, size_t sum, double *ret_chance, double *ret_least)
{
	size_t most = 0;
	for (size_t i = n - n_b; i < n; i++)
		most += doubled[i];
	AUTO_FREE double *ways = calloc((n_b + 1) * (most + 1), sizeof *ways);
	if (!ways)
		return -1;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = n_b < i + 1 ? n_b : i + 1; k > 0; k--)
			for (size_t s = most; s >= doubled[i]; s--)
				ways[k * (most + 1) + s] += ways[(k - 1) * (most + 1) + s - doubled[i]];
	const double *of_b = &ways[n_b * (most + 1)];
	double all = 0, beyond = 0, middle = (double)(n_b * (n + 1)), least = INFINITY, farthest = -1;
	for (size_t s = 0; s <= most; s++) {
		double away = fabs((double)s - middle);
		all += of_b[s];
		if (away >= fabs((double)sum - middle))
			beyond += of_b[s];
		if (of_b[s] > 0 && away > farthest) {
			farthest = away;
			least = of_b[s];
		} else if (of_b[s] > 0 && away >= farthest) {
			least += of_b[s];
		}
	}
	*ret_chance = beyond / all;
	*ret_least = least / all;
	return 0;
}

static int chance_of(const double *a, size_t n_a, const double *b, size_t n_b, struct tare_shift *shift)
{
	size_t n = n_a + n_b, sum;
	double ties;
	AUTO_FREE struct pooled *all = calloc(n, sizeof *all);
	AUTO_FREE size_t *doubled = calloc(n, sizeof *doubled);
	if (!all || !doubled)
		return -1;
	for (size_t i = 0; i < n; i++)
		all[i] = i < n_a ? (struct pooled){a[i], false} : (struct pooled){b[i - n_a], true};
	rank_doubled(all, n, doubled, &sum, &ties);
	if (n <= EXACT_MOST)
		return exact_chance(doubled, n, n_b, sum, &shift->chance, &shift->least_chance);
	double size = (double)n, product = (double)n_a * (double)n_b;
	double variance = product / 12 * (size + 1 - ties / (size * (size - 1)));
	double away = fabs((double)sum / 2 - (double)n_b * (size + 1) / 2) - 0.5;
	shift->chance = variance > 0 ? fmin(1, 2 * gsl_cdf_ugaussian_Q(fmax(away, 0) / sqrt(variance))) : 1;
	shift->least_chance = 0;
	return 0;
}

/*
 * Number of ways to each U, 0 to n_a n_b, without ties. Inside an interval lie the differences from rank k + 1
 * to n_a n_b - k, k the largest with P(U <= k - 1) <= (1 - level) / 2.
 */
static int rank_of_bound(size_t n_a, size_t n_b, double level, size_t *ret_k)
{
	size_t most = n_a * n_b;
	if (n_a + n_b > EXACT_MOST) {
		double middle = (double)most / 2, spread = sqrt((double)most * (double)(n_a + n_b + 1) / 12);
		double k = floor(middle - gsl_cdf_ugaussian_Pinv(0.5 + level / 2) * spread);
		*ret_k = k > 0 ? (size_t)k : 0;
		return 0;
	}
	/* U counts partitions: the Gaussian binomial, a product of (1 - q^(n_a + i)) / (1 - q^i) */
	AUTO_FREE double *ways = calloc(most + 1, sizeof *ways);
	if (!ways)
		return -1;
	ways[0] = 1;
	for (size_t i = 1; i <= n_b; i++) {
		for (size_t s = most; s >= n_a + i; s--)
			ways[s] -= ways[s - n_a - i];
		for (size_t s = i; s <= most; s++)
			ways[s] += ways[s - i];
	}
	double all = 0, below = 0;
	for (size_t s = 0; s <= most; s++)
		all += ways[s];
	size_t k = 0;
	while (k <= most / 2 && (below + ways[k]) / all <= (1 - level) / 2 + 1e-12)
		below += ways[k++];
	*ret_k = k;
	return 0;
}

int tare_shift_of(const double *a, size_t n_a, const double *b, size_t n_b, double level, struct tare_shift *ret_shift,
	struct tare_err *err)
{
	struct tare_shift shift = {.low = -INFINITY, .high = INFINITY};
	size_t k, pairs = n_a * n_b;
	if (n_a == 0 || n_b == 0)
		return tare_fail(err, TARE_E_USAGE, "there are only rounds of arm %s", n_a ? "A" : "B");
	if (n_a > 10000 || n_b > 10000)
		return tare_fail(err, TARE_E_USAGE, "more than 10000 rounds in one set");
	AUTO_FREE double *differences = calloc(pairs, sizeof *differences);
	if (!differences || chance_of(a, n_a, b, n_b, &shift) < 0 || rank_of_bound(n_a, n_b, level, &k) < 0)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	for (size_t i = 0; i < n_a; i++)
		for (size_t j = 0; j < n_b; j++)
			differences[i * n_b + j] = b[j] - a[i];
	qsort(differences, pairs, sizeof *differences, by_value);
	shift.shift = (differences[(pairs - 1) / 2] + differences[pairs / 2]) / 2;
	if (k > 0) {
		shift.low = differences[k - 1];
		shift.high = differences[pairs - k];
	}
	*ret_shift = shift;
	return 0;
}
