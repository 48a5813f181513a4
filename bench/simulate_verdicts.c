/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulated rounds through the library's own verdicts and limits. The unit is
 * s_r, the deviation between identical rounds; a true effect shifts the interval
 * without changing its width, so each simulated comparison answers for all sizes
 * of effect at once.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tare/calibration.h"
#include "tare/verdict.h"

/* s_r in ns, and the level: large against both 1 ns and each other, so that neither rounding nor logarithms matter. */
#define S 1e5
#define LEVEL 1e8
enum { ROUNDS_MOST = 64 };

static uint64_t state;
static long repetitions;
static int missed;

static uint64_t next(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static double uniform(void)
{
	return ((double)(next() >> 11) + 0.5) / 0x1p53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* ---- noise, in s_r; labels are CPUs ---- */

enum noise { IID, HEAVY, LINEAR, SETTLING, AUTOREGRESSIVE, WALK, MODES, STICKY, NOISES };
static const char *const noise_names[NOISES] = {"iid", "heavy tail t3", "linear drift .5/round", "settling 6 exp(-t/3)",
	"AR(1) .6", "random walk", "mode switch 15 %, +8", "sticky mode, +8"};

static void make_noise(enum noise noise, size_t n, double *values, int *labels)
{
	double walk = normal();
	int label = uniform() < 0.7 ? 0 : 1;
	if (noise == WALK)
		walk = 0;
	for (size_t i = 0; i < n; i++) {
		double g = normal();
		labels[i] = 0;
		values[i] = g;
		if (noise == HEAVY) {
			double a = normal(), b = normal(), c = normal();
			values[i] = g / sqrt((a * a + b * b + c * c) / 3) / sqrt(3);
		} else if (noise == LINEAR) {
			values[i] += 0.5 * (double)i;
		} else if (noise == SETTLING) {
			values[i] += 6 * exp(-(double)i / 3);
		} else if (noise == AUTOREGRESSIVE) {
			values[i] = walk;
			walk = 0.6 * walk + 0.8 * g;
		} else if (noise == WALK) {
			walk += 0.7 * normal();
			values[i] += walk;
		} else if (noise == MODES) {
			labels[i] = uniform() < 0.15;
		} else if (noise == STICKY) {
			label ^= uniform() < 0.12;
			labels[i] = label;
		}
		values[i] += 8 * labels[i];
	}
}

/* ---- trials ---- */

static struct tare_row rows[ROUNDS_MOST];
static struct tare_trial trials[ROUNDS_MOST];
static const struct tare_figure least = {.kind = TARE_FIGURE_MIN, .span = TARE_SPAN_RTT, .name = "min"};

static void make_trials(size_t n, const double *values, const int *labels)
{
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct tare_row){.span = TARE_SPAN_RTT, .n = 10000, .min_ns = (int64_t)(LEVEL + S * values[i])};
		trials[i] = (struct tare_trial){.at_ns = (int64_t)(i + 1) * 1000000, .rows = &rows[i], .row_count = 1,
			.slow_share = NAN, .run = 1, .round = (uint32_t)i + 1, .host = "h"};
		if (labels) {
			trials[i].cpus = 1;
			trials[i].on[0].cpu = (int16_t)labels[i];
			trials[i].on[0].share = 1;
		}
	}
}

static void set_arms(size_t n, bool complement)
{
	for (size_t i = 0; i < n; i++)
		trials[i].arm = (unsigned char)tare_order_arm(i, complement);
}

