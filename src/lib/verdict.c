/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One figure of two sets of rounds to one verdict. With a margin in per cent
 * everything is done on logarithms, with one in ns or none on ns: an interval is
 * decided on in the unit in which the question was asked.
 */
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "lib/verdict_private.h"
#include "tare/rounds.h"

/* From here on a drift costs less than it may hide. */
enum { DRIFT_ROUNDS = 8, FLIP_BLOCKS = 6, PLACES_MAX = 32 };
#define POWER 0.80
/* Above this correlation of a round's arm with the one before, what is left over cannot be told from the effect. */
#define CARRY_CORRELATION 0.7

const char *tare_verdict_name(enum tare_verdict_kind kind)
{
	static const char *const names[] = {
		[TARE_VERDICT_EFFECT] = "effect",
		[TARE_VERDICT_NEGLIGIBLE] = "negligible",
		[TARE_VERDICT_SAME] = "same",
		[TARE_VERDICT_INCONCLUSIVE] = "inconclusive",
		[TARE_VERDICT_INVALID] = "invalid",
	};
	return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

void tare_verdict_invalidate(struct tare_verdict *verdict, const char *reason)
{
	if (verdict->kind == TARE_VERDICT_INVALID)
		return;
	struct text text = {.bytes = verdict->reason, .room = sizeof verdict->reason};
	verdict->kind = TARE_VERDICT_INVALID;
	text_add(&text, "%s", reason);
}

int tare_verdict_exit(const struct tare_verdict *verdict)
{
	switch (verdict->kind) {
	case TARE_VERDICT_EFFECT:
		/* every figure is better when smaller */
		return verdict->effect > 0 ? 1 : 0;
	case TARE_VERDICT_NEGLIGIBLE:
	case TARE_VERDICT_SAME:
		return 0;
	case TARE_VERDICT_INCONCLUSIVE:
		return 3;
	case TARE_VERDICT_INVALID:
		break;
	}
	return 4;
}

/* ---- taking the rounds apart ---- */

static void judged_end(const struct judged *judged)
{
	free(judged->room);
	free(judged->columns);
}

/* Values, places in time in units of one round, arms. */
static int take_values(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
	struct judged *judged, struct tare_err *err)
{
	judged->n = count;
	judged->room = calloc(count, 4 * sizeof(double) + sizeof(unsigned char));
	if (!judged->room)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	judged->ns = judged->room;
	judged->fitted = judged->ns + count;
	judged->at = judged->fitted + count;
	judged->spare = judged->at + count;
	judged->arms = (unsigned char *)(judged->spare + count);
	for (size_t i = 0; i < count; i++) {
		judged->ns[i] = tare_trial_figure(&trials[i], figure);
		judged->arms[i] = trials[i].arm != 0;
		judged->rounds[trials[i].arm != 0]++;
		judged->missing += isnan(judged->ns[i]) ? 1 : 0;
		const struct tare_row *row = tare_trial_row(&trials[i], figure->span);
		uint64_t n = row ? row->n : 0;
		judged->least_n = i == 0 || n < judged->least_n ? n : judged->least_n;
		if (row && row->resolution_ns > judged->resolution_ns)
			judged->resolution_ns = row->resolution_ns;
	}
	if (!judged->rounds[0] || !judged->rounds[1])
		return tare_fail(err, TARE_E_USAGE, "%s has no round", judged->rounds[0] ? "B" : "A");
	return 0;
}

/* Known start times, ascending, and arms that alternate. */
static bool take_order(const struct tare_trial *trials, struct judged *judged)
{
	size_t n = judged->n;
	for (size_t i = 0; i < n; i++)
		if (trials[i].at_ns == TARE_NO_TIME || (i && trials[i].at_ns <= trials[i - 1].at_ns))
			return false;
	if (!tare_order_interleaved(judged->arms, n))
		return false;
	double apart = (double)(trials[n - 1].at_ns - trials[0].at_ns) / (double)(n - 1);
	for (size_t i = 0; i < n; i++)
		judged->at[i] = (double)(trials[i].at_ns - trials[0].at_ns) / apart;
	return true;
}

/* ---- labels ---- */

static double share_on(const struct tare_trial *trial, int16_t cpu)
{
	for (size_t i = 0; i < trial->cpus; i++)
		if (trial->on[i].cpu == cpu)
			return trial->on[i].share;
	return 0;
}

struct place {
	int16_t cpu;
	double least, most, mean[2];
};

/* Every CPU that any round saw; a place whose share hardly varies explains nothing. */
static size_t find_places(const struct tare_trial *trials, const struct judged *judged, struct place *places, size_t room)
{
	size_t count = 0;
	for (size_t i = 0; i < judged->n; i++)
		for (size_t j = 0; j < trials[i].cpus; j++) {
			size_t k = 0;
			while (k < count && places[k].cpu != trials[i].on[j].cpu)
				k++;
			if (k == count && count < room)
				places[count++] = (struct place){.cpu = trials[i].on[j].cpu, .least = 1};
		}
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < judged->n; i++) {
			double share = share_on(&trials[i], places[k].cpu);
			places[k].least = fmin(places[k].least, share);
			places[k].most = fmax(places[k].most, share);
			places[k].mean[judged->arms[i]] += share / (double)judged->rounds[judged->arms[i]];
		}
	return count;
}

