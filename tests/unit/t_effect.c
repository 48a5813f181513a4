/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Worked numbers of comparing rounds: orders, spreads, effects, exact tests, what a plan can see. */
#include <math.h>

#include "tap.h"
#include "tare/effect.h"

static void is_near(double got, double want, double within, const char *name)
{
	if (!OK(fabs(got - want) <= within, "%s", name))
		printf("#      got %.9g\n# expected %.9g\n", got, want);
}

static void arms_of(const char *order, unsigned char *arms)
{
	for (size_t i = 0; order[i]; i++)
		arms[i] = order[i] == 'B';
}

static void test_order(void)
{
	char order[17] = "";
	for (unsigned i = 0; i < 16; i++)
		order[i] = tare_order_arm(i, false) ? 'B' : 'A';
	IS_STR(order, "ABBABAABBAABABBA", "Thue and Morse");
	OK(tare_order_arm(0, true) == 1 && tare_order_arm(1, true) == 0, "the complement begins with B");
	/* bias of B - A under drift t^2 and t^3 */
	double quadratic = 0, cubic8 = 0, cubic16 = 0;
	for (int i = 0; i < 16; i++) {
		double sign = tare_order_arm((uint64_t)i, false) ? 1 : -1;
		quadratic += i < 8 ? sign * i * i / 4 : 0;
		cubic8 += i < 8 ? sign * i * i * i / 4 : 0;
		cubic16 += sign * i * i * i / 8;
	}
	is_near(quadratic, 0, 0, "eight rounds cancel a quadratic drift");
	is_near(cubic8, 12, 0, "and leave 12 of a cubic one");
	is_near(cubic16, 0, 0, "which sixteen cancel");
	unsigned char arms[8];
	arms_of("ABBABAAB", arms);
	OK(tare_order_interleaved(arms, 8), "ABBABAAB is interleaved");
	arms_of("AAAABBBB", arms);
	OK(!tare_order_interleaved(arms, 8), "all A, then all B is not");
	arms_of("ABAB", arms);
	OK(tare_order_interleaved(arms, 4), "ABAB is");
	arms_of("ABBB", arms);
	OK(!tare_order_interleaved(arms, 4), "one A is not enough");
}

static void test_spread(void)
{
	const double drifting[] = {4.70, 4.69, 4.66, 4.64, 4.61};
	const unsigned char same[5] = {0};
	is_near(tare_spread_within(drifting, same, 5).s, .0367, .00005, "plain deviation holds the drift");
	struct tare_spread s = tare_spread_successive(drifting, 5);
	is_near(s.s, .0170, .00005, "successive differences do not");
	is_near(s.degrees, 2, 0, "2 (m - 1) / 3 degrees, rounded down");
	OK(isnan(tare_spread_successive(drifting, 1).s), "one round has no spread");
	struct tare_spread calibrated = {.02, 9}, larger = {.05, 6}, alike = {.03, 6};
	OK(tare_spread_exceeds(&larger, &calibrated), "F gate: 6.25 is above F.99(6, 9) = 5.80");
	OK(!tare_spread_exceeds(&alike, &calibrated), "F gate: 2.25 is below");
}

static void test_abba(void)
{
	const double values[] = {4.70, 4.31, 4.29, 4.66};
	unsigned char arms[4];
	arms_of("ABBA", arms);
	struct tare_rounds rounds = {.n = 4, .values = values, .arms = arms};
	struct tare_effect effect;
	OK(tare_effect_of(&rounds, false, &effect, NULL) == 0, "ABBA");
	is_near(effect.effect, -.380, 1e-9, "effect");
	is_near(effect.s, .02236, .000005, "s_r");
	is_near(effect.degrees, 2, 0, "degrees");
	is_near(effect.effect / (effect.s * effect.per_s), -16.99, .005, "t");
	is_near(tare_effect_interval(&effect, .95).low, -.476, .0005, "interval, low");
	is_near(tare_effect_interval(&effect, .95).high, -.284, .0005, "interval, high");
	is_near(tare_retest_largest(values, arms, 4), .04, 1e-9, "largest retest difference");
	struct tare_spread calibrated = {.020, 9};
	tare_effect_pool(&effect, &calibrated);
	is_near(effect.s, .02045, .000005, "pooled s_r");
	is_near(effect.degrees, 11, 0, "pooled degrees");
	is_near(tare_effect_interval(&effect, .95).low, -.425, .0005, "pooled interval, low");
	is_near(tare_effect_interval(&effect, .95).high, -.335, .0005, "pooled interval, high");
}