static struct tare_verdict judge(size_t n, const struct tare_verdict_rules *rules)
{
	struct tare_verdict verdict;
	struct tare_err err = {0};
	if (tare_verdict_of(trials, n, &least, rules, &verdict, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(5);
	}
	return verdict;
}

/* ---- bars ---- */

static double sampling(double share)
{
	return 3 * sqrt(share * (1 - share) / (double)repetitions);
}

static void must(bool holds, const char *what, double got, double bar)
{
	if (holds)
		return;
	missed++;
	printf("MISSED: %s: %.2f %%, bar %.2f %%\n", what, 100 * got, 100 * bar);
}

static void at_most(const char *what, double got, double bar)
{
	must(got <= bar + sampling(bar), what, got, bar);
}

static void at_least(const char *what, double got, double bar)
{
	must(got >= bar - sampling(bar), what, got, bar);
}

/* ---- scenarios ---- */

enum { SIZES = 5 };
static const double sizes[SIZES] = {0, 1, 2, 3, 5};

struct found { double share[SIZES]; double invalid; };

static void count_found(const struct tare_verdict *verdict, struct found *found)
{
	if (verdict->kind == TARE_VERDICT_INVALID) {
		found->invalid += 1 / (double)repetitions;
		return;
	}
	for (int k = 0; k < SIZES; k++) {
		double shift = sizes[k] * S;
		if (verdict->low + shift > 0 || verdict->high + shift < 0)
			found->share[k] += 1 / (double)repetitions;
	}
}

static void print_found(const char *what, size_t n, const struct found *found)
{
	printf("%-42s %2zu rounds  ", what, n);
	for (int k = 0; k < SIZES; k++)
		printf("%6.1f", 100 * found->share[k]);
	if (found->invalid > 0)
		printf("   invalid (F gate) %.1f", 100 * found->invalid);
	printf("\n");
}

static void scenario(enum noise noise, size_t n, bool with_labels)
{
	struct tare_verdict_rules rules = {.level = 0.95};
	struct found found = {{0}, 0};
	double values[ROUNDS_MOST];
	int labels[ROUNDS_MOST];
	char what[80];
	for (long i = 0; i < repetitions; i++) {
		make_noise(noise, n, values, labels);
		make_trials(n, values, with_labels ? labels : NULL);
		set_arms(n, next() & 1);
		struct tare_verdict verdict = judge(n, &rules);
		count_found(&verdict, &found);
	}
	snprintf(what, sizeof what, "%s%s", noise_names[noise], with_labels ? ", CPU known" : "");
	print_found(what, n, &found);
	if (n >= 8)
		at_most(what, found.share[0], 0.05);
	if (noise == IID && n == 8)
		at_least("power at 2 s_r, 8 rounds", found.share[2], 0.58);
	if (noise == IID && n == 12)
		at_least("power at 2 s_r, 12 rounds", found.share[2], 0.84);
}

static void calibrated_scenario(enum noise noise, size_t m, size_t n)
{
	struct found found = {{0}, 0};
	double values[ROUNDS_MOST];
	int labels[ROUNDS_MOST];
	char what[80];
	for (long i = 0; i < repetitions; i++) {
		make_noise(noise, m + n, values, labels);
		for (size_t j = 0; j < m; j++)
			values[j] *= S;
		struct tare_spread spread = tare_spread_successive(values, m);
		struct tare_verdict_rules rules = {.level = 0.95, .calibrated = &spread};
		make_trials(n, values + m, NULL);
		set_arms(n, next() & 1);
		struct tare_verdict verdict = judge(n, &rules);
		count_found(&verdict, &found);
	}
	snprintf(what, sizeof what, "%s, calibrated with %zu", noise_names[noise], m);
	print_found(what, n, &found);
	at_most(what, found.share[0], 0.05);
}

static void unordered(size_t each)
{
	struct tare_verdict_rules rules = {.level = 0.95};
	struct found found = {{0}, 0};
	double values[ROUNDS_MOST];
	int labels[ROUNDS_MOST];
	for (long i = 0; i < repetitions; i++) {
		make_noise(IID, 2 * each, values, labels);
		make_trials(2 * each, values, NULL);
		for (size_t j = 0; j < 2 * each; j++) {
			trials[j].arm = j >= each;
			trials[j].at_ns = TARE_NO_TIME;
		}
		struct tare_verdict verdict = judge(2 * each, &rules);
		count_found(&verdict, &found);
	}
	print_found("iid, no order (Mann-Whitney)", 2 * each, &found);
	at_most("unordered", found.share[0], 0.05);
}

/* Claims of "no effect within the margin" when there is none, and when there is one of just the margin. */
static void equivalence(size_t n, double margin)
{
	double none = 0, edge = 0, values[ROUNDS_MOST];
	int labels[ROUNDS_MOST];
	char what[80];
	struct tare_verdict_rules rules = {.level = 0.95, .margin_ns = (int64_t)(margin * S)};
	for (long i = 0; i < repetitions; i++) {
		make_noise(IID, n, values, labels);
		make_trials(n, values, NULL);
		set_arms(n, next() & 1);
		struct tare_verdict verdict = judge(n, &rules);
		double room = margin * S;
		none += verdict.low90 > -room && verdict.high90 < room;
		edge += verdict.low90 > -2 * room && verdict.high90 < 0;
	}
	none /= (double)repetitions;
	edge /= (double)repetitions;
	snprintf(what, sizeof what, "no effect within %.1f s_r", margin);
	printf("%-42s %2zu rounds    claimed when equal %5.1f, when at the margin %4.1f\n", what, n, 100 * none, 100 * edge);
	at_most(what, edge, 0.05);
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double beyond(const struct tare_alarm *alarm, double shift)
{
	double low = (alarm->low_ns - LEVEL) / S - shift, high = (alarm->high_ns - LEVEL) / S - shift;
	return (erfc(-low / M_SQRT2) + erfc(high / M_SQRT2)) / 2;
}

static void alarms(size_t m, double chance)
{
	double values[ROUNDS_MOST], sum = 0, found = 0, squares = 0;
	double *each = calloc((size_t)repetitions, sizeof *each);
	int labels[ROUNDS_MOST];
	struct tare_err err = {0};
	if (!each)
		exit(5);
	for (long i = 0; i < repetitions; i++) {
		struct tare_calibration calibration;
		make_noise(IID, m, values, labels);
		make_trials(m, values, NULL);
		if (tare_calibration_of(trials, m, &least, &calibration, &err) < 0)
			exit(5);
		struct tare_alarm alarm = tare_alarm_of(&calibration, chance, 1);
		each[i] = beyond(&alarm, 0);
		sum += each[i] / (double)repetitions;
		squares += each[i] * each[i] / (double)repetitions;
		found += beyond(&alarm, 4) / (double)repetitions;
	}
	double error = 3 * sqrt(fmax(squares - sum * sum, 0) / (double)repetitions);
	qsort(each, (size_t)repetitions, sizeof *each, by_value);
	printf("%2zu rounds, %.3f %% asked: %7.3f %% false alarms (1 calibration in 10 above %.3f), +4 s_r seen in %5.1f %%;"
	       "  doubled retest rule %7.3f %%, %5.1f %%\n",
		m, 100 * chance, 100 * sum, 100 * each[repetitions * 9 / 10], 100 * found, 100 * tare_doubled_rule_chance(m),
		100 * tare_doubled_rule_power(m, 4));
	if (m >= 10) {
		must(sum - error <= 1.3 * chance, "alarm rate above 1.3 x the stated one", sum, chance);
		must(sum + error >= chance / 1.3, "alarm rate below the stated one / 1.3", sum, chance);
	}
	free(each);
}

int main(int argc, char **argv)
{
	static const size_t rounds[] = {4, 8, 12, 24};
	repetitions = argc > 1 ? strtol(argv[1], NULL, 10) : 5000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20260726;
	if (repetitions < 100 || repetitions > 1000000)
		return fprintf(stderr, "usage: verdicts [REPETITIONS [SEED]]\n"), 2;
	state = seed;
	printf("%ld repetitions, seed %llu; per cent of comparisons called an effect when it truly is\n", repetitions,
		(unsigned long long)seed);
	printf("%-42s %9s     0     1     2     3     5 s_r\n", "", "");
	for (enum noise noise = 0; noise < NOISES; noise++)
		for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
			scenario(noise, rounds[i], false);
			if (noise >= MODES)
				scenario(noise, rounds[i], true);
		}
	printf("\n");
	static const enum noise calibrated[] = {IID, HEAVY, LINEAR, AUTOREGRESSIVE};
	for (size_t i = 0; i < 4; i++) {
		calibrated_scenario(calibrated[i], 10, 4);
		calibrated_scenario(calibrated[i], 10, 8);
		calibrated_scenario(calibrated[i], 20, 4);
	}
	unordered(4);
	unordered(6);
	printf("\n");
	for (size_t n = 8; n <= 24; n += n < 16 ? 4 : 8)
		for (double margin = 1; margin < 3.1; margin += margin < 2 ? 0.5 : 1)
			equivalence(n, margin);
	printf("\nalarm limits, averaged over calibrations\n");
	static const size_t calibrations[] = {2, 3, 5, 10, 20, 30};
	for (size_t i = 0; i < sizeof calibrations / sizeof *calibrations; i++) {
		alarms(calibrations[i], 0.01);
		alarms(calibrations[i], 1.0 / 720);
	}
	printf("\n%s\n", missed ? "bars were missed" : "all bars are held");
	return missed ? 1 : 0;
}
