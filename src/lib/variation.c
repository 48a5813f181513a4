/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * IPDV, the jitters of others, moments. Moments come from counts, whose distinct
 * values are few, so the exact mean is known before the squares are summed.
 */
#include "tare/variation.h"

#include <math.h>

#include "lib/series.h"

__extension__ typedef __int128 wide_sum;

static int64_t step_between(int64_t now, int64_t before)
{
	int64_t step;
	if (now == TARE_NO_TIME || before == TARE_NO_TIME || __builtin_sub_overflow(now, before, &step) ||
		step == TARE_NO_TIME)
		return TARE_NO_TIME;
	return step < 0 ? -step : step;
}

/* Steps of a block; `before` is the value in front of it. */
static void steps_of(const int64_t *restrict values_ns, size_t count, int64_t before, int64_t *restrict ret_steps_ns)
{
	if (!count)
		return;
	ret_steps_ns[0] = step_between(values_ns[0], before);
	if (!block_is_tame(values_ns, count)) {
		for (size_t i = 1; i < count; i++)
			ret_steps_ns[i] = step_between(values_ns[i], values_ns[i - 1]);
		return;
	}
	/* Without a branch: the sign of a step is as good as random. */
	for (size_t i = 1; i < count; i++) {
		int64_t step = values_ns[i] - values_ns[i - 1], sign = step >> 63;
		ret_steps_ns[i] = (step ^ sign) - sign;
	}
}

int tare_ipdv_add(struct tare_counts *counts, const int64_t *values_ns, size_t count, struct tare_err *err)
{
	int64_t steps_ns[SERIES_BLOCK], before = TARE_NO_TIME;
	for (size_t at = 0; at < count; at += SERIES_BLOCK) {
		size_t block = count - at < SERIES_BLOCK ? count - at : SERIES_BLOCK;
		steps_of(values_ns + at, block, before, steps_ns);
		before = values_ns[at + block - 1];
		if (tare_counts_add(counts, steps_ns, block, err))
			return -1;
	}
	return 0;
}

int tare_ipdv_of(struct tare_counts *counts, const struct tare_series *series, enum tare_span span, size_t first,
	struct tare_err *err)
{
	int64_t scratch_ns[SERIES_BLOCK], steps_ns[SERIES_BLOCK], before = TARE_NO_TIME;
	for (size_t at = first; at < series->count; at += SERIES_BLOCK) {
		size_t block = series->count - at < SERIES_BLOCK ? series->count - at : SERIES_BLOCK;
		const int64_t *values_ns = series_block(series, span, at, block, scratch_ns);
		steps_of(values_ns, block, before, steps_ns);
		before = values_ns[block - 1];
		if (tare_counts_add(counts, steps_ns, block, err))
			return -1;
	}
	return 0;
}

double tare_rfc3550_jitter(const int64_t *values_ns, size_t count)
{
	double jitter = 0;
	bool any = false;
	for (size_t i = 1; i < count; i++) {
		int64_t step = step_between(values_ns[i], values_ns[i - 1]);
		if (step == TARE_NO_TIME)
			continue;
		jitter += ((double)step - jitter) / 16;
		any = true;
	}
	return any ? jitter : NAN;
}

int64_t tare_p95_less_p50(const struct tare_counts *counts)
{
	static const struct tare_percentile p50 = {.num = 1, .den = 2}, p95 = {.num = 19, .den = 20};
	uint64_t n = tare_counts_n(counts);
	const uint64_t ranks[2] = {tare_rank(&p50, n), tare_rank(&p95, n)};
	int64_t values_ns[2], less;
	tare_counts_ranks(counts, ranks, 2, values_ns);
	if (ranks[1] >= n || __builtin_sub_overflow(values_ns[1], values_ns[0], &less))
		return TARE_NO_TIME;
	return less;
}

struct tare_moments tare_moments_of(const struct tare_counts *counts, const int64_t *extra_ns, size_t extra_count)
{
	wide_sum sum = 0;
	struct tare_moments moments = {.n = 0, .mean_ns = NAN, .deviation_ns = NAN};
	struct tare_bin bin;
	struct tare_counts_cursor cursor = tare_counts_walk(counts);
	while (tare_counts_next(&cursor, &bin)) {
		sum += (wide_sum)bin.value_ns * (wide_sum)bin.count;
		moments.n += bin.count;
	}
	for (size_t i = 0; i < extra_count; i++) {
		if (extra_ns[i] == TARE_NO_TIME)
			continue;
		sum += extra_ns[i];
		moments.n++;
	}
	if (!moments.n)
		return moments;
	/* Whole and rest apart: a mean near 10^18 keeps its nanoseconds. */
	int64_t whole = (int64_t)(sum / (wide_sum)moments.n);
	double rest = (double)(sum % (wide_sum)moments.n) / (double)moments.n, squares = 0;
	cursor = tare_counts_walk(counts);
	while (tare_counts_next(&cursor, &bin)) {
		double off = (double)((wide_sum)bin.value_ns - whole) - rest;
		squares += (double)bin.count * off * off;
	}
	for (size_t i = 0; i < extra_count; i++) {
		double off = (double)((wide_sum)extra_ns[i] - whole) - rest;
		squares += extra_ns[i] == TARE_NO_TIME ? 0 : off * off;
	}
	moments.mean_ns = (double)whole + rest;
	if (moments.n > 1)
		moments.deviation_ns = sqrt(squares / (double)(moments.n - 1));
	return moments;
}
