/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spreads by level, limits from them, and the simple rule of old for comparison. */
#include "tare/calibration.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Limits beyond this many times the usual value are no alarm. */
#define ALARM_MOST 10

/* ---- levels ---- */

static bool same_sitting(const struct tare_trial *one, const struct tare_trial *other)
{
	return one->run == other->run && strcmp(one->host ? one->host : "", other->host ? other->host : "") == 0 &&
	       strcmp(one->file ? one->file : "", other->file ? other->file : "") == 0;
}


static void add_spread(struct tare_spread *into, const struct tare_spread *from)
{
	if (!(from->degrees > 0))
		return;
	double squares = (into->degrees > 0 ? into->degrees * into->s * into->s : 0) + from->degrees * from->s * from->s;
	into->degrees += from->degrees;
	into->s = sqrt(squares / into->degrees);
}

/* Variance between group means less what the rounds within them explain, never below 0. */
static struct tare_spread level_of(const double *means, size_t groups, double rounds_each, const struct tare_spread *inner)
{
	double mean = 0, squares = 0;
	if (groups < 2 || !(inner->degrees > 0))
		return (struct tare_spread){NAN, 0};
	for (size_t i = 0; i < groups; i++)
		mean += means[i] / (double)groups;
	for (size_t i = 0; i < groups; i++)
		squares += (means[i] - mean) * (means[i] - mean);
	double between = squares / (double)(groups - 1) - inner->s * inner->s / rounds_each;
	return (struct tare_spread){sqrt(inner->s * inner->s + fmax(between, 0)), (double)(groups - 1)};
}

static double mean_of(const double *values, size_t n)
{
	double mean = 0;
	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	return mean;
}

/* Sittings one after the other; ret_means has room for `count`. */
static size_t pool_sittings(const struct tare_trial *trials, size_t count, const double *logs, const double *ns,
	struct tare_calibration *calibration, double *ret_means)
{
	size_t groups = 0;
	for (size_t from = 0; from < count;) {
		size_t to = from + 1;
		while (to < count && same_sitting(&trials[from], &trials[to]))
			to++;
		struct tare_spread share = tare_spread_successive(logs + from, to - from);
		struct tare_spread in_ns = tare_spread_successive(ns + from, to - from);
		add_spread(&calibration->sitting, &share);
		add_spread(&calibration->sitting_ns, &in_ns);
		for (size_t i = from + 1; i < to; i++)
			calibration->retest = fmax(calibration->retest, fabs(logs[i] - logs[i - 1]));
		ret_means[groups++] = mean_of(logs + from, to - from);
		from = to;
	}
	return groups;
}

static size_t pool_hosts(const struct tare_trial *trials, size_t count, const double *logs, double *ret_means)
{
	size_t groups = 0;
	for (size_t i = 0; i < count; i++) {
		size_t earlier = 0;
		while (earlier < i && strcmp(trials[earlier].host ? trials[earlier].host : "",
					      trials[i].host ? trials[i].host : "") != 0)
			earlier++;
		if (earlier < i)
			continue;
		double sum = 0, n = 0;
		for (size_t j = i; j < count; j++)
			if (strcmp(trials[j].host ? trials[j].host : "", trials[i].host ? trials[i].host : "") == 0) {
				sum += logs[j];
				n++;
			}
		ret_means[groups++] = sum / n;
	}
	return groups;
}

int tare_calibration_of(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
	struct tare_calibration *ret_calibration, struct tare_err *err)
{
	struct tare_calibration calibration = {.figure = *figure, .rounds = count};
	AUTO_FREE double *room = calloc(count ? count : 1, 3 * sizeof *room + 1);
	AUTO_FREE unsigned char *arms = calloc(count ? count : 1, 1);
	if (!room || !arms)
		return tare_fail_errno(err, ENOMEM, "cannot calibrate");
	double *ns = room, *logs = room + count, *means = room + 2 * count;
	for (size_t i = 0; i < count; i++) {
		ns[i] = tare_trial_figure(&trials[i], figure);
		if (!(ns[i] > 0))
			return tare_fail(err, TARE_E_INVALID, "%s cannot be told in round %u", figure->name, trials[i].round);
		logs[i] = log(ns[i]);
	}
	if (count < 2)
		return tare_fail(err, TARE_E_INVALID, "%zu round%s: a spread needs two, a calibration %d", count,
			count == 1 ? "" : "s", TARE_CALIBRATION_ROUNDS);
	calibration.sittings = pool_sittings(trials, count, logs, ns, &calibration, means);
	calibration.day = level_of(means, calibration.sittings, (double)count / (double)calibration.sittings,
		&calibration.sitting);
	calibration.hosts = pool_hosts(trials, count, logs, means);
	const struct tare_spread *inner = calibration.day.degrees > 0 ? &calibration.day : &calibration.sitting;
	calibration.host = level_of(means, calibration.hosts, (double)count / (double)calibration.hosts, inner);
	calibration.all = tare_spread_within(logs, arms, count);
	calibration.centre_ns = exp(mean_of(logs, count));
	*ret_calibration = calibration;
	return 0;
}

