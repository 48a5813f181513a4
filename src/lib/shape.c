/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Density by ranks: the distance that a fixed number of neighbours covers. It
 * adapts to any scale (six decades need no logarithm, two modes 0.1 % apart no
 * finer grid), and its noise is the same everywhere, which a histogram's is not.
 */
#include "lib/shape.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum { NEIGHBOURS = 100, SHARE = 200, STEPS = 8, VALUES_LEAST = 300, SIDE_LEAST = 30, STEPS_APART = 5 };

/* Values at evenly spaced ranks, and the density of the window that starts at each. */
struct ranked_values {
	uint64_t stride; /* ranks between two entries */
	size_t count;    /* entries */
	size_t windows;  /* entries that start a whole window */
	int64_t *value_ns;
	double *density;
};

struct shape_part shape_part_of(const struct tare_counts *counts, uint64_t first, uint64_t n)
{
	const uint64_t ranks[5] = {
		first, first + (n + 3) / 4 - 1, first + (n + 1) / 2 - 1, first + (3 * n + 3) / 4 - 1, first + n - 1};
	int64_t values_ns[5];
	tare_counts_ranks(counts, ranks, 5, values_ns);
	return (struct shape_part){
		.first = first,
		.n = n,
		.median = (double)values_ns[2],
		.scale = ((double)values_ns[3] - (double)values_ns[1]) / 1.349,
		.from_ns = values_ns[0],
		.to_ns = values_ns[4],
	};
}

int64_t shape_step(const struct tare_counts *counts)
{
	/* Steps by powers of two would be too coarse for 1000; so the weighted median is found among 64 candidates. */
	enum { KEPT = 64 };
	int64_t step_ns[KEPT];
	uint64_t weight[KEPT] = {0}, total = 0, below = 0;
	size_t kept = 0;
	struct tare_counts_cursor cursor = tare_counts_walk(counts);
	struct tare_bin bin, before;
	if (!tare_counts_next(&cursor, &before))
		return 1;
	while (tare_counts_next(&cursor, &bin)) {
		int64_t step;
		if (__builtin_sub_overflow(bin.value_ns, before.value_ns, &step))
			step = INT64_MAX;
		before = bin;
		total += bin.count;
		size_t at = 0;
		while (at < kept && step_ns[at] < step)
			at++;
		if (at < kept && step_ns[at] == step) {
			weight[at] += bin.count;
			continue;
		}
		/* Full: the smallest steps are kept, the rest of the weight lies above them. */
		if (at == KEPT)
			continue;
		for (size_t i = kept < KEPT ? kept++ : KEPT - 1; i > at; i--) {
			step_ns[i] = step_ns[i - 1];
			weight[i] = weight[i - 1];
		}
		step_ns[at] = step;
		weight[at] = bin.count;
	}
	for (size_t i = 0; i < kept; i++) {
		below += weight[i];
		if (2 * below >= total)
			return step_ns[i];
	}
	/* Wide and sparse: no step is seen, and the widest kept is small beside any window. */
	return kept ? step_ns[kept - 1] : 1;
}

static int rank_values(
	const struct tare_counts *counts, int64_t step_ns, struct ranked_values *ret_ranked, struct tare_err *err)
{
	uint64_t n = tare_counts_n(counts);
	uint64_t window = n / SHARE > NEIGHBOURS ? n / SHARE : NEIGHBOURS;
	struct ranked_values ranked = {.stride = window / STEPS};
	ranked.count = (size_t)((n - 1) / ranked.stride) + 1;
	ranked.windows = ranked.count - STEPS;
	AUTO_FREE uint64_t *ranks = malloc(ranked.count * sizeof(*ranks));
	ranked.value_ns = malloc(ranked.count * sizeof(*ranked.value_ns));
	ranked.density = malloc(ranked.count * sizeof(*ranked.density));
	if (!ranks || !ranked.value_ns || !ranked.density) {
		free(ranked.value_ns);
		free(ranked.density);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for the shape of a distribution");
	}
	for (size_t i = 0; i < ranked.count; i++)
		ranks[i] = 1 + (uint64_t)i * ranked.stride;
	tare_counts_ranks(counts, ranks, ranked.count, ranked.value_ns);
	for (size_t i = 0; i < ranked.windows; i++) {
		/* Three steps are added: a window within one quantised value is then at most 4/3 as dense as one over
		 * two. */
		double width = (double)ranked.value_ns[i + STEPS] - (double)ranked.value_ns[i];
		ranked.density[i] = 1 / (width + 3 * (double)step_ns);
	}
	*ret_ranked = ranked;
	return 0;
}

/* The window in low..high - 1 that is least dense beside the lower of the peaks on its two sides. */
static size_t find_valley(const double *density, size_t low, size_t high, double *scratch, double *ret_ratio)
{
	double peak = 0, best = INFINITY;
	size_t valley = low;
	for (size_t i = high; i-- > low;) {
		peak = fmax(peak, density[i]);
		scratch[i] = peak;
	}
	peak = 0;
	for (size_t i = low; i < high; i++) {
		peak = fmax(peak, density[i]);
		double ratio = density[i] / fmin(peak, scratch[i]);
		if (ratio < best) {
			best = ratio;
			valley = i;
		}
	}
	*ret_ratio = best;
	return valley;
}

