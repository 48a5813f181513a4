/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Judges all figures asked for and prints them. The calibration's spread goes in
 * figure by figure; the doubts go against every figure alike.
 */
#include "cli/judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/calibration_file.h"
#include "cli/null_tally.h"
#include "tare/rounds.h"

/* Verdicts on 12 figures, with what they point to. */
struct judged_all {
	struct tare_verdict verdicts[FIGURES_MAX];
	struct calibration_file *calibration;
	char order[256], calibration_note[CALIBRATION_NOTE + 100], tally_note[400], modes_note[256], level_note[400], origin_note[700];
};

static int judge_figure(struct judging *judging, const struct tare_trial *trials, size_t count, size_t i,
	struct judged_all *all, struct tare_err *err)
{
	const struct question *question = judging->question;
	struct tare_calibration calibration;
	struct tare_spread spread;
	struct tare_verdict_rules rules = {
		.level = 0.95,
		.margin_share = question->margin_share,
		.margin_ns = question->margin_ns,
		.name_a = judging->name_a,
		.name_b = judging->name_b,
	};
	if (all->calibration && calibration_file_figure(all->calibration, &question->figures[i], &calibration)) {
		spread = question->margin_share > 0 ? calibration.sitting : calibration.sitting_ns;
		rules.calibrated = &spread;
	}
	return tare_verdict_of(trials, count, &question->figures[i], &rules, &all->verdicts[i], err);
}

/* The order as it was, when nobody planned one. */
static const char *order_of(const struct judging *judging, const struct tare_trial *trials, size_t count,
	const struct tare_verdict *primary, struct judged_all *all)
{
	if (judging->order)
		return judging->order;
	if (!primary->ordered || count >= sizeof all->order)
		return NULL;
	for (size_t i = 0; i < count; i++)
		all->order[i] = trials[i].arm ? 'B' : 'A';
	all->order[count] = '\0';
	return all->order;
}

/* A margin finer than three times the instrument's own scatter is a question it cannot answer. */
static void doubt_margin(struct judging *judging, const struct judged_all *all)
{
	const struct question *question = judging->question;
	double share;
	if (!all->calibration || !calibration_file_instrument(all->calibration, &question->figures[0], &share))
		return;
	double margin = question->margin_share > 0 ? question->margin_share : 0;
	if (margin > 0 && margin < 3 * share)
		tare_reason(&judging->reasons, "the margin of %.2g %% is below 3 x the instrument's own %.2g %%", 100 * margin,
			100 * share);
}

static int judge_all(struct judging *judging, const struct tare_trial *trials, size_t count, struct judged_all *all,
	struct tare_err *err)
{
	const struct question *question = judging->question;
	for (size_t i = 0; i < question->count; i++)
		if (judge_figure(judging, trials, count, i, all, err) < 0)
			return -1;
	tare_trials_doubts(trials, count, &question->figures[0], &judging->reasons);
	doubt_margin(judging, all);
	tare_verdicts_adjust(all->verdicts, question->count, 0.95);
	for (size_t i = 0; i < question->count && judging->reasons.count; i++)
		tare_verdict_invalidate(&all->verdicts[i], judging->reasons.text[0]);
	return 0;
}

/* "No effect" at a rate that is not the peak says nothing about the peak. */
static void withhold_same(const struct judging *judging, struct judged_all *all)
{
	for (size_t i = 0; i < judging->question->count && judging->withhold; i++)
		if (all->verdicts[i].kind == TARE_VERDICT_SAME || all->verdicts[i].kind == TARE_VERDICT_NEGLIGIBLE)
			all->verdicts[i].kind = TARE_VERDICT_INCONCLUSIVE;
}

/* ---- the level a comparison crosses ---- */

static bool same_sitting(const struct tare_trial *one, const struct tare_trial *other)
{
	return one->run == other->run && strcmp(one->host, other->host) == 0 &&
	       strcmp(one->file ? one->file : "", other->file ? other->file : "") == 0;
}

struct crossing {
	bool sittings, hosts; /* no sitting, no host, has rounds of both arms */
	bool singly;          /* each round is a sitting of its own, so that the scatter of rounds holds that of sittings */
	size_t each[2];       /* sittings of each arm, or hosts */
};

static bool seen_before(const struct tare_trial *trials, size_t at, bool by_host)
{
	for (size_t i = 0; i < at; i++)
		if (trials[i].arm == trials[at].arm && (by_host ? strcmp(trials[i].host, trials[at].host) == 0
								  : same_sitting(&trials[i], &trials[at])))
			return true;
	return false;
}