/* ---- limits ---- */

bool tare_alarm_usable(const struct tare_calibration *calibration, const struct tare_alarm *alarm)
{
	return isfinite(alarm->high_ns) && alarm->high_ns <= ALARM_MOST * calibration->centre_ns;
}

double tare_alarm_factor(uint64_t rounds, double chance)
{
	if (rounds < 2 || !(chance > 0) || !(chance < 1))
		return NAN;
	double m = (double)rounds;
	return gsl_cdf_tdist_Qinv(chance / 2, m - 1) * sqrt(1 + 1 / m);
}

struct tare_alarm tare_alarm_of(const struct tare_calibration *calibration, double chance, int64_t resolution_ns)
{
	double width = tare_alarm_factor(calibration->rounds, chance) * calibration->all.s;
	double step = resolution_ns > 1 ? (double)resolution_ns : 1;
	return (struct tare_alarm){
		.low_ns = calibration->centre_ns * exp(-width) - step,
		.high_ns = calibration->centre_ns * exp(width) + step,
		.chance = chance,
	};
}

double tare_alarm_budget(double per_month, double checks_per_day, uint64_t figures)
{
	return fmin(0.5, per_month / (30 * checks_per_day * (double)(figures ? figures : 1)));
}

/* ---- the simple rule ---- */

/* A fixed sequence: the same question has the same answer everywhere. */
static double uniform(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return ((double)(*state >> 11) + 0.5) / 0x1p53;
}

static double beyond_doubled(uint64_t rounds, double shift)
{
	enum { CALIBRATIONS = 20000, ROUNDS_MOST = 200 };
	uint64_t state = UINT64_C(0x9e3779b97f4a7c15), m = rounds < ROUNDS_MOST ? rounds : ROUNDS_MOST;
	double sum = 0;
	if (m < 2)
		return NAN;
	for (int i = 0; i < CALIBRATIONS; i++) {
		double mean = 0, largest = 0, last = 0;
		for (uint64_t j = 0; j < m; j++) {
			double value = gsl_cdf_ugaussian_Pinv(uniform(&state));
			mean += value / (double)m;
			largest = j ? fmax(largest, fabs(value - last)) : 0;
			last = value;
		}
		sum += gsl_cdf_ugaussian_Q(mean + 2 * largest - shift) + gsl_cdf_ugaussian_P(mean - 2 * largest - shift);
	}
	return sum / CALIBRATIONS;
}

double tare_doubled_rule_chance(uint64_t rounds)
{
	return beyond_doubled(rounds, 0);
}

double tare_doubled_rule_power(uint64_t rounds, double shift)
{
	return beyond_doubled(rounds, shift);
}

int tare_false_alarms_parse(const char *text, double *ret_per_month, struct tare_err *err)
{
	static const struct { const char *word; double days; } periods[] = {
		{"day", 1}, {"week", 7}, {"month", 30}, {"year", 365}};
	char *end;
	double number = strtod(text, &end);
	if (end == text || *end != '/' || !(number > 0) || !isfinite(number))
		return tare_fail(err, TARE_E_USAGE, "'%.40s' is no rate of false alarms, as 1/month", text);
	for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
		if (strcmp(end + 1, periods[i].word) == 0) {
			*ret_per_month = number * 30 / periods[i].days;
			return 0;
		}
	return tare_fail(err, TARE_E_USAGE, "'%.40s' is no rate of false alarms: a day, week, month or year", text);
}

/* ---- the instrument ---- */

double tare_capability(double s_instrument, double margin)
{
	return margin > 0 ? 6 * s_instrument / (2 * margin) : INFINITY;
}

const char *tare_capability_word(double capability)
{
	return capability < 0.10 ? "good" : capability <= 0.30 ? "marginal" : "unfit";
}
