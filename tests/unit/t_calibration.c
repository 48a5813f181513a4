/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits and spreads of calibrations against their worked numbers. */
#include <math.h>

#include "tap.h"
#include "tare/calibration.h"

static void is_near(double got, double want, double within, const char *name)
{
	if (!OK(fabs(got - want) <= within, "%s", name))
		printf("#      got %.9g\n# expected %.9g\n", got, want);
}

static void test_factor(void)
{
	static const struct { uint64_t rounds; double one, tenth; } table[] = {
		{5, 5.04, 9.43}, {10, 3.41, 5.01}, {20, 2.93, 3.98}, {30, 2.80, 3.72}};
	for (size_t i = 0; i < 4; i++) {
		is_near(tare_alarm_factor(table[i].rounds, .01), table[i].one, .0051, "factor at 99 %");
		is_near(tare_alarm_factor(table[i].rounds, .001), table[i].tenth, .0051, "factor at 99.9 %");
	}
	OK(isnan(tare_alarm_factor(1, .01)), "one round has no limit");
}

static void test_doubled(void)
{
	is_near(tare_doubled_rule_chance(2), .259, .008, "doubled rule, 2 rounds");
	is_near(tare_doubled_rule_chance(3), .101, .005, "3 rounds");
	is_near(tare_doubled_rule_chance(5), .024, .003, "5 rounds");
	is_near(tare_doubled_rule_chance(10), .002, .0007, "10 rounds");
	OK(tare_doubled_rule_chance(20) < .0003, "20 rounds");
	is_near(tare_doubled_rule_power(5, 4), .54, .02, "5 rounds find 4 s in 54 %");
	is_near(tare_doubled_rule_power(20, 4), .13, .02, "20 rounds in 13 %");
}

static void test_budget(void)
{
	double per_month = 0;
	is_near(tare_alarm_budget(1, 24, 1), 1.0 / 720, 1e-12, "one a month at 24 checks a day");
	is_near(tare_alarm_budget(1, 24, 4), 1.0 / 2880, 1e-12, "shared by four figures");
	is_near(tare_alarm_budget(1000, 1, 1), .5, 0, "never above a half");
	OK(tare_false_alarms_parse("1/month", &per_month, NULL) == 0 && per_month >= 1 && per_month <= 1, "1/month");
	OK(tare_false_alarms_parse("2/week", &per_month, NULL) == 0, "2/week");
	is_near(per_month, 60.0 / 7, 1e-9, "is 8.6 a month");
	struct tare_err err = {0};
	OK(tare_false_alarms_parse("1", &per_month, &err) < 0, "%s", err.text);
	OK(tare_false_alarms_parse("1/fortnight", &per_month, &err) < 0, "%s", err.text);
	OK(tare_false_alarms_parse("-1/day", &per_month, &err) < 0, "%s", err.text);
}

static struct tare_row rows[24];
static struct tare_trial trials[24];

static void make(const double *values_us, const uint32_t *runs, const char *const *hosts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct tare_row){.span = TARE_SPAN_RTT, .n = 10000};
		rows[i].ranked[0].value_ns = (int64_t)(values_us[i] * 1000 + .5);
		rows[i].ranked[0].rank = 5000;
		trials[i] = (struct tare_trial){.run = runs[i], .host = hosts[i], .round = (uint32_t)i + 1, .rows = &rows[i],
			.row_count = 1};
	}
}

static void test_levels(void)
{
	const double values[] = {4.70, 4.69, 4.66, 4.64, 4.61, 5.00, 5.02, 5.01, 5.03, 5.00};
	const uint32_t runs[] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
	const char *const one[] = {"a", "a", "a", "a", "a", "a", "a", "a", "a", "a"};
	const char *const two[] = {"a", "a", "a", "a", "a", "b", "b", "b", "b", "b"};
	struct tare_figure p50;
	struct tare_calibration c;
	OK(tare_figure_parse("p50", &p50, NULL) == 0, "p50");
	make(values, runs, one, 10);
	OK(tare_calibration_of(trials, 5, &p50, &c, NULL) == 0, "one sitting");
	is_near(c.sitting_ns.s, 17.0, .05, "s_r of the drifting series, .0170");
	is_near(c.sitting.s, 17.0 / 4660, .0001, "as a share");
	is_near(c.retest, log(4.64 / 4.61), 1e-9, "largest retest difference");
	OK(c.day.degrees == 0 && c.host.degrees == 0, "one sitting tells nothing about other days");
	OK(tare_calibration_of(trials, 10, &p50, &c, NULL) == 0, "two sittings");
	OK(c.sittings == 2 && c.day.degrees == 1 && c.hosts == 1, "are two of one host");
	is_near(c.day.s, log(5.012 / 4.66) / M_SQRT2, .002, "another day differs by far more than s_r");
	is_near(c.sitting.degrees, 4, 0, "the sittings' own spread is pooled");
	make(values, runs, two, 10);
	OK(tare_calibration_of(trials, 10, &p50, &c, NULL) == 0 && c.hosts == 2 && c.host.degrees == 1, "two hosts");
	struct tare_err err = {0};
	OK(tare_calibration_of(trials, 1, &p50, &c, &err) < 0, "%s", err.text);
	rows[3].n = 12;
	OK(tare_calibration_of(trials, 5, &p50, &c, &err) < 0, "%s", err.text);
}

static void test_limits(void)
{
	struct tare_calibration c = {.rounds = 10, .centre_ns = 20000, .all = {.02, 9}};
	struct tare_alarm alarm = tare_alarm_of(&c, .01, 1);
	is_near(alarm.high_ns, 20000 * exp(3.41 * .02) + 1, 3, "high");
	is_near(alarm.low_ns, 20000 * exp(-3.41 * .02) - 1, 3, "low");
	struct tare_alarm coarse = tare_alarm_of(&c, .01, 1000);
	is_near(coarse.high_ns - alarm.high_ns, 999, .001, "a coarse clock widens it by its step");
	OK(tare_alarm_usable(&c, &alarm), "a limit 7 %% above the usual is an alarm");
	c.all.s = 1;
	alarm = tare_alarm_of(&c, .01, 1);
	OK(!tare_alarm_usable(&c, &alarm), "one at %.0f times the usual is none", alarm.high_ns / c.centre_ns);
	is_near(tare_capability(1, 100), .03, 1e-12, "capability");
	IS_STR(tare_capability_word(.03), "good", "good");
	IS_STR(tare_capability_word(.2), "marginal", "marginal");
	IS_STR(tare_capability_word(.31), "unfit", "unfit: a margin below 3 s has 100 %");
	is_near(tare_capability(1, 3), 1, 1e-12, "margin of 3 s");
}

int main(void)
{
	test_factor();
	test_doubled();
	test_budget();
	test_levels();
	test_limits();
	return tap_done();
}
