/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stalls and losses: exact tests of counts, which believe that events come one by
 * one. Where the rounds of an arm scatter more than that, one burst in one round
 * would be an effect, so that then the rounds themselves must agree too.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "lib/verdict_private.h"
#include "tare/interval.h"

#define HOUR_NS 3600e9
#define BURSTS_CHANCE 0.01

static double exposure_of(const struct tare_trial *trial, const struct tare_figure *figure)
{
	const struct tare_row *row = tare_trial_row(trial, figure->span);
	if (figure->kind == TARE_FIGURE_LOSS)
		return (double)(row->n + row->unanswered);
	return (double)trial->stalls[row - trial->rows].exposure_ns / HOUR_NS;
}

/* True when the counts of either arm scatter more than a Poisson process. */
static bool has_bursts(const struct judged *judged, const double *exposures)
{
	double counts[256], exposed[256];
	for (unsigned arm = 0; arm < 2; arm++) {
		size_t n = 0;
		for (size_t i = 0; i < judged->n && n < 256; i++)
			if (judged->arms[i] == arm) {
				counts[n] = judged->ns[i];
				exposed[n++] = exposures[i];
			}
		if (tare_dispersion_chance(counts, exposed, n) < BURSTS_CHANCE)
			return true;
	}
	return false;
}

/* Mann and Whitney over the rounds' rates. */
static int chance_of_rounds(const struct judged *judged, const double *exposures, double *ret_chance, struct tare_err *err)
{
	AUTO_FREE double *rates = calloc(judged->n, sizeof *rates);
	struct tare_shift shift;
	size_t at = 0;
	if (!rates)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	for (unsigned arm = 0; arm < 2; arm++)
		for (size_t i = 0; i < judged->n; i++)
			if (judged->arms[i] == arm)
				rates[at++] = exposures[i] > 0 ? judged->ns[i] / exposures[i] : 0;
	if (tare_shift_of(rates, judged->rounds[0], rates + judged->rounds[0], judged->rounds[1], 0.95, &shift, err) < 0)
		return -1;
	*ret_chance = shift.chance;
	return 0;
}

static void climb(struct tare_verdict *verdict, double level, double margin_share)
{
	bool effect = verdict->chance < 1 - level;
	bool inside = margin_share > 0 && verdict->low90 > 1 - margin_share && verdict->high90 < 1 + margin_share;
	verdict->kind = effect ? inside ? TARE_VERDICT_NEGLIGIBLE : TARE_VERDICT_EFFECT
		: inside       ? TARE_VERDICT_SAME
			       : TARE_VERDICT_INCONCLUSIVE;
}

int verdict_judge_counts(const struct tare_trial *trials, struct judged *judged, const struct tare_verdict_rules *rules,
	struct tare_verdict *verdict, struct tare_err *err)
{
	double *exposures = judged->spare, exposure[2] = {0};
	uint64_t events[2] = {0};
	for (size_t i = 0; i < judged->n; i++) {
		exposures[i] = exposure_of(&trials[i], &verdict->figure);
		exposure[judged->arms[i]] += exposures[i];
		events[judged->arms[i]] += (uint64_t)judged->ns[i];
	}
	if (!(exposure[0] > 0) || !(exposure[1] > 0)) {
		tare_verdict_invalidate(verdict, "the time watched is not known");
		return 0;
	}
	verdict->count_a = events[0];
	verdict->count_b = events[1];
	verdict->exposure_a = exposure[0];
	verdict->exposure_b = exposure[1];
	verdict->value_a = (double)events[0] / exposure[0];
	verdict->value_b = (double)events[1] / exposure[1];
	verdict->effect = verdict->value_b - verdict->value_a;
	verdict->effect_share = verdict->value_a > 0 ? verdict->effect / verdict->value_a : NAN;
	verdict->margin = rules->margin_share;
	struct tare_ratio outer = tare_rates_ratio(events[0], exposure[0], events[1], exposure[1], rules->level);
	struct tare_ratio inner = tare_rates_ratio(events[0], exposure[0], events[1], exposure[1], 2 * rules->level - 1);
	verdict->low = outer.low;
	verdict->high = outer.high;
	verdict->low90 = inner.low;
	verdict->high90 = inner.high;
	if (verdict->figure.kind == TARE_FIGURE_LOSS)
		verdict->chance = tare_shares_differ_chance(events[0], (uint64_t)exposure[0], events[1], (uint64_t)exposure[1]);
	else
		verdict->chance = tare_rates_differ_chance(events[0], exposure[0], events[1], exposure[1]);
	verdict->bursts = has_bursts(judged, exposures);
	if (verdict->bursts) {
		double of_rounds = 1;
		if (chance_of_rounds(judged, exposures, &of_rounds, err) < 0)
			return -1;
		verdict->chance = fmax(verdict->chance, of_rounds);
	}
	climb(verdict, rules->level, rules->margin_share);
	return 0;
}
