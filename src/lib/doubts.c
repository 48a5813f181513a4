/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which sets of rounds may be compared at all, and what makes a comparison of them worthless. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "tare/effect.h"
#include "tare/interval.h"
#include "tare/verdict.h"

/* First kept requests among which the slowest should not lie more often than by chance. */
enum { EARLY = 10 };
/* Shares of modes may differ by this much without a label that explains it. */
#define SHARE_SLACK 0.1
/* Within an arm shares may differ by this much between rounds and still be the setting's own. */
#define STEADY_RANGE 0.5
/* A doubt about the setting is raised at 1 %, so that one identical comparison in a hundred has one, not in twenty. */
#define DOUBT_CHANCE 0.01

void tare_reason(struct tare_reasons *reasons, const char *format, ...)
{
	va_list args;
	if (reasons->count == TARE_REASONS_MAX)
		return;
	struct text text = {.bytes = reasons->text[reasons->count], .room = sizeof reasons->text[0]};
	va_start(args, format);
	text_add_list(&text, format, args);
	va_end(args);
	reasons->count++;
}

/* ---- refusals ---- */

static const char *name_of(const struct tare_trial *trial)
{
	return trial->file ? trial->file : trial->label && trial->label[0] ? trial->label : trial->arm ? "B" : "A";
}

static int check_pair(const struct tare_trial *one, const struct tare_trial *other, const struct tare_figure *figure,
	struct tare_err *err)
{
	char first[32], second[32];
	if (!tare_trial_row(other, figure->span))
		return tare_fail(err, TARE_E_USAGE, "%s round %u has no %s: %s is another quantity", name_of(other),
			other->round, tare_span_name(figure->span),
			other->row_count ? tare_span_name(other->rows[0].span) : "what it has");
	if (strcmp(one->kind, other->kind) != 0)
		return tare_fail(err, TARE_E_USAGE, "%s is of %s, %s of %s: different quantities do not compare", name_of(one),
			one->kind, name_of(other), other->kind);
	if (one->interval_ns > 0 && other->interval_ns > 0 &&
		fabs((double)(one->interval_ns - other->interval_ns)) > 0.005 * (double)one->interval_ns) {
		format_rate(1e9 / (double)one->interval_ns, first, sizeof first);
		format_rate(1e9 / (double)other->interval_ns, second, sizeof second);
		return tare_fail(err, TARE_E_USAGE, "%s was measured at %s, %s at %s: different rates do not compare",
			name_of(one), first, name_of(other), second);
	}
	if (one->row_count && other->row_count && one->rows[0].schedule[0] && other->rows[0].schedule[0] &&
		strcmp(one->rows[0].schedule, other->rows[0].schedule) != 0)
		return tare_fail(err, TARE_E_USAGE, "%s was measured with the schedule %s, %s with %s: different loads do not compare",
			name_of(one), one->rows[0].schedule, name_of(other), other->rows[0].schedule);
	if (one->payload_bytes && other->payload_bytes && one->payload_bytes != other->payload_bytes)
		return tare_fail(err, TARE_E_USAGE, "%s has %u bytes of payload, %s %u: different sizes do not compare",
			name_of(one), one->payload_bytes, name_of(other), other->payload_bytes);
	if (one->warmup != other->warmup)
		return tare_fail(err, TARE_E_USAGE,
			"%s keeps the first %u requests apart, %s the first %u: give one rule with --warmup", name_of(one),
			one->warmup, name_of(other), other->warmup);
	return 0;
}

/* Extremes and PDV grow with n. */
static bool depends_on_n(const struct tare_figure *figure)
{
	return figure->kind == TARE_FIGURE_MIN || figure->kind == TARE_FIGURE_MAX || figure->kind == TARE_FIGURE_PDV;
}

static int check_counts(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
	struct tare_err *err)
{
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t n = tare_trial_row(&trials[i], figure->span)->n;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	if (depends_on_n(figure) && (double)most > 1.05 * (double)least)
		return tare_fail(err, TARE_E_USAGE, "rounds of %llu and of %llu values: %s depends on how many there are",
			(unsigned long long)least, (unsigned long long)most, figure->name);
	return 0;
}

