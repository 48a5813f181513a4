/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints results of libtare, one a line: what, arguments, results, separated by
 * tabs, lists by spaces. oracle.py computes the same with SciPy and compares.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tare/change.h"
#include "tare/interval.h"
#include "tare/modes.h"
#include "tare/rounds.h"
#include "tare/stat.h"
#include "tare/variation.h"

static uint64_t state = 42;

static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)((state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

static void must(int failed)
{
	if (failed)
		exit(1);
}

static void print_intervals(void)
{
	static const char *const percentiles[] = {"50", "90", "99", "99.9", "99.99"};
	static const uint64_t sizes[] = {6, 10, 37, 400, 3000, 10000, 123457, 2000000};
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
		struct tare_percentile p = {0};
		must(tare_percentile_parse(percentiles[i], &p, NULL));
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			struct tare_rank_interval got = tare_interval_of_rank(&p, sizes[j], 0.95);
			printf("ranks\t%" PRIu64 " %" PRIu64 " %" PRIu64 "\t%" PRIu64 " %" PRIu64 " %.17g\n", p.num, p.den,
				sizes[j], got.low, got.high, got.coverage);
			printf("allowed\t%" PRIu64 " %" PRIu64 " %" PRIu64 "\t%" PRId64 "\n", p.num, p.den, sizes[j],
				tare_exceedances_allowed(&p, sizes[j], 0.95));
		}
	}
	for (uint64_t n = 3; n < 3000000; n = n * 7 + 2) {
		for (uint64_t k = 1; k < n; k = k * 5 + 1) {
			struct tare_bounds got = tare_share_interval(k, n, 0.99);
			printf("share\t%" PRIu64 " %" PRIu64 "\t%.17g %.17g\n", k, n, got.low, got.high);
		}
	}
	for (uint64_t k = 1; k < 10000000; k = k * 3 + 1) {
		struct tare_bounds got = tare_events_interval(k, 0.95);
		printf("events\t%" PRIu64 "\t%.17g %.17g\n", k, got.low, got.high);
	}
	for (double freedom = 1; freedom < 100; freedom *= 2)
		printf("limit\t%.17g\t%.17g\n", freedom, tare_repeatability_limit(1, freedom, 0.95));
}

static void print_column(void)
{
	enum { COUNT = 3000 };
	static int64_t values[COUNT];
	struct tare_counts *counts = NULL;
	must(tare_counts_open(&counts, NULL));
	printf("column\t");
	for (size_t i = 0; i < COUNT; i++) {
		values[i] = (int64_t)(1000 / (uniform() + 1e-4));
		printf("%s%" PRId64, i ? " " : "", values[i]);
	}
	must(tare_counts_add(counts, values, COUNT, NULL));
	struct tare_moments moments = tare_moments_of(counts, NULL, 0);
	printf("\t%.17g %.17g", moments.mean_ns, moments.deviation_ns);
	for (uint64_t thousandths = 1; thousandths <= 1000; thousandths++) {
		struct tare_percentile p = {.num = thousandths, .den = 1000};
		printf(" %" PRId64, tare_counts_at(counts, tare_rank(&p, COUNT)));
	}
	printf("\n");
	tare_counts_free(counts);
}

static void print_drift(void)
{
	for (size_t n = 3; n < 60; n += 7) {
		int64_t at_ns[60];
		double values[60];
		struct tare_drift drift;
		printf("drift\t");
		for (size_t i = 0; i < n; i++) {
			at_ns[i] = (int64_t)((double)i * 6e11 + 1e11 * uniform());
			values[i] = 4.7 - 0.01 * (double)i + 0.2 * uniform();
			printf("%s%.17g %.17g", i ? " " : "", (double)at_ns[i] / 3.6e12, values[i]);
		}
		must(tare_drift_of(at_ns, values, n, &drift, NULL));
		printf("\t%.17g %.17g\n", drift.per_hour, drift.chance);
	}
}

static void print_association(void)
{
	for (size_t columns = 2; columns < 6; columns++) {
		uint64_t table[15];
		printf("association\t3 %zu", columns);
		for (size_t i = 0; i < 3 * columns; i++) {
			table[i] = 1 + (uint64_t)(1000 * uniform());
			printf(" %" PRIu64, table[i]);
		}
		printf("\t%.17g\n", tare_association(table, 3, columns));
	}
}

int main(void)
{
	print_intervals();
	print_column();
	print_drift();
	print_association();
	return 0;
}
