/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals against worked numbers, and against a second way of computing the tails. */
#include "tare/interval.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"

static struct tare_percentile parsed(const char *text)
{
	struct tare_percentile p = {0};
	if (tare_percentile_parse(text, &p, NULL))
		printf("Bail out! percentile %s\n", text);
	return p;
}

static bool near(double got, double want, double relative)
{
	bool close = fabs(got - want) <= relative * fabs(want);
	if (!close)
		printf("# got %.17g, expected %.17g\n", got, want);
	return close;
}

static void check_ranks(const char *text, uint64_t n, uint64_t low, uint64_t high, double coverage)
{
	struct tare_percentile p = parsed(text);
	struct tare_rank_interval got = tare_interval_of_rank(&p, n, 0.95);
	OK(got.low == low && got.high == high, "p%s of %" PRIu64 ": ranks %" PRIu64 " to %" PRIu64, text, n, got.low,
		got.high);
	if (coverage > 0)
		OK(fabs(got.coverage - coverage) < 0.5e-4, "coverage %.4f", got.coverage);
}

/* The smallest n with an upper bound: one-sided, and two-sided with both ranks. */
static void check_exists(const char *text, uint64_t one_sided, uint64_t two_sided)
{
	struct tare_percentile p = parsed(text);
	OK(!tare_rank_upper(&p, one_sided - 1, 0.95) && tare_rank_upper(&p, one_sided, 0.95) == one_sided,
		"p%s is bounded from above from n = %" PRIu64, text, one_sided);
	OK(!tare_interval_of_rank(&p, two_sided - 1, 0.95).high && tare_interval_of_rank(&p, two_sided, 0.95).high,
		"and has a two-sided interval from %" PRIu64, two_sided);
}

static void check_share(uint64_t k, uint64_t n, double low, double high)
{
	struct tare_bounds got = tare_share_interval(k, n, 0.95);
	OK(near(got.low, low, 5e-3) && near(got.high, high, 5e-3), "%" PRIu64 " of %" PRIu64 ": %.3g to %.3g", k, n,
		got.low, got.high);
}

static void check_events(uint64_t k, double low, double high)
{
	struct tare_bounds got = tare_events_interval(k, 0.95);
	OK(near(got.low, low, 5e-3) && near(got.high, high, 5e-3), "%" PRIu64 " events: %.3g to %.3g", k, got.low,
		got.high);
}

/* P(X <= k) by logarithms of factorials: slower and less exact, but another way. */
static double slow_below(uint64_t k, uint64_t n, double p)
{
	double sum = 0;
	for (uint64_t i = 0; i <= k; i++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
			   (double)i * log(p) + (double)(n - i) * log1p(-p));
	return sum;
}

static void check_tails(void)
{
	static const struct {
		uint64_t k, n;
		double p;
	} cases[] = {{0, 1, 0.5}, {3, 10, 0.2}, {2, 70, 0.001}, {9990, 10000, 0.999}, {40, 100000, 0.001},
		{500, 1000, 0.5}, {1, 100000, 1e-7}, {700, 1000, 0.5}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double want = 1 - slow_below(cases[i].k - !!cases[i].k, cases[i].n, cases[i].p);
		double got = tare_at_least_chance(cases[i].k, cases[i].n, cases[i].p);
		OK(fabs(got - (cases[i].k ? want : 1)) < 1e-9, "P(X >= %" PRIu64 ") of %" PRIu64 " at %g is %.6g",
			cases[i].k, cases[i].n, cases[i].p, got);
	}
	/* Bounds put back into the tails give the tails. */
	int wrong = 0;
	for (uint64_t n = 2; n < 3000; n = n * 3 / 2 + 1) {
		for (uint64_t k = 1; k < n; k = k * 2) {
			struct tare_bounds bounds = tare_share_interval(k, n, 0.9);
			wrong += fabs(tare_at_least_chance(k, n, bounds.low) - 0.05) > 1e-9;
			wrong += fabs(1 - tare_at_least_chance(k + 1, n, bounds.high) - 0.05) > 1e-9;
		}
	}
	IS_I64(wrong, 0, "share bounds leave exactly their tails outside");
	struct tare_bounds large = tare_events_interval(1000000000, 0.95);
	OK(near(large.low, 1e9 - 1.959964 * sqrt(1e9) + 1.28, 1e-8) &&
			near(large.high, 1e9 + 1.959964 * sqrt(1e9) + 2.28, 1e-8),
		"10^9 events: %.1f to %.1f", large.low, large.high);
}

int main(void)
{
	check_ranks("50", 10, 2, 9, 0.9785);
	check_ranks("50", 6, 1, 6, 0.9688);
	check_ranks("50", 5, 0, 0, 0);
	check_ranks("99.9", 10000, 9983, 9997, 0.9755);
	check_ranks("99.9", 100000, 99880, 99920, 0);
	check_ranks("99.9", 3000, 2993, 0, 0);
	check_ranks("99.9", 0, 0, 0, 0);
	check_exists("99", 299, 368);
	check_exists("99.9", 2995, 3688);
	check_exists("99.99", 29956, 36887);
	check_exists("99.999", 299572, 368887);

	struct tare_percentile p = parsed("99.9");
	IS_I64(tare_exceedances_allowed(&p, 10000, 0.95), 4, "p99.9 <= T is proved by at most 4 of 10000 above");
	IS_I64(tare_exceedances_allowed(&p, 100000, 0.95), 83, "and by at most 83 of 100000");
	IS_I64(tare_exceedances_allowed(&p, 2994, 0.95), -1, "2994 cannot prove it");
	IS_I64(tare_exceedances_allowed(&p, 2995, 0.95), 0, "2995 without any above can");

	check_share(3, 10000, 6.19e-5, 8.76e-4);
	check_share(1, 2000, 1.27e-5, 2.78e-3);
	OK(near(tare_share_interval(0, 10000, 0.95).high, 2.995e-4, 1e-3), "0 of 10000 lost: at most 2.995e-4");
	OK(tare_share_interval(0, 0, 0.95).high >= 1, "nothing sent, nothing known");
	check_events(3, 0.62, 8.77);
	check_events(7, 2.81, 14.4);
	check_events(12, 6.20, 21.0);
	OK(near(tare_events_interval(0, 0.95).high, 3.69, 1e-3), "0 events: up to 3.69");
	OK(near(tare_no_event_bound(0.95), 3.0, 2e-3), "0 events, one-sided: below 3.00");
	OK(near(tare_events_interval(7, 0.95).low / 70, .040, 2e-2) &&
			near(tare_events_interval(7, 0.95).high / 70, .206, 1e-2),
		"7 in 70 s: .040 to .206 a second");
	OK(near(tare_rates_differ_chance(3, 1, 12, 1), .0352, 2e-3), "3 against 12 in equal time: p = .0352");
	OK(near(tare_at_least_chance(2, 70, 10.0 / 9998), .0023, 2e-2),
		"2 of 70 rounds within the first 10: p = .0023");
	OK(isnan(tare_share_interval(1, 2, 1.0).low), "a level of 1 does not exist");
	check_tails();
	return tap_done();
}
