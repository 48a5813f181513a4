/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A round counts as done when its step is in the recording: that row is written
 * after the round and its facts. A round that a spool still held when the process
 * died has no step and is measured again, and so is one that nothing answered.
 */
#include "cli/abba_resume.h"

#include <string.h>

#include "cli/trial_set.h"
#include "session/session.h"
#include "tare/plan.h"
#include "tare/recording.h"

static bool same(const char *one, const char *other)
{
	return strcmp(one ? one : "", other ? other : "") == 0;
}

static void mark(struct abba_progress *progress, uint32_t position, bool done)
{
	if (position < 1 || position > strlen(progress->order) || progress->done[position - 1] == done)
		return;
	progress->done[position - 1] = done;
	progress->done_count += done ? 1 : (size_t)-1;
}

static int take_steps(struct tare_recording *recording, int64_t run, struct abba_progress *progress, struct tare_err *err)
{
	const struct tare_plan_step *steps;
	size_t count;
	if (tare_recording_steps(recording, run, &steps, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (steps[i].scored)
			mark(progress, steps[i].position, true);
	return 0;
}

static int take_plan(struct tare_recording *recording, int64_t run, const char *a, const char *b, uint64_t rounds,
	struct abba_progress *progress, struct tare_err *err)
{
	const struct tare_plan *plans;
	size_t count;
	if (tare_recording_plans(recording, run, &plans, &count, err) < 0)
		return -1;
	if (count == 0 || !same(plans[0].kind, "abba") || !plans[0].order || strlen(plans[0].order) != rounds ||
		!same(plans[0].a, a) || !same(plans[0].b, b))
		return 0;
	if (progress->run && strcmp(progress->order, plans[0].order) != 0)
		*progress = (struct abba_progress){.run = 0};
	memcpy(progress->order, plans[0].order, (size_t)rounds + 1);
	progress->seed = plans[0].seed;
	progress->run = run;
	return take_steps(recording, run, progress, err);
}

/* Arms of rounds by their steps. */
struct resuming {
	struct trial_steps steps;
	struct abba_progress *progress;
};

static bool is_answered(const struct tare_record *record)
{
	for (size_t i = 0; i < record->series.count; i++)
		if (record->series.fate[i] == TARE_ANSWERED || record->series.fate[i] == TARE_OVERDUE)
			return true;
	return false;
}

/* Rounds that nothing answered count as not measured. */
static int arm_of(void *context, const struct tare_record *record)
{
	struct resuming *resuming = context;
	const struct tare_plan_step *steps;
	struct tare_err ignored = {0};
	size_t count;
	int arm = trial_arm_by_step(&resuming->steps, record);
	if (arm < 0 || tare_recording_steps(resuming->steps.recording, record->run->id, &steps, &count, &ignored) < 0)
		return -1;
	bool answered = is_answered(record);
	for (size_t i = 0; i < count; i++)
		if (steps[i].round == record->round->number && steps[i].scored)
			mark(resuming->progress, steps[i].position, answered);
	return answered ? arm : -1;
}

int abba_progress_read(const char *path, const char *a, const char *b, uint64_t rounds, struct tare_trials *trials,
	struct abba_progress *ret_progress, struct tare_err *err)
{
	const struct source_rules rules = {0};
	struct resuming by = {.progress = ret_progress};
	const struct tare_run *runs;
	char note[512];
	size_t added;
	*ret_progress = (struct abba_progress){.run = 0};
	if (session_salvage(path, note, sizeof note, err) < 0 || tare_recording_open(path, false, &by.steps.recording, err) < 0)
		return -1;
	size_t count = tare_recording_runs(by.steps.recording, &runs);
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++)
		status = take_plan(by.steps.recording, runs[i].id, a, b, rounds, ret_progress, err);
	if (status == 0 && !ret_progress->run)
		status = tare_fail(err, TARE_E_USAGE,
			"'%s' has no comparison of %llu rounds with these commands to go on with", path,
			(unsigned long long)rounds);
	if (status == 0)
		status = trial_set_read(trials, path, &rules, NULL, arm_of, &by, &added, err);
	tare_recording_free(by.steps.recording);
	return status;
}