/* Largest variation first. */
static int by_variation(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	double x = a->most - a->least, y = b->most - b->least;
	return x < y ? 1 : x > y ? -1 : (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void tell_places(const struct place *places, size_t count, bool peer, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	for (size_t k = 0; k < count && k < 2; k++)
		if (fabs(places[k].mean[1] - places[k].mean[0]) >= 0.01)
			text_add(&text, "%s%sCPU %d %.0f %% -> %.0f %%", text.used ? ", " : "", peer ? "peer " : "",
				places[k].cpu, 100 * places[k].mean[0], 100 * places[k].mean[1]);
}

/* Shares of CPUs as columns: one fewer than there are places, and never more than leave three degrees of freedom. */
static void take_labels(const struct tare_trial *trials, struct judged *judged, struct tare_verdict *verdict)
{
	struct place places[PLACES_MAX] = {{0}};
	size_t found = find_places(trials, judged, places, PLACES_MAX), varying = 0;
	qsort(places, found, sizeof *places, by_variation);
	while (varying < found && places[varying].most - places[varying].least > 0.05)
		varying++;
	if (varying < 2)
		return;
	for (size_t k = 0; k < varying; k++)
		judged->largest_move = fmax(judged->largest_move, fabs(places[k].mean[1] - places[k].mean[0]));
	tell_places(places, varying, trials[0].peer_cpus, verdict->places, sizeof verdict->places);
	size_t spare = judged->n > 6 ? judged->n - 6 - judged->carry : 0;
	judged->column_count = varying - 1 < spare ? varying - 1 : spare;
	for (size_t k = 0; k < judged->column_count; k++)
		for (size_t i = 0; i < judged->n; i++)
			judged->columns[judged->carry + k][i] = share_on(&trials[i], places[k].cpu);
}

static int make_columns(struct judged *judged, struct tare_err *err)
{
	judged->columns = calloc(PLACES_MAX + 1, sizeof(double *) + judged->n * sizeof(double));
	if (!judged->columns)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	double *values = (double *)(judged->columns + PLACES_MAX + 1);
	for (size_t k = 0; k <= PLACES_MAX; k++)
		judged->columns[k] = values + k * judged->n;
	return 0;
}

/* ---- what a round inherits from the one before ---- */

static bool tells_carry(const unsigned char *arms, const unsigned char *before, size_t n)
{
	double both = 0, first = 0, second = 0, count = (double)n;
	for (size_t i = 0; i < n; i++) {
		both += arms[i] & before[i];
		first += arms[i];
		second += before[i];
	}
	double covariance = both / count - first / count * second / count;
	double variances = first / count * (1 - first / count) * second / count * (1 - second / count);
	return variances > 0 && covariance * covariance / variances < CARRY_CORRELATION * CARRY_CORRELATION;
}

/*
 * A setting may leave something behind (caches, routes, a governor), and B follows B more seldom than A in these
 * orders. The term is told from the effect by them, but not by ABAB..., where it is left out. The leading round has
 * the first one's arm. Its own size is fitted with arm and predecessor changing their roles.
 */
static int take_carry(struct judged *judged, struct tare_verdict *verdict, struct tare_err *err)
{
	struct tare_effect carry;
	AUTO_FREE unsigned char *before = calloc(judged->n, 1);
	AUTO_FREE double *arm = calloc(judged->n, sizeof *arm);
	if (!before || !arm)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	for (size_t i = 0; i < judged->n; i++) {
		before[i] = judged->arms[i ? i - 1 : 0];
		judged->columns[0][i] = before[i];
		arm[i] = judged->arms[i];
	}
	if (!tells_carry(judged->arms, before, judged->n))
		return 0;
	const double *const columns[] = {arm};
	struct tare_rounds rounds = {.n = judged->n, .values = judged->fitted, .arms = before, .at = judged->at,
		.covariates = columns, .covariate_count = 1};
	if (tare_effect_of(&rounds, true, &carry, err) < 0)
		return -1;
	if (carry.confounded || isnan(carry.effect))
		return 0;
	judged->carry = 1;
	verdict->carry = carry.effect;
	verdict->carry_chance = tare_effect_chance(&carry);
	return 0;
}

/* ---- the effect ---- */

/* Quantised values that happen to agree are not exact: a step of r has a deviation of r / sqrt 12. */
static double floor_of(const struct judged *judged, const struct tare_verdict *verdict)
{
	double floor_ns = judged->resolution_ns > 1 ? (double)judged->resolution_ns / sqrt(12) : 0.29;
	return verdict->as_share ? floor_ns / fmax(verdict->value_a, 1) : floor_ns;
}

static int fit(struct judged *judged, struct tare_verdict *verdict, bool with_labels, struct tare_effect *ret_effect,
	struct tare_err *err)
{
	struct tare_rounds rounds = {
		.n = judged->n,
		.values = judged->fitted,
		.arms = judged->arms,
		.at = judged->at,
		.covariates = (const double *const *)judged->columns,
		.covariate_count = judged->carry + (with_labels ? judged->column_count : 0),
	};
	verdict->drift_term = judged->n >= DRIFT_ROUNDS;
	if (tare_effect_of(&rounds, verdict->drift_term, ret_effect, err) < 0)
		return -1;
	if (ret_effect->degrees > 0)
		ret_effect->s = fmax(ret_effect->s, floor_of(judged, verdict));
	return 0;
}

static int fit_ordered(struct judged *judged, struct tare_verdict *verdict, const struct tare_verdict_rules *rules,
	struct tare_err *err)
{
	struct tare_effect whole, within;
	if (fit(judged, verdict, false, &whole, err) < 0)
		return -1;
	within = whole;
	verdict->total = whole.effect;
	if (judged->column_count) {
		if (fit(judged, verdict, true, &within, err) < 0)
			return -1;
		verdict->moved = within.confounded;
		verdict->by_label = !within.confounded;
		if (within.confounded)
			within = whole;
	}
	verdict->drift = within.drift;
	struct tare_spread now = {within.s, within.degrees};
	if (rules->calibrated && tare_spread_exceeds(&now, rules->calibrated)) {
		char reason[200];
		snprintf(reason, sizeof reason,
			"identical rounds scatter %.1f times as much as when calibrated: another noise than the limits are for",
			rules->calibrated->s > 0 ? now.s / rules->calibrated->s : INFINITY);
		tare_verdict_invalidate(verdict, reason);
	} else if (rules->calibrated && rules->calibrated->degrees > 0) {
		tare_effect_pool(&within, rules->calibrated);
		verdict->calibrated = true;
	}
	struct tare_span_of_effect outer = tare_effect_interval(&within, rules->level);
	struct tare_span_of_effect inner = tare_effect_interval(&within, 2 * rules->level - 1);
	verdict->effect = within.effect;
	verdict->low = outer.low;
	verdict->high = outer.high;
	verdict->low90 = inner.low;
	verdict->high90 = inner.high;
	verdict->s = within.s;
	verdict->degrees = within.degrees;
	verdict->chance = tare_effect_chance(&within);
	verdict->detectable = tare_detectable(within.per_s, within.degrees, rules->level, POWER) * within.s;
	size_t blocks = tare_block_contrasts(judged->fitted, judged->arms, judged->n, judged->spare);
	if (blocks >= FLIP_BLOCKS)
		verdict->sign_flip = tare_sign_flip_chance(judged->spare, blocks);
	return 0;
}

static int fit_unordered(struct judged *judged, struct tare_verdict *verdict, const struct tare_verdict_rules *rules,
	struct tare_err *err)
{
	struct tare_shift outer, inner;
	size_t n_a = 0;
	/* A's values first, in `spare` */
	for (size_t i = 0; i < judged->n; i++)
		if (!judged->arms[i])
			judged->spare[n_a++] = judged->fitted[i];
	size_t n_b = n_a;
	for (size_t i = 0; i < judged->n; i++)
		if (judged->arms[i])
			judged->spare[n_b++] = judged->fitted[i];
	n_b -= n_a;
	if (tare_shift_of(judged->spare, n_a, judged->spare + n_a, n_b, rules->level, &outer, err) < 0 ||
		tare_shift_of(judged->spare, n_a, judged->spare + n_a, n_b, 2 * rules->level - 1, &inner, err) < 0)
		return -1;
	struct tare_spread spread = tare_spread_within(judged->fitted, judged->arms, judged->n);
	double per_s = sqrt(1 / (double)n_a + 1 / (double)n_b);
	verdict->effect = verdict->total = outer.shift;
	verdict->low = outer.low;
	verdict->high = outer.high;
	verdict->low90 = inner.low;
	verdict->high90 = inner.high;
	verdict->s = spread.degrees > 0 ? fmax(spread.s, floor_of(judged, verdict)) : NAN;
	verdict->degrees = spread.degrees;
	verdict->chance = outer.chance;
	verdict->drift = NAN;
	verdict->moved = judged->largest_move > 0.5;
	verdict->detectable = outer.least_chance > 1 - rules->level
				      ? INFINITY
				      : tare_detectable(per_s, spread.degrees, rules->level, POWER) * verdict->s;
	return 0;
}

static void take_means(struct judged *judged, struct tare_verdict *verdict)
{
	double mean[2] = {0};
	bool positive = true;
	for (size_t i = 0; i < judged->n; i++)
		positive &= judged->ns[i] > 0;
	verdict->as_share &= positive;
	for (size_t i = 0; i < judged->n; i++) {
		judged->fitted[i] = verdict->as_share ? log(judged->ns[i]) : judged->ns[i];
		mean[judged->arms[i]] += judged->fitted[i] / (double)judged->rounds[judged->arms[i]];
	}
	verdict->value_a = verdict->as_share ? exp(mean[0]) : mean[0];
	verdict->value_b = verdict->as_share ? exp(mean[1]) : mean[1];
}

/* ---- the ladder ---- */

void verdict_climb(struct tare_verdict *verdict)
{
	bool effect = verdict->low > 0 || verdict->high < 0;
	bool inside = verdict->margin > 0 && verdict->low90 > -verdict->margin && verdict->high90 < verdict->margin;
	if (verdict->kind == TARE_VERDICT_INVALID)
		return;
	verdict->kind = effect ? inside ? TARE_VERDICT_NEGLIGIBLE : TARE_VERDICT_EFFECT
		: inside       ? TARE_VERDICT_SAME
			       : TARE_VERDICT_INCONCLUSIVE;
}

static double share_of(double logarithm)
{
	return expm1(logarithm);
}

/* Logarithms become shares, effects get their other unit. */
static void settle_units(struct tare_verdict *verdict)
{
	if (verdict->as_share) {
		verdict->effect = share_of(verdict->effect);
		verdict->low = share_of(verdict->low);
		verdict->high = share_of(verdict->high);
		verdict->low90 = share_of(verdict->low90);
		verdict->high90 = share_of(verdict->high90);
		verdict->total = share_of(verdict->total);
		verdict->carry = share_of(verdict->carry);
		verdict->effect_share = verdict->effect;
		verdict->effect_ns = verdict->effect * verdict->value_a;
	} else {
		verdict->effect_ns = verdict->effect;
		verdict->effect_share = verdict->value_a > 0 ? verdict->effect / verdict->value_a : NAN;
	}
	verdict->below = fmax(fabs(verdict->low90), fabs(verdict->high90));
}

static void plan_more(struct tare_verdict *verdict, const struct tare_verdict_rules *rules)
{
	if (verdict->kind != TARE_VERDICT_INCONCLUSIVE || !(verdict->s > 0))
		return;
	double size = verdict->margin > 0 ? verdict->margin / verdict->s : fabs(verdict->effect) / verdict->s;
	if (verdict->margin > 0 && fabs(verdict->effect) < verdict->margin)
		verdict->rounds_needed = tare_rounds_to_claim_same(size, rules->level, POWER);
	else
		verdict->rounds_needed = tare_rounds_to_find(fabs(verdict->effect) / verdict->s, rules->level, POWER);
}

static int judge_values(const struct tare_trial *trials, struct judged *judged, const struct tare_verdict_rules *rules,
	struct tare_verdict *verdict, struct tare_err *err)
{
	verdict->as_share = rules->margin_share > 0;
	take_means(judged, verdict);
	verdict->margin = verdict->as_share ? rules->margin_share : (double)rules->margin_ns;
	if (!verdict->as_share && rules->margin_share > 0)
		verdict->margin = rules->margin_share * fabs(verdict->value_a);
	verdict->ordered = take_order(trials, judged);
	if (make_columns(judged, err) < 0)
		return -1;
	if (verdict->ordered && judged->n >= TARE_CARRY_ROUNDS && take_carry(judged, verdict, err) < 0)
		return -1;
	take_labels(trials, judged, verdict);
	int status = verdict->ordered ? fit_ordered(judged, verdict, rules, err) : fit_unordered(judged, verdict, rules, err);
	if (status < 0)
		return -1;
	verdict->limit = verdict->degrees > 0 ? tare_repeatability_limit(verdict->s, verdict->degrees, rules->level) : NAN;
	verdict->retest = tare_retest_largest(judged->fitted, judged->arms, judged->n);
	settle_units(verdict);
	verdict_climb(verdict);
	plan_more(verdict, rules);
	return 0;
}

static void start_verdict(const struct tare_figure *figure, const struct tare_verdict_rules *rules,
	const struct judged *judged, struct tare_verdict *verdict)
{
	*verdict = (struct tare_verdict){
		.figure = *figure,
		.kind = TARE_VERDICT_INCONCLUSIVE,
		.rounds_a = judged->rounds[0],
		.rounds_b = judged->rounds[1],
		.n = judged->least_n,
		.behind = figure->kind == TARE_FIGURE_PERCENTILE
				  ? judged->least_n - tare_rank(&figure->percentile, judged->least_n)
				  : judged->least_n,
		.value_a = NAN, .value_b = NAN, .effect = NAN, .low = NAN, .high = NAN, .low90 = NAN, .high90 = NAN,
		.effect_ns = NAN, .effect_share = NAN, .s = NAN, .limit = NAN, .retest = NAN, .drift = NAN,
		.detectable = NAN, .below = NAN, .chance = NAN, .chance_adjusted = NAN, .sign_flip = NAN, .total = NAN, .carry = NAN, .carry_chance = NAN,
	};
	snprintf(verdict->name_a, sizeof verdict->name_a, "%s", rules->name_a ? rules->name_a : "A");
	snprintf(verdict->name_b, sizeof verdict->name_b, "%s", rules->name_b ? rules->name_b : "B");
}

static void say_missing(const struct judged *judged, struct tare_verdict *verdict)
{
	char reason[200];
	if (verdict->figure.kind == TARE_FIGURE_PERCENTILE)
		snprintf(reason, sizeof reason,
			"%s is not visible in %zu of %zu rounds: %llu values in the smallest, it needs %llu",
			verdict->figure.name, judged->missing, judged->n, (unsigned long long)judged->least_n,
			(unsigned long long)tare_needed(&verdict->figure.percentile, 10));
	else
		snprintf(reason, sizeof reason, "%s cannot be told in %zu of %zu rounds", verdict->figure.name,
			judged->missing, judged->n);
	tare_verdict_invalidate(verdict, reason);
}

int tare_verdict_of(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
	const struct tare_verdict_rules *rules, struct tare_verdict *ret_verdict, struct tare_err *err)
{
	AUTO_CLEANUP(judged_end) struct judged judged = {0};
	struct tare_verdict verdict;
	if (count == 0)
		return tare_fail(err, TARE_E_USAGE, "there are no rounds to compare");
	if (take_values(trials, count, figure, &judged, err) < 0)
		return -1;
	start_verdict(figure, rules, &judged, &verdict);
	int status = 0;
	if (judged.missing)
		say_missing(&judged, &verdict);
	else if (tare_figure_is_count(figure))
		status = verdict_judge_counts(trials, &judged, rules, &verdict, err);
	else
		status = judge_values(trials, &judged, rules, &verdict, err);
	if (status < 0)
		return -1;
	verdict.chance_adjusted = verdict.chance;
	*ret_verdict = verdict;
	return 0;
}

void tare_verdicts_adjust(struct tare_verdict *verdicts, size_t count, double level)
{
	if (count < 2)
		return;
	AUTO_FREE double *chances = calloc(count, 2 * sizeof *chances);
	for (size_t i = 1; chances && i < count; i++)
		chances[i] = verdicts[i].kind == TARE_VERDICT_INVALID ? NAN : verdicts[i].chance;
	if (!chances)
		return;
	tare_holm(chances + 1, count - 1, chances + count);
	for (size_t i = 1; i < count; i++) {
		verdicts[i].chance_adjusted = chances[count + i - 1];
		if (verdicts[i].kind == TARE_VERDICT_EFFECT && verdicts[i].chance_adjusted > 1 - level)
			verdicts[i].kind = TARE_VERDICT_INCONCLUSIVE;
	}
}