int tare_trials_check(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
	struct tare_err *err)
{
	size_t of[2] = {0};
	for (size_t i = 0; i < count; i++)
		of[trials[i].arm != 0]++;
	if (!of[0] || !of[1])
		return tare_fail(err, TARE_E_USAGE, "%s has no round", of[0] ? "B" : "A");
	for (size_t i = 0; i < count; i++)
		if (check_pair(&trials[0], &trials[i], figure, err) < 0)
			return -1;
	return check_counts(trials, count, figure, err);
}

/* ---- doubts ---- */

static void doubt_rate(const struct tare_trial *trials, size_t count, struct tare_reasons *reasons)
{
	const struct tare_trial *worst = NULL;
	size_t missed = 0;
	for (size_t i = 0; i < count; i++) {
		if (isnan(trials[i].rate_held) || !(trials[i].rate_held < 0.99 * trials[i].rate_asked))
			continue;
		missed++;
		if (!worst || trials[i].rate_held / trials[i].rate_asked < worst->rate_held / worst->rate_asked)
			worst = &trials[i];
	}
	if (!worst)
		return;
	char asked[32], held[32];
	format_rate(worst->rate_asked, asked, sizeof asked);
	format_rate(worst->rate_held, held, sizeof held);
	tare_reason(reasons, "the rate was not held in %zu of %zu rounds: %s asked, %s held in the worst", missed, count,
		asked, held);
}

static void doubt_answers(const struct tare_trial *trials, size_t count, struct tare_reasons *reasons)
{
	size_t silent = 0, first = 0;
	for (size_t i = 0; i < count; i++)
		if (trials[i].row_count == 0 || trials[i].rows[0].n == 0)
			first = silent++ ? first : i;
	if (silent)
		tare_reason(reasons, "nothing answered in %zu of %zu rounds, first in round %u", silent, count,
			trials[first].round);
}

static void doubt_loss(const struct tare_trial *trials, size_t count, struct tare_reasons *reasons)
{
	uint64_t lost[2] = {0}, sent[2] = {0};
	for (size_t i = 0; i < count; i++) {
		if (trials[i].row_count == 0)
			continue;
		lost[trials[i].arm != 0] += trials[i].rows[0].unanswered;
		sent[trials[i].arm != 0] += trials[i].rows[0].unanswered + trials[i].rows[0].n;
	}
	if (tare_shares_differ_chance(lost[0], sent[0], lost[1], sent[1]) < DOUBT_CHANCE)
		tare_reason(reasons, "loss differs, %llu of %llu against %llu of %llu: the percentiles are of different requests",
			(unsigned long long)lost[0], (unsigned long long)sent[0], (unsigned long long)lost[1],
			(unsigned long long)sent[1]);
}

static void doubt_warmup(const struct tare_trial *trials, size_t count, struct tare_reasons *reasons)
{
	enum { ROUNDS_MOST = 4096 };
	static _Thread_local struct tare_slowest slowest[ROUNDS_MOST];
	struct tare_warmup_check check;
	size_t used = count < ROUNDS_MOST ? count : ROUNDS_MOST;
	for (size_t i = 0; i < used; i++)
		slowest[i] = trials[i].slowest;
	if (tare_warmup_check(slowest, used, EARLY, &check, NULL) < 0 || !check.too_short)
		return;
	char sentence[200];
	tare_warmup_sentence(&check, EARLY, sentence, sizeof sentence);
	tare_reason(reasons, "%s", sentence);
}

/* ---- modes ---- */

/* Shares of the slower mode, rounds as the unit: shares that vary anyway prove nothing. */
struct mode_shares {
	double mean[2], range; /* the largest range within an arm */
	size_t rounds[2], modal[2];
	bool differ;           /* between the arms, by more than chance and slack */
};

