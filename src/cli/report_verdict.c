/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The verdict at the head of a page. Of a comparison by abba it is worked out
 * again from the rounds, with the question that the recording's plan holds, so
 * that a page from last year's file has today's formula; the settings of the
 * hosts were judged on the day and are told apart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/judge.h"
#include "cli/report.h"
#include "cli/trial_set.h"
#include "tare/plan.h"

void report_verdict_end(struct report_verdict *verdict)
{
	free(verdict->text);
	verdict->text = NULL;
}

/* The last plan of this kind with an order; the plan's strings are the recording's. */
static int find_plan(
	struct tare_recording *recording, struct tare_plan *ret_plan, int64_t *ret_run, struct tare_err *err)
{
	const struct tare_run *runs;
	size_t count = tare_recording_runs(recording, &runs);
	*ret_run = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tare_plan *plans;
		size_t plan_count;
		if (tare_recording_plans(recording, runs[i].id, &plans, &plan_count, err) < 0)
			return -1;
		if (plan_count == 0)
			continue;
		*ret_plan = plans[0];
		*ret_run = runs[i].id;
	}
	return 0;
}

static int judge_again(struct cli *cli, const char *path, struct tare_recording *recording, bool lenient,
	const struct tare_plan *plan, struct report_verdict *verdict, struct tare_err *err)
{
	const struct verdict_options options = {.primary = plan->primary && plan->primary[0] ? plan->primary : "p99",
		.also = "p50,p99,p99.9,pdv,stalls,loss",
		.margin = plan->margin && plan->margin[0] ? plan->margin : NULL,
		.stall_ratio = 10};
	const struct source_rules rules = {.lenient = lenient};
	struct trial_steps steps = {.recording = recording};
	struct judging judging = {.options = &options, .order = plan->order, .seed = plan->seed};
	struct question question;
	struct tare_trials *trials = NULL;
	size_t added = 0, count = 0, bytes = 0;
	if (question_of(&options, &question, err) < 0 ||
		tare_trials_open(&question.rules, question.figures, question.count, &trials, err) < 0)
		return -1;
	int status = trial_set_read(trials, path, &rules, NULL, trial_arm_by_step, &steps, &added, err);
	AUTO_FREE struct tare_trial *sorted = status < 0 ? NULL : trial_set_sorted(trials, &count);
	struct cli captured = *cli;
	captured.columns = 0;
	captured.out = open_memstream(&verdict->text, &bytes);
	if (status == 0 && (!sorted || !captured.out))
		status = tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	if (status == 0 && count) {
		judging.question = &question;
		judging.stall_limit_ns = tare_trials_stall_limit_ns(trials);
		verdict->status = judge_trials(&captured, &judging, sorted, count, &verdict->primary, err);
		verdict->decided = verdict->status >= 0;
		status = verdict->status < 0 ? -1 : 0;
	}
	if (captured.out)
		fclose(captured.out);
	tare_trials_free(trials);
	return status;
}

/* Sentences as the command gave them. */
static int take_told(
	struct tare_recording *recording, int64_t run, struct report_verdict *verdict, struct tare_err *err)
{
	const struct tare_plan_verdict *told;
	size_t count, bytes = 0;
	if (tare_recording_verdicts(recording, run, &told, &count, err) < 0)
		return -1;
	AUTO_FILE out = count ? open_memstream(&verdict->text, &bytes) : NULL;
	for (size_t i = 0; out && i < count; i++)
		if (told[i].sentence)
			fprintf(out, "%s.\n", told[i].sentence);
	return 0;
}

int report_verdict_of(struct cli *cli, const char *path, struct tare_recording *recording, bool lenient,
	struct report_verdict *ret_verdict, struct tare_err *err)
{
	struct tare_plan plan;
	int64_t run;
	if (find_plan(recording, &plan, &run, err) < 0)
		return -1;
	if (!run)
		return 0;
	if (!plan.kind || strcmp(plan.kind, "abba") != 0)
		return take_told(recording, run, ret_verdict, err);
	struct tare_err why = {0};
	if (judge_again(cli, path, recording, lenient, &plan, ret_verdict, &why) == 0)
		return 0;
	/* A comparison cut short has no verdict, and its rounds are still worth a page. */
	report_verdict_end(ret_verdict);
	if (asprintf(&ret_verdict->text, "no verdict: %s.\n", why.text) < 0)
		ret_verdict->text = NULL;
	return 0;
}