static void test_eight(void)
{
	const double values[] = {4.70, 4.31, 4.30, 4.67, 4.28, 4.66, 4.64, 4.27};
	unsigned char arms[8];
	arms_of("ABBABAAB", arms);
	struct tare_rounds rounds = {.n = 8, .values = values, .arms = arms};
	struct tare_effect effect;
	OK(tare_effect_of(&rounds, false, &effect, NULL) == 0, "ABBABAAB");
	is_near(effect.effect, -.3775, 1e-9, "effect");
	is_near(tare_effect_interval(&effect, .95).low, -.4154, .00005, "interval, low");
	is_near(tare_effect_interval(&effect, .95).high, -.3396, .00005, "interval, high");
	OK(tare_effect_of(&rounds, true, &effect, NULL) == 0, "with drift");
	is_near(effect.drift, -.00798, .000005, "drift a round");
	is_near(tare_effect_interval(&effect, .95).low, -.3891, .00005, "with drift: low");
	is_near(tare_effect_interval(&effect, .95).high, -.3659, .00005, "with drift: high");
	is_near(effect.degrees, 5, 0, "with drift: 5 degrees");
	/* the unit of time does not matter */
	double hours[8];
	for (int i = 0; i < 8; i++)
		hours[i] = 1e6 + i * 12e9;
	rounds.at = hours;
	OK(tare_effect_of(&rounds, true, &effect, NULL) == 0, "in ns");
	is_near(effect.drift * 12e9, -.00798, .000005, "drift in ns");
	is_near(tare_effect_interval(&effect, .95).low, -.3891, .00005, "the same interval");
}

static void test_label(void)
{
	/* rounds 2 and 5 ran on another CPU, 8 slower; the effect is 1 */
	const double values[] = {10.0, 11.01, 18.99, 10.01, 11.0, 18.0, 9.99, 11.0};
	const double moved[] = {0, 0, 1, 0, 0, 1, 0, 0};
	const double *covariates[] = {moved};
	unsigned char arms[8];
	arms_of("ABBABAAB", arms);
	struct tare_rounds rounds = {.n = 8, .values = values, .arms = arms};
	struct tare_effect effect;
	OK(tare_effect_of(&rounds, true, &effect, NULL) == 0 && effect.s > 3, "without the label: blind");
	rounds.covariates = covariates;
	rounds.covariate_count = 1;
	OK(tare_effect_of(&rounds, true, &effect, NULL) == 0, "with the label");
	is_near(effect.effect, 1, .02, "the effect within a CPU");
	is_near(effect.degrees, 4, 0, "the label costs a degree");
	const double arm[] = {0, 1, 1, 0, 1, 0, 0, 1}, constant[] = {3, 3, 3, 3, 3, 3, 3, 3};
	const double *confounded[] = {arm}, *useless[] = {constant, moved, moved};
	rounds.covariates = confounded;
	OK(tare_effect_of(&rounds, true, &effect, NULL) == 0 && effect.confounded && isnan(effect.effect),
		"a label that goes with the arm leaves nothing to tell");
	rounds.covariates = useless;
	rounds.covariate_count = 3;
	OK(tare_effect_of(&rounds, true, &effect, NULL) == 0, "redundant labels");
	is_near(effect.degrees, 4, 0, "cost nothing more");
	is_near(effect.effect, 1, .02, "and change nothing");
	const unsigned char only[8] = {0};
	struct tare_err err = {0};
	rounds.arms = only;
	OK(tare_effect_of(&rounds, true, &effect, &err) < 0, "one arm only is refused: %s", err.text);
}

static void test_same(void)
{
	const double values[] = {4.70, 4.69, 4.71, 4.68, 4.70, 4.69, 4.70, 4.71};
	unsigned char arms[8];
	arms_of("ABBABAAB", arms);
	struct tare_rounds rounds = {.n = 8, .values = values, .arms = arms};
	struct tare_effect effect;
	OK(tare_effect_of(&rounds, false, &effect, NULL) == 0, "equal arms");
	is_near(effect.effect, .01, 1e-9, "effect");
	struct tare_span_of_effect inner = tare_effect_interval(&effect, .90);
	OK(inner.high < .03 && inner.low > -.03, "inside 0.03: %.4f to %.4f", inner.low, inner.high);
	OK(inner.high > .02, "not inside 0.02");
	is_near(tare_effect_chance(&effect), .1901, .0005, "two-sided chance");
}

