/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The second field note from generated rounds: values are quantiles of the
 * distributions described there, shuffled, so every figure is exact to its
 * printed digits and nothing is random.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "tap.h"
#include "tare/modes.h"
#include "tare/stalls.h"
#include "tare/stat.h"
#include "tare/variation.h"

enum { COUNT = 10000, KEPT = COUNT - 2 };

static int64_t values[COUNT];
static int16_t peer[COUNT];
static uint8_t fate[COUNT];

static struct tare_record record_of(void)
{
	static const struct tare_run run = {.id = 1};
	static const struct tare_target target = {.url = "udp://peer:7000", .kind = "udp"};
	static const struct tare_round round = {.number = 1, .label = "", .warmup = 2, .interval_ns = 1000000};
	struct tare_record record = {.run = &run, .target = &target, .round = &round, .resolution_ns = 1};
	for (size_t i = 0; i < COUNT; i++)
		fate[i] = TARE_ANSWERED;
	record.series = (struct tare_series){.count = COUNT, .fate = fate};
	record.series.given_ns[TARE_SPAN_HOST] = values;
	record.series.cpu[TARE_CPU_PEER_RX] = peer;
	return record;
}

/* Evenly spaced quantiles of a normal distribution into `count` places after the first two, in a mixed order. */
static void spread(size_t first, size_t count, double median, double deviation, size_t stride)
{
	for (size_t i = 0; i < count; i++) {
		double quantile = gsl_cdf_ugaussian_Pinv(((double)i + 0.5) / (double)count);
		values[first + i * stride % count] = (int64_t)llround(median + deviation * quantile);
	}
}

static struct tare_row row_of(const struct tare_record *record)
{
	struct tare_stat *stat = NULL;
	struct tare_rules rules;
	const struct tare_row *rows = NULL;
	size_t count = 0;
	struct tare_err err = {0};
	tare_rules_default(&rules);
	if (tare_stat_open(&rules, 0, &stat, &err) || tare_stat_add(stat, "note2.tare", record, &err) ||
		tare_stat_rows(stat, &rows, &count, &err) || count != 1) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	struct tare_row row = rows[0];
	tare_stat_free(stat);
	return row;
}

static struct tare_moments moments_of(bool with_first_two)
{
	struct tare_counts *counts = NULL;
	if (tare_counts_open(&counts, NULL) || tare_counts_add(counts, values + 2, KEPT, NULL)) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	struct tare_moments moments = tare_moments_of(counts, values, with_first_two ? 2 : 0);
	tare_counts_free(counts);
	return moments;
}

static bool is_us(double got_ns, double want_us, double within_us)
{
	bool close = fabs(got_ns / 1000 - want_us) <= within_us;
	if (!close)
		printf("# got %.4f us, expected %.4f\n", got_ns / 1000, want_us);
	return close;
}

