/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Percentile curves on the axis 1 / (1 - p). A point is the value of a real
 * sample: at rank n - behind, with behind = n / 10^(i / 20) rounded down, then
 * each of the last nine, then the maximum. Single rounds are remembered at the
 * same places, which makes the band.
 */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/plot/collect.h"

int64_t counts_quantile(const struct tare_counts *counts, uint64_t num, uint64_t den)
{
	const struct tare_percentile p = {.num = num, .den = den};
	uint64_t n = tare_counts_n(counts), rank = tare_rank(&p, n);
	return n && (rank < n || num == den) ? tare_counts_at(counts, rank) : TARE_NO_TIME;
}

/* How many lie behind place `step` of the axis when there are n. */
static uint64_t behind_of(uint64_t n, size_t step)
{
	return (uint64_t)((double)n / pow(10, (double)step / 20));
}

/* Values of ascending ranks n - behind, for every step with ten or more behind; returns how many. */
static size_t ladder_of(const struct tare_counts *counts, uint64_t *ret_behind, int64_t *ret_values_ns)
{
	uint64_t n = tare_counts_n(counts), ranks[BAND_STEPS];
	size_t steps = 0;
	for (; steps < BAND_STEPS; steps++) {
		uint64_t behind = behind_of(n, steps);
		if (behind < 10)
			break;
		ranks[steps] = behind < n ? n - behind : 1;
		ret_behind[steps] = n - ranks[steps];
	}
	tare_counts_ranks(counts, ranks, steps, ret_values_ns);
	return steps;
}

static int take_band(struct target_state *target, size_t curve, struct tare_err *err)
{
	uint64_t behind[BAND_STEPS];
	int64_t values_ns[BAND_STEPS];
	struct band *band = target->band[curve];
	size_t steps = ladder_of(target->whole, behind, values_ns);
	if (!band && !(band = target->band[curve] = calloc(1, sizeof(*band))))
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a percentile curve");
	for (size_t i = 0; i < steps; i++) {
		if (!band->rounds[i] || values_ns[i] < band->low_ns[i])
			band->low_ns[i] = values_ns[i];
		if (!band->rounds[i] || values_ns[i] > band->high_ns[i])
			band->high_ns[i] = values_ns[i];
		band->rounds[i]++;
	}
	return 0;
}

static int by_high(const void *one, const void *other)
{
	const struct tare_bin *left = one, *right = other;
	return (left->value_ns > right->value_ns) - (left->value_ns < right->value_ns);
}

/* Of a source that counts in bins only upper bounds are known; without one, the lower. */
static int take_bins(struct target_state *target, const struct tare_bins *bins, struct tare_err *err)
{
	AUTO_FREE struct tare_bin *bound = calloc(bins->count ? bins->count : 1, sizeof(*bound));
	struct tare_counts **counts = &target->scratch[PLOT_CLASSES_MAX - 1];
	if (!bound)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu ranges", bins->count);
	if (!*counts && tare_counts_open(counts, err))
		return -1;
	for (size_t i = 0; i < bins->count; i++) {
		const struct tare_range *range = &bins->range[i];
		bound[i] =
			(struct tare_bin){range->high_ns == INT64_MAX ? range->low_ns : range->high_ns, range->count};
		if (bound[i].value_ns > target->plot.max_ns)
			target->plot.max_ns = bound[i].value_ns;
		target->plot.values += range->count;
	}
	qsort(bound, bins->count, sizeof(*bound), by_high);
	return tare_counts_add_bins(*counts, bound, bins->count, err);
}

static const struct {
	uint64_t num, den;
} quantiles[PLOT_QUANTILE_COUNT] = {
#define X(id, num, den) [PLOT_##id] = {num, den},
	PLOT_QUANTILES(X)
#undef X
};

