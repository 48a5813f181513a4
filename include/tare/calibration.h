/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What identical rounds differ by, measured once and used by every later
 * verdict: s_r, alarm limits with a stated rate of false alarms, and what a plan
 * will see. A calibration is a recording of at least ten identical rounds; all of
 * this is computed anew from it.
 *
 * Three levels are kept apart, since a comparison must use the one it crosses:
 * the same sitting, another day or restart on the same host, another host.
 * Everything is on logarithms, so that a spread is a share and limits lie
 * unevenly about a skewed figure.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/effect.h"
#include "tare/verdict.h"

enum { TARE_CALIBRATION_ROUNDS = 10 };

struct tare_calibration {
	struct tare_figure figure;
	uint64_t rounds, sittings, hosts;
	double centre_ns;             /* geometric mean over all rounds */
	struct tare_spread sitting;   /* s_r as a share, of successive differences within each sitting, pooled */
	struct tare_spread sitting_ns; /* the same in ns */
	struct tare_spread day;       /* one round on another day: sitting and between sittings; 0 degrees with one sitting */
	struct tare_spread host;      /* one round on another host; 0 degrees with one host */
	struct tare_spread all;       /* plain deviation of all rounds, a drift and other days included: for limits */
	double retest;                /* largest difference between neighbouring rounds, a share */
};
/* Trials are those of one arm under one key, in order of time. TARE_E_INVALID when the figure cannot be said, or is 0. */
TARE_API int tare_calibration_of(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
				 struct tare_calibration *ret_calibration, struct tare_err *err) TARE_MUST_USE;

/* ---- alarm limits ---- */

/*
 * Prediction limits of one further round, two-sided: exp(centre +- t x s x sqrt(1 + 1/m)), plus one step of the
 * clock. With normal noise the rate of false alarms is `chance` on average over calibrations; of single
 * calibrations of ten rounds one in ten has 2.7 times as many at 1 %.
 */
struct tare_alarm { double low_ns, high_ns, chance; };
TARE_API struct tare_alarm tare_alarm_of(const struct tare_calibration *calibration, double chance, int64_t resolution_ns);
/* False when the limit is more than ten times what is usual: such an alarm would sleep through anything. */
TARE_API bool tare_alarm_usable(const struct tare_calibration *calibration, const struct tare_alarm *alarm);
/* The factor by which s is multiplied: 3.41 with ten rounds at 1 %. */
TARE_API double tare_alarm_factor(uint64_t rounds, double chance);
/* Chance a check and figure for so many false alarms a month over all of them; at most 0.5. */
TARE_API double tare_alarm_budget(double per_month, double checks_per_day, uint64_t figures);

/*
 * The simple rule: an alarm above twice the largest difference seen between neighbouring rounds. Its chance of a
 * false alarm, averaged over calibrations of m rounds: 26 % with 2, 2.4 % with 5, 0.2 % with 10, 0.01 % with 20.
 */
TARE_API double tare_doubled_rule_chance(uint64_t rounds);
/* Chance that each rule sees a shift of `shift` s, the same way. */
TARE_API double tare_doubled_rule_power(uint64_t rounds, double shift);

/* "5/week", "1/month", "2/year" as so many a month of 30 days. */
TARE_API int tare_false_alarms_parse(const char *text, double *ret_per_month, struct tare_err *err) TARE_MUST_USE;

/* ---- the instrument ---- */

/* Precision to tolerance, 6 s_instrument over the width of the margin (twice the margin): below 10 % good, above 30 % unfit. */
TARE_API double tare_capability(double s_instrument, double margin);
TARE_API const char *tare_capability_word(double capability);