static struct crossing crossing_of(const struct tare_trial *trials, size_t count)
{
	struct crossing crossing = {.sittings = true, .hosts = true};
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++) {
			if (trials[i].arm == trials[j].arm)
				continue;
			crossing.sittings &= !same_sitting(&trials[i], &trials[j]);
			crossing.hosts &= trials[i].host[0] && trials[j].host[0] && strcmp(trials[i].host, trials[j].host) != 0;
		}
	for (size_t i = 0; i < count; i++)
		crossing.each[trials[i].arm != 0] += seen_before(trials, i, crossing.hosts) ? 0 : 1;
	crossing.singly = crossing.each[0] + crossing.each[1] == count && crossing.each[0] > 1 && crossing.each[1] > 1;
	return crossing;
}

/*
 * Rounds of one sitting scatter less than restarts, days or hosts do. Where A and B share no sitting, a calibration
 * over several tells what that alone changes, and a smaller difference is no effect of the change.
 */
static void judge_level(const struct judging *judging, const struct tare_trial *trials, size_t count, struct judged_all *all)
{
	struct text text = TEXT_IN(all->level_note);
	struct crossing crossing = crossing_of(trials, count);
	struct tare_verdict *primary = &all->verdicts[0];
	struct tare_calibration calibration;
	if (!crossing.sittings || crossing.singly)
		return;
	const char *what = crossing.hosts ? "another host" : "a restart or another day";
	text_add(&text, "%s and %s are of different %s", primary->name_a, primary->name_b, crossing.hosts ? "hosts" : "sittings");
	if (tare_figure_is_count(&primary->figure))
		return;
	bool known = all->calibration && calibration_file_figure(all->calibration, &judging->question->figures[0], &calibration);
	const struct tare_spread *spread = crossing.hosts ? &calibration.host : &calibration.day;
	if (!known || !(spread->degrees > 0)) {
		text_add(&text, ": what %s alone changes is in the difference, and no calibration tells how much", what);
		return;
	}
	double limit = tare_repeatability_limit(spread->s, spread->degrees, 0.95) *
		       sqrt((1 / (double)crossing.each[0] + 1 / (double)crossing.each[1]) / 2);
	text_add(&text, ": %s alone changes %s by up to %.3g %% (s %.2g %%, calibrated over %.0f %s)", what, primary->figure.name,
		100 * expm1(limit), 100 * spread->s, spread->degrees + 1,
		crossing.hosts ? "hosts" : "sittings");
	if (primary->kind == TARE_VERDICT_EFFECT && fabs(log1p(primary->effect_share)) < limit) {
		primary->kind = TARE_VERDICT_INCONCLUSIVE;
		text_add(&text, ", so that this is no effect of the change");
	}
}

/* A null comparison is a success unless it finds something. */
static int exit_of(const struct judging *judging, const struct tare_verdict *primary)
{
	if (!judging->options->null)
		return tare_verdict_exit(primary);
	return primary->kind == TARE_VERDICT_INVALID ? 4 : primary->kind == TARE_VERDICT_EFFECT ? 1 : 0;
}

static int open_calibration(struct judging *judging, const struct tare_trial *trials, size_t count, struct judged_all *all,
	struct tare_err *err)
{
	if (!judging->options->calibration)
		return 0;
	const struct calibration_key key = {.like = &trials[count - 1], .cpu_class = judging->cpu_class};
	if (calibration_file_open(judging->options->calibration, &judging->question->rules, judging->question->figures,
		    judging->question->count, &key, &all->calibration, all->calibration_note, sizeof all->calibration_note,
		    err) < 0)
		return -1;
	if (judging->stall_limit_calibrated) {
		struct text text = {.bytes = all->calibration_note, .used = strlen(all->calibration_note),
			.room = sizeof all->calibration_note};
		char limit[32];
		format_duration(judging->stall_limit_ns, limit, sizeof limit);
		text_add(&text, "; stalls are above its %s", limit);
	}
	return 0;
}

int take_calibrated(const struct verdict_options *options, const struct session_config *session, struct question *question,
	struct judging *judging, struct tare_err *err)
{
	char kind[32];
	struct tare_trial like = calibration_like(session->urls[0], session->every_ns, session->warmup, kind, sizeof kind);
	const struct calibration_key key = {.like = &like, .cpu_class = cpu_class_of(session->cpu)};
	judging->cpu_class = key.cpu_class;
	if (!options->calibration || options->stall_limit_ns)
		return 0;
	int64_t limit_ns;
	if (calibration_stall_limit(options->calibration, &key, &limit_ns, err) < 0)
		return -1;
	judging->stall_limit_calibrated = limit_ns != TARE_NO_TIME;
	question->rules.stall_limit_ns = limit_ns == TARE_NO_TIME ? 0 : limit_ns;
	return 0;
}

