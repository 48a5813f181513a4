/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speed of the statistics on one core, beside a plain scan of the same memory
 * and a full sort, for three shapes. `statistics [COUNT]`, 10 million without;
 * the best of three passes each, in time of the thread, so that a busy host
 * disturbs less. Ratios to the scan carry over between hosts, seconds do not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tare/change.h"
#include "tare/dependence.h"
#include "tare/modes.h"
#include "tare/stat.h"

enum { PASSES = 3, SORTED_MOST = 10000000, LIVE = 1000000 };

static int64_t *values;
static int16_t *cpus;
static uint8_t *fates;
static size_t count;
static volatile int64_t sink;

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(int failed)
{
	if (failed) {
		fprintf(stderr, "statistics: out of memory\n");
		exit(1);
	}
}

static uint64_t random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void fill(int shape)
{
	uint64_t state = 88172645463325252u;
	for (size_t i = 0; i < count; i++) {
		uint64_t r = random_bits(&state);
		/* the sum of four 16-bit parts is near enough to a normal distribution, deviation 37837 */
		int64_t bell = (int64_t)((r & 65535) + (r >> 16 & 65535) + (r >> 32 & 65535) + (r >> 48)) - 131070;
		cpus[i] = random_bits(&state) % 5 < 2 ? 25 : 19;
		values[i] = shape == 0   ? (cpus[i] == 25 ? 3900 : 4700) + bell / 400
			    : shape == 1 ? (int64_t)(1000 / ((double)(r >> 11) * 0x1p-53 + 1e-6))
					 : 4000;
		fates[i] = 1;
	}
}

static void scan(void)
{
	int64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	sink = sum;
}

static struct tare_series series_of(void)
{
	struct tare_series series = {.count = count, .fate = fates};
	series.given_ns[TARE_SPAN_RTT] = values;
	series.cpu[TARE_CPU_PEER_RX] = cpus;
	return series;
}

/* What `tare stat` prints by default, |IPDV| with its percentiles among it. */
static void row_and_ipdv(void)
{
	static const struct tare_run run = {.id = 1};
	static const struct tare_target target = {.url = "bench", .kind = "bench"};
	static const struct tare_round round = {.number = 1, .label = "", .warmup = 2};
	struct tare_record record = {
		.run = &run, .target = &target, .round = &round, .series = series_of(), .resolution_ns = 1};
	struct tare_rules rules;
	struct tare_stat *stat = NULL;
	const struct tare_row *rows = NULL;
	size_t row_count = 0;
	tare_rules_default(&rules);
	rules.variation = true;
	must(tare_stat_open(&rules, 0, &stat, NULL));
	must(tare_stat_add(stat, NULL, &record, NULL));
	must(tare_stat_rows(stat, &rows, &row_count, NULL));
	sink = rows[0].ranked[3].value_ns + rows[0].variation.ipdv_p99_ns;
	tare_stat_free(stat);
}

static void deeper(void)
{
	struct tare_series series = series_of();
	struct tare_modes modes = {0};
	struct tare_change change;
	struct tare_change_rules rules = {.resolution_ns = 1};
	struct tare_dependence dependence = {0};
	size_t changes = 0;
	must(tare_modes_of_series(&series, TARE_SPAN_RTT, 2, 1, &modes, NULL));
	must(tare_changes_of(values, count, &rules, &change, 1, &changes, NULL));
	must(tare_dependence_of(values, count, modes.median_ns, &dependence, NULL));
	sink = (int64_t)modes.count + (int64_t)changes + (int64_t)dependence.above;
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

static double sort_seconds(size_t sorted)
{
	int64_t *copy = malloc(sorted * sizeof(*copy));
	must(!copy);
	memcpy(copy, values, sorted * sizeof(*copy));
	double start = now_s();
	qsort(copy, sorted, sizeof(*copy), by_value);
	double took = now_s() - start;
	sink = copy[sorted / 2];
	free(copy);
	return took;
}

static double best_of(void (*work)(void), int passes)
{
	double best = 1e9;
	for (int i = 0; i < passes; i++) {
		double start = now_s();
		work();
		double took = now_s() - start;
		best = took < best ? took : best;
	}
	return best;
}

/* One value at a time, as while recording. */
static double live_ns(void)
{
	struct tare_counts *counts = NULL;
	size_t n = count < LIVE ? count : LIVE;
	must(tare_counts_open(&counts, NULL));
	double start = now_s();
	for (size_t i = 0; i < n; i++)
		must(tare_counts_add(counts, &values[i], 1, NULL));
	double took = now_s() - start;
	tare_counts_free(counts);
	return took / (double)n * 1e9;
}

int main(int argc, char **argv)
{
	static const char *const shapes[] = {"two close modes", "six decades", "all equal"};
	count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000;
	values = malloc(count * sizeof(*values));
	cpus = malloc(count * sizeof(*cpus));
	fates = malloc(count);
	if (count < 3 || !values || !cpus || !fates) {
		fprintf(stderr, "statistics: cannot hold %zu values\n", count);
		return 1;
	}
	printf("%zu values; seconds, ns a value, ratio to the scan\n", count);
	for (int shape = 0; shape < 3; shape++) {
		fill(shape);
		size_t sorted = count < SORTED_MOST ? count : SORTED_MOST;
		double scanned = best_of(scan, PASSES), row = best_of(row_and_ipdv, PASSES), more = best_of(deeper, 1);
		double each = 1e9 / (double)count, sort = sort_seconds(sorted) / (double)sorted * (double)count;
		printf("%-16s scan %.3f (%.2f)  row and IPDV %.3f (%.2f, x %.1f)  modes, change, effective n %.3f "
		       "(%.2f)  "
		       "full sort %.2f%s (%.1f)  live %.1f ns\n",
			shapes[shape], scanned, scanned * each, row, row * each, row / scanned, more, more * each, sort,
			sorted < count ? " scaled up" : "", sort * each, live_ns());
	}
	free(values);
	free(cpus);
	free(fates);
	return 0;
}
