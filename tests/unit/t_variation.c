/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Five "jitters" of one vector, and the moments. */
#include "tare/variation.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"

static struct tare_counts *fresh(void)
{
	struct tare_counts *counts = NULL;
	if (tare_counts_open(&counts, NULL)) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	return counts;
}

static void must(int failed)
{
	if (failed) {
		printf("Bail out! no memory\n");
		exit(1);
	}
}

static int64_t ranked(const struct tare_counts *counts, const char *text)
{
	struct tare_percentile p = {0};
	must(tare_percentile_parse(text, &p, NULL));
	return tare_counts_at(counts, tare_rank(&p, tare_counts_n(counts)));
}

static void check_vector(void)
{
	static const int64_t values[] = {4100, 3900, 4000, 9000, 3950, TARE_NO_TIME, 4050, 3900, 4200, 4000};
	struct tare_counts *counts = fresh(), *steps = fresh();
	must(tare_counts_add(counts, values, 10, NULL));
	IS_I64(tare_counts_n(counts), 9, "n");
	IS_I64(tare_counts_at(counts, 1), 3900, "min");
	IS_I64(ranked(counts, "50"), 4000, "p50");
	IS_I64(ranked(counts, "90"), 9000, "p90");
	IS_I64(ranked(counts, "90") - tare_counts_at(counts, 1), 5100, "PDV at p90");
	must(tare_ipdv_add(steps, values, 10, NULL));
	IS_I64(tare_counts_n(steps), 7, "seven differences, none across the loss");
	IS_I64(ranked(steps, "50"), 200, "|IPDV| p50");
	IS_I64(tare_counts_at(steps, 7), 5050, "|IPDV| max");
	double jitter = tare_rfc3550_jitter(values, 10);
	OK(fabs(jitter - 552.8) < 0.05, "RFC 3550 J %.1f", jitter);
	IS_I64(tare_p95_less_p50(counts), TARE_NO_TIME, "p95 of nine has nothing behind");
	struct tare_moments moments = tare_moments_of(counts, NULL, 0);
	OK(fabs(moments.deviation_ns - 1665) < 0.5, "standard deviation %.0f", moments.deviation_ns);
	/* Twice the vector: one behind p95. */
	must(tare_counts_merge(counts, counts, NULL));
	must(tare_counts_add(counts, (const int64_t[]){9001, 9002}, 2, NULL));
	IS_I64(tare_p95_less_p50(counts), 9001 - 4000, "p95 - p50");
	tare_counts_free(counts);
	tare_counts_free(steps);
}

/* A series and a column give the same steps, whatever the block. */
static void check_series(void)
{
	enum { COUNT = 5000 };
	static int64_t values[COUNT];
	static uint8_t fate[COUNT];
	uint64_t state = 99;
	struct tare_series series = {.count = COUNT, .fate = fate};
	series.given_ns[TARE_SPAN_RTT] = values;
	uint64_t steps_wanted = 0, sum_wanted = 0;
	for (size_t i = 0; i < COUNT; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		fate[i] = state >> 60 ? TARE_ANSWERED : TARE_LOST;
		values[i] = fate[i] == TARE_LOST ? TARE_NO_TIME : (int64_t)(state >> 50);
		if (i > 7 && values[i] != TARE_NO_TIME && values[i - 1] != TARE_NO_TIME) {
			steps_wanted++;
			sum_wanted += (uint64_t)llabs(values[i] - values[i - 1]);
		}
	}
	struct tare_counts *column = fresh(), *of_series = fresh();
	must(tare_ipdv_add(column, values + 7, COUNT - 7, NULL));
	must(tare_ipdv_of(of_series, &series, TARE_SPAN_RTT, 7, NULL));
	IS_I64(tare_counts_n(column), steps_wanted, "steps of a column");
	IS_I64(tare_counts_n(of_series), steps_wanted, "steps of a series");
	double mean = (double)sum_wanted / (double)steps_wanted;
	OK(fabs(tare_moments_of(column, NULL, 0).mean_ns - mean) < 1e-9, "their mean");
	OK(fabs(tare_moments_of(of_series, NULL, 0).mean_ns - mean) < 1e-9, "and here");
	tare_counts_free(column);
	tare_counts_free(of_series);
}

static void check_moments(void)
{
	struct tare_counts *counts = fresh();
	struct tare_moments moments = tare_moments_of(counts, NULL, 0);
	OK(moments.n == 0 && isnan(moments.mean_ns), "n = 0 has no mean");
	static const int64_t large[] = {INT64_MAX, INT64_MAX - 2, INT64_MAX - 4};
	must(tare_counts_add(counts, large, 1, NULL));
	moments = tare_moments_of(counts, NULL, 0);
	OK(moments.n == 1 && isnan(moments.deviation_ns), "n = 1 has no deviation");
	must(tare_counts_add(counts, large + 1, 2, NULL));
	moments = tare_moments_of(counts, NULL, 0);
	OK(fabs(moments.deviation_ns - 2) < 1e-12, "values near 2^63 keep their nanoseconds");
	static const int64_t opposite[] = {INT64_MIN + 1, INT64_MAX};
	IS_I64(isnan(tare_rfc3550_jitter(opposite, 2)), 1, "a difference beyond 64 bits is none");
	tare_counts_clear(counts);
	must(tare_ipdv_add(counts, opposite, 2, NULL));
	IS_I64(tare_counts_n(counts), 0, "in IPDV too");
	/* The Onload round: 0.04 us without the first two requests, 3.98 with them. */
	int64_t quiet[10000];
	for (size_t i = 0; i < 10000; i++)
		quiet[i] = 2000 + (i % 2 ? 40 : -40);
	must(tare_counts_add(counts, quiet, 9998, NULL));
	static const int64_t first[] = {283000, 282700, TARE_NO_TIME};
	struct tare_moments with = tare_moments_of(counts, first, 3), without = tare_moments_of(counts, NULL, 0);
	OK(fabs(without.deviation_ns - 40) < 0.1, "deviation without the first two: %.1f ns", without.deviation_ns);
	OK(fabs(with.deviation_ns - 3974) < 5 && with.n == 10000, "with them: %.0f ns", with.deviation_ns);
	/* a day of 5 ms: sums of 32 bits, and squares of 64, wrap (HewlettPackard/netperf#83) */
	static const struct tare_bin day[] = {{5000000, 1000000000}};
	tare_counts_clear(counts);
	must(tare_counts_add_bins(counts, day, 1, NULL));
	struct tare_moments long_run = tare_moments_of(counts, NULL, 0);
	OK(long_run.n == 1000000000 && long_run.mean_ns >= 5e6 && long_run.mean_ns <= 5e6 && !(long_run.deviation_ns > 0),
		"a thousand million values of 5 ms: mean %.3f ns, deviation %.3f", long_run.mean_ns, long_run.deviation_ns);
	tare_counts_free(counts);
}

int main(void)
{
	check_vector();
	check_series();
	check_moments();
	return tap_done();
}