static void judged_all_free(struct judged_all *all)
{
	calibration_file_free(all->calibration);
	free(all);
}

/* What the rounds of an arm are, in words; "" for what tare measured. */
static void describe_origin(const struct tare_trial *trials, size_t count, unsigned arm, char *ret, size_t room)
{
	struct text text = {.bytes = ret, .room = room};
	char step[32];
	ret[0] = '\0';
	for (size_t i = 0; i < count && !text.used; i++) {
		const struct tare_row *row = trials[i].row_count ? &trials[i].rows[0] : NULL;
		/* a table that tare wrote is of what it measured */
		if (trials[i].arm != arm || !row || !row->origin.format || strncmp(row->origin.format, "tare-", 5) == 0)
			continue;
		format_duration(row->resolution_ns > 0 ? row->resolution_ns : 1, step, sizeof step);
		text_add(&text, "read as %s: %s in steps of %s, clock %s, pacing %s, lateness %s%s%s", row->origin.format,
			tare_quantity_name(row->origin.quantity), step, tare_clock_name(row->origin.clock),
			tare_pacing_name(row->origin.pacing), tare_lateness_name(row->origin.lateness),
			row->left_out[0] ? ", left out: " : "", row->left_out);
	}
}

/* Of rounds that other tools measured: the same number means different things. */
static void note_origin(const struct judging *judging, const struct tare_trial *trials, size_t count, char *ret_note, size_t room)
{
	char a[256], b[256];
	struct text text = {.bytes = ret_note, .room = room};
	describe_origin(trials, count, 0, a, sizeof a);
	describe_origin(trials, count, 1, b, sizeof b);
	ret_note[0] = '\0';
	if (!a[0] && !b[0])
		return;
	if (strcmp(a, b) == 0)
		text_add(&text, "both %s", a);
	else
		text_add(&text, "%s %s; %s %s", judging->name_a ? judging->name_a : "A", a[0] ? a : "measured by tare",
			judging->name_b ? judging->name_b : "B", b[0] ? b : "measured by tare");
}

int judge_trials(struct cli *cli, struct judging *judging, const struct tare_trial *trials, size_t count,
	struct tare_verdict *ret_primary, struct tare_err *err)
{
	const struct question *question = judging->question;
	struct judged_all *all = calloc(1, sizeof *all);
	if (!all)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	if (tare_trials_check(trials, count, &question->figures[0], err) < 0 ||
		open_calibration(judging, trials, count, all, err) < 0 ||
		judge_all(judging, trials, count, all, err) < 0) {
		judged_all_free(all);
		return -1;
	}
	withhold_same(judging, all);
	judge_level(judging, trials, count, all);
	struct comparison comparison = {
		.command = cli->options->command,
		.verdicts = all->verdicts,
		.count = question->count,
		.order = order_of(judging, trials, count, &all->verdicts[0], all),
		.seed = judging->seed,
		.rate = trials[0].rate_asked,
		.stall_limit_ns = judging->stall_limit_ns,
		.reasons = &judging->reasons,
		.exit = exit_of(judging, &all->verdicts[0]),
	};
	if (tare_trials_modes(trials, count, all->modes_note, sizeof all->modes_note))
		comparison_note(&comparison, all->modes_note);
	note_origin(judging, trials, count, all->origin_note, sizeof all->origin_note);
	comparison_note(&comparison, all->origin_note);
	comparison_note(&comparison, all->level_note);
	comparison_note(&comparison, judging->withhold);
	comparison_note(&comparison, all->calibration_note);
	for (size_t i = 0; i < judging->note_count; i++)
		comparison_note(&comparison, judging->notes[i]);
	if (judging->options->null) {
		struct tare_err why = {0};
		if (null_tally_add(&all->verdicts[0], &trials[0], all->tally_note, sizeof all->tally_note, &why) < 0)
			cli_warn(cli, "the tally of null verdicts could not be kept: %s", why.text);
		comparison_note(&comparison, all->tally_note);
	}
	const struct format *format = judging->options->json ? &format_json : judging->options->csv ? &format_csv : &format_text;
	int status = comparison_print(cli->out, cli->columns, format, judging->table, &comparison, err);
	if (ret_primary)
		*ret_primary = all->verdicts[0];
	judged_all_free(all);
	return status < 0 ? -1 : comparison.exit;
}