/* Within the window, the widest step: the entry after which to cut. */
static size_t widest_step(const struct ranked_values *ranked, size_t window)
{
	size_t widest = window;
	double most = -1;
	for (size_t i = window; i < window + STEPS; i++) {
		double width = (double)ranked->value_ns[i + 1] - (double)ranked->value_ns[i];
		if (width > most) {
			most = width;
			widest = i;
		}
	}
	return widest;
}

/* The last rank of values up to and including that of entry i, so that equal values stay together. */
static uint64_t rank_after(const struct tare_counts *counts, const struct ranked_values *ranked, size_t i)
{
	/* Between two entries the cut belongs into the widest gap of single values. */
	uint64_t ranks[64], first = 1 + (uint64_t)i * ranked->stride, last = first + ranked->stride,
			    n = tare_counts_n(counts);
	int64_t values_ns[64];
	while (last - first > 1) {
		uint64_t span = last - first, points = span < 63 ? span + 1 : 64;
		for (uint64_t j = 0; j < points; j++)
			ranks[j] = first + j * span / (points - 1);
		tare_counts_ranks(counts, ranks, (size_t)points, values_ns);
		size_t widest = 0;
		double most = -1;
		for (size_t j = 0; j + 1 < points; j++) {
			double width = (double)values_ns[j + 1] - (double)values_ns[j];
			if (width > most) {
				most = width;
				widest = j;
			}
		}
		first = ranks[widest];
		last = ranks[widest + 1];
	}
	return n - tare_counts_above(counts, tare_counts_at(counts, first));
}

struct splitting {
	const struct tare_counts *counts;
	const struct ranked_values *ranked;
	double *scratch;
};

/* Cuts a part in two where the density allows it. */
static bool split_part(const struct splitting *splitting, const struct shape_part *part, struct shape_part ret_parts[2])
{
	const struct ranked_values *ranked = splitting->ranked;
	size_t low = (size_t)((part->first + ranked->stride - 2) / ranked->stride);
	size_t high = (size_t)((part->first + part->n - 2) / ranked->stride); /* the part's last entry */
	uint64_t all = tare_counts_n(splitting->counts);
	uint64_t least = all / 100 > SIDE_LEAST ? all / 100 : SIDE_LEAST;
	if (high < low + 2 * STEPS || part->n < 2 * least)
		return false;
	high = high - STEPS + 1 < ranked->windows ? high - STEPS + 1 : ranked->windows;
	double ratio;
	size_t valley = find_valley(ranked->density, low, high, splitting->scratch, &ratio);
	if (ratio > 0.5)
		return false;
	uint64_t cut = rank_after(splitting->counts, ranked, widest_step(ranked, valley));
	if (cut < part->first + least - 1 || cut + least > part->first + part->n - 1)
		return false;
	ret_parts[0] = shape_part_of(splitting->counts, part->first, cut - part->first + 1);
	ret_parts[1] = shape_part_of(splitting->counts, cut + 1, part->first + part->n - 1 - cut);
	return true;
}

/* Only when nothing more splits: a part that still holds two modes has a scale that says nothing. */
static size_t join_close(const struct tare_counts *counts, struct shape_part *parts, size_t count, double least_apart)
{
	for (;;) {
		size_t closest = 0;
		double least = 2;
		for (size_t i = 0; i + 1 < count; i++) {
			double d =
				tare_ashman_d(parts[i].median, parts[i].scale, parts[i + 1].median, parts[i + 1].scale);
			if (parts[i + 1].median - parts[i].median < least_apart)
				d = 0;
			if (d < least) {
				least = d;
				closest = i + 1;
			}
		}
		if (!closest)
			return count;
		parts[closest - 1] =
			shape_part_of(counts, parts[closest - 1].first, parts[closest - 1].n + parts[closest].n);
		for (size_t i = closest; i + 1 < count; i++)
			parts[i] = parts[i + 1];
		count--;
	}
}

int shape_modes(const struct tare_counts *counts, int64_t step_ns, struct shape_part *ret_parts, size_t *ret_count,
	struct tare_err *err)
{
	uint64_t n = tare_counts_n(counts);
	*ret_count = 0;
	if (n < VALUES_LEAST)
		return 0;
	struct ranked_values ranked = {0};
	if (rank_values(counts, step_ns, &ranked, err))
		return -1;
	AUTO_FREE double *scratch = malloc(ranked.count * sizeof(*scratch));
	AUTO_FREE int64_t *values = ranked.value_ns;
	AUTO_FREE double *density = ranked.density;
	if (!scratch)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for the shape of a distribution");
	size_t count = 1, turn = 0;
	ret_parts[0] = shape_part_of(counts, 1, n);
	struct splitting splitting = {counts, &ranked, scratch};
	double least_apart = fmax(STEPS_APART * (double)step_ns, fabs(ret_parts[0].median) / 100);
	while (turn < count && count < TARE_MODES_MAX) {
		struct shape_part halves[2];
		if (!split_part(&splitting, &ret_parts[turn], halves)) {
			turn++;
			continue;
		}
		for (size_t i = count++; i > turn + 1; i--)
			ret_parts[i] = ret_parts[i - 1];
		ret_parts[turn] = halves[0];
		ret_parts[turn + 1] = halves[1];
	}
	*ret_count = join_close(counts, ret_parts, count, least_apart);
	return 0;
}