static void test_exact(void)
{
	const double blocks[] = {-.40, -.36, -.39, -.41, -.35, -.38};
	is_near(tare_sign_flip_chance(blocks, 6), .03125, 0, "sign flip, six blocks");
	is_near(tare_sign_flip_chance(blocks, 5), .0625, 0, "five blocks cannot reach 5 %");
	OK(isnan(tare_sign_flip_chance(blocks, 0)), "no block, no chance");
	const double values[] = {4.70, 4.31, 4.29, 4.66, 1, 1, 2, 2, 9};
	const unsigned char arms[] = {0, 1, 1, 0, 1, 0, 1, 0, 1};
	double contrasts[2];
	IS_I64(tare_block_contrasts(values, arms, 9, contrasts), 2, "two whole blocks");
	is_near(contrasts[0], -.38, 1e-9, "contrast of a block");

	const double a[] = {4.70, 4.66, 4.68, 4.71}, b[] = {4.61, 4.58, 4.60, 4.63};
	struct tare_shift shift;
	OK(tare_shift_of(a, 4, b, 4, .95, &shift, NULL) == 0, "4 + 4 rounds");
	is_near(shift.shift, -.08, 1e-9, "Hodges and Lehmann");
	is_near(shift.chance, .0286, .00005, "Mann and Whitney");
	is_near(shift.least_chance, .0286, .00005, "no smaller chance exists");
	is_near(shift.low, -.13, 1e-9, "the interval is the whole range: low");
	is_near(shift.high, -.03, 1e-9, "high");
	OK(tare_shift_of(a, 3, b, 3, .95, &shift, NULL) == 0 && isinf(shift.low) && isinf(shift.high),
		"3 + 3 have no 95 %% interval");
	is_near(shift.least_chance, .1, 1e-12, "3 + 3 cannot go below .10");
	OK(tare_shift_of(a, 3, b, 3, .90, &shift, NULL) == 0 && !isinf(shift.low), "but one of 90 %%");
	const double tied[] = {1, 1, 1, 1};
	OK(tare_shift_of(tied, 4, tied, 4, .95, &shift, NULL) == 0 && shift.shift == 0 && shift.chance == 1,
		"all equal: no shift, chance 1");
	/* of the 252 ways to choose five of these ten, 36 have a rank sum as far from the middle */
	const double c[] = {1, 2, 2, 3, 5}, d[] = {2, 4, 4, 6, 7};
	OK(tare_shift_of(c, 5, d, 5, .95, &shift, NULL) == 0, "ties");
	is_near(shift.chance, 36.0 / 252, 1e-12, "ties counted exactly");
	double large_a[40], large_b[40];
	for (int i = 0; i < 40; i++) {
		large_a[i] = i;
		large_b[i] = i + 12.5;
	}
	OK(tare_shift_of(large_a, 40, large_b, 40, .95, &shift, NULL) == 0, "80 rounds");
	is_near(shift.shift, 12.5, 1e-9, "shift of many");
	OK(shift.low < 12.5 && shift.low > 6 && shift.high > 12.5 && shift.high < 19 && shift.chance < .001,
		"interval of many: %.1f to %.1f", shift.low, shift.high);
}

static void test_counts(void)
{
	struct tare_ratio ratio = tare_rates_ratio(3, 1, 12, 1, .95);
	is_near(ratio.ratio, 4, 1e-9, "12 against 3");
	OK(ratio.low > 1 && ratio.low < 1.2 && ratio.high > 20, "interval %.2f to %.1f excludes 1 (p = .035)", ratio.low,
		ratio.high);
	OK(isnan(tare_rates_ratio(0, 1, 0, 1, .95).ratio), "no event, no ratio");
	OK(isinf(tare_rates_ratio(0, 1, 5, 1, .95).ratio), "from none to five");
	is_near(tare_shares_differ_chance(3, 10, 3, 10), 1, 0, "equal shares");
	/* hypergeometric: P(0 of 5 hits in 10 of 20) = 252 / 15504 */
	is_near(tare_shares_differ_chance(0, 10, 5, 10), 2 * 252.0 / 15504, 1e-9, "Fisher, 0 against 5 of 10");
	is_near(tare_shares_differ_chance(0, 1000000, 0, 1000000), 1, 0, "none lost");
	const double even[] = {5, 4, 6, 5}, burst[] = {20, 0, 0, 0}, exposures[] = {1, 1, 1, 1};
	OK(tare_dispersion_chance(even, exposures, 4) > .5, "even counts");
	OK(tare_dispersion_chance(burst, exposures, 4) < 1e-6, "all in one round: no Poisson process");
}