static void take_quantiles(const struct target_state *target, struct plot_round *round)
{
	uint64_t n = tare_counts_n(target->whole);
	const struct tare_percentile p999 = {.num = 999, .den = 1000};
	for (size_t i = 0; i < PLOT_QUANTILE_COUNT; i++)
		round->quantile_ns[i] = counts_quantile(target->whole, quantiles[i].num, quantiles[i].den);
	round->p999_grade = (uint8_t)tare_grade_of(n - tare_rank(&p999, n));
}

static int merge(struct tare_counts **into, const struct tare_counts *from, struct tare_err *err)
{
	if (!*into && tare_counts_open(into, err))
		return -1;
	return tare_counts_merge(*into, from, err);
}

int collect_distribution(const struct placing *placing, struct tare_err *err)
{
	struct target_state *target = placing->target;
	const struct tare_bins *bins = placing->input->record->bins;
	tare_counts_clear(target->whole);
	if (bins && take_bins(target, bins, err))
		return -1;
	for (size_t class = 0; class < PLOT_CLASSES_MAX; class ++) {
		const struct tare_counts *scratch = target->scratch[class];
		if (!scratch || !tare_counts_n(scratch))
			continue;
		if (tare_counts_merge(target->whole, scratch, err) ||
			merge(&target->leaf[placing->curve][class], scratch, err))
			return -1;
	}
	take_quantiles(target, &target->plot.rounds[placing->round]);
	return tare_counts_n(target->whole) ? take_band(target, placing->curve, err) : 0;
}

static void add_point(struct plot_curve *curve, const struct tare_counts *counts, uint64_t behind,
	const struct band *band, size_t step)
{
	bool known = band && step < BAND_STEPS && band->rounds[step] > 1;
	curve->points[curve->point_count++] = (struct plot_point){.behind = behind,
		.value_ns = tare_counts_at(counts, curve->n - behind),
		.low_ns = known ? band->low_ns[step] : TARE_NO_TIME,
		.high_ns = known ? band->high_ns[step] : TARE_NO_TIME,
		.solid = behind >= 10};
}

static int finish_curve(struct target_state *target, struct plot_curve *curve, const struct tare_counts *counts,
	const struct band *band, struct tare_err *err)
{
	uint64_t behind[BAND_STEPS];
	int64_t values_ns[BAND_STEPS];
	curve->n = tare_counts_n(counts);
	curve->points = calloc(BAND_STEPS + 10, sizeof(*curve->points));
	if (!curve->points)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a percentile curve");
	for (size_t i = 0; i < target->plot.round_count; i++)
		curve->rounds += &target->plot.curves[target->plot.rounds[i].series] == curve;
	if (!curve->n)
		return 0;
	size_t steps = ladder_of(counts, behind, values_ns);
	for (size_t i = 0; i < steps; i++)
		add_point(curve, counts, behind[i], band, i);
	for (uint64_t left = curve->n < 10 ? curve->n : 10; left-- > 0;)
		add_point(curve, counts, left, NULL, BAND_STEPS);
	curve->min_ns = tare_counts_at(counts, 1);
	curve->max_ns = tare_counts_at(counts, curve->n);
	curve->p50_ns = counts_quantile(counts, 1, 2);
	curve->p99_ns = counts_quantile(counts, 99, 100);
	curve->p999_ns = counts_quantile(counts, 999, 1000);
	return 0;
}

int finish_curves(struct target_state *target, struct tare_err *err)
{
	struct tare_counts *all = NULL;
	int failed = 0;
	for (size_t i = 0; i < target->plot.curve_count && !failed; i++) {
		struct plot_curve *curve = &target->plot.curves[i];
		curve->min_ns = curve->max_ns = curve->p50_ns = curve->p99_ns = curve->p999_ns = TARE_NO_TIME;
		if (all)
			tare_counts_clear(all);
		else
			failed = tare_counts_open(&all, err);
		for (size_t class = 0; class < PLOT_CLASSES_MAX && !failed; class ++)
			if (target->leaf[i][class])
				failed = tare_counts_merge(all, target->leaf[i][class], err);
		if (!failed)
			failed = finish_curve(target, curve, all, target->band[i], err);
	}
	tare_counts_free(all);
	return failed ? -1 : 0;
}