/* The responder moved from CPU 19 (4.70 us) to CPU 25 (3.90 us). */
static void check_moved(void)
{
	enum { SLOW = 6000 };
	struct tare_err err = {0};
	struct tare_modes modes;
	values[0] = 19000;
	values[1] = 8000;
	spread(2, SLOW - 2, 4700, 124, 3881);
	spread(SLOW, COUNT - SLOW, 3900, 80, 1237);
	for (size_t i = 0; i < COUNT; i++)
		peer[i] = i < SLOW ? 19 : 25;
	struct tare_record record = record_of();
	struct tare_row row = row_of(&record);
	OK(is_us(moments_of(false).mean_ns, 4.38, 0.005), "mean 4.38");
	OK(is_us((double)row.ranked[0].value_ns, 4.58, 0.005), "median 4.58");
	if (tare_modes_of_series(&record.series, TARE_SPAN_HOST, 2, 1, &modes, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	OK(modes.by == TARE_MODES_LABEL && modes.count == 2 && is_us((double)modes.mode[0].median_ns, 3.90, 0.005) &&
			is_us((double)modes.mode[1].median_ns, 4.70, 0.005),
		"medians 3.90 and 4.70");
	char text[400];
	tare_modes_sentence(&modes, text, sizeof(text));
	IS_STR(text,
		"mean 4.38 µs lies in the gap between two modes, 3.9 µs (peer CPU 25, 40 %) and 4.7 µs (peer CPU 19, "
		"60 %); "
		"switched once, at request 6000; median 4.58 µs is of the second alone",
		"the sentence");
}

static double quiet_mean, quiet_median, quiet_deviation;

static void check_quiet(void)
{
	values[0] = 9000;
	values[1] = 6000;
	spread(2, KEPT, 3910, 210, 3881);
	struct tare_record record = record_of();
	struct tare_row row = row_of(&record);
	struct tare_moments moments = moments_of(false);
	quiet_mean = moments.mean_ns;
	quiet_deviation = moments.deviation_ns;
	quiet_median = (double)row.ranked[0].value_ns;
	OK(is_us(quiet_deviation, 0.21, 0.005), "unloaded: standard deviation 0.21");
	IS_I64(row.stalls, 0, "unloaded: no stall");
}

/* CPU 25 kept busy by others. */
static void check_busy(void)
{
	static const int64_t stalls[] = {1548860, 1322500, 260000, 243000, 241000};
	static const int64_t tail[] = {5230, 5240, 5250, 5270, 5300};
	values[0] = 19960;
	values[1] = 5900;
	spread(2, KEPT, 4160, 210, 3881);
	/* The ten largest give way to the tail and the stalls, scattered. */
	for (size_t j = 0; j < 10; j++) {
		size_t largest = 2;
		for (size_t i = 2; i < COUNT; i++)
			largest = values[i] > values[largest] && values[i] < 5200 ? i : largest;
		values[largest] = j < 5 ? stalls[j] : tail[j - 5];
	}
	struct tare_record record = record_of();
	struct tare_row row = row_of(&record);
	struct tare_moments moments = moments_of(false);
	OK(is_us(moments.mean_ns - quiet_mean, 0.61, 0.005), "mean +0.61");
	OK(is_us((double)row.ranked[0].value_ns - quiet_median, 0.25, 0.005) &&
			is_us((double)row.ranked[0].value_ns, 4.16, 0.005),
		"median only +0.25, to 4.16");
	OK(is_us(moments.deviation_ns, 20.74, 0.01), "standard deviation 20.74");
	IS_I64(row.stalls, 5, "five stalls");
	IS_I64(row.max_ns, 1548860, "slowest 1548.86");
	IS_I64(row.ranked[3].value_ns, 5230, "p99.9 5.23");
	IS_I64(row.first_ns, 19960, "first request 19.96");
	OK(fabs((double)row.first_ns / (double)row.ranked[0].value_ns - 4.8) < 0.01, "4.8 x the median");
	struct tare_stall list[5];
	struct tare_stalls sum;
	struct tare_stall_rules rules = {.limit_ns = row.stall_limit_ns, .gap = 1, .first = 2};
	tare_stalls_of(&record.series, TARE_SPAN_HOST, &rules, &sum, list, 5);
	tare_stalls_compare(list, 5, row.ranked[0].value_ns, row.ranked[3].value_ns);
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < 5; i++) {
		least = fmin(least, list[i].of_p999);
		most = fmax(most, list[i].of_p999);
	}
	OK(sum.samples == 5 && fabs(least - 46) < 0.5 && fabs(most - 296) < 0.5, "%.0f to %.0f x the p99.9", least,
		most);
	OK(row.ranked[3].value_ns < 2 * row.ranked[0].value_ns, "which p99.9, below twice the median, does not see");
}

static void check_onload(void)
{
	values[0] = 284000;
	values[1] = 279000;
	spread(2, KEPT, 2000, 35, 3881);
	values[100] = 1865;
	for (size_t i = 0; i < 20; i++)
		values[200 + i * 400] = 2275 + (int64_t)i;
	struct tare_record record = record_of();
	struct tare_row row = row_of(&record);
	OK(is_us(moments_of(false).deviation_ns, 0.04, 0.005), "Onload: standard deviation 0.04 without the first two");
	OK(is_us(moments_of(true).deviation_ns, 3.98, 0.05), "3.98 with them");
	OK(is_us((double)row.pdv_ns, 0.41, 0.02), "PDV 0.41");
}

int main(void)
{
	check_moved();
	check_quiet();
	check_busy();
	check_onload();
	return tap_done();
}
