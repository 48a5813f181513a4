/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drift across rounds. Slope and test look at pairs only, so one wild round
 * moves neither; times need not be even, ties among values are counted.
 */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "lib/select.h"
#include "tare/change.h"

enum { PAIRS_OF_ALL_MOST = 2000, EXACT_MOST = 60 };

/* Rounds with a value, in the order of time. */
struct point {
	int64_t at_ns;
	double value;
};

static int by_time(const void *a, const void *b)
{
	const struct point *left = a, *right = b;
	return (left->at_ns > right->at_ns) - (left->at_ns < right->at_ns);
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

static double slope_per_hour(const struct point *points, size_t n, double *scratch)
{
	size_t slopes = 0;
	size_t step = n > PAIRS_OF_ALL_MOST ? n / 2 : 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + (step ? step : 1); j < n; j++) {
			double hours = ((double)points[j].at_ns - (double)points[i].at_ns) / 3.6e12;
			if (hours > 0)
				scratch[slopes++] = (points[j].value - points[i].value) / hours;
			if (step)
				break;
		}
	}
	return slopes ? median_real(scratch, slopes) : NAN;
}

/* Two-sided, from the numbers of orders with each count of inversions; built up one value at a time. */
static double exact_chance(int64_t score, size_t n)
{
	double share[EXACT_MOST * (EXACT_MOST - 1) / 2 + 1] = {1};
	size_t pairs = 0;
	for (size_t value = 2; value <= n; value++) {
		double before[EXACT_MOST * (EXACT_MOST - 1) / 2 + 1];
		for (size_t k = 0; k <= pairs; k++)
			before[k] = share[k];
		size_t had = pairs;
		pairs += value - 1;
		double window = 0;
		for (size_t k = 0; k <= pairs; k++) {
			window += k <= had ? before[k] : 0;
			window -= k >= value ? before[k - value] : 0;
			share[k] = window / (double)value;
		}
	}
	/* score = pairs - 2 x inversions; as far out on either side */
	double chance = 0;
	for (size_t k = 0; k <= pairs; k++) {
		int64_t here = (int64_t)pairs - 2 * (int64_t)k;
		chance += llabs(here) >= llabs(score) ? share[k] : 0;
	}
	return fmin(chance, 1);
}

/* Kendall's variance less what groups of equal values take away; `sorted` are the values. */
static double normal_chance(int64_t score, const double *sorted, size_t n)
{
	double count = (double)n, variance = count * (count - 1) * (2 * count + 5);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && sorted[end] <= sorted[i]; end++)
			;
		double ties = (double)(end - i);
		variance -= ties * (ties - 1) * (2 * ties + 5);
	}
	variance /= 18;
	if (score == 0 || variance <= 0)
		return 1;
	return erfc((fabs((double)score) - 1) / sqrt(variance) / M_SQRT2);
}

static void judge(const struct point *points, size_t n, double *scratch, struct tare_drift *drift)
{
	int64_t score = 0;
	size_t ties = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			int up = (points[j].value > points[i].value) - (points[j].value < points[i].value);
			score += up;
			ties += up == 0;
		}
	}
	for (size_t i = 0; i < n; i++)
		scratch[i] = points[i].value;
	qsort(scratch, n, sizeof(*scratch), by_size);
	drift->score = score;
	drift->chance = n < 2                      ? 1
			: !ties && n <= EXACT_MOST ? exact_chance(score, n)
						   : normal_chance(score, scratch, n);
}

int tare_drift_of(
	const int64_t *at_ns, const double *values, size_t count, struct tare_drift *ret_drift, struct tare_err *err)
{
	size_t pairs = count > PAIRS_OF_ALL_MOST ? count : count * (count ? count - 1 : 0) / 2;
	AUTO_FREE struct point *points = malloc((count + 1) * sizeof(*points));
	AUTO_FREE double *scratch = malloc((pairs + count + 1) * sizeof(*scratch));
	if (!points || !scratch)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for the drift of %zu rounds", count);
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		if (!isnan(values[i]))
			points[n++] = (struct point){at_ns[i], values[i]};
	}
	qsort(points, n, sizeof(*points), by_time);
	struct tare_drift drift = {.rounds = n, .share = NAN};
	drift.per_hour = slope_per_hour(points, n, scratch);
	judge(points, n, scratch, &drift);
	if (n > 1) {
		double hours = ((double)points[n - 1].at_ns - (double)points[0].at_ns) / 3.6e12;
		double median = median_real(scratch, n);
		drift.share = fabs(median) > 0 ? drift.per_hour * hours / fabs(median) : NAN;
	}
	*ret_drift = drift;
	return 0;
}