static double share_of(const struct tare_trial *trial)
{
	return isnan(trial->slow_share) ? 0 : trial->slow_share;
}

static struct mode_shares mode_shares_of(const struct tare_trial *trials, size_t count)
{
	struct mode_shares shares = {.rounds = {0}};
	double squares = 0, least[2] = {1, 1}, most[2] = {0, 0};
	for (size_t i = 0; i < count; i++)
		shares.rounds[trials[i].arm != 0]++;
	for (size_t i = 0; i < count; i++) {
		size_t arm = trials[i].arm != 0;
		double share = share_of(&trials[i]);
		shares.modal[arm] += isnan(trials[i].slow_share) ? 0 : 1;
		shares.mean[arm] += share / (double)shares.rounds[arm];
		least[arm] = fmin(least[arm], share);
		most[arm] = fmax(most[arm], share);
	}
	if (!shares.rounds[0] || !shares.rounds[1] || count < 3 || shares.modal[0] + shares.modal[1] < 2)
		return shares;
	for (size_t i = 0; i < count; i++) {
		double apart = share_of(&trials[i]) - shares.mean[trials[i].arm != 0];
		squares += apart * apart;
	}
	double degrees = (double)count - 2, apart = fabs(shares.mean[1] - shares.mean[0]);
	double error = sqrt(squares / degrees * (1 / (double)shares.rounds[0] + 1 / (double)shares.rounds[1]));
	shares.range = fmax(most[0] - least[0], most[1] - least[1]);
	shares.differ = apart > SHARE_SLACK &&
			(!(error > 0) || 2 * gsl_cdf_tdist_Q(apart / error, degrees) < DOUBT_CHANCE);
	return shares;
}

static bool alternates(const struct tare_trial *trials, size_t count)
{
	AUTO_FREE unsigned char *arms = calloc(count + 1, 1);
	if (!arms)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (trials[i].at_ns == TARE_NO_TIME || (i && trials[i].at_ns <= trials[i - 1].at_ns))
			return false;
		arms[i] = trials[i].arm != 0;
	}
	return tare_order_interleaved(arms, count);
}

/*
 * A second mode that one arm has in every round and the other in none is what the setting does. So are shares that
 * hold still within each arm while the arms alternate: nothing else keeps step with them. Otherwise something that
 * nobody knows moved requests between the modes, and it may not have been the change.
 */
static bool modes_go_with_arm(const struct tare_trial *trials, size_t count, const struct mode_shares *shares)
{
	for (int arm = 0; arm < 2; arm++)
		if (shares->modal[arm] == shares->rounds[arm] && shares->modal[!arm] == 0)
			return true;
	return shares->range <= STEADY_RANGE && alternates(trials, count);
}

static void doubt_modes(const struct tare_trial *trials, size_t count, struct tare_reasons *reasons)
{
	struct mode_shares shares = mode_shares_of(trials, count);
	if (!shares.differ || modes_go_with_arm(trials, count, &shares))
		return;
	tare_reason(reasons,
		"two modes without a known cause, the slow one with %.0f %% of A and %.0f %% of B: what moved them may "
		"not be the change",
		100 * shares.mean[0], 100 * shares.mean[1]);
}

bool tare_trials_modes(const struct tare_trial *trials, size_t count, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	struct mode_shares shares = mode_shares_of(trials, count);
	if (!shares.differ || !modes_go_with_arm(trials, count, &shares))
		return false;
	text_add(&text,
		"two modes, the slow one with %.0f %% of A and %.0f %% of B: that goes with the setting; a percentile between "
		"the modes says less than the shares",
		100 * shares.mean[0], 100 * shares.mean[1]);
	return true;
}

void tare_trials_doubts(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
	struct tare_reasons *reasons)
{
	doubt_rate(trials, count, reasons);
	doubt_answers(trials, count, reasons);
	if (figure->kind != TARE_FIGURE_LOSS)
		doubt_loss(trials, count, reasons);
	doubt_warmup(trials, count, reasons);
	doubt_modes(trials, count, reasons);
}
