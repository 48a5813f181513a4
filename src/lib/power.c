/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a plan can see. The power of a t test is that of a normal variable
 * averaged over the chi distribution of the estimated s; the integral runs over
 * u = s_estimated / s_true with Simpson's rule, 400 steps about the bulk, good
 * to 10^-6 from 1 to 10^5 degrees of freedom.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

#include "tare/effect.h"

enum { STEPS = 400, ROUNDS_MOST = 4096 };

/* Density of sqrt(chi^2 / degrees). */
static double density(double u, double degrees)
{
	double half = degrees / 2;
	if (u <= 0)
		return 0;
	return exp(M_LN2 + half * log(half) - lgamma(half) + (degrees - 1) * log(u) - half * u * u);
}

typedef double chance_given(double u, double size, double critical);

static double found_given(double u, double size, double critical)
{
	return gsl_cdf_ugaussian_Q(critical * u - size) + gsl_cdf_ugaussian_P(-critical * u - size);
}

static double same_given(double u, double size, double critical)
{
	double room = size - critical * u;
	return room > 0 ? 2 * gsl_cdf_ugaussian_P(room) - 1 : 0;
}

static double average(chance_given *chance, double size, double critical, double degrees)
{
	double spread = 8 / sqrt(2 * degrees), low = fmax(0, 1 - spread), high = 1 + spread;
	double step = (high - low) / STEPS, sum = 0, weight = 0;
	for (int i = 0; i <= STEPS; i++) {
		double u = low + i * step, share = density(u, degrees) * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
		sum += share * chance(u, size, critical);
		weight += share;
	}
	return weight > 0 ? sum / weight : NAN;
}

double tare_power(double size, double per_s, double degrees, double level)
{
	if (!(degrees > 0) || !(per_s > 0))
		return NAN;
	return average(found_given, fabs(size) / per_s, gsl_cdf_tdist_Pinv(0.5 + level / 2, degrees), degrees);
}

double tare_power_same(double margin, double per_s, double degrees, double level)
{
	if (!(degrees > 0) || !(per_s > 0))
		return NAN;
	return average(same_given, margin / per_s, gsl_cdf_tdist_Pinv(level, degrees), degrees);
}

double tare_detectable(double per_s, double degrees, double level, double power)
{
	/* a millisecond of arithmetic, and every figure of a comparison has the same design */
	static _Thread_local struct { double per_s, degrees, level, power, size; } last;
	if (!(degrees > 0) || !(per_s > 0))
		return INFINITY;
	if (fabs(last.per_s - per_s) < 1e-9 * per_s && fabs(last.degrees - degrees) < 1e-9 &&
		fabs(last.level - level) < 1e-12 && fabs(last.power - power) < 1e-12)
		return last.size;
	double low = 0, high = per_s;
	while (tare_power(high, per_s, degrees, level) < power && high < 1e9)
		high *= 2;
	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;
		if (tare_power(middle, per_s, degrees, level) < power)
			low = middle;
		else
			high = middle;
	}
	last.per_s = per_s;
	last.degrees = degrees;
	last.level = level;
	last.power = power;
	last.size = high;
	return high;
}

/* Square of the correlation of a round's arm with the one before, in Thue and Morse's order. */
static double carry_correlation(uint64_t rounds)
{
	double n = (double)rounds, both = 0, before = 0, arms = 0;
	for (uint64_t i = 0; i < rounds; i++) {
		int arm = tare_order_arm(i, false), last = tare_order_arm(i ? i - 1 : 0, false);
		both += arm & last;
		before += last;
		arms += arm;
	}
	double covariance = both / n - before / n * arms / n;
	return covariance * covariance / (arms / n * (1 - arms / n) * before / n * (1 - before / n));
}

struct tare_design tare_design_of(uint64_t rounds)
{
	/* half the rounds each: variance 4 / n; arm, level, then drift and carry-over cost a degree each */
	double n = (double)rounds;
	struct tare_design design = {2 / sqrt(n), n - (rounds >= 8 ? 3 : 2)};
	if (rounds >= TARE_CARRY_ROUNDS) {
		design.per_s /= sqrt(1 - carry_correlation(rounds));
		design.degrees--;
	}
	return design;
}

typedef double design_power(double size, double per_s, double degrees, double level);

static uint64_t fewest(design_power *power_of, double size, double level, double power)
{
	uint64_t low = 1, high = ROUNDS_MOST / 4;
	struct tare_design most = tare_design_of(high * 4);
	if (!(power_of(size, most.per_s, most.degrees, level) >= power))
		return 0;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		struct tare_design design = tare_design_of(middle * 4);
		if (power_of(size, design.per_s, design.degrees, level) >= power)
			high = middle;
		else
			low = middle + 1;
	}
	return low * 4;
}

uint64_t tare_rounds_to_find(double size, double level, double power)
{
	return fewest(tare_power, size, level, power);
}

uint64_t tare_rounds_to_claim_same(double margin, double level, double power)
{
	return fewest(tare_power_same, margin, level, power);
}