static void test_several(void)
{
	const double p[] = {.001, .012, .03, .04, .2}, holm[] = {.005, .048, .09, .09, .2};
	const double discovery[] = {.005, .03, .05, .05, .2}, shuffled[] = {.2, .03, NAN, .001, .04, .012};
	double got[6];
	tare_holm(p, 5, got);
	for (int i = 0; i < 5; i++)
		is_near(got[i], holm[i], 1e-12, "Holm");
	tare_false_discovery(p, 5, got);
	for (int i = 0; i < 5; i++)
		is_near(got[i], discovery[i], 1e-12, "Benjamini and Hochberg");
	tare_holm(shuffled, 6, got);
	OK(isnan(got[2]) && fabs(got[3] - .005) < 1e-12 && fabs(got[0] - .2) < 1e-12,
		"in any order, missing ones not counted");
}

static void test_plan(void)
{
	static const struct { double rounds, half, mde80, mde90; } table[] = {
		{4, 4.30, 5.65, 6.80}, {6, 2.27, 3.07, 3.59}, {8, 1.73, 2.38, 2.77}, {12, 1.29, 1.80, 2.08},
		{16, 1.07, 1.51, 1.74}, {24, .85, 1.20, 1.39}, {32, .72, 1.02, 1.18}, {48, .58, .83, .96}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double per_s = 2 / sqrt(table[i].rounds), degrees = table[i].rounds - 2;
		struct tare_effect effect = {.effect = 0, .s = 1, .per_s = per_s, .degrees = degrees};
		char name[64];
		snprintf(name, sizeof name, "%.0f rounds: half width", table[i].rounds);
		is_near(tare_effect_interval(&effect, .95).high, table[i].half, .006, name);
		snprintf(name, sizeof name, "%.0f rounds: found in 80 %%", table[i].rounds);
		is_near(tare_detectable(per_s, degrees, .95, .80), table[i].mde80, .006, name);
		snprintf(name, sizeof name, "%.0f rounds: found in 90 %%", table[i].rounds);
		is_near(tare_detectable(per_s, degrees, .95, .90), table[i].mde90, .006, name);
	}
	struct tare_design eight = tare_design_of(8);
	is_near(eight.degrees, 5, 0, "eight rounds: drift term costs a degree");
	is_near(tare_power(2, eight.per_s, eight.degrees, .95), .62, .02, "eight rounds find 2 s_r in 62 %");
	is_near(tare_power_same(2, eight.per_s, eight.degrees, .95), .58, .02, "and claim none within 2 s_r in 58 %");
	is_near(tare_power_same(3, eight.per_s, eight.degrees, .95), .95, .01, "within 3 s_r in 95 %");
	IS_I64(tare_rounds_to_find(2, .95, .80), 12, "2 s_r need 12 rounds");
	IS_I64(tare_rounds_to_find(5.66, .95, .80), 4, "5.66 s_r need 4");
	OK(tare_rounds_to_claim_same(2, .95, .80) == 12, "none within 2 s_r: 12 rounds");
	uint64_t one = tare_rounds_to_claim_same(1, .95, .80);
	OK(one >= 32 && one <= 40, "none within 1 s_r: about 36 rounds (%d)", (int)one);
	IS_I64(tare_rounds_to_find(0.001, .95, .80), 0, "beyond any plan");
	/* X % with a scatter of c %: 15.7 (c / X)^2 rounds a side, and what the terms for drift and carry-over cost */
	is_near(tare_power(1, 2 / sqrt(32), 30, .95), .79, .01, "c = X: 16 rounds a side find it in 80 %");
	IS_I64(tare_rounds_to_find(1, .95, .80), 40, "with both terms 20");
	struct tare_design twelve = tare_design_of(12), sixteen = tare_design_of(16);
	OK(twelve.degrees == 9 && sixteen.degrees == 12, "the carry-over term costs a degree from sixteen rounds on");
	is_near(sixteen.per_s, .5 / sqrt(1 - .25 * .25), 1e-9, "and arm and predecessor agree by -1/4");
}

int main(void)
{
	test_order();
	test_spread();
	test_abba();
	test_eight();
	test_label();
	test_same();
	test_exact();
	test_counts();
	test_several();
	test_plan();
	return tap_done();
}
